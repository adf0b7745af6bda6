"""From which stated confidence on an answer may stand without a person looking at it.

A threshold is chosen on answers that people have checked, so that the answers accepted from it on are wrong at most as
often as the target says, with the confidence that is asked for. Until enough are checked there is no such threshold,
and a fixed one, called uncalibrated, has to do.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from msgspec import Struct

from rightcall.stats.calibration import Clusters, check_stated
from rightcall.stats.intervals import NOTHING, Estimate, clopper_pearson, invalid, needed_without_error, undefined

TARGET = 0.05
"""The share of wrong answers that may be accepted; for tools that destroy something, ask for 0.01."""

FIXED = {"preference": 0.7, "interpretation": 0.8}
"""What stands in for a threshold where none was chosen on checked answers."""


class Route(Struct, frozen=True, kw_only=True):
    """A routing threshold, or what is missing until there is one.

    Attributes:
        threshold: accept answers stated with at least this confidence; `None` where no threshold is shown to be good
            enough.
        error: of the accepted cases, with the one-sided upper bound that is at most the target.
        coverage: share of all cases that are accepted.
        missing: how many more checked cases without an error it takes, at the confidence where fewest are missing; 0
            where there is a threshold.
        reason: why there is none.
    """

    threshold: float | None
    error: Estimate
    coverage: Estimate
    missing: int
    reason: str | None


def accepted_needed(target: float = TARGET, errors: int = 0, confidence: float = 0.95) -> int:
    """How many accepted cases, with so many errors, show that at most a share `target` is wrong.

    At 5 %: 59, 93, 124, 153 for 0 to 3 errors. See `needed_without_error`, whose errors it raises.
    """
    if not 0 < target < 1:
        raise invalid(f"a target for errors lies between 0 and 1, not at {target:g}")
    return needed_without_error(1 - target, errors, confidence)


def routing_threshold(
    stated: Sequence[float],
    correct: Sequence[bool],
    *,
    target: float = TARGET,
    clusters: Clusters = None,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Route:
    """The smallest stated confidence from which on few enough accepted answers are wrong.

    Of every confidence t that was stated, the cases with an answer of at least t are counted, and those of them with a
    wrong one; t will do where the one-sided upper bound of Clopper and Pearson of their share is at most the target.
    Cases are counted, since the answers of one case are not independent; a case with one wrong answer is wrong.

    The bound holds for a threshold that was fixed beforehand; the smallest of many that will do owes a little to luck.
    In simulations with an error that does not depend on the confidence, some threshold was found in 12 to 24 % of
    samples where the error was just above a target of 5 %, in 6 % where it was 6 % and in 1 % where it was 8 %. Choose
    it on one part of the checked answers and look at `selective` on another.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a confidence outside 0 to 1, sequences that do not belong together, or a
            target that is not between 0 and 1.
    """
    check_stated(stated, correct, clusters)
    accepted_needed(target, 0, confidence)
    total = len(set(range(len(stated)) if clusters is None else clusters))
    method = f"clopper-pearson {confidence:g} upper"
    if not total:
        none = undefined(method, NOTHING, excluded=excluded)
        return Route(threshold=None, error=none, coverage=none, missing=accepted_needed(target, 0, confidence),
                     reason=NOTHING)  # fmt: skip
    best: tuple[float, int, int] | None = None
    nearest: tuple[int, float, int, int] | None = None
    needed: dict[int, int] = {}
    for said, accepted, errors in _accepted(stated, correct, clusters):
        if errors not in needed:
            needed[errors] = accepted_needed(target, errors, confidence)
        missing = needed[errors] - accepted
        if missing <= 0:
            best = (said, accepted, errors)
        if nearest is None or missing < nearest[0]:
            nearest = (missing, said, accepted, errors)
    if best is not None:
        said, accepted, errors = best
        return Route(
            threshold=said,
            error=clopper_pearson(errors, accepted, confidence=confidence, sided="upper", excluded=excluded),
            coverage=clopper_pearson(accepted, total, confidence=confidence, excluded=excluded),
            missing=0,
            reason=None,
        )
    missing, said, accepted, errors = nearest or (0, 0.0, 0, 0)
    reason = (
        f"the {accepted} cases from {said:g} on, {errors} of them wrong, do not show an error of at most {target:g}"
    )
    return Route(
        threshold=None,
        error=clopper_pearson(errors, accepted, confidence=confidence, sided="upper", excluded=excluded),
        coverage=clopper_pearson(accepted, total, confidence=confidence, excluded=excluded),
        missing=missing,
        reason=reason,
    )


def _accepted(stated: Sequence[float], correct: Sequence[bool], clusters: Clusters) -> list[tuple[float, int, int]]:
    """Of each confidence, highest first: it, the cases accepted from it on, and those of them with a wrong answer."""
    cases = range(len(stated)) if clusters is None else clusters
    order = sorted(range(len(stated)), key=lambda place: -stated[place])
    seen: set[Hashable] = set()
    wrong: set[Hashable] = set()
    found: list[tuple[float, int, int]] = []
    for index, place in enumerate(order):
        seen.add(cases[place])
        if not correct[place]:
            wrong.add(cases[place])
        if index + 1 == len(order) or stated[order[index + 1]] != stated[place]:
            found.append((stated[place], len(seen), len(wrong)))
    return found
