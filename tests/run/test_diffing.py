"""Two runs case by case: what is joined with what, and what stands against comparing them."""

import pytest
from gate_making import golden, row, rubric, run, selection

from rightcall.gate.comparing import flip_words
from rightcall.gate.rules import rules_of
from rightcall.run.gating.diffing import diff


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


def gated(old, new, **table):
    from rightcall.run.gating.gates import gate

    ((name, values),) = table.items()
    report = gate(new, rules_of({name.replace("__", "."): values}), baseline=old)
    return report.decisions[0]


def test_of_a_metric_of_which_less_is_better_more_is_worse():
    def pairs(inconsistent):
        return run(*(row("preference", n, "A", {"agent_a": "x", "agent_b": "y", "order_inconsistent": n < inconsistent})
                     for n in range(200)))  # fmt: skip

    rule = {"against": "x", "max": 0.9}
    assert gated(pairs(0), pairs(60), preference__order_inconsistent=rule).answer == "FAIL"
    better = gated(pairs(60), pairs(0), preference__order_inconsistent=rule)
    assert (better.answer, better.value.estimate) == ("PASS", 0.3)


def test_the_limit_of_a_figure_is_no_number_of_cases_that_may_turn():
    old, new = (run(*(golden(n, "FAIL" if n == bad else "PASS") for n in range(400))) for bad in (-1, 3))
    found = gated(old, new, golden__pass_rate={"against": "x", "max": 1.0})
    assert (found.answer, found.rule) == ("PASS", "at most 0.02 worse than the baseline")


def test_several_trials_are_compared_by_the_figure_that_the_rule_names():
    old = run(*(golden(10 * n + k, case=f"c{n}") for n in range(60) for k in range(3)))
    new = run(*(golden(10 * n + k, "FAIL" if k == 0 else "PASS", case=f"c{n}") for n in range(60) for k in range(3)))
    values = [
        gated(old, new, **{f"golden__pass_{kind}": {"against": "x"}}).value.estimate for kind in ("hat_3", "at_2")
    ]
    assert values == [-1.0, 0.0]


def test_a_result_that_nobody_could_read_is_unread_although_a_critical_was_confirmed_on_its_trace():
    old = run(*(rubric(n) for n in range(300)))
    lost = rubric(0, None, critical="confirmed", signed="confirmed by dana: closed for good")
    found = gated(old, run(lost, *(rubric(n) for n in range(1, 300))), rubric__regressions={})
    assert found.pessimistic is not None


def test_a_value_that_is_on_no_scale_is_unread_and_breaks_nothing():
    old, new = (run(*(row("tone", n, None, {"reply": {"grade": value}}, status="EVALUATED") for n in range(5)))
                for value in (1, 3))  # fmt: skip
    assert part(old, new).difference.reason == "no case that both have was evaluated in both"
    assert part(old, new).unevaluable == ("c0", "c1", "c2", "c3", "c4")
