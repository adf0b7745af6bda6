"""Two runs case by case: what is joined with what, and what stands against comparing them."""

import pytest
from gate_making import golden, row, rubric, run, selection

from rightcall.gate.comparing import flip_words
from rightcall.run.diffing import diff


def part(old, new):
    (found,) = diff(old, new).graders
    return found


def test_graders_that_only_one_run_has_are_named():
    found = diff(run(golden(1), rubric(1), name="old"), run(golden(1), selection(1, "a", "a"), name="new"))
    assert (found.old, found.new, found.only_old, found.only_new) == ("old", "new", ("rubric",), ("selection",))
    assert [one.grader for one in found.graders] == ["golden"]


def test_steps_of_a_file_are_joined_by_their_ids():
    old = run(*(selection(n, "a", "a", case=None) for n in range(5)))
    new = run(*(selection(n, "b" if n == 2 else "a", "a", case=None) for n in range(5)))
    found = part(old, new)
    assert [flip_words(one) for one in found.flips] == ["s2 PASS → FAIL: wrong_tool: b, not a"]
    assert (found.shared, found.both_passed) == (5, 4)


def test_steps_that_were_cut_from_a_trace_are_joined_by_their_case():
    def cut(trace, *steps):
        return [
            row("selection", 0, "PASS" if good else "FAIL", {"selected_tool": "a", "expected_tool": "a"}, case="c",
                step_id=f"{trace}#g{number}") for number, good in enumerate(steps)
        ]  # fmt: skip

    rows = [cut(trace, *steps) for trace, steps in (("t0", (1, 1)), ("t0", (1, 0, 1)))]
    found = part(*(run(*these) for these in rows))
    assert (found.shared, found.lost) == (1, 1)
    assert flip_words(found.flips[0]) == "c 2 of 2 → 2 of 3"


def test_a_step_of_which_something_else_is_expected_is_another_golden():
    old, new = run(selection(1, "a", "a")), run(selection(1, "a", "b"))
    assert part(old, new).not_comparable == ("golden of 1 shared case differs: s1",)
    assert part(old, run(selection(1, "b", "a"))).not_comparable == ()


def test_trials_of_a_case_are_one_case():
    old = run(*(golden(n, case="c") for n in range(3)))
    new = run(*(golden(n, "FAIL" if n == 1 else "PASS", case="c") for n in range(3)))
    found = part(old, new)
    assert (found.shared, found.lost, found.p_value) == (1, 1, None)


def test_scores_are_compared_dimension_by_dimension():
    found = part(run(*(rubric(n, 4) for n in range(20))), run(*(rubric(n, 4 + n % 2) for n in range(20))))
    assert found.difference.estimate == pytest.approx(0.5)
    assert found.scores["tool_selection_score"].estimate == pytest.approx(0.5)
    assert found.scores["abstention_score"].reason == "no case has this score in both"
    assert found.flips[-1].new == "5"


def test_a_confirmed_critical_is_a_failure_of_its_trace_in_every_grader_of_traces():
    old = run(golden(1), rubric(1))
    new = run(golden(1), rubric(1, 2.0, "CRITICAL", critical="confirmed", signed="confirmed by dana: closed for good"))
    found = next(one for one in diff(old, new).graders if one.grader == "golden")
    assert [flip_words(one) for one in found.flips] == ["c1 PASS → FAIL: confirmed by dana: closed for good"]


def test_what_the_two_have_not_in_common_is_listed_and_compares_nothing():
    found = part(run(golden(1), golden(2)), run(golden(2), golden(3), golden(4, None)))
    assert (found.missing_cases, found.new_cases, found.shared) == (("c1",), ("c3", "c4"), 1)
    assert part(run(golden(1)), run(golden(2))).difference.reason == "the two have no case in common"


def test_pairs_of_traces_are_compared_by_who_won():
    def pair(number, verdict):
        return row("preference", number, verdict, {"agent_a": "x", "agent_b": "y"})

    found = part(run(*(pair(n, "B") for n in range(6))), run(*(pair(n, "A" if n == 0 else "B") for n in range(6))))
    assert [flip_words(one) for one in found.flips] == ["c0 B → A"]
    assert found.difference.estimate == pytest.approx(-1 / 6)
