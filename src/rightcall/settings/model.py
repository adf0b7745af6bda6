"""What `rightcall.toml` may hold, with the defaults (UX §1.4, names of SPEC).

Later graders add their tables here. Paths are relative to the settings file.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from rightcall.case.policy import Policy


class GoldenTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[golden]`: how `rightcall golden` judges."""

    profile: str = "balanced"
    min_overall: float = 1.0
    retries: Literal["free", "surplus"] = "free"
    surplus_reads: Literal["charged", "free"] = "charged"


class RedactTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[redact]`: what is hidden besides the built-in shapes. `keys` replaces the built-in key names."""

    patterns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ("password", "token", "secret", "authorization", "api_key", "cookie")


class LimitsTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[limits]`: processes, failures shown in full, and the least share of cases that must be evaluable."""

    jobs: int = 1
    failures: int = 20
    coverage: float = 0.98


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    version: Literal[1] = 1
    traces: str | tuple[str, ...] = ()
    cases: str | tuple[str, ...] = ()
    tools: str | None = None
    dialect: str = "auto"
    exclude_tools: tuple[str, ...] = ()
    aliases: dict[str, str] = {}
    policy: Policy = Policy()
    golden: GoldenTable = GoldenTable()
    redact: RedactTable = RedactTable()
    limits: LimitsTable = LimitsTable()
