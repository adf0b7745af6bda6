"""Rules that hold a figure against a limit: shares, means, several trials, counts (SPEC §9, STATISTICS §2).

`PASS`: the bound that the rule names is on the right side, also if every result that could not be read counts as the
worst. `FAIL`: the figure itself is on the wrong side. Else `INCONCLUSIVE`, with how many further cases would settle it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, comb, floor
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from rightcall.gate.decision import RANK, Answer, Decision
from rightcall.gate.exact import exact, exact_sum
from rightcall.gate.metrics import Metric, Scale
from rightcall.gate.rules import limit_of
from rightcall.gate.words import beside, counted, figure, number, percent, rule_words
from rightcall.stats.bounds import Worth, by_case, lower_bound, more_alike, more_without_error, whole_worth, worth_of
from rightcall.stats.clusters import clustered_share
from rightcall.stats.intervals import Estimate, chance_of_passing, undefined
from rightcall.stats.ordinal import mean_score
from rightcall.stats.repeats import pass_at_k, pass_hat_k

if TYPE_CHECKING:
    from rightcall.gate.rules import Rule
    from rightcall.gate.sample import Sample
    from rightcall.stats.bounds import Numbers

Side = Literal["min", "max"]


class Data(NamedTuple):
    """A figure's data, brought to 0–1: exactly, and by case; once without what is unread, once with it as the worst."""

    share: Fraction
    sums: Numbers
    sizes: Numbers
    worst_share: Fraction
    worst_sums: Numbers
    worst_sizes: Numbers
    unread: int


# ---- shares and means ------------------------------------------------------------------------------------------------


def decide_limit(rule: Rule, sample: Sample) -> Decision:
    """What a rule on a share or a mean says about a sample."""
    value = _shown_value(rule, sample)
    if not sample.n:
        return _nothing(rule, value, sample)
    sides: list[Side] = [side for side in ("min", "max") if getattr(rule, side) is not None]
    found = [_side(rule, side, _data(sample, side), value, sample.scale) for side in sides]
    decision = _together(rule, found)
    return msgspec.structs.replace(
        decision, not_applicable=sample.not_applicable, details=tuple(sample.bad.shown), left_out=sample.bad.left_out
    )


def _shown_value(rule: Rule, sample: Sample) -> Estimate:
    """The figure as it is displayed: Wilson's interval of a share, Student's of a mean, both by case."""
    if rule.metric.kind == "share":
        sums, sizes = sample.table()
        counts = [(round(good), round(n)) for good, n in zip(sums, sizes, strict=True)]
        return clustered_share(counts, excluded=sample.excluded)
    return mean_score(sample.values, sample.cases, scale=sample.scale, excluded=sample.excluded)


def _nothing(rule: Rule, value: Estimate, sample: Sample) -> Decision:
    reason = "nothing was evaluated"
    if sample.not_applicable and not sample.excluded:
        reason = f"there is no such figure in any of {counted(sample.not_applicable, 'result')}"
    return Decision(
        name=rule.name, rule=rule_words(rule), metric=rule.metric.words, answer="INCONCLUSIVE", reason=reason,
        value=msgspec.structs.replace(value, reason=reason), threshold=rule.min if rule.min is not None else rule.max,
        on=rule.on, not_applicable=sample.not_applicable,
    )  # fmt: skip


def _data(sample: Sample, side: Side) -> Data:
    """The data of one side; for `max` turned over, so that more is better."""
    bottom, top = exact(sample.scale[0]), exact(sample.scale[1])
    total = (exact_sum(sample.values) - bottom * sample.n) / (top - bottom)
    sums, sizes = sample.table()
    worst_sums, worst_sizes = sample.table(unread_as=0.0 if side == "min" else 1.0)
    if side == "max":
        total = sample.n - total
        sums, worst_sums = sizes - sums, worst_sizes - worst_sums
    unread = sample.excluded
    return Data(total / sample.n, sums, sizes, total / (sample.n + unread), worst_sums, worst_sizes, unread)


def _side(rule: Rule, side: Side, data: Data, value: Estimate, scale: Scale = (0.0, 1.0)) -> Decision:
    """The answer of one side of a rule."""
    bottom, top = exact(scale[0]), exact(scale[1])
    limit = (limit_of(rule, side) - bottom) / (top - bottom)
    if side == "max":
        limit = 1 - limit
    # Outcomes vary as shares do; scores, and shares of a case's tries, vary less.
    least = 1.0 if rule.metric.kind == "share" else 0.0
    worth = worth_of(data.sums, data.sizes, rule.confidence, least=least)
    worst = whole_worth(data.worst_sizes) if data.unread else worth
    bound = lower_bound(float(data.share), worth.effective, rule.confidence)
    worst_bound = lower_bound(float(data.worst_share), worst.effective, rule.confidence) if data.unread else bound
    on_point = rule.on == "point"
    answer: Answer = "INCONCLUSIVE"
    if data.share < limit:
        answer = "FAIL"
    elif (data.worst_share >= limit) if on_point else (worst_bound >= limit):
        answer = "PASS"
    back = _Back(side, scale)
    more: int | None = 0
    if answer == "INCONCLUSIVE":
        more = _more(rule, data, worst, limit, on_point=on_point)
    alike = rule.metric.kind == "mean" and not on_point and bool(more)
    decision = Decision(
        name=rule.name, rule=rule_words(rule), metric=rule.metric.words, answer=answer, value=value,
        threshold=rule.min if side == "min" else rule.max, on="point" if on_point else back.on, more=more, alike=alike,
        bound=back.bound(float(data.share), bound, worth, rule.confidence),
        pessimistic=back.bound(float(data.worst_share), worst_bound, worst, rule.confidence, data.unread)
        if data.unread else None,
    )  # fmt: skip
    decision = msgspec.structs.replace(decision, reason=_reason(rule, decision, side))
    if on_point and rule.metric.kind == "share":
        warnings = _point_warnings(rule, side, limit, worth, data)
        decision = msgspec.structs.replace(decision, warnings=warnings)
    return decision


class _Back(NamedTuple):
    """From 0–1, more is better, back to what was measured."""

    side: Side
    scale: tuple[float, float]

    @property
    def on(self) -> Literal["lower", "upper"]:
        """Which bound the side is about."""
        return "lower" if self.side == "min" else "upper"

    def value(self, share: float) -> float:
        """A share as a value of the metric."""
        bottom, top = self.scale
        share = share if self.side == "min" else 1 - share
        return share if self.scale == (0.0, 1.0) else bottom + share * (top - bottom)

    def bound(self, share: float, bound: float, worth: Worth, confidence: float, unread: int = 0) -> Estimate:
        """The one-sided bound as an estimate; the other side is open."""
        method = f"clopper-pearson {confidence:g} {self.on}"
        if abs(worth.effective - worth.n) > 1e-9 * worth.n:
            method += f", worth {worth.effective:.4g} of {counted(worth.cases, 'case')}"
        if unread:
            method += ", unread as the worst"
        at = self.value(bound)
        low, high = (at, self.scale[1]) if self.side == "min" else (self.scale[0], at)
        return Estimate(estimate=self.value(share), low=low, high=high, n=worth.n, method=method)


def _more(rule: Rule, data: Data, worst: Worth, limit: Fraction, *, on_point: bool) -> int | None:
    """How many more cases settle it: without an error for shares, as those before for means."""
    if on_point:
        lacking = (limit - data.worst_share) * worst.n / (1 - limit) if limit < 1 else None
        return None if lacking is None else max(1, ceil(lacking))
    share = float(data.worst_share)
    if rule.metric.kind == "mean":
        return more_alike(share, worst, float(limit), rule.confidence)
    return more_without_error(share, worst, float(limit), rule.confidence)


def _reason(rule: Rule, decision: Decision, side: Side) -> str | None:
    """Why it is not passed."""
    if decision.answer == "PASS" or decision.value is None or decision.threshold is None:
        return None
    limits = (decision.threshold,)
    value, limit = beside(decision.value.estimate, decision.threshold)
    wrong, right = ("below", "reaches") if side == "min" else ("above", "keeps to")
    if decision.answer == "FAIL":
        return f"{value} is {wrong} {limit}"
    if decision.on == "point":
        worst = None if decision.pessimistic is None else decision.pessimistic.estimate
        return f"{value} {right} {limit}, but {figure(worst, limits)} if what is unread counts as the worst"
    shown = decision.bound if decision.pessimistic is None else decision.pessimistic
    at = None if shown is None else shown.low if side == "min" else shown.high
    unread = "" if decision.pessimistic is None else ", what is unread counted as the worst,"
    word = "only" if side == "min" else "still"
    bound = f"{decision.on} {percent(rule.confidence)} bound"
    return f"{value} {right} {limit}, but its {bound}{unread} is {word} {figure(at, limits)}"


def _point_warnings(rule: Rule, side: Side, limit: Fraction, worth: Worth, data: Data) -> tuple[str, ...]:
    """What a rule on the point does not show: a limit finer than the data, and how often luck passes it.

    All of it is turned over for `max`, and said as it is measured.
    """
    n, back = worth.n, _Back(side, (0.0, 1.0))
    warnings = []
    if 0 < limit < 1 and floor(n * (1 - limit)) == 0:
        first = ceil(1 / (1 - limit))
        wrong = "failure" if side == "min" else "such result"
        seen, least = (n - 1, first - 1) if side == "min" else (1, 1)
        warnings.append(
            f"with {counted(n, 'case')} this limit means no {wrong} at all ({seen}/{n} = {seen / n:.4g}); "
            f"at least {first} are needed to allow one ({least}/{first} = {least / first:.4g})"
        )
    if 0 < limit < 1 and worth.effective == n:
        worse = max(Fraction(0), limit - Fraction(1, 100))
        chance = chance_of_passing(float(worse), n, float(limit))
        bound = back.value(lower_bound(float(data.share), worth.effective, rule.confidence))
        at = number(float(worse if side == "min" else 1 - worse))
        warnings.append(
            f"a rule on the point is no proof: the {percent(rule.confidence)} bound is {figure(bound)}, and an agent at"
            f" {at} passes it in {_share_words(chance)} of runs"
        )
    return tuple(warnings)


def _share_words(chance: float) -> str:
    """`42 %`; what is not all or nothing is not said to be."""
    text = f"{100 * chance:.0f} %"
    return (
        "fewer than 1 %"
        if text == "0 %" and chance > 0
        else "more than 99 %"
        if text == "100 %" and chance < 1
        else text
    )


def _together(rule: Rule, found: Sequence[Decision]) -> Decision:
    """Both sides of a rule: the stronger answer decides."""
    first = min(found, key=lambda one: RANK.index(one.answer))
    reasons = [one.reason for one in found if one.reason]
    warnings = tuple(dict.fromkeys(text for one in found for text in one.warnings))
    return msgspec.structs.replace(first, rule=rule_words(rule), reason="; ".join(reasons) or None, warnings=warnings)


# ---- a mean that was corrected ---------------------------------------------------------------------------------------


def decide_estimate(rule: Rule, value: Estimate | None, sample: Sample) -> Decision:
    """What a rule says about a mean whose interval was made elsewhere: corrected by a second judge (SPEC §7.4).

    Its two-sided interval counts, which is on the safe side of a one-sided bound. What is unread moves the mean and its
    bounds by its share towards the worst.

    Args:
        rule: the rule.
        value: the corrected mean; `None` where it is not known, as of a part of a run.
        sample: the single values, for what is unread.
    """
    plain = Decision(
        name=rule.name, rule=rule_words(rule), metric=f"{rule.metric.words}, corrected by the strong judge",
        answer="INCONCLUSIVE", value=value, threshold=rule.min if rule.min is not None else rule.max, on=rule.on,
    )  # fmt: skip
    if value is None or value.estimate is None:
        why = None if value is None else value.reason
        return msgspec.structs.replace(plain, reason=why or "the corrected mean of this is not known")
    sides: list[Side] = [side for side in ("min", "max") if getattr(rule, side) is not None]
    return _together(rule, [_side_of_estimate(rule, side, plain, value, sample) for side in sides])


def _side_of_estimate(rule: Rule, side: Side, plain: Decision, value: Estimate, sample: Sample) -> Decision:
    limit, sign = limit_of(rule, side), 1 if side == "min" else -1
    worst_value = sample.scale[0] if side == "min" else sample.scale[1]
    unread, n = sample.excluded, value.n

    def moved(number_of: float | None) -> float | None:
        return None if number_of is None else (number_of * n + worst_value * unread) / (n + unread)

    worst = msgspec.structs.replace(
        value, estimate=moved(value.estimate), low=moved(value.low), high=moved(value.high), n=n + unread,
        method=f"{value.method}, unread as the worst",
    ) if unread else None  # fmt: skip
    counted_on = value if worst is None else worst
    at = counted_on.estimate if rule.on == "point" else counted_on.low if side == "min" else counted_on.high
    answer: Answer = "INCONCLUSIVE"
    if sign * exact(value.estimate or 0.0) < sign * limit:
        answer = "FAIL"
    elif at is not None and sign * exact(at) >= sign * limit and rule.confidence <= 0.975:
        answer = "PASS"
    bound = "lower" if side == "min" else "upper"
    shown = (float(limit),)
    reason = f"its {bound} bound is {figure(at, shown)}" if answer == "INCONCLUSIVE" else None
    if answer == "FAIL":
        mean, written = beside(value.estimate, float(limit))
        reason = f"{mean} is {'below' if side == 'min' else 'above'} {written}"
    return msgspec.structs.replace(
        plain, answer=answer, threshold=float(limit), on="point" if rule.on == "point" else bound, pessimistic=worst,
        reason=reason, more=0 if answer != "INCONCLUSIVE" else None,
    )  # fmt: skip


# ---- several trials --------------------------------------------------------------------------------------------------


def decide_trials(rule: Rule, sample: Sample) -> Decision:
    """What a rule on pass^k or pass@k says: a mean over cases, each with one value."""
    k = rule.metric.k
    counts = sample.counts()
    shown = pass_hat_k if rule.metric.field == "hat" else pass_at_k
    value = shown([(good, n) for good, n, _ in counts], k, excluded=0)
    unread = sample.excluded
    value = msgspec.structs.replace(value, excluded=value.excluded + sample.loose)
    told = [share_of_k(rule.metric, good, n) for good, n, _ in counts if n >= k]
    if not told:
        return _nothing(rule, value, sample)
    found = []
    for side in ("min", "max"):
        if getattr(rule, side) is None:
            continue
        worst = [
            share_of_k(rule.metric, good + (missing if side == "max" else 0), n + missing)
            for good, n, missing in counts
            if n + missing >= k
        ] + [Fraction(side == "max")] * sample.loose
        found.append(_side(rule, side, _of_cases(told, worst, unread, side), value))
    decision = _together(rule, found)
    return msgspec.structs.replace(decision, details=tuple(sample.bad.shown), left_out=sample.bad.left_out)


def share_of_k(metric: Metric, good: int, n: int) -> Fraction:
    """How likely k of n trials, of which so many were good, all pass (`hat`), or one of them does (`at`)."""
    k = metric.k
    if metric.field == "hat":
        return Fraction(comb(good, k), comb(n, k))
    return 1 - Fraction(comb(n - good, k), comb(n, k))


def _of_cases(told: list[Fraction], worst: list[Fraction], unread: int, side: Side) -> Data:
    def turned(values: list[Fraction]) -> list[Fraction]:
        return values if side == "min" else [1 - value for value in values]

    told, worst = turned(told), turned(worst)
    sums, sizes = by_case([float(one) for one in told], range(len(told)))
    worst_sums, worst_sizes = by_case([float(one) for one in worst], range(len(worst)))
    share, worst_share = (sum(values, Fraction(0)) / len(values) for values in (told, worst))
    return Data(share, sums, sizes, worst_share, worst_sums, worst_sizes, unread)


# ---- counts ----------------------------------------------------------------------------------------------------------


def decide_count(rule: Rule, sample: Sample) -> Decision:
    """What a rule on a number of bad results says: any more than allowed fails, and what is unread may be one.

    The values are 1 for a bad result and 0 for another.
    """
    bad, n, unread, allowed = round(sum(sample.values)), sample.n, sample.excluded, int(rule.max or 0)
    answer: Answer = "INCONCLUSIVE"
    reason = None
    if bad > allowed:
        answer = "FAIL"
        reason = f"{rule.metric.words}: {bad} of {n}, and {allowed or 'none'} may be"
    elif not n:
        reason = "nothing was evaluated"
    elif bad + unread > allowed:
        reason = f"{counted(unread, 'result')} could not be read, and each may be one"
    else:
        answer = "PASS"
    value = Estimate(
        estimate=float(bad), low=float(bad), high=float(bad + unread), n=n, method="count", excluded=unread
    ) if n else undefined("count", excluded=unread)  # fmt: skip
    worst = _count_bound(rule, *sample.table(unread_as=1.0), unread=True) if unread else None
    return Decision(
        name=rule.name, rule=rule_words(rule), metric=rule.metric.words, answer=answer, value=value,
        threshold=float(allowed), on="point", more=0 if answer != "INCONCLUSIVE" else None, reason=reason,
        bound=_count_bound(rule, *sample.table()) if n else None, pessimistic=worst,
        details=tuple(sample.bad.shown), left_out=sample.bad.left_out, not_applicable=sample.not_applicable,
    )  # fmt: skip


def _count_bound(rule: Rule, bad: Numbers, sizes: Numbers, *, unread: bool = False) -> Estimate:
    """How large the true share of such results may be; those of one case are no independent ones."""
    good = sizes - bad
    worth = whole_worth(sizes) if unread else worth_of(good, sizes, rule.confidence)
    share = float(good.sum() / sizes.sum())
    return _Back("max", (0.0, 1.0)).bound(share, lower_bound(share, worth.effective, rule.confidence), worth,
                                          rule.confidence, int(unread))  # fmt: skip
