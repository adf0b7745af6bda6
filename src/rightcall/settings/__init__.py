"""`rightcall.toml`: one loader, one order of precedence, errors with line and nearest name."""
