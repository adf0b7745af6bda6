"""A judged run as a program gets it: typed results, and the figures of `--json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rightcall.report.judged import notes, run_facts, summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.gate.decision import GateReport
    from rightcall.report.formats.frames import Library
    from rightcall.run.judging.run import Judged

R = TypeVar("R")


@dataclass(frozen=True, eq=False, repr=False)
class JudgedRun(Generic[R]):
    """What came of a judged run.

    Attributes:
        results: every result in the order of what was given; what the run stopped before is not among them.
        id: the run on record; `None` where no record is kept.
        stopped: why the run ended before everything was judged (budget, refused credential, judge not reachable);
            `None` if it did not.
        notes: what must be known before any figure: what was not asked, which judge is not to be trusted.
    """

    results: tuple[R, ...]
    id: str | None
    stopped: str | None
    notes: tuple[str, ...]
    _judged: Judged

    def __repr__(self) -> str:
        """Size and place; the results are too long for a line."""
        stopped = "" if self.stopped is None else f", stopped={self.stopped!r}"
        return f"JudgedRun({self._judged.grader}, {len(self.results)} results, id={self.id!r}{stopped})"

    def summary(self) -> dict[str, Any]:
        """The figures: counts, coverage, the grader's own, each judge and its conflicts with code, what was spent.

        The same object as `summary` of `--json`; a proportion is `{estimate, low, high, n, method, …}`.
        """
        return summary(self._judged)

    def to_frame(self, kind: Library | None = None) -> Any:
        """The results as a data frame of pandas, or of polars where there is no pandas: see `report.formats.frames`.

        Raises:
            MissingExtraError: neither is installed, or not the one that was asked for.
        """
        from rightcall.report.formats.frames import to_frame

        return to_frame(self.results, kind, of=self._judged.result_type)

    def gate(self, rules: Mapping[str, Any]) -> GateReport:
        """Hold the figures of this run against rules, as in `[gates]`: `run.gate({"selection.precision": {…}})`.

        What people and calibrations say stands in a store: `rightcall gate` looks there, this does not, so the judges
        count as never calibrated.

        Raises:
            ConfigError: a rule that cannot be used.
        """
        from rightcall.gate.rules import rules_of
        from rightcall.run.finished.live import judged_results
        from rightcall.run.gating.gates import gate

        return gate(judged_results(self._judged, self.results), rules_of(rules))

    def facts(self) -> dict[str, Any]:
        """What was judged by whom under which prompt: the same object as `run` of `--json`."""
        return run_facts(self._judged)


def judged_run(judged: Judged) -> JudgedRun[Any]:
    """Read the results of a finished run, and drop its spool."""
    with judged:
        return JudgedRun(
            results=tuple(judged.decoded()),
            id=None if judged.run is None else judged.run.id,
            stopped=None if judged.stop is None else judged.stop.message,
            notes=tuple(notes(judged)),
            _judged=judged,
        )
