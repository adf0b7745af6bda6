"""How the schema came about, step by step; alembic runs what a store lacks. See `rightcall.store.upgrade`."""
