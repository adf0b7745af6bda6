"""What waits for people, as values: an item of the queue, a claim on one, and what came of an answer.

An *item* is one unit of one run, with all the reasons why somebody should look at it. Its *slots* are the answers that
it still needs, less those that somebody else is about to give.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol

from msgspec import Struct

from rightcall.errors import ConfigError, StoreError
from rightcall.store.packing import column
from rightcall.store.records import AnswerRecord, ConsensusRecord, ReviewReason, ReviewRecord

State = Literal["waiting", "held", "adjudication", "signoff", "done"]
STATES: tuple[State, ...] = ("waiting", "held", "adjudication", "signoff", "done")

SEVERITIES = ("NONE", "LOW", "MEDIUM", "HIGH", "CRITICAL")
"""What a review record's severity may be, mildest first."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PREFIX = re.compile(r"(?:rv-)?([0-9a-f]{4,64})")


class Rules(Struct, frozen=True):
    """How urgent an item is and how many answers it needs.

    They may look at nothing but grader, reasons and severities: what items have in common is asked about once.

    Attributes:
        rank: 0 for the most urgent. Each whole day that an item has waited counts as one step.
        needed: how many different people must answer; 0 where a sign-off is all that is wanted.
    """

    rank: Callable[[Sequence[ReviewRecord]], int]
    needed: Callable[[Sequence[ReviewRecord]], int]


class Only(Struct, frozen=True, kw_only=True):
    """Which items are meant; `None` leaves it open. `item` is an id or the beginning of one."""

    run_id: str | None = None
    grader: str | None = None
    reason: ReviewReason | str | None = None
    item: str | None = None


ANY = Only()
"""Every item."""


class QueueItem(Struct, frozen=True, kw_only=True):
    """One item as it stands at a moment.

    Attributes:
        item: its full id. run_id, grader, unit, case_id, trace_id, step_id: what it is about.
        reasons: why somebody should look, in the order in which that was recorded.
        severity: the worst of its review records' severities; `None` where none has one.
        probability: how likely it was to be in the queue at all: that of its surest reason (1 = always).
        drawn: how likely its unit was to be drawn at random; `None` where it was not drawn.
        created_at: when the first of its reasons was recorded (ISO 8601, UTC).
        rank: how urgent it is without the waiting; smaller is more urgent.
        needed: how many different people must answer; as many as have, once it is decided.
        answered: how many answers count so far; imported ones do where they are blind, extra ones never.
        extras: how many answers came late.
        answered_by: who has answered, in whatever way, in the order of the record.
        skipped_by: who has skipped it.
        holders: who holds it, and until when (ISO 8601, UTC); only claims that have not lapsed.
        adjudicates: the answers differ, or a signer sent it back: the next answer decides.
        is_critical: a named person must sign. is_signed: somebody has.
        state: `waiting` (somebody can take it), `held` (each missing answer is being given), `adjudication`,
            `signoff`, `done`.
    """

    item: str
    run_id: str
    grader: str
    unit: str
    case_id: str | None
    trace_id: str | None
    step_id: str | None
    reasons: tuple[str, ...]
    severity: str | None
    probability: float
    drawn: float | None
    created_at: str
    rank: int
    needed: int
    answered: int
    extras: int
    answered_by: tuple[str, ...]
    skipped_by: tuple[str, ...]
    holders: tuple[tuple[str, str], ...]
    adjudicates: bool
    is_critical: bool
    is_signed: bool
    state: State


class Claim(Struct, frozen=True, kw_only=True):
    """An item that somebody holds until `until` (ISO 8601, UTC). `adjudicates`: the answer decides between others."""

    item: str
    who: str
    until: str
    adjudicates: bool


class Decision(Protocol):
    """What answers come to: `agreed` on `fields`, `differ` in the fields `differing`, or `open` (nothing yet)."""

    @property
    def state(self) -> str: ...  # noqa: D102 - see the class

    @property
    def how(self) -> Any: ...  # noqa: D102 - single, agreement, adjudication

    @property
    def fields(self) -> Mapping[str, Any]: ...  # noqa: D102 - by name

    @property
    def answers(self) -> Sequence[str]: ...  # noqa: D102 - digests of what it rests on

    @property
    def differing(self) -> Sequence[str]: ...  # noqa: D102 - names of fields

    @property
    def reason(self) -> str: ...  # noqa: D102 - in words


Decide = Callable[[list[AnswerRecord]], Decision]


class Answered(Struct, frozen=True, kw_only=True):
    """What came of an answer.

    Attributes:
        digest: the answer's identity in the record. seq, hash: its log entry.
        extra: it came late and decides nothing.
        consensus: what the answers come to, if this one completed them.
        adjudicate: the answers differ: a third person must decide.
        needed, answered: how many answers the item needs, and has.
    """

    digest: str
    seq: int
    hash: str
    extra: bool
    consensus: ConsensusRecord | None
    adjudicate: bool
    needed: int
    answered: int


class Logged(Struct, frozen=True):
    """A record that was written: its identity, and number and hash of its log entry."""

    digest: str
    seq: int
    hash: str


def counts(answer: AnswerRecord) -> bool:
    """Whether an answer is one of those that an item needs: a person's own, or an imported blind one, not extra."""
    return not answer.extra and (answer.kind == "answer" or (answer.kind == "imported" and answer.blind))


def milliseconds(moment: datetime) -> int:
    """A moment as whole milliseconds since 1970.

    Raises:
        ConfigError: it names no zone.
    """
    if moment.tzinfo is None:
        raise ConfigError(f"the moment {moment} names no zone", hint="give it in UTC")
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def written(moment: int) -> str:
    """Milliseconds since 1970 as ISO 8601, UTC."""
    return (_EPOCH + timedelta(milliseconds=moment)).isoformat(timespec="milliseconds")


def read_moment(text: str) -> int | None:
    """ISO 8601 as milliseconds since 1970; `None` where it is none, or names no zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is None else milliseconds(moment)


def named(who: str) -> str:
    """A person's name, if it can stand in the queue.

    Raises:
        ConfigError: it is blank, begins or ends with a blank, or is longer than a column holds.
    """
    if not who or who != who.strip() or column(who) != who:
        # With a blank at its end it would pass for somebody else.
        raise ConfigError("a person needs a name of 1 to 400 bytes, without blanks around it", hint="--as NAME")
    return who


def prefix_of(given: str) -> str:
    """The beginning of an item's id, as it is stored.

    Raises:
        StoreError: `STORE_INVALID`: no id begins so.
    """
    found = _PREFIX.fullmatch(given)
    if found is None:
        raise refused(
            f"`{given}` is no review item", "give `rv-` and 4 or more digits; rightcall review list names them"
        )
    return f"rv-{found[1]}"


def refused(message: str, hint: str, *, code: str = "STORE_INVALID") -> StoreError:
    """What is wrong with what was asked of a store that is well: exit code 2."""
    error = StoreError(message, code=code, hint=hint)
    error.exit_code = 2
    return error
