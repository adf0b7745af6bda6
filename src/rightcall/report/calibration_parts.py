"""A calibration as headings, sentences and tables: what the terminal prints and a Markdown file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from rightcall.gate.words import figure
from rightcall.report.cells import number
from rightcall.run.calibration.calibrating import TOO_FEW
from rightcall.stats.bands import alpha_word, kappa_word
from rightcall.stats.fitness import UNIFORM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.run.calibration.calibrating import Calibration, CalibrationReport
    from rightcall.run.calibration.confidence import Confidence, Threshold
    from rightcall.stats.fitness import Condition
    from rightcall.stats.intervals import Estimate

MOST_STRATA = 6
SIGNS = {"FIT": "✓ FIT", "NOT_FIT": "✗ NOT FIT", "INSUFFICIENT": "◐ INSUFFICIENT"}
WORDS = {
    "FIT": "fit to decide",
    "NOT_FIT": "not fit to decide: what it says is advice, people go on looking",
    "INSUFFICIENT": "not enough is known to let it decide",
}
NOTHING = "–"


class Grid(Struct, frozen=True, kw_only=True):
    """A table: heads, the first of them of the names on the left, and rows of as many cells."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Part(Struct, frozen=True, kw_only=True):
    """A piece of a report: a heading where it has one, sentences, then a table."""

    title: str | None = None
    lines: tuple[str, ...] = ()
    grid: Grid | None = None


def parts_of(one: Calibration, split: str) -> Iterator[Part]:
    """Everything that is shown of one calibration.

    Args:
        one: the calibration.
        split: which labels: `test`, `dev` or `all`.
    """
    yield Part(title=_title(one), lines=tuple(_head(one, split)))
    if one.labels:
        yield Part(grid=_table(one))
    if one.figures is None:
        yield Part(lines=(TOO_FEW, *_wanted(one)))
        return
    yield Part(grid=_figures(one), lines=tuple(_notes(one)))
    if len(one.figures.rates) > 1:
        yield Part(grid=_rates(one))
    if one.strata:
        yield Part(title="worst first", grid=_strata(one))
    if one.confidence is not None:
        yield from _confidence(one.confidence, one.verdict)
    yield Part(title="fitness", lines=tuple(_fitness(one)))


def closing(report: CalibrationReport) -> Iterator[str]:
    """What is said below all calibrations: what is not counted, and warnings."""
    for grader, counts in report.not_counted.items():
        said = " · ".join(f"{n} {reason}" for reason, n in counts.items())
        yield f"{grader}: answers that are on record and not counted: {said}"
    for grader, n in report.other_split.items():
        other = "dev" if report.split == "test" else "test"
        yield f"{grader}: {labels(n)} of the {other} part, not looked at"
    yield from report.warnings


def labels(n: int) -> str:
    """`1 label`, `7 labels`."""
    return f"{n} label{'' if n == 1 else 's'}"


# ---- heading and table ----


def _title(one: Calibration) -> str:
    older = "" if one.is_current else "  (an older model or prompt)"
    return f"{one.judge} · {one.grader} · {one.field}   {SIGNS[one.verdict]}{older}"


def _head(one: Calibration, split: str) -> Iterator[str]:
    name = " ".join(part for part in (one.prompt.id, one.prompt.version) if part)
    prompt = f"{name} ({one.prompt.sha256[:6]})" if name else one.prompt.sha256[:6] or "not on record"
    yield f"model {one.model.strip(' +') or 'not on record'} · prompt {prompt} · runs {', '.join(one.runs)}"
    cases = f" of {one.cases} cases" if one.cases != one.labels else ""
    part = "every label" if split == "all" else f"the {split} part"
    yield f"{labels(one.labels)}{cases}: blind, drawn at random, {part}"
    if one.left_out:
        yield "left out: " + " · ".join(f"{n} {reason}" for reason, n in one.left_out.items())
    if not one.decides:
        yield "the judge's fitness does not rest on this field"


def _table(one: Calibration) -> Grid:
    """Counts: people by rows, the judge by columns; values that neither used are left out of a long form."""
    used = [
        place for place in range(len(one.classes))
        if len(one.classes) <= 3 or any(one.counts[place]) or any(row[place] for row in one.counts)
    ]  # fmt: skip
    shares = {} if one.figures is None else {rate.label: in_short(rate.prevalence) for rate in one.figures.rates}
    heads = ("people ↓ judge →", *(one.classes[place] for place in used), *(("people's share",) if shares else ()))
    rows = []
    for row in used:
        share = (shares.get(one.classes[row], NOTHING),) if shares else ()
        rows.append((one.classes[row], *(str(one.counts[row][column]) for column in used), *share))
    return Grid(heads=heads, rows=tuple(rows))


# ---- figures ----


def _figures(one: Calibration) -> Grid:
    found = one.figures
    assert found is not None  # noqa: S101 - without figures nothing of this is shown
    people = one.people
    rows = [_row("agreement, plain", found.exact, None if people is None else people.exact)]
    if found.within is not None:
        rows.append(_row("within one level", found.within, None if people is None else people.within))
    agreed = None if people is None else people.agreement
    limits = {each.name: each.threshold for each in one.fitness.conditions}
    bar = limits.get("agreement")
    level = f"alpha, {found.alpha_level}"
    if found.headline == "kappa":
        rows.append(_row("kappa", found.kappa, agreed, limit=bar))
    else:
        rows.append(_row("kappa", found.kappa))
    for name, value in (("kappa, linear", found.kappa_linear), ("kappa, quadratic", found.kappa_quadratic)):
        rows += [] if value is None else [_row(name, value)]
    if found.headline == "alpha":
        rows.append(_row(level, found.alpha, agreed, limit=bar))
    else:
        rows.append(_row(level, found.alpha))
    rows.append(_row(found.ac_name, found.ac))
    for name, value in (
        ("bias (judge − people)", found.bias), ("mean distance", found.error), ("Spearman", found.spearman),
        ("Kendall", found.kendall),
    ):  # fmt: skip
        rows += [] if value is None else [_row(name, value)]
    if found.detection is not None:
        rows.append(_row(f"catches {_failing(one)} (Se)", found.detection, limit=limits.get("detection")))
    for name, value in (
        ("clears the others (Sp)", found.clearance),
    ):  # fmt: skip
        rows += [] if value is None else [_row(name, value)]
    if one.rates.noise is not None:
        rows.append(_row("repeats that differ", one.rates.noise))
    return Grid(heads=("", "judge", "95 %", "n", "people", "n"), rows=tuple(rows))


def _failing(one: Calibration) -> str:
    failing = () if one.figures is None else one.figures.failing
    return failing[0] if len(failing) == 1 else f"{failing[0]} to {failing[-1]}" if failing else "FAIL"


def _row(name: str, value: Estimate, people: Estimate | None = None, limit: float | None = None) -> tuple[str, ...]:
    shared = (NOTHING, NOTHING) if people is None else (value_of(people), str(people.n))
    return (name, value_of(value, limit), between(value, limit), str(value.n), *shared)


def value_of(value: Estimate, limit: float | None = None) -> str:
    """The figure alone, `–` where it is undefined; with as many digits as tell it from the limit it is held against."""
    return _told_apart(value.estimate, limit)


def between(value: Estimate, limit: float | None = None) -> str:
    """The interval, `–` where there is none."""
    if value.low is None or value.high is None:
        return NOTHING
    return f"{_told_apart(value.low, limit, bound=True)} – {_told_apart(value.high, limit, bound=True)}"


def in_short(value: Estimate, limit: float | None = None) -> str:
    """`0.844 [0.712, 0.923]`, or why there is none."""
    if value.estimate is None:
        return value.reason or "undefined"
    shown = value_of(value, limit)
    if value.low is None or value.high is None:
        return shown
    return f"{shown} [{_told_apart(value.low, limit, bound=True)}, {_told_apart(value.high, limit, bound=True)}]"


def _told_apart(value: float | None, limit: float | None, *, bound: bool = False) -> str:
    if value is not None and limit is not None and value != limit and float(f"{value:.3f}") == float(f"{limit:.3f}"):
        return figure(value, (limit,))
    return f"{value:.3f}" if bound and value is not None else number(value, 3)


def p_value(p: float) -> str:
    """`p = 0.023`; a small one is never shown as 0."""
    return f"p = {p:.3f}" if p >= 0.0005 else "p < 0.001"


def _notes(one: Calibration) -> Iterator[str]:
    found = one.figures
    assert found is not None  # noqa: S101 - as above
    for name, value in (("kappa", found.kappa), ("alpha", found.alpha), (found.ac_name, found.ac)):
        if value.estimate is None:
            yield f"{name} is undefined: {value.reason}"
    if found.kappa.estimate is not None:
        words = f"by custom a kappa of {value_of(found.kappa)} is called {kappa_word(found.kappa.estimate)}"
        known = alpha_word(found.alpha.estimate)
        yield f"{words}, an alpha of {value_of(found.alpha)} {known}; nothing is decided by these words"
    if one.people is None:
        yield "people among themselves: no item was answered by two"
    else:
        yield (
            f"items that two people answered: {one.people.items}; {_headline(one)} of the two "
            f"{in_short(one.people.agreement)}, of the judge with each of them {in_short(one.people.judge)}"
        )
    yield from _corrected(one)


def _corrected(one: Calibration) -> Iterator[str]:
    made = one.rates.corrected
    if made is None:
        if one.rates.reason is not None:
            yield f"rate of {_failing(one)}, corrected: none: {one.rates.reason}"
        return
    yield (
        f"rate of {_failing(one)} in run {one.rates.run}, items outside these labels: the judge says "
        f"{in_short(made.naive)}, corrected {in_short(made.estimate)} (n={made.naive.n})"
    )


def _rates(one: Calibration) -> Grid:
    found = one.figures
    assert found is not None  # noqa: S101 - as above
    rows = tuple(
        (rate.label, *(_or_dash(value) for value in (rate.precision, rate.recall, rate.f1))) for rate in found.rates
    )
    return Grid(heads=("", "precision", "recall", "F1"), rows=rows)


def _or_dash(value: Estimate) -> str:
    return NOTHING if value.estimate is None else in_short(value)


def _strata(one: Calibration) -> Grid:
    shown = one.strata[:MOST_STRATA]
    has_fail = any(row.detection is not None for row in shown)
    heads = ("", "", "agreement", "n", *(("catches FAIL", "n") if has_fail else ()))
    rows = []
    for row in shown:
        found = row.detection
        caught = () if not has_fail else (NOTHING, "0") if found is None else (_or_dash(found), str(found.n))
        rows.append(("○" if row.hollow else "●", f"{row.by}: {row.group}", in_short(row.agreement), str(row.labels),
                     *caught))  # fmt: skip
    return Grid(heads=heads, rows=tuple(rows))


# ---- confidence ----


def _confidence(found: Confidence, verdict: str) -> Iterator[Part]:
    rows = tuple(
        ("○" if one.share.n < 10 else "●",
         f"{one.low:g}" if one.low == one.high else f"{one.low:g} – {one.high:g}", f"{one.stated:.3f}",
         in_short(one.share), str(one.share.n))
        for one in found.bins
    )  # fmt: skip
    title = f"stated confidence ({labels(found.labels)}, {found.silent} without)"
    yield Part(title=title, grid=Grid(heads=("", "stated", "mean", "right", "n"), rows=rows))
    yield Part(lines=tuple(_confidence_lines(found, verdict)))


def _confidence_lines(found: Confidence, verdict: str) -> Iterator[str]:
    error, line = found.error, found.line
    null, test = "", "" if error.p_value is None else f", {p_value(error.p_value)}"
    if error.null_mean is not None:
        by_chance = f"{error.null_mean:.3f} on average, up to {error.null_high:.3f}"
        null = f"; a calibrated judge shows {by_chance}{test}"
    yield f"Brier {in_short(found.brier)} · ECE {value_of(error.estimate)} ({error.binning}{null})"
    test = "" if line.p_value is None else f", test of 1 and 0: {p_value(line.p_value)}"
    yield f"calibration line: slope {in_short(line.slope)} · intercept {in_short(line.intercept)}{test}"
    yield f"AUROC {in_short(found.auroc)} · AURC {in_short(found.aurc)}"
    for name, route in found.routes.items():
        yield _route(name, route)
    made = found.recalibration
    if made.map is None:
        yield f"no map from confidence to probability: {made.reason}"
    else:
        better = "" if made.brier is None else f", cross-fitted Brier {in_short(made.brier)}"
        yield f"map {made.id} ({made.map['kind']}, {labels(made.labels)}){better}"
        yield 'runs use the map with confidence = "calibrated"'
    yield from _chosen_here(found, verdict)


def _chosen_here(found: Confidence, verdict: str) -> Iterator[str]:
    """What must be said of thresholds and maps that were made from the labels that are shown."""
    what = ["a threshold"] if any(one.calibrated for one in found.routes.values()) else []
    what += ["a map"] if found.recalibration.map is not None else []
    if what:
        made = f"{' and '.join(what)} chosen on these labels {'look' if len(what) > 1 else 'looks'} a little too good"
        yield f"{made} on them: look again on labels that had no part in it"
    if what[:1] == ["a threshold"] and verdict != "FIT":
        yield "a threshold says where the judge is seldom wrong, not that it is fit: see the verdict below"


def _route(name: str, found: Threshold) -> str:
    whom = "decide alone" if name == "all" else "decide alone about destructive tools"
    route = found.route
    if found.calibrated:
        return (
            f"{whom} from {found.stands:g} on: wrong {in_short(route.error)}, at most {found.target:g} by the "
            f"one-sided bound; {in_short(route.coverage)} of cases"
        )
    return (
        f"{whom}: uncalibrated, {found.stands:g} stays: {route.reason}; at least {route.missing} more accepted labels "
        f"without an error"
    )


# ---- fitness ----


def _fitness(one: Calibration) -> Iterator[str]:
    ordered = sorted(one.fitness.conditions, key=lambda each: ("FAIL", "INCONCLUSIVE", "PASS").index(each.answer))
    for each in ordered:
        yield _condition(one, each)
    yield from _wanted(one)
    yield from (reason for reason in one.fitness.reasons if reason.startswith(UNIFORM))
    yield f"verdict: {SIGNS[one.verdict]}: {WORDS[one.verdict]}"


def _condition(one: Calibration, each: Condition) -> str:
    names = {"agreement": _headline(one), "detection": f"catches {_failing(one)}", "ceiling": "close to people"}
    name = names.get(each.name, each.name)
    if each.answer == "PASS":
        needed = "" if each.threshold is None else f", needs {_threshold(each)}"
        return f"PASS  {name}: {in_short(each.value, each.threshold)}{needed}"
    more = f"; about {each.more} more {_more(each)} would settle it" if each.more else ""
    reason = (each.reason or "").removeprefix(f"{each.name}: ")
    return f"{each.answer}  {name}: {reason}{more}"


def _headline(one: Calibration) -> str:
    if one.figures is None or one.figures.headline == "kappa":
        return "kappa"
    return f"alpha, {one.figures.alpha_level}"


def _threshold(each: Condition) -> str:
    where = " at the lower end" if each.on == "lower" else ""
    return f"{each.threshold:.3g}{where}"


def _more(each: Condition) -> str:
    plural = "" if each.more == 1 else "s"
    return f"label{plural} that people call FAIL" if each.name == "detection" else f"label{plural}"


def _wanted(one: Calibration) -> Iterator[str]:
    """The labels that are lacking, by class."""
    missing = one.fitness.missing
    if not missing.at_least:
        return
    by_class = ", ".join(f"{n} that people call {label}" for label, n in missing.per_class.items())
    among = f", among them {by_class}" if by_class else ""
    yield f"labels still needed: at least {missing.at_least}{among}"
