"""Two runs of one grader case by case: what turned, and whether the new one is worse (SPEC §9, STATISTICS §2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import msgspec

from rightcall.gate.decision import Flip, GraderDiff
from rightcall.gate.exact import exact_sum
from rightcall.stats.clusters import clustered_share
from rightcall.stats.intervals import Estimate, undefined
from rightcall.stats.ordinal import Scale, mean_score
from rightcall.stats.paired import mcnemar, paired_scores, tango
from rightcall.stats.paired_worth import changes_of, more_to_settle, widened
from rightcall.stats.repeats import case_mean

NOTHING_SHARED = "the two have no case in common"

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
        least: how many results it takes to say anything: k for pass^k. of: from good results and all of them to the
            value of the case, where that is not their mean.
    """

    cluster: str
    total: float = 0.0
    n: int = 0
    unread: int = 0
    verdict: str = ""
    version: str | None = None
    why: str = ""
    scores: dict[str, tuple[float, int]] = field(default_factory=dict)
    least: int = 1
    of: Callable[[int, int], float] | None = None

    @property
    def told(self) -> bool:
        """Whether enough was read to give it a value."""
        return self.n >= self.least

    @property
    def due(self) -> bool:
        """Whether it has, or should have, a value."""
        return self.n + self.unread >= self.least

    def mean(self, *, unread_as: float | None = None) -> float:
        """Its value, mostly the mean of its results; with what is unread counted as a value, if one is given."""
        unread = 0 if unread_as is None else self.unread
        total, n = self.total + (unread_as or 0.0) * unread, self.n + unread
        return total / n if self.of is None else self.of(round(total), n)


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
        more: how many further cases, that change as those before, would settle on which side of a margin it lies, by
            the margin; `None` where nobody can say. Of the worst case, where there is one.
    """

    difference: Estimate
    worst: Estimate | None = None
    exact: Fraction | None = None
    exact_worst: Fraction | None = None
    repeated: bool = False
    unread: int = 0
    more: Callable[[float], int | None] | None = None


def shared_cases(old: Cases, new: Cases) -> list[str]:
    """Cases that both could evaluate, in the sequence of the new run."""
    return [case for case, facts in new.items() if facts.told and case in old and old[case].told]


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
    dark = [case for case in new if case in old and case not in known and new[case].due and old[case].due]
    lost_cases = len((old.keys() | new.keys()) - set(both))
    repeated = any(one[case].n + one[case].unread > 1 for one in (old, new) for case in (*both, *dark))
    clusters = [new[case].cluster for case in (*both, *dark)]
    single = form.kind == "share" and not repeated and len(set(clusters)) == len(clusters)

    def estimate(pairs: list[tuple[float, float]], excluded: int) -> Estimate:
        if single:
            gained = sum(now > before for now, before in pairs)
            lost = sum(now < before for now, before in pairs)
            return tango(gained, lost, len(pairs), excluded=excluded, confidence=confidence)
        of = clusters[: len(pairs)]
        return _paired(pairs, of, form.scale, confidence=confidence, resamples=resamples, excluded=excluded)

    if not both:
        why = "no case that both have was evaluated in both" if old.keys() & new.keys() else NOTHING_SHARED
        none = undefined("paired", why, excluded=lost_cases)
        return Difference(difference=none, repeated=repeated)
    pairs = [(new[case].mean(), old[case].mean()) for case in both]
    found = Difference(difference=estimate(pairs, lost_cases), exact=_exact(pairs), repeated=repeated)
    found = msgspec.structs.replace(found, more=_more(found.difference, pairs, clusters, form.scale, confidence))
    if not dark and not any(one[case].unread for one in (old, new) for case in both):
        return found
    bottom, top = form.scale
    worst = [(new[case].mean(unread_as=bottom), old[case].mean(unread_as=top)) for case in (*both, *dark)]
    at_worst = estimate(worst, lost_cases - len(dark))
    return msgspec.structs.replace(
        found, worst=at_worst, exact_worst=_exact(worst),
        more=_more(at_worst, worst, clusters, form.scale, confidence),
        unread=len(dark) + sum(bool(new[case].unread or old[case].unread) for case in both),
    )  # fmt: skip


def _paired(
    pairs: Sequence[tuple[float, float]], clusters: Sequence[str], scale: Scale, *, confidence: float = 0.95,
    resamples: int = RESAMPLES, excluded: int = 0,
) -> Estimate:  # fmt: skip
    """A bootstrap over cases, at least as wide as what the cases that changed are worth."""
    found = paired_scores(
        pairs, clusters=clusters, scale=scale, resamples=resamples, confidence=confidence, excluded=excluded
    )
    return widened(found, changes_of(pairs, clusters, scale, confidence), scale, confidence)


def _more(
    found: Estimate, pairs: Sequence[tuple[float, float]], clusters: Sequence[str], scale: Scale, confidence: float
) -> Callable[[float], int | None]:
    """How many further cases settle it, by the margin; on a scale of width 1."""
    width = scale[1] - scale[0]
    low, high, middle = (None if one is None else one / width for one in (found.low, found.high, found.estimate))
    brought = msgspec.structs.replace(found, estimate=middle, low=low, high=high)

    def more(margin: float) -> int | None:
        changes = changes_of(pairs, clusters[: len(pairs)], scale, confidence)
        if found.method.startswith("tango"):
            changes = changes._replace(effective=float(len(pairs)))
        return more_to_settle(brought, changes, margin / width, confidence)

    return more


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
    is_share = form.kind == "share"
    if not is_share:
        flips = _moved(grader, both, old, new)
        gained, lost = ([case for case in both if sign * (new[case].mean() - old[case].mean()) > 0] for sign in (1, -1))
    return GraderDiff(
        grader=grader,
        not_comparable=tuple(not_comparable),
        shared=len(both),
        new_cases=tuple(sorted(new.keys() - old.keys())),
        missing_cases=tuple(sorted(old.keys() - new.keys())),
        unevaluable=tuple(sorted((old.keys() & new.keys()) - shown)),
        both_passed=sum(before and now for _, before, now in turned),
        both_failed=sum(not (before or now) for _, before, now in turned) if is_share else 0,
        gained=len(gained) if is_share else 0,
        lost=len(lost) if is_share else 0,
        better=len(gained),
        worse=len(lost),
        old=_level(old, both, form, repeated=found.repeated),
        new=_level(new, both, form, repeated=found.repeated),
        difference=found.difference,
        p_value=mcnemar(len(gained), len(lost)) if is_share and not found.repeated else None,
        repeated=found.repeated,
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


def _level(cases: Cases, both: Sequence[str], form: Form, *, repeated: bool) -> Estimate:
    """What is compared: new minus old is the difference. A case of several results counts once, with their mean."""
    excluded = len(cases) - len(both)
    if form.kind == "share" and repeated and len({cases[case].cluster for case in both}) == len(both):
        return case_mean([cases[case].mean() for case in both], excluded=excluded)
    if form.kind == "share" and not repeated:
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
    return _paired(pairs, [new[case].cluster for case in both], scale, resamples=resamples)


def flip_words(one: Flip) -> str:
    """`case-031 PASS → FAIL: wrong_tool …`."""
    why = f": {one.why}" if one.why else ""
    return f"{one.case} {one.old} → {one.new}{why}"
