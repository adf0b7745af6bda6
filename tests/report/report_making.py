"""Reports made from a few lines, and finished runs of the examples, to be written in every format."""

from __future__ import annotations

from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

from rightcall.errors import Place
from rightcall.report.formats import writing as formats
from rightcall.report.view.model import CallLine, CaseView, Counts, GraderView, PolicyFinding, ReportView
from rightcall.report.written.ended import ended_view, write_json, write_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HOSTILE = (
    "<img src=x onerror=alert(1)> [link](https://example.com) @someone #12 ![i](x) `code` **bold** | cell\r\n"
    "::error::forged\n##[error]forged\n::stop-commands::x\n\x1b[31mred\x1b[0m \u202egnihtyreve\u200b www.example.com "
    "--> ]]> &amp; \ud7ff\ufffe ``` ~~~ \\| \x00 GH-1 3f2a91c4"
)
"""What somebody who writes a trace may try."""


def case(unit: str = "t-1", outcome: str = "failed", **more: Any) -> CaseView:
    """One result."""
    known: dict[str, Any] = {
        "grader": "golden", "unit": unit, "outcome": outcome, "case_id": unit, "trace_id": unit,
        "verdict": {"failed": "FAIL", "passed": "PASS"}.get(outcome), "kind": "" if outcome == "passed" else "missing_call",
        "words": () if outcome == "passed" else ("HIGH missing_call: freeze was not called",),
        "place": Place("cases.toml", 14), "tool": "freeze",
    }  # fmt: skip
    return CaseView(**known | more)


def hostile_case(**more: Any) -> CaseView:
    """A failure in which every text tries to be something else."""
    line = CallLine(
        state="wrong", expected=HOSTILE, actual=HOSTILE, result=HOSTILE, notes=(HOSTILE,), vetoes=(HOSTILE,)
    )
    finding = PolicyFinding(rule="forbidden", severity="CRITICAL", message=HOSTILE, vetoes=True, call_index=0)
    known: dict[str, Any] = {
        "unit": HOSTILE, "case_id": HOSTILE, "trace_id": HOSTILE, "kind": HOSTILE, "words": (HOSTILE, HOSTILE),
        "facts": ((HOSTILE, HOSTILE),), "lines": (line,), "findings": (finding,), "said": ((HOSTILE, HOSTILE),),
        "signed": HOSTILE, "next": HOSTILE, "tool": HOSTILE, "place": Place(f"a{HOSTILE}.toml", 3),
    }  # fmt: skip
    return case(**known | more)


def report(cases: Iterable[CaseView] | Callable[[], Iterable[CaseView]], **more: Any) -> ReportView:
    """A report of `golden` about some results, in their order."""
    if callable(cases):
        give = cases
    else:
        kept = list(cases)

        def give() -> Iterable[CaseView]:
            return kept

    count = {"passed": 0, "failed": 0, "error": 0, "waiting": 0}
    for one in give():
        count[one.outcome] += 1
    view = GraderView(grader="golden", counts=Counts(n=sum(count.values()), **count))
    known: dict[str, Any] = {
        "title": "golden", "run_id": "20261130-1", "status": "finished", "rightcall": "0.1.0", "graders": (view,),
        "started_at": "2026-11-30T10:00:00.123+00:00", "cases": lambda: iter(give()),
        "failures": lambda: (one for one in give() if one.outcome != "passed"),
    }  # fmt: skip
    return ReportView(**known | more)


def written(view: ReportView, suffix: str) -> bytes:
    """A report in one format."""
    stream = BytesIO()
    formats.WRITERS[suffix](view, stream)
    return stream.getvalue()


def ended_writers(run: Any) -> dict[str, Callable[[IO[bytes]], None]]:
    """What writes a run of one grader that has just ended, by suffix."""
    reports = {
        suffix: lambda stream, write=write: write(ended_view(run), stream) for suffix, write in formats.WRITERS.items()
    }
    return {
        ".json": lambda stream: write_json(run, stream),
        ".jsonl": lambda stream: write_jsonl(run, stream),
    } | reports
