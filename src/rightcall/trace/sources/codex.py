"""Codex's rollout files: JSON Lines `{timestamp, type, payload}`; older ones are flat lists of items.

* A file is one trace. `response_item` holds items of OpenAI's Responses API: calls and outputs belong together by
  `call_id`; what the provider runs itself is `by: provider`.
* `event_msg` tells much of that again, for the screen: a message is only read from it where no item says the same, and
  a call never. What it adds is whether a tool failed (`mcp_tool_call_end`, `exec_command_end`, `patch_apply_end`).
* An output that is JSON with `metadata.exit_code` says by it whether the command failed: `is_error` is then `inferred`.
* `session_meta` names the session and its instructions, `turn_context` the model. `compacted` is a finding.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from rightcall.errors import Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import Agent, Event, Message, Result, Trace
from rightcall.trace.sources.conversation import (
    Conversation,
    first_request,
    mapping,
    place_id,
    text_or_none,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.openai_items import TYPES, Items

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record

    _Object = Mapping[str, JsonValue]

_KINDS = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_SPOKEN = {"user_message": "user", "agent_message": "assistant"}
_SILENT_ITEMS = {"ghost_snapshot"}
_ENDS = {"exec_command_end", "mcp_tool_call_end", "patch_apply_end"}
_SILENT_EVENTS = {
    "agent_message_delta", "agent_reasoning", "agent_reasoning_delta", "agent_reasoning_raw_content",
    "agent_reasoning_section_break", "context_compacted", "entered_review_mode", "exec_command_begin",
    "exec_command_output_delta", "exited_review_mode", "item_completed", "item_started", "mcp_tool_call_begin",
    "patch_apply_begin", "plan_update", "session_configured", "task_complete", "task_started", "thread_name_updated",
    "token_count", "turn_complete", "turn_diff", "turn_started", "undo_completed", "undo_started", "web_search_begin",
    "web_search_end", *_ENDS,
}  # fmt: skip
_WRAPPED = (
    "<environment_context>",
    "<user_instructions>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<permissions",
    "# AGENTS.md",
)
"""How texts begin that the program writes in the user's name."""
_HEAD = {"id", "timestamp", "instructions"}
_FLAT = {"message", "function_call", "function_call_output", "reasoning", "local_shell_call", "local_shell_call_output"}


# ---- recognition ---------------------------------------------------------------------------------------------------


def detect(value: JsonValue) -> bool:
    """Whether a record is a line of a rollout, or the first line of an older one."""
    line = mapping(value)
    kind = line.get("type")
    if isinstance(kind, str) and kind in _KINDS:
        return isinstance(line.get("payload"), dict)
    return _is_head(line)


def _is_head(line: _Object) -> bool:
    """Whether this is the first line of an older file."""
    return line.keys() >= _HEAD and line.keys() <= {*_HEAD, "git"} and isinstance(line["timestamp"], str)


# ---- files ---------------------------------------------------------------------------------------------------------


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read a single line as if it were the file."""
    for item, _ in grouped([(value, place)]):
        yield item


def grouped(records: Iterable[Record]) -> Iterator[tuple[Trace | Skip, Place]]:
    """Read all lines of every file: one trace a file."""
    rollout: _Rollout | None = None
    for value, place in records:
        if rollout is None or rollout.place.file != place.file:
            if rollout is not None:
                yield rollout.end(), rollout.place
            rollout = _Rollout(place)
        rollout.read(value, place)
    if rollout is not None:
        yield rollout.end(), rollout.place


class _Rollout:
    """One file while its lines are read."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.talk = Conversation()
        self._items = Items(self.talk)
        self._meta: _Object | None = None
        self._model: str | None = None
        self._prompt: str | None = None
        self._kinds: Counter[str] = Counter()
        self._unknown: dict[str, list[str]] = {}
        self._times: list[str | None] = []
        self._told: dict[tuple[str, str | None], list[int]] = {}
        self._said: Counter[tuple[str, str | None]] = Counter()
        self._failed: dict[str, bool] = {}

    def read(self, value: JsonValue, place: Place) -> None:
        """Add one line."""
        line = mapping(value)
        kind, path = text_or_none(line.get("type")), _path(place)
        payload = mapping(line.get("payload"))
        if "payload" in line and kind is not None:
            self._kinds[kind] += 1
            self._line(kind, payload, path)
        elif kind is not None and (kind in TYPES or kind in _FLAT):
            self._kinds["response_item"] += 1
            self._item(line, path)
        elif _is_head(line):
            self._begin(line, path)
        elif "record_type" not in line:
            self.talk.note("TRACE_MALFORMED", "this is not a line of a rollout", path)
        at = text_or_none(line.get("timestamp"))
        self._times += [at] * (len(self.talk.events) - len(self._times))

    def _line(self, kind: str, payload: _Object, path: str) -> None:
        if kind == "session_meta":
            self._begin(payload, path)
        elif kind == "turn_context":
            self._model = self._model or text_or_none(payload.get("model"))
        elif kind == "response_item":
            self._item(payload, f"{path}.payload" if path.startswith("$") else path)
        elif kind == "event_msg":
            self._event(payload, path)
        elif kind == "compacted":
            self.talk.note("TRACE_INCOMPLETE", "the context was compacted: the model went on from a summary", path)
        else:
            self._unknown.setdefault(f"a line of unknown type `{kind}`", []).append(path)

    def _begin(self, meta: _Object, path: str) -> None:
        if self._meta is None:
            self._meta = meta
        elif meta.get("id") != self._meta.get("id"):
            text = f"the history of session `{meta.get('id')}` is copied into this file"
            self.talk.note("TRACE_INCOMPLETE", text, path)

    def _item(self, item: _Object, path: str) -> None:
        kind = item.get("type")
        if isinstance(kind, str) and kind in _SILENT_ITEMS:
            return
        before = len(self.talk.events)
        self._items.item(item, path)
        if kind == "message":
            for event in self.talk.events[before:]:
                if isinstance(event, Message):
                    self._said[event.role, event.text] += 1

    def _event(self, event: _Object, path: str) -> None:
        """What the screen showed: kept where no item says it."""
        kind = text_or_none(event.get("type"))
        if kind in _SPOKEN:
            text = text_or_none(event.get("message"))
            role = "user" if kind == "user_message" else "assistant"
            if role == "user" and self._prompt is None and text is not None and not text.startswith(_WRAPPED):
                self._prompt = text
            self._told.setdefault((role, text), []).append(len(self.talk.events))
            self.talk.events.append(Message(role="user" if role == "user" else "assistant", text=text))
        elif kind in _ENDS:
            self._end_of_call(event)
        elif kind in ("error", "stream_error"):
            reason = text_or_none(event.get("message"))
            self.talk.note("TRACE_HTTP_ERROR", "a request failed" + (f": {reason}" if reason else ""), path)
        elif kind == "turn_aborted":
            reason = text_or_none(event.get("reason"))
            self.talk.note("TRACE_INCOMPLETE", "a turn was aborted" + (f": {reason}" if reason else ""), path)
        elif kind not in _SILENT_EVENTS:
            self._unknown.setdefault(f"an event of unknown type `{kind}`", []).append(path)

    def _end_of_call(self, event: _Object) -> None:
        id_, code, done = written_id(event.get("call_id")), event.get("exit_code"), event.get("success")
        result = mapping(event.get("result"))
        if id_ is None:
            return
        if isinstance(code, int):
            self._failed[id_] = code != 0
        elif isinstance(done, bool):
            self._failed[id_] = not done
        elif "Err" in result:
            self._failed[id_] = True
        elif isinstance(mapping(result.get("Ok")).get("is_error"), bool):
            self._failed[id_] = bool(result["Ok"]["is_error"])

    def end(self) -> Trace | Skip:
        """The trace of all lines."""
        talk, meta = self.talk, self._meta or {}
        for what, paths in self._unknown.items():
            count = f", {len(paths)} times" if len(paths) > 1 else ""
            talk.note("TRACE_INCOMPLETE", f"{what} was left out{count}", paths[0])
        events = self._events()
        if not events:
            return Skip("TRACE_INCOMPLETE", self._why_nothing(), self.place)
        version = text_or_none(meta.get("cli_version"))
        system = _instructions(meta)
        return Trace(
            id=written_id(meta.get("id")) or place_id(self.place),
            request=self._prompt or _request(events),
            context={"system": system} if system else None,
            agent=Agent(name="codex", version=version, model=self._model),
            events=events,
            completed=False if any(finding.code == "TRACE_TRUNCATED" for finding in talk.findings) else None,
            findings=tuple(talk.findings),
            metadata=_metadata(meta),
        )

    def _why_nothing(self) -> str:
        if any(finding.code == "TRACE_ORPHAN_RESULT" for finding in self.talk.findings):
            return "no message or call: only results are here, and their calls are not"
        held = ", ".join(f"`{kind}`" for kind in sorted(self._kinds))
        return f"no message or call: only {held}" if held else "no message or call"

    def _events(self) -> tuple[Event, ...]:
        """The events with their times, and without messages that an item says too."""
        twice: set[int] = set()
        for key, places in self._told.items():
            twice.update(places[: self._said[key]])
        self._times += [None] * (len(self.talk.events) - len(self._times))
        return tuple(
            self._finished(event, at)
            for index, (event, at) in enumerate(zip(self.talk.events, self._times, strict=True))
            if index not in twice
        )

    def _finished(self, event: Event, at: str | None) -> Event:
        if isinstance(event, Message):
            return msgspec.structs.replace(event, at=at)
        result = event.result
        if result is not None and result.is_error is None:
            said = self._failed.get(event.id) if event.id is not None else None
            if said is not None:
                result = msgspec.structs.replace(result, is_error=said)
            elif event.by == "agent":
                result = _with_exit_code(result)
        return msgspec.structs.replace(event, started_at=at, result=result)


def _with_exit_code(result: Result) -> Result:
    """A result whose output says with an exit code whether the command failed."""
    content = result.content
    if isinstance(content, str) and content.lstrip().startswith("{"):
        try:
            content = jsontext.decode(content)
        except TraceError:
            return result
    output = mapping(content)
    code, done = mapping(output.get("metadata")).get("exit_code"), output.get("success")
    if isinstance(code, int) and not isinstance(code, bool):
        return msgspec.structs.replace(result, is_error=code != 0, inferred=True)
    if isinstance(done, bool) and "content" in output and not isinstance(result.content, str):
        return msgspec.structs.replace(result, is_error=not done)
    return result


def _request(events: Sequence[Event]) -> str | None:
    """The first text of the user that the program did not write."""
    own = [e for e in events if not (isinstance(e, Message) and e.text is not None and e.text.startswith(_WRAPPED))]
    return first_request(own)


def _instructions(meta: _Object) -> str | None:
    for key in ("base_instructions", "instructions"):
        value = meta.get(key)
        text = text_or_none(mapping(value).get("text", value))
        if text:
            return text
    return None


def _metadata(meta: _Object) -> dict[str, JsonValue]:
    spawned = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    kept = {
        "session": meta.get("id"),
        "parent_session": spawned.get("parent_thread_id", meta.get("forked_from_id")),
        "spawn_call": spawned.get("spawn_call_id"),
    }
    return {key: value for key, value in kept.items() if isinstance(value, str)}


def _path(place: Place) -> str:
    return place.path or (f"line {place.line}" if place.line is not None else "$")


DIALECT = Dialect("codex", "Codex rollouts", detect, traces, grouped=grouped)
