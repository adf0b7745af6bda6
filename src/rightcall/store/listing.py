"""Items of the queue as people see them: the rows, who holds them now, and the state that follows from both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec import convert
from sqlalchemy import Row, Select, select  # noqa: TID253 - loaded with the queue

from rightcall.store import claims, projection
from rightcall.store.database import Database
from rightcall.store.packing import column
from rightcall.store.reading import fetching
from rightcall.store.tables import leases, queue
from rightcall.store.waiting import Only, QueueItem, State, prefix_of, written


def shown(database: Database, rows: Sequence[Row[Any]], now: int) -> list[QueueItem]:
    """Rows of the queue (a few hundred at most) as items."""
    query = select(leases).where(leases.c.item.in_([row.item for row in rows]), leases.c.until > now)
    held: dict[str, list[tuple[str, str]]] = {}
    for lease in database.read(fetching(query.order_by(leases.c.until, leases.c.who))):
        held.setdefault(lease.item, []).append((lease.who, written(lease.until)))
    return [_item(row, held.get(row.item, [])) for row in rows]


def wanted(only: Only) -> Select[Any]:
    """The rows of what is meant, without those that wait no longer and were never answered."""
    query = select(queue).where((queue.c.is_settled == 0) | (queue.c.answered > 0))
    for name in ("run_id", "grader"):
        if (value := getattr(only, name)) is not None:
            query = query.where(queue.c[name] == column(value))
    if only.reason is not None:
        query = query.where(queue.c.why.like(projection.has_reason(only.reason), escape="!"))
    if only.item is not None:
        least = prefix_of(only.item)
        query = query.where(queue.c.item >= least, queue.c.item < f"{least}g")
    return query


def _item(row: Row[Any], holders: list[tuple[str, str]]) -> QueueItem:
    values = {
        **json.loads(row.about),
        "item": row.item,
        "created_at": written(row.created),
        "rank": row.rank or 0,
        "needed": claims.needed_of(row),
        "answered": row.answered,
        "holders": holders,
        "adjudicates": bool(row.is_adjudication),
        "is_critical": bool(row.is_critical),
        "is_signed": bool(row.is_signed),
        "state": _state(row, len(holders)),
    }
    return convert(values, QueueItem)


def _state(row: Row[Any], holders: int) -> State:
    if row.is_adjudication:
        return "adjudication"
    if claims.is_complete(row):
        return "signoff" if row.is_critical and not row.is_signed else "done"
    return "held" if row.answered + holders >= claims.needed_of(row) else "waiting"
