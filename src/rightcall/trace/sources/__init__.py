"""Readers: one module a dialect, registered in `registry`."""
