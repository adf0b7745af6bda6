"""A gate and a comparison in the terminal."""

from io import StringIO

import pytest
from gate_making import golden, passes, rubric, run, selection
from rich.console import Console

from rightcall.gate.rules import rules_of
from rightcall.report.gate_lines import print_diff, print_gate
from rightcall.report.written.diff import markdown
from rightcall.run.gating.diffing import diff
from rightcall.run.gating.gates import gate


def shown(results, table, width=100, **given):
    out = StringIO()
    print_gate(Console(file=out, width=width), gate(results, rules_of(table), **given))
    return out.getvalue()


def test_a_rule_is_shown_with_its_figure_interval_bound_and_answer():
    text = shown(run(*passes(236, failed=1)), {"golden.pass_rate": {"min": 0.98}})
    assert "golden.pass_rate    PASS  0.996 [0.976, 0.999] n=236 · lower 95 % bound 0.9801" in text


def test_what_misses_a_limit_is_never_shown_as_it():
    rows = [selection(n, "a", "a") for n in range(195)] + [selection(200 + n, "a", "b") for n in range(4)]
    text = shown(run(*rows), {"selection.precision": {"min": 0.98}})
    assert "0.9799 [0.949, 0.992] n=199" in text
    assert "0.9799 is below 0.98" in text
    assert "0.980 " not in text


def test_how_many_more_what_is_unread_and_who_judged_stand_below_the_table():
    rows = [rubric(n, 4 + n % 2) for n in range(30)] + [rubric(99, None)]
    text = shown(run(*rows), {"rubric.overall_score": {"min": 4.3}})
    assert "further cases like those before would settle it" in text
    assert "if everything unread is the worst: 4.387" in text
    assert "nobody knows if judge `desk` is fit for rubric: never calibrated" in text


def test_why_nothing_is_comparable_comes_first():
    text = shown(run(golden(1, case_version="2")), {}, baseline=run(golden(1, case_version="1"), name="old"))
    assert text.index("golden is not comparable with old: golden of 1 shared case differs: c1") < text.index("gate ")


def test_long_lists_are_cut_and_say_so():
    text = shown(run(*passes(60, failed=40)), {"golden.pass_rate": {"min": 0.9}}, baseline=run(*passes(60), name="b"))
    assert "40 cases turned bad, 0 good" in text
    assert "… 20 more: --json or -o FILE.json has all" in text


def test_it_fits_80_columns_and_hides_no_control_characters():
    rows = [golden(n, "FAIL", case=f"a-very-long-name-of-a-case-{n}-\x1b[31m") for n in range(3)]
    text = shown(run(*rows), {"golden.pass_rate": {"min": 0.9}}, width=80)
    assert "\x1b" not in text
    assert "\\u001b[31m" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_comparison_shows_the_table_of_outcomes_and_both_rates():
    old, new = run(*passes(20, failed=2), name="old"), run(*passes(20, failed=1), golden(77), name="new")
    out = StringIO()
    print_diff(Console(file=out, width=100), diff(old, new))
    text = out.getvalue()
    assert "golden: 20 shared cases" in text
    assert "FAIL → PASS 1 · FAIL → FAIL 1" in text
    assert "new: 1 case: c77" in text
    assert "difference 0.050" in text


def test_markdown_of_a_comparison_shows_hostile_text_as_text():
    old, new = run(golden(1, case="<b>|x`"), name="old"), run(golden(1, "FAIL", case="<b>|x`"), name="new")
    text = markdown(diff(old, new))
    assert "| &lt;b&gt;\\|x\\` | PASS | FAIL |" in text
    assert "<b>" not in text


def test_scores_are_compared_with_their_differences():
    old, new = (run(*(rubric(n, score) for n in range(12)), name=name) for name, score in (("old", 4), ("new", 3)))
    out = StringIO()
    print_diff(Console(file=out, width=100), diff(old, new))
    assert "rubric  c0 4 → 3" in out.getvalue()
    assert "overall_score" not in out.getvalue()
    assert "tool_selection_score -1.000" in out.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_no_figure_is_torn_from_its_name_where_the_table_is_narrow(width):
    rows = [rubric(n, 4 + n % 2) for n in range(30)]
    table = {"rubric.overall_score": {"min": 4.3}, "rubric.regressions": {}}
    lines = shown(run(*rows), table, width, baseline=run(*rows, name="b")).splitlines()
    assert max(map(len, lines)) <= width
    assert sum("lower 95 % bound 4.277" in line for line in lines) == 1
    assert sum("4.500 [4.310, 4.690] n=30" in line for line in lines) == 1
    assert any("rule: at most 0.08 worse" in line for line in lines)


def test_trials_and_steps_are_said_to_count_once_in_a_comparison():
    old, new = (
        run(*(golden(3 * n + k, "FAIL" if n < bad else "PASS", case=f"c{n}") for n in range(20) for k in range(3)))
        for bad in (1, 3)
    )
    out = StringIO()
    print_diff(Console(file=out, width=120), diff(old, new))
    text = out.getvalue()
    assert "a case of several results (trials, steps) counts once in each figure" in text
    assert "counted here as PASS: a case of which all results passed" in text
    assert "old 0.950" in text
    assert "n=20 cases" in text
