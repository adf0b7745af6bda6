"""What `rightcall.toml` may hold, with the defaults (UX §1.4, names of SPEC).

Later graders add their tables here. Paths are relative to the settings file.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rightcall.case.policy import Policy
from rightcall.llm.spec import JudgeSpec

Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=1)]

GraderName = Literal["golden", "selection", "rubric", "interpretation", "preference"]
"""What `rightcall run` can run."""


class GoldenTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[golden]`: how `rightcall golden` judges."""

    profile: str = "balanced"
    min_overall: Share = 1.0
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


class PreferenceTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[preference]`: who compares two traces, in which orders, and when somebody else is asked.

    `agents` are those that `rightcall run` compares: name -> trace file, folder, pattern, or a run on record.
    `second_judge` is asked where the first one's answer is a tie, depends on the order, or is less sure than
    `min_confidence`. `by` says what code may decide: what the policy vetoes, or what the golden says too. `confidence`
    says whether that is what a judge states, or what `rightcall calibrate` found that to be worth.
    """

    judge: str = "auto"
    second_judge: str | None = None
    prompt: str = "preference"
    orders: Literal["both", "random"] = "both"
    allow_tie: bool = True
    min_confidence: Share = 0.7
    confidence: Literal["stated", "calibrated"] = "stated"
    by: Literal["policy", "golden"] = "policy"
    agents: dict[str, str] = {}


class InterpretationTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[interpretation]`: who judges readings of tool results.

    With a `strong_judge`, `judge` is asked about all of them and the strong one about a random `strong_share` of the
    same ones, for a corrected mean. Where the two differ in more than `max_disagreement` of them, the strong judge is
    asked about all; also where the newest calibration of `judge` says that it is not fit. Below `min_fidelity` or
    `min_confidence` a person looks; `confidence` says whether that is what a judge states, or what `rightcall
    calibrate` found that to be worth.
    """

    judge: str = "auto"
    strong_judge: str | None = None
    strong_share: Annotated[float, Meta(gt=0, le=1)] = 0.2
    prompt: str = "interpretation"
    mapping: Literal["fifths", "unit", "direct"] = "fifths"
    min_fidelity: Share = 0.8
    min_confidence: Share = 0.7
    confidence: Literal["stated", "calibrated"] = "stated"
    max_disagreement: Share = 0.1


class ReviewTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[review]`: what people see, how many of them, and who may do what.

    `random` is the share of items that people see at random, `random_new_tools` of those with a tool that is new.
    `answers` different people answer an item, `answers_critical` one that may be CRITICAL. A claim is held for
    `lease_minutes`. Once `people` names anybody, only they can act, each in the roles given.
    """

    random: Share = 0.1
    random_new_tools: Share = 0.5
    answers: Count = 1
    answers_critical: Count = 2
    lease_minutes: Annotated[float, Meta(gt=0)] = 15.0
    people: dict[str, tuple[Literal["reviewer", "adjudicator", "signer"], ...]] = {}


class CalibrateTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[calibrate]`: what a judge must reach to decide without people, and which labels are kept for the test.

    `test_share` of the cases, drawn by a hash of `seed` and the case, are test labels; prompts are tuned on the others.
    `agreement` is asked of kappa's lower bound (PASS/FAIL, other categories), `agreement_scores` of alpha's (levels),
    `detection` of the lower bound of the share of human FAILs that are caught; `ceiling` is how far below the agreement
    among people the judge's may lie. `labels` and `per_class` are how many answers of people that takes. `max_error` is
    the error that is accepted where the judge decides alone, `max_error_destructive` where a destructive tool is.
    """

    test_share: Share = 0.5
    seed: int = 0
    agreement: Share = 0.60
    agreement_scores: Share = 0.667
    detection: Share = 0.80
    ceiling: Share = 0.10
    labels: Count = 100
    per_class: Count = 30
    max_error: Annotated[float, Meta(gt=0, lt=1)] = 0.05
    max_error_destructive: Annotated[float, Meta(gt=0, lt=1)] = 0.01


class RedactTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[redact]`: what is hidden besides the built-in shapes. `keys` replaces the built-in key names."""

    patterns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ("password", "token", "secret", "authorization", "api_key", "cookie")


class LimitsTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[limits]`: processes, failures shown in full, the least share of cases that must be evaluable.

    `conflicts` is the share of verdicts in which a judge may contradict what code decides; beyond it, what the judge
    says is not a judgement.
    """

    jobs: Count = 1
    failures: Annotated[int, Meta(ge=0)] = 20
    coverage: Share = 0.98
    conflicts: Share = 0.05


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
    graders: tuple[GraderName, ...] = ()
    judges: dict[str, JudgeSpec] = {}
    golden: GoldenTable = GoldenTable()
    selection: SelectionTable = SelectionTable()
    rubric: RubricTable = RubricTable()
    preference: PreferenceTable = PreferenceTable()
    interpretation: InterpretationTable = InterpretationTable()
    review: ReviewTable = ReviewTable()
    calibrate: CalibrateTable = CalibrateTable()
    gates: dict[str, Any] = {}
    redact: RedactTable = RedactTable()
    limits: LimitsTable = LimitsTable()
