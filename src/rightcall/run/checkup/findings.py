"""What a check of `doctor` found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from rightcall.errors import RightcallError


class Check(Struct, frozen=True, kw_only=True):
    """One check.

    Attributes:
        status: `ok`, `warn` (it can be used, but look at it) or `fail`.
        what: what was looked at. detail: what was found. hint: what to do.
        exit_code: of a failure, the exit code that it means.
    """

    status: Literal["ok", "warn", "fail"]
    what: str
    detail: str
    hint: str | None = None
    exit_code: int = 0


def good(what: str, detail: str) -> Check:
    """All is well."""
    return Check(status="ok", what=what, detail=detail)


def odd(what: str, detail: str, hint: str | None = None) -> Check:
    """It can be used, but somebody should look at it."""
    return Check(status="warn", what=what, detail=detail, hint=hint)


def failed(what: str, error: RightcallError) -> Check:
    """It cannot be used."""
    where = str(error.place)
    detail = f"{where}: {error.message}" if where else error.message
    return Check(status="fail", what=what, detail=detail, hint=error.hint, exit_code=error.exit_code)
