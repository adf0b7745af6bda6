"""Cases from LangSmith's datasets: examples `{id, inputs, outputs, …}` whose outputs hold the expected calls.

* A list under `tool_calls` (or `expected_tool_calls`, `expected_calls`, `expected_tools`) is the golden, in its order.
  An entry that is only a name allows any arguments. An empty list says that no tool may be called.
* Otherwise the calls of the outputs' messages are the golden; messages that the inputs already hold do not count. The
  calls of one message have no order among themselves.
* Messages without a call may be just the final answer, so they are no golden. An example is skipped where nothing says
  which calls are right, where two places disagree, and where a call cannot be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.sources.tau import golden_call
from rightcall.errors import CaseError, Place
from rightcall.trace import jsontext
from rightcall.trace.sources.conversation import first_request, mapping, place_id, written_id
from rightcall.trace.sources.dialect import Skip
from rightcall.trace.sources.langchain_calls import Decision, decisions, entry_of
from rightcall.trace.sources.langchain_messages import Talk, Unpacked, read_said, unpack
from rightcall.trace.sources.langsmith_replies import reply_of, request_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_FIELDS = {
    "attachment_urls", "attachments", "created_at", "dataset_id", "dataset_name", "id", "inputs", "metadata",
    "modified_at", "name", "outputs", "runs", "source_run_id", "split",
}  # fmt: skip
_CALLS = ("tool_calls", "expected_tool_calls", "expected_calls", "expected_tools")


class _Turn(NamedTuple):
    """The expected calls of one message."""

    calls: tuple[GoldenCall, ...]


def detect(value: JsonValue) -> bool:
    """Whether this is an example of a dataset, or a list that begins with one."""
    row = mapping(value[0] if isinstance(value, list) and value else value)
    return (
        isinstance(row.get("inputs"), dict)
        and "outputs" in row
        and (row["outputs"] is None or isinstance(row["outputs"], dict))
        and row.keys() <= _FIELDS
    )


def cases(value: JsonValue, place: Place) -> Iterator[Case | Skip]:
    """The case of one example, or of every example of a list."""
    if not isinstance(value, list):
        yield _case(value, place)
        return
    for index, row in enumerate(value):
        yield _case(row, Place(place.file, place.line, None, f"{place.path or '$'}[{index}]"))


def _case(value: JsonValue, place: Place) -> Case | Skip:
    row = mapping(value)
    if not isinstance(row.get("inputs"), dict):
        return Skip("CASE_INVALID", "an example needs an object of `inputs`", place)
    inputs, outputs, root = row["inputs"], mapping(row.get("outputs")), place.path or "$"
    id_ = written_id(row.get("id")) or place_id(place)
    try:
        turns = _expected(inputs, outputs, f"{root}.outputs")
    except CaseError as error:
        return Skip(error.code, f"example `{id_}`: {error.message}", place)
    talk = Talk()
    asked = request_of(inputs, f"{root}.inputs")
    for found in asked.messages if asked else ():
        if found.kind in ("human", "system"):
            read_said(talk, found)
    talk.offer(inputs.get("tools"), f"{root}.inputs.tools")
    return Case(
        id=id_,
        request=first_request(talk.events) or _lone_text(inputs),
        tools_json=talk.catalog(),
        tags=_splits(row),
        expect=_expect(turns),
        metadata={key: row[key] for key in ("dataset_id", "name", "source_run_id") if isinstance(row.get(key), str)},
    )


def _lone_text(inputs: _Object) -> str | None:
    texts = [text for text in inputs.values() if isinstance(text, str)]
    return texts[0] if len(texts) == 1 == len(inputs) else None


def _splits(row: _Object) -> tuple[str, ...]:
    """The splits of an example, as tags."""
    split = row.get("split") or mapping(row.get("metadata")).get("dataset_split")
    names = split if isinstance(split, list) else [split]
    return tuple(name for name in names if isinstance(name, str) and name)


# ---- the golden ----------------------------------------------------------------------------------------------------


def _expected(inputs: _Object, outputs: _Object, path: str) -> list[_Turn]:
    """The expected calls by turn, where exactly one answer can be read."""
    stated = [key for key in _CALLS if isinstance(outputs.get(key), list) and not _is_message(outputs)]
    found = [_listed(outputs[key], f"{path}.{key}") for key in stated]
    said = _said(inputs, outputs, path)
    if any(turn.calls for turn in said):
        found.append([turn for turn in said if turn.calls])
    if not found:
        raise CaseError("nothing in its outputs says which calls are right")
    if any(_flat(other) != _flat(found[0]) for other in found[1:]):
        raise CaseError("its outputs name the expected calls twice, and differently")
    return found[-1]


def _flat(turns: list[_Turn]) -> list[bytes]:
    return [jsontext.encode(call) for turn in turns for call in turn.calls]


def _is_message(outputs: _Object) -> bool:
    """Whether the outputs are themselves one message, whose own list of calls says nothing where it is empty."""
    return unpack(outputs) is not None


def _listed(calls: list[JsonValue], path: str) -> list[_Turn]:
    turns = []
    for index, value in enumerate(calls):
        if isinstance(value, str) and value:
            turns.append(_Turn((GoldenCall(tool=value),)))
        else:
            turns.append(_Turn((_golden(entry_of(value, f"{path}[{index}]")),)))
    return turns


def _golden(call: Decision) -> GoldenCall:
    if call.name is None:
        raise CaseError(f"an expected call names no tool ({call.path})")
    arguments = call.arguments.get("arguments_json", UNSET)
    if arguments is UNSET:
        status = call.arguments.get("arguments_status", "missing")
        raise CaseError(f"the arguments of the expected call of `{call.name}` are {status.replace('_', ' ')}")
    return golden_call(call.name, jsontext.decode(bytes(arguments)))


def _said(inputs: _Object, outputs: _Object, path: str) -> list[_Turn]:
    """The calls of the outputs' messages, without those that the inputs already hold."""
    messages = outputs.get("messages")
    found: list[Unpacked] = []
    if isinstance(messages, list):
        asked = request_of(inputs, "$")
        answer = request_of({"messages": messages}, path)
        given = len(asked.messages) if asked else 0
        said = answer.messages if answer else []
        repeats = asked is not None and [_core(one) for one in said[:given]] == [_core(one) for one in asked.messages]
        found = [one for one in (said[given:] if repeats else said) if one.kind == "ai"]
    else:
        reply = reply_of(outputs, path)
        found = [reply.message] if reply is not None else []
    return [_Turn(tuple(_golden(call) for call in decisions(one.body, one.path))) for one in found]


def _core(found: Unpacked) -> tuple[str, bytes]:
    return found.kind, jsontext.encode(found.body.get("content"))


def _expect(turns: list[_Turn]) -> Expect:
    """The golden: in order from turn to turn, in any order inside one."""
    calls = tuple(call for turn in turns for call in turn.calls)
    if len(turns) == 1:
        return Expect(calls=calls, order="any")
    if all(len(turn.calls) == 1 for turn in turns):
        return Expect(calls=calls, order="listed")
    labelled: list[GoldenCall] = []
    before: tuple[str, ...] = ()
    for number, turn in enumerate(turns, 1):
        labels = tuple(f"{number}.{index}" for index in range(1, len(turn.calls) + 1))
        for label, call in zip(labels, turn.calls, strict=True):
            labelled.append(GoldenCall(tool=call.tool, arguments_json=call.arguments_json, label=label, after=before))
        before = labels
    return Expect(calls=tuple(labelled), order="partial")
