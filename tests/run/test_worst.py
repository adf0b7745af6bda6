"""The results of a run that reports list first: whatever the order and the parts in which they come."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rightcall.grade.verdict import GoldenResult, Veto
from rightcall.run.golden.worst import Worst
from rightcall.trace.model import Trace

VETO = (Veto(rule="forbidden", severity="CRITICAL", message="x"),)


def result(name: str, kind: str) -> GoldenResult:
    known = {"veto": {"verdict": "FAIL", "vetoes": VETO}, "none": {"status": "UNEVALUABLE", "reason": "no_trace"}}
    return GoldenResult(trace_id=name, case_id="c", **known.get(kind, {"verdict": kind}))


def add(worst: Worst, name: str, kind: str, most: int) -> None:
    one = result(name, kind)
    worst.add(one, msgspec.json.encode(one), Trace(id=name, events=()), None, most)


def names(worst: Worst) -> list[str | None]:
    return [shown.result.trace_id for shown in worst.shown()]


def test_vetoes_stand_before_failures_before_what_has_no_verdict_and_equals_as_people_count():
    worst = Worst()
    for name, kind in (("t-10", "FAIL"), ("a", "none"), ("t-9", "FAIL"), ("z", "veto"), ("p", "PASS")):
        add(worst, name, kind, 10)
    assert names(worst) == ["z", "t-9", "t-10", "a", "p"]
    assert [shown.trace.id for shown in worst.shown() if shown.trace] == names(worst)


@given(
    parts=st.lists(st.lists(st.sampled_from(["FAIL", "veto", "none", "PASS"]), max_size=12), max_size=4),
    most=st.integers(1, 9),
)
def test_parts_that_are_merged_keep_what_one_part_would_have_kept(parts, most):
    whole, merged, number = Worst(), Worst(), 0
    for kinds in parts:
        part = Worst()
        for kind in kinds:
            number += 1
            add(whole, f"t{number}", kind, most)
            add(part, f"t{number}", kind, most)
        merged.merge(part, most)
    assert names(merged) == names(whole)
    assert len(names(merged)) == min(most, number)
