"""How judged results are counted, whatever the grader."""

from __future__ import annotations

from rightcall.grade.opinion import Conflict, Opinion
from rightcall.grade.selection import SelectionResult
from rightcall.run.judging.items import JudgedTally, JudgeTally


def opinion(**changed) -> Opinion:
    known = {"judge": "strong", "reply": {"grade": "PASS"}, "model": "m-1", "checked": ("grade", "cross_field")}
    return Opinion(**{**known, **changed})


def test_an_opinion_without_a_reply_is_counted_by_its_reason_and_nowhere_else():
    tally = JudgeTally()
    tally.add(opinion(status="UNEVALUABLE", reason="JUDGE_NOT_JSON", reply=None, model=None))
    tally.add(opinion(status="UNEVALUABLE", reason=None, reply=None))
    assert tally.failed == {"JUDGE_NOT_JSON": 1, "unknown": 1}
    assert (tally.replies, tally.checked, tally.models) == (0, 0, {})


def test_a_conflict_counts_once_a_verdict_and_once_a_check():
    tally = JudgeTally()
    tally.add(opinion(conflicts=(Conflict("grade", "no"), Conflict("selected_tool", "no")), checked=("grade",)))
    tally.add(opinion(conflicts=(Conflict("grade", "no"),), checked=("grade",)))
    tally.add(opinion())
    assert (tally.checked, tally.conflicting, tally.inconsistent) == (3, 2, 0)
    assert tally.conflicts == {"grade": 2, "selected_tool": 1}


def test_a_reply_that_contradicts_itself_contradicts_no_fact():
    tally = JudgeTally()
    tally.add(opinion(conflicts=(Conflict("cross_field", "no"),), checked=("cross_field",)))
    assert (tally.checked, tally.conflicting, tally.inconsistent) == (0, 0, 1)


def test_a_reply_of_an_unnamed_model_is_counted_as_such():
    tally = JudgeTally()
    tally.add(opinion(model=None, cached=True, healed=True))
    assert tally.models == {"(not said)": 1}
    assert (tally.cached, tally.healed) == (1, 1)


def test_what_was_not_asked_is_in_the_whole_and_in_no_other_count():
    tally = JudgedTally(not_asked=3)
    tally.add(SelectionResult(step_id="a", status="EVALUATED", judges=(opinion(),)))
    tally.add(SelectionResult(step_id="b", status="UNEVALUABLE", reason="no_case"))
    tally.add(SelectionResult(step_id="c", status="UNEVALUABLE"))
    assert (tally.evaluated, tally.unevaluable, tally.n) == (1, {"no_case": 1, "unknown": 1}, 6)
    assert list(tally.judges) == ["strong"]
