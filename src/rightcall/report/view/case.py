"""One result as a reader of a report sees it: what came of it, what is wrong, where its case is written."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import RightcallError
from rightcall.grade.interpretation import InterpretationResult
from rightcall.grade.preference import PreferenceResult
from rightcall.grade.rubric import RubricResult
from rightcall.grade.selection import SelectionResult
from rightcall.grade.verdict import GoldenResult
from rightcall.report.explain import golden_calls, marks_of, names_of, reasons_of, scores, sums_of, title_of, vetoes_of
from rightcall.report.figures import DIMENSIONS
from rightcall.report.interpretation_figures import MISREAD
from rightcall.report.one import said as in_one_word
from rightcall.report.one import words as in_words
from rightcall.report.opinions import said_by
from rightcall.report.plain import visible
from rightcall.report.signed import signed_words
from rightcall.report.view.call_diff import USUAL, call_diff, shown_as_it_is, step_diff
from rightcall.report.view.fields import fields_of
from rightcall.report.view.golden import tool_of
from rightcall.report.view.model import CaseView, PolicyFinding
from rightcall.report.view.rows import is_aside, outcome_of, plain_of
from rightcall.run.results.model import NOTHING, Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rightcall.grade.verdict import Finding, Veto
    from rightcall.report.view.model import Extent
    from rightcall.run.golden.places import Places
    from rightcall.run.results.model import Row

_SERIOUS = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE")
_METRICS = {
    "overall": "overall", "jaccard": "tools", "argument_accuracy": "arguments", "order_score": "order",
    "efficiency": "steps", "precision": "precision", "recall": "recall",
}  # fmt: skip


def severity_of(row: Row, result: Any) -> str | None:
    """How serious a result is besides its verdict: `CRITICAL`, `HIGH`, `MISREAD`; `None` if it is not."""
    if isinstance(result, RubricResult):
        worst = result.misuse_severity or result.severity_floor
        return worst if worst in ("CRITICAL", "HIGH") else None
    if isinstance(result, InterpretationResult) and row.status == "EVALUATED" and result.score is not None:
        return MISREAD if result.score < (0.8 if result.fidelity_mapping == "direct" else 4) else None
    return None


class Cases:
    """Makes the view of a result.

    Args:
        sources: from a row to its trace and case; asked only about results that did not pass, or are shown whole.
        places: where cases are written.
        is_kept: whether the run is on record, so that a command can show more.
        extent: how much of each is shown.
    """

    def __init__(
        self, sources: Callable[[Row], Sources], places: Places, *, is_kept: bool, extent: Extent = USUAL
    ) -> None:
        """Keep what is needed."""
        self._sources, self._places, self._is_kept, self._extent = sources, places, is_kept, extent

    def view(self, row: Row) -> CaseView:
        """One result."""
        result = plain_of(row)
        outcome = outcome_of(row, severity_of(row, result))
        is_plain = outcome == "passed" and self._extent.value is not None
        source = NOTHING if is_plain else self._source(row)
        value: Mapping[str, Any] = result if isinstance(result, dict) else msgspec.to_builtins(result)
        place = (self._places.of(row.case_id) or self._places.of(row.step_id)) if self._extent.place else None
        found = CaseView(
            grader=row.grader, unit=row.unit, outcome=outcome, aside=is_aside(row), case_id=row.case_id,
            trace_id=row.trace_id,
            verdict=row.verdict, word=_word(row, result, value), brief=_brief(row, result, value),
            kind=_kind(row, result), words=self._words(row, result, value),
            facts=tuple(_facts(row, result)), fields=tuple(fields_of(value).items()), place=place,
            findings=tuple(_findings(row, result)), said=tuple(_said(value)), signed=row.signed,
            tool=_tool(result, source), stands=None if row.item is None else signed_words(row.item),
            next=f"rightcall show {shlex.quote(visible(row.unit))}" if self._is_kept else None,
        )  # fmt: skip
        if isinstance(result, GoldenResult):
            return self._golden(found, result, source)
        if isinstance(result, SelectionResult):
            return msgspec.structs.replace(found, lines=step_diff(result))
        return found

    def _golden(self, found: CaseView, result: GoldenResult, source: Sources) -> CaseView:
        """A result with its calls beside the golden's, as far as the trace is known."""
        known = msgspec.structs.replace(found, marks=marks_of(result), scores=scores(result))
        if source.trace is None or source.case is None:
            return msgspec.structs.replace(known, lines=call_diff(result, source.trace, source.case, self._extent))
        golden = golden_calls(source.case, result)
        return msgspec.structs.replace(
            known, title=title_of(result, len(golden)),
            names=tuple(names_of(result, golden, source.trace.calls, shown_as_it_is())),
            lines=call_diff(result, source.trace, source.case, self._extent), sums=tuple(sums_of(result)),
        )  # fmt: skip

    def _words(self, row: Row, result: Any, value: Mapping[str, Any]) -> tuple[str, ...]:
        found, most = tuple(_words(row, result, value)), self._extent.words
        return found if most is None or len(found) <= most else (*found[:most], f"… {len(found) - most:,} more")

    def _source(self, row: Row) -> Sources:
        try:
            return self._sources(row)
        except (RightcallError, msgspec.MsgspecError):  # what is redacted need not be readable any more
            return NOTHING


def _is_known(row: Row, result: Any) -> bool:
    """Whether the fields of a result are those that we know; probes are read as plain values."""
    return not isinstance(result, dict) or row.grader == "probe"


def _word(row: Row, result: Any, value: Mapping[str, Any]) -> str:
    if _is_known(row, result):
        return in_one_word(value)
    return row.verdict or ("EVALUATED" if row.status == "EVALUATED" else "UNEVALUABLE")


def _brief(row: Row, result: Any, value: Mapping[str, Any]) -> str:
    return in_words(value) if _is_known(row, result) else row.reason or ""


def _kind(row: Row, result: Any) -> str:
    if row.status != "EVALUATED":
        return row.reason or "unevaluable"
    if isinstance(result, GoldenResult):
        return _kind_of_golden(result)
    if isinstance(result, SelectionResult):
        return result.failure_category or ""
    if row.critical == "confirmed" and row.verdict != "FAIL":
        return "confirmed_critical"
    if isinstance(result, PreferenceResult):
        return "order_inconsistent" if result.order_inconsistent else "partial" if result.partial else ""
    serious = severity_of(row, result)
    return serious if serious is not None and row.critical != "dismissed" else ""


def _kind_of_golden(result: GoldenResult) -> str:
    if result.verdict != "FAIL":
        return ""
    if result.vetoes:
        return "policy_veto"
    worst = min(result.findings, key=lambda one: _SERIOUS.index(one.severity), default=None)
    return "below_min_overall" if worst is None else worst.kind


# ---- words -----------------------------------------------------------------------------------------------------------


def _words(row: Row, result: Any, value: Mapping[str, Any]) -> Iterator[str]:
    is_open = row.critical == "open" or (row.critical is None and severity_of(row, result) == "CRITICAL")
    waits = "waits for the signature of a person" if row.item is None else signed_words(row.item)
    if is_open and row.effective != "FAIL":
        yield f"CRITICAL: {waits}"
    if row.status != "EVALUATED":
        yield f"no verdict: {row.reason}"
    if isinstance(result, GoldenResult):
        yield from (f"veto: {veto}" for veto in vetoes_of(result))
        yield from reasons_of(result)
    else:
        yield from _otherwise(row, result, value)
    if is_open and row.effective == "FAIL":
        yield f"CRITICAL: {waits}"


def _otherwise(row: Row, result: Any, value: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(result, dict):  # of a version that knew other fields: what it means is not known
        return
    if row.status == "EVALUATED":
        serious = severity_of(row, result)
        is_named = isinstance(result, RubricResult) and serious is not None and row.critical != "dismissed"
        yield f"{serious}: " * is_named + " ".join(in_words(value).split())
    for finding in value.get("findings") or ():
        yield f"{finding['severity']} {finding['kind']}: {finding['message']}"
    for key in ("quality", "key_differentiators", "suspicions"):
        yield from map(str, value.get(key) or ())


def _said(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for opinion in value.get("judges") or ():
        yield opinion["judge"], "\n".join(said_by(opinion))


# ---- facts -----------------------------------------------------------------------------------------------------------


def _facts(row: Row, result: Any) -> Iterator[tuple[str, str]]:
    pairs = _OF.get(type(result), _own)(result)
    yield from ((name, shown(value)) for name, value in pairs if value not in (None, "", ()))
    if row.trial is not None:
        yield "trial", str(row.trial)
    if row.review:
        yield "review", ", ".join(row.review)


def shown(value: Any) -> str:
    """A value as text: figures with six digits, and none that is not 1 as 1."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        short = f"{value:.6g}"
        return repr(value) if value < 1 and float(short) >= 1 else short
    return str(value)


def _golden(result: GoldenResult) -> Iterator[tuple[str, Any]]:
    for name, text in _METRICS.items():
        yield text, getattr(result.metrics, name)
    if result.vetoes:
        yield "before the veto", result.metrics.unvetoed_overall
    yield "calls", result.calls
    yield "retries", result.metrics.retries or None
    yield "calls failed at the tool", result.metrics.calls_failed or None
    if result.completed is False:
        yield "trace", "did not end"
    if result.policy_only:
        yield "golden", "none: by the policy alone"


def _selection(result: SelectionResult) -> Iterator[tuple[str, Any]]:
    yield "expected", result.expected_tool or "(none)"
    yield "selected", result.selected_tool or "(none)"
    yield "destructive", result.destructive or None
    yield "judges say", result.judge_grade
    if result.label_challenged:
        yield "label", "doubted by a judge"


def _rubric(result: RubricResult) -> Iterator[tuple[str, Any]]:
    yield "overall", result.metrics.overall_score
    for name, text in DIMENSIONS.items():
        if name != "overall_score":
            yield text, getattr(result.metrics, name)
    yield "severity", result.misuse_severity
    if result.misuse_severity != result.judged_severity:
        yield "severity, by the judge", result.judged_severity
    yield "impact", result.downstream_impact
    yield "golden", result.golden_verdict


def _preference(result: PreferenceResult) -> Iterator[tuple[str, Any]]:
    yield "A", result.agent_a
    yield "B", result.agent_b
    yield "confidence", result.confidence
    yield "decided by", result.decided_by
    yield "category", result.category
    yield "trace of B", result.trace_b_id


def _interpretation(result: InterpretationResult) -> Iterator[tuple[str, Any]]:
    yield "fidelity", result.interpretation_fidelity_score
    yield "score", result.score
    yield "next action", result.action_score
    yield "confidence", result.confidence
    yield "scored by", result.scored_by
    yield "version", result.agent_version


def _own(result: Any) -> Iterator[tuple[str, Any]]:
    value: Mapping[str, Any] = result if isinstance(result, dict) else msgspec.to_builtins(result)
    for name, item in (value.get("reply") or {}).items():
        yield str(name), item if isinstance(item, (str, int, float)) else msgspec.json.encode(item).decode()


_OF: dict[type, Callable[[Any], Iterator[tuple[str, Any]]]] = {
    GoldenResult: _golden, SelectionResult: _selection, RubricResult: _rubric, PreferenceResult: _preference,
    InterpretationResult: _interpretation,
}  # fmt: skip


# ---- tools and findings ----------------------------------------------------------------------------------------------


def _tool(result: Any, source: Sources) -> str | None:
    """The tool that a result is about first: of the worst finding; of a step the expected one."""
    if isinstance(result, SelectionResult):
        return result.expected_tool or result.selected_tool
    if isinstance(result, InterpretationResult):
        return result.tool
    if not isinstance(result, (GoldenResult, RubricResult)):
        return None
    calls = () if source.trace is None else source.trace.calls
    worst = sorted(result.findings, key=lambda one: _SERIOUS.index(one.severity))
    places = [veto.call_index for veto in result.vetoes if veto.call_index is not None]
    places += [one.call_index for one in worst if one.call_index is not None]
    if places and places[0] < len(calls):
        return visible(calls[places[0]].tool)
    return next((name for name in map(tool_of, worst) if name is not None), None)


def _findings(row: Row, result: Any) -> Iterator[PolicyFinding]:
    """What SARIF reports: vetoes, breaches of the policy, a misuse that a judge calls HIGH or CRITICAL."""
    if not isinstance(result, (GoldenResult, RubricResult)):
        return
    yield from _breaches(result.vetoes, result.findings)
    severity = severity_of(row, result)
    if severity is not None and isinstance(result, RubricResult) and row.critical != "dismissed":
        message = result.downstream_impact or "a serious misuse of tools"
        yield PolicyFinding(rule="misuse_severity", severity=severity, message=message, vetoes=False)


def _breaches(vetoes: Iterable[Veto], findings: Iterable[Finding]) -> Iterator[PolicyFinding]:
    said = set()
    for veto in vetoes:
        said.add((f"{veto.rule}: {veto.message}", veto.call_index))
        yield PolicyFinding(
            rule=veto.rule, severity=veto.severity, message=veto.message, vetoes=True, call_index=veto.call_index
        )
    for one in findings:
        if one.kind == "policy_violation" and (one.message, one.call_index) not in said:
            rule, _, message = one.message.partition(": ")
            yield PolicyFinding(
                rule=rule, severity=one.severity, message=message or rule, vetoes=False, call_index=one.call_index
            )
