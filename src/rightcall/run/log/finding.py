"""Looking things up in the record: a run, a review item, everything about a step, a trace or a case."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.errors import ConfigError, StoreError
from rightcall.grade.opinion import Opinion
from rightcall.review.urgency import URGENCY
from rightcall.run.judging.items import JudgeTally
from rightcall.run.results.facts import facts_for, graders_in, summary_for
from rightcall.run.results.order import natural
from rightcall.run.results.store import AT_ONCE
from rightcall.store.gate_answers import gate_answer
from rightcall.store.records import AttemptRecord, GateRecord, ReviewRecord, RunEvent, RunRecord, VerdictRecord
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.store.store import Store


_LONGEST_NUMBER = 16
"""Longer digits are the beginning of a digest."""


class ReviewItem(Struct, frozen=True, kw_only=True):
    """One review item with its id."""

    id: str
    item: ReviewRecord


class Part(Struct, frozen=True, kw_only=True):
    """What one grader of a run left behind.

    Attributes:
        grader: its name. facts: what was judged, how, by whom. summary: its figures; empty where there are none yet.
        judges: counted over all its results. others: judge -> model -> answers that came from that model although
            another one was asked for.
    """

    grader: str
    facts: dict[str, Any] = {}
    summary: dict[str, Any] = {}
    judges: dict[str, JudgeTally] = {}
    others: dict[str, dict[str, int]] = {}


class Found(Struct, frozen=True, kw_only=True):
    """What is on record under an id.

    Attributes:
        kind: `run`, `review`, or `unit` for a step, a trace or a case.
        run, event: the run and what became of it, for a run.
        review: the item, for a review item.
        results: (verdict record, result as `--json` gives it), by unit.
        parts: the graders of a run, in the order in which they ran.
        sources: for anything but a run, (trace, case or step) of each result as they were kept; `None` where none was.
        seconds: the second trace of each result, for graders that compare.
        attempts: (log entry, attempt), for anything but a run; those of the results in their order.
        waiting: for anything but a run, the review items about these results.
    """

    id: str
    kind: str
    run: RunRecord | None = None
    event: RunEvent | None = None
    review: ReviewRecord | None = None
    results: tuple[tuple[VerdictRecord, Any], ...] = ()
    parts: tuple[Part, ...] = ()
    sources: tuple[tuple[Any, Any], ...] = ()
    seconds: tuple[Any, ...] = ()
    attempts: tuple[tuple[int, AttemptRecord], ...] = ()
    waiting: tuple[ReviewItem, ...] = ()


class WholeAttempt(Struct, frozen=True, kw_only=True):
    """One exchange with its texts."""

    seq: int
    digest: str
    attempt: AttemptRecord
    system: str
    user: str
    reply: str | None


def find(store: Store, wanted: str, *, failed: bool = False) -> Found:
    """What an id stands for.

    Args:
        store: the record.
        wanted: the id.
        failed: of a run, only what has no `PASS` (and, for graders without verdicts, what has none at all).

    Raises:
        ConfigError: nothing is on record under it.
    """
    if wanted.startswith("rv-"):
        return _review(store, wanted)
    run = next(((run, event) for run, event in store.runs() if run.id == wanted), None)
    if run is not None:
        return _run(store, *run, failed=failed)
    verdicts = _about(store, wanted)
    if not verdicts:
        raise ConfigError(
            f"nothing is on record under `{wanted}`", hint="rightcall runs lists the runs, review list the items"
        )
    return _units(store, Found(id=wanted, kind="unit"), verdicts)


def _run(store: Store, run: RunRecord, event: RunEvent | None, *, failed: bool) -> Found:
    """A run with its results, which are read one by one and kept if they are asked for, and its judges."""
    summary = {} if event is None else event.summary
    parts = {
        name: Part(grader=name, facts=facts_for(run, name), summary=dict(summary_for(run, summary, name)), judges={},
                   others={})
        for name in graders_in(run)
    }  # fmt: skip
    kept = []
    for pair in _results(store, store.verdicts(run.id)):
        judges = parts[pair[0].grader].judges
        for opinion in msgspec.convert(pair[1].get("judges", []), list[Opinion]):
            judges.setdefault(opinion.judge, JudgeTally()).add(opinion)
        if not failed or _did_not_pass(pair):
            kept.append(pair)
    places = {name: place for place, name in enumerate(parts)}
    kept.sort(key=lambda pair: (places[pair[0].grader], natural(pair[0].unit)))
    for _, _, one in store.attempts(run_id=run.id, status="JUDGE_UNREACHABLE"):
        if one.model_answered is not None:
            # The exchanges of a run of probes carry the names of the graders that are attacked.
            part = parts.get(one.grader) or parts[run.grader]
            models = part.others.setdefault(one.judge, {})
            models[one.model_answered] = models.get(one.model_answered, 0) + 1
    return Found(
        id=run.id, kind="run", run=run, event=event, results=tuple(kept), parts=tuple(parts.values())
    )  # fmt: skip


def _units(store: Store, found: Found, verdicts: list[VerdictRecord]) -> Found:
    """Some verdicts with everything that they rest on."""
    about = {(verdict.run_id, verdict.unit, verdict.grader) for verdict in verdicts}
    waiting = [
        ReviewItem(id=name, item=item)
        for run_id in dict.fromkeys(verdict.run_id for verdict in verdicts)
        for name, item in store.reviews(run_id=run_id)
        if (item.run_id, item.unit, item.grader) in about and not _is_settled(store, item)
    ]
    return msgspec.structs.replace(
        found, results=tuple(_results(store, iter(verdicts))), attempts=_attempts(store, verdicts),
        seconds=tuple(_source(store, verdict.trace_b) for verdict in verdicts),
        sources=tuple((_source(store, verdict.trace), _source(store, verdict.case)) for verdict in verdicts),
        waiting=tuple(waiting),
    )  # fmt: skip


def _source(store: Store, body: str | None) -> Any:
    return None if body is None else jsontext.decode(store.body(body))


def _review(store: Store, wanted: str) -> Found:
    """A review item, by its most urgent reason."""
    try:
        reasons = [record for _, record in store.queue.history(wanted) if isinstance(record, ReviewRecord)]
    except StoreError as error:
        if error.exit_code != ConfigError.exit_code:
            raise
        raise ConfigError(error.message, hint=error.hint) from None
    item = min(reasons, key=lambda one: URGENCY.index(one.reason))
    verdict = store.verdict(item.run_id, item.unit, item.grader)
    verdicts = [] if verdict is None else [verdict]
    return _units(store, Found(id=wanted, kind="review", review=item), verdicts)


def _about(store: Store, wanted: str) -> list[VerdictRecord]:
    """Current verdicts of all runs about a step, a trace or a case, newest run last."""
    for name in ("unit", "trace_id", "case_id"):
        found = list(store.find_verdicts(**{name: wanted}))
        if found:
            return found
    return []


def _results(store: Store, verdicts: Iterator[VerdictRecord]) -> Iterator[tuple[VerdictRecord, Any]]:
    while some := list(islice(verdicts, AT_ONCE)):
        bodies = store.bodies(one.result for one in some)
        for verdict in some:
            yield verdict, msgspec.json.decode(bodies[verdict.result])


def _did_not_pass(pair: tuple[VerdictRecord, Any]) -> bool:
    verdict, result = pair
    if verdict.grader == "preference":  # a preference is no pass: what has none, or one that hangs on the order
        return verdict.status != "EVALUATED" or result.get("order_inconsistent") is True
    if verdict.verdict is not None or verdict.status != "EVALUATED":
        return verdict.verdict != "PASS"
    if verdict.grader == "interpretation":  # what was misread: below 4 of 5, as it is called where it is listed
        return bool(result["score"] < (0.8 if result["fidelity_mapping"] == "direct" else 4))
    return result.get("misuse_severity") in ("CRITICAL", "HIGH")


def _attempts(store: Store, verdicts: list[VerdictRecord]) -> tuple[tuple[int, AttemptRecord], ...]:
    found = []
    for verdict in verdicts:
        for digest in verdict.attempts:
            seq, _, attempt = store.attempt(digest)
            found.append((seq, attempt))
    return tuple(found)


class GateEntry(Struct, frozen=True, kw_only=True):
    """What a gate said, as an entry of the log."""

    seq: int
    digest: str
    gate: GateRecord


def whole_entry(store: Store, entry: str) -> WholeAttempt | GateEntry:
    """One exchange with its texts, or what a gate said, by number of the log entry or by digest.

    Raises:
        ConfigError: there is none.
    """
    try:
        return whole_attempt(store, entry)
    except ConfigError:
        found = gate_answer(store.database, _entry(entry)) if entry.isascii() and entry.isalnum() else None
        if found is None:
            raise
    return GateEntry(seq=found[0], digest=found[1], gate=found[2])


def whole_attempt(store: Store, entry: str) -> WholeAttempt:
    """One exchange with its texts, by number of the log entry or by digest.

    Raises:
        ConfigError: there is none.
    """
    try:
        seq, digest, attempt = store.attempt(_entry(entry))
    except StoreError as error:
        raise ConfigError(
            error.message, hint="rightcall log list shows the exchanges, and log gates what gates said"
        ) from None
    reply = None if attempt.reply is None else store.body(attempt.reply).decode()
    return WholeAttempt(
        seq=seq, digest=digest, attempt=attempt, system=store.body(attempt.system).decode(),
        user=store.body(attempt.user).decode(), reply=reply,
    )  # fmt: skip


def _entry(text: str) -> int | str:
    """A number of the log, or the beginning of a digest."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < _LONGEST_NUMBER else text


def last_attempts(store: Store, limit: int, **where: str | None) -> list[tuple[int, str, AttemptRecord]]:
    """The last exchanges that have what is given, oldest first."""
    return list(deque(store.attempts(**where), maxlen=limit))  # type: ignore[arg-type]


def review_items(store: Store, run: str | None, reason: str | None) -> list[ReviewItem]:
    """The review items, most urgent first, then by id so that nobody can see the order of the run.

    What had no verdict, and got one when its run went on, waits no longer.

    Raises:
        StoreError: an unknown run. ConfigError: an unknown reason.
    """
    if reason is not None and reason not in URGENCY:
        raise ConfigError(f"`{reason}` is no reason for a review", hint=f"known: {', '.join(URGENCY)}")
    if run is not None:
        store.run(run)
    found = store.reviews(run_id=run, reason=reason)
    items = [ReviewItem(id=name, item=item) for name, item in found if not _is_settled(store, item)]
    return sorted(items, key=lambda one: (URGENCY.index(one.item.reason), one.id))


def _is_settled(store: Store, item: ReviewRecord) -> bool:
    """Whether an item that waits for want of a verdict has one now."""
    if item.reason != "unevaluable":
        return False
    verdict = store.verdict(item.run_id, item.unit, item.grader)
    return verdict is not None and verdict.status == "EVALUATED"
