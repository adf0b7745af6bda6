"""The fixture `rightcall_agent`: it records what the agent of a test does. rightcall itself never runs an agent."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from msgspec.structs import replace

from rightcall.errors import ConfigError, TraceError
from rightcall.plugin.recording import Recording
from rightcall.plugin.state import Said
from rightcall.plugin.traced import RecordedTrace
from rightcall.plugin.undecided import Undecided
from rightcall.plugin.values import NotJson, plain
from rightcall.plugin.wrapping import names_in, wrapped
from rightcall.trace.model import Message, Trace
from rightcall.trace.sources import reading, registry
from rightcall.trace.sources.dialect import ReadingReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rightcall.case.case import Case
    from rightcall.plugin.state import State

T = TypeVar("T")

__tracebackhide__ = True  # what is wrong is in the test, or in what it calls

NO_ENTRY = """rightcall does not know how to call your agent. Say it once, in conftest.py:

    import pytest

    @pytest.fixture
    def rightcall_entry():
        def entry(request, recorder):
            tools = [recorder.tool(freeze_card), recorder.tool(close_card)]   # your tools
            return my_agent(request, tools=tools)                             # your agent: its final text
        return entry

It may be async, and may return the messages or a rightcall.Trace instead of the text.
Without it, rightcall_agent.record(messages) takes what was recorded elsewhere."""


class Agent:
    """Records what an agent does in a test.

    `run` calls the agent by the fixture `rightcall_entry` of the project; `record` takes what was recorded elsewhere;
    `recorded` takes what the wrapped tools have seen since.
    """

    def __init__(self, state: State, entry: object) -> None:
        """Begin with nothing recorded."""
        self._state = state
        self._entry = entry
        self._recording = Recording()

    @property
    def case(self) -> Case | None:
        """What should happen, if the test says so."""
        return self._state.case

    @property
    def trial(self) -> int:
        """Which repeat of the test this is, from 1."""
        return self._state.planned.trial

    # ---- while the agent runs ----------------------------------------------------------------------------------------

    @overload
    def tool(self, target: str, /) -> Callable[[T], T]: ...
    @overload
    def tool(self, target: T, /, name: str | None = None) -> T: ...
    def tool(self, target: Any, /, name: str | None = None) -> Any:
        """A tool that records its calls: arguments by name, results, and errors, which are raised again.

        Args:
            target: a function or method, plain or async; an object that can be called; a class or any other object is
                a toolbox, whose public methods are tools. A text is the name of the tool for a decorator.
            name: what the tool is called, if its own name does not do.

        Returns:
            What takes the tool's place. A class becomes a subclass; a toolbox, an object that passes everything else
            on.

        Raises:
            ConfigError: nothing in it can be called.
        """
        __tracebackhide__ = True
        if isinstance(target, str):
            return lambda function: self._wrapped(function, target)
        return self._wrapped(target, name)

    def say(self, text: str) -> None:
        """Record something that the agent said between its calls: how it read a result, for `assert_interpretation`."""
        self._recording.say(text)

    # ---- what came of it ---------------------------------------------------------------------------------------------

    def run(self, request: str | None = None) -> RecordedTrace:
        """Call the agent, and record what it does.

        Args:
            request: what it is asked; the request of the test's case if not given.

        Raises:
            Undecided: there is no entry.
            RightcallError: there is nothing to ask, or what the agent returned cannot be read.
            Exception: whatever the agent raises; what it did before is recorded.
        """
        __tracebackhide__ = True
        entry, asked = self._ready(request)
        with self._running(asked):
            said = entry(asked, self)
        if inspect.isawaitable(said):
            _refuse_running_loop(said)
            with self._running(asked):
                said = asyncio.run(_awaited(said))
        return self._finished(asked, said)

    async def run_async(self, request: str | None = None) -> RecordedTrace:
        """The same where an event loop is running: in an async test."""
        __tracebackhide__ = True
        entry, asked = self._ready(request)
        with self._running(asked):
            said = entry(asked, self)
            if inspect.isawaitable(said):
                said = await said
        return self._finished(asked, said)

    def record(
        self, source: object, /, *, dialect: str = "auto", trace_id: str | None = None, completed: bool | None = None
    ) -> RecordedTrace:
        """Take what was recorded elsewhere.

        Args:
            source: a `rightcall.Trace`; a file; or messages, events or spans as values, in any dialect that files can
                have.
            dialect: `auto`, or the name of a reader.
            trace_id: which trace, where there are several. Without it, the one of the test's case.
            completed: whether the run was completed, where the test knows and the recording does not say.

        Raises:
            RightcallError: it cannot be read, or holds no trace or several.
        """
        __tracebackhide__ = True
        trace = source if isinstance(source, Trace) else self._read(source, dialect, trace_id)
        if completed is not None and trace.completed is None:
            trace = replace(trace, completed=completed)
        return self._kept(trace)

    def recorded(self, request: str | None = None, reply: str | None = None) -> RecordedTrace:
        """Take what the wrapped tools have seen, where the test calls its agent itself, and begin anew.

        Args:
            request: what the agent was asked; the request of the test's case if not given.
            reply: what it said last.
        """
        __tracebackhide__ = True
        return self._taken(self._request(request), reply, completed=None)

    # ---- the parts ---------------------------------------------------------------------------------------------------

    def _wrapped(self, target: Any, name: str | None) -> Any:
        __tracebackhide__ = True
        tool = wrapped(target, name, lambda: self._recording)
        self._state.tools |= names_in(target, name)
        return tool

    def _ready(self, request: str | None) -> tuple[Callable[[str, Agent], Any], str]:
        if self._entry is None:
            raise Undecided(NO_ENTRY)
        if not callable(self._entry):
            raise ConfigError(f"the fixture `rightcall_entry` must give a function, not {self._entry!r}")
        asked = self._request(request)
        if asked is None:
            raise ConfigError("there is nothing to ask", hint="give run() a request, or the test a case with one")
        self._recording = Recording()
        return self._entry, asked

    def _request(self, request: str | None) -> str | None:
        if request is not None or self.case is None:
            return request
        return self.case.request

    @contextmanager
    def _running(self, request: str | None) -> Iterator[None]:
        """While the agent runs. What it did before an error is kept: that is a failure of the agent, not a gap."""
        __tracebackhide__ = True
        try:
            yield
        except Exception:
            self._taken(request, None, completed=False)
            raise

    def _finished(self, request: str | None, said: object) -> RecordedTrace:
        if said is None or isinstance(said, str):
            return self._taken(request, said, completed=True)
        if self._recording.has_calls:
            raise ConfigError(
                "the run was recorded twice: by wrapped tools, and by what the agent returned",
                hint="return the final text, or do not wrap the tools",
            )
        return self.record(said, completed=True)

    def _taken(self, request: str | None, reply: str | None, *, completed: bool | None) -> RecordedTrace:
        recording, self._recording = self._recording, Recording()
        events = list(recording.events)
        if request is not None:
            events.insert(0, Message(role="user", text=request))
        if reply is not None:
            events.append(Message(role="assistant", text=reply))
        findings = tuple(replace(one, path=_moved(one.path, request is not None)) for one in recording.findings)
        trace = Trace(
            id=self._state.new_trace_id(), request=request, events=tuple(events), completed=completed,
            findings=findings,
        )  # fmt: skip
        return self._kept(trace)

    def _kept(self, trace: Trace) -> RecordedTrace:
        """The trace as one of this test: of its case, its trial and its session."""
        state = self._state
        case = state.case
        if case is not None and trace.case_id not in (None, case.id):
            raise ConfigError(f"the trace belongs to the case `{trace.case_id}`, and the test to `{case.id}`")
        about = {"test": state.planned.node} | ({"run": state.suite.run_id} if state.suite.run_id else {})
        trace = replace(
            trace, case_id=trace.case_id if case is None else case.id,
            trial=state.planned.trial if state.planned.repeats > 1 else trace.trial,
            metadata={**trace.metadata, "pytest": about},
        )  # fmt: skip
        said = Said(trace, case)
        state.said.append(said)
        return RecordedTrace(state, said)

    def _read(self, source: object, dialect: str, trace_id: str | None) -> Trace:
        is_file = isinstance(source, (str, os.PathLike))
        opened = _opened_file(source, dialect) if is_file else _opened_values(source, dialect)
        report = ReadingReport()
        found = list(reading.read(opened, report))
        if report.skipped:
            places = "; ".join(f"{cause} at {where[0]}" for cause, where in list(report.examples.items())[:3])
            raise TraceError(f"{report.skipped} of {report.skipped + len(found)} records could not be read: {places}")
        one = self._chosen(found, trace_id)
        return one if is_file else replace(one, id=self._state.new_trace_id())

    def _chosen(self, found: Sequence[Trace], trace_id: str | None) -> Trace:
        if trace_id is not None:
            found = [trace for trace in found if trace.id == trace_id]
        elif len(found) > 1 and self.case is not None:
            found = [trace for trace in found if trace.case_id == self.case.id]
        if len(found) != 1:
            wanted = f" `{trace_id}`" if trace_id is not None else ""
            raise TraceError(f"there are {len(found)} traces{wanted}", hint="name one with trace_id")
        return found[0]


def _moved(path: str | None, has_request: bool) -> str | None:  # noqa: FBT001 - a plain value
    """The path of an event after the request was put before it."""
    if path is None or not has_request:
        return path
    head, number, rest = path.replace("]", "[", 1).split("[", 2)
    return f"{head}[{int(number) + 1}]{rest}"


def _opened_file(source: Any, dialect: str) -> reading.Opened:
    return reading.open_traces(Path(source), dialect)


def _opened_values(source: object, dialect: str) -> reading.Opened:
    """Values as the reader of their dialect takes them.

    Raises:
        RightcallError: they are not JSON, or of no known dialect.
    """
    if not isinstance(source, (Mapping, Sequence)):
        dumped = [source]
    elif isinstance(source, Mapping):
        dumped = source  # type: ignore[assignment]
    else:
        dumped = list(source)
    try:
        value = plain(dumped)
    except NotJson as error:
        raise TraceError(f"what was recorded holds {error}, which is not JSON") from None
    wanted = None if dialect == "auto" else registry.by_name(dialect)
    return reading.opened_value(value, "what was recorded", wanted)


def _refuse_running_loop(work: Awaitable[Any]) -> None:
    """Refuse to wait for an agent that is async where an event loop is running.

    Raises:
        ConfigError: one is.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    if inspect.iscoroutine(work):
        work.close()
    raise ConfigError("an event loop is running here already", hint="write `await rightcall_agent.run_async(…)`")


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work
