"""What every reader is: a dialect turns one decoded record into traces.

A reader is one module in this folder with one `DIALECT`, registered by one line in `registry.py`. It sees decoded
JSON and a place, never a file; opening, unpacking, splitting and counting are done once for all in `files.py` and
`reading.py`. A bad record is yielded as a `Skip`, never guessed and never raised.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Trace

    Record = tuple[JsonValue, Place]
    """One decoded record and where it stands."""


@dataclass(frozen=True, slots=True)
class Skip:
    """A record, or a part of one, that was not read: why and where. It is counted, and lowers coverage."""

    code: str
    message: str
    place: Place


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way of recording.

    Attributes:
        name: the stem of the module and the value of `--from`.
        title: what a person calls it.
        detect: whether a decoded record (one JSONL line, one element of a list, or a whole document) is of this
            dialect. It must be sure: a wrong yes is worse than a no.
        traces: reads one record.
        grouped: reads all records of a file (or of several files given together) at once, for a dialect whose traces
            are spread over records, such as spans. `traces` then reads the file of a single record.
        whole_list: the dialect's record may itself be a list (a bare list of messages), so that a top-level list
            must be offered whole before it is taken apart.
    """

    name: str
    title: str
    detect: Callable[[JsonValue], bool]
    traces: Callable[[JsonValue, Place], Iterator[Trace | Skip]]
    whole_list: bool = False
    grouped: Callable[[Iterable[Record]], Iterator[tuple[Trace | Skip, Place]]] | None = None


@dataclass(frozen=True, slots=True)
class Container:
    """A file that is neither JSON Lines nor a JSON document, and holds records all the same.

    Attributes:
        name: what it is called.
        opens: whether a file is one, by its first bytes and its name. It must be sure.
        records: its records, decoded, with their places.
    """

    name: str
    opens: Callable[[bytes, str], bool]
    records: Callable[[Path], Iterator[Record]]


@dataclass
class ReadingReport:
    """What became of a file's records: how many were read, how many not, and why.

    `read` counts traces, `skipped` records that gave none, `incomplete` traces that say so. `calls` counts the agent's
    calls by `arguments_status`, `results` those with a result, `errors` those known to have failed, `unanswered` those
    without a result, `parallel_turns` the turns with several calls. `causes` counts every skip and finding by its code,
    `examples` keeps the first places of each.
    """

    dialect: str = "native"
    read: int = 0
    incomplete: int = 0
    skipped: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    results: int = 0
    errors: int = 0
    unanswered: int = 0
    parallel_turns: int = 0

    def skip(self, skip: Skip) -> None:
        """Count one skip and keep the first few places of its cause."""
        self.skipped += 1
        self.note(skip.code, f"{skip.place}: {skip.message}" if str(skip.place) else skip.message)

    def note(self, cause: str, where: str) -> None:
        """Count a cause, keeping its first three places."""
        self.causes[cause] += 1
        places = self.examples.setdefault(cause, [])
        if len(places) < 3:
            places.append(where)

    def trace(self, trace: Trace) -> None:
        """Count one trace that was read, with what was odd about it."""
        self.read += 1
        self.incomplete += trace.completed is False
        for finding in trace.findings:
            self.note(finding.code, f"trace {trace.id}: {finding.message}")
        calls = trace.calls
        self.calls.update([call.arguments_status for call in calls])
        answered = [call.result for call in calls if call.result is not None]
        self.results += len(answered)
        self.unanswered += len(calls) - len(answered)
        self.errors += len([result for result in answered if result.is_error is True])
        turns = [call.turn for call in calls if call.turn is not None]
        if len(set(turns)) < len(turns):
            self.parallel_turns += sum(count > 1 for count in Counter(turns).values())

    def __add__(self, other: ReadingReport) -> ReadingReport:
        """Both reports together."""
        total = ReadingReport(self.dialect)
        for one in (self, other):
            for name in ("read", "incomplete", "skipped", "results", "errors", "unanswered", "parallel_turns"):
                setattr(total, name, getattr(total, name) + getattr(one, name))
            total.causes.update(one.causes)
            total.calls.update(one.calls)
            for cause, places in one.examples.items():
                total.examples[cause] = (total.examples.get(cause, []) + places)[:3]
        return total

    def facts(self) -> dict[str, object]:
        """The report as plain values, for files."""
        return {
            "dialect": self.dialect,
            "read": self.read,
            "skipped": self.skipped,
            "incomplete": self.incomplete,
            "calls": sum(self.calls.values()),
            "calls_by_arguments": dict(sorted(self.calls.items())),
            "results": self.results,
            "errors": self.errors,
            "unanswered": self.unanswered,
            "parallel_turns": self.parallel_turns,
            "causes": dict(sorted(self.causes.items())),
            "examples": self.examples,
        }
