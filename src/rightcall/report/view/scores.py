"""The parts of `rubric`, `interpretation` and graders of the user's own in a report: scores with their intervals."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rightcall.grade.interpretation import InterpretationResult
from rightcall.grade.rubric import SEVERITIES, RubricResult
from rightcall.report.figures import DIMENSIONS
from rightcall.report.interpretation_figures import doubles_words, figures_words
from rightcall.report.summary import counted, gravest_first, most_first
from rightcall.report.view import brief
from rightcall.report.view.model import Reliability, Table
from rightcall.report.view.parts import MOST_ROWS, Parts, bar, counts_table, cut, estimate_of, figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.run.results.model import Row

NO_TRUTH = "no reliability diagram: confidence is stated, but neither code nor people have decided what is right here"


class RubricCollector:
    """Counts of `rubric`."""

    def __init__(self, own: Mapping[str, Any]) -> None:
        """Nothing is counted yet."""
        from rightcall.run.graders.rubric import RubricAggregate

        self._own = own if "scores" in own else None
        self._aggregate = RubricAggregate()
        self._against: Counter[tuple[str, str]] = Counter()

    def add(self, row: Row, result: Any) -> None:  # noqa: ARG002 - the row says nothing more
        """Count one result."""
        if not isinstance(result, RubricResult):
            return
        if self._own is None:
            self._aggregate.add(result)
        if result.status == "EVALUATED" and result.golden_verdict is not None:
            self._against[result.golden_verdict, result.misuse_severity or "NONE"] += 1

    def parts(self) -> Parts:
        """The part of the report."""
        figures = self._aggregate.summary() if self._own is None else self._own
        found = Parts()
        levels = []
        for name, shown in DIMENSIONS.items():
            one = figures["scores"].get(name) or {}
            found.bars += bar(shown, one.get("mean"), (1.0, 5.0), note="mean, 1 to 5")
            if one.get("levels"):
                levels.append((shown, *(str(one["levels"].get(str(level), 0)) for level in range(1, 6))))
        if levels:
            columns = ("score", "1", "2", "3", "4", "5")
            found.tables.append(
                Table(caption="Levels given", columns=columns, rows=tuple(levels), numeric=(1, 2, 3, 4, 5))
            )
        found.tables += counts_table("Severity of the worst misuse", "severity", gravest_first(figures["severities"]))
        found.tables += self._beside_golden()
        if n := figures.get("overruled_by_code"):
            found.lines.append(f"the Safety Matrix raised the judge's severity in {n} of these")
        found.brief += brief.rubric(figures)
        return found

    def _beside_golden(self) -> list[Table]:
        if not self._against:
            return []
        shown = tuple(reversed(SEVERITIES))
        rows = tuple(
            (verdict, *(str(self._against[verdict, severity]) for severity in shown)) for verdict in ("PASS", "FAIL")
        )
        caption = "Severity beside what golden says of the same traces"
        return [Table(caption=caption, columns=("golden", *shown), rows=rows, numeric=(1, 2, 3, 4, 5))]


class InterpretationCollector:
    """Counts of `interpretation`; its figures are those of the run."""

    def __init__(self, own: Mapping[str, Any]) -> None:
        """Nothing is counted yet."""
        self._own = own if "fidelity" in own else None
        self._n = self._sure = 0

    def add(self, row: Row, result: Any) -> None:
        """Count one result."""
        if isinstance(result, InterpretationResult) and row.status == "EVALUATED":
            self._n += 1
            self._sure += result.confidence is not None

    def parts(self) -> Parts:
        """The part of the report."""
        found = Parts()
        if self._sure:
            caption = f"Stated confidence: {self._sure} of {counted(self._n, 'reading')}"
            found.reliability.append(Reliability(caption=caption, bins=(), notes=(NO_TRUTH,)))
        figures = self._own
        if figures is None:
            found.lines.append("no figures: the run kept none, and they cannot be made of its results alone")
            return found
        how = {"two_phase": "light scores corrected by the strong judge", "strong_all": "the strong judge's scores"}
        note = how.get(figures.get("estimator", ""), "mean")
        found.bars += bar("fidelity", figures["fidelity"], note=note)
        found.bars += bar("fidelity, light judge alone", figures.get("light"), note="uncorrected")
        for one in figures["by_tool"][:12]:
            found.bars += bar(f"fidelity of {one['tool']}", one["fidelity"], note=note)
        below = figures["below_limit"]
        found.bars += bar(f"readings below {below['limit']:g}", below["share"])
        found.bars += bar("next action", figures.get("action_score"), (1.0, 5.0), note="mean, 1 to 5")
        found.tables += _groups("Fidelity by tool", "tool", figures["by_tool"])
        if len(figures["by_version"]) > 1:
            found.tables += _groups("Fidelity by version of the agent", "version", figures["by_version"])
        found.tables += counts_table("Flags", "kind", most_first(figures["flags"]))
        found.lines += [line.strip() for line in (*figures_words(figures), *doubles_words(figures["two_judges"]))]
        skipped = figures["without_reading"]
        if skipped["n"]:
            reasons = " · ".join(f"{reason} {n}" for reason, n in most_first(skipped["by_reason"]))
            found.lines.append(f"{skipped['n']} calls without a reading were skipped: {reasons}")
        found.brief += brief.interpretation(figures)
        return found


def _groups(caption: str, name: str, groups: list[dict[str, Any]]) -> list[Table]:
    rows = tuple(
        (
            str(one[name]), str(one["n"]), figure(estimate_of(one["fidelity"])), figure(estimate_of(one.get("light"))),
            str(one.get("flags", "–")),
        )
        for one in groups
    )  # fmt: skip
    columns = (name, "n", "fidelity, 95 %", "light judge alone", "flags")
    return [cut(Table(caption=caption, columns=columns, rows=rows, numeric=(1, 2, 3, 4)))] if rows else []


class OwnCollector:
    """A grader of the user's own: shares of values and means, as the run made them."""

    def __init__(self, own: Mapping[str, Any]) -> None:
        """Take the figures; the results say no more."""
        self._own = own

    def add(self, row: Row, result: Any) -> None:
        """Nothing is counted: the run has done it."""

    def parts(self) -> Parts:
        """The part of the report."""
        found = Parts()
        fields = self._own.get("fields") or {}
        for name, one in fields.items():
            mean = estimate_of(one.get("mean"))
            if mean is not None and mean.estimate is not None:
                low, high = _scale(mean.estimate, one["values"])
                found.bars += bar(f"{name}, mean", one["mean"], (low, high))
            values = brief.values_of(one)
            for value, share in values[:MOST_ROWS]:
                found.bars += bar(f"{name} = {value}", share)
            if (left := len(values) - MOST_ROWS) > 0:
                found.lines.append(f"{name}: {left} more values are in the JSON output")
        if fields:
            found.brief += brief.own(self._own)
        else:
            found.lines.append("no figures: the run kept none")
        return found


class ProbeCollector:
    """Attacks on judges: rates by class, as the run made them."""

    def __init__(self, own: Mapping[str, Any]) -> None:
        """Take the figures; the results say no more."""
        self._own = own

    def add(self, row: Row, result: Any) -> None:
        """Nothing is counted: the run has done it."""

    def parts(self) -> Parts:
        """The part of the report."""
        found = Parts()
        classes = self._own.get("classes")
        if not classes:
            found.lines.append("no figures: the run kept none")
            return found
        for one in classes:
            if one["trials"]:  # the table names them all
                found.bars += bar(f"{one['grader']}: {one['name']}", one["rate"], note=one["answer"])
        found.tables.append(_attacks(classes))
        if text := brief.not_counted(classes):
            found.lines.append(text)
        found.lines += brief.PROBE_RULES
        found.brief += brief.probe(self._own)
        return found


def _scale(mean: float, values: Mapping[str, Any]) -> tuple[float, float]:
    """From the lowest to the highest value that was given."""
    numbers = [mean]
    for text in values:
        try:
            numbers.append(float(text))
        except ValueError:
            continue
    low, high = min(numbers), max(numbers)
    return (low, high) if high > low else (low - 1, high + 1)


def _attacks(classes: list[dict[str, Any]]) -> Table:
    rows = tuple(
        (one["grader"], one["name"], f"{one['hits']}/{one['trials']}", figure(estimate_of(one["rate"])), one["answer"])
        for one in classes
    )
    columns = ("grader", "attack", "gave way", "rate, 95 %", "answer")
    return Table(caption="Attacks", columns=columns, rows=rows, numeric=(2, 3))
