"""What must be known before the figures of a judged run, and its numbers with interval, count and reason."""

from __future__ import annotations

import pytest

from rightcall.grade.opinion import Conflict, Opinion
from rightcall.report.judged import (
    asked,
    audited,
    conflict_rate,
    judge_summary,
    named,
    retried,
    share,
    standing,
    warnings,
)
from rightcall.run.judging.items import JudgeTally
from rightcall.stats.intervals import Estimate, wilson

WRONG = Conflict(check="grade", message="says PASS; the names are different")
ODD = Conflict(check="cross_field", message="contradicts itself")


def tally(right: int = 0, wrong: int = 0, odd: int = 0, unchecked: int = 0, **failed: int) -> JudgeTally:
    """A judge with so many verdicts of each kind, and failures by reason."""
    found = JudgeTally()
    for n, conflicts in ((right, ()), (wrong, (WRONG,)), (odd, (ODD,))):
        for _ in range(n):
            found.add(Opinion(judge="j", reply={}, checked=("grade", "cross_field"), conflicts=conflicts))
    for _ in range(unchecked):
        found.add(Opinion(judge="j", reply={}, checked=("cross_field",)))
    for reason, n in failed.items():
        for _ in range(n):
            found.add(Opinion(judge="j", status="UNEVALUABLE", reason=reason))
    return found


@pytest.mark.parametrize(
    ("judge", "stamp"),
    [
        (tally(right=2, wrong=20), "not a judgement"),
        (tally(right=18, wrong=2), "contradicts decidable facts"),
        (tally(right=99, wrong=1), None),
        (tally(odd=20), None),
        (tally(unchecked=20), None),
        (tally(), None),
    ],
)
def test_a_judge_is_stamped_by_the_lower_bound_of_its_rate_and_warned_of_by_the_rate(judge, stamp):
    assert standing(judge, 0.05) == stamp
    assert judge_summary(judge, 0.05, {})["stamp"] == stamp
    lines = warnings("j", judge, 0.05, {})
    assert [line.startswith(f"judge j: {stamp}: ") for line in lines] == ([] if stamp is None else [True])


def test_the_limit_is_the_settings_one():
    judge = tally(right=10, wrong=10)
    assert (standing(judge, 0.05), standing(judge, 0.4), standing(judge, 0.6)) == (
        "not a judgement", "contradicts decidable facts", None,
    )  # fmt: skip


def test_a_warning_says_the_rate_its_interval_the_limit_and_the_facts():
    (line,) = warnings("j", tally(right=1, wrong=3, odd=2), 0.05, {})
    rate = wilson(3, 6)
    assert line == (
        "judge j: not a judgement: it contradicts what code decides in 3 of 6 verdicts, "
        f"0.500 [{rate.low:.3f}, {rate.high:.3f}], limit 0.05 (grade 3)"
    )


def test_a_rate_that_rests_on_nothing_is_null_with_a_reason():
    rate = conflict_rate(tally(unchecked=3))
    assert (rate.estimate, rate.n, rate.reason) == (None, 0, "no verdict held anything that code decides too")
    assert judge_summary(tally(), 0.05, {})["conflict_rate"]["reason"]


def test_quarrels_of_a_judge_with_itself_are_counted_apart():
    lines = audited("j", tally(right=1, wrong=1, odd=2))
    assert lines[0].startswith("judge j contradicts code in 1 of 4 verdicts, 0.250 [")
    assert lines[0].endswith(": grade 1")
    assert lines[1:] == ["judge j contradicts itself in 2 of 4 replies"]


def test_silence_is_counted_by_reason():
    judge = tally(right=1, JUDGE_SCHEMA=1, JUDGE_TIMEOUT=2)
    assert audited("j", judge)[-1] == "judge j gave no readable answer to 3 questions: JUDGE_TIMEOUT 2, JUDGE_SCHEMA 1"
    assert audited("j", tally(JUDGE_SCHEMA=1))[-1] == "judge j gave no readable answer to 1 question: JUDGE_SCHEMA 1"


def test_what_was_retried_is_what_was_healed_or_malformed_twice_and_no_fault_of_the_network():
    judge = tally(JUDGE_SCHEMA=2, JUDGE_REFUSAL=1, JUDGE_TIMEOUT=4, too_long=1)
    judge.add(Opinion(judge="j", reply={}, healed=True))
    assert retried(judge) == 4


def test_answers_of_another_model_are_named():
    assert warnings("j", tally(right=1), 0.05, {"other-1": 1, "other-2": 2}) == [
        "judge j: 1 answer came from `other-1`, which is not the model asked for: not used",
        "judge j: 2 answers came from `other-2`, which is not the model asked for: not used",
    ]


@pytest.mark.parametrize(
    ("name", "who", "shown"),
    [
        ("fast", "vendor/m", "fast = vendor/m"),
        ("openai:m", "m", "openai:m"),
        ("recorded:a.jsonl", "recorded", "recorded:a.jsonl"),
    ],
)
def test_a_judges_name_says_its_model_once(name, who, shown):
    assert named(name, who) == shown


def test_who_was_asked_with_which_prompt():
    facts = {
        "judges": [
            {"name": "a", "model": "m-1", "provider": "openai"},
            {"name": "b", "model": "", "provider": "command"},
        ],
        "prompts": [{"id": "selection", "version": "1", "sha256": "0123456789"}],
    }
    assert asked(facts) == ["judge a = m-1, b = command · prompt selection@012345"]
    assert asked({}) == ["decided by code alone: no judge was asked"]


def test_a_share_has_its_interval_or_its_reason():
    assert share(wilson(0, 0)) == wilson(0, 0).reason
    assert share(wilson(1, 2)) == "0.500 [0.095, 0.905]"


def test_a_share_below_one_is_never_shown_as_one() -> None:
    made = Estimate(estimate=2999.9 / 3000, low=0.9991, high=0.99999, n=3000, method="wilson 0.95")
    assert share(made).startswith("<1.000 [0.999, ")
