"""What a judge's stated confidence is worth: how often it is right when it says so, and from where it may decide alone.

An answer is right where it is what people say; of levels, where it is within the tolerance of the form (one step), as
two people's answers are. The map from stated confidence to probability is made from all labels that are used here; how
good it is, is told by cross-fitting: each label by a map made without its case.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.review.consensus import agree
from rightcall.stats.calibration import (
    Bin,
    CalibrationError,
    CalibrationLine,
    brier,
    calibration_line,
    expected_calibration_error,
    overconfidence,
)
from rightcall.stats.discrimination import RiskPoint, aurc, auroc, risk_coverage, selective
from rightcall.stats.fitness import REPORT_FROM
from rightcall.stats.intervals import Estimate
from rightcall.stats.recalibration import cross_fitted, fit_recalibration, suited_kind
from rightcall.stats.routing import FIXED, Route, routing_threshold
from rightcall.trace.digest import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.run.calibration.figures import Paired
    from rightcall.run.calibration.labels import Label

EDGE = 0.025
"""Confidences are stated in steps of 0.05 (SPEC §7), so 0 and 1 are taken for half a step from there."""

_FIXED = 0.8


class Threshold(Struct, frozen=True, kw_only=True):
    """From which stated confidence on the judge may decide alone.

    Attributes:
        target: the share of wrong answers that is accepted.
        labels: how many it rests on.
        route: what the labels show.
        stands: the threshold that holds: the route's, or the fixed one where there is none.
        calibrated: whether it was chosen on labels.
        error_fixed: share of wrong answers among those that the fixed threshold accepts.
    """

    target: float
    labels: int
    route: Route
    stands: float
    calibrated: bool
    error_fixed: Estimate


class Recalibrated(Struct, frozen=True, kw_only=True):
    """A map from stated confidence to the probability of being right.

    Attributes:
        id: `map-` and a hash of the map with whose it is and which labels made it.
        map: its kind and numbers (see `stats.recalibration`); `None` where none can be made, for the `reason`.
        labels: how many made it.
        brier, error: Brier score and calibration error of cross-fitted probabilities; `None` where some are lacking.
    """

    id: str | None
    map: dict[str, Any] | None
    labels: int
    brier: Estimate | None
    error: CalibrationError | None
    reason: str | None


class Confidence(Struct, frozen=True, kw_only=True):
    """What stated confidence is worth.

    Attributes:
        labels: labels with a stated confidence; silent: those without.
        wrong: share of wrong answers.
        stated: how far the stated confidence lies above the share of right answers, on average.
        bins: of the reliability diagram. brier, error, line, auroc, aurc: see `rightcall.stats`.
        curve: risk and coverage.
        routes: what is accepted without a person: `all`, and `destructive` where such tools are involved.
        recalibration: the map.
    """

    labels: int
    silent: int
    wrong: Estimate
    stated: Estimate
    bins: tuple[Bin, ...]
    brier: Estimate
    error: CalibrationError
    line: CalibrationLine
    auroc: Estimate
    aurc: Estimate
    curve: tuple[RiskPoint, ...]
    routes: dict[str, Threshold]
    recalibration: Recalibrated


class Targets(Struct, frozen=True, kw_only=True):
    """What the labels are held against: the accepted error for all tools and for destructive ones; seeds, draws."""

    error: float
    destructive: float
    resamples: int
    seed: int


def confidence_of(found: Paired, grader: str, owner: Sequence[str], targets: Targets) -> Confidence | None:
    """What stated confidence is worth; `None` where no label has one.

    Args:
        found: the labels.
        grader: whose they are: it says which fixed threshold there is.
        owner: grader, judge, field, model and prompt, that a map belongs to.
        targets: what the labels are held against.
    """
    places = [place for place, one in enumerate(found.labels) if one.confidence is not None]
    if not places:
        return None
    labels = [found.labels[place] for place in places]
    right = [_is_right(found, place) for place in places]
    stated = [one.confidence for one in labels if one.confidence is not None]
    cases = [one.case for one in labels]
    left = found.excluded.total() + len(found.labels) - len(places)
    error = expected_calibration_error(
        stated, right, clusters=cases, simulations=targets.resamples, seed=targets.seed, excluded=left
    )
    return Confidence(
        labels=len(labels), silent=len(found.labels) - len(labels),
        wrong=selective(stated, right, 0.0, clusters=cases, excluded=left).error, bins=error.bins,
        stated=overconfidence(stated, right, clusters=cases, excluded=left),
        brier=brier(stated, right, clusters=cases, excluded=left), error=error,
        line=calibration_line(stated, right, clusters=cases, edge=EDGE, excluded=left),
        auroc=auroc(stated, right, clusters=cases, excluded=left),
        aurc=aurc(
            stated, right, clusters=cases, resamples=min(targets.resamples, 1000), seed=targets.seed, excluded=left
        ),
        curve=risk_coverage(stated, right), routes=_routes(grader, labels, stated, right, left, targets),
        recalibration=_recalibrated(labels, stated, right, owner, targets),
    )  # fmt: skip


def _is_right(found: Paired, place: int) -> bool:
    judge, human = found.pairs[place]
    field = found.scale.field
    return judge == human or (
        found.scale.is_level and field.tolerance is not None
        and agree(field, (field.choices[judge], field.choices[human]))
    )  # fmt: skip


def _routes(
    grader: str, labels: Sequence[Label], stated: Sequence[float], right: Sequence[bool], left: int, targets: Targets
) -> dict[str, Threshold]:
    rows = list(zip(labels, stated, right, strict=True))
    found = {"all": _threshold(grader, rows, left, targets.error)}
    part = [row for row in rows if row[0].destructive]
    if part or all(one.destructive is not None for one in labels):
        found["destructive"] = _threshold(grader, part, left, targets.destructive)
    return found


def _threshold(grader: str, rows: Sequence[tuple[Label, float, bool]], left: int, target: float) -> Threshold:
    fixed, cases = FIXED.get(grader, _FIXED), [one.case for one, _, _ in rows]
    stated, right = [said for _, said, _ in rows], [held for _, _, held in rows]
    route = routing_threshold(stated, right, target=target, clusters=cases, excluded=left)
    return Threshold(
        target=target, labels=len(rows), route=route, stands=fixed if route.threshold is None else route.threshold,
        calibrated=route.threshold is not None,
        error_fixed=selective(stated, right, fixed, clusters=cases, excluded=left).error,
    )  # fmt: skip


def _recalibrated(
    labels: Sequence[Label], stated: Sequence[float], right: Sequence[bool], owner: Sequence[str], targets: Targets
) -> Recalibrated:
    cases = [one.case for one in labels]
    number = len(set(cases))

    def none(reason: str | None) -> Recalibrated:
        return Recalibrated(id=None, map=None, labels=len(labels), brier=None, error=None, reason=reason)

    if number < REPORT_FROM:
        return none(f"{number} cases with a stated confidence, {REPORT_FROM} are needed for a map")
    kind = suited_kind(number)
    made = fit_recalibration(stated, right, kind=kind, clusters=cases, edge=EDGE)
    if made.map is None:
        return none(made.reason)
    plain: dict[str, Any] = msgspec.to_builtins(made.map)
    fitted = cross_fitted(stated, right, kind=kind, clusters=cases, edge=EDGE, seed=targets.seed)
    known = [one for one in fitted if one is not None]
    whole = len(known) == len(fitted)
    answers = sorted({digest for one in labels for digest in one.answers})
    name = sha256(canonical({"map": plain, "owner": list(owner), "answers": answers})).hexdigest()[:12]
    return Recalibrated(
        id=f"map-{name}", map=plain, labels=len(labels),
        brier=brier(known, right, clusters=cases) if whole else None,
        error=expected_calibration_error(known, right, clusters=cases, simulations=targets.resamples, seed=targets.seed)
        if whole else None,
        reason=None if whole else "some folds carry no map, so it could not be tested",
    )  # fmt: skip
