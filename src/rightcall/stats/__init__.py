"""Pure numbers: estimates with their intervals, and why a number cannot be given."""
