"""The one clock of the runs."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """This moment, ISO 8601 with zone."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def today() -> str:
    """The day that run ids begin with: `20261129`."""
    return datetime.now(UTC).strftime("%Y%m%d")
