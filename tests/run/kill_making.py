"""What the tests that kill runs share: how many moments, the kill itself, going on, and calls that were in vain."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import Counter
from typing import Any, NamedTuple

from judged_making import Ended, Project, Record, wait_for

from rightcall.testing import FaultyServer

PLACES = 8
"""Questions at a time of each judge."""
KILLS = int(os.environ.get("KILLS", "8"))
"""How many random moments are tried: 8 in an ordinary run, 50 by `make kill`; the other kinds in proportion."""


class Ledger(NamedTuple):
    """What a server saw until a moment."""

    requests: tuple[Any, ...]


def share_of(number: int) -> range:
    """As many moments of `number` as the run tries of 50."""
    return range(max(1, round(number * KILLS / 50)))


def kill_at(
    process: subprocess.Popen[bytes], project: Project, served: FaultyServer, dice: random.Random, seconds: float,
    most: int,
) -> None:  # fmt: skip
    """Kill a run at a random moment: while its store is made, after at most so many questions, or so many seconds."""
    kind = dice.choice(("store", "questions", "questions", "questions", "seconds"))
    if kind == "store" and not (project.folder / project.store).exists():
        wait_for((project.folder / project.store).exists, process)
        time.sleep(dice.uniform(0.0, 0.25))
    elif kind == "seconds":
        end = time.monotonic() + dice.uniform(0.0, 1.05 * seconds)
        wait_for(lambda: time.monotonic() > end, process)
    else:
        number = served.stats()["requests"] + dice.randint(1, most)
        wait_for(lambda: served.stats()["requests"] >= number, process)
        time.sleep(dice.uniform(0.0, 0.1))
    kill(process, served)


def kill(process: subprocess.Popen[bytes], served: FaultyServer) -> None:
    """Kill a run now, and wait until the server has let go of what it had under way."""
    process.kill()
    process.wait()
    wait_for_quiet(served)


def wait_for_quiet(served: FaultyServer) -> None:
    """Wait until the server has let go of whatever a killed run had under way."""
    end = time.monotonic() + 30
    while served.stats()["in_flight"]:
        assert time.monotonic() < end
        time.sleep(0.005)


def go_on(project: Project) -> Ended:
    """Resume the run that was killed, or begin one if none was recorded."""
    run_id = project.run_id()
    return project.finish(*(() if run_id is None else ("--resume", run_id)))


def calls_in_vain(
    record: Record, served: FaultyServer | Ledger, kills: int, *, at_once: int = 1, places: int = PLACES
) -> int:
    """Compare the server's ledger with the record, case by case; return how many calls were made for nothing.

    Args:
        record: what is on record.
        served: the server, or what it saw.
        kills: how often the run was killed.
        at_once: questions about one case that can be under way together.
        places: calls that can be under way together.
    """
    asked = Counter(seen.identity[:9] if seen.identity.startswith("case-") else "probe" for seen in served.requests)
    noted = Counter("probe" if one.purpose == "probe" else one.case_id for one in record.attempts)
    lost = Counter({name: asked[name] - noted[name] for name in asked | noted})
    assert min(lost.values()) >= 0
    assert max(lost.values()) <= kills * at_once
    assert lost.total() <= kills * places
    return lost.total()
