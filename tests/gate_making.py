"""Results for tests of gates and comparisons: rows as graders give them, of one invented run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from rightcall.run.results.model import GraderResults, Row, RunResults

JUDGE = {"name": "desk", "provider": "recorded", "model": "vendor/model-1", "parameters": {"temperature": 0}}


def golden(number: int, verdict: str | None = "PASS", **given: Any) -> Row:
    """Return a result of `golden`; `None` is one without a verdict."""
    metrics = given.pop("metrics", {} if verdict is None else {"overall": float(verdict == "PASS")})
    vetoes = [{"rule": "forbidden", "severity": "CRITICAL", "message": text} for text in given.pop("vetoes", ())]
    return row("golden", number, verdict, {"metrics": metrics, "vetoes": vetoes}, **given)


def selection(number: int, selected: str | None, expected: str | None, **given: Any) -> Row:
    """Return a result of `selection`."""
    verdict = given.pop("verdict", "PASS" if selected == expected else "FAIL")
    category = given.pop("category", None if verdict != "FAIL" else "wrong_tool")
    line = {
        "selected_tool": selected, "expected_tool": expected, "failure_category": category,
        "destructive": given.pop("destructive", False), "judges": given.pop("judges", []),
    }  # fmt: skip
    return row("selection", number, verdict, line, step_id=f"s{number}", **given)


def rubric(number: int, overall: float | None = 4.0, severity: str = "NONE", **given: Any) -> Row:
    """Return a result of `rubric`; without a score it has none of its judge's words."""
    read = overall is not None
    line = {
        "metrics": {"overall_score": overall, "tool_selection_score": overall} if read else {},
        "misuse_severity": severity if read else None, "calls": 1,
        "judges": given.pop("judges", [{"judge": "desk", "status": "EVALUATED" if read else "UNEVALUABLE"}]),
    }  # fmt: skip
    status = "EVALUATED" if read else "UNEVALUABLE"
    return row("rubric", number, None, line, status=status, **given)


def row(grader: str, number: int, verdict: str | None, line: Mapping[str, Any], **given: Any) -> Row:
    """Return a row; case and trace are named by the number."""
    status = given.pop("status", "UNEVALUABLE" if verdict is None else "EVALUATED")
    case = given.pop("case", f"c{number}")
    body = {"grader": grader, "status": status, "verdict": verdict, "case_id": case, **line}
    given.setdefault("reason", None if status == "EVALUATED" else "JUDGE_EMPTY")
    return Row(
        grader=grader, unit=f"{grader}-{number}", status=status, verdict=verdict, line=json.dumps(body).encode(),
        case_id=case, trace_id=f"t{number}", **given,
    )  # fmt: skip


def unread(one: Row) -> Row:
    """Return the same result as it would be if nobody could read the judge; what code knows stays."""
    value = one.value()
    kept = {
        name: value[name]
        for name in ("vetoes", "selected_tool", "expected_tool", "destructive", "calls", "tool")
        if name in value and one.grader != "golden"
    }
    kept["judges"] = [{**judge, "status": "UNEVALUABLE", "checked": [], "conflicts": []}
                      for judge in value.get("judges", ())]  # fmt: skip
    body = {"grader": one.grader, "status": "UNEVALUABLE", "verdict": None, "case_id": one.case_id, **kept}
    return msgspec.structs.replace(
        one, status="UNEVALUABLE", reason="JUDGE_EMPTY", verdict=None, line=json.dumps(body).encode(), critical=None,
        signed=None,
    )  # fmt: skip


def run(
    *rows: Row, name: str = "now", facts: Mapping[str, Any] | None = None, skipped: int = 0,
    kept: bool = True, **given: Any,
) -> RunResults:  # fmt: skip
    """Return a run of these results, by grader."""
    parts: dict[str, list[Row]] = {}
    for one in rows:
        parts.setdefault(one.grader, []).append(one)
    graders = {
        grader: GraderResults(
            grader, (facts or {}).get(grader, facts_of(grader)), {"n": len(these), "skipped": skipped},
            lambda these=these: iter(these),
        )
        for grader, these in parts.items()
    }  # fmt: skip
    given.setdefault("status", "finished")
    return RunResults(name, name, graders=graders, store_name="store" if kept else None, **given)


def facts_of(grader: str) -> dict[str, Any]:
    """Return what a run of the grader says about itself."""
    if grader == "golden":
        return {"profile": "balanced", "min_overall": 1.0}
    return {"judges": [JUDGE] if grader == "rubric" else [], "prompts": [{"id": grader, "version": "1", "sha256": "a"}]}


def passes(n: int, *, failed: int = 0, lost: int = 0) -> Sequence[Row]:
    """Return n results of `golden`, the first of them without a verdict, the next failed."""
    return [golden(i, None if i < lost else "FAIL" if i < lost + failed else "PASS") for i in range(n)]


def lines(rows: Iterable[Row]) -> list[str]:
    """Return what the results look like, for messages."""
    return [one.line.decode() for one in rows]
