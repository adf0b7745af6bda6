"""What gates said about runs, which nobody changes."""

from __future__ import annotations

import sqlalchemy as sa  # noqa: TID253 - alembic loads this module when a store is made
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TABLE = "gates"
_COLUMNS = ("run_id", "asked_by", "answer")


def upgrade() -> None:
    """Make the table and guard it. Nothing that is there is touched."""
    op.create_table(
        _TABLE,
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("codec", sa.String(8), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in _COLUMNS),
    )
    op.create_index("gates_seq", _TABLE, ["seq"], unique=True)
    op.create_index("gates_run", _TABLE, ["run_id", "seq"])
    _guard()


def _guard() -> None:
    """Refuse UPDATE and DELETE (and TRUNCATE), as for the tables of the first revision, whose function this uses."""
    if op.get_context().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {_TABLE}_no_{verb.lower()} BEFORE {verb} ON {_TABLE} "
                f"BEGIN SELECT RAISE(ABORT, 'rightcall: {_TABLE} is append-only'); END"
            )
        return
    op.execute(
        f"CREATE TRIGGER {_TABLE}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {_TABLE} "
        "FOR EACH STATEMENT EXECUTE FUNCTION rightcall_append_only()"
    )


def downgrade() -> None:
    """Refuse: the record is never taken back."""
    raise NotImplementedError("a store is never downgraded")
