"""Results without what must not leave: everything that is stored, shown or written passes through here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from rightcall.grade.verdict import Finding, GoldenResult
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.redact import Redactor

_STEP = re.compile(r"\.([^.\[\]]+)|\['((?:[^'\\]|\\.)*)'\]")


def hidden(result: GoldenResult, hide: Redactor) -> GoldenResult:
    """The result with ids, messages and values redacted."""
    changes: dict[str, object] = {}
    if result.trace_id is not None:
        changes["trace_id"] = hide.text(result.trace_id)
    if result.case_id is not None:
        changes["case_id"] = hide.text(result.case_id)
    if result.findings:
        changes["findings"] = tuple([_finding(finding, hide) for finding in result.findings])
    if result.vetoes:
        changes["vetoes"] = tuple(
            [msgspec.structs.replace(veto, message=hide.text(veto.message)) for veto in result.vetoes]
        )
    return msgspec.structs.replace(result, **changes)


def _finding(finding: Finding, hide: Redactor) -> Finding:
    keys = [plain or quoted for plain, quoted in _STEP.findall(finding.path or "")]
    message = finding.message
    if finding.kind == "invalid_argument" and _under("x", keys, hide) != "x":
        message = message.split(":", 1)[0] + ": the value does not satisfy its schema"
    return msgspec.structs.replace(
        finding,
        message=hide.text(message),
        path=finding.path and hide.text(finding.path),
        expected=_under(finding.expected, keys, hide),
        actual=_under(finding.actual, keys, hide),
    )


def _under(value: JsonValue, keys: list[str], hide: Redactor) -> JsonValue:
    """A value redacted as if it stood under its keys, since a key's name can make its value a secret."""
    if value is None:
        return None
    for key in reversed(keys):
        value = {key: value}
    value = hide.value(value)
    for _ in keys:
        value = next(iter(value.values()))
    return value
