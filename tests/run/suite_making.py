"""Runs of several graders for tests: the card desk with all five, kept wherever a test wants."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desk_suite import copy_desk

from rightcall.run.graders.setup import Flags
from rightcall.run.suite.run import SuiteRun, run_suite
from rightcall.run.suite.setup import Suite, set_up_suite
from rightcall.settings.load import Loaded, load_settings
from rightcall.store.store import Store

ALL = ["golden", "selection", "rubric", "interpretation", "preference"]
VERDICTS = {"golden": 10, "selection": 11, "rubric": 10, "interpretation": 9, "preference": 10}
"""How many results each grader has about the card desk."""
KEY = {"RIGHTCALL_REDACTION_KEY": "a fixed key for tests"}


@dataclass
class Desk:
    """The card desk in a folder of its own, and a store."""

    folder: Path
    store: str = ""
    settings: str = "examples/card-desk/rightcall.toml"
    _copied: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        copy_desk(self.folder)
        self.store = self.store or str(self.folder / "desk.db")

    def loaded(self, **more: Any) -> Loaded:
        """Load the settings; `more` are flags, with `__` for the dot."""
        flags = {name.replace("__", "."): value for name, value in more.items()}
        return load_settings(self.folder / self.settings, KEY, {"store": self.store, **flags})

    def suite(self, *graders: str, settings: dict[str, Any] | None = None, **flags: Any) -> Suite:
        """Prepare a run."""
        known = {"judge": "desk", **flags}
        return set_up_suite(self.loaded(**(settings or {})), Flags(**known), graders)

    def run(self, *graders: str, settings: dict[str, Any] | None = None, **flags: Any) -> SuiteRun:
        """Run, and drop the temporary files: what is on record stays."""
        done = run_suite(self.suite(*graders, settings=settings, **flags))
        done.close()
        return done

    def opened(self) -> Store:
        """Open the store."""
        return Store.open(self.store, create=False)

    def counts(self) -> dict[str, int]:
        """How much is on record, of everything that a run that goes on must not write twice."""
        with self.opened() as store:
            counts = store.counts()
        return {name: counts.get(name, 0) for name in ("run", "verdict", "attempt", "review", "trace", "case")}

    def verdicts(self, run_id: str) -> Counter[str]:
        """How many verdicts each grader has in a run."""
        with self.opened() as store:
            return Counter(verdict.grader for verdict in store.verdicts(run_id))

    def results(self, run_id: str) -> dict[tuple[str, str], tuple[str, str | None, int]]:
        """(grader, unit) -> result, verdict and revision."""
        with self.opened() as store:
            return {(one.grader, one.unit): (one.status, one.verdict, one.revision) for one in store.verdicts(run_id)}
