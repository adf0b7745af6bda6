"""From a case to a question that can be asked: values, their fit, suspicions, fences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rightcall.errors import ConfigError, Place
from rightcall.judge.ask import MissingValue, ask, input_sha256
from rightcall.judge.fences import nonce_of
from rightcall.judge.fit import TooLong, fit
from rightcall.judge.injection import suspicions
from rightcall.judge.library import template
from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.llm.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rightcall.judge.contract import Question
    from rightcall.judge.template import Template
    from rightcall.judge.typed import Facts
    from rightcall.llm.spec import JudgeSpec

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
        key: the store's secret, from which the fences' words are made.
        room: tokens for question and reply of the smallest judge; `None` where nobody said how many it can read.
        reply_room: tokens that the reply may take of it.
    """

    prompt: Template
    reply_schema: dict[str, Any]
    key: bytes
    room: int | None = None
    reply_room: int = 0

    def question(self, values: Mapping[str, Any]) -> tuple[Question | Unasked, Mapping[str, Any]]:
        """The question about some values, and the values that it shows.

        Values that do not fit are reduced as `judge.fit` documents, and what was left out stands in the question.
        """
        used = {name: values.get(name) for name in self.prompt.names}
        try:
            shown, left_out = self._fitting(used)
            identity = input_sha256(self.prompt, shown, reply_schema=self.reply_schema, left_out=left_out)
        except MissingValue as error:
            return Unasked("missing_input", f"{error.code}: {error.message}"), used
        except TooLong as error:
            return Unasked("too_long", error.message), used
        seen = suspicions(shown)
        question = ask(
            self.prompt, shown, nonce=nonce_of(self.key, identity), reply_schema=self.reply_schema,
            suspicions=seen, left_out=left_out,
        )  # fmt: skip
        return question, shown

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


def prompter(name: str, grader: str, key: bytes, specs: Iterable[JudgeSpec], folder: Any = None) -> Prompter:
    """Load a prompt for a grader and its judges.

    Args:
        name: the id of a shipped prompt, or a file.
        grader: the grader that asks; the prompt of another grader is refused, one of the user's own is not.
        key: the store's secret.
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
    if made.reply_schema is not None:
        _refuse_narrow(made, grader)
    specs = list(specs)
    rooms = [(spec.context_tokens, spec.max_tokens) for spec in specs if spec.context_tokens is not None]
    room, reply_room = min(rooms, key=lambda pair: pair[0] - pair[1]) if rooms else (None, 0)
    return Prompter(made, made.reply_schema or REPLY_SCHEMAS[grader], key, room, reply_room)


def _refuse_narrow(made: Template, grader: str) -> None:
    """A prompt's own schema must let the judge say all that its grader reads.

    Raises:
        ConfigError: naming what is missing.
    """
    known = (made.reply_schema or {}).get("properties", {})
    needed = [name for name in REPLY_SCHEMAS[grader]["required"] if name not in _OPTIONAL and name not in known]
    lacking = [name for name in needed if _OTHER_NAMES.get(name) not in known]
    if lacking:
        raise ConfigError(
            f"the reply schema of prompt `{made.id}` lacks {', '.join(lacking)}, which `{grader}` reads",
            place=Place(made.file), hint="add them to its `properties`",
        )  # fmt: skip


_OPTIONAL = {"secondary_categories", "label_challenged", "label_challenge_reason", "tool_call_evaluations"}
_OTHER_NAMES = {"grade": "pass", "misuse_severity": "misuse_severity_classification"}
