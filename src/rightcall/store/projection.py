"""The review queue as tables: what the log says about each item, in a form in which a claim is one statement.

The tables are a projection. They hold nothing that the log does not, `catch_up` brings them up to its end, and
`rebuild` makes them anew. An item is always projected from all of its records, so both ways come to the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, and_, select, text, true, tuple_  # noqa: TID253 - loaded with the queue

from rightcall.store.inserting import chunks, head
from rightcall.store.packing import unpack
from rightcall.store.reading import stored
from rightcall.store.records import (
    AnswerRecord,
    ConsensusRecord,
    Record,
    ReviewEvent,
    ReviewRecord,
    SignoffRecord,
    VerdictRecord,
    item_of,
)
from rightcall.store.tables import (
    PROJECTION,
    answers,
    consensus,
    leases,
    log,
    queue,
    queue_end,
    review_events,
    reviews,
    signoffs,
    verdicts,
)
from rightcall.store.waiting import SEVERITIES, Rules, counts, read_moment

R = TypeVar("R", bound=Record)
Unit = tuple[str, str, str]

_BY_ITEM: dict[Table, type[AnswerRecord | ConsensusRecord | SignoffRecord | ReviewEvent]] = {
    answers: AnswerRecord,
    consensus: ConsensusRecord,
    signoffs: SignoffRecord,
    review_events: ReviewEvent,
}
_UNRULED = queue.c.needed.is_(None)
_UNEVALUABLE = "unevaluable"


def catch_up(connection: Connection, rules: Rules | None) -> None:
    """Bring the queue up to the end of the log; under the write lock."""
    begin, end = upto(connection), head(connection).seq
    if end < begin:
        # The log is shorter than it was: somebody cut it, or put another file in its place.
        _clear(connection)
        begin = 0
    if end != begin:
        for some in chunks(_changed(connection, begin)):
            _project(connection, some)
        mark(connection, end)
    if rules is not None:
        _apply(connection, rules, _UNRULED)


def refresh(connection: Connection, row: Row[Any], rules: Rules | None) -> None:
    """Project one item again, of which alone something was recorded since the queue was brought up to date."""
    _project(connection, [(row.item, (row.run_id, row.unit, row.grader))])
    mark(connection, head(connection).seq)
    if rules is not None:
        _apply(connection, rules, _UNRULED)


def rebuild(connection: Connection, rules: Rules | None) -> None:
    """Throw the queue away and make it again from the log; under the write lock."""
    _clear(connection)
    catch_up(connection, rules)


def apply_rules(connection: Connection, rules: Rules) -> None:
    """Give every item the rank and the number of answers of these rules; what is decided stays decided."""
    _apply(connection, rules, true())


def upto(connection: Connection) -> int:
    """The last log entry that the queue knows."""
    return connection.execute(select(queue_end.c.seq)).scalar() or 0


def mark(connection: Connection, seq: int) -> None:
    """Say that the queue knows the log up to this entry."""
    statement = "INSERT INTO queue_end (id, seq) VALUES (1, :seq) ON CONFLICT (id) DO UPDATE SET seq = excluded.seq"
    connection.execute(text(statement), {"seq": seq})


def _clear(connection: Connection) -> None:
    for table in PROJECTION:
        connection.execute(table.delete())


# ---- which items ----


def _changed(connection: Connection, begin: int) -> Iterator[tuple[str, Unit]]:
    """The items of which something was recorded after this entry, once each, with the columns of their unit."""
    found: dict[str, Unit] = {}
    for row in connection.execute(
        select(reviews.c.codec, reviews.c.data, *_unit(reviews)).where(reviews.c.seq > begin)
    ):
        review = unpack(ReviewRecord, row.codec, row.data)
        found[item_of(review.run_id, review.grader, review.unit)] = (row.run_id, row.unit, row.grader)
    same_unit = and_(*(queue.c[name] == verdicts.c[name] for name in ("run_id", "unit", "grader")))
    touched = [
        select(queue.c.item, *_unit(queue)).join(verdicts, same_unit).where(verdicts.c.seq > begin),
        *(
            select(queue.c.item, *_unit(queue)).join(table, table.c.item == queue.c.item).where(table.c.seq > begin)
            for table in _BY_ITEM
        ),
    ]
    for query in touched:
        for row in connection.execute(query.distinct()):
            found[row.item] = (row.run_id, row.unit, row.grader)
    return iter(found.items())


def _unit(table: Table) -> Iterable[Any]:
    return (table.c.run_id, table.c.unit, table.c.grader)


# ---- one item ----


def _project(connection: Connection, items: Sequence[tuple[str, Unit]]) -> None:
    ids = [item for item, _ in items]
    by_unit = {unit: item for item, unit in items}
    why = _of_units(connection, reviews, ReviewRecord, by_unit)
    # A later verdict settles nothing but that there was none: for other items none is read, which is most of the time.
    without = {unit: item for unit, item in by_unit.items() if any(one.reason == _UNEVALUABLE for _, one in why[item])}
    judged = _of_units(connection, verdicts, VerdictRecord, without) if without else {}
    said: dict[Table, dict[str, list[tuple[int, Any]]]] = {
        table: _of_items(connection, table, kind, ids) for table, kind in _BY_ITEM.items()
    }
    known = select(queue.c.item, queue.c.rank, queue.c.needed, queue.c.why)
    before = {row.item: row for row in connection.execute(known.where(queue.c.item.in_(ids)))}
    connection.execute(queue.delete().where(queue.c.item.in_(ids)))
    connection.execute(leases.delete().where(leases.c.item.in_(ids)))
    rows, held = [], []
    for item, (run_id, unit, grader) in items:
        records = {table: said[table].get(item, []) for table in _BY_ITEM}
        row = _row(why[item], judged.get(item, []), records)
        kept = _kept_rules(before.get(item), row)
        place = {"item": item, "run_id": run_id, "grader": grader, "unit": unit}
        rows.append({**place, **row, **kept, "created": _created(connection, *why[item][0])})
        held += _leases(item, records[review_events] + records[answers])
    connection.execute(queue.insert(), rows)
    if held:
        connection.execute(leases.insert(), held)


def _kept_rules(before: Any, row: Mapping[str, Any]) -> dict[str, int | None]:
    """Rank and number of answers as they were, or unknown where the rules must be asked again.

    They are where an item is new, or is there for other reasons than before.
    """
    if before is None or before.why != row["why"]:
        return {"rank": None, "needed": None}
    return {"rank": before.rank, "needed": before.needed}


def _created(connection: Connection, seq: int, first: ReviewRecord) -> int:
    """When an item came to be: as its first record says, or else when that was written."""
    said = read_moment(first.created_at)
    if said is None:
        said = read_moment(connection.execute(select(log.c.at).where(log.c.seq == seq)).scalar() or "")
    return 0 if said is None else said


def _of_units(
    connection: Connection, table: Table, kind: type[R], by_unit: Mapping[Unit, str]
) -> dict[str, list[tuple[int, R]]]:
    """The records of some units by their item, oldest first."""
    these = tuple_(*_unit(table)).in_(list(by_unit))
    found: dict[str, list[tuple[int, R]]] = {}
    for row in connection.execute(stored(table).add_columns(*_unit(table)).where(these).order_by(table.c.seq)):
        item = by_unit[row.run_id, row.unit, row.grader]
        found.setdefault(item, []).append((row.seq, unpack(kind, row.codec, row.data)))
    return found


def _of_items(connection: Connection, table: Table, kind: type[R], ids: list[str]) -> dict[str, list[tuple[int, R]]]:
    query = stored(table).add_columns(table.c.item).where(table.c.item.in_(ids)).order_by(table.c.seq)
    found: dict[str, list[tuple[int, R]]] = {}
    for row in connection.execute(query):
        found.setdefault(row.item, []).append((row.seq, unpack(kind, row.codec, row.data)))
    return found


def _row(
    why: list[tuple[int, ReviewRecord]], judged: list[tuple[int, VerdictRecord]], said: Mapping[Table, Any]
) -> dict[str, Any]:
    """What the records of an item come to."""
    first = why[0][1]
    live = [review for _, review in why if not (review.reason == _UNEVALUABLE and _is_evaluated(judged))]
    given: list[AnswerRecord] = [answer for _, answer in said[answers]]
    agreed: list[tuple[int, ConsensusRecord]] = said[consensus]
    reopened = [seq for seq, event in said[review_events] if event.act in ("disagreement", "returned")]
    decided = agreed[-1][0] if agreed else 0
    adjudicates = bool(reopened) and reopened[-1] > decided
    severity = max((review.severity for review in live if review.severity), key=_badness, default=None)
    critical = severity == "CRITICAL" or any(review.reason == "CRITICAL" for review in live)
    critical = critical or bool(agreed and agreed[-1][1].fields.get("severity") == "CRITICAL")
    about = {
        "run_id": first.run_id,
        "grader": first.grader,
        "unit": first.unit,
        **{name: _first_known(why, name) for name in ("case_id", "trace_id", "step_id")},
        "reasons": list(dict.fromkeys(review.reason for review in live)),
        "severity": severity,
        "probability": max((review.probability for review in live), default=1.0),
        "drawn": max((review.probability for review in live if review.reason == "random"), default=None),
        "extras": sum(answer.extra for answer in given),
        "answered_by": list(dict.fromkeys(answer.who for answer in given if answer.kind != "amendment")),
        "skipped_by": list(dict.fromkeys(event.who for _, event in said[review_events] if event.act == "skipped")),
    }
    return {
        "answered": sum(map(counts, given)),
        "is_open": int(bool(live) and (adjudicates or not agreed)),
        "is_adjudication": int(adjudicates),
        "is_settled": int(not live),
        "is_critical": int(critical),
        "is_signed": int(bool(said[signoffs])),
        "why": _why(live),
        "about": json.dumps(about),
    }


def _is_evaluated(judged: Sequence[tuple[int, VerdictRecord]]) -> bool:
    """Whether what once had no verdict has one now: its run was gone on with."""
    return bool(judged) and max((one for _, one in judged), key=lambda one: one.revision).status == "EVALUATED"


def _badness(severity: str) -> int:
    return SEVERITIES.index(severity) if severity in SEVERITIES else -1


def _first_known(why: Iterable[tuple[int, ReviewRecord]], name: str) -> str | None:
    return next((value for _, review in why if (value := getattr(review, name)) is not None), None)


def _why(live: Iterable[ReviewRecord]) -> str:
    """What rules look at, as a text: reasons and severities, each pair once, sorted."""
    pairs = sorted({(review.reason, review.severity or "") for review in live})
    return json.dumps(pairs, separators=(",", ":"))


def has_reason(reason: str) -> str:
    """What the column `why` of an item with this reason is like."""
    return f"%[{json.dumps(reason).replace('_', '!_').replace('%', '!%')},%"


def _leases(item: str, happened: list[tuple[int, AnswerRecord | ReviewEvent]]) -> list[dict[str, Any]]:
    """Who claimed an item and has neither given it back nor answered, whether the claim has lapsed or not."""
    held: dict[str, dict[str, Any]] = {}
    for _, one in sorted(happened, key=lambda pair: pair[0]):
        if isinstance(one, AnswerRecord):
            if one.kind in ("answer", "adjudication"):
                held.pop(one.who, None)
        elif one.act == "claimed":
            until = read_moment(one.until or "")
            if until is not None:
                held[one.who] = {"item": item, "who": one.who, "until": until, "client": one.client}
        elif one.act in ("released", "skipped"):
            held.pop(one.who, None)
    return list(held.values())


# ---- rules ----


def has_unruled(connection: Connection) -> bool:
    """Whether an item has no rank yet."""
    return connection.execute(_kinds(_UNRULED).limit(1)).first() is not None


def disagrees(connection: Connection, rules: Rules) -> bool:
    """Whether these rules would give an item another rank, or another number of answers."""
    return any(_ruled(row, rules) != (row.rank, row.needed) for row in connection.execute(_kinds(true())))


def _apply(connection: Connection, rules: Rules, which: ColumnElement[bool]) -> None:
    """Ask the rules about each combination of grader, reasons and severities that such items have."""
    for row in connection.execute(_kinds(which)).all():
        rank, needed = _ruled(row, rules)
        if (rank, needed) != (row.rank, row.needed):
            same = (which, queue.c.grader == row.grader, queue.c.why == row.why)
            connection.execute(queue.update().where(*same).values(rank=rank, needed=needed))


def _kinds(which: ColumnElement[bool]) -> Select[Any]:
    # What waits no longer has no reasons left that rules could look at.
    kinds = select(queue.c.grader, queue.c.why, queue.c.rank, queue.c.needed).distinct()
    return kinds.where(which, queue.c.is_settled == 0)


def _ruled(row: Row[Any], rules: Rules) -> tuple[int, int]:
    """Rank and number of answers of items of a kind."""
    alike = [
        ReviewRecord(run_id="", grader=row.grader, unit="", reason=reason, severity=severity or None, created_at="")
        for reason, severity in json.loads(row.why)
    ]
    return rules.rank(alike), rules.needed(alike)
