"""The view of a calibration, made from what `calibrate` found; see `report.calibration.model`."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from rightcall.report.calibration.confidence import confidence_view
from rightcall.report.calibration.model import CalibrationView, FieldView, Figure, Requirement
from rightcall.report.calibration.words import (
    NOTHING,
    failing,
    headline,
    in_short,
    labels,
    value_of,
)
from rightcall.report.view.model import Matrix
from rightcall.run.calibration.calibrating import EXIT, TOO_FEW
from rightcall.stats.bands import alpha_word, kappa_word
from rightcall.stats.fitness import ESTIMATE_FROM, UNIFORM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.report.calibration.model import Kind
    from rightcall.run.calibration.calibrating import Calibration, CalibrationReport, Verdict
    from rightcall.run.calibration.figures import Figures
    from rightcall.run.calibration.people import People
    from rightcall.stats.fitness import Condition
    from rightcall.stats.intervals import Estimate

_CAUSES = {"NOT_FIT": "is not fit", "INSUFFICIENT": "has too few labels, or they show too little"}
_PARTS = {"test": "the test part", "dev": "the dev part", "all": "every label"}
_SPLITS = {"test": "those kept for the test", "dev": "those that prompts are tuned on", "all": "all"}


def view_of(report: CalibrationReport, *, at: str = "") -> CalibrationView:
    """What is shown of a report.

    Args:
        report: what was found.
        at: when (ISO 8601, UTC); empty where that is not to be said.
    """
    facts = (
        ("made", at), ("labels", _SPLITS[report.split]),
        ("test part", f"{report.test_share:g} of the cases, seed {report.seed}"), ("rightcall", version("rightcall")),
    )  # fmt: skip
    return CalibrationView(
        verdict=report.verdict, exit_code=EXIT[report.verdict] if report.verdict is not None else 5,
        causes=tuple(_causes(report)), facts=tuple(fact for fact in facts if fact[1]),
        fields=tuple(field_view(one, report.split) for one in report.calibrations), besides=tuple(_besides(report)),
        warnings=report.warnings,
    )  # fmt: skip


def field_view(one: Calibration, split: str) -> FieldView:
    """What is shown of one calibration.

    Args:
        one: the calibration.
        split: which labels: `test`, `dev` or `all`.
    """
    name = " ".join(part for part in (one.prompt.id, one.prompt.version) if part)
    found = one.figures
    return FieldView(
        judge=one.judge, grader=one.grader, field=one.field, model=one.model.strip(" +"),
        prompt=f"{name} ({one.prompt.sha256[:6]})" if name else one.prompt.sha256[:6], runs=one.runs,
        is_current=one.is_current, decides=one.decides, verdict=one.verdict, reasons=tuple(_why(one)),
        needed=_needed(one),
        requirements=() if found is None else tuple(_requirements(one)),
        remarks=tuple(reason for reason in one.fitness.reasons if found is not None and reason.startswith(UNIFORM)),
        labels=one.labels, rests_on=_rests_on(one, split), left_out=one.left_out, matrix=_matrix(one),
        shares={} if found is None else {rate.label: rate.prevalence for rate in found.rates},
        figures=() if found is None else tuple(_figures(one, found)),
        notes=() if found is None else tuple(_notes(one, found)), rates=() if found is None else found.rates,
        strata=one.strata,
        confidence=None if found is None or one.confidence is None else confidence_view(one.confidence, one.verdict),
        id=one.id,
    )  # fmt: skip


def _rests_on(one: Calibration, split: str) -> str:
    cases = f" of {one.cases} cases" if one.cases != one.labels else ""
    return f"{labels(one.labels)}{cases}: blind, drawn at random, {_PARTS[split]}"


def _matrix(one: Calibration) -> Matrix | None:
    if not one.labels and not any(map(any, one.counts)):
        return None
    return Matrix(
        caption="People's answers against the judge's", row_name="people", column_name="judge", labels=one.classes,
        counts=one.counts,
    )  # fmt: skip


# ---- what it is fit for ----


def _causes(report: CalibrationReport) -> Iterator[str]:
    """Everything that keeps it from `FIT`, the worst first, with fields of one cause together."""
    counting = [one for one in report.calibrations if one.is_current and one.decides] or list(report.calibrations)
    fields: dict[tuple[Verdict, str, str, str], list[str]] = {}
    for one in counting:
        if one.verdict != "FIT":
            why = "".join(f": {reason}" for reason in _reasons(one)[:1])
            fields.setdefault((one.verdict, one.judge, one.grader, why), []).append(one.field)
    worst_first = sorted(fields.items(), key=lambda each: each[0][0] != "NOT_FIT")
    for (verdict, judge, grader, why), names in worst_first:
        yield f"{judge} {_CAUSES[verdict]} in {grader} · {', '.join(dict.fromkeys(names))}{why}"


def _reasons(one: Calibration) -> tuple[str, ...]:
    return one.fitness.reasons if one.figures is not None else (TOO_FEW,)


def _why(one: Calibration) -> Iterator[str]:
    """Why it is not fit, in full: what is missed or open by its name, then the labels that are too few."""
    if one.figures is None:
        yield TOO_FEW
        return
    open_ones = [each for each in _requirements(one) if each.answer != "PASS"]
    for each in open_ones:
        yield f"{each.name}: {each.reason}" + (f"; {each.settled}" if each.settled else "")
    said = {each.reason for each in one.fitness.conditions}
    yield from (reason for reason in one.fitness.reasons if reason not in said)


def _requirements(one: Calibration) -> Iterator[Requirement]:
    names = {"agreement": headline(one), "detection": f"catches {failing(one)}", "ceiling": "close to people"}
    ordered = sorted(one.fitness.conditions, key=lambda each: ("FAIL", "INCONCLUSIVE", "PASS").index(each.answer))
    for each in ordered:
        yield Requirement(
            name=names.get(each.name, each.name), answer=each.answer, value=each.value, threshold=each.threshold,
            on=each.on, reason=(each.reason or "").removeprefix(f"{each.name}: "), settled=_settled(each),
        )  # fmt: skip


def _settled(each: Condition) -> str:
    """What would settle a condition; empty where nothing is open, or that cannot be said."""
    if each.more:
        whose = " that people call FAIL" if each.name == "detection" else ""
        return f"about {each.more} more label{'' if each.more == 1 else 's'}{whose} would settle it"
    if each.name == "ceiling" and each.answer == "INCONCLUSIVE":
        return f"let two people answer at least {ESTIMATE_FROM} of these items (review.answers = 2)"
    return ""


def _needed(one: Calibration) -> str:
    """The labels that are lacking, by class; empty where none are."""
    missing = one.fitness.missing
    if not missing.at_least:
        return ""
    by_class = ", ".join(f"{n} that people call {label}" for label, n in missing.per_class.items())
    among = f", among them {by_class}" if by_class else ""
    return f"at least {missing.at_least}{among}"


# ---- figures ----


def _figures(one: Calibration, found: Figures) -> Iterator[Figure]:
    people = one.people
    limits = {each.name: each.threshold for each in one.fitness.conditions}
    yield from _shown("agreement, plain", "share", found.exact, None if people is None else people.exact)
    yield from _shown("within one level", "share", found.within, None if people is None else people.within)
    for name, value, is_headline in (
        ("kappa", found.kappa, found.headline == "kappa"), ("kappa, linear", found.kappa_linear, False),
        ("kappa, quadratic", found.kappa_quadratic, False),
        (f"alpha, {found.alpha_level}", found.alpha, found.headline == "alpha"), (found.ac_name, found.ac, False),
    ):  # fmt: skip
        beside = people.agreement if people is not None and is_headline else None
        yield from _shown(name, "agreement", value, beside, limits.get("agreement") if is_headline else None)
    width = float(max(1, len(found.rates) - 1))
    yield from _shown("bias (judge − people)", "levels", found.bias, scale=(-width, width))
    yield from _shown("mean distance", "levels", found.error, scale=(-width, width))
    yield from _shown("Spearman", "agreement", found.spearman)
    yield from _shown("Kendall", "agreement", found.kendall)
    yield from _shown(f"catches {failing(one)} (Se)", "share", found.detection, limit=limits.get("detection"))
    yield from _shown("clears the others (Sp)", "share", found.clearance)
    yield from _shown("repeats that differ", "share", one.rates.noise)


def _shown(
    name: str, kind: Kind, value: Estimate | None, people: Estimate | None = None, limit: float | None = None, *,
    scale: tuple[float, float] | None = None,
) -> Iterator[Figure]:  # fmt: skip
    if value is not None:
        whole = scale or ((-1.0, 1.0) if kind == "agreement" else (0.0, 1.0))
        yield Figure(name=name, kind=kind, value=value, people=people, limit=limit, scale=whole)


def _notes(one: Calibration, found: Figures) -> Iterator[str]:
    yield from _caught(one, found)
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
            f"items that two people answered: {one.people.items}; {headline(one)} of the two "
            f"{in_short(one.people.agreement)}, of the judge with each of them {_beside(one.people)}"
        )
    yield from _corrected(one)


def _beside(people: People) -> str:
    """The judge's figure beside that of people, without a reason that was just given."""
    mine, theirs = people.judge, people.agreement
    return NOTHING if mine.estimate is None and mine.reason == theirs.reason else in_short(mine)


def _caught(one: Calibration, found: Figures) -> Iterator[str]:
    """What is caught and what is missed, counted."""
    bad = [place for place, name in enumerate(found.classes) if name in found.failing]
    good = [
        place for place, name in enumerate(found.classes)
        if place not in bad and name in {rate.label for rate in found.rates}
    ]  # fmt: skip
    if bad:
        caught, missed, flagged, cleared = (
            sum(found.counts[row][column] for row in rows for column in columns)
            for rows, columns in ((bad, bad), (bad, good), (good, bad), (good, good))
        )
        yield (
            f"people call {caught + missed} of these {failing(one)}: the judge catches {caught} and misses {missed}; "
            f"of the {flagged + cleared} others it clears {cleared}"
        )


def _corrected(one: Calibration) -> Iterator[str]:
    made = one.rates.corrected
    if made is None:
        if one.rates.reason is not None:
            yield f"rate of {failing(one)}, corrected: none: {one.rates.reason}"
        return
    yield (
        f"rate of {failing(one)} in run {one.rates.run}, items outside these labels: the judge says "
        f"{in_short(made.naive)}, corrected {in_short(made.estimate)} (n={made.naive.n})"
    )


# ---- besides ----


def _besides(report: CalibrationReport) -> Iterator[str]:
    for grader, counts in report.not_counted.items():
        said = " · ".join(f"{n} {reason}" for reason, n in counts.items())
        yield f"{grader}: answers that are on record and not counted: {said}"
    for grader, n in report.other_split.items():
        other = "dev" if report.split == "test" else "test"
        yield f"{grader}: {labels(n)} of the {other} part, not looked at"
