"""From a case to a question that can be asked: values, their fit, suspicions, fences."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from rightcall.errors import ConfigError, Place
from rightcall.judge.ask import MissingValue, ask
from rightcall.judge.contract import Malformed, Problem, Suspicion
from rightcall.judge.fences import nonce_of, rendered
from rightcall.judge.fit import TooLong, fit
from rightcall.judge.injection import MAX_SUSPICIONS, suspicions
from rightcall.judge.library import template
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.llm.tokens import estimate_tokens
from rightcall.trace import jsontext
from rightcall.trace.digest import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from rightcall.judge.contract import Question
    from rightcall.judge.template import Template
    from rightcall.judge.typed import Facts
    from rightcall.llm.spec import JudgeSpec
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.trace.redact import Redactor

MOST_CATALOGS = 64
"""How many cleaned catalogs are kept."""

CATALOG = "AVAILABLE_TOOLS"

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
class _Cleaned:
    """A catalog without secrets, by whom it was cleaned, how it is shown, and what in it addresses the judge."""

    value: Any
    redactor: Redactor
    text: str
    suspicions: tuple[Suspicion, ...]


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
    _catalogs: dict[bytes, _Cleaned] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def schema_json(self) -> bytes:
        """The canonical form of the reply's schema."""
        return canonical(self.reply_schema)

    def question(self, values: Mapping[str, Any]) -> tuple[Question | Unasked, Mapping[str, Any]]:
        """The question about some values, and the values that it shows.

        Values that do not fit are reduced as `judge.fit` documents, and what was left out stands in the question.
        """
        catalog = self._catalog(values.get(CATALOG))
        used = {
            name: self.cleaner.value(values.get(name)) if name != CATALOG or catalog is None else catalog.value
            for name in self.prompt.names
        }
        key = self.cleaner.redactor.key
        try:
            shown, left_out = self._fitting(used)
            is_whole = catalog is not None and shown.get(CATALOG) is catalog.value
            question = ask(
                self.prompt, shown, nonce=lambda identity: nonce_of(key, identity), reply_schema=self.reply_schema,
                suspicions=_seen(shown, catalog if is_whole else None), left_out=left_out,
                written={CATALOG: catalog.text} if catalog is not None and is_whole else None,
                schema_json=self.schema_json,
            )  # fmt: skip
        except MissingValue as error:
            return Unasked("missing_input", f"{error.code}: {error.message}"), used
        except TooLong as error:
            return Unasked("too_long", error.message), used
        return question, shown

    def _catalog(self, value: Any) -> _Cleaned | None:
        """A catalog, which is the same for many cases, is cleaned and looked through once; `None` where there is none.

        It counts as the same if it is written in the same way: the order of its keys is what the judge sees.
        """
        if value is None:
            return None
        written = jsontext.encode_in_order(value)
        found = self._catalogs.get(written)
        if found is None or found.redactor is not self.cleaner.redactor:
            if len(self._catalogs) >= MOST_CATALOGS:
                self._catalogs.clear()
            clean = self.cleaner.value(value)
            found = self._catalogs[written] = _Cleaned(
                clean, self.cleaner.redactor, rendered(clean), suspicions({CATALOG: clean})
            )  # fmt: skip
        return found

    def reader(self, facts: Facts | None = None) -> Callable[[str, str | None], Readable | Malformed]:
        """How replies to this prompt are read: by its own schema, if it has one, and always by the grader's reader.

        Args:
            facts: what a reply can be checked against.
        """
        grader, schema = self.prompt.grader, self.prompt.reply_schema

        def read(text: str, finish: str | None) -> Readable | Malformed:
            if schema is not None:
                own = read_reply(grader, text, finish, schema=schema)
                if isinstance(own, Malformed) or grader not in REPLY_SCHEMAS:
                    return own
            return read_reply(grader, text, finish, facts=facts)

        return read

    def _fitting(self, used: dict[str, Any]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        if self.room is None:
            return used, ()
        constant = estimate_tokens(self.prompt.system) + estimate_tokens(self.prompt.user) + SPARE
        return fit(used, self.room - self.reply_room - constant, estimate_tokens)


def _seen(shown: Mapping[str, Any], catalog: _Cleaned | None) -> tuple[Suspicion, ...]:
    """What `judge.injection.suspicions` finds in all values: no finding spans two of them."""
    found: list[Suspicion] = []
    for name, value in shown.items():
        found += catalog.suspicions if name == CATALOG and catalog is not None else suspicions({name: value})
    return tuple(found[:MAX_SUSPICIONS])


def prompter(
    name: str, grader: str, cleaner: Cleaner, specs: Iterable[JudgeSpec], folder: Path | None = None, *,
    own: bool = False,
) -> Prompter:  # fmt: skip
    """Load a prompt for a grader and its judges.

    Args:
        name: the id of a shipped prompt, or a file.
        grader: the grader that asks; the prompt of another grader is refused, one of the user's own is not.
        cleaner: takes secrets out of what is shown.
        specs: the judges; the smallest context counts.
        folder: what a relative path belongs to.
        own: whether the prompt of a grader of the user's own will do.

    Raises:
        ConfigError: no such prompt, a prompt with a fault, a prompt of another built-in grader.
    """
    made = template(name, folder)
    if made.grader != grader and (made.grader in REPLY_SCHEMAS or not own):
        raise ConfigError(
            f"prompt `{made.id}` is a prompt of `{made.grader}`, not of `{grader}`", place=Place(made.file),
            hint=f"name one whose front matter says `grader: {grader}`",
        )  # fmt: skip
    specs = list(specs)
    rooms = [(spec.context_tokens, spec.max_tokens) for spec in specs if spec.context_tokens is not None]
    room, reply_room = min(rooms, key=lambda pair: pair[0] - pair[1]) if rooms else (None, 0)
    return Prompter(made, made.reply_schema or REPLY_SCHEMAS[made.grader], cleaner, room, reply_room)
