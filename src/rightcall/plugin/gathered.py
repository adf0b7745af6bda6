"""The results of a session as one run of graders, whichever processes they come from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import UNSET

from rightcall.case.case import Case
from rightcall.grade.verdict import GoldenResult
from rightcall.plugin.repeated import Repeated, repeats_facts, repeats_of
from rightcall.report.plain import visible
from rightcall.report.summary import counted
from rightcall.run.finished.live import row_of
from rightcall.run.results.model import SUITE, GraderResults, Row, RunResults, Sources
from rightcall.trace.model import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.plugin.handed import HandedResult, HandedTrace
    from rightcall.plugin.heard import Heard

_ORDER = ("golden", "rubric", "interpretation")


@dataclass
class Gathered:
    """What a session came to.

    Attributes:
        run_id, started_at: of the session.
        status: `finished` or `interrupted`.
        lines: grader -> its results as JSON, in order. about: grader -> what each is about.
        facts: grader -> how it graded. versions: case id -> version of the case.
        traces: every trace as JSON, in order.
        missing: tests that were to run and did not run to the end. skipped: tests that were skipped.
        untraced: tests that ended without a trace of their case.
        undecided: (test, why it had no answer).
        repeats: tests that were repeated.
    """

    run_id: str
    started_at: str
    status: Literal["finished", "interrupted"]
    lines: dict[str, list[bytes]] = field(default_factory=dict)
    about: dict[str, list[HandedTrace | None]] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    traces: list[bytes] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    untraced: list[str] = field(default_factory=list)
    undecided: list[tuple[str, str]] = field(default_factory=list)
    repeats: list[Repeated] = field(default_factory=list)
    unread: int = 0

    @classmethod
    def of(cls, tests: Sequence[Heard], run_id: str, started_at: str, *, is_interrupted: bool) -> Gathered:
        """Put together what was heard, in the order of the tests."""
        found = cls(run_id, started_at, "interrupted" if is_interrupted else "finished")
        for one in tests:
            found._take(one)
        found.repeats = repeats_of(tests)
        return found

    def _take(self, one: Heard) -> None:
        handed = one.handed
        if one.is_skipped and not (handed and handed.results):
            self.skipped.append(one.planned.node)
            self.unread += one.planned.has_case
            return
        if handed is None:
            self.missing.append(one.planned.node)
            self._lost(one)
            return
        if handed.undecided is not None:
            self.undecided.append((one.planned.node, handed.undecided))
        for trace in handed.traces:
            self.traces.append(bytes(trace.trace))
        for result in handed.results:
            self._add(result, handed.traces[result.trace] if result.trace is not None else None)
        if not handed.results:
            self.untraced += [one.planned.node] if one.planned.has_case and not handed.traces else []
            self._lost(one)

    def _lost(self, one: Heard) -> None:
        """A case that was to be tried and has no trace: it has no verdict, and lowers the coverage."""
        if one.planned.case_id is None:
            self.unread += one.planned.has_case
            return
        trial = one.planned.trial if one.planned.repeats > 1 else None
        lost = GoldenResult(
            trace_id=None, case_id=one.planned.case_id, trial=trial, status="UNEVALUABLE", reason="no_trace"
        )
        self.lines.setdefault("golden", []).append(msgspec.json.encode(lost))
        self.about.setdefault("golden", []).append(None)

    def _add(self, result: HandedResult, about: HandedTrace | None) -> None:
        self.lines.setdefault(result.grader, []).append(bytes(result.line))
        self.about.setdefault(result.grader, []).append(about)
        self.facts[result.grader] = _merged(self.facts.get(result.grader), result.facts)
        if about is not None and about.case is not UNSET and about.case_version is not None:
            self.versions[msgspec.json.decode(about.case, type=Case).id] = about.case_version

    # ---- as a run ----------------------------------------------------------------------------------------------------

    @property
    def graders(self) -> list[str]:
        """Who graded, in the order of a suite."""
        known = [name for name in _ORDER if name in self.lines]
        return known + sorted(set(self.lines) - set(known))

    def summary(self, grader: str) -> dict[str, Any]:
        """The counts of one grader."""
        rows = list(self._rows(grader))
        evaluated = [row for row in rows if row.status == "EVALUATED"]
        skipped = self.unread if grader == "golden" else 0
        whole = len(rows) + skipped
        return {
            "n": len(rows), "evaluated": len(evaluated), "unevaluable": len(rows) - len(evaluated),
            "passed": sum(row.verdict == "PASS" for row in evaluated),
            "failed": sum(row.verdict == "FAIL" for row in evaluated),
            "skipped": skipped, "coverage": len(evaluated) / whole if whole else None,
        }  # fmt: skip

    def _rows(self, grader: str) -> Iterator[Row]:
        seen: dict[str, int] = {}
        for line in self.lines.get(grader, ()):
            row = row_of(grader, line, seen)
            yield msgspec.structs.replace(row, case_version=self.versions.get(row.case_id or ""))

    def results(self) -> RunResults:
        """What gates and reports read."""
        about = {
            (grader, row.unit): self.about[grader][index]
            for grader in self.graders
            for index, row in enumerate(self._rows(grader))
        }

        def sources(row: Row) -> Sources:
            found = about.get((row.grader, row.unit))
            if found is None:
                return Sources()
            case = None if found.case is UNSET else msgspec.json.decode(found.case, type=Case)
            return Sources(trace=msgspec.json.decode(found.trace, type=Trace), case=case)

        return RunResults(
            self.run_id, self.run_id, self.status,
            {
                name: GraderResults(
                    name, self.facts.get(name, {}), self.summary(name), lambda name=name: self._rows(name)  # type: ignore[misc]
                )
                for name in self.graders
            },
            started_at=self.started_at, message=self._message(), sources=sources,
        )  # fmt: skip

    def _message(self) -> str | None:
        if not self.missing:
            return None
        return f"{counted(len(self.missing), 'test')} did not run to the end: {visible(', '.join(self.missing[:5]))}"

    def run_facts(self) -> dict[str, Any]:
        """What `results.json` calls `run`."""
        return {
            "id": self.run_id, "grader": SUITE, "rightcall": version("rightcall"), "made_by": "pytest",
            "started_at": self.started_at, "status": self.status, "graders": self.facts,
            "case_versions": dict(sorted(self.versions.items())), "missing": self.missing, "untraced": self.untraced,
            "skipped": self.skipped,
            "undecided": [{"test": test, "why": why} for test, why in self.undecided], **repeats_facts(self.repeats),
        }  # fmt: skip

    def words(self) -> list[str]:
        """The counts in words, and what is missing."""
        parts = [f"{name} {self._counts(name)}" for name in self.graders] or ["no result"]
        return [f"run {self.run_id}: {' · '.join(parts)}", *(f"  {note}" for note in self.notes())]

    def notes(self) -> list[str]:
        """What must be known before any figure: tests that are not in it."""
        lines = []
        for what, tests in (
            ("did not run to the end", self.missing), ("recorded no trace", self.untraced),
            ("was skipped" if len(self.skipped) == 1 else "were skipped", self.skipped),
        ):  # fmt: skip
            if tests:
                more = f" and {len(tests) - 5} more" if len(tests) > 5 else ""
                shown = ", ".join(map(visible, tests[:5]))
                lines.append(f"{counted(len(tests), 'test')} with the marker {what}: {shown}{more}")
        return lines

    def _counts(self, grader: str) -> str:
        counts: Counter[str] = Counter(
            row.verdict or ("no answer" if row.status != "EVALUATED" else "scored") for row in self._rows(grader)
        )
        return ", ".join(f"{n} {word}" for word, n in sorted(counts.items()))


def _merged(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Facts of several results as those of one run: lists are united, and what differs is kept side by side."""
    if old is None:
        return dict(new)
    found = dict(old)
    for key, value in new.items():
        have = found.setdefault(key, value)
        if isinstance(have, list) and isinstance(value, list):
            found[key] = have + [each for each in value if each not in have]
        elif have != value and isinstance(have, (str, float, int, type(None))):
            listed = found.setdefault("differing", {}).setdefault(key, [have])
            found["differing"][key] = listed if value in listed else [*listed, value]
    return found
