"""Which run is meant: the one that is named, else the newest on record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.errors import NoDataError, Place

if TYPE_CHECKING:
    from rightcall.store.store import Store

PROBE = "probe"
"""A run that judges judges and not the agent: meant only where it is named."""


def chosen_run(store: Store, named: str | None) -> str:
    """The id of the run that is meant.

    Raises:
        StoreError: there is no such run; the nearest id is named. NoDataError: no run is on record at all.
    """
    if named is not None:
        return store.run(named).id
    newest = next((run.id for run, _ in store.runs() if run.grader != PROBE), None)
    if newest is None:
        raise NoDataError("no run is on record", place=Place(store.name), hint="make one: rightcall run")
    return newest
