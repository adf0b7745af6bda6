"""Why a point was lost: one finding for each, with its place, what was expected and what was there (SPEC §5.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.case.matchers import ABSENT
from rightcall.grade import arguments
from rightcall.grade.order import monotone_core
from rightcall.grade.verdict import Finding, FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rightcall.case.golden import Golden
    from rightcall.case.policy import Severity
    from rightcall.grade.actual import Actual
    from rightcall.grade.alignment import Alignment
    from rightcall.grade.arguments import Difference
    from rightcall.grade.order import Order, Violation
    from rightcall.grade.safety import Matrix
    from rightcall.trace.jsontext import JsonValue


def explain(
    golden: Golden, actual: Actual, aligned: Alignment, order: Order, matrix: Matrix, scores: Mapping[int, object]
) -> list[Finding]:
    """Every finding of a comparison, golden calls first, then surplus calls, order and schema."""
    found: list[Finding] = []
    if golden.required and not len(actual):
        called_for = ", ".join(call.tool for call in golden.calls if not call.optional)
        found.append(
            _finding("abstention_error", "HIGH", f"no tool was called; expected: {called_for}", expected=called_for)
        )
    found += _missing(golden, actual, aligned)
    for g, a in sorted(aligned.pairs.items()):
        if scores.get(g) != 1:
            found += _argument_findings(golden, actual, aligned.pairs, g, a, matrix)
    found += _surplus(golden, actual, aligned, matrix)
    found += _order_findings(golden, aligned.pairs, order, found)
    found += _invalid(actual, {finding.call_index for finding in found if finding.kind == "invalid_argument"})
    return found


def _finding(
    kind: FindingKind, severity: Severity, message: str, *, call: int | None = None, golden: int | None = None,
    path: str | None = None, expected: JsonValue = None, actual: JsonValue = None,
) -> Finding:  # fmt: skip
    return Finding(
        kind=kind, severity=severity, message=message, call_index=call, golden_index=golden, path=path,
        expected=expected, actual=actual,
    )  # fmt: skip


def _missing(golden: Golden, actual: Actual, aligned: Alignment) -> Iterable[Finding]:
    for g in aligned.missing:
        tool = golden.calls[g].tool
        if g in aligned.substituted:
            a = aligned.substituted[g]
            message = f"expected {tool}, called {actual.names[a]}"
            yield _finding("substituted_call", "HIGH", message, call=a, golden=g, expected=tool, actual=actual.names[a])
        else:
            yield _finding("missing_call", "HIGH", f"{tool} was not called", golden=g, expected=tool)


def _surplus(golden: Golden, actual: Actual, aligned: Alignment, matrix: Matrix) -> Iterable[Finding]:
    stood_in, repeats = set(aligned.substituted.values()), set(aligned.repeats)
    for a in sorted((*aligned.surplus, *aligned.repeats)):
        name = actual.names[a]
        severity: Severity = {"destructive": "CRITICAL", "write": "HIGH"}.get(  # type: ignore[assignment]
            matrix.class_of(name, actual.catalog), "MEDIUM"
        )
        if severity == "CRITICAL" and matrix.is_guessed(name):
            severity = "HIGH"
        if a in repeats:
            yield _finding(
                "redundant_call", severity, f"{name} was called again with the same arguments", call=a, actual=name
            )
        elif actual.is_known(a) is False:
            yield _finding("unknown_tool", "HIGH", f"{name} is not in the catalog", call=a, actual=name)
        elif a not in stood_in and golden.calls:
            yield _finding("unexpected_call", severity, f"{name} was not expected", call=a, actual=name)
        if not golden.calls:
            worst: Severity = "CRITICAL" if severity == "CRITICAL" else "HIGH"
            yield _finding("over_action", worst, f"no tool was to be called; called: {name}", call=a, actual=name)
    yield from _unknown_pairs(actual, aligned)


def _unknown_pairs(actual: Actual, aligned: Alignment) -> Iterable[Finding]:
    """A paired call of a tool outside the catalog is right by the golden and still unknown."""
    if actual.catalog is None:
        return
    for a in sorted((*aligned.pairs.values(), *aligned.retries)):
        if actual.is_known(a) is False:
            name = actual.names[a]
            yield _finding("unknown_tool", "HIGH", f"{name} is not in the catalog", call=a, actual=name)


def _argument_findings(
    golden: Golden, actual: Actual, pairs: Mapping[int, int], g: int, a: int, matrix: Matrix
) -> Iterable[Finding]:
    from rightcall.grade.order import resolver

    call, expected = actual.calls[a], golden.calls[g]
    name = actual.names[a]
    severity: Severity = "HIGH" if matrix.class_of(name, actual.catalog) == "destructive" else "MEDIUM"
    if call.arguments_status != "ok":
        yield _unreadable(actual, a, g, severity, dict(expected.value))
        return
    for difference in arguments.differences(expected, actual, a, resolver(golden, actual, pairs)):
        yield _difference(difference, name, severity, g, a)


_UNREADABLE = {"malformed": "are not valid JSON", "not_object": "are not an object", "missing": "are missing"}


def _unreadable(
    actual: Actual, a: int, g: int | None, severity: Severity = "MEDIUM", expected: JsonValue = None
) -> Finding:
    """A call whose arguments could not be read."""
    call = actual.calls[a]
    message = f"the arguments of {actual.names[a]} {_UNREADABLE.get(call.arguments_status, 'were not captured')}"
    return _finding(
        "invalid_argument", severity, message, call=a, golden=g, path="$", expected=expected, actual=call.arguments_raw
    )


def _difference(difference: Difference, name: str, severity: Severity, g: int, a: int) -> Finding:
    path, expected, found, flow = difference
    shown = path.removeprefix("$.")
    if flow:
        message = f"{name}: {shown} does not come from the result that it should come from"
        return _finding(
            "data_flow_violation", "HIGH", message, call=a, golden=g, path=path, expected=expected, actual=found
        )
    if found is ABSENT:
        message = f"{name}: {shown} is missing"
        return _finding("missing_argument", severity, message, call=a, golden=g, path=path, expected=expected)
    if expected is ABSENT:
        message = f"{name}: {shown} was not expected"
        return _finding("unexpected_argument", severity, message, call=a, golden=g, path=path, actual=found)
    message = f"{name}: {shown} is wrong"
    return _finding("wrong_argument", severity, message, call=a, golden=g, path=path, expected=expected, actual=found)


def _order_findings(golden: Golden, pairs: Mapping[int, int], order: Order, so_far: list[Finding]) -> Iterable[Finding]:
    """Violated edges and flows one by one; a violated listed order once for each call that is out of its place."""
    listed = [violation for violation in order.violations if golden.order == "listed" and violation.flow is None]
    known_flows = {id(finding.expected) for finding in so_far if finding.kind == "data_flow_violation"}
    for violation in order.violations:
        if violation.flow is None and golden.order != "listed":
            yield _edge_finding(golden, pairs, violation, "order_violation", "MEDIUM")
        elif violation.flow is not None and id(violation.flow.source) not in known_flows:
            yield _edge_finding(golden, pairs, violation, "data_flow_violation", "HIGH")
    of_call: dict[int, list[Violation]] = {}
    for violation in listed:
        of_call.setdefault(violation.earlier, []).append(violation)
        of_call.setdefault(violation.later, []).append(violation)
    for g in _out_of_place(listed, of_call, monotone_core(pairs)):
        own, tool = of_call[g], golden.calls[g].tool
        before = sorted(v.earlier for v in own if v.later == g)
        after = sorted(v.later for v in own if v.earlier == g)
        rule = " and ".join(
            f"{word} {_tools(golden, others)}" for word, others in (("after", before), ("before", after)) if others
        )
        message = f"{tool} is out of order: it belongs {rule} ({len(own)} of the listed order)"
        yield _finding("order_violation", "MEDIUM", message, call=pairs[g], golden=g, expected=rule)


def _tools(golden: Golden, indices: list[int]) -> str:
    """Names of some golden calls, the first few of them."""
    shown = ", ".join(golden.calls[index].tool for index in indices[:6])
    return shown if len(indices) <= 6 else f"{shown} and {len(indices) - 6} more"


def _out_of_place(violations: list[Violation], of_call: Mapping[int, list[Violation]], core: set[int]) -> list[int]:
    """Golden calls that explain every violation: those outside the longest run in order, as far as needed."""
    left = {(v.earlier, v.later) for v in violations}
    found: list[int] = []
    for g in sorted(of_call.keys() - core):
        own = {(v.earlier, v.later) for v in of_call[g]} & left
        if own:
            found.append(g)
            left -= own
    return found + sorted({later for _, later in left})


def _edge_finding(
    golden: Golden, pairs: Mapping[int, int], violation: Violation, kind: FindingKind, severity: Severity
) -> Finding:
    earlier, later = golden.calls[violation.earlier].tool, golden.calls[violation.later].tool
    message = f"{later} needs {earlier} first, but {earlier} {violation.why}"
    return _finding(kind, severity, message, call=pairs[violation.later], golden=violation.later, expected=earlier)


def _invalid(actual: Actual, explained: set[int | None]) -> Iterable[Finding]:
    """Calls whose arguments break their tool's schema, with the validator's first reason."""
    if actual.catalog is None:
        return
    for a in actual.invalid:
        value, name = actual.value(a), actual.names[a]
        validator = actual.catalog.validator(actual.tool_name(a)) if actual.is_known(a) else None
        if value is None and actual.is_known(a) and a not in explained:
            yield _unreadable(actual, a, None)
        if value is None or validator is None:
            continue
        fault = next(iter(validator.iter_errors(value)))
        path = "$"
        for step in fault.instance_path:
            path = f"{path}[{step}]" if isinstance(step, int) else arguments.step_to(path, step)
        yield _finding("invalid_argument", "MEDIUM", f"{name}: {fault.message}", call=a, path=path)
