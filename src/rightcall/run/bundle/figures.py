"""The counts of a run, once more from its results: those that every run keeps in the event with which it ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rightcall.run.results.facts import graders_in, summary_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.store.records import RunRecord


@dataclass
class Tally:
    """Results by grader, status, reason and verdict."""

    n: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, grader: str, status: str, reason: str | None, verdict: str | None) -> None:
        """Count one result."""
        self.n += 1
        self.counts[(grader, "n")] += 1
        self.counts[(grader, "evaluated" if status == "EVALUATED" else "unevaluable")] += 1
        if status != "EVALUATED":
            self.reasons.setdefault(grader, Counter())[reason or ""] += 1
        elif verdict in ("PASS", "FAIL"):
            self.counts[(grader, "passed" if verdict == "PASS" else "failed")] += 1


def compare_figures(run: RunRecord, summary: Mapping[str, Any], tally: Tally) -> tuple[list[str], int]:
    """The counts that a run's last event has, against those of its results.

    Returns:
        What differs, in words, and how many counts were compared.
    """
    wrong: list[str] = []
    compared = 0
    for grader in graders_in(run):
        kept = summary_for(run, summary, grader)
        for name, said in _counts(kept).items():
            compared += 1
            found = tally.counts[(grader, name)]
            if said != found:
                wrong.append(f"says {name} {said} for {grader}; the results have {found}")
        reasons = kept.get("unevaluable_by_reason")
        if isinstance(reasons, dict):
            compared += 1
            if reasons != dict(tally.reasons.get(grader, {})):
                wrong.append(f"has other reasons for missing {grader} verdicts than the results")
    return wrong, compared


def _counts(kept: Mapping[str, Any]) -> dict[str, int]:
    """The counts that follow from single results."""
    own = kept.get("own")
    everywhere = {**(own if isinstance(own, dict) else {}), **kept}
    names = ("n", "evaluated", "unevaluable", "passed", "failed")
    return {name: everywhere[name] for name in names if isinstance(everywhere.get(name), int)}
