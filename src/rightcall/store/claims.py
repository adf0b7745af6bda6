"""Claims: one person takes one item for a while, in one statement, under the store's write lock.

A claim is a row of `leases` and a `ReviewEvent`, written in one transaction. A lapsed claim is not taken away: it only
stops to count, so an item whose reviewer has gone is free again without anybody tidying up.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Row, func, select, text  # noqa: TID253 - loaded with the queue

from rightcall.store.inserting import head, insert_all
from rightcall.store.packing import column, digest_of, pack, unpack
from rightcall.store.projection import catch_up, has_reason, mark, refresh
from rightcall.store.reading import stored
from rightcall.store.records import ReviewAct, ReviewEvent
from rightcall.store.tables import leases, queue, review_events
from rightcall.store.waiting import Claim, Only, Rules, milliseconds, prefix_of, read_moment, refused, written

DAY = 24 * 60 * 60 * 1000

_SLOTS = "CASE WHEN q.is_adjudication = 1 THEN 1 ELSE COALESCE(q.needed, 1) - q.answered END"
_OTHERS = "(SELECT COUNT(*) FROM leases l WHERE l.item = q.item AND l.who <> :who AND l.until > :now)"
_OWN = "EXISTS (SELECT 1 FROM leases l WHERE l.item = q.item AND l.who = :who AND l.until > :now)"
_SAID = "EXISTS (SELECT 1 FROM answers a WHERE a.item = q.item AND a.who = :who)"
_SKIPPED = "EXISTS (SELECT 1 FROM review_events e WHERE e.item = q.item AND e.who = :who AND e.act = 'skipped')"
_WAITED = f"CASE WHEN q.created < :now THEN (:now - q.created) / {DAY} ELSE 0 END"

# What is one's own comes first: whoever asks again, gets the same item, and a lost connection loses nothing.
_ORDER = (
    f"CASE WHEN {_OWN} THEN 0 ELSE 1 END, CASE WHEN {_SKIPPED} THEN 1 ELSE 0 END, "
    f"COALESCE(q.rank, 0) - {_WAITED}, q.item"
)
_TAKE = (
    "INSERT INTO leases (item, who, until, client) "  # noqa: S608 - no value in it
    "SELECT q.item, :who, :until, :client FROM queue q "
    f"WHERE q.is_open = 1 AND {{which}} AND NOT {_SAID} AND {_SLOTS} > {_OTHERS} "
    f"ORDER BY {_ORDER} LIMIT 1 "
    "ON CONFLICT (item, who) DO UPDATE SET client = excluded.client, "
    "until = CASE WHEN excluded.until > leases.until THEN excluded.until ELSE leases.until END "
    "RETURNING item, until"
)


class Asked(Struct, frozen=True, kw_only=True):
    """Who wants an item, when, for how many seconds, from where, and which kinds of work the person may do."""

    who: str
    now: datetime
    lease: float
    client: str
    only: Only
    reviews: bool
    adjudicates: bool


def take(connection: Connection, asked: Asked, rules: Rules | None) -> Claim | None:
    """Claim the most urgent item that a person may answer; `None` if there is none."""
    catch_up(connection, rules)
    now = milliseconds(asked.now)
    which, values = _which(asked)
    values |= {"who": asked.who, "client": asked.client, "now": now, "until": now + round(asked.lease * 1000)}
    row = connection.execute(text(_TAKE.format(which=which)), values).first()
    if row is None:
        return None
    item = one_row(connection, row.item)
    until = written(row.until)
    tell(connection, event(item, asked.who, now, "claimed", until=until, client=asked.client))
    return Claim(item=item.item, who=asked.who, until=until, adjudicates=bool(item.is_adjudication))


def _which(asked: Asked) -> tuple[str, dict[str, Any]]:
    """The condition for what is asked for, and its values."""
    only = asked.only
    work = {(True, True): "1 = 1", (True, False): "q.is_adjudication = 0", (False, True): "q.is_adjudication = 1"}
    parts = [work.get((asked.reviews, asked.adjudicates), "1 = 0")]
    values: dict[str, Any] = {}
    for name in ("run_id", "grader"):
        if (value := getattr(only, name)) is not None:
            parts.append(f"q.{name} = :{name}")
            values[name] = column(value)
    if only.reason is not None:
        parts.append("q.why LIKE :reason ESCAPE '!'")
        values["reason"] = has_reason(only.reason)
    if only.item is not None:
        # No hexadecimal digit sorts after "g", in any collation.
        parts.append("q.item >= :least AND q.item < :most")
        values["least"] = prefix_of(only.item)
        values["most"] = f"{values['least']}g"
    return " AND ".join(parts), values


def renew(connection: Connection, item: str, who: str, now: datetime, lease: float, rules: Rules | None) -> str:
    """Hold an item for longer; until when (ISO 8601, UTC).

    Raises:
        StoreError: `STORE_CONFLICT`: the person does not hold it, or the claim has lapsed and the item is taken.
    """
    catch_up(connection, rules)
    # Before any other test: what somebody else holds is none of the asker's business, whatever the clock says.
    held = _lease(connection, item, who)
    moment = milliseconds(now)
    if held.until <= moment and not is_free(connection, item, who, moment):
        raise refused(
            f"the claim of {who} has lapsed, and the item was taken since",
            "answer it all the same: it is kept as extra",
            code="STORE_CONFLICT",
        )
    until = moment + round(lease * 1000)
    if until - held.until < (until - moment) / 4 and held.until > moment:
        # The log keeps every renewal, so one that would gain little is left out.
        return written(held.until)
    same = (leases.c.item == item, leases.c.who == who)
    connection.execute(leases.update().where(*same).values(until=until))
    tell(connection, event(one_row(connection, item), who, moment, "claimed", until=written(until), client=held.client))
    return written(until)


def give_back(
    connection: Connection, item: str, who: str, now: datetime, reason: str, act: ReviewAct, client: str,
    rules: Rules | None,
) -> None:  # fmt: skip
    """Let go of an item that the person holds.

    Raises:
        StoreError: `STORE_CONFLICT`: the person does not hold it.
    """
    catch_up(connection, rules)
    row = one_row(connection, item)
    told = event(row, who, milliseconds(now), act, reason=reason, client=client)
    if _last_event(connection, item, who) == told:
        return
    _lease(connection, item, who)
    _record(connection, told)
    refresh(connection, row, rules)


def send_back(
    connection: Connection, item: str, who: str, now: datetime, reason: str, client: str, rules: Rules | None
) -> None:
    """Want one more answer to an item that only waits for its sign-off: the next one decides.

    Raises:
        StoreError: `STORE_CONFLICT`: it does not wait for a sign-off.
    """
    catch_up(connection, rules)
    row = one_row(connection, item)
    told = event(row, who, milliseconds(now), "returned", reason=reason, client=client)
    if _last_event(connection, item, who) == told:
        return
    if not (row.is_critical and is_complete(row) and not row.is_signed):
        raise refused(
            "only an item that waits for its sign-off can be sent back", "answer it, or release it",
            code="STORE_CONFLICT",
        )  # fmt: skip
    _record(connection, told)
    refresh(connection, row, rules)


def is_complete(row: Row[Any]) -> bool:
    """Whether an item needs no more answers."""
    return not row.is_adjudication and row.answered >= needed_of(row)


def needed_of(row: Row[Any]) -> int:
    """How many answers an item needs: as many as it has, if it is decided; 1 where no rules were ever given."""
    if not row.is_open:
        return int(row.answered)
    return 1 if row.needed is None else int(row.needed)


def is_free(connection: Connection, item: str, who: str, now: int) -> bool:
    """Whether an item has a slot for this person: more answers are wanted than given, or being given by others."""
    statement = f"SELECT 1 FROM queue q WHERE q.item = :item AND q.is_open = 1 AND {_SLOTS} > {_OTHERS}"  # noqa: S608 - no value in it
    return connection.execute(text(statement), {"item": item, "who": who, "now": now}).first() is not None


def is_held(connection: Connection, item: str, who: str, now: int) -> bool:
    """Whether this person holds an item, and the claim has not lapsed."""
    same = (leases.c.item == item, leases.c.who == who, leases.c.until > now)
    return connection.execute(select(leases.c.until).where(*same)).first() is not None


def held_by(connection: Connection, item: str, now: int) -> int:
    """How many people hold an item."""
    same = (leases.c.item == item, leases.c.until > now)
    return connection.execute(select(func.count()).select_from(leases).where(*same)).scalar_one()


def one_row(connection: Connection, item: str) -> Row[Any]:
    """An item of the queue.

    Raises:
        StoreError: `STORE_INVALID`: there is none.
    """
    row = connection.execute(select(queue).where(queue.c.item == item)).first()
    if row is None:
        raise refused(f"there is no review item `{item}`", "rightcall review list names them")
    return row


def event(
    row: Row[Any], who: str, now: int, act: ReviewAct, *, reason: str = "", until: str | None = None, client: str = ""
) -> ReviewEvent:
    """What became of an item, as a record."""
    run_id = json.loads(row.about)["run_id"]
    return ReviewEvent(
        item=row.item, run_id=run_id, act=act, who=who, at=written(now), reason=reason, until=until, client=client
    )


def tell(connection: Connection, told: ReviewEvent) -> None:
    """Write an event that the queue, which knows the rest of the log, has in its tables already."""
    if _last_event(connection, told.item, told.who) != told:
        _record(connection, told)
    mark(connection, head(connection).seq)


def _record(connection: Connection, told: ReviewEvent) -> None:
    """Write an event, even if the same was written before, at the same moment, with others in between."""
    at = read_moment(told.at) or 0
    while connection.execute(select(review_events.c.seq).where(review_events.c.digest == digest_of(told))).first():
        at += 1
        told = replace(told, at=written(at))
    insert_all(connection, pack([told]), [])


def _last_event(connection: Connection, item: str, who: str) -> ReviewEvent | None:
    """What a person did last with an item. Whoever lost a connection does it again, and finds that it is done."""
    row = connection.execute(
        stored(review_events, item=item, who=who).order_by(review_events.c.seq.desc()).limit(1)
    ).first()
    return None if row is None else unpack(ReviewEvent, row.codec, row.data)


def _lease(connection: Connection, item: str, who: str) -> Row[Any]:
    row = connection.execute(select(leases).where(leases.c.item == item, leases.c.who == who)).first()
    if row is None:
        raise refused(f"{who} does not hold this item", "claim it first: rightcall review next", code="STORE_CONFLICT")
    return row
