"""Who is asked and about what: a judge at its door, a subject with its question, when two questions are one."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rightcall.llm.endpoint import is_inside
from rightcall.trace.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rightcall.judge.contract import Malformed, Question
    from rightcall.llm.door import Door
    from rightcall.llm.spec import JudgeSpec
    from rightcall.run.judging.questions import Readable

_DATED = re.compile(r"(-preview|-exp)?([-@]\d[\d.-]*)?")
"""What may stand behind a model's name: a date or the number of a version."""


@dataclass(frozen=True)
class Subject:
    """What is judged: a question with the case that it is about.

    Attributes:
        unit: identifies the subject within its run.
        question: what is asked; everything in it has been redacted.
        read: from text and finish reason to a typed reply or `Malformed`.
        values: what was filled into the prompt, to recognise an echo.
        order: tells apart questions about one item that show it in different orders.
        positions: what stood at which place of the question, for the record.
    """

    grader: str
    unit: str
    question: Question
    read: Callable[[str, str | None], Readable | Malformed]
    values: Mapping[str, Any]
    case_id: str | None = None
    trace_id: str | None = None
    step_id: str | None = None
    order: str = ""
    positions: Mapping[str, str] | None = None


@dataclass
class Judge:
    """A judge at its door.

    Attributes:
        offline: whether only answers on record count.
        seen_as: the name under which a server in one's own network answered the probe. It counts as the model's own
            until the server shows that it knows the model by the name asked for.
        others: other models that answered in its place, with how often.
        places: how many questions may be under way; `None` = as many as there are.
        admitted: set once an exchange has shown that the credential is not refused; until then one call is under way.
    """

    name: str
    spec: JudgeSpec
    door: Door
    offline: bool = False
    seen_as: str | None = None
    others: dict[str, int] = field(default_factory=dict)
    places: asyncio.Semaphore | None = field(default=None, repr=False)
    admitted: asyncio.Event | None = field(default=None, repr=False)

    def parameters(self) -> dict[str, Any]:
        """What is asked for, as it goes into the key of the cache."""
        spec = self.spec
        found = {
            "temperature": spec.temperature, "max_tokens": spec.max_tokens, "seed": spec.seed, "top_p": spec.top_p,
            "structured": spec.structured,
        }  # fmt: skip
        return {name: value for name, value in found.items() if value is not None}

    def meet(self, probed: str | None) -> None:
        """Learn under which name the endpoint answered its probe. A provider outside has to use the model's own."""
        host = urlsplit(self.spec.base_url or "").hostname
        is_local = self.spec.provider == "ollama" if host is None else is_inside(host)
        if probed is not None and is_local and not self._is_named(probed):
            self.seen_as = probed

    def is_it(self, answered: str | None) -> bool:
        """Whether an answer's model is the one that was asked for: the same name, or a dated version of it.

        What does not say which model it is counts as the one asked for, and where none was named any will do.
        """
        if answered is None or not self.spec.model:
            return True
        if self._is_named(answered):
            self.seen_as = None
            return True
        return answered == self.seen_as

    def _is_named(self, answered: str) -> bool:
        if answered in (self.spec.model, self.spec.answers_as):
            return True
        asked = self.spec.model.rsplit("/", 1)[-1].removesuffix("-latest")
        name = answered.rsplit("/", 1)[-1]
        return bool(asked) and name.startswith(asked) and _DATED.fullmatch(name[len(asked) :]) is not None


def cache_key(subject: Subject, judge: Judge, replicate: int) -> str:
    """What makes two questions the same: grader, prompt, rendered input, endpoint, model, parameters, replicate."""
    question, spec = subject.question, judge.spec
    where = spec.base_url or list(spec.command) or spec.file  # a program and a file are what a model is elsewhere
    return digest(
        {
            "grader": subject.grader, "prompt": question.prompt_sha256, "input": question.input_sha256,
            "provider": spec.provider, "endpoint": where, "model": spec.model,
            "parameters": judge.parameters(), "replicate": replicate,
        }
    )  # fmt: skip
