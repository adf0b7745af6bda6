"""The part of `preference` in a report: who wins, by which share, whether the judges can be trusted with it.

A judge's confidence is held against truth where code has decided the same pair: what it is worth on pairs that code
cannot decide, only people can tell (`rightcall calibrate`).
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from rightcall.grade.preference import PreferenceResult
from rightcall.report.preference_figures import lines, standing_words
from rightcall.report.view import brief
from rightcall.report.view.model import Reliability, Table
from rightcall.report.view.parts import Parts, bar, cut, estimate_of, figure
from rightcall.stats.calibration import reliability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.run.results.model import Row

FEWEST = 10
"""Answers that a reliability diagram takes."""

_ON_DECIDED = "on pairs that code decided too; what it is worth on the others, calibration by people tells"


class PreferenceCollector:
    """Counts of `preference`; its figures are those of the run."""

    def __init__(self, own: Mapping[str, Any]) -> None:
        """Nothing is counted yet."""
        self._own = own if "comparisons" in own else None
        self._stated: defaultdict[str, tuple[array[float], array[int]]] = defaultdict(lambda: (array("d"), array("b")))
        self._undecided: defaultdict[str, int] = defaultdict(int)

    def add(self, row: Row, result: Any) -> None:  # noqa: ARG002 - the row says nothing more
        """Count one result."""
        if not isinstance(result, PreferenceResult):
            return
        for one in result.reconciled:
            if one.winner is None or one.confidence is None:
                continue
            if result.code_verdict is None:
                self._undecided[one.judge] += 1
                continue
            stated, right = self._stated[one.judge]
            stated.append(one.confidence)
            right.append(one.winner == result.code_verdict)

    def parts(self) -> Parts:
        """The part of the report."""
        found = Parts(reliability=self._reliability())
        figures = self._own
        if figures is None:
            found.lines.append("no figures: the run kept none, and they cannot be made of its results alone")
            return found
        for one in figures["comparisons"]:
            names = f"{one['agent_b']} against {one['agent_a']}"
            found.bars += bar(f"{names}: wins of the decisive pairs", one["comparison"]["win_rate"])
            found.bars += bar(f"{names}: with ties as half a win", one["net_win_rate"])
            found.bars += bar(f"{names}: by judges alone", one["judged"]["win_rate"])
            found.tables += _categories(one)
        for judge, panel in figures["position"].items():
            found.bars += bar(f"judge {judge}: the first place wins", panel.get("first_rate"), note="0.5 is fair")
            found.bars += bar(f"judge {judge}: both orders agree", panel.get("consistency"))
        found.lines += [text.strip() for text, _ in lines(figures)]
        found.tables += _ranking(figures["ranking"])
        found.brief += brief.preference(figures)
        return found

    def _reliability(self) -> list[Reliability]:
        found = []
        for judge in sorted({*self._stated, *self._undecided}):
            stated, right = self._stated.get(judge, (array("d"), array("b")))
            caption = f"Confidence of judge {judge} against what code decided"
            if len(stated) < FEWEST:
                note = f"code has decided only {len(stated)} of the pairs that it answered ({FEWEST} are needed)"
                found.append(Reliability(caption=caption, bins=(), notes=(note,)))
                continue
            bins = reliability(stated, [bool(one) for one in right])
            found.append(Reliability(caption=caption, bins=bins, notes=(_ON_DECIDED,)))
        return found


def _categories(one: Mapping[str, Any]) -> list[Table]:
    rows = tuple(
        (
            group["category"], str(group["n"]), str(group["wins_b"]), str(group["wins_a"]),
            figure(estimate_of(group["win_rate"])),
        )
        for group in one["categories"]
    )  # fmt: skip
    if not rows:
        return []
    columns = ("category", "pairs", f"{one['agent_b']} wins", f"{one['agent_a']} wins", "share, 95 %")
    caption = f"{one['agent_b']} against {one['agent_a']} by category"
    return [cut(Table(caption=caption, columns=columns, rows=rows, numeric=(1, 2, 3, 4)))]


def _ranking(ranking: Mapping[str, Any] | None) -> list[Table]:
    if ranking is None or not ranking["standings"]:
        return []
    columns = ("agent", "ability", "95 %", "rank", "won", "lost", "tied")
    rows = tuple(standing_words(one) for one in ranking["standings"])
    caption = f"Ranking: {ranking['method']}"
    return [Table(caption=caption, columns=columns, rows=rows, numeric=(1, 2, 3, 4, 5, 6))]
