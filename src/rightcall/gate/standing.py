"""Rules about the run as a whole: what could be evaluated, what people have decided, whether judges are fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from shlex import quote

import msgspec

from rightcall.gate.decision import Answer, Decision, JudgeFitness
from rightcall.gate.exact import exact
from rightcall.gate.rules import Rule
from rightcall.gate.sample import Details
from rightcall.gate.words import beside, counted, figure, number, rule_words
from rightcall.stats.intervals import Estimate, undefined, wilson

# ---- coverage --------------------------------------------------------------------------------------------------------


@dataclass
class Coverage:
    """How much could be evaluated. `unread`: what was selected and has no result at all. `reasons`: why not."""

    evaluated: int = 0
    unevaluable: int = 0
    unread: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def whole(self) -> int:
        """Everything that should have been evaluated."""
        return self.evaluated + self.unevaluable + self.unread

    @property
    def share(self) -> Fraction | None:
        """What could be; `None` of nothing."""
        return Fraction(self.evaluated, self.whole) if self.whole else None

    def add(self, other: Coverage) -> None:
        """Add another part."""
        self.evaluated += other.evaluated
        self.unevaluable += other.unevaluable
        self.unread += other.unread
        for reason, n in other.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + n


def decide_coverage(name: str, found: Coverage, least: float, *, rule: str = "", of_missing: bool = False) -> Decision:
    """Whether enough could be evaluated; too little is no failure of the agent, and never a pass.

    Args:
        name: of the rule.
        found: the counts.
        least: the share that must be evaluable.
        rule: the rule in words.
        of_missing: show the share that could not be.
    """
    lost = found.whole - found.evaluated
    value = wilson(lost if of_missing else found.evaluated, found.whole, excluded=found.unread)
    need = exact(least)
    enough = found.share is not None and found.share >= need
    reasons = [f"{reason}: {n}" for reason, n in sorted(found.reasons.items(), key=lambda one: (-one[1], one[0]))]
    reasons += [f"not read or not asked: {found.unread}"] if found.unread else []
    share = None if found.share is None else float(found.share)
    said = "nothing was selected" if share is None else (
        f"{found.evaluated} of {found.whole} could be evaluated ({figure(share, (least,))} < {number(least)})"
    )  # fmt: skip
    return Decision(
        name=name, rule=rule or f"≥ {number(least)} evaluable", answer="PASS" if enough else "INCONCLUSIVE",
        metric="results without a verdict" if of_missing else "results that could be evaluated", value=value,
        threshold=float(1 - need) if of_missing else least, on="point", more=0 if enough else None,
        reason=None if enough else said, details=tuple(reasons[:20]),
    )  # fmt: skip


def decide_coverage_rule(rule: Rule, found: Coverage) -> Decision:
    """A coverage rule of the settings: `coverage = { min = … }` or `unevaluable = { max = … }`."""
    of_missing = rule.metric.name.endswith("unevaluable")
    given = rule.max if of_missing else rule.min
    least = float((1 - exact(given or 0.0)) if of_missing else exact(given or 0.0))
    return decide_coverage(rule.name, found, least, rule=rule_words(rule), of_missing=of_missing)


# ---- people ----------------------------------------------------------------------------------------------------------


@dataclass
class Criticals:
    """CRITICAL items by what became of them.

    Attributes:
        open: those that nobody has signed, in words, which begin with the id of the item where there is one.
        confirmed, dismissed: those that were, with who and why.
        is_kept: whether they have items on record.
        unknown: results without a verdict that may be CRITICAL, and that nobody has looked at.
        uncounted: those of the confirmed that no rule on figures of this gate counts as failures.
    """

    open: Details = field(default_factory=Details)
    is_kept: bool = False
    confirmed: Details = field(default_factory=Details)
    dismissed: Details = field(default_factory=Details)
    unknown: int = 0
    uncounted: int = 0


def decide_critical(name: str, found: Criticals) -> Decision:
    """No CRITICAL may be open. A confirmed one counts as a failure of its case; one that no rule counts fails here."""
    details = [*found.open.shown, *found.confirmed.shown, *found.dismissed.shown]
    left = found.open.left_out + found.confirmed.left_out + found.dismissed.left_out
    answer: Answer = "PASS"
    reason, command = None, None
    if found.uncounted:
        answer = "FAIL"
        reason = f"{found.uncounted} confirmed, which no rule on a share of cases counts"
    elif found.open.number:
        answer, reason = "WAIT", f"{counted(found.open.number, 'CRITICAL item')} open: a person must sign"
        first = found.open.shown[0].partition(" ")[0]
        command = f"rightcall signoff {first}" if found.is_kept else "rightcall review list --reason CRITICAL"
    elif found.unknown:
        answer = "INCONCLUSIVE"
        reason = f"{counted(found.unknown, 'result')} without a verdict may be CRITICAL: a person must look"
        command = "rightcall review list --reason unevaluable"
    value = Estimate(
        estimate=float(found.open.number), low=float(found.open.number),
        high=float(found.open.number + found.unknown), n=found.open.number + found.confirmed.number
        + found.dismissed.number, method="count", excluded=found.unknown,
    )  # fmt: skip
    return Decision(
        name=name, rule="none open", answer=answer, metric="open CRITICAL items", value=value, threshold=0.0,
        on="point", reason=reason, details=tuple(details[:20]), left_out=left + max(0, len(details) - 20),
        command=command,
    )  # fmt: skip


def decide_signed(rule: Rule, failures: int, open_ones: Details, signed: Details) -> Decision:
    """Every failing case must have been looked at by a person, and what has no verdict too."""
    waits = open_ones.number > 0
    value = Estimate(
        estimate=float(signed.number), low=float(signed.number), high=float(signed.number), n=failures, method="count"
    )
    return Decision(
        name=rule.name, rule=rule_words(rule), answer="WAIT" if waits else "PASS", metric=rule.metric.words,
        value=value,
        reason=f"nobody has looked at {counted(open_ones.number, 'failure')} (or result without a verdict)" if waits
        else None,
        details=tuple([*open_ones.shown, *signed.shown][:20]), left_out=open_ones.left_out,
        command="rightcall review next" if waits else None,
    )  # fmt: skip


# ---- judges ----------------------------------------------------------------------------------------------------------


def decide_fit(rule: Rule, judges: Sequence[JudgeFitness]) -> Decision:
    """Whether the judges of the run are fit to decide, by their newest calibration."""
    plain = Decision(
        name=rule.name, rule=rule_words(rule), answer="INCONCLUSIVE", metric=rule.metric.words, judges=tuple(judges)
    )
    if not judges:
        return msgspec.structs.replace(plain, reason=_no_judge(rule))
    unfit = [one for one in judges if one.verdict == "NOT_FIT"]
    unknown = [one for one in judges if one.verdict not in ("FIT", "NOT_FIT")]
    if unfit:
        return msgspec.structs.replace(plain, answer="FAIL", reason="; ".join(map(fitness_words, unfit)))
    if unknown:
        return msgspec.structs.replace(
            plain, reason="; ".join(map(fitness_words, unknown)),
            command=f"rightcall calibrate {quote(unknown[0].judge)}",
        )  # fmt: skip
    return msgspec.structs.replace(plain, answer="PASS", more=0)


def _no_judge(rule: Rule) -> str:
    return "no judge was asked in this run" if rule.judge is None else f"judge `{rule.judge}` was not asked in this run"


def fitness_words(one: JudgeFitness) -> str:
    """`judge fast is NOT_FIT for rubric: …`."""
    if one.verdict == "UNKNOWN":
        return f"nobody knows if judge `{one.judge}` is fit for {one.grader}: {one.reason or 'never calibrated'}"
    why = f": {one.reason}" if one.reason else ""
    return f"judge `{one.judge}` is {one.verdict} for {one.grader}{why}"


def decide_judge_figure(rule: Rule, judges: Sequence[JudgeFitness]) -> Decision:
    """Whether a figure of the judges' calibration reaches its limit; the weakest judge counts.

    A judge whose calibration knows no FAIL, since it answers in levels or in names, has nothing to catch: where another
    judge has, it is named and not held against anything.
    """
    without = [one for one in judges if _has_no_fail(rule, one)]
    decisions = [_of_judge(rule, one) for one in judges if one not in without]
    plain = Decision(
        name=rule.name, rule=rule_words(rule), answer="INCONCLUSIVE", metric=rule.metric.words, judges=tuple(judges),
        threshold=rule.min, value=undefined("calibration", "not known"),
    )  # fmt: skip
    if not decisions:
        return msgspec.structs.replace(plain, reason="; ".join(map(_no_fail, without)) or _no_judge(rule))
    order = ("FAIL", "INCONCLUSIVE", "PASS")
    worst = min(decisions, key=lambda one: (order.index(one.answer), _height(one)))
    reasons = "; ".join(one.reason for one in decisions if one.reason)
    warnings = tuple(map(_no_fail, without))
    return msgspec.structs.replace(worst, judges=tuple(judges), reason=reasons or None, warnings=warnings)


def _height(one: Decision) -> float:
    return -inf if one.value is None or one.value.estimate is None else one.value.estimate


def _has_no_fail(rule: Rule, judge: JudgeFitness) -> bool:
    return rule.metric.field == "detection" and judge.detection is None and judge.agreement is not None


def _no_fail(judge: JudgeFitness) -> str:
    return f"judge `{judge.judge}` gives no PASS or FAIL for {judge.grader}: there is no FAIL for it to catch"


def _of_judge(rule: Rule, judge: JudgeFitness) -> Decision:
    from rightcall.stats.sizes import more_to_reach

    value = judge.detection if rule.metric.field == "detection" else judge.agreement
    plain = Decision(
        name=rule.name, rule=rule_words(rule), answer="INCONCLUSIVE", metric=rule.metric.words, threshold=rule.min,
        on=rule.on or "lower", value=value or undefined("calibration", "not known"),
        command=f"rightcall calibrate {quote(judge.judge)}",
    )  # fmt: skip
    if value is None or value.estimate is None:
        return msgspec.structs.replace(plain, reason=fitness_words(judge))
    limit = exact(rule.min or 0.0)
    at, written = beside(value.estimate, rule.min or 0.0)
    shown = f"{at} of judge `{judge.judge}`"
    if exact(value.estimate) < limit:
        reason = f"{shown} is below {written}"
        return msgspec.structs.replace(plain, answer="FAIL", more=0, reason=reason)
    reached = value.estimate if rule.on == "point" else value.low
    if reached is not None and exact(reached) >= limit:
        return msgspec.structs.replace(plain, answer="PASS", more=0, command=None)
    reason = f"{shown} reaches {number(rule.min or 0.0)}, but its lower 95 % bound is {figure(reached, (rule.min,))}"
    return msgspec.structs.replace(plain, reason=reason, more=more_to_reach(value, rule.min or 0.0), alike=True)
