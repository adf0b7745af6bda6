"""The schema of the store, one for SQLite and PostgreSQL. Migrations make it; a test compares the two.

Every record lies in the table of its kind, as bytes, with the columns that queries need and the number of its log
entry. `verify` recomputes all of them from the bytes. Beside them stands the review queue, which follows from the log.
"""

from __future__ import annotations

from sqlalchemy import (  # noqa: TID253 - this module is loaded when a store is opened
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

from rightcall.store.packing import COLUMNS

REVISION = "0004"
"""The revision of the schema that this code reads and writes."""

METADATA = MetaData()

_NUMBERS = {"attempt", "revision"}
_MAY_BE_UNKNOWN = {"case_id", "trace_id"}
# SQLite takes a column for its own row number only if it is called INTEGER.
_SEQ = BigInteger().with_variant(Integer, "sqlite")


def _table(name: str, kind: str) -> Table:
    """The table of a kind of records."""
    projected = (
        Column(column, Integer if column in _NUMBERS else Text, nullable=column in _MAY_BE_UNKNOWN)
        for column in COLUMNS[kind]
    )
    return Table(
        name,
        METADATA,
        Column("digest", String(64), primary_key=True),
        Column("seq", _SEQ, nullable=False),
        Column("codec", String(8), nullable=False),
        Column("data", LargeBinary, nullable=False),
        *projected,
        Index(f"{name}_seq", "seq", unique=True),
    )


bodies = Table(
    "bodies",
    METADATA,
    Column("sha256", String(64), primary_key=True),
    Column("codec", String(8), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
log = Table(
    "log",
    METADATA,
    Column("seq", _SEQ, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("run_id", Text),
    Column("digest", String(64), nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Index("log_run", "run_id", "seq"),
    Index("log_kind", "kind", "seq"),
)
runs = _table("runs", "run")
run_events = _table("run_events", "run_event")
traces = _table("traces", "trace")
cases = _table("cases", "case")
attempts = _table("attempts", "attempt")
verdicts = _table("verdicts", "verdict")
reviews = _table("reviews", "review")
answers = _table("answers", "answer")
consensus = _table("consensus", "consensus")
signoffs = _table("signoffs", "signoff")
review_events = _table("review_events", "review_event")
calibrations = _table("calibrations", "calibration")
gates = _table("gates", "gate")

Index("runs_id", runs.c.id, unique=True)
Index("run_events_run", run_events.c.run_id, run_events.c.seq)
Index("traces_body", traces.c.body)
Index("cases_body", cases.c.body)
Index("attempts_key", attempts.c.key, attempts.c.status)
Index("attempts_run", attempts.c.run_id, attempts.c.seq)
Index("attempts_unit", attempts.c.run_id, attempts.c.unit)
Index("attempts_case", attempts.c.case_id)
Index("verdicts_unit", verdicts.c.run_id, verdicts.c.unit, verdicts.c.revision, verdicts.c.grader, unique=True)
Index("verdicts_run", verdicts.c.run_id, verdicts.c.seq)
Index("verdicts_case", verdicts.c.case_id)
Index("verdicts_trace", verdicts.c.trace_id)
Index("verdicts_any_run", verdicts.c.unit)
Index("reviews_run", reviews.c.run_id, reviews.c.seq)
Index("reviews_reason", reviews.c.reason)
Index("reviews_unit", reviews.c.run_id, reviews.c.unit, reviews.c.grader)
Index("answers_item", answers.c.item, answers.c.seq)
Index("answers_run", answers.c.run_id, answers.c.seq)
Index("consensus_item", consensus.c.item, consensus.c.seq)
Index("signoffs_item", signoffs.c.item, signoffs.c.seq)
Index("signoffs_run", signoffs.c.run_id, signoffs.c.seq)
Index("review_events_item", review_events.c.item, review_events.c.seq)
Index("calibrations_judge", calibrations.c.grader, calibrations.c.judge, calibrations.c.seq)
Index("gates_run", gates.c.run_id, gates.c.seq)

# One person answers an item once, whatever a program thinks: the database itself refuses the second answer.
_OWN_WORDS = answers.c.kind.in_(("answer", "adjudication"))
Index(
    "answers_once",
    answers.c.item,
    answers.c.who,
    unique=True,
    sqlite_where=_OWN_WORDS,
    postgresql_where=_OWN_WORDS,
)

TABLES: dict[str, Table] = {
    "run": runs,
    "run_event": run_events,
    "trace": traces,
    "case": cases,
    "attempt": attempts,
    "verdict": verdicts,
    "review": reviews,
    "answer": answers,
    "consensus": consensus,
    "signoff": signoffs,
    "review_event": review_events,
    "calibration": calibrations,
    "gate": gates,
}
"""Where the records of each kind lie."""

# ---- the projection ----

# These three say what the log says, in a form in which a claim is one statement. They are the only tables that change;
# `rightcall.store.projection` makes them from the log, again if need be. Times are milliseconds since 1970, UTC.

queue = Table(
    "queue",
    METADATA,
    Column("item", String(67), primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("grader", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("rank", Integer),
    Column("needed", Integer),
    Column("answered", Integer, nullable=False),
    Column("is_open", Integer, nullable=False),
    Column("is_adjudication", Integer, nullable=False),
    Column("is_settled", Integer, nullable=False),
    Column("is_critical", Integer, nullable=False),
    Column("is_signed", Integer, nullable=False),
    Column("why", Text, nullable=False),
    Column("about", Text, nullable=False),
    Index("queue_unit", "run_id", "unit", "grader"),
    Index("queue_open", "is_open", "run_id"),
    Index("queue_needed", "needed"),
)
leases = Table(
    "leases",
    METADATA,
    Column("item", String(67), primary_key=True),
    Column("who", Text, primary_key=True),
    Column("until", BigInteger, nullable=False),
    Column("client", Text, nullable=False),
    Index("leases_who", "who"),
)
queue_end = Table(
    "queue_end",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("seq", _SEQ, nullable=False),
)
PROJECTION: tuple[Table, ...] = (queue, leases, queue_end)
"""The tables that can be thrown away and made again from the log."""
