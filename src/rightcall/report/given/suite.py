"""A run of a whole suite as a program gets it: typed results by grader, the figures of `--json`, what the gates say."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rightcall.gate.decision import GateReport
    from rightcall.report.formats.frames import Library


@dataclass(frozen=True, eq=False, repr=False)
class FinishedSuite:
    """What came of `run(SUITE)`.

    Attributes:
        id: the run on record.
        status: `finished`, `interrupted`, or `stopped` (budget, judge not reachable).
        results: grader -> its results, typed; of a preference in the order in which they were concluded.
        summary: grader -> its counts and figures, as the record keeps them.
        gate: what the gates say; `None` for a run that was interrupted. `gate.answer`, `gate.exit_code`,
            `gate.decisions`.
        store: where the run is kept.
    """

    id: str
    status: str
    results: Mapping[str, tuple[Any, ...]]
    summary: Mapping[str, Mapping[str, Any]]
    gate: GateReport | None
    store: str | None

    def __repr__(self) -> str:
        """Size and answer; the results are too long for a line."""
        sizes = ", ".join(f"{name} {len(found)}" for name, found in self.results.items())
        answer = "not gated" if self.gate is None else self.gate.answer
        return f"FinishedSuite({self.id}, {self.status}, {answer}: {sizes})"

    def to_frame(self, grader: str, kind: Library | None = None) -> Any:
        """The results of one grader as a data frame: see `report.formats.frames`.

        Raises:
            ConfigError: a grader that this run does not have.
            MissingExtraError: no library for data frames is installed, or not the one that was asked for.
        """
        from rightcall.errors import ConfigError
        from rightcall.report.formats.frames import to_frame
        from rightcall.run.results.model import RESULT_TYPES

        if grader not in self.results:
            raise ConfigError(f"`{grader}` is not in run {self.id}", hint=f"there are: {', '.join(self.results)}")
        return to_frame(self.results[grader], kind, of=RESULT_TYPES.get(grader))


def finish_suite(file: str | Path) -> FinishedSuite:
    """Run every grader of a suite, gate it, and read the results.

    Raises:
        RightcallError: settings, files or judges that cannot be used, before anything is asked; a broken record.
    """
    from pathlib import Path

    from rightcall.run.graders.setup import Flags
    from rightcall.run.inputs.opening import open_store
    from rightcall.run.results.store import stored_results
    from rightcall.run.suite.gates import check_gates, gated
    from rightcall.run.suite.run import run_suite
    from rightcall.run.suite.setup import set_up_suite
    from rightcall.settings.load import load_settings

    loaded = load_settings(Path(file), os.environ, {})
    check_gates(loaded, None)
    with set_up_suite(loaded, Flags()) as suite, run_suite(suite) as done, open_store(loaded, create=False) as store:
        gate = None
        if done.status == "interrupted":
            results = stored_results(store, done.run.id)
        else:
            results, gate, lost = gated(loaded, store, done.run.id, None)
            if lost is not None:
                warnings.warn(lost, RuntimeWarning, stacklevel=3)
        return FinishedSuite(
            id=done.run.id, status=done.status, gate=gate, store=results.store_name,
            results={name: tuple(row.typed() for row in one.rows()) for name, one in results.graders.items()},
            summary={name: msgspec.to_builtins(one.summary) for name, one in results.graders.items()},
        )  # fmt: skip
