"""What the wrappers of tools saw: calls in order, with results and errors, as a trace holds them.

A call that begins while no call of the current turn has ended belongs to that turn: neither could see the other's
result. Nor could a task that was waiting to run already when a call ended in another task, as `asyncio.gather` makes
them: tools that never wait end before the next of such tasks begins. Of threads nothing is known but that they overlap.
A call that a tool makes of another wrapped tool is the framework's, not the agent's decision.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rightcall.plugin.values import NotJson, plain
from rightcall.run.judging.clock import now
from rightcall.trace import jsontext
from rightcall.trace.model import Call, Message, Result, TraceFinding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.model import ArgumentsStatus, Event

_inside: ContextVar[bool] = ContextVar("rightcall_inside_a_tool", default=False)


class Recording:
    """One run of an agent, while it goes on. Tools may be called from several threads and tasks."""

    def __init__(self) -> None:
        """Nothing was called yet."""
        self._events: list[Event] = []
        self._findings: list[TraceFinding] = []
        self._lock = Lock()
        self._turn = 0
        self._turn_is_over = True
        self._ended_in: list[asyncio.Task[Any]] = []  # tasks that saw a call of this turn end

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything so far, in the order in which it began."""
        return tuple(self._events)

    @property
    def findings(self) -> tuple[TraceFinding, ...]:
        """What of it could not be captured."""
        return tuple(self._findings)

    @property
    def has_calls(self) -> bool:
        """Whether any tool was called."""
        return any(isinstance(event, Call) for event in self._events)

    def say(self, text: str) -> None:
        """Note something that the agent said."""
        with self._lock:
            self._events.append(Message(role="assistant", text=text, at=now()))
            self._turn_is_over = True

    def _turn_of_next(self) -> int:
        """The turn of a call that begins now."""
        if self._turn_is_over or (self._ended_in and _task() in self._ended_in):
            self._turn += 1
            self._turn_is_over = False
            self._ended_in.clear()
        return self._turn

    def _end_turn(self) -> None:
        """A call of this turn has ended: who sees that, calls in the next one."""
        task = _task()
        if task is None:
            self._turn_is_over = True
            return
        self._ended_in.append(task)
        # Tasks that wait to run come first; whoever is woken by this result comes after.
        task.get_loop().call_soon(self._seen_by_all, self._turn)

    def _seen_by_all(self, turn: int) -> None:
        with self._lock:
            if turn == self._turn:
                self._turn_is_over = True

    def begin(self, tool: str, arguments: Mapping[str, object] | None) -> int:
        """Note that a call begins.

        Args:
            tool: its name.
            arguments: as they are now; `None`: they fit no parameter of the tool, or two have one name.

        Returns:
            The place of the call, for `end`.
        """
        nested = _inside.get()
        json, status, why = _arguments(arguments)
        with self._lock:
            place = len(self._events)
            if why is not None:
                self._note(f"the arguments of {tool} hold {why}", place, "arguments")
            call = Call(
                tool=tool, id=f"c{place + 1}", turn=None if nested else self._turn_of_next(),
                by="framework" if nested else "agent", started_at=now(), arguments_json=json,
                arguments_status=status,
            )  # fmt: skip
            self._events.append(call)
        return place

    def _note(self, what: str, place: int, part: str) -> None:
        path = f"$.events[{place}].{part}"
        self._findings.append(TraceFinding(code="TRACE_NOT_CAPTURED", message=what, path=path))

    def end(self, place: int, value: object) -> None:
        """Note what a call gave."""
        content, why = _content(value)
        with self._lock:
            if why is not None:
                self._note(f"the result of {self._tool(place)} holds {why}", place, "result")
            self._finish(place, Result(content_json=content, is_error=False, at=now()))

    def fail(self, place: int, error: BaseException) -> None:
        """Note that a call raised an error."""
        text = f"{type(error).__name__}: {error}".encode("utf-8", "replace").decode()
        with self._lock:
            self._finish(place, Result(content_json=Raw(jsontext.encode(text)), is_error=True, at=now()))

    def _tool(self, place: int) -> str:
        event = self._events[place]
        assert isinstance(event, Call)  # noqa: S101 - `begin` put it there
        return event.tool

    def _finish(self, place: int, result: Result) -> None:
        event = self._events[place]
        assert isinstance(event, Call)  # noqa: S101 - `begin` put it there
        self._events[place] = msgspec.structs.replace(event, result=result)
        if event.by == "agent":
            self._end_turn()


def _task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop runs in this thread
        return None


def _arguments(arguments: Mapping[str, object] | None) -> tuple[Raw | UnsetType, ArgumentsStatus, str | None]:
    """The arguments as they are recorded; what JSON has no form for is not captured, never changed: why not."""
    if arguments is None:
        return UNSET, "not_captured", "some that no parameter of the tool takes, or two of one name"
    content, why = _content(arguments)
    return content, "ok" if why is None else "not_captured", why


def _content(value: object) -> tuple[Raw | UnsetType, str | None]:
    try:
        return Raw(jsontext.encode_in_order(plain(value))), None
    except NotJson as error:
        return UNSET, str(error)


class Inside:
    """While it lasts, calls of wrapped tools are made by a tool."""

    def __enter__(self) -> None:
        """Step in."""
        self._token = _inside.set(True)

    def __exit__(self, *_: object) -> None:
        """Step out."""
        _inside.reset(self._token)
