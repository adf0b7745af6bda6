"""What gates said about runs: the newest answer of each, which is the one that stands, and all of them in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Select, Subquery, Table, func, select  # noqa: TID253 - this module is loaded with an open store

from rightcall.store.inserting import chunks
from rightcall.store.packing import column, unpack
from rightcall.store.reading import by_number, by_prefix, fetching, stored, stream
from rightcall.store.records import ConsensusRecord, GateRecord, ReviewRecord
from rightcall.store.tables import consensus, gates, log, reviews

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from rightcall.store.database import Database

_CHANGES = ("verdict", "run_event", "signoff")
"""Kinds of records each of which may change what the same rules say about a run."""


def gate_answers(database: Database, run_id: str | None = None) -> Iterator[tuple[int, str, GateRecord]]:
    """What gates said, of one run or of all, oldest first, as (number of the log entry, digest, record)."""
    for row in stream(database, stored(gates, run_id=run_id), gates.c.seq):
        yield row.seq, row.digest, unpack(GateRecord, row.codec, row.data)


def gate_answer(database: Database, entry: int | str) -> tuple[int, str, GateRecord] | None:
    """One answer, by the number of its log entry or the first characters of its digest; `None`: not exactly one."""
    query = by_number(gates, entry) if isinstance(entry, int) else by_prefix(gates, entry)
    rows = database.read(fetching(query))
    return (rows[0].seq, rows[0].digest, unpack(GateRecord, rows[0].codec, rows[0].data)) if len(rows) == 1 else None


def newest_answers(database: Database, runs: Iterable[str]) -> dict[str, GateRecord]:
    """Run -> what was last said of it; a run that no gate was asked about is not in it."""
    found: dict[str, GateRecord] = {}
    for some in chunks(column(run) for run in runs):
        last = select(func.max(gates.c.seq)).where(gates.c.run_id.in_(some)).group_by(gates.c.run_id)
        for row in database.read(fetching(stored(gates).where(gates.c.seq.in_(last)))):
            answer = unpack(GateRecord, row.codec, row.data)
            found[answer.run_id] = answer
    return found


def newest_answer(database: Database, run: str) -> GateRecord | None:
    """What was last said of a run; `None`: no gate was asked about it."""
    return newest_answers(database, [run]).get(run)


def overtaken(database: Database, runs: Iterable[str]) -> set[str]:
    """The runs about which more was recorded after their gates were last asked, so that they might say something else.

    That is a verdict, another end, a sign-off, and whatever makes an item CRITICAL. What else people answer in the
    meantime (labels of a finished run, say) changes no `PASS`.
    """
    found: set[str] = set()
    for some in chunks(runs):
        names = {column(run): run for run in some}
        last = select(gates.c.run_id, func.max(gates.c.seq).label("seq")).where(gates.c.run_id.in_(names))
        asked = last.group_by(gates.c.run_id).subquery()
        changed = select(log.c.run_id).where(log.c.run_id == asked.c.run_id, log.c.kind.in_(_CHANGES))
        rows = database.read(fetching(changed.where(log.c.seq > asked.c.seq).distinct()))
        found.update(names[row.run_id] for row in rows)
        found.update(_made_critical(database, asked))
    return found


def _made_critical(database: Database, asked: Subquery) -> Iterator[str]:
    """The runs of which an item was called CRITICAL since: by what put it into the queue, or by what people agreed."""
    for row in database.read(fetching(_since(reviews, asked))):
        review = unpack(ReviewRecord, row.codec, row.data)
        if "CRITICAL" in (review.reason, review.severity):
            yield review.run_id
    for row in database.read(fetching(_since(consensus, asked))):
        agreed = unpack(ConsensusRecord, row.codec, row.data)
        if agreed.fields.get("severity") == "CRITICAL":
            yield agreed.run_id


def _since(table: Table, asked: Subquery) -> Select[Any]:
    return stored(table).where(table.c.run_id == asked.c.run_id, table.c.seq > asked.c.seq)
