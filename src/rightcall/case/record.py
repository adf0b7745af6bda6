"""Cases written from traces: a trace that a person accepts becomes a golden (SPEC §4, `golden --record`).

What is recorded: the agent's own calls in their order, with the arguments as they were made. A failed call that the
agent repeated with the same arguments is recorded once, where it was repeated last: the retry is not part of the
task. A call that failed for good stays, since the trace as a whole was accepted. Results and texts are not recorded.

Redaction is the caller's: the trace is taken as it is.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Raw

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.matchers import MATCHER_NAMES
from rightcall.errors import CaseError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import Call, Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Trace


def record(trace: Trace, *, case_id: str | None = None) -> Case:
    """The case whose golden is what this trace did.

    Args:
        trace: a trace that a person accepts.
        case_id: the new case's id; the trace's `case_id`, else its `id`, where it is left out.

    Raises:
        CaseError: a call whose arguments were not recorded as an object, so that nobody knows what to expect.
    """
    calls = _without_retries([_golden_call(call, index, trace) for index, call in enumerate(trace.calls)], trace.calls)
    has_tools = trace.tools_json is not UNSET and bytes(trace.tools_json) != b"null"
    return Case(
        id=case_id or trace.case_id or trace.id,
        request=_request(trace),
        context=trace.context,
        tools_json=trace.tools_json if has_tools else UNSET,
        expect=Expect(calls=_labelled(calls), order="listed"),
    )


def _request(trace: Trace) -> str | None:
    """What the user asked for: as recorded, else the user's first words."""
    if trace.request is not None:
        return trace.request
    said = (event.text for event in trace.events if isinstance(event, Message) and event.role == "user")
    return next((text for text in said if text), None)


def _golden_call(call: Call, index: int, trace: Trace) -> GoldenCall:
    place = Place(path=f"calls[{index}]")
    try:
        arguments = call.arguments
    except TraceError as error:
        raise CaseError(f"trace `{trace.id}`: {error.message}", place=place, hint=error.hint) from None
    if arguments is None:
        raise CaseError(
            f"trace `{trace.id}` cannot be recorded: the arguments of `{call.tool}` are {call.arguments_status}",
            place=place,
            hint="record a trace whose arguments are all there, or write this case by hand",
        )
    written = {key: literal(value) for key, value in arguments.items()}
    return GoldenCall(tool=call.tool, arguments_json=Raw(msgspec.json.encode(written)))


def literal(value: JsonValue) -> JsonValue:
    """A recorded value as an expected one: what could be read as a matcher stands under `equals`.

    A matcher's name counts wherever it stands among the keys, so that a tool that sorts keys changes no meaning.
    """
    if isinstance(value, dict):
        if not value.keys().isdisjoint(MATCHER_NAMES):
            return {"equals": value}
        return {key: literal(item) for key, item in value.items()}
    return [literal(item) for item in value] if isinstance(value, list) else value


def _without_retries(goldens: Sequence[GoldenCall], calls: Sequence[Call]) -> list[GoldenCall]:
    """The golden calls but for the failed ones that an identical call follows."""
    kept: list[GoldenCall] = []
    later: set[tuple[str, bytes]] = set()
    for golden, call in zip(reversed(goldens), reversed(calls), strict=True):
        key = (call.tool, jsontext.identity(bytes(call.arguments_json)))  # type: ignore[arg-type]
        if not (call.failed and key in later):
            kept.append(golden)
        later.add(key)
    return kept[::-1]


def _labelled(calls: Sequence[GoldenCall]) -> tuple[GoldenCall, ...]:
    """The calls, with a label wherever a tool's name repeats."""
    count = Counter(call.tool for call in calls)
    seen: Counter[str] = Counter()
    labelled = []
    for call in calls:
        seen[call.tool] += 1
        label = f"{call.tool}#{seen[call.tool]}" if count[call.tool] > 1 else None
        labelled.append(msgspec.structs.replace(call, label=label))
    return tuple(labelled)


# ---- writing -------------------------------------------------------------------------------------------------------


def to_json(case: Case) -> str:
    """A case as one line of JSON, with its newline: a line of a JSONL file, or a `.json` file."""
    return jsontext.encode(case).decode() + "\n"


_TABLES = {("expect",), ("policy",), ("metadata",)}
_LISTS_OF_TABLES = {
    ("expect", "calls"),
    ("expect", "alternatives"),
    ("expect", "alternatives", "calls"),
    *(("policy", rule) for rule in ("requires", "when", "substitution", "max_calls", "confirm")),
}
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(case: Case) -> str:
    """A case as a TOML file. Reading it again gives an equal case.

    Raises:
        CaseError: a `null` somewhere, which TOML cannot write.
    """
    value: dict[str, Any] = jsontext.decode(jsontext.encode(case))
    try:
        return "\n".join(_table((), value, "$")) + "\n"
    except _NullError as error:
        raise CaseError(
            f"case `{case.id}` holds a null, which TOML cannot write",
            place=Place(path=str(error)),
            hint="write it as JSON: name the file .json or .jsonl",
        ) from None


class _NullError(Exception):
    """A null, with its path."""


def _table(path: tuple[str, ...], table: Mapping[str, JsonValue], where: str) -> Iterator[str]:
    """The lines of a table: first what fits behind a key, then the tables inside it."""
    nested = [key for key, item in table.items() if _is_nested((*path, key), item)]
    for key, item in table.items():
        if key not in nested:
            yield f"{_key(key)} = {_inline(item, f'{where}.{key}')}"
    for key in nested:
        inner = (*path, key)
        head = ".".join(inner)
        if inner in _TABLES:
            yield from ("", f"[{head}]", *_table(inner, table[key], f"{where}.{key}"))
        else:
            for index, item in enumerate(table[key]):
                yield from ("", f"[[{head}]]", *_table(inner, item, f"{where}.{key}[{index}]"))


def _is_nested(path: tuple[str, ...], item: JsonValue) -> bool:
    return (path in _TABLES and item is not None) or (path in _LISTS_OF_TABLES and bool(item))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    """A basic string. JSON's escapes are TOML's too, but for one character that TOML wants escaped as well."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _inline(value: JsonValue, path: str) -> str:
    if value is None:
        raise _NullError(path)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        items = ", ".join(f"{_key(key)} = {_inline(item, f'{path}.{key}')}" for key, item in value.items())
        return f"{{ {items} }}" if items else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(item, f"{path}[{index}]") for index, item in enumerate(value)) + "]"
    # Numbers and truth values are written alike in JSON and TOML.
    return msgspec.json.encode(value).decode()
