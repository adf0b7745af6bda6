"""The gates of a run that is about to begin: whether they can be asked at all; and their answer once it has ended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rightcall.errors import ConfigError, Place
from rightcall.gate.rules import rules_of
from rightcall.run.finished.file import read_results
from rightcall.run.gating.baseline import PREVIOUS, baseline_of, is_file
from rightcall.run.gating.gates import gate_run
from rightcall.run.inputs.opening import open_store
from rightcall.run.results.model import RunResults
from rightcall.run.results.store import stored_results

if TYPE_CHECKING:
    from rightcall.gate.decision import GateReport
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store


def check_gates(loaded: Loaded, baseline: str | None) -> None:
    """See before a run that its rules can be read and that what they compare with is there.

    Args:
        loaded: the settings, which hold the rules.
        baseline: a file or a run that the command line names, in place of those of the rules.

    Raises:
        ConfigError: a rule that is none, a baseline that is not there or was not finished.
        NoDataError: a baseline without results.
    """
    rules = rules_of(loaded.settings.gates)
    if baseline is not None:
        _check_baseline(loaded, baseline, Path(), "--baseline")
        return
    for rule in rules:
        if rule.compares and rule.against not in (None, PREVIOUS):
            _check_baseline(loaded, str(rule.against), loaded.folder, f"gates.{rule.name}.against")


def _check_baseline(loaded: Loaded, name: str, folder: Path, where: str) -> None:
    if name == PREVIOUS:
        return
    if is_file(name) or (folder / name).is_file():
        read_results(folder / name)
        return
    with open_store(loaded, create=False) as store:
        status = stored_results(store, name).status
    if status != "finished":
        raise ConfigError(
            f"the baseline {name} is {status}, not finished", place=Place(where),
            hint="name a finished run or a .json file",
        )  # fmt: skip


def gated(loaded: Loaded, store: Store, run_id: str, baseline: str | None) -> tuple[RunResults, GateReport]:
    """The results of a run on record, and what its gates say.

    Args:
        loaded: the settings.
        store: the record, which must stay open as long as the results are used.
        run_id: which run.
        baseline: as for `check_gates`.

    Raises:
        ConfigError: a rule or a baseline that cannot be used.
    """
    old: RunResults | None = None
    if baseline is not None:
        found = baseline_of(baseline, stored_results(store, run_id), store, Path())
        if isinstance(found, str):
            raise ConfigError(found, place=Place("--baseline"), hint="name a finished run or a .json file")
        old = found
    return gate_run(loaded, store, run_id, old)


ALL_GRADERS = "*"
"""Stands for every grader where a rule is about all of them."""

_SAFETY = ("vetoes", "safety", "critical")
"""Metrics of safety alone: a rule on them says nothing about other failures."""

_OF_ALL = ("regressions", "failures_signed_off")


def weighed(report: GateReport) -> set[str]:
    """The graders whose failures some rule on figures is about; `ALL_GRADERS` where one is about all."""
    found = set()
    for one in report.decisions:
        grader, _, metric = one.name.partition(".")
        if metric and metric not in _SAFETY:
            found.add(grader)
        elif one.name in _OF_ALL:
            found.add(ALL_GRADERS)
    return found
