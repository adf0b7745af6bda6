"""What people say: answers, consensus, sign-offs and events, which nobody changes; and the queue, made from the log."""

from __future__ import annotations

import sqlalchemy as sa  # noqa: TID253 - alembic loads this module when a store is made
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TABLES = ("answers", "consensus", "signoffs", "review_events")
_SEQ = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables, and guard those that hold records. Nothing that is there is touched."""
    _make_records()
    for table in _TABLES:
        _guard(table)
    op.create_index("reviews_unit", "reviews", ["run_id", "unit", "grader"])
    _make_queue()


def _make_records() -> None:
    _make("answers", "item", "run_id", "grader", "unit", "who", "kind")
    op.create_index("answers_item", "answers", ["item", "seq"])
    op.create_index("answers_run", "answers", ["run_id", "seq"])
    own_words = sa.text("kind IN ('answer', 'adjudication')")
    op.create_index(
        "answers_once", "answers", ["item", "who"], unique=True, sqlite_where=own_words, postgresql_where=own_words
    )
    _make("consensus", "item", "run_id", "grader", "unit")
    op.create_index("consensus_item", "consensus", ["item", "seq"])
    _make("signoffs", "item", "run_id", "grader", "unit", "who", "outcome")
    op.create_index("signoffs_item", "signoffs", ["item", "seq"])
    op.create_index("signoffs_run", "signoffs", ["run_id", "seq"])
    _make("review_events", "item", "run_id", "act", "who")
    op.create_index("review_events_item", "review_events", ["item", "seq"])


def _make_queue() -> None:
    op.create_table(
        "queue",
        sa.Column("item", sa.String(67), primary_key=True),
        *_texts("run_id", "grader", "unit"),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("rank", sa.Integer()),
        sa.Column("needed", sa.Integer()),
        *_numbers("answered", "is_open", "is_adjudication", "is_settled", "is_critical", "is_signed"),
        *_texts("why", "about"),
    )
    op.create_index("queue_unit", "queue", ["run_id", "unit", "grader"])
    op.create_index("queue_open", "queue", ["is_open", "run_id"])
    op.create_index("queue_needed", "queue", ["needed"])
    op.create_table(
        "leases",
        sa.Column("item", sa.String(67), primary_key=True),
        sa.Column("who", sa.Text(), primary_key=True),
        sa.Column("until", sa.BigInteger(), nullable=False),
        *_texts("client"),
    )
    op.create_index("leases_who", "leases", ["who"])
    op.create_table(
        "queue_end",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("seq", _SEQ, nullable=False),
    )


def _make(name: str, *columns: str) -> None:
    op.create_table(
        name,
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("seq", _SEQ, nullable=False),
        sa.Column("codec", sa.String(8), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        *_texts(*columns),
    )
    op.create_index(f"{name}_seq", name, ["seq"], unique=True)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer(), nullable=False) for name in names]


def _guard(table: str) -> None:
    """Refuse UPDATE and DELETE (and TRUNCATE), as for the tables of the first revision, whose function this uses."""
    if op.get_context().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, 'rightcall: {table} is append-only'); END"
            )
        return
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION rightcall_append_only()"
    )


def downgrade() -> None:
    """Refuse: the record is never taken back."""
    raise NotImplementedError("a store is never downgraded")
