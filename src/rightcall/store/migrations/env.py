"""What alembic runs: the migrations, on the connection (and in the transaction) of whoever asked for them."""

from __future__ import annotations

from alembic import context

from rightcall.store.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
