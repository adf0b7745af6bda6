"""Runs of `interpretation` for tests: invented traces of readings, judges that follow a script."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
from judged_making import Here

from rightcall.llm.client import Request
from rightcall.run.graders.setup import Flags, Setup
from rightcall.run.interpretation.setup import set_up_interpretation
from rightcall.testing import ScriptedModel


def message(text: str, role: str = "assistant", **more: Any) -> dict[str, Any]:
    """Return a message."""
    return {"type": "message", "role": role, "text": text, **more}


def called(tool: str, content: Any = None, arguments: Any = None, *, is_error: bool | None = False) -> dict[str, Any]:
    """Return a call with its result."""
    result = {"content": content, "is_error": is_error}
    return {"type": "call", "tool": tool, "arguments": arguments or {}, "result": result}


def reading(number: int, tool: str = "depth", **changed: Any) -> dict[str, Any]:
    """Return a trace of one call whose result the agent reads aloud."""
    events = [called(tool, {"metres": number + 10}, {"gauge": number}), message(f"It is {number + 10} metres deep.")]
    return {"id": f"t-{number:04d}", "request": "How deep is it?", "events": events, **changed}


def says(score: float = 5, **changed: Any) -> str:
    """Return what a judge of readings says; it quotes nothing unless told to."""
    known = {
        "score": score, "interpretation_accuracy": "read as it stands", "action_appropriateness": "it answers",
        "action_score": 5, "key_errors": [] if score > 3 else ["a depth"], "justification": "the depth says so",
        "misinterpretation_flags": [], "evidence": [], "confidence": 0.9,
    }  # fmt: skip
    return json.dumps({**known, **changed})


def by_number(score: Callable[[int], float]) -> ScriptedModel:
    """Return a judge whose score depends on the number of the trace."""

    def answer(request: Request) -> str:
        return says(score(int(request.unit[2:6])))

    return ScriptedModel(answer)


def prepared(here: Here, file: str = "traces.jsonl", own: dict[str, Any] | None = None, **flags: Any) -> Setup:
    """Prepare a run with these settings of its own; with two judges the second is the strong one.

    Nothing comes from the record: scripted judges are all of one model, and one would be given another's answers.
    """
    light, *strong = here.judges
    own = {"strong_judge": strong[0] if strong else None} | (own or {})
    loaded = here.loaded(traces=[file])
    table = msgspec.structs.replace(loaded.settings.interpretation, **own)
    loaded = replace(loaded, settings=msgspec.structs.replace(loaded.settings, interpretation=table))
    return set_up_interpretation(loaded, Flags(**{"judge": light, "use_cache": False, **flags}))
