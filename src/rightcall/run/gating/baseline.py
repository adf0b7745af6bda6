"""Which run a gate compares with: a file, a run on record, or the one before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rightcall.errors import ConfigError, StoreError
from rightcall.run.finished.file import read_results
from rightcall.run.results.model import SUITE
from rightcall.run.results.store import stored_results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.run.results.model import RunResults
    from rightcall.settings.load import Loaded
    from rightcall.store.records import RunRecord
    from rightcall.store.store import Store

PREVIOUS = "previous"
"""The last finished run of the same suite before this one."""


def is_file(name: str) -> bool:
    """Whether a baseline is named as a file and not as a run."""
    return name.endswith(".json") or Path(name).is_file()


def baseline_of(name: str, results: RunResults, store: Store | None, folder: Path) -> RunResults | str:
    """The baseline that is meant, or why there is none.

    Args:
        name: a file, a run's id, or `previous`.
        results: the run that is compared with it.
        store: the record; `None` where there is none.
        folder: what a relative path belongs to.

    Raises:
        ConfigError: a file or a run that is not there.
        NoDataError: a file without results.
    """
    if name == PREVIOUS:
        return _previous(results, store)
    if is_file(name) or (folder / name).is_file():
        found = read_results(folder / name)
    elif store is None:
        raise ConfigError(f"there is no baseline `{name}`", hint="name a .json file, or a run of the store")
    else:
        found = stored_results(store, name)
    if _is_same(found, results, folder):
        return f"the baseline {name} is this very run: nothing could be worse"
    return found if found.status == "finished" else f"the baseline {name} is {found.status}, not finished"


def _is_same(one: RunResults, other: RunResults, folder: Path) -> bool:
    """Whether a run would be compared with itself: by its id and start, else by its file.

    An id alone is not enough: two stores may each have a first run of the same day.
    """
    if one.id is not None and other.id is not None and one.started_at and other.started_at:
        return (one.id, one.started_at) == (other.id, other.started_at)
    path, own = Path(one.name), folder / other.name
    return path.is_file() and own.is_file() and path.samefile(own)


def _previous(results: RunResults, store: Store | None) -> RunResults | str:
    if store is None or results.id is None:
        return "there is no record in which an earlier run could be found"
    try:
        this = store.run(results.id)
    except StoreError:
        return f"run {results.id} is not in this store"
    earlier = False
    for run, event in store.runs():
        if run.id == this.id:
            earlier = True
        elif earlier and event is not None and event.status == "finished" and same_suite(run, this):
            return stored_results(store, run.id)
    return "there is no earlier finished run of this suite: of the same graders, on the same case files"


def same_suite(one: RunRecord, other: RunRecord) -> bool:
    """Whether two runs are of the same graders, on cases from the same files."""
    if one.grader != other.grader:
        return False
    if one.grader == SUITE:
        parts, others = (run.facts.get("graders", {}) for run in (one, other))
        both = parts.keys() & others.keys()
        return bool(both) and all(_names(parts[name]) == _names(others[name]) for name in both)
    return _names(one.facts) == _names(other.facts)


def _names(facts: Mapping[str, Any]) -> list[str]:
    return sorted(str(file.get("file")) for file in facts.get("cases") or () if isinstance(file, dict))


def folder_of_gates(loaded: Loaded) -> Path:
    """What a relative path of a rule belongs to: the settings' folder."""
    return loaded.folder
