"""Which run a gate compares with: a file, a run on record, the one before, or the newest green one of a branch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rightcall.errors import ConfigError, Place, StoreError
from rightcall.gate.decision import Against
from rightcall.gate.metrics import metric_of
from rightcall.gate.rules import BRANCH, Rule
from rightcall.run.finished.file import read_results
from rightcall.run.gating.branches import SUITS, all_graders_first, branch_of, green_run, is_same, suits
from rightcall.run.results.store import stored_results
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rightcall.run.results.model import RunResults
    from rightcall.store.store import Store

PREVIOUS = "previous"
"""The last finished run of the same suite before this one."""


@dataclass(frozen=True)
class Baseline:
    """What a command line names in place of the baselines of the rules: how, and the run, or why there is none."""

    asked: str
    found: RunResults | str


def is_file(name: str) -> bool:
    """Whether a baseline is named as a file and not as a run."""
    return not is_found(name) and (name.endswith(".json") or Path(name).is_file())


def is_found(name: str) -> bool:
    """Whether a baseline is looked for in the record, so that there may be none yet: `previous`, `branch:NAME`."""
    return name == PREVIOUS or name.startswith(BRANCH)


def baseline_of(
    name: str, results: RunResults, store: Store | None, folder: Path, hide: Callable[[str], str] = str
) -> RunResults | str:
    """The baseline that is meant, or why there is none.

    Args:
        name: a file, a run's id, `previous`, or `branch:NAME`.
        results: the run that is compared with it.
        store: the record; `None` where there is none.
        folder: what a relative path belongs to.
        hide: takes secrets out of a branch's name, as they were taken out of what is on record.

    Raises:
        ConfigError: a file or a run that is not there, or was changed.
        NoDataError: a file without results.
    """
    if name == PREVIOUS:
        return _previous(results, store)
    if (branch := branch_of(name)) is not None:
        return _of_branch(branch, results, store, hide)
    if is_file(name) or (folder / name).is_file():
        found = read_results(folder / name)
    elif store is None:
        raise ConfigError(f"there is no baseline `{name}`", hint=_meant(name) or _FORMS)
    else:
        found = named_run(store, name)
    if _is_same(found, results, folder):
        return f"the baseline {name} is this very run: nothing could be worse"
    return found if found.status == "finished" else f"the baseline {name} is {found.status}, not finished"


def chosen_baseline(
    name: str, results: RunResults, store: Store | None, folder: Path, hide: Callable[[str], str] = str
) -> Baseline:
    """The baseline that a command line names.

    Raises:
        ConfigError, NoDataError: as `baseline_of`; and a run or file that cannot be one. What is looked for in the
            record and not there yet is no error: the gate says why.
    """
    found = baseline_of(name, results, store, folder, hide)
    if isinstance(found, str) and not is_found(name):
        raise ConfigError(found, place=Place("--baseline"), hint="name a finished run or a .json file")
    return Baseline(name, found)


def comparing(rules: Sequence[Rule]) -> list[Rule]:
    """The rules, of which one at least compares: with a baseline at hand, `regressions` is asked."""
    if any(rule.compares for rule in rules):
        return list(rules)
    return [*rules, Rule(name="regressions", metric=metric_of("regressions"))]


def held_to(name: str, rules: Sequence[Rule]) -> Iterator[Rule]:
    """The rules, those that compare with this baseline in place of their own."""
    for rule in rules:
        yield msgspec.structs.replace(rule, against=name) if rule.compares else rule


def against(asked: str, found: RunResults | str) -> Against:
    """A baseline as the gate's answer names it."""
    if isinstance(found, str):
        return Against(asked=asked, why=found)
    return Against(
        asked=asked, name=found.name, run=found.id, started_at=found.started_at or None, branch=found.origin.branch,
        commit=found.origin.commit, digest=found.digest,
    )  # fmt: skip


def named_run(store: Store, name: str) -> RunResults:
    """A run on record that is named as a baseline.

    Raises:
        ConfigError, StoreError: there is none; the nearest run, or form of a name, is named.
    """
    try:
        return stored_results(store, name)
    except StoreError as error:
        if error.exit_code == ConfigError.exit_code and (meant := _meant(name)) is not None:
            raise ConfigError(f"there is no baseline `{name}`", place=error.place, hint=meant) from None
        raise


_FORMS = f"name a .json file, a run of the store, {PREVIOUS}, or {BRANCH}NAME"


def _meant(name: str) -> str | None:
    """A form that a name is close to; `None` where it is close to none."""
    kind, colon, rest = name.partition(":")
    if colon and nearest(kind.lower(), [BRANCH.removesuffix(":")]):
        return f"did you mean `{BRANCH}{rest.strip()}`?"
    return f"did you mean `{PREVIOUS}`?" if nearest(name, [PREVIOUS]) else None


def _is_same(one: RunResults, other: RunResults, folder: Path) -> bool:
    """Whether a run would be compared with itself: by its id and start, else by its file.

    An id alone is not enough: two stores may each have a first run of the same day.
    """
    if one.id is not None and other.id is not None and one.started_at and other.started_at:
        return (one.id, one.started_at) == (other.id, other.started_at)
    path, own = Path(one.name), folder / other.name
    return path.is_file() and own.is_file() and path.samefile(own)


def _of_branch(branch: str, results: RunResults, store: Store | None, hide: Callable[[str], str]) -> RunResults | str:
    if store is None:
        return f"there is no record in which a run of branch `{branch}` could be found"
    found = green_run(store, branch, like=results, hide=hide)
    return found.why if found.run is None else stored_results(store, found.run)


def _previous(results: RunResults, store: Store | None) -> RunResults | str:
    if store is None or results.id is None:
        return "there is no record in which an earlier run could be found"
    runs = store.runs()
    at = next((n for n, (run, _) in enumerate(runs) if is_same(run, results)), None)
    if at is None:
        return f"run {results.id} is not in this store"
    earlier = [run for run, event in runs[at + 1 :] if event is not None and event.status == "finished"]
    found = all_graders_first((run for run in earlier if suits(run, results)), results)
    return stored_results(store, found[0].id) if found else f"there is no earlier finished run of this suite: {SUITS}"
