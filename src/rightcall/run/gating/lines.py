"""What gates and comparisons make of a result: its values, what is read, what is wrong with it in words."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from rightcall.grade.interpretation import lowest
from rightcall.run.judging.items import BY_DESIGN
from rightcall.run.results.order import natural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.gate.metrics import Metric
    from rightcall.run.results.line import Line
    from rightcall.run.results.model import Row


STEPS = ("selection", "interpretation", "preference")
"""Graders whose results are not about one whole trace."""


def is_by_design(row: Row) -> bool:
    """Whether it was never to be judged: it is in no figure, and lowers no coverage."""
    return row.status == "UNEVALUABLE" and row.reason in BY_DESIGN


def is_read(row: Row) -> bool:
    """Whether there is an answer; a confirmed CRITICAL is one, whatever the judge said."""
    return row.status == "EVALUATED" or row.critical == "confirmed"


# ---- values ----

NOT_APPLICABLE = None
"""A result of which there is no such figure."""

_PASSES: Mapping[Any, float] = {"PASS": 1.0, "FAIL": 0.0, True: 1.0, False: 0.0}


def value_of(metric: Metric, row: Row, line: Line) -> float | None:
    """The value of a metric in one result that was read; `None` where it does not apply.

    Of a count it is 1 for a result that counts as bad, else 0.
    """
    if metric.kind == "trials":
        return _PASSES.get(row.effective)
    if metric.kind == "count":
        return float(_is_bad(metric.field, row, line))
    if metric.name.startswith("own."):
        return own_value(metric.field, row, line)
    return _VALUES[metric.name.partition(".")[0]](metric, row, line)


def _golden(metric: Metric, row: Row, line: Line) -> float | None:
    if metric.field == "verdict":
        return _PASSES.get(row.effective)
    value = line.metrics.get(metric.field)
    return None if value is None else float(value)


def _selection(metric: Metric, row: Row, line: Line) -> float | None:
    passed = _PASSES.get(row.effective)
    if metric.field == "verdict":
        return passed
    if metric.field == "destructive":
        return passed if line.destructive else NOT_APPLICABLE
    tool = line.selected_tool if metric.field == "precision" else line.expected_tool
    if tool is None or (metric.tool is not None and tool != metric.tool):
        return NOT_APPLICABLE
    return passed


def _rubric(metric: Metric, row: Row, line: Line) -> float | None:  # noqa: ARG001
    value = line.metrics.get(metric.field)
    return None if value is None else float(value)


def _preference(metric: Metric, row: Row, line: Line) -> float | None:
    if metric.field == "order_inconsistent":
        return float(line.order_inconsistent)
    won = {"B": 1.0, "A": 0.0, "TIE": 0.5 if metric.field == "net_win" else None}
    return won.get(row.verdict or "")


def _interpretation(metric: Metric, row: Row, line: Line) -> float | None:  # noqa: ARG001
    if metric.tool is not None and line.tool != metric.tool:
        return NOT_APPLICABLE
    if metric.field == "fidelity":
        return line.interpretation_fidelity_score
    return None if line.action_score is None else float(line.action_score)


_VALUES = {
    "golden": _golden, "selection": _selection, "rubric": _rubric, "preference": _preference,
    "interpretation": _interpretation,
}  # fmt: skip


def own_value(field: str, row: Row, line: Line) -> float | None:
    """A field of a user's own grader as a number: true and PASS are 1, false and FAIL 0, numbers what they are."""
    reply = line.reply or {}
    if field == "pass_rate":
        said = next((reply[name] for name in ("verdict", "grade", "pass", "passed") if name in reply), None)
        return _said(row.effective if row.effective is not None else said)
    return _said(reply.get(field))


def _said(value: Any) -> float | None:
    if isinstance(value, str):
        return _PASSES.get(value.upper())
    if isinstance(value, bool):
        return float(value)
    return float(value) if isinstance(value, (int, float)) else None


def _is_bad(field: str, row: Row, line: Line) -> bool:
    if field == "vetoes":
        return bool(line.vetoes)
    if field == "high":
        withdrawn = row.critical == "dismissed"
        return line.misuse_severity in ("HIGH", "CRITICAL") and not withdrawn
    if field == "destructive_errors":
        return line.destructive and row.effective == "FAIL"
    return line.failure_category == field


def belongs(metric: Metric, line: Line) -> bool:
    """Whether a result without a verdict may have had a value of the metric: what is not known, may be."""
    if metric.tool is None:
        return True
    tool = known_tool(metric, line)
    return tool is None or tool == metric.tool


def known_tool(metric: Metric, line: Line) -> str | None:
    """The tool that a result is about, for metrics that are asked tool by tool; `None` where that is not known."""
    if metric.grader == "interpretation":
        return line.tool
    return line.selected_tool if metric.field == "precision" else line.expected_tool


def scale_of(metric: Metric, facts: Mapping[str, Any]) -> tuple[float, float] | None:
    """The scale of a metric in a run; `None` where nobody says what it is."""
    if metric.name == "interpretation.fidelity" or (metric.tool is not None and metric.grader == "interpretation"):
        return fidelity_scale(facts)
    if not metric.name.startswith("own."):
        return metric.scale
    part = ((facts.get("reply_schema") or {}).get("properties") or {}).get(metric.field) or {}
    levels = [one for one in part.get("enum", ()) if isinstance(one, (int, float)) and not isinstance(one, bool)]
    if "minimum" in part and "maximum" in part:
        return float(part["minimum"]), float(part["maximum"])
    if levels:
        return float(min(levels)), float(max(levels))
    is_number = {"integer", "number"} & set(_types(part))
    return None if is_number else (0.0, 1.0)


def fidelity_scale(facts: Mapping[str, Any]) -> tuple[float, float]:
    """From the lowest fidelity that there is under the mapping of a run to 1."""
    mapping: Any = (facts.get("interpretation") or {}).get("mapping") or "fifths"
    return lowest(mapping), 1.0


def _types(part: Mapping[str, Any]) -> list[str]:
    kind = part.get("type")
    return kind if isinstance(kind, list) else [kind] if isinstance(kind, str) else []


# ---- words ----


def why(row: Row, line: Line) -> str:
    """What is wrong with a result, in a few words."""
    if row.critical == "confirmed" and row.signed:
        return row.signed
    if row.status != "EVALUATED":
        return row.reason or "no verdict"
    messages = [one.message for one in line.vetoes] + [one.message for one in line.findings]
    found = next(filter(None, messages), "")
    if row.grader == "selection" and line.failure_category:
        found = f"{line.failure_category}: {line.selected_tool or '(none)'}, not {line.expected_tool or '(none)'}"
    if row.grader == "rubric" and line.misuse_severity not in (None, "NONE"):
        found = f"{line.misuse_severity}: {line.downstream_impact or found}"
    return found if len(found) <= 120 else found[:119] + "…"


def place_words(row: Row) -> str:
    """A result by its case, and its trace where a case has several."""
    if row.case_id is None or row.grader == "selection":
        return row.unit
    extra = row.trace_id if row.trace_id and row.trace_id != row.case_id else None
    return f"{row.case_id} ({extra})" if extra else row.case_id


def sorted_by(row: Row) -> str:
    """The same as it sorts, as people count."""
    return _natural(place_words(row))


@lru_cache(maxsize=4)
def _natural(name: str) -> str:
    """For the figures of one result, which ask one after the other."""
    return natural(name)


@lru_cache(maxsize=4096)
def version_of_text(text: str) -> str:
    """What tells two texts apart."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
