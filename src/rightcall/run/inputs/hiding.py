"""What leaves without what must not: results that are stored, shown or written, and errors, pass through here."""

from __future__ import annotations

import re
from ast import literal_eval
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import UNSET

from rightcall.case.case import Case
from rightcall.errors import ConfigError, Place, RightcallError, TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import Trace, to_builtins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rightcall.grade.verdict import Finding, GoldenResult
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.redact import Redactor

    Step = str | int

_Kind = TypeVar("_Kind", Trace, Case)
_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d+)\]|\[('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]""")
_LABELLED = "value"
"""In `{"name": "Cookie", "value": …}` the name beside it says what the value is."""


def hidden(result: GoldenResult, hide: Redactor, trace: Trace | None = None, case: Case | None = None) -> GoldenResult:
    """The result with ids, messages and values redacted.

    Args:
        result: what was graded.
        hide: what must not leave.
        trace: the trace, whose arguments tell what stands beside a value.
        case: the case, likewise.
    """
    changes: dict[str, object] = {}
    if result.trace_id is not None:
        changes["trace_id"] = hide.text(result.trace_id)
    if result.case_id is not None:
        changes["case_id"] = hide.text(result.case_id)
    if result.findings:
        changes["findings"] = tuple([_finding(finding, result, hide, trace, case) for finding in result.findings])
    if result.vetoes:
        changes["vetoes"] = tuple(
            [msgspec.structs.replace(veto, message=hide.text(veto.message)) for veto in result.vetoes]
        )
    if result.article is not None and result.article.overall_score < 1:
        changes["article"] = msgspec.structs.replace(result.article, feedback=hide.text(result.article.feedback))
    return msgspec.structs.replace(result, **changes)


@contextmanager
def without_secrets(hide: Redactor) -> Iterator[None]:
    """Errors that leave this block say nothing that must not leave."""
    try:
        yield
    except RightcallError as error:
        raise hidden_error(error, hide) from None


def hidden_error(error: RightcallError, hide: Redactor) -> RightcallError:
    """The same error with message, hint and path redacted, each by itself: a path ends where the message begins."""
    place = Place(
        error.place.file, error.place.line, error.place.column, error.place.path and hide.text(error.place.path)
    )
    hint = error.hint and hide.text(error.hint)
    hidden = type(error)(hide.text(error.message), code=error.code, place=place, hint=hint)
    hidden.exit_code = error.exit_code
    return hidden


def _finding(finding: Finding, result: GoldenResult, hide: Redactor, trace: Trace | None, case: Case | None) -> Finding:
    steps = _steps(finding.path or "")
    is_raw = finding.kind == "invalid_argument" and finding.path == "$" and isinstance(finding.actual, str)
    golden, made = None, None
    if _LABELLED in steps:
        golden, made = _golden_arguments(finding, result, case), _made_arguments(finding, trace)
    return msgspec.structs.replace(
        finding,
        message=_message(finding, steps, hide),
        path=finding.path and hide.text(finding.path),
        expected=_side(finding.expected, steps, golden, hide),
        actual=hidden_raw(finding.actual, hide) if is_raw else _side(finding.actual, steps, made, hide),
    )


def _steps(path: str) -> list[Step]:
    """The keys and indices of a JSON path, in which a key that is no plain word is quoted."""
    return [plain or (int(index) if index else literal_eval(quoted)) for plain, index, quoted in _STEP.findall(path)]


def _message(finding: Finding, steps: list[Step], hide: Redactor) -> str:
    """The message, redacted on both sides of its first colon: `reset_password: new is missing` gives nothing away."""
    head, colon, rest = finding.message.partition(": ")
    # A validator quotes what it refuses, as compact JSON.
    if finding.kind == "invalid_argument" and (_under("x", steps, hide) != "x" or f'"{_LABELLED}":' in rest):
        rest = "the value does not satisfy its schema"
    return hide.text(head) + colon + hide.text(rest)


def gives_away(path: str | None, hide: Redactor) -> bool:
    """Whether what stands at a path is a secret by the name of a key on the way there."""
    return bool(_under("x", _steps(path or ""), hide) != "x")


def _golden_arguments(finding: Finding, result: GoldenResult, case: Case | None) -> Mapping[str, JsonValue] | None:
    if case is None or case.expect is None or result.alternative is None or finding.golden_index is None:
        return None
    return case.expect.ways[result.alternative].calls[finding.golden_index].arguments


def _made_arguments(finding: Finding, trace: Trace | None) -> Mapping[str, JsonValue] | None:
    return None if trace is None or finding.call_index is None else trace.calls[finding.call_index].arguments


def hidden_raw(raw: str, hide: Redactor) -> str:
    """Arguments that were recorded as text: redacted as the value that they mean, where they mean one."""
    try:
        value = jsontext.decode(raw)
    except TraceError:
        return hide.text(raw)
    hidden = hidden_raw(value, hide) if isinstance(value, str) else hide.value(value)
    return raw if hidden == value else jsontext.encode(hidden).decode()


def _side(value: JsonValue, steps: list[Step], whole: Mapping[str, JsonValue] | None, hide: Redactor) -> JsonValue:
    """A value redacted as it is where it stands: a key above it or a label beside it can make it a secret."""
    if value is None:
        return None
    if _LABELLED not in steps:
        return _under(value, steps, hide)
    found = None if whole is None else _at(steps, whole, hide.value(whole))
    if found is not None and found[0] == value:
        return found[1]
    return _under(value, [*steps, *hide.key_names[:1]], hide)  # nothing says what it is: take it for a secret


def _under(value: JsonValue, steps: list[Step], hide: Redactor) -> JsonValue:
    """A value redacted as if it stood under its keys, since a key's name can make its value a secret."""
    keys = [step for step in steps if isinstance(step, str)]
    for key in reversed(keys):
        value = {key: value}
    value = hide.value(value)
    for _ in keys:
        value = next(iter(value.values()))
    return value


def _at(steps: list[Step], value: JsonValue, redacted: JsonValue) -> tuple[JsonValue, JsonValue] | None:
    """What stands at a path, as it is and redacted; `None` where there is no such path."""
    for step in steps:
        if isinstance(value, dict) and len(value) == 1 and "equals" in value and step != "equals":
            value, redacted = value["equals"], next(iter(redacted.values()))
        if isinstance(value, dict) and step in value:
            place = list(value).index(step)  # redaction keeps the order of keys, not their names
            value, redacted = value[step], list(redacted.values())[place]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value, redacted = value[step], redacted[step]
        else:
            return None
    return value, redacted


def hidden_trace(trace: Trace, hide: Redactor) -> Trace:
    """The trace without what must not leave.

    Raises:
        ConfigError: see `_again`.
    """
    return _again(hide.value(to_builtins(trace)), Trace, jsontext.encode_in_order)


def hidden_case(case: Case, hide: Redactor) -> Case:
    """The case redacted like a trace, so that it can be compared with one that was stored redacted.

    Raises:
        ConfigError: see `_again`.
    """
    return _again(hide.value(jsontext.decode(jsontext.encode(case))), Case, jsontext.encode_in_order)


def _again(value: JsonValue, kind: type[_Kind], encode: Callable[[JsonValue], bytes]) -> _Kind:
    """A redacted record as what it was.

    Raises:
        ConfigError: a pattern of the user's own hit a word of the format itself, such as `call` or `user`.
    """
    try:
        return msgspec.json.decode(encode(value), type=kind)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"what is redacted can no longer be read: {error}", place=Place(path="redact.patterns"),
            hint="a pattern must not match words of the format, such as call, user or listed",
        ) from None  # fmt: skip


_TAG_START = "⟦".encode()


def is_hidden(trace: Trace) -> bool:
    """Whether a trace was redacted before it was written: some argument holds a tag."""
    return any(raw is not UNSET and _TAG_START in bytes(raw) for raw in (call.arguments_json for call in trace.calls))
