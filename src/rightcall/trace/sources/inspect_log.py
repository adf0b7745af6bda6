"""Inspect logs: a document `{version, status, eval, plan, results, stats, samples}`; one trace a sample.

* `messages` of a sample are its history. `parse_error` of a call says that its arguments were not read: they are
  `malformed`, and the text that the error quotes is kept.
* A tool's message has `error` where the tool failed; without one it did not.
* Events give the tools offered, times, the results of calls that no message answers, and calls of sub-agents.
* A sample's `id` is its case, its `epoch` the trial, its `scores` are labels. A sample that ended with an error or at
  a limit is not complete.
* A log without samples (cancelled, failed, or written without them) is skipped with its reason.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import ConfigError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Agent, Call, Label, Message, Result, Role, Trace
from rightcall.trace.sources.conversation import (
    Arguments,
    Conversation,
    first_request,
    mapping,
    place_id,
    read_arguments,
    text_or_none,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.inspect_events import Attachments, Happened, Output, called_ids, elsewhere, happened
from rightcall.trace.sources.openai_chat import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_SPEAKERS: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_STATUS = {"started", "success", "cancelled", "error"}
_QUOTED = re.compile(r"\AError parsing the following tool call arguments:\n\n(.*)\n\nError details: ", re.DOTALL)


def detect(value: JsonValue) -> bool:
    """Whether a document is a log: a status that Inspect knows, and an `eval` that names its task and model."""
    log = mapping(value)
    status, spec = log.get("status"), log.get("eval")
    return isinstance(status, str) and status in _STATUS and isinstance(spec, dict) and {"task", "model"} <= spec.keys()


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read every sample of a log."""
    log, root = mapping(value), place.path or "$"
    samples = log.get("samples")
    if not isinstance(log.get("eval"), dict):
        yield Skip("TRACE_MALFORMED", "this is no Inspect log: it has no `eval`", place)
    elif samples is not None and not isinstance(samples, list):
        yield Skip("TRACE_MALFORMED", "`samples` is not a list", place)
    elif not samples:
        failure = text_or_none(mapping(log.get("error")).get("message"))
        reason = f"status `{text_or_none(log.get('status'))}`" + (f": {failure}" if failure else "")
        yield Skip("TRACE_INCOMPLETE", f"the log holds no samples ({reason})", place)
    else:
        for index, sample in enumerate(samples):
            where = Place(place.file, place.line, None, f"{root}.samples[{index}]")
            try:
                yield _sample(mapping(sample), log, where)
            except TraceError as error:
                yield Skip(error.code, error.message, where)


def _sample(sample: _Object, log: _Object, place: Place) -> Trace | Skip:
    root = place.path or "$"
    attachments, events = Attachments(sample), happened(sample, root)
    messages = sample.get("messages")
    if not isinstance(messages, list) or not messages:
        messages = list(events.last or ())
    if not messages:
        failure = text_or_none(mapping(sample.get("error")).get("message"))
        reason = f": {failure}" if failure else ""
        return Skip("TRACE_INCOMPLETE", f"the sample recorded no messages{reason}", place)
    talk = Conversation()
    _read_history(talk, attachments.resolve(messages), events, attachments, root)
    if not talk.events:
        return _unreadable(talk, messages, place)
    for reference in sorted(attachments.missing):
        talk.note("TRACE_INCOMPLETE", f"the text of `{reference}` is not in the log", root)
    return _trace(sample, log, talk, _catalog(talk, attachments, events, root), place)


def _trace(sample: _Object, log: _Object, talk: Conversation, tools: Raw | UnsetType, place: Place) -> Trace:
    spec = mapping(log.get("eval"))
    case, epoch = written_id(sample.get("id")), sample.get("epoch")
    trial = epoch if isinstance(epoch, int) and not isinstance(epoch, bool) else None
    run = written_id(spec.get("run_id"))
    name, model = text_or_none(spec.get("solver")), text_or_none(spec.get("model"))
    named = f"{run}-{case}-{trial}" if run and case and trial is not None else place_id(place)
    return Trace(
        id=written_id(sample.get("uuid")) or named,
        case_id=case,
        trial=trial,
        request=first_request(talk.events) or text_or_none(sample.get("input")),
        agent=Agent(name=name, model=model) if name or model else None,
        tools_json=tools,
        events=tuple(talk.events),
        completed=_completed(sample, log),
        findings=tuple(talk.findings),
        labels=tuple(_labels(sample, log)),
        metadata=_metadata(sample, log),
    )


def _unreadable(talk: Conversation, messages: list[JsonValue], place: Place) -> Skip:
    orphans = [finding for finding in talk.findings if finding.code == "TRACE_ORPHAN_RESULT"]
    if not orphans:
        return Skip("TRACE_MALFORMED", "none of its messages could be read", place)
    kinds = Counter(str(mapping(mapping(message).get("error")).get("type", "none")) for message in messages)
    errors = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    what = f"{len(orphans)} results and not one call: what they answer was not recorded (errors: {errors})"
    return Skip("TRACE_ORPHAN_RESULT", what, place)


def _completed(sample: _Object, log: _Object) -> bool | None:
    if sample.get("error") is not None or sample.get("limit") is not None:
        return False
    return True if log.get("status") == "success" or sample.get("scores") else None


def _metadata(sample: _Object, log: _Object) -> dict[str, JsonValue]:
    spec = mapping(log.get("eval"))
    kept = {
        "task": spec.get("task"),
        "run": spec.get("run_id"),
        "status": log.get("status"),
        "error": mapping(sample.get("error")).get("message"),
        "limit": mapping(sample.get("limit")).get("type"),
    }
    return {key: value for key, value in kept.items() if isinstance(value, str)}


# ---- labels --------------------------------------------------------------------------------------------------------


def _labels(sample: _Object, log: _Object) -> Iterator[Label]:
    """Scores as labels, each with the edits that people made to it."""
    scores = mapping(sample.get("scores"))
    if "score" in sample and not scores:
        listed = mapping(log.get("results")).get("scores")
        first = mapping(listed[0]).get("name") if isinstance(listed, list) and listed else None
        scores = {text_or_none(first) or "score": sample["score"]}
    for name, value in scores.items():
        score = mapping(value)
        if not score:
            continue
        yield Label(name=name, value=score.get("value"), comment=text_or_none(score.get("explanation")), by=name)
        history = score.get("history")
        for entry in history if isinstance(history, list) else ():
            edit, who = mapping(entry), mapping(mapping(entry).get("provenance"))
            if who:
                yield Label(
                    name=name,
                    value=edit.get("value"),
                    comment=text_or_none(who.get("reason")),
                    by=text_or_none(who.get("author")),
                    kind="person",
                    at=text_or_none(who.get("timestamp")),
                )


# ---- messages ------------------------------------------------------------------------------------------------------


def _read_history(
    talk: Conversation, messages: list[JsonValue], events: Happened, attachments: Attachments, root: str
) -> None:
    """Add the messages, and after each the calls that only the events know."""
    others = elsewhere(messages, events.outputs)
    for index, value in enumerate(messages):
        if index == 0 or (isinstance(value, dict) and value.get("role") == "assistant"):
            _read_others(talk, others.pop(-1, []) if index else [], events, attachments)
        _read_message(talk, value, f"{root}.messages[{index}]")
        _read_others(talk, others.pop(index, []), events, attachments)
    for rest in others.values():
        _read_others(talk, rest, events, attachments)
    _add_times(talk, events, attachments)


def _read_others(talk: Conversation, outputs: list[Output], events: Happened, attachments: Attachments) -> None:
    """Add answers that no message has, if one of their calls was run; others were thrown away, which is noted."""
    for output in outputs:
        if events.take(called_ids(output.message)):
            message = mapping(attachments.resolve(dict(output.message)))
            _read_said(talk, message, "assistant", output.path, output.agent)
        else:
            talk.note("TRACE_INCOMPLETE", "calls that no message has and no tool ran were left out", output.path)


def _read_message(talk: Conversation, value: JsonValue, path: str) -> None:
    message = mapping(value)
    role = message.get("role")
    if role == "tool":
        name = text_or_none(message.get("function"))
        talk.answer(_result(message), path, id=written_id(message.get("tool_call_id")), name=name)
    elif isinstance(role, str) and role in _SPEAKERS:
        _read_said(talk, message, _SPEAKERS[role], path)
    else:
        talk.note("TRACE_MALFORMED", "this is not a message with a known `role`", path)


def _result(message: _Object, key: str = "content") -> Result:
    """A tool's answer; where it failed and nothing else was said, the error's message is what the model was given."""
    error = message.get("error", message.get("tool_error"))
    content = message.get(key, UNSET)
    said = error.get("message") if isinstance(error, dict) else error
    if error is not None and (content is UNSET or content in ("", None)) and isinstance(said, str):
        content = said
    return Result(
        content_json=UNSET if content is UNSET else Raw(jsontext.encode(content)),
        is_error=error is not None,
        at=text_or_none(message.get("completed")),
    )


def _read_said(talk: Conversation, message: _Object, role: Role, path: str, agent: str | None = None) -> None:
    turn = None
    if role == "assistant":
        talk.turn += 1
        turn = talk.turn
    content, used = _split(message.get("content"))
    text = read_text(talk, content, f"{path}.content")
    talk.events.append(Message(role=role, text=text, turn=turn, agent=agent))
    for index, part in used:
        _read_provided(talk, part, f"{path}.content[{index}]", turn)
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        talk.note("TRACE_MALFORMED", "`tool_calls` is not a list", f"{path}.tool_calls")
        return
    for index, entry in enumerate(calls or ()):
        _read_call(talk, mapping(entry), f"{path}.tool_calls[{index}]", turn, agent)


def _read_call(talk: Conversation, entry: _Object, path: str, turn: int | None, agent: str | None) -> None:
    name = entry.get("function")
    if not isinstance(name, str) or not name:
        talk.note("TRACE_MALFORMED", "this entry is not a call: it names no function", path)
        return
    talk.call(Call(tool=name, id=written_id(entry.get("id")), turn=turn, agent=agent, **_arguments(entry)), path)


def _arguments(entry: _Object) -> Arguments:
    """Arguments are an object; a parse error says that they could not be read, and mostly quotes them."""
    error = text_or_none(entry.get("parse_error"))
    if error is None:
        return read_arguments(entry.get("arguments", UNSET))
    quoted = _QUOTED.match(error)
    return {"arguments_status": "malformed", "arguments_raw": quoted.group(1) if quoted else error}


def _split(content: JsonValue) -> tuple[JsonValue, list[tuple[int, _Object]]]:
    """The content without the provider's own calls, and these with their index."""
    if not isinstance(content, list):
        return content, []
    used = {index: mapping(part) for index, part in enumerate(content) if mapping(part).get("type") == "tool_use"}
    return [part for index, part in enumerate(content) if index not in used], list(used.items())


def _read_provided(talk: Conversation, part: _Object, path: str, turn: int | None) -> None:
    """Add a call that the provider made and answered itself."""
    name = part.get("name")
    if not isinstance(name, str) or not name:
        talk.note("TRACE_MALFORMED", "this part is not a call: it names no tool", path)
        return
    arguments = read_arguments(part.get("arguments", UNSET))
    id_ = written_id(part.get("id"))
    talk.call(Call(tool=name, id=id_, turn=turn, by="provider", **arguments), path)
    if "result" in part or part.get("error") is not None:
        talk.answer(_result(part, "result"), path, id=id_, name=name)


# ---- what the events add -------------------------------------------------------------------------------------------


def _add_times(talk: Conversation, events: Happened, attachments: Attachments) -> None:
    """Give calls when they ran, and those without an answer the result that their tool event holds."""
    runs = {id_: iter(found) for id_, found in events.runs.items()}
    for index, call in enumerate(talk.events):
        if isinstance(call, Message) or call.id is None or call.by != "agent":
            continue
        run = next(runs.get(call.id, iter(())), None)
        if run is None or run.get("function") != call.tool:
            continue
        result = call.result
        if result is not None:
            result = msgspec.structs.replace(result, at=text_or_none(run.get("completed")))
        elif not run.get("pending") and ("result" in run or run.get("error") is not None):
            result = _result(mapping(attachments.resolve(dict(run))), "result")
        started = text_or_none(run.get("timestamp"))
        talk.events[index] = msgspec.structs.replace(call, started_at=started, result=result)


def _catalog(talk: Conversation, attachments: Attachments, events: Happened, root: str) -> Raw | UnsetType:
    """The tools offered to the models of the run; unset where no model's question was recorded."""
    if events.tools is None:
        return UNSET
    path = f"{root}.events[*].tools"
    try:
        offered = attachments.resolve(list(events.tools.values()))
        return Raw(jsontext.encode(parse_tools(offered, Place(path=path))))
    except ConfigError as error:
        talk.note(error.code, error.message, error.place.path or path)
        return UNSET


DIALECT = Dialect("inspect_log", "Inspect logs", detect, traces)
