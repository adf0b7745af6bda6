"""What stated confidence is worth, as it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rightcall.report.calibration.model import ConfidenceView, Figure, MapView, Route
from rightcall.report.calibration.words import in_short, labels, p_value, value_of
from rightcall.report.view.model import Reliability
from rightcall.stats.recalibration import Isotonic, Platt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.run.calibration.confidence import Confidence, Recalibrated
    from rightcall.stats.calibration import CalibrationError

_WHOM = {"all": "decide alone", "destructive": "decide alone about destructive tools"}
_STEPS = 40
"""Into so many steps a smooth map is drawn."""


def confidence_view(found: Confidence, verdict: str) -> ConfidenceView:
    """What is shown of stated confidence.

    Args:
        found: what was measured.
        verdict: whether the judge is fit, which a threshold does not say.
    """
    return ConfidenceView(
        title=f"stated confidence ({labels(found.labels)}, {found.silent} without)", found=found,
        figures=tuple(_figures(found)), reliability=reliability_of(found, "Stated confidence against people's answers"),
        routes=tuple(Route(name=name, whom=_WHOM[name], threshold=one) for name, one in found.routes.items()),
        map=MapView(points=tuple(_points(found.recalibration)), after=_after(found.recalibration)),
        cautions=tuple(_cautions(found, verdict)),
    )  # fmt: skip


def reliability_of(found: Confidence, caption: str) -> Reliability:
    """The reliability diagram of a calibration, with what must be read beside it."""
    return Reliability(caption=caption, bins=found.bins, notes=(error_words(found.error), line_words(found)))


def error_words(error: CalibrationError) -> str:
    """The calibration error beside what chance alone would show."""
    null, test = "", "" if error.p_value is None else f", {p_value(error.p_value)}"
    if error.null_mean is not None:
        by_chance = f"{error.null_mean:.3f} on average, up to {error.null_high:.3f}"
        null = f"; a calibrated judge shows {by_chance}{test}"
    return f"ECE {value_of(error.estimate)} ({error.binning}{null})"


def line_words(found: Confidence) -> str:
    """The calibration line, which is 1 and 0 where a judge means what it says."""
    line = found.line
    test = "" if line.p_value is None else f", test of 1 and 0: {p_value(line.p_value)}"
    return f"calibration line: slope {in_short(line.slope)} · intercept {in_short(line.intercept)}{test}"


def _figures(found: Confidence) -> Iterator[Figure]:
    made = found.recalibration
    yield Figure(name="wrong answers", value=found.wrong, kind="share")
    yield Figure(
        name="stated above what was right", value=found.stated, kind="other", scale=(-1.0, 1.0),
        note="above 0 the judge is too sure of itself",
    )  # fmt: skip
    yield Figure(name="Brier score", value=found.brier, kind="share", note="0 is best")
    if made.brier is not None:
        yield Figure(name="Brier score with the map", value=made.brier, kind="share", note="cross-fitted")
    yield Figure(name="ECE", value=found.error.estimate, kind="share", note=_null(found.error))
    if made.error is not None:
        note = f"cross-fitted; {_null(made.error)}"
        yield Figure(name="ECE with the map", value=made.error.estimate, kind="share", note=note)
    yield Figure(name="AUROC", value=found.auroc, kind="share", note="0.5 tells right from wrong as chance does")
    yield Figure(name="AURC", value=found.aurc, kind="share", note="mean of the curve of risk; 0 is best")


def _null(error: CalibrationError) -> str:
    if error.null_mean is None or error.null_high is None:
        return ""
    test = "" if error.p_value is None else f", {p_value(error.p_value)}"
    return f"a calibrated judge shows {error.null_mean:.3f} on average, up to {error.null_high:.3f}{test}"


def _points(made: Recalibrated) -> Iterator[tuple[float, float]]:
    """The map as points: those of a rising line, or a smooth one in steps."""
    if made.map is None:
        return
    read: Platt | Isotonic = msgspec.convert(made.map, Platt | Isotonic, strict=False)
    stated = read.stated if isinstance(read, Isotonic) else tuple(step / _STEPS for step in range(_STEPS + 1))
    for said in stated:
        worth = read.probability(said)
        if worth is not None:
            yield said, worth


def _after(made: Recalibrated) -> Reliability | None:
    if made.error is None:
        return None
    return Reliability(
        caption="With the map, cross-fitted", bins=made.error.bins, notes=(error_words(made.error),),
        across="mapped confidence",
    )  # fmt: skip


def _cautions(found: Confidence, verdict: str) -> Iterator[str]:
    what = ["a threshold"] if any(one.calibrated for one in found.routes.values()) else []
    what += ["a map"] if found.recalibration.map is not None else []
    if what:
        made = f"{' and '.join(what)} chosen on these labels {'look' if len(what) > 1 else 'looks'} a little too good"
        yield f"{made} on them: look again on labels that had no part in it"
    if what[:1] == ["a threshold"] and verdict != "FIT":
        yield "a threshold says where the judge is seldom wrong, not that it is fit"


def route_words(route: Route) -> str:
    """From where the judge may decide alone, or why from nowhere yet."""
    found, made = route.threshold, route.threshold.route
    if found.calibrated:
        return (
            f"{route.whom} from {found.stands:g} on: wrong {in_short(made.error)}, at most {found.target:g} by the "
            f"one-sided bound; {in_short(made.coverage)} of cases"
        )
    return (
        f"{route.whom}: uncalibrated, {found.stands:g} stays: {made.reason}; at least {made.missing} more accepted "
        f"labels without an error"
    )


def map_words(found: Confidence) -> Iterator[str]:
    """The map, what it is worth, and how runs use it; or why there is none."""
    made = found.recalibration
    if made.map is None:
        yield f"no map from confidence to probability: {made.reason}"
        return
    better = "" if made.brier is None else f", cross-fitted Brier {in_short(made.brier)}"
    yield f"map {made.id} ({made.map['kind']}, {labels(made.labels)}){better}"
    yield 'runs use the map with confidence = "calibrated"'
