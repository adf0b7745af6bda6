"""The append-only record: traces, cases, attempts, verdicts, review items, and the chain that binds them."""
