"""Runs of `preference` for tests: traces of invented agents, judges that follow a rule, and everything on record."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judging_making import a_judge

from rightcall.grade.preference import PreferenceResult
from rightcall.llm.client import Request
from rightcall.run.graders.setup import Flags, Setup
from rightcall.run.inputs.opening import open_store
from rightcall.run.judging.run import Judged, judge_all
from rightcall.run.preference.setup import PairFlags, set_up_preference
from rightcall.settings.load import load_settings
from rightcall.store.store import Store
from rightcall.testing import ScriptedModel

TOOLS = [
    {"name": "freeze_card", "description": "Freezes a card for a while."},
    {"name": "cancel_card", "description": "Cancels a card for good.", "annotations": {"destructiveHint": True}},
    {"name": "list_cards", "description": "Lists the cards.", "annotations": {"readOnlyHint": True}},
]
CRITERIA = ("tool_selection", "argument_accuracy", "call_ordering", "abstention_handling", "error_handling")

Rule = Callable[[Request], str]


def says(letter: str, confidence: float = 0.9, critical: tuple[Sequence[str], Sequence[str]] = ((), ())) -> str:
    """What a judge replies."""
    return json.dumps({
        "justification": dict.fromkeys(CRITERIA, "equal"), "key_differentiators": [f"{letter} it is"],
        "critical_failures": {"trace_a": list(critical[0]), "trace_b": list(critical[1])},
        "preferred_trace": letter, "confidence": confidence,
    })  # fmt: skip


def always(letter: str, confidence: float = 0.9) -> Rule:
    """A judge that prefers a place."""
    return lambda _request: says(letter, confidence)


def prefers(agent: str, confidence: float = 0.9) -> Rule:
    """A judge that prefers agent `A`, agent `B` or neither, wherever its trace stands."""

    def rule(request: Request) -> str:
        letter = agent if request.order == "ab" or agent == "TIE" else {"A": "B", "B": "A"}[agent]
        return says(letter, confidence)

    return rule


def by_unit(known: dict[str, Rule], otherwise: Rule) -> Rule:
    """A judge with a rule for each pair."""
    return lambda request: known.get(request.unit, otherwise)(request)


def trace(name: str, case: str | None, tool: str = "freeze_card", **changed: Any) -> dict[str, Any]:
    """A trace of one call."""
    call = {"tool": tool, "arguments": {"card": 7}, "result": {"status": name}}
    return {
        "id": name, "case_id": case, "request": "Freeze card 7.", "tools": TOOLS, "calls": [call], "completed": True,
        **changed,
    }  # fmt: skip


def traces(agent: str, number: int, **changed: Any) -> list[dict[str, Any]]:
    """So many traces of an agent, one a case; no two agents' show the same."""
    return [trace(f"{agent}-{n}", f"c{n}", **changed) for n in range(number)]


@dataclass
class Contest:
    """A folder in which agents are compared by judges that follow a rule."""

    folder: Path
    settings: str = ""
    judges: tuple[str, ...] = ("strong",)

    def write(self, name: str, *content: Any) -> str:
        """Write JSON lines."""
        path = self.folder / name
        path.write_text("".join(json.dumps(one) + "\n" for one in content))
        return str(path)

    def setup(self, *agents: str, names: tuple[str, ...] = (), settings: dict[str, Any] | None = None,
              pair: dict[str, Any] | None = None, **flags: Any) -> Setup:  # fmt: skip
        """Everything for a run over files that were written."""
        judges = "".join(f'[judges.{name}]\nprovider = "scripted"\nmodel = "{name}"\n' for name in self.judges)
        (self.folder / "rightcall.toml").write_text(f"{self.settings}\n{judges}")
        loaded = load_settings(
            self.folder / "rightcall.toml", {"RIGHTCALL_REDACTION_KEY": "a fixed key for tests"}, settings or {}
        )
        first = [name for name in self.judges if name != loaded.settings.preference.second_judge]
        known: dict[str, Any] = {"judge": ",".join(first) or "none", **flags}
        return set_up_preference(loaded, Flags(**known), PairFlags(agents, names, **(pair or {})))

    def run(self, setup: Setup, *rules: Rule | ScriptedModel, places: int = 8) -> Judged:
        """Judge every pair."""
        models = [rule if isinstance(rule, ScriptedModel) else ScriptedModel(rule) for rule in rules]
        judges = []
        for name, model in zip(self.judges, models, strict=bool(rules)):
            model._model = name  # two judges of one model would share their answers on record
            judges.append(a_judge(model, name, model=name, max_concurrency=places))
        with ExitStack() as closing:
            closing.callback(setup.close)
            store = closing.enter_context(open_store(setup.loaded)) if setup.keeps else None
            return judge_all(setup.work, judges if rules else [], setup.asking, setup.cleaner, store, warn=setup.warn)

    def opened(self) -> Store:
        """The store."""
        return Store.open(self.folder / ".rightcall" / "rightcall.db", create=False)


def pairs_of(judged: Judged) -> dict[str, PreferenceResult]:
    """Pair -> result; the run is closed."""
    with judged:
        return {one.pair: one for one in judged.decoded()}
