"""Records and bodies in one line, and processes that write them."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

from rightcall.store.records import (
    AnswerRecord,
    AttemptRecord,
    CalibrationRecord,
    CaseRecord,
    ConsensusRecord,
    GateRecord,
    Record,
    ReviewEvent,
    ReviewRecord,
    RunEvent,
    RunRecord,
    SignoffRecord,
    TraceRecord,
    VerdictRecord,
    item_of,
)

RUN = "20261129-1"


def sha(body: bytes | str) -> str:
    """Return the name of a body."""
    return hashlib.sha256(body.encode() if isinstance(body, str) else body).hexdigest()


def attempt(number: int = 0, **changed: Any) -> AttemptRecord:
    """Return an attempt that differs by its number."""
    values = {
        "run_id": RUN,
        "grader": "rubric",
        "unit": f"t-{number}",
        "judge": "strong",
        "key": sha(f"key {number}"),
        "status": "ok",
    }
    return AttemptRecord(**{**values, "case_id": f"c-{number}", "verdict": {"score": number}, **changed})


def verdict(number: int = 0, **changed: Any) -> VerdictRecord:
    """Return a verdict that differs by its number; its result is the body `result`."""
    values = {"run_id": RUN, "grader": "rubric", "unit": f"t-{number}", "result": sha("result"), "status": "EVALUATED"}
    return VerdictRecord(**{**values, "case_id": f"c-{number}", "trace_id": f"t-{number}", "score": 1.0, **changed})


def one_of_each() -> tuple[list[Record], list[bytes | str]]:
    """Return one record of each kind, and the bodies that they name."""
    records: list[Record] = [
        RunRecord(id=RUN, grader="rubric", started_at="2026-11-29T10:00:00Z", facts={"judges": ["strong"]}),
        TraceRecord(body=sha("trace"), id="t-0", case_id="c-0"),
        CaseRecord(body=sha("case"), id="c-0"),
        attempt(system=sha("system"), user=sha("user"), reply=sha("reply"), prompt_sha256="p"),
        verdict(trace=sha("trace"), case=sha("case")),
        ReviewRecord(run_id=RUN, grader="rubric", unit="t-0", reason="CRITICAL", created_at="2026-11-29T10:00:01Z"),
        RunEvent(run_id=RUN, at="2026-11-29T10:00:02Z", status="finished"),
    ]
    return records, ["trace", "case", "system", "user", "reply", "result"]


def one_of_each_by_people() -> list[Record]:
    """Return one record of each kind that people make about the one review item of `one_of_each`."""
    about = {"item": item_of(RUN, "rubric", "t-0"), "run_id": RUN}
    unit = {"grader": "rubric", "unit": "t-0", "at": "2026-11-29T11:00:00Z"}
    return [
        ReviewEvent(**about, act="claimed", who="ana", at="2026-11-29T11:00:00Z", until="2026-11-29T11:10:00Z"),
        AnswerRecord(**about, **unit, who="ana", fields={"severity": "CRITICAL"}),
        ConsensusRecord(**about, **unit, how="single", fields={"severity": "CRITICAL"}),
        SignoffRecord(**about, **unit, who="dana", outcome="confirmed", reason="it cannot be taken back"),
    ]


def gate_answer(**changed: Any) -> GateRecord:
    """Return what a gate said about the run."""
    values = {
        "run_id": RUN, "at": "2026-11-29T12:00:00Z", "asked_by": "run", "answer": "PASS", "exit_code": 0,
        "rules_sha256": sha("rules"), "decisions": ({"name": "coverage", "answer": "PASS"},),
    }  # fmt: skip
    return GateRecord(**{**values, **changed})


def calibration(**changed: Any) -> CalibrationRecord:
    """Return a calibration; its report is the body `result`."""
    values = {
        "grader": "rubric", "judge": "strong", "field": "severity", "model": "m-1", "prompt_sha256": "p",
        "at": "2026-11-29T12:00:00Z", "split": "test", "verdict": "FIT", "report": sha("result"), "labels": 100,
        "agreement": {"estimate": 0.9, "low": 0.8, "high": 1.0, "n": 100, "method": "kappa"},
    }  # fmt: skip
    return CalibrationRecord(**{**values, **changed})


def start_python(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start another Python that can import this module."""
    head = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", head + code, *arguments], **pipes, **options)


def end(process: subprocess.Popen[str]) -> str:
    """Wait for a process, which must succeed, and return what it printed."""
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    return out
