"""Everything on record about one step or trace, as a person reads it.

What was asked, what code decided, what each judge said, where it stands in the log, what waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from rich.table import Table
from rich.text import Text

from rightcall.errors import Place, RightcallError
from rightcall.report.figures import DIMENSIONS
from rightcall.report.interpretation_figures import reading_lines
from rightcall.report.one import STYLES, named, said, words
from rightcall.report.opinions import opinion_lines, score
from rightcall.report.plain import shorten, value, visible
from rightcall.report.preference_figures import pair_lines
from rightcall.report.signed import signed_words
from rightcall.report.terminal.verdict import print_explained

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from rightcall.report.opinions import Line
    from rightcall.run.log.finding import ReviewItem
    from rightcall.run.results.critical import Critical
    from rightcall.store.records import AttemptRecord, VerdictRecord

_ASKED = 400
_RESULT = 80
"""How many characters of a request, and of a tool's result, are shown."""

MOST_CALLS = 40
"""How many calls of a trace are listed."""


def print_unit(
    console: Console, verdict: VerdictRecord, result: Mapping[str, Any], source: tuple[Any, Any, Any],
    attempts: Sequence[tuple[int, AttemptRecord]], waiting: Sequence[ReviewItem], critical: Critical | None = None,
) -> None:  # fmt: skip
    """Print one result with all that it rests on.

    Args:
        console: where to.
        verdict: the record.
        result: as `--json` gives it.
        source: the trace, the case or step, and the second trace of a pair, as they were kept; `None` where none was.
        attempts: (log entry, exchange) of everything that was asked about it.
        waiting: the review items about it.
        critical: its CRITICAL item with what a person has signed, if there is one.
    """
    word = said(result)
    why = result["reason"] if word == "UNEVALUABLE" else result.get("failure_category")
    title = f"{verdict.unit} · {verdict.grader} · {word}{f' {why}' if why else ''} · run {verdict.run_id}"
    console.print(Text(visible(title), STYLES.get(word, "bold")))
    trace, case, second = source
    if verdict.grader == "golden" and _print_golden(console, result, trace, case):
        lines = [*_asked(trace, case)]
    else:
        lines = [
            *_asked(trace, case),
            *_calls(trace),
            *_calls(second, "of the other"),
            *_CODE.get(verdict.grader, _decided)(result),
        ]
    entries = dict(zip(verdict.attempts, attempts, strict=False))
    for opinion in result.get("judges", ()):
        lines += opinion_lines(opinion, entries)
    lines += _odd(result)
    lines += [("review", _waits(one), STYLES.get(one.item.reason, "")) for one in waiting]
    lines += [] if critical is None else [("sign-off", signed_words(critical), "")]
    _print_lines(console, lines)


def _print_lines(console: Console, lines: Sequence[Line]) -> None:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, min_width=9, style="dim")
    table.add_column(overflow="fold")
    for label, text, style in lines:
        table.add_row(f"  {label}", Text(visible(text), style))
    if lines:
        console.print(table)


# ---- what was asked --------------------------------------------------------------------------------------------------


def _asked(trace: Any, case: Any) -> Iterator[Line]:
    """What the user wanted; that it is not stated is said too."""
    request = next((one["request"] for one in (trace, case) if one and one.get("request") is not None), None)
    if request is None and trace is not None:
        said_first = (event for event in trace.get("events", ()) if event.get("role") == "user")
        request = next((event.get("text") for event in said_first), None)
    yield "asked", "(no request is recorded)" if request is None else shorten(request, _ASKED), ""


def _calls(trace: Any, label: str = "calls") -> Iterator[Line]:
    """The agent's own calls with the ids by which a judge cites them."""
    if trace is None:
        return
    calls = (event for event in trace.get("events", ()) if event["type"] == "call")
    own = [call for call in calls if call.get("by", "agent") == "agent"]
    for number, call in enumerate(own[:MOST_CALLS], 1):
        yield "" if number > 1 else label, f"c{number} {_call(call)}", ""
    if len(own) > MOST_CALLS:
        yield "", f"… {len(own) - MOST_CALLS} more: --json shows all", "dim"
    if not own:
        yield label, "none", ""


def _call(call: Mapping[str, Any]) -> str:
    given = call.get("arguments")
    if isinstance(given, dict):
        pairs = " ".join(f"{key}={value(item, _RESULT)}" for key, item in given.items()) or "{}"
    else:
        pairs = f"(arguments {call.get('arguments_status', 'missing')})"
    came = call.get("result")
    if came is None:
        return f"{call['tool']} {pairs} → (no result is recorded)"
    failed, content = "failed: " if came.get("is_error") else "", came.get("content")
    text = shorten(visible(content), _RESULT) if isinstance(content, str) else value(content, _RESULT)
    return f"{call['tool']} {pairs} → {failed}{text}"


# ---- what code decided -----------------------------------------------------------------------------------------------


def _print_golden(console: Console, result: Mapping[str, Any], trace: Any, case: Any) -> bool:
    """Print the aligned diff as the run itself does; false where the trace or the case was not kept."""
    from rightcall.case.parse import read_case
    from rightcall.grade.verdict import GoldenResult
    from rightcall.report.explain import explain
    from rightcall.run.golden.tally import Shown
    from rightcall.trace import jsontext
    from rightcall.trace.redact import Redactor
    from rightcall.trace.sources.native import read_line

    if trace is None or case is None:
        return False
    try:
        shown = Shown(
            msgspec.convert(result, GoldenResult), read_line(jsontext.encode_in_order(trace), Place()),
            read_case(jsontext.encode_in_order(case), Place()),
        )  # fmt: skip
    except (RightcallError, msgspec.ValidationError):  # what is redacted need not be readable any more
        return False
    print_explained(console, explain(shown, Redactor(key=b"shown once more"), limit=None))
    return True


def _selection(result: Mapping[str, Any]) -> Iterator[Line]:
    risky = " (one of them is destructive)" if result["destructive"] else ""
    yield "expected", named(result["expected_tool"]), ""
    yield "selected", named(result["selected_tool"]) + risky, ""
    also = f", also {', '.join(result['secondary_categories'])}" if result["secondary_categories"] else ""
    if result["status"] == "EVALUATED":
        category = f": {result['failure_category']}{also}" if result["failure_category"] else ""
        yield "code", f"{result['verdict']}{category}", ""
    else:
        alone = f"; by code alone it is a {result['code_grade']}" if result.get("code_grade") else ""
        yield "code", f"no verdict: {result['reason']}{alone}", "yellow"
    for note in result["notes"]:
        yield "", note, "dim"


def _rubric(result: Mapping[str, Any]) -> Iterator[Line]:
    golden = result["golden_verdict"] or "has nothing to compare with"
    yield "code", f"golden {golden} · severity not below {result['severity_floor']}", ""
    yield from _findings(result)
    if result["status"] != "EVALUATED":
        yield "scores", f"none: {result['reason']}", "yellow"
        return
    metrics = result["metrics"]
    four = [f"{short} {score(metrics[name])}" for name, short in DIMENSIONS.items()]
    yield "scores", " · ".join(four), "bold"
    raised = result["misuse_severity"] != result["judged_severity"]
    why = f"; the judge says {result['judged_severity']}, the Safety Matrix counts" if raised else ""
    yield "severity", f"{result['misuse_severity']}{why}", STYLES.get(result["misuse_severity"], "")
    yield "impact", result["downstream_impact"] or "(none is named)", ""


def _findings(result: Mapping[str, Any]) -> Iterator[Line]:
    for one in result["findings"]:
        at = "" if one["call_index"] is None else f"c{one['call_index'] + 1} "
        yield "", f"{one['severity']} {at}{one['message']}", STYLES.get(one["severity"], "")


def _golden(result: Mapping[str, Any]) -> Iterator[Line]:
    yield "code", words(result), ""
    yield from _findings(result)


def _decided(result: Mapping[str, Any]) -> Iterator[Line]:
    """What a grader without a page of its own here concluded."""
    if result["status"] != "EVALUATED":
        yield "result", f"none: {result['reason']}", "yellow"
        return
    reply = result.get("reply") or result.get("reading") or {}
    for number, (name, item) in enumerate(reply.items()):
        yield "" if number else "result", f"{name}: {item if isinstance(item, str) else value(item)}", ""


_CODE = {
    "selection": _selection,
    "rubric": _rubric,
    "golden": _golden,
    "preference": pair_lines,
    "interpretation": reading_lines,
}


# ---- what else -------------------------------------------------------------------------------------------------------


def _odd(result: Mapping[str, Any]) -> Iterator[Line]:
    """What else must be known about the question and the answers."""
    if result.get("disagreement"):
        yield "panel", f"the judges differ on {', '.join(result['disagreement'])}", "yellow"
    for text in result.get("suspicions", ()):
        yield "warning", text, "bold yellow"
    for text in result.get("left_out", ()):
        yield "left out", text, "yellow"


def _waits(one: ReviewItem) -> str:
    drawn = "" if one.item.probability == 1 else f" (drawn with probability {one.item.probability:g})"
    return f"{one.id} {one.item.reason}{drawn}"
