"""A trace as the messages of a chat: what a model was shown, and what it answered. Pure.

A chat is a list of system, user, assistant and tool messages. One turn of the agent is one assistant message with its
calls, followed by one tool message for each result. What a chat cannot say is not guessed: the trace is then `Unfit`,
with a reason.

* A text, or the `system` (else the `policy`) of a context, is the system message, unless the trace holds one. The
  `history` of a context comes before the events. Its `state` is not part of a chat.
* Where nobody asked anything before the agent's first turn, the user says the trace's request, else the case's.
* A call without a turn is an assistant message of its own. Texts of one turn are joined by a line break.
* Calls of a simulated user are nothing that the agent saw, and are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import normalize

import msgspec
from msgspec import UNSET, Struct

from rightcall.errors import TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import Call, Event, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Trace

UnfitReason = Literal[
    "foreign_calls", "several_agents", "arguments_unreadable", "turns_interleaved", "message_without_text",
    "history_unreadable", "result_missing", "no_request", "no_turn",
]  # fmt: skip
"""Why a trace is no chat."""


class ChatCall(Struct, frozen=True, kw_only=True):
    """A call in an assistant message. `number` counts the calls of the chat from 1; `arguments` is a JSON object."""

    number: int
    tool: str
    arguments: bytes


class ChatMessage(Struct, frozen=True, kw_only=True):
    """One message.

    Attributes:
        role: who speaks.
        text: what is said; `None`: nothing (an assistant that only calls).
        calls: of an assistant.
        tool, answers: of a tool message: whose result it is, and the number of the call.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str | None = None
    calls: tuple[ChatCall, ...] = ()
    tool: str | None = None
    answers: int | None = None


class Chat(Struct, frozen=True, kw_only=True):
    """All messages. `opening` is how many of them come before the agent's first turn in answer to the user."""

    messages: tuple[ChatMessage, ...]
    opening: int


class Unfit(Struct, frozen=True):
    """Why a trace cannot be written as a chat."""

    reason: UnfitReason


def chat_of(trace: Trace, request: str | None = None, context: str | dict[str, Any] | None = None) -> Chat | Unfit:
    """A trace as a chat.

    Args:
        trace: the trace.
        request: what the case asks, where the trace does not say.
        context: what the case says was known, likewise.
    """
    asked = trace.request if trace.request is not None else request
    around = trace.context if trace.context is not None else context
    history = _history(around)
    if isinstance(history, Unfit):
        return history
    if len({event.agent for event in trace.events if event.agent is not None}) > 1:
        return Unfit("several_agents")
    building = _Building()
    spoken = (*history, *trace.events)
    if not any(isinstance(event, Message) and event.role == "system" for event in spoken):
        building.say("system", _system(around))
    try:
        building.add(history)
        building.close()
        start = len(building.messages)
        if _needs_request(spoken, len(history), asked):
            building.say("user", asked)
        building.add(trace.events)
        building.close()
    except _NoChat as stop:
        return Unfit(stop.reason)
    return _finished(building, start)


def _finished(building: _Building, start: int) -> Chat | Unfit:
    """The chat, if somebody asked and the agent answered, and every result that the agent went on from is there."""
    messages = tuple(building.messages)
    users = [place for place, one in enumerate(messages) if one.role == "user"]
    if not users:
        return Unfit("no_request")
    turns = [place for place, one in enumerate(messages) if one.role == "assistant" and place >= start]
    opening = next((place for place in turns if place > users[0]), None)
    if opening is None:
        return Unfit("no_turn")
    last = turns[-1]
    answered = {one.answers for one in messages if one.answers is not None}
    known = all(call.number in answered for one in messages[:last] for call in one.calls)
    return Chat(messages=messages, opening=opening) if known else Unfit("result_missing")


def same_turn(left: ChatMessage, right: ChatMessage) -> bool:
    """Whether two messages are equal: who speaks, what is said, which calls are made, whose result it is."""
    said = left.role == right.role and left.tool == right.tool and (left.text or "") == (right.text or "")
    return said and same_calls(left, right)


def same_calls(left: ChatMessage, right: ChatMessage) -> bool:
    """Whether two messages make the same calls: the same tools with equal arguments, in the same order."""
    return len(left.calls) == len(right.calls) and all(
        one.tool == other.tool and jsontext.same_json(one.arguments, other.arguments)
        for one, other in zip(left.calls, right.calls, strict=True)
    )


_BLANKS = re.compile(r"\s+")


def task_key(texts: Iterable[str]) -> str | None:
    """A key that two tasks share where the user says the same, but for case, blanks and the form of characters.

    Args:
        texts: what the user says before the agent's first answer.

    Returns:
        A SHA-256 in hexadecimal; `None` where nothing is said.
    """
    said = " ".join(_BLANKS.sub(" ", normalize("NFKC", text)).strip().casefold() for text in texts).strip()
    return sha256(said.encode("utf-8", "surrogatepass")).hexdigest() if said else None


def asked_in(chat: Chat) -> list[str]:
    """What the user says before the agent's first answer."""
    return [one.text for one in chat.messages[: chat.opening] if one.role == "user" and one.text is not None]


# ---- building --------------------------------------------------------------------------------------------------------


class _NoChat(Exception):
    def __init__(self, reason: UnfitReason) -> None:
        super().__init__(reason)
        self.reason: UnfitReason = reason


@dataclass
class _Turn:
    """An assistant message that is still open."""

    number: int | None
    texts: list[str] = field(default_factory=list)
    calls: list[tuple[ChatCall, Call]] = field(default_factory=list)


@dataclass
class _Building:
    messages: list[ChatMessage] = field(default_factory=list)
    calls: int = 0
    turn: _Turn | None = None
    done: set[int] = field(default_factory=set)

    def say(self, role: Literal["system", "user"], text: str | None) -> None:
        if text is not None:
            self.messages.append(ChatMessage(role=role, text=text))

    def add(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Call):
                self._call(event)
            elif event.role == "assistant":
                turn = self._turn_of(event.turn)
                turn.texts += [] if event.text is None else [event.text]
            elif event.text is None:
                raise _NoChat("message_without_text")
            else:
                self.close()
                self.say(event.role, event.text)

    def _call(self, call: Call) -> None:
        if call.by == "user":
            return
        if call.by != "agent":
            raise _NoChat("foreign_calls")
        if call.arguments_json is UNSET or call.arguments_status != "ok":
            raise _NoChat("arguments_unreadable")
        arguments = bytes(call.arguments_json)
        try:
            jsontext.decode(arguments)
        except TraceError:
            raise _NoChat("arguments_unreadable") from None
        self.calls += 1
        turn = self._turn_of(call.turn)
        turn.calls.append((ChatCall(number=self.calls, tool=call.tool, arguments=arguments), call))

    def _turn_of(self, number: int | None) -> _Turn:
        """The open turn if it has this number, else a new one; a number that comes back later fits no chat."""
        if self.turn is not None and number is not None and self.turn.number == number:
            return self.turn
        self.close()
        if number in self.done:
            raise _NoChat("turns_interleaved")
        self.turn = _Turn(number)
        return self.turn

    def close(self) -> None:
        turn, self.turn = self.turn, None
        if turn is None:
            return
        if turn.number is not None:
            self.done.add(turn.number)
        if not turn.texts and not turn.calls:
            return
        text = "\n".join(turn.texts) if turn.texts else None
        calls = tuple(call for call, _ in turn.calls)
        self.messages.append(ChatMessage(role="assistant", text=text, calls=calls))
        for call, made in turn.calls:
            if made.result is not None and made.result.content_json is not UNSET:
                said = _text_of(bytes(made.result.content_json))
                self.messages.append(ChatMessage(role="tool", text=said, tool=call.tool, answers=call.number))


def _text_of(content: bytes) -> str:
    """A result as text: a text as it is, anything else as the JSON that was recorded."""
    value = jsontext.decode(content)
    return value if isinstance(value, str) else content.decode()


def _system(context: str | dict[str, Any] | None) -> str | None:
    if not isinstance(context, dict):
        return context
    said = context.get("system", context.get("policy"))
    return said if isinstance(said, str) else None


def _history(context: str | dict[str, Any] | None) -> tuple[Event, ...] | Unfit:
    """The earlier events that a context holds: native events, or texts with a role."""
    found = context.get("history") if isinstance(context, dict) else None
    if not found:
        return ()
    if not isinstance(found, list):
        return Unfit("history_unreadable")
    try:
        return tuple(_event(item) for item in found)
    except (msgspec.MsgspecError, TypeError, AttributeError):
        return Unfit("history_unreadable")


def _event(item: JsonValue) -> Event:
    written = item if "type" in item else {"type": "message", **item}
    event: Event = msgspec.json.decode(jsontext.encode(written), type=Event)
    return event


def _needs_request(spoken: Sequence[Event], start: int, asked: str | None) -> bool:
    """Whether the request has to be put before the agent's own events: nobody has asked anything until then.

    An agent may greet first: then what the user says after it is the request.
    """
    if asked is None or any(isinstance(event, Message) and event.role == "user" for event in spoken[:start]):
        return False
    for event in spoken[start:]:
        if isinstance(event, Message) and event.role == "user":
            return False
        if isinstance(event, Call) and event.by != "user":
            return True
    return True
