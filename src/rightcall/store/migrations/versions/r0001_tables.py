"""The first tables: bodies, the log, and seven kinds of records; nothing in them can be changed or deleted."""

from __future__ import annotations

import sqlalchemy as sa  # noqa: TID253 - alembic loads this module when a store is made
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = ("bodies", "log", "runs", "run_events", "traces", "cases", "attempts", "verdicts", "reviews")
_SEQ = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables and what guards them."""
    _make_bodies_and_log()
    _make_runs()
    _make_subjects()
    _make_judgements()
    for table in _TABLES:
        _guard(table)


def _make_bodies_and_log() -> None:
    op.create_table(
        "bodies",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("codec", sa.String(8), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "log",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=False),
        *_texts("at", "kind"),
        sa.Column("run_id", sa.Text()),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_index("log_run", "log", ["run_id", "seq"])
    op.create_index("log_kind", "log", ["kind", "seq"])


def _make_runs() -> None:
    _make("runs", *_texts("id", "grader"))
    op.create_index("runs_id", "runs", ["id"], unique=True)
    _make("run_events", *_texts("run_id", "status"))
    op.create_index("run_events_run", "run_events", ["run_id", "seq"])


def _make_subjects() -> None:
    _make("traces", *_texts("id"), sa.Column("case_id", sa.Text()), *_texts("body"))
    op.create_index("traces_body", "traces", ["body"])
    _make("cases", *_texts("id", "body"))
    op.create_index("cases_body", "cases", ["body"])


def _make_judgements() -> None:
    _make(
        "attempts",
        *_texts("run_id", "grader", "unit", "judge", "key", "status"),
        sa.Column("case_id", sa.Text()),
        sa.Column("trace_id", sa.Text()),
        *_texts("purpose"),
        sa.Column("attempt", sa.Integer(), nullable=False),
    )
    op.create_index("attempts_key", "attempts", ["key", "status"])
    op.create_index("attempts_run", "attempts", ["run_id", "seq"])
    op.create_index("attempts_unit", "attempts", ["run_id", "unit"])
    op.create_index("attempts_case", "attempts", ["case_id"])
    _make(
        "verdicts",
        *_texts("run_id", "grader", "unit"),
        sa.Column("revision", sa.Integer(), nullable=False),
        *_texts("status"),
        sa.Column("case_id", sa.Text()),
        sa.Column("trace_id", sa.Text()),
    )
    op.create_index("verdicts_unit", "verdicts", ["run_id", "unit", "revision", "grader"], unique=True)
    op.create_index("verdicts_run", "verdicts", ["run_id", "seq"])
    op.create_index("verdicts_case", "verdicts", ["case_id"])
    op.create_index("verdicts_trace", "verdicts", ["trace_id"])
    op.create_index("verdicts_any_run", "verdicts", ["unit"])
    _make("reviews", *_texts("run_id", "grader", "unit", "reason"), sa.Column("case_id", sa.Text()))
    op.create_index("reviews_run", "reviews", ["run_id", "seq"])
    op.create_index("reviews_reason", "reviews", ["reason"])


def _make(name: str, *columns: sa.Column[str] | sa.Column[int]) -> None:
    op.create_table(
        name,
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("seq", _SEQ, nullable=False),
        sa.Column("codec", sa.String(8), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        *columns,
    )
    op.create_index(f"{name}_seq", name, ["seq"], unique=True)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _guard(table: str) -> None:
    """Refuse UPDATE and DELETE (and TRUNCATE, where that is a statement of its own)."""
    if op.get_context().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, 'rightcall: {table} is append-only'); END"
            )
        return
    if table == _TABLES[0]:
        op.execute(
            "CREATE FUNCTION rightcall_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'rightcall: % is append-only', TG_TABLE_NAME; END $$"
        )
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION rightcall_append_only()"
    )


def downgrade() -> None:
    """Refuse: the record is never taken back."""
    raise NotImplementedError("a store is never downgraded")
