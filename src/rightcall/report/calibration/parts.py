"""A calibration as headings, sentences and tables: what the terminal prints and a Markdown file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from rightcall.report.calibration.confidence import error_words, line_words, map_words, route_words
from rightcall.report.calibration.words import (
    NO_ROLE,
    NOTHING,
    SIGNS,
    WORDS,
    between,
    in_short,
    needs,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.report.calibration.model import CalibrationView, ConfidenceView, FieldView, Figure, Requirement
    from rightcall.report.view.model import Matrix
    from rightcall.stats.intervals import Estimate

MOST_STRATA = 6


class Grid(Struct, frozen=True, kw_only=True):
    """A table: heads, the first of them of the names on the left, and rows of as many cells.

    `numeric`: what is not a name is a figure.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: bool = True


class Part(Struct, frozen=True, kw_only=True):
    """A piece of a report: a heading where it has one, sentences, then a table."""

    title: str | None = None
    lines: tuple[str, ...] = ()
    grid: Grid | None = None


def parts_of(one: FieldView) -> Iterator[Part]:
    """Everything that is shown of one field."""
    older = "" if one.is_current else "  (an older model or prompt)"
    yield Part(
        title=f"{one.judge} · {one.grader} · {one.field}   {SIGNS[one.verdict]}{older}", lines=tuple(_head(one))
    )  # fmt: skip
    if one.matrix is not None and one.labels:
        yield Part(grid=_table(one.matrix, one.shares))
    if not one.has_figures:
        yield Part(lines=(*one.reasons, *_needed(one)))
        return
    yield Part(grid=_figures(one.figures), lines=one.notes)
    if len(one.rates) > 1:
        yield Part(grid=_rates(one))
    if one.strata:
        yield from _strata(one)
    if one.confidence is not None:
        yield from _confidence(one.confidence)
    yield Part(title="fitness", lines=tuple(_fitness(one)))


def overview(view: CalibrationView) -> Part:
    """Which judge may decide what, and why not."""
    rows = tuple(
        (
            f"{one.judge} · {one.grader} · {one.field}" + ("" if one.is_current else f" ({one.prompt or one.model})"),
            SIGNS[one.verdict], "; ".join((*one.reasons, *_needed(one))),
        )
        for one in view.fields
    )  # fmt: skip
    return Part(
        title="Which judge may decide what", grid=Grid(heads=("judge", "answer", "why"), rows=rows, numeric=False)
    )


def closing(view: CalibrationView) -> Iterator[str]:
    """What is said below all of them: what is not counted, and warnings."""
    yield from view.besides
    yield from view.warnings


# ---- heading and table ----


def _head(one: FieldView) -> Iterator[str]:
    yield (
        f"model {one.model or 'not on record'} · prompt {one.prompt or 'not on record'} · runs {', '.join(one.runs)}"
    )  # fmt: skip
    yield one.rests_on
    if one.left_out:
        yield "left out: " + " · ".join(f"{n} {reason}" for reason, n in one.left_out.items())
    if not one.decides:
        yield NO_ROLE


def _table(matrix: Matrix, shares: dict[str, Estimate]) -> Grid:
    """Counts: people by rows, the judge by columns; values that neither used are left out of a long form."""
    used = [
        place for place in range(len(matrix.labels))
        if len(matrix.labels) <= 3 or any(matrix.counts[place]) or any(row[place] for row in matrix.counts)
    ]  # fmt: skip
    heads = ("people ↓ judge →", *(matrix.labels[place] for place in used), *(("people's share",) if shares else ()))
    rows = []
    for row in used:
        name = matrix.labels[row]
        share = (in_short(shares[name]) if name in shares else NOTHING,) if shares else ()
        rows.append((name, *(str(matrix.counts[row][column]) for column in used), *share))
    return Grid(heads=heads, rows=tuple(rows))


# ---- figures ----


def _figures(figures: tuple[Figure, ...]) -> Grid:
    rows = []
    for one in figures:
        shared = (NOTHING, NOTHING) if one.people is None else (value_of(one.people), str(one.people.n))
        rows.append(
            (one.name, value_of(one.value, one.limit), between(one.value, one.limit), str(one.value.n), *shared)
        )
    return Grid(heads=("", "judge", "95 %", "n", "people", "n"), rows=tuple(rows))


def _rates(one: FieldView) -> Grid:
    rows = tuple(
        (rate.label, *(_or_dash(value) for value in (rate.precision, rate.recall, rate.f1))) for rate in one.rates
    )
    return Grid(heads=("", "precision", "recall", "F1"), rows=rows)


def _or_dash(value: Estimate) -> str:
    return NOTHING if value.estimate is None else in_short(value)


def _strata(one: FieldView) -> Iterator[Part]:
    shown = one.strata[:MOST_STRATA]
    has_fail = any(row.detection is not None for row in shown)
    heads = ("", "", "agreement", "n", *(("catches FAIL", "n") if has_fail else ()))
    rows = []
    for row in shown:
        found = row.detection
        caught = () if not has_fail else (NOTHING, "0") if found is None else (_or_dash(found), str(found.n))
        rows.append(("○" if row.hollow else "●", f"{row.by}: {row.group}", in_short(row.agreement), str(row.labels),
                     *caught))  # fmt: skip
    yield Part(title="worst first", grid=Grid(heads=heads, rows=tuple(rows)))
    left = len(one.strata) - len(shown)
    if left:
        yield Part(lines=(f"{left} more group{'' if left == 1 else 's'} in the JSON output",))


# ---- confidence ----


def _confidence(view: ConfidenceView) -> Iterator[Part]:
    rows = tuple(
        ("○" if one.share.n < 10 else "●",
         f"{one.low:g}" if one.low == one.high else f"{one.low:g} – {one.high:g}", f"{one.stated:.3f}",
         in_short(one.share), str(one.share.n))
        for one in view.reliability.bins
    )  # fmt: skip
    yield Part(title=view.title, grid=Grid(heads=("", "stated", "mean", "right", "n"), rows=rows))
    yield Part(lines=tuple(_confidence_lines(view)))


def _confidence_lines(view: ConfidenceView) -> Iterator[str]:
    found = view.found
    yield f"Brier {in_short(found.brier)} · {error_words(found.error)}"
    yield line_words(found)
    yield f"AUROC {in_short(found.auroc)} · AURC {in_short(found.aurc)}"
    yield from map(route_words, view.routes)
    yield from map_words(found)
    yield from view.cautions


# ---- fitness ----


def _fitness(one: FieldView) -> Iterator[str]:
    yield from map(_requirement, one.requirements)
    yield from _needed(one)
    yield from one.remarks
    yield f"verdict: {SIGNS[one.verdict]}: {WORDS[one.verdict]}"


def _requirement(item: Requirement) -> str:
    if item.answer == "PASS":
        needed = f", needs {needs(item)}" if needs(item) else ""
        return f"PASS  {item.name}: {in_short(item.value, item.threshold)}{needed}"
    settled = f"; {item.settled}" if item.settled else ""
    return f"{item.answer}  {item.name}: {item.reason}{settled}"


def _needed(one: FieldView) -> tuple[str, ...]:
    return (f"labels still needed: {one.needed}",) if one.needed else ()
