"""The fields of a result by name: the same names for all results of a grader, every number as it is."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.grade.interpretation import InterpretationResult
from rightcall.grade.opinion import Conflict, Opinion
from rightcall.grade.own import OwnResult
from rightcall.grade.preference import PreferenceResult
from rightcall.grade.rubric import RubricMetrics, RubricResult
from rightcall.grade.selection import SelectionResult
from rightcall.grade.verdict import Article, Finding, GoldenResult, Metrics, Veto
from rightcall.report.view.fields import fields_of, names_of

RESULTS = [
    GoldenResult(trace_id="t", case_id="c"),
    GoldenResult(
        trace_id="t", case_id="c", verdict="FAIL", metrics=Metrics(jaccard=1 / 3, matched=2**60 + 1),
        findings=(
            Finding(kind="missing_call", severity="HIGH", message="a"), Finding(kind="missing_call", severity="HIGH", message="b"),
        ),
        vetoes=(Veto(rule="forbidden", severity="CRITICAL", message="x"),),
        article=Article(
            precision_score=0.1, argument_accuracy=0.2, sequence_score=0.3, efficiency_score=0.4, overall_score=0.5,
            feedback="so",
        ),
    ),
    SelectionResult(step_id="s", secondary_categories=("wrong_tool", "over_action")),
    RubricResult(trace_id="t", case_id="c", metrics=RubricMetrics(overall_score=13 / 3)),
    PreferenceResult(pair="p", case_id="c"),
    InterpretationResult(step_id="t#c1", trace_id="t", case_id="c", call_index=0, tool="look"),
]  # fmt: skip


@pytest.mark.parametrize("result", RESULTS, ids=lambda one: type(one).__name__)
def test_every_result_of_a_grader_has_the_fields_that_its_type_names(result):
    names = list(names_of(result))
    assert len(names) == len(set(names))
    assert set(fields_of(msgspec.to_builtins(result))) <= set(names)


def test_numbers_are_as_they_are_and_what_is_not_known_is_none():
    fields = fields_of(msgspec.to_builtins(RESULTS[1]))
    assert (fields["jaccard"], fields["matched"], fields["recall"]) == (1 / 3, 2**60 + 1, None)
    assert (fields["findings"], fields["vetoes"]) == ("missing_call missing_call", "forbidden")
    assert (fields["article.overall_score"], fields_of(msgspec.to_builtins(RESULTS[0]))["article.overall_score"]) == (
        0.5, None,
    )  # fmt: skip


def test_lists_are_joined_and_what_has_parts_is_json():
    fields = fields_of(msgspec.to_builtins(RESULTS[2]))
    assert (fields["secondary_categories"], fields["notes"]) == ("wrong_tool over_action", None)
    assert fields_of(msgspec.to_builtins(RESULTS[4]))["size_a"] == '{"calls":0,"characters":0}'


def test_a_list_of_sentences_stays_one_of_parts():
    value = {"reply": {"errors": ["120 is not 210", "an error"], "words": ["a", "b"], "none": [], "numbers": [1, 2]}}
    found = fields_of(value)
    assert found["reply.errors"] == '["120 is not 210","an error"]'
    assert (found["reply.words"], found["reply.none"], found["reply.numbers"]) == ("a b", None, "[1,2]")


def test_what_of_a_reply_contradicts_code_is_named_once():
    wrong = (Conflict(check="grade", message="m"), Conflict(check="cross_field", message="m"))
    judges = tuple(Opinion(judge=name, conflicts=wrong) for name in "ab")
    fields = fields_of(msgspec.to_builtins(SelectionResult(step_id="s", judges=judges)))
    assert fields["conflicts"] == "cross_field grade"
    assert "judges" not in fields


@given(reply=st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8), max_size=5))  # fmt: skip
def test_a_reply_of_the_users_own_gives_each_of_its_fields_as_it_is(reply):
    result = OwnResult(trace_id="t", case_id="c", grader="tone", reply=reply)
    fields = fields_of(msgspec.to_builtins(result))
    assert {name.removeprefix("reply."): value for name, value in fields.items() if name.startswith("reply.")} == reply
    assert set(fields) == set(names_of(result))
