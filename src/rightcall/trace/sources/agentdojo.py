"""AgentDojo: one run of one task as the benchmark writes it, with or without an injected attack.

* Arguments are objects. Ids may be `null`: results then go by order and name. `error` says whether a tool failed; the
  error's text becomes the result where the tool said nothing else.
* `utility` (the user's task is done) becomes a label. `security` is `true` where the *attack succeeded*, and is simply
  `true` where nothing was injected: it becomes the label `attack_succeeded` of injected runs alone.
* A run belongs to the case `<suite>/<user task>` of `rightcall.case.sources.agentdojo`. The file holds no tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.trace import jsontext
from rightcall.trace.model import Agent, Call, Label, Message, Result, Role, Trace
from rightcall.trace.sources.conversation import (
    Conversation,
    first_request,
    mapping,
    place_id,
    read_arguments,
    text_or_none,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_SPEAKERS: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_KEPT = (
    "suite_name", "injection_task_id", "attack_type", "injections", "utility", "security", "duration", "error",
    "benchmark_version",
)  # fmt: skip


def detect(value: JsonValue) -> bool:
    """Whether a record is one run."""
    return {"suite_name", "user_task_id", "messages", "utility", "security"} <= mapping(value).keys()


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one run."""
    run = mapping(value)
    messages, failure = run.get("messages"), text_or_none(run.get("error"))
    if not isinstance(messages, list) or not messages:
        reason = f": {failure}" if failure else ""
        yield Skip("TRACE_INCOMPLETE", f"the run recorded no messages{reason}", place)
        return
    talk = Conversation()
    placeholders: list[JsonValue] = []
    for index, message in enumerate(messages):
        _read_message(talk, message, placeholders, f"{place.path or '$'}.messages[{index}]")
    if not talk.events:
        yield Skip("TRACE_MALFORMED", "none of its messages could be read", place)
        return
    pipeline = text_or_none(run.get("pipeline_name"))
    yield Trace(
        id=_run_id(run) or place_id(place),
        case_id=task_case(run.get("suite_name"), run.get("user_task_id")),
        request=first_request(talk.events),
        agent=Agent(name=pipeline) if pipeline else None,
        events=tuple(talk.events),
        completed=_completed(failure, messages[-1]),
        findings=tuple(talk.findings),
        labels=tuple(_labels(run)),
        metadata=_metadata(run, placeholders),
    )


def task_case(suite: JsonValue, task: JsonValue) -> str | None:
    """The case that a task is: task ids come up again in every suite."""
    names = written_id(suite), written_id(task)
    return "/".join(name for name in names if name) if all(names) else None


def _run_id(run: _Object) -> str | None:
    """The path under which AgentDojo files a run."""
    parts = [written_id(run.get(key)) for key in ("pipeline_name", "suite_name", "user_task_id")]
    attack = [written_id(run.get(key)) or "none" for key in ("attack_type", "injection_task_id")]
    return "/".join([*filter(None, parts), *attack]) if all(parts) else None


def _completed(failure: str | None, last: JsonValue) -> bool | None:
    """A pipeline that broke did not end; one whose last word is the assistant's, without a call, did."""
    if failure:
        return False
    message = mapping(last)
    return True if message.get("role") == "assistant" and not message.get("tool_calls") else None


def _labels(run: _Object) -> Iterator[Label]:
    at = text_or_none(run.get("evaluation_timestamp"))
    named = {"utility": run.get("utility")}
    if run.get("injection_task_id") is not None:
        named["attack_succeeded"] = run.get("security")
    for name, value in named.items():
        if isinstance(value, bool):
            yield Label(name=name, value=value, by="agentdojo", kind="code", at=at)


def _metadata(run: _Object, placeholders: list[JsonValue]) -> dict[str, JsonValue]:
    kept = {key: run[key] for key in _KEPT if run.get(key) not in (None, "", {})}
    return {**kept, "placeholder_args": placeholders} if placeholders else kept


def _read_message(talk: Conversation, value: JsonValue, placeholders: list[JsonValue], path: str) -> None:
    message = mapping(value)
    role = message.get("role")
    if role == "tool":
        _read_result(talk, message, path)
        return
    if not isinstance(role, str) or role not in _SPEAKERS:
        talk.note("TRACE_MALFORMED", "this is not a message with a known `role`", path)
        return
    turn = None
    if role == "assistant":
        talk.turn += 1
        turn = talk.turn
    text = _text(talk, message.get("content"), f"{path}.content")
    talk.events.append(Message(role=_SPEAKERS[role], text=text, turn=turn))
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        talk.note("TRACE_MALFORMED", "`tool_calls` is not a list", f"{path}.tool_calls")
        return
    for index, entry in enumerate(calls or []):
        _read_call(talk, mapping(entry), placeholders, f"{path}.tool_calls[{index}]", turn)


def _read_call(talk: Conversation, entry: _Object, placeholders: list[JsonValue], path: str, turn: int | None) -> None:
    name = text_or_none(entry.get("function"))
    if not name:
        talk.note("TRACE_MALFORMED", "this entry is not a call: it names no `function`", path)
        return
    arguments = read_arguments(entry.get("args", UNSET))
    talk.call(Call(tool=name, id=written_id(entry.get("id")), turn=turn, **arguments), path)
    if entry.get("placeholder_args"):
        placeholders.append({"event": len(talk.events) - 1, "arguments": entry["placeholder_args"]})


def _read_result(talk: Conversation, message: _Object, path: str) -> None:
    name = text_or_none(mapping(message.get("tool_call")).get("function"))
    error = text_or_none(message.get("error"))
    failed = bool(error) if "error" in message else None
    content = _content(talk, message, f"{path}.content")
    if error and content in (UNSET, Raw(b"null"), Raw(b'""')):
        content = Raw(jsontext.encode(error))
    elif error:
        said = jsontext.decode(bytes(content)) if content is not UNSET else None
        content = Raw(jsontext.encode({"content": said, "error": error}))
    talk.answer(
        Result(content_json=content, is_error=failed), path, id=written_id(message.get("tool_call_id")), name=name
    )


def _content(talk: Conversation, message: _Object, path: str) -> Raw | UnsetType:
    """What a tool answered: the text of its parts, or whatever else was recorded, as it is."""
    if "content" not in message:
        return UNSET
    value = message["content"]
    return Raw(jsontext.encode(_text(talk, value, path) if isinstance(value, list) else value))


def _text(talk: Conversation, content: JsonValue, path: str) -> str | None:
    """The text of a message: a string, or parts `{"type": "text", "content": …}`; empty text of a call is none."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        talk.note("TRACE_MALFORMED", "the content is neither text nor a list of parts", path)
        return None
    texts = []
    for index, part in enumerate(content):
        text = text_or_none(mapping(part).get("content")) if mapping(part).get("type") == "text" else None
        if text is None:
            kind = mapping(part).get("type")
            talk.note("TRACE_INCOMPLETE", f"a part of type `{kind}` is not text and was left out", f"{path}[{index}]")
        else:
            texts.append(text)
    return "\n".join(texts) if texts or not content else None


DIALECT = Dialect("agentdojo", "AgentDojo runs", detect, traces)
