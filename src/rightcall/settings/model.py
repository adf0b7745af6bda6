"""What `rightcall.toml` may hold, with the defaults (UX §1.4, names of SPEC).

Later graders add their tables here. Paths are relative to the settings file.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from rightcall.case.policy import Policy
from rightcall.llm.spec import JudgeSpec


class GoldenTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[golden]`: how `rightcall golden` judges."""

    profile: str = "balanced"
    min_overall: float = 1.0
    retries: Literal["free", "surplus"] = "free"
    surplus_reads: Literal["charged", "free"] = "charged"


class SelectionTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[selection]`: who explains the choices (`none`: code alone), by which prompt."""

    judge: str = "none"
    prompt: str = "selection"


class RubricTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[rubric]`: who judges whole traces. `prompt` is used without a golden, `prompt_golden` with one."""

    judge: str = "auto"
    prompt: str = "rubric"
    prompt_golden: str = "rubric_golden"


class ReviewTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[review]`: the share of items that people see at random, and of those with a tool that is new."""

    random: float = 0.1
    random_new_tools: float = 0.5


class RedactTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[redact]`: what is hidden besides the built-in shapes. `keys` replaces the built-in key names."""

    patterns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ("password", "token", "secret", "authorization", "api_key", "cookie")


class LimitsTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[limits]`: processes, failures shown in full, the least share of cases that must be evaluable.

    `conflicts` is the share of verdicts in which a judge may contradict what code decides; beyond it, what the judge
    says is not a judgement.
    """

    jobs: int = 1
    failures: int = 20
    coverage: float = 0.98
    conflicts: float = 0.05


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
    store: str = ".rightcall/rightcall.db"
    judges: dict[str, JudgeSpec] = {}
    golden: GoldenTable = GoldenTable()
    selection: SelectionTable = SelectionTable()
    rubric: RubricTable = RubricTable()
    review: ReviewTable = ReviewTable()
    redact: RedactTable = RedactTable()
    limits: LimitsTable = LimitsTable()
