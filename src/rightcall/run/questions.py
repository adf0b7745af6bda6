"""From a case to a question that can be asked: values, their fit, suspicions, fences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from rightcall.errors import ConfigError, Place
from rightcall.judge.ask import MissingValue, ask, input_sha256
from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.fences import nonce_of
from rightcall.judge.fit import TooLong, fit
from rightcall.judge.injection import suspicions
from rightcall.judge.library import template
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.llm.tokens import estimate_tokens
from rightcall.trace.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from rightcall.judge.contract import Question
    from rightcall.judge.template import Template
    from rightcall.judge.typed import Facts
    from rightcall.llm.spec import JudgeSpec
    from rightcall.run.secrets import Cleaner

MOST_CATALOGS = 64
"""How many cleaned catalogs are kept."""

SPARE = 64
"""Tokens that a chat format adds around two messages."""


@dataclass(frozen=True)
class Unasked:
    """Why there is no question: `missing_input` or `too_long`, and in words."""

    reason: str
    message: str


class Readable(Protocol):
    """A reply that was read: notes and plain values."""

    @property
    def noted(self) -> tuple[Problem, ...]:
        """What is worth recording although it does not spoil the reply."""
        ...

    def values(self) -> dict[str, Any]:
        """The reply as plain values."""
        ...


@dataclass(frozen=True)
class Prompter:
    """One prompt for one run.

    Attributes:
        prompt: the template.
        reply_schema: its own, or the grader's.
        cleaner: takes secrets out of everything that is shown; its key makes the words of the fences.
        room: tokens for question and reply of the smallest judge; `None` where nobody said how many it can read.
        reply_room: tokens that the reply may take of it.
    """

    prompt: Template
    reply_schema: dict[str, Any]
    cleaner: Cleaner
    room: int | None = None
    reply_room: int = 0
    _catalogs: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def question(self, values: Mapping[str, Any]) -> tuple[Question | Unasked, Mapping[str, Any]]:
        """The question about some values, and the values that it shows.

        Values that do not fit are reduced as `judge.fit` documents, and what was left out stands in the question.
        """
        used = {name: self._clean(name, values.get(name)) for name in self.prompt.names}
        try:
            shown, left_out = self._fitting(used)
            identity = input_sha256(self.prompt, shown, reply_schema=self.reply_schema, left_out=left_out)
        except MissingValue as error:
            return Unasked("missing_input", f"{error.code}: {error.message}"), used
        except TooLong as error:
            return Unasked("too_long", error.message), used
        seen = suspicions(shown)
        question = ask(
            self.prompt, shown, nonce=nonce_of(self.cleaner.redactor.key, identity), reply_schema=self.reply_schema,
            suspicions=seen, left_out=left_out,
        )  # fmt: skip
        return question, shown

    def _clean(self, name: str, value: Any) -> Any:
        """A value without secrets; a catalog, which is the same for many cases, is cleaned once."""
        if name != "AVAILABLE_TOOLS" or value is None:
            return self.cleaner.value(value)
        identity = digest(value)
        if identity not in self._catalogs:
            if len(self._catalogs) >= MOST_CATALOGS:
                self._catalogs.clear()
            self._catalogs[identity] = self.cleaner.value(value)
        return self._catalogs[identity]

    def reader(self, facts: Facts | None = None) -> Callable[[str, str | None], Readable | Malformed]:
        """How replies to this prompt are read: by its own schema, if it has one, and always by the grader's reader.

        Args:
            facts: what a reply can be checked against.
        """
        grader, schema = self.prompt.grader, self.prompt.reply_schema

        def read(text: str, finish: str | None) -> Readable | Malformed:
            if schema is not None:
                own = read_reply(grader, text, finish, schema=schema)
                if isinstance(own, Malformed):
                    return own
            return read_reply(grader, text, finish, facts=facts)

        return read

    def _fitting(self, used: dict[str, Any]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        if self.room is None:
            return used, ()
        constant = estimate_tokens(self.prompt.system) + estimate_tokens(self.prompt.user) + SPARE
        return fit(used, self.room - self.reply_room - constant, estimate_tokens)


def prompter(
    name: str, grader: str, cleaner: Cleaner, specs: Iterable[JudgeSpec], folder: Path | None = None
) -> Prompter:
    """Load a prompt for a grader and its judges.

    Args:
        name: the id of a shipped prompt, or a file.
        grader: the grader that asks; the prompt of another grader is refused, one of the user's own is not.
        cleaner: takes secrets out of what is shown.
        specs: the judges; the smallest context counts.
        folder: what a relative path belongs to.

    Raises:
        ConfigError: no such prompt, a prompt with a fault, a prompt of another built-in grader.
    """
    made = template(name, folder)
    if made.grader != grader:
        raise ConfigError(
            f"prompt `{made.id}` is a prompt of `{made.grader}`, not of `{grader}`", place=Place(made.file),
            hint=f"name one whose front matter says `grader: {grader}`",
        )  # fmt: skip
    specs = list(specs)
    rooms = [(spec.context_tokens, spec.max_tokens) for spec in specs if spec.context_tokens is not None]
    room, reply_room = min(rooms, key=lambda pair: pair[0] - pair[1]) if rooms else (None, 0)
    return Prompter(made, made.reply_schema or REPLY_SCHEMAS[grader], cleaner, room, reply_room)
