"""`interpretation` as a person reads it."""

from __future__ import annotations

import io

import msgspec
from rich.console import Console

from rightcall.grade.interpretation import InterpretationResult, UnsupportedValue
from rightcall.report.interpretation_figures import (
    MISREAD,
    read_or_misread,
    reading_lines,
    reading_words,
    said_of_reading,
)
from rightcall.report.terminal.report import print_brief
from rightcall.report.view import brief
from rightcall.report.view.scores import InterpretationCollector
from rightcall.run.interpretation.figures import InterpretationAggregate, Skipped
from rightcall.run.interpretation.sampling import TwoPhases


def result(**changed):
    known = {
        "step_id": "t#c1", "trace_id": "t", "case_id": None, "call_index": 0, "tool": "depth", "score": 3.0,
        "interpretation_fidelity_score": 0.6, "action_score": 4, "scored_by": "fast", "key_errors": ("the depth",),
        "misinterpretation_flags": ({"claim_quote": "9 m", "kind": "wrong_value", "result_path": "$.m"},),
    }  # fmt: skip
    return msgspec.to_builtins(InterpretationResult(**{**known, **changed}))


def printed(figures):
    out = io.StringIO()
    print_brief(Console(file=out, width=80), brief.interpretation(figures))
    return " ".join(out.getvalue().split())


def test_a_run_without_any_result_says_why_there_is_no_figure():
    aggregate = InterpretationAggregate("fifths", 0.8, None, [Skipped("t#c1", "depth", "no_result")] * 7)
    said = printed(aggregate.summary())
    assert said.startswith("7 more without a reading (skipped, listed): no_result 7")
    assert "… 2 more: --json lists them" in said
    assert "no fidelity: nothing was evaluated" in said
    lines = InterpretationCollector(aggregate.summary()).parts().lines
    assert "7 calls without a reading were skipped: no_result 7" in lines


def test_doubles_that_are_too_few_for_a_correction_are_said():
    aggregate = InterpretationAggregate("fifths", 0.8, TwoPhases("light", "strong"), ())
    for n in range(4):
        made = msgspec.convert(result(step_id=f"t{n}#c1", trace_id=f"t{n}", light_score=3.0), InterpretationResult)
        aggregate.add(made)
    said = printed(aggregate.summary())
    assert "no fidelity: 0 items have a strong score" in said
    assert "3 of 3 drawn readings have no score of strong no reading" in said
    assert "no reading has a score of both judges: nothing is known about light" in said
    assert "kappa" not in said
    assert "calibrated" not in said


def test_drawn_readings_without_a_strong_score_are_counted_beside_the_figures():
    aggregate = InterpretationAggregate("fifths", 0.8, TwoPhases("light", "strong"), ())
    for n, strong in enumerate((3.0, 3.0, None)):
        one = result(step_id=f"t{n}#c1", trace_id=f"t{n}", light_score=3.0, strong_score=strong)
        aggregate.add(msgspec.convert(one, InterpretationResult))
    said = printed(aggregate.summary())
    assert "1 of 3 drawn readings have no score of strong: taken like the others of their kind" in said
    assert "strong and light on the 2 readings that both judged: no kappa, both gave one and the same label" in said
    assert "only 2 doubles: these figures are rough" in said
    assert "calibrated to the strong judge, not to people" in said


def test_level_3_and_below_is_a_misreading_and_a_four_is_not():
    assert [read_or_misread(result(score=float(score))) for score in (1, 3, 4, 5)] == [MISREAD, MISREAD, "4/5", "5/5"]
    direct = {"fidelity_mapping": "direct"}
    assert [read_or_misread(result(score=score, **direct)) for score in (0.75, 0.8)] == [MISREAD, "0.80"]


def test_one_line_names_the_errors_else_the_flags():
    assert reading_words(result()) == "depth 3/5: the depth"
    assert reading_words(result(key_errors=())) == "depth 3/5: wrong_value"
    assert reading_words(result(key_errors=(), misinterpretation_flags=None)) == "depth 3/5: nothing is named"


def test_a_reading_in_full_says_where_else_its_values_stand():
    values = (
        UnsupportedValue(value="9", kind="number", where=0, also_in=("request", "count")),
        UnsupportedValue(value="A17", kind="identifier", where=5),
    )
    lines = [text for _, text, _ in reading_lines(result(reading="implicit", unsupported_values=values))]
    assert lines[:3] == [
        "c1 depth: the agent said nothing; its next action counts",
        "9 (number), but in the request, a count of the result's parts",
        "A17 (identifier), and nowhere else",
    ]
    assert lines[3] == "3/5 · fidelity 0.60 (fifths) · by fast · next action 4/5"
    gone = [text for _, text, _ in reading_lines(result(status="UNEVALUABLE", reason="too_long"))]
    assert gone[-1] == "none: too_long"


def test_what_a_judge_said_is_quoted():
    reply = {
        "score": 2, "action_score": None, "confidence": 0.9, "justification": "The gauge says 12.",
        "misinterpretation_flags": [{"claim_quote": "9 m", "kind": "wrong_value", "result_path": None}],
        "evidence": [{"result_path": "$.m", "quote": "12"}], "interpretation_accuracy": "wrong",
        "action_appropriateness": "none",
    }  # fmt: skip
    assert list(said_of_reading(reply)) == [
        "score 2 · action – · confidence 0.9", "“The gauge says 12.”", "✗ wrong_value: “9 m”", "$.m: “12”",
        "reading: wrong", "action: none",
    ]  # fmt: skip
