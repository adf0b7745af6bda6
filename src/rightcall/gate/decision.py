"""What a gate says about a run: a decision for each rule, and one for the whole (SPEC §9). Frozen data."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from rightcall.stats.intervals import Estimate

Answer = Literal["PASS", "FAIL", "INCONCLUSIVE", "NOT_COMPARABLE", "WAIT"]
"""`NOT_COMPARABLE` counts as INCONCLUSIVE; `WAIT`: a person must act first."""

EXIT_CODES: dict[Answer, int] = {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3, "NOT_COMPARABLE": 3, "WAIT": 4}

RANK: tuple[Answer, ...] = ("FAIL", "WAIT", "INCONCLUSIVE", "NOT_COMPARABLE", "PASS")
"""Which answer wins, the strongest first (SPEC §9: 1 > 4 > 3 > 0)."""

FitVerdict = Literal["FIT", "NOT_FIT", "INSUFFICIENT", "UNKNOWN"]


class JudgeFitness(Struct, frozen=True, kw_only=True):
    """Whether the judge behind a figure is fit to decide, by its newest calibration.

    Attributes:
        judge, grader: whose. model: the model that was calibrated.
        verdict: `UNKNOWN` where it was never calibrated with this prompt and model.
        id, at: of the calibration; `None` where there is none.
        split: on which labels: `test`, `dev` or `all`.
        labels: how many.
        agreement: beyond chance (kappa or alpha). detection: share of human FAILs caught; `None`: does not apply.
        people: the agreement among people, by the same figure.
        reason: why it is not fit, in words.
    """

    judge: str
    grader: str
    verdict: FitVerdict
    model: str | None = None
    id: str | None = None
    at: str | None = None
    split: str | None = None
    labels: int = 0
    agreement: Estimate | None = None
    detection: Estimate | None = None
    people: Estimate | None = None
    reason: str | None = None


class Decision(Struct, frozen=True, kw_only=True):
    """What one rule says.

    Attributes:
        name: the rule's key in the settings (`golden.pass_rate`). rule: the rule in words (`≥ 0.98, lower 95 % bound`).
        metric: what was measured, in words.
        answer: see `Answer`.
        value: the figure; `None` where the rule is about no figure.
        threshold: what it was held against. on: which number of the figure was.
        more: how many more cases would settle it (without a further error, for a share); `None` where that cannot be
            said, 0 where it is settled. alike: they do as those before, in place of making no error.
        reason: why it is not passed, in words.
        details: what a person looks at first: failing cases, flips, open items; at most 20, then `left_out` more.
        command: what to run next, if there is something.
        judges: of a judged figure, whether its judges are fit.
        warnings: what must be known besides: a threshold that the number of cases cannot resolve.
        bound: the one-sided bound that is held against the threshold; its other side is open. Of a count, the bound of
            the true share.
        pessimistic: the same if every result that could not be read counts as the worst; `None` where all were read.
        not_applicable: results for which there is no such figure, left out of it.
    """

    name: str
    rule: str
    answer: Answer
    metric: str = ""
    value: Estimate | None = None
    threshold: float | None = None
    on: Literal["lower", "upper", "point"] | None = None
    more: int | None = None
    alike: bool = False
    reason: str | None = None
    details: tuple[str, ...] = ()
    left_out: int = 0
    command: str | None = None
    judges: tuple[JudgeFitness, ...] = ()
    warnings: tuple[str, ...] = ()
    bound: Estimate | None = None
    pessimistic: Estimate | None = None
    not_applicable: int = 0


class Flip(Struct, frozen=True, kw_only=True):
    """A case whose outcome differs between two runs. `old`, `new`: the verdict, or the share of trials that passed."""

    grader: str
    case: str
    old: str
    new: str
    unit: str | None = None
    why: str = ""


class GraderDiff(Struct, frozen=True, kw_only=True):
    """One grader in two runs, on the cases that both have.

    Attributes:
        grader: which.
        not_comparable: why the figures of the two must not be compared; empty where they may be.
        shared: cases in both, evaluated in both. new_cases, missing_cases: in one run only.
        unevaluable: cases in both that one of them could not evaluate.
        both_passed, both_failed, gained, lost: the shared cases by outcome (old, new); a case of several trials
            counts as passed where all did.
        better, worse: shared cases whose value rose or fell; of outcomes, `gained` and `lost`.
        repeated: whether a case has several results (trials, steps): it counts once, with their mean.
        old, new: each one's figure on the shared cases. difference: new minus old, with its interval.
        p_value: exact McNemar; `None` where nothing changed, or trials repeat.
        flips: cases that turned, those that turned bad first.
        scores: name -> difference of a mean (new minus old), for graders with scores.
    """

    grader: str
    not_comparable: tuple[str, ...] = ()
    shared: int = 0
    new_cases: tuple[str, ...] = ()
    missing_cases: tuple[str, ...] = ()
    unevaluable: tuple[str, ...] = ()
    both_passed: int = 0
    both_failed: int = 0
    gained: int = 0
    lost: int = 0
    better: int = 0
    worse: int = 0
    repeated: bool = False
    old: Estimate | None = None
    new: Estimate | None = None
    difference: Estimate | None = None
    p_value: float | None = None
    flips: tuple[Flip, ...] = ()
    scores: dict[str, Estimate] = {}


class Diff(Struct, frozen=True, kw_only=True):
    """Two runs case by case."""

    old: str
    new: str
    graders: tuple[GraderDiff, ...] = ()
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()


class Against(Struct, frozen=True, kw_only=True):
    """A baseline that was asked for, and the run that was found for it.

    Attributes:
        asked: how it is named: a file, a run, `previous`, `branch:NAME`.
        name: the run or the file; `None` where there is none, and `why` says why.
        run: the id of the run; a file may not have one. started_at, branch, commit: of it; `None` where not known.
        digest: of a file, over its content; `None` where it carries none.
    """

    asked: str
    name: str | None = None
    why: str | None = None
    run: str | None = None
    started_at: str | None = None
    branch: str | None = None
    commit: str | None = None
    digest: str | None = None


class GateReport(Struct, frozen=True, kw_only=True):
    """What all rules together say about a run.

    Attributes:
        run: the run's name. answer: the strongest of the decisions (`RANK`). exit_code: SPEC §9.
        decisions: one a rule, by its name; those that are always asked come last.
        baseline: what was compared with. diff: the comparison.
        causes: everything that keeps it from PASS, in words, the strongest first.
        notes: what must be known about the whole: that no rule on figures is set, that the run is a part of one.
        baselines: every baseline that was asked for, by name. judges: the judges of the run, and whether each is fit.
    """

    run: str
    answer: Answer
    exit_code: int
    decisions: tuple[Decision, ...]
    baseline: str | None = None
    diff: Diff | None = None
    causes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    baselines: tuple[Against, ...] = ()
    judges: tuple[JudgeFitness, ...] = ()
