"""Two runs of one grader case by case: what turned, and whether the new one is worse (SPEC §9, STATISTICS §2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import msgspec

from rightcall.gate.decision import Answer, Decision, Flip, GraderDiff
from rightcall.gate.exact import exact, exact_sum
from rightcall.gate.rules import Rule
from rightcall.gate.words import counted, figure, listed, margin_of, number, rule_words
from rightcall.stats.clusters import clustered_share
from rightcall.stats.intervals import Estimate, undefined
from rightcall.stats.ordinal import Scale, mean_score
from rightcall.stats.paired import mcnemar, non_inferior, paired_scores, tango

RESAMPLES = 10_000
"""Draws of a bootstrap on which a gate rests (STATISTICS §0)."""

Better = Literal["share", "mean"]


@dataclass(slots=True)
class CaseFacts:
    """What a run says about one case, as little as it takes to compare it.

    Attributes:
        cluster: what the case belongs to, where several make one unit.
        total, n: sum and number of its values: of outcomes 1 for a pass and 0 for a failure.
        unread: results without a verdict.
        verdict: the last result's, in words.
        version: of the case; `None` where that is not known.
        why: what is wrong, in words; of the first result that did not pass.
        scores: name -> sum and number, of graders with several scores.
    """

    cluster: str
    total: float = 0.0
    n: int = 0
    unread: int = 0
    verdict: str = ""
    version: str | None = None
    why: str = ""
    scores: dict[str, tuple[float, int]] = field(default_factory=dict)

    def mean(self, *, unread_as: float | None = None) -> float:
        """The mean of its values; with what is unread counted as a value, if one is given."""
        if unread_as is None:
            return self.total / self.n
        return (self.total + unread_as * self.unread) / (self.n + self.unread)


Cases = Mapping[str, CaseFacts]


@dataclass(frozen=True)
class Form:
    """What is compared of a grader: outcomes (`share`) or a score (`mean`) on a scale, and what it is called."""

    kind: Better
    name: str
    scale: Scale = (0.0, 1.0)


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """New minus old on the shared cases.

    Attributes:
        difference: with its interval. worst: the same if every result that could not be read is as bad for the new run
            as it can be; `None` where all were read.
        exact: the difference itself, exactly. exact_worst: the same in the worst case.
        repeated: whether a case has several results. unread: cases of which not everything was read, in either run.
    """

    difference: Estimate
    worst: Estimate | None = None
    exact: Fraction | None = None
    exact_worst: Fraction | None = None
    repeated: bool = False
    unread: int = 0


def shared_cases(old: Cases, new: Cases) -> list[str]:
    """Cases that both could evaluate, in the sequence of the new run."""
    return [case for case, facts in new.items() if facts.n and case in old and old[case].n]


def difference_of(
    old: Cases, new: Cases, form: Form, *, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Difference:
    """New minus old on the shared cases.

    Outcomes of single tries are compared by Tango's interval, everything else by a paired bootstrap over cases, in
    which the tries of a case are their mean. In the worst case every result that the new run could not read is at the
    bottom of the scale, and every one that the old run could not read at the top.
    """
    both = shared_cases(old, new)
    known = set(both)
    dark = [case for case in new if case in old and case not in known and _any(new[case]) and _any(old[case])]
    lost_cases = len((old.keys() | new.keys()) - set(both))
    repeated = any(one[case].n + one[case].unread > 1 for one in (old, new) for case in (*both, *dark))
    clusters = [new[case].cluster for case in (*both, *dark)]
    single = form.kind == "share" and not repeated and len(set(clusters)) == len(clusters)

    def estimate(pairs: list[tuple[float, float]], excluded: int) -> Estimate:
        if single:
            gained = sum(now > before for now, before in pairs)
            lost = sum(now < before for now, before in pairs)
            return tango(gained, lost, len(pairs), excluded=excluded, confidence=confidence)
        return paired_scores(
            pairs, clusters=clusters[: len(pairs)], scale=form.scale, resamples=resamples, confidence=confidence,
            excluded=excluded,
        )  # fmt: skip

    if not both:
        none = undefined("paired", "the two have no case in common", excluded=lost_cases)
        return Difference(difference=none, repeated=repeated)
    pairs = [(new[case].mean(), old[case].mean()) for case in both]
    found = Difference(difference=estimate(pairs, lost_cases), exact=_exact(pairs), repeated=repeated)
    if not dark and not any(one[case].unread for one in (old, new) for case in both):
        return found
    bottom, top = form.scale
    worst = [(new[case].mean(unread_as=bottom), old[case].mean(unread_as=top)) for case in (*both, *dark)]
    return msgspec.structs.replace(
        found, worst=estimate(worst, lost_cases - len(dark)), exact_worst=_exact(worst),
        unread=len(dark) + sum(bool(new[case].unread or old[case].unread) for case in both),
    )  # fmt: skip


def _any(facts: CaseFacts) -> bool:
    """Whether there is, or should be, a value of the case."""
    return facts.n + facts.unread > 0


def _exact(pairs: Sequence[tuple[float, float]]) -> Fraction:
    news, olds = exact_sum(now for now, _ in pairs), exact_sum(before for _, before in pairs)
    return (news - olds) / len(pairs)


# ---- case by case ----------------------------------------------------------------------------------------------------


def compare(
    grader: str, old: Cases, new: Cases, form: Form, *, not_comparable: Sequence[str] = (),
    scores: Mapping[str, Scale] | None = None, resamples: int = RESAMPLES,
) -> tuple[GraderDiff, Difference]:  # fmt: skip
    """One grader in two runs.

    Args:
        grader: which.
        old: what the earlier run says about its cases.
        new: what the later one does.
        form: what decides which one is better.
        not_comparable: why the figures must not be compared.
        scores: the scores that are compared besides, with their scales.
        resamples: draws of a bootstrap.
    """
    both = shared_cases(old, new)
    shown, found = set(both), difference_of(old, new, form, resamples=resamples)
    passed = _passed if form.kind == "share" else _never
    turned = [(case, passed(old[case]), passed(new[case])) for case in both]
    gained = [case for case, before, now in turned if now and not before]
    lost = [case for case, before, now in turned if before and not now]
    flips = [_flip(grader, case, old[case], new[case]) for case in (*sorted(lost), *sorted(gained))]
    if form.kind == "mean":
        flips = _moved(grader, both, old, new)
    is_share = form.kind == "share"
    return GraderDiff(
        grader=grader,
        not_comparable=tuple(not_comparable),
        shared=len(both),
        new_cases=tuple(sorted(new.keys() - old.keys())),
        missing_cases=tuple(sorted(old.keys() - new.keys())),
        unevaluable=tuple(sorted((old.keys() & new.keys()) - shown)),
        both_passed=sum(before and now for _, before, now in turned),
        both_failed=sum(not (before or now) for _, before, now in turned) if is_share else 0,
        gained=len(gained),
        lost=len(lost),
        old=_level(old, both, form),
        new=_level(new, both, form),
        difference=found.difference,
        p_value=mcnemar(len(gained), len(lost)) if is_share and not found.repeated else None,
        flips=tuple(flips),
        scores={
            name: _of_score(old, new, name, scale, resamples) for name, scale in (scores or {}).items()
        },
    ), found  # fmt: skip


def _passed(facts: CaseFacts) -> bool:
    """All of its tries did."""
    return facts.n > 0 and facts.total == facts.n


def _never(_facts: CaseFacts) -> bool:
    return False


def _flip(grader: str, case: str, old: CaseFacts, new: CaseFacts) -> Flip:
    why = new.why or (f"before: {old.why}" if old.why else "")
    return Flip(grader=grader, case=case, old=_outcome(old), new=_outcome(new), why=why)


def _outcome(facts: CaseFacts) -> str:
    """The verdict, or how many tries passed."""
    if facts.n == 1:
        return "PASS" if facts.total == 1 else "FAIL"
    return f"{facts.total:g} of {facts.n}"


def _moved(grader: str, both: Sequence[str], old: Cases, new: Cases) -> list[Flip]:
    """Cases whose verdict or score differs, those that fell most first."""
    moves = [(new[case].mean() - old[case].mean(), case) for case in both if new[case].mean() != old[case].mean()]
    return [
        Flip(grader=grader, case=case, old=_score(old[case]), new=_score(new[case]), why=new[case].why)
        for _, case in sorted(moves)
    ]


def _score(facts: CaseFacts) -> str:
    return facts.verdict if facts.verdict and facts.n == 1 else f"{facts.mean():.4g}"


def _level(cases: Cases, both: Sequence[str], form: Form) -> Estimate:
    excluded = len(cases) - len(both)
    if form.kind == "share":
        clusters: dict[str, tuple[int, int]] = {}
        for case in both:
            one = cases[case]
            good, n = clusters.get(one.cluster, (0, 0))
            clusters[one.cluster] = (good + round(one.total), n + one.n)
        return clustered_share(clusters.values(), excluded=excluded)
    values = [cases[case].mean() for case in both]
    return mean_score(values, [cases[case].cluster for case in both], scale=form.scale, excluded=excluded)


def _of_score(old: Cases, new: Cases, name: str, scale: Scale, resamples: int) -> Estimate:
    both = [case for case in new if case in old and name in new[case].scores and name in old[case].scores]

    def mean(cases: Cases, case: str) -> float:
        total, n = cases[case].scores[name]
        return total / n

    pairs = [(mean(new, case), mean(old, case)) for case in both]
    if not pairs:
        return undefined("paired", "no case has this score in both")
    return paired_scores(pairs, clusters=[new[case].cluster for case in both], scale=scale, resamples=resamples)


# ---- the rule --------------------------------------------------------------------------------------------------------


def decide_regressions(
    rule: Rule,
    diff: GraderDiff,
    found: Difference,
    baseline: str,
    *,
    again: Callable[[float], Difference] | None = None,
) -> Decision:
    """Whether the new run is worse than the baseline by more than the margin.

    `FAIL` if the interval of the paired difference lies wholly below -margin, `PASS` if wholly above, also if every
    unread result of the new run counts as a failure. `NOT_COMPARABLE` if something else than the agent differs.

    Args:
        rule: the rule.
        diff: the comparison.
        found: the difference.
        baseline: what was compared with.
        again: the difference at another confidence, where the rule asks for one.
    """
    if rule.confidence != 0.95 and again is not None:
        found = again(rule.confidence)
    margin = margin_of(rule)
    words = rule_words(rule)
    plain = Decision(
        name=rule.name, rule=words, metric=f"{diff.grader}: new minus {baseline}", answer="INCONCLUSIVE",
        value=found.difference, threshold=-margin, on=rule.on or "lower", pessimistic=found.worst,
        details=tuple(flip_words(one) for one in diff.flips[:20]), left_out=max(0, len(diff.flips) - 20),
        warnings=tuple(_notes(diff)),
    )  # fmt: skip
    if diff.not_comparable:
        reason = f"not comparable with {baseline}: {'; '.join(diff.not_comparable)}"
        return msgspec.structs.replace(plain, answer="NOT_COMPARABLE", reason=reason)
    answer, why = _answer(rule, found, margin)
    if rule.max is not None and diff.lost > rule.max:
        answer, why = "FAIL", f"{counted(diff.lost, 'case')} turned FAIL, and {number(rule.max)} may"
    elif rule.max is not None and answer == "PASS" and diff.lost + found.unread > rule.max:
        answer, why = "INCONCLUSIVE", "what is unread may have turned FAIL"
    return msgspec.structs.replace(plain, answer=answer, reason=why, more=0 if answer in ("PASS", "FAIL") else None)


def _answer(rule: Rule, found: Difference, margin: float) -> tuple[Answer, str | None]:
    if found.difference.estimate is None:
        return "INCONCLUSIVE", found.difference.reason
    limits = (-margin,)
    if rule.on == "point":
        least = -exact(margin)
        if found.exact is not None and found.exact < least:
            return "FAIL", f"{figure(float(found.exact), limits)} is below {number(-margin)}"
        if found.exact_worst is not None and found.exact_worst < least:
            return "INCONCLUSIVE", f"{figure(float(found.exact_worst), limits)} if what is unread is the worst"
        return "PASS", None
    answer = non_inferior(found.difference, margin).answer
    if answer == "FAIL":
        return "FAIL", f"the whole interval of the difference is below {number(-margin)}"
    if answer == "PASS" and (found.worst is None or non_inferior(found.worst, margin).answer == "PASS"):
        return "PASS", None
    shown = found.difference if answer != "PASS" or found.worst is None else found.worst
    unread = "" if shown is found.difference else " if what is unread is the worst"
    low = "unknown" if shown.low is None else figure(shown.low, limits)
    high = "unknown" if shown.high is None else figure(shown.high, limits)
    return "INCONCLUSIVE", f"the difference may lie from {low} to {high}{unread}; the margin is {number(margin)}"


def _notes(diff: GraderDiff) -> list[str]:
    """What else must be known: exact McNemar, cases of one run only."""
    notes = []
    if diff.p_value is not None:
        notes.append(f"exact McNemar p = {diff.p_value:.3g}, {diff.lost} turned FAIL, {diff.gained} turned PASS")
    for names, what in (
        (diff.new_cases, "new"), (diff.missing_cases, "missing here"), (diff.unevaluable, "without a verdict in one")
    ):  # fmt: skip
        if names:
            notes.append(f"{counted(len(names), 'case')} {what}: {listed(names)}")
    return notes


def flip_words(one: Flip) -> str:
    """`case-031 PASS → FAIL: wrong_tool …`."""
    why = f": {one.why}" if one.why else ""
    return f"{one.case} {one.old} → {one.new}{why}"
