"""The error tree of rightcall.

::

    RightcallError                 every error that rightcall raises on purpose
    ├── TraceError                 a trace file or record that cannot be read (TRACE_*)
    ├── CaseError                  a case or golden that cannot be used (CASE_*)
    ├── ConfigError                settings, catalog, policy or command line (CONFIG_*)
    │   └── MissingExtraError      an optional part is not installed
    ├── NoDataError                there is nothing to work on
    ├── RunError                   the machinery of a run broke: a process died, a file changed meanwhile
    ├── ReplyError                 a judge's reply that could not be read
    ├── ProviderError              a model endpoint
    │   ├── RateLimited
    │   ├── Unavailable
    │   └── Rejected
    └── StoreError                 the record could not be read or written

An error carries a `code` (stable, used from outside), a `Place` (file, line, column, JSON path) and one sentence
that says what to do. `str(error)` is the one line that a person sees. A bad record inside a foreign file is *data*
(a skip in the reading report), not an exception; these classes are for what stops the work.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found: file, 1-based line and column, and a JSON path inside the record."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    path: str | None = None

    def __str__(self) -> str:
        """`file:line:column at $.path`, leaving out what is not known."""
        numbers = [str(n) for n in (self.line, self.column) if n is not None]
        where = ":".join([self.file, *numbers] if self.file else numbers and ["line " + ":".join(numbers)])
        return f"{where} at {self.path}" if self.path and where else where or (self.path or "")


class RightcallError(Exception):
    """Base of all errors that rightcall raises on purpose.

    Args:
        message: what is wrong, in one sentence, without the place.
        code: the stable error code.
        place: where it was found.
        hint: what to do about it.
    """

    default_code = "ERROR"
    exit_code = 2

    def __init__(
        self, message: str, *, code: str | None = None, place: Place | None = None, hint: str | None = None
    ) -> None:
        """Keep the parts; the text is put together on demand."""
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.place = place or Place()
        self.hint = hint

    def __str__(self) -> str:
        """One line: place, message, hint, code."""
        where = str(self.place)
        text = f"{where}: {self.message}" if where else self.message
        if self.hint:
            text = f"{text}; {self.hint}"
        return " ".join(f"{text} [{self.code}]".split())


class TraceError(RightcallError):
    """A trace file or record that cannot be read."""

    default_code = "TRACE_MALFORMED"


class CaseError(RightcallError):
    """A case, golden or policy inside a case that cannot be used."""

    default_code = "CASE_INVALID"


class ConfigError(RightcallError):
    """Settings, catalog, policy or command line that cannot be used."""

    default_code = "CONFIG_INVALID"


class MissingExtraError(ConfigError):
    """An optional part of rightcall is needed and not installed."""

    default_code = "CONFIG_MISSING_EXTRA"


class NoDataError(RightcallError):
    """There is nothing to work on: no trace, no case, an empty file."""

    default_code = "NO_DATA"
    exit_code = 5


class RunError(RightcallError):
    """The machinery of a run broke; it says nothing about the traces."""

    default_code = "RUN_BROKEN"
    exit_code = 5


class ReplyError(RightcallError):
    """A judge's reply that could not be read."""

    default_code = "JUDGE_SCHEMA"
    exit_code = 5


class ProviderError(RightcallError):
    """A model endpoint did not give a usable answer.

    Args:
        message: what happened, without secrets.
        code: `JUDGE_AUTH`, `JUDGE_UNREACHABLE`, `JUDGE_RATE_LIMITED` or `JUDGE_TIMEOUT`.
        http_status: what the endpoint answered with, if it did.
        retry_after: seconds that it asked us to wait.
        parameter: the request's parameter that it refuses, if it says so.
        hint: what to do about it.
    """

    default_code = "JUDGE_UNREACHABLE"
    exit_code = 5

    def __init__(
        self, message: str, *, code: str | None = None, place: Place | None = None, hint: str | None = None,
        http_status: int | None = None, retry_after: float | None = None, parameter: str | None = None,
    ) -> None:  # fmt: skip
        """Keep the parts."""
        super().__init__(message, code=code, place=place, hint=hint)
        self.http_status = http_status
        self.retry_after = retry_after
        self.parameter = parameter


class RateLimited(ProviderError):
    """The endpoint asked us to slow down."""

    default_code = "JUDGE_RATE_LIMITED"


class Unavailable(ProviderError):
    """The endpoint could not be reached or failed on its side."""


class Rejected(ProviderError):
    """The endpoint refused the request or the credential."""

    default_code = "JUDGE_AUTH"


class StoreError(RightcallError):
    """The record could not be read or written."""

    default_code = "STORE_CONFLICT"
    exit_code = 5
