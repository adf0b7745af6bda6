"""What the commands of people share: who works, at which desk, and what is meant by the filters."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rightcall.cli.people import who_of
from rightcall.cli.stores import record_for, settings_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rightcall.run.people.reviewing import Desk
    from rightcall.store.store import Store
    from rightcall.store.waiting import Only


@contextmanager
def desk(who: str | None, store: str | None, config: Path | None) -> Iterator[Desk]:
    """The desk of the person who works.

    Raises:
        ConfigError: nobody says who it is, or settings that cannot be used. StoreError: there is no store.
    """
    from rightcall.run.people.reviewing import desk_of

    loaded = settings_for(store, config)
    name = who_of(who)
    with record_for(loaded) as record:
        yield desk_of(loaded, record, name)


def only(store: Store, run: str | None, grader: str | None, reason: str | None) -> Only:
    """Which items are meant.

    Raises:
        ConfigError: an unknown reason. StoreError: an unknown run.
    """
    from rightcall.errors import ConfigError, Place
    from rightcall.review.urgency import URGENCY
    from rightcall.store.waiting import Only

    if reason is not None and reason not in URGENCY:
        raise ConfigError(
            f"`{reason}` is no reason for a review", place=Place("--reason"), hint=f"known: {', '.join(URGENCY)}"
        )
    if run is not None:
        store.run(run)
    return Only(run_id=run, grader=grader, reason=reason)
