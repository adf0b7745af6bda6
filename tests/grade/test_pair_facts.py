"""What code knows about a pair: whether it can be compared, and whether a fact decides it."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.grade.pair_facts import code_verdict, quality_of
from rightcall.grade.verdict import GoldenResult, Veto
from rightcall.trace.model import Call, Message, Trace, TraceFinding, call

VETO = Veto(rule="forbidden", severity="CRITICAL", message="forbidden: cancel_card")


def a_trace(*events, **changed) -> Trace:
    return Trace(id="t", events=events, **changed)


def odd(code: str) -> TraceFinding:
    return TraceFinding(code=code, message="odd")


@pytest.mark.parametrize(
    ("trace", "word"),
    [
        (a_trace(call("x", {}), completed=False), "incomplete"),
        (a_trace(), "empty"),
        (a_trace(call("x", {}), completed=True, findings=(odd("TRACE_TRUNCATED"),)), "TRACE_TRUNCATED"),
        (a_trace(call("x", {}), findings=(odd("TRACE_MALFORMED"),)), "TRACE_MALFORMED"),
        (a_trace(call("x", {}), findings=(odd("TRACE_TREE_INVALID"),)), "TRACE_TREE_INVALID"),
        (a_trace(call("x", {}), findings=(odd("TRACE_TOO_DEEP"),)), "TRACE_TOO_DEEP"),
        (a_trace(call("x", {}), findings=(odd("TRACE_INCOMPLETE"),)), "TRACE_INCOMPLETE"),
        (a_trace(Call(tool="x", arguments_status="not_captured")), "not captured"),
    ],
)
def test_a_recording_that_does_not_show_what_the_agent_did_cannot_be_compared(trace, word):
    (found,) = quality_of(trace)
    assert found.startswith(word)


@pytest.mark.parametrize(
    "trace",
    [
        a_trace(completed=True),
        a_trace(Message(role="assistant", text="I may not."), completed=True),
        a_trace(Message(role="assistant", text="I may not.")),
        a_trace(call("x", {})),
        a_trace(call("x")),
        a_trace(Call(tool="x", arguments_status="malformed", arguments_raw="{card:")),
        a_trace(Call(tool="x", arguments_status="not_object", arguments_raw="[]")),
        a_trace(call("x", {}), completed=True, findings=(odd("TRACE_INCOMPLETE"),)),
        a_trace(call("x", {}), findings=(odd("TRACE_ORPHAN_RESULT"), odd("TRACE_DUPLICATE_ID"), odd("CLOCK_SKEW"))),
        a_trace(Call(tool="x", by="user", arguments_status="not_captured"), call("x", {})),
    ],
)
def test_an_abstention_and_the_agents_own_faults_can_be_compared(trace):
    assert quality_of(trace) == ()


def graded(verdict: str | None = None, *, veto: bool = False, **changed) -> GoldenResult:
    known = {"trace_id": "t", "case_id": "c", "verdict": verdict, "vetoes": (VETO,) if veto else ()}
    return GoldenResult(**known | changed)


def test_a_veto_of_one_decides_whatever_the_golden_says():
    good, bad = graded("FAIL"), graded("PASS", veto=True)
    assert code_verdict(good, bad, are_same=False, by_golden=True) == ("A", "policy_veto")
    assert code_verdict(bad, good, are_same=False, by_golden=False) == ("B", "policy_veto")


def test_a_veto_of_both_decides_nothing():
    both = graded("FAIL", veto=True)
    assert code_verdict(both, both, are_same=False, by_golden=True) is None


def test_a_golden_decides_only_if_asked_and_only_between_pass_and_fail():
    good, bad = graded("PASS"), graded("FAIL")
    assert code_verdict(good, bad, are_same=False, by_golden=True) == ("A", "golden")
    assert code_verdict(bad, good, are_same=False, by_golden=True) == ("B", "golden")
    assert code_verdict(good, bad, are_same=False, by_golden=False) is None
    assert code_verdict(good, good, are_same=False, by_golden=True) is None
    unevaluable = graded(None, status="UNEVALUABLE", reason="not_captured")
    assert code_verdict(good, unevaluable, are_same=False, by_golden=True) is None
    assert code_verdict(good, graded("FAIL", policy_only=True), are_same=False, by_golden=True) is None


def test_two_traces_that_show_the_same_are_a_tie():
    assert code_verdict(graded(), graded(), are_same=True, by_golden=False) == ("TIE", "identical")
    assert code_verdict(graded(), graded(), are_same=False, by_golden=False) is None


RESULTS = st.builds(graded, st.sampled_from(["PASS", "FAIL", None]), veto=st.booleans())


@given(RESULTS, RESULTS, st.booleans(), st.booleans())
def test_with_the_traces_swapped_the_other_one_wins_for_the_same_reason(a, b, are_same, by_golden):
    here = code_verdict(a, b, are_same=are_same, by_golden=by_golden)
    there = code_verdict(b, a, are_same=are_same, by_golden=by_golden)
    other = {"A": "B", "B": "A", "TIE": "TIE"}
    assert there == (None if here is None else (other[here[0]], here[1]))


def test_a_finding_that_repeats_is_said_once():
    trace = a_trace(call("x", {}), findings=(odd("TRACE_MALFORMED"), odd("TRACE_MALFORMED")))
    assert len(quality_of(trace)) == 1
    assert len(quality_of(msgspec.structs.replace(trace, completed=False))) == 2
