"""Policy and severity findings as SARIF 2.1.0, each in the case file that it is about.

Only what is about safety is reported: vetoes, breaches of the policy, misuses that a judge calls HIGH or CRITICAL.
Other failures are in the other formats. A finding has the same fingerprint in every run: it rests on the rule, the
case and how many breaches of that rule came before it in the same trace, and on nothing that a run makes up.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from rightcall.report.plain import shorten, visible
from rightcall.report.view.verdict_words import answer_of, causes_beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.errors import Place
    from rightcall.report.view.model import CaseView, PolicyFinding, ReportView

MOST = 25_000
"""Results of one run: GitHub refuses a file with more, and shows 5,000 of them."""

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "rightcallFinding/v1"
_LONGEST = 1_000
_LEVELS = {"CRITICAL": "error", "HIGH": "error", "MEDIUM": "warning", "LOW": "note", "NONE": "none"}
_SECURITY = {"CRITICAL": "9.5", "HIGH": "8.0", "MEDIUM": "5.0", "LOW": "2.0", "NONE": "0.0"}
_ORDER = tuple(_LEVELS)
_RULES = {
    "forbidden": "A forbidden tool was called",
    "requires": "A call lacks another one that must come before it",
    "when": "A call has arguments that make it dangerous",
    "substitution": "A tool was called in the place of another one",
    "max_calls": "A tool was called too often",
    "confirm": "A call was not confirmed by the user",
    "destructive_surplus": "A destructive tool was called and not expected",
    "destructive_substitution": "A destructive tool was called in the place of an expected one",
    "destructive_argument": "A destructive tool was called with other arguments than expected",
    "unknown_tool": "A tool that does not exist was called",
    "misuse_severity": "A judge calls the misuse of tools HIGH or CRITICAL",
}


def write_sarif(view: ReportView, stream: IO[bytes]) -> None:
    """Write the document."""
    stream.write(msgspec.json.format(msgspec.json.encode(document(view)), indent=1) + b"\n")


def document(view: ReportView) -> dict[str, Any]:
    """The report as a SARIF log with one run."""
    results, left = _results(view)
    worst: dict[str, str] = {}
    for one in results:
        severity = one["properties"]["severity"]
        worst[one["ruleId"]] = min(worst.get(one["ruleId"], "NONE"), severity, key=_ORDER.index)
    rules = sorted(worst)
    index = {rule: at for at, rule in enumerate(rules)}
    for one in results:
        one["ruleIndex"] = index[one["ruleId"]]
    driver = {
        "name": "rightcall", "version": view.rightcall, "semanticVersion": view.rightcall,
        "rules": [_rule(rule, worst[rule]) for rule in rules],
    }  # fmt: skip
    answer, code = answer_of(view)
    notices = [{"level": "note", "message": {"text": visible(note)}} for note in (*causes_beside(view), *view.notes)]
    if left:
        text = f"{left} more findings are left out: a file takes {MOST}"
        notices.append({"level": "warning", "message": {"text": text}})
    invocation = {
        "executionSuccessful": view.status == "finished", "exitCode": code, "toolExecutionNotifications": notices,
    }  # fmt: skip
    run = {
        "tool": {"driver": driver}, "automationDetails": {"id": "rightcall/"}, "invocations": [invocation],
        "columnKind": "unicodeCodePoints", "results": results,
        "properties": {"verdict": answer, "run": visible(view.run_id or ""), "started": view.started_at},
    }  # fmt: skip
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _results(view: ReportView) -> tuple[list[dict[str, Any]], int]:
    """The findings, the worst first, and how many more there are than a file takes."""
    found: dict[str, dict[str, Any]] = {}
    seen: dict[str, set[str]] = {}
    left = 0
    for case in _cases(view):
        before: Counter[str] = Counter()
        for one in case.findings:
            key = _fingerprint(case, one.rule, before[one.rule])
            before[one.rule] += 1
            if key in found:  # another trial of the case, or another grader that saw the same of the same trace
                seen[key].add(case.unit)
            elif len(found) < MOST:
                found[key], seen[key] = _result(case, one, key), {case.unit}
            else:
                left += 1
    for key, result in found.items():
        result["occurrenceCount"] = len(seen[key])
    results = sorted(found.values(), key=lambda one: _ORDER.index(one["properties"]["severity"]))
    return results, left


def _cases(view: ReportView) -> Iterator[CaseView]:
    """Every result that may have a finding: those that are listed, the worst first, then what passed all the same."""
    listed = set()
    for case in view.failures():
        if case.outcome == "passed":
            listed.add((case.grader, case.unit))
        yield case
    for case in view.cases():
        if case.outcome == "passed" and (case.grader, case.unit) not in listed:
            yield case


def _fingerprint(case: CaseView, rule: str, number: int) -> str:
    about = (rule, case.case_id or case.trace_id or case.unit, str(number))
    return sha256("\0".join(about).encode(errors="surrogatepass")).hexdigest()


def _result(case: CaseView, one: PolicyFinding, fingerprint: str) -> dict[str, Any]:
    about = case.case_id or case.unit
    at = "" if one.call_index is None else f" (call {one.call_index + 1})"
    text = f"{one.severity}: {shorten(one.message, _LONGEST)}{at}; case {about}"
    found: dict[str, Any] = {
        "ruleId": f"rightcall/{one.rule}",
        "level": _LEVELS[one.severity],
        "message": {"text": visible(text)},
        "locations": [_location(case)],
        "partialFingerprints": {FINGERPRINT: fingerprint},
        "properties": {
            "severity": one.severity, "vetoes": one.vetoes, "grader": case.grader, "case": visible(about),
            "trace": visible(case.trace_id or ""),
        },
    }  # fmt: skip
    if one.call_index is not None:
        found["properties"]["call"] = one.call_index + 1
    return found


def _location(case: CaseView) -> dict[str, Any]:
    """The case in its file; without one, its name alone."""
    name = visible(case.case_id or case.unit)
    logical = {"logicalLocations": [{"name": name, "fullyQualifiedName": f"{case.grader}/{name}"}]}
    place = case.place
    if place is None or place.file is None:
        return logical
    return {"physicalLocation": _physical(place), **logical}


def _physical(place: Place) -> dict[str, Any]:
    uri, is_within = relative(place.file or "")
    artifact = {"uri": uri, "uriBaseId": "%SRCROOT%"} if is_within else {"uri": uri}
    region = {"region": {"startLine": place.line}} if place.line else {}
    return {"artifactLocation": artifact, **region}


def relative(file: str) -> tuple[str, bool]:
    """A file as a URI from the current folder, and whether it lies there."""
    path = Path(visible(file))
    whole = path if path.is_absolute() else Path.cwd() / path
    try:
        return quote(whole.resolve().relative_to(Path.cwd().resolve()).as_posix()), True
    except ValueError:
        return whole.resolve().as_uri(), False


def _rule(rule: str, severity: str) -> dict[str, Any]:
    name = rule.removeprefix("rightcall/")
    text = _RULES.get(name, f"The rule {visible(name)} of the policy was broken")
    return {
        "id": visible(rule),
        "name": "".join(part.capitalize() for part in visible(name).split("_")),
        "shortDescription": {"text": text},
        "fullDescription": {"text": f"{text}. What it means and how to change it: docs/safety.md of rightcall."},
        "help": {"text": "The Safety Matrix of the suite says which tools are dangerous, and under which conditions."},
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {"tags": ["security", "safety", "agent"], "security-severity": _SECURITY[severity]},
    }
