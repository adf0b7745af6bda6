"""The part of `selection` in a report: pass rate, precision and recall, by tool, failures, confusion."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.grade.selection import SelectionResult
from rightcall.report.summary import counted, most_first
from rightcall.report.view import brief
from rightcall.report.view.model import Matrix, Table
from rightcall.report.view.parts import Parts, bar, counts_table, cut, estimate_of, figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rightcall.run.results.model import Row

MOST_LABELS = 15
"""Tools in a confusion matrix; the others are pooled."""

OTHERS = "(other tools)"


class SelectionCollector:
    """Counts of `selection`; its figures are those of the run, or are made as the run makes them."""

    def __init__(self, own: Mapping[str, Any]) -> None:
        """Nothing is counted yet."""
        from rightcall.run.graders.selection import SelectionAggregate

        self._own = own if "overall" in own else None
        self._aggregate = SelectionAggregate()
        self._judged: Counter[tuple[str, str]] = Counter()
        self._challenged = self._no_catalog = 0

    def add(self, row: Row, result: Any) -> None:  # noqa: ARG002 - the row says nothing more
        """Count one result."""
        if not isinstance(result, SelectionResult):
            return
        if self._own is None:
            self._aggregate.add(result)
        self._challenged += bool(result.label_challenged)
        self._no_catalog += "catalog_missing" in result.notes
        if result.judge_grade in ("PASS", "FAIL") and result.code_grade is not None:
            self._judged[result.code_grade, result.judge_grade] += 1

    def parts(self) -> Parts:
        """The part of the report."""
        figures = self._aggregate.summary() if self._own is None else self._own
        whole, risky = figures["overall"], figures["destructive"]
        found = Parts()
        for name, of in (("pass_rate", "steps"), ("precision", "calls made"), ("recall", "expected calls")):
            found.bars += bar(name.replace("_", " "), whole[name], note=f"of the {of}")
        if risky["steps"]:
            found.bars += bar("pass rate, destructive tools", risky["pass_rate"], note="of the steps")
        for name in ("precision", "recall"):
            found.bars += bar(f"macro {name}", (figures.get("macro") or {}).get(name), note="mean over tools")
        found.tables += counts_table("Failures by category", "category", most_first(figures["failures"]), ("steps",))
        found.tables += [_tools(figures["tools"])] if figures["tools"] else []
        found.matrices += confusion(figures["confusion"])
        found.matrices += self._audit()
        found.lines += self._lines()
        found.brief += brief.selection(figures)
        return found

    def _audit(self) -> list[Matrix]:
        if not self._judged:
            return []
        labels = ("PASS", "FAIL")
        counts = tuple(tuple(self._judged[code, judge] for judge in labels) for code in labels)
        caption = "What the judges say of steps that code has decided: it measures the judges"
        return [Matrix(caption=caption, row_name="code", column_name="judges", labels=labels, counts=counts)]

    def _lines(self) -> list[str]:
        lines = []
        if self._challenged:
            lines.append(f"judges doubt the label of {counted(self._challenged, 'step')}")
        if self._no_catalog:
            lines.append(f"{counted(self._no_catalog, 'step')} without a catalog: nobody can say whether a tool exists")
        return lines


def _tools(tools: Iterable[Mapping[str, Any]]) -> Table:
    rows = []
    for one in tools:
        precision, recall = one["precision"], one["recall"]
        rows.append((
            one["tool"], figure(estimate_of(precision)), str(precision["n"]), figure(estimate_of(recall)),
            str(recall["n"]), figure(estimate_of(one.get("f1"))),
        ))  # fmt: skip
    columns = ("tool", "precision, 95 %", "n selected", "recall, 95 %", "n expected", "F1")
    return cut(Table(caption="By tool", columns=columns, rows=tuple(rows), numeric=(1, 2, 3, 4, 5)))


def confusion(cells: Iterable[Mapping[str, Any]]) -> list[Matrix]:
    """Expected against selected tools, the most frequent ones by name and the others pooled; nothing without a step."""
    whole: Counter[str] = Counter()
    found = [(one["expected"], one["selected"], one["n"]) for one in map(msgspec.to_builtins, cells)]
    for expected, selected, n in found:
        whole[expected] += n
        whole[selected] += n
    order = sorted(whole, key=lambda name: (-whole[name], name))
    left = len(order) - MOST_LABELS
    shown = order if left <= 0 else order[: MOST_LABELS - 1]
    labels = sorted(shown) + ([OTHERS] if left > 0 else [])
    place = {name: at for at, name in enumerate(labels)}
    counts = [[0] * len(labels) for _ in labels]
    for expected, selected, n in found:
        counts[place.get(expected, len(labels) - 1)][place.get(selected, len(labels) - 1)] += n
    if not found:
        return []
    pooled = f"; {len(order) - len(shown)} less frequent ones are pooled as {OTHERS}" if left > 0 else ""
    return [
        Matrix(
            caption=f"Expected against selected tools{pooled}", row_name="expected", column_name="selected",
            labels=tuple(labels), counts=tuple(map(tuple, counts)),
        )
    ]  # fmt: skip
