"""The gates of a run that is about to begin: whether they can be asked at all; and their answer once it has ended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rightcall.errors import ConfigError, Place
from rightcall.gate.rules import rules_of
from rightcall.run.finished.file import read_results
from rightcall.run.gating.baseline import chosen_baseline, is_file, is_found, named_run
from rightcall.run.gating.branches import branch_of
from rightcall.run.gating.gates import gate_results
from rightcall.run.gating.keeping import keep_answer
from rightcall.run.inputs.opening import open_store, redactor_of
from rightcall.run.results.store import stored_results

if TYPE_CHECKING:
    from rightcall.gate.decision import GateReport
    from rightcall.run.results.model import RunResults
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
        if rule.compares and rule.against is not None:
            _check_baseline(loaded, str(rule.against), loaded.folder, f"gates.{rule.name}.against")


def _check_baseline(loaded: Loaded, name: str, folder: Path, where: str) -> None:
    if is_found(name):
        _check_branch(name, where)
        return
    if is_file(name) or (folder / name).is_file():
        read_results(folder / name)
        return
    with open_store(loaded, create=False) as store:
        status = named_run(store, name).status
    if status != "finished":
        raise ConfigError(
            f"the baseline {name} is {status}, not finished", place=Place(where),
            hint="name a finished run or a .json file",
        )  # fmt: skip


def _check_branch(name: str, where: str) -> None:
    try:
        branch_of(name)
    except ConfigError as error:
        raise ConfigError(error.message, place=Place(where), hint=error.hint) from None


class Gated(NamedTuple):
    """A run on record, what its gates say, and why that is not on record, where it is not."""

    results: RunResults
    report: GateReport
    lost: str | None


def gated(loaded: Loaded, store: Store, run_id: str, baseline: str | None) -> Gated:
    """The results of a run on record, and what its gates say, which goes on record too.

    Args:
        loaded: the settings.
        store: the record, which must stay open as long as the results are used.
        run_id: which run.
        baseline: as for `check_gates`.

    Raises:
        ConfigError: a rule or a baseline that cannot be used.
    """
    results, old = stored_results(store, run_id), None
    if baseline is not None:
        old = chosen_baseline(baseline, results, store, Path(), redactor_of(loaded).text)
    report = gate_results(results, loaded, store, old)
    return Gated(results, report, keep_answer(store, loaded, run_id, report, "run"))
