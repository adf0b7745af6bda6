"""What gates said about runs: the newest answer of each, which is the one that stands, and all of them in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select  # noqa: TID253 - this module is loaded with an open store

from rightcall.store.inserting import chunks
from rightcall.store.packing import column, unpack
from rightcall.store.reading import fetching, stored, stream
from rightcall.store.records import GateRecord
from rightcall.store.tables import gates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rightcall.store.database import Database


def gate_answers(database: Database, run_id: str | None = None) -> Iterator[tuple[int, str, GateRecord]]:
    """What gates said, of one run or of all, oldest first, as (number of the log entry, digest, record)."""
    for row in stream(database, stored(gates, run_id=run_id), gates.c.seq):
        yield row.seq, row.digest, unpack(GateRecord, row.codec, row.data)


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
