"""BFCL results: rows `{id, result}`, in every form in which the leaderboard's models answer.

* A function-calling model's result is a list of `{name: arguments}`, the arguments as JSON in a text; a prompting
  model's is a text: `[f(a=1), g()]`, parsed as literals and never run, or calls between `<tool_call>` tags.
* A text that is neither is what the model said instead of calling: an abstention, or a failure.
* Results of several turns are lists of lists: turns, and steps within them. Each step is a turn of its own here.
* A row of data, of possible answers or of scores is no trace and is skipped with the reason. As cases, see
  `rightcall.case.sources.bfcl`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Raw

from rightcall.trace import jsontext
from rightcall.trace.model import Call, Message, Trace
from rightcall.trace.sources import python_calls, tagged_calls
from rightcall.trace.sources.conversation import Conversation, mapping, read_arguments, written_id
from rightcall.trace.sources.dialect import Dialect, Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue

_ID = re.compile(r"[a-z][a-z_]{0,80}_\d{1,6}(?:-\d{1,6}){0,3}")
_LOOKS_LIKE_CALLS = re.compile(r"\[\s{0,20}[A-Za-z_][\w.]{0,100}\(")
_FAILURES = ("Error during inference", "Error occurred")
_OTHER_KEYS = {"jsonrpc", "calls", "events", "messages", "inputs", "outputs", "run_type"}


def detect(value: JsonValue) -> bool:
    """Whether a record is a row of results, or of one of the files beside them."""
    row = mapping(value)
    if _OTHER_KEYS & row.keys():
        return False
    is_result = isinstance(row.get("result"), (list, str)) and _is_id(row.get("id"))
    return is_result or _other(row) is not None


def _is_id(value: JsonValue) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _other(row: Mapping[str, JsonValue]) -> str | None:
    """What a row is that is no result."""
    if {"accuracy", "correct_count", "total_count"} <= row.keys():
        return "the totals of a score file"
    if {"id", "valid", "error_type"} <= row.keys():
        return "a row of scores; give the file of results"
    if not _is_id(row.get("id")) or "result" in row:
        return None
    if isinstance(row.get("question"), list) and (isinstance(row.get("function"), list) or "involved_classes" in row):
        return "a question, not a run; give it with --cases"
    if isinstance(row.get("ground_truth"), list):
        return "a possible answer, not a run; give it with --cases"
    return None


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one row."""
    row = mapping(value)
    other, row_id, result = _other(row), written_id(row.get("id")), row.get("result")
    if other is not None:
        yield Skip("TRACE_INCOMPLETE", f"this is {other}", place)
        return
    if row_id is None or not isinstance(result, (list, str)):
        yield Skip("TRACE_MALFORMED", "a result needs an `id` and a list or a text as `result`", place)
        return
    talk = Conversation()
    _read_result(talk, result, f"{place.path or '$'}.result")
    failed = isinstance(result, str) and result.startswith(_FAILURES)
    yield Trace(
        id=row_id,
        case_id=row_id,
        events=tuple(talk.events),
        completed=False if failed else None,
        findings=tuple(talk.findings),
        metadata={key: row[key] for key in ("latency", "input_token_count", "output_token_count") if key in row},
    )


def _read_result(talk: Conversation, result: JsonValue, path: str) -> None:
    if not isinstance(result, list) or not any(isinstance(turn, list) for turn in result):
        _read_step(talk, result, path)
        return
    for index, turn in enumerate(result):
        steps = turn if isinstance(turn, list) else [turn]
        for number, step in enumerate(steps):
            _read_step(talk, step, f"{path}[{index}][{number}]")


def _read_step(talk: Conversation, step: JsonValue, path: str) -> None:
    """One answer of the model, which may hold several calls."""
    talk.turn += 1
    if isinstance(step, str):
        _read_text(talk, step, path)
        return
    entries = step if isinstance(step, list) else [step]
    for index, entry in enumerate(entries):
        where = f"{path}[{index}]"
        if isinstance(entry, str):
            _read_text(talk, entry, where)
        elif not isinstance(entry, dict) or not entry or "" in entry:
            talk.note("TRACE_MALFORMED", "this entry is not a call: it names no tool", where)
        else:
            for name, arguments in entry.items():
                talk.call(Call(tool=name, turn=talk.turn, **read_arguments(arguments)), where)


def _read_text(talk: Conversation, text: str, path: str) -> None:
    """A prompting model's answer: calls where it is nothing else, what it said otherwise."""
    said, bodies = tagged_calls.split(text, "tool_call")
    if bodies:
        if said:
            talk.events.append(Message(role="assistant", text=said, turn=talk.turn))
        for body, closed in bodies:
            if not closed:
                talk.note("TRACE_TRUNCATED", "the text ends inside a call", path)
            if not tagged_calls.read_calls(talk, body, path, talk.turn):
                talk.events.append(Message(role="assistant", text=body, turn=talk.turn))
        return
    bare = text.strip("`\n ").removeprefix("python\n").strip()
    written = python_calls.calls(bare) if bare.endswith((")", "]")) else None
    if not written:
        talk.events.append(Message(role="assistant", text=text, turn=talk.turn))
    if written is None and _LOOKS_LIKE_CALLS.match(bare):
        talk.note("TRACE_MALFORMED", "begins like a list of calls and is none: kept as text", path)
    for call in written or ():
        talk.call(_call(call, talk.turn), path)


def _call(written: python_calls.WrittenCall, turn: int) -> Call:
    """A call; arguments without a name, or that are no literals, cannot be told as an object."""
    if written.positional or written.faulty:
        return Call(tool=written.tool, arguments_status="malformed", arguments_raw=written.text, turn=turn)
    return Call(tool=written.tool, arguments_json=Raw(jsontext.encode(written.named)), turn=turn)


DIALECT = Dialect("bfcl", "BFCL results", detect, traces)
