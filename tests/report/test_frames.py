"""`to_frame`: one row a result, with the values of `--json`, in pandas and in polars."""

from __future__ import annotations

import builtins
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rightcall
from rightcall.errors import ConfigError, MissingExtraError
from rightcall.grade.interpretation import InterpretationResult
from rightcall.grade.own import OwnResult
from rightcall.grade.preference import PreferenceResult
from rightcall.grade.rubric import RubricMetrics, RubricResult
from rightcall.grade.selection import SelectionResult
from rightcall.grade.verdict import Article, Finding, GoldenResult, Metrics
from rightcall.report.formats.frames import COMMON, to_frame
from rightcall.run.finished.live import row_of
from rightcall.run.results.columns import columns_of, together
from rightcall.testing import ScriptedModel

WALLET = Path(__file__).resolve().parents[2] / "examples/lost-wallet"
KINDS = ("pandas", "polars")
TYPES = (GoldenResult, SelectionResult, RubricResult, PreferenceResult, InterpretationResult, OwnResult)


def rows(frame: Any) -> list[dict[str, Any]]:
    """The rows as plain values; whatever the library calls nothing is `None`."""
    if type(frame).__module__.startswith("pandas"):
        import pandas as pd

        return [{k: None if v is pd.NA else v for k, v in row.items()} for row in frame.to_dict("records")]
    return frame.to_dicts()


def golden(**changed: Any) -> GoldenResult:
    finding = Finding(kind="wrong_argument", severity="HIGH", message="é\u2028", expected=2**70, actual=None)
    known = {
        "trace_id": "t", "case_id": "c", "verdict": "FAIL", "metrics": Metrics(matched=1, overall=0.1, order_ok=True),
        "findings": (finding,), "calls": 2,
    }  # fmt: skip
    return GoldenResult(**{**known, **changed})


RESULTS = (
    golden(),
    golden(status="UNEVALUABLE", reason="no_trace", verdict=None, metrics=Metrics(), trace_id=None, findings=()),
    golden(article=Article(precision_score=0.25, argument_accuracy=0.5, sequence_score=0.5, efficiency_score=1.0, overall_score=0.45, feedback="=1+1")),
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_is_that_of_the_json_output(kind):
    frame = rows(to_frame(RESULTS, kind))
    for row, result in zip(frame, RESULTS, strict=True):
        plain = json.loads(msgspec.json.encode(result))
        for name, what in columns_of(GoldenResult).kinds.items():
            wanted = plain
            for key in name.split("."):
                wanted = None if wanted is None else wanted[key]
            found = row[name]
            assert (json.loads(found) if what == "json" and found is not None else found) == wanted, name
            assert type(found) is not float or what == "number"


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_null_and_whole_numbers_stay_whole(kind):
    frame = to_frame(RESULTS, kind)
    types = {name: str(frame[name].dtype) for name in ("trial", "calls", "metrics.matched", "metrics.overall")}
    whole = "Int64"
    assert types == {"trial": whole, "calls": whole, "metrics.matched": whole, "metrics.overall": "Float64"}
    assert [row["metrics.matched"] for row in rows(frame)] == [1, None, 1]
    assert [row["article.overall_score"] for row in rows(frame)] == [None, None, 0.45]
    assert [row["trace_id"] for row in rows(frame)] == ["t", None, "t"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("of", TYPES)
def test_an_empty_table_has_the_columns_and_types_of_a_full_one(kind, of):
    empty, again = to_frame([], kind, of=of), to_frame([], kind, of=of)
    assert list(empty.columns) == list(columns_of(of).kinds) == list(again.columns)
    assert len(empty) == 0
    assert {"grader", "status", "reason", "verdict"} <= set(empty.columns)
    if of is GoldenResult:
        full = to_frame(RESULTS, kind)
        assert list(full.columns) == list(empty.columns)
        assert [str(full[name].dtype) for name in full.columns] == [str(empty[name].dtype) for name in empty.columns]


@pytest.mark.parametrize("kind", KINDS)
def test_of_nothing_at_all_there_are_the_columns_that_every_result_has(kind):
    assert list(to_frame([], kind).columns) == list(COMMON)
    assert all(set(COMMON) <= set(columns_of(one).kinds) for one in TYPES)


@pytest.mark.parametrize("kind", KINDS)
def test_results_of_several_graders_make_one_table(kind):
    rubric = RubricResult(trace_id="t", case_id="c", metrics=RubricMetrics(tool_selection_score=4), justification="so")
    step = SelectionResult(step_id="s", justification="by the name", verdict="PASS", grade="PASS")
    frame = to_frame([golden(), rubric, step], kind)
    both = rows(frame)
    assert [row["grader"] for row in both] == ["golden", "rubric", "selection"]
    assert [row["metrics.matched"] for row in both] == [1, None, None]
    assert [row["metrics.tool_selection_score"] for row in both] == [None, 4, None]
    # One grader says it in words, the other as an object: both are JSON here.
    assert [row["justification"] for row in both] == [None, '"so"', '"by the name"']
    assert list(frame.columns)[: len(columns_of(GoldenResult).kinds)] == list(columns_of(GoldenResult).kinds)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_run_on_record_are_results_too(kind):
    lines = [msgspec.json.encode(one) for one in RESULTS]
    seen: dict[str, int] = {}
    assert rows(to_frame([row_of("golden", line, seen) for line in lines], kind)) == rows(to_frame(RESULTS, kind))
    own = OwnResult(trace_id="t", case_id=None, grader="tone", reply={"polite": True})
    (row,) = rows(to_frame([row_of("tone", msgspec.json.encode(own), {})], kind))
    assert row["reply"] == '{"polite":true}'


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_judged_run_makes_its_own_table(kind):
    traces = rightcall.load_traces(WALLET / "traces.jsonl")
    cases = rightcall.load_cases(WALLET / "cases.toml")
    model = ScriptedModel(lambda _request: '{"no": "scores"}')
    done = rightcall.run(rightcall.rubric(traces, cases=cases, judge=rightcall.Judge(model)))
    frame = done.to_frame(kind)
    assert type(frame).__module__.split(".")[0] == (kind or "pandas")
    assert [row["status"] for row in rows(frame)] == ["UNEVALUABLE", "UNEVALUABLE"]
    assert [row["metrics.overall_score"] for row in rows(frame)] == [None, None]


def without(monkeypatch, *names: str) -> None:
    """Let these libraries be missing."""
    real = builtins.__import__
    for name in [one for one in sys.modules if one.partition(".")[0] in names]:
        monkeypatch.delitem(sys.modules, name)

    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in names:
                raise ImportError(name)

    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    assert builtins.__import__ is real


def test_without_pandas_it_is_polars(monkeypatch):
    import_module("polars")
    without(monkeypatch, "pandas")
    assert type(to_frame(RESULTS)).__module__.startswith("polars")


@pytest.mark.parametrize(
    ("kind", "missing", "said"),
    [
        (None, ("pandas", "polars"), "a data frame needs pandas or polars, which is not installed"),
        ("pandas", ("pandas",), "a data frame needs pandas, which is not installed"),
        ("polars", ("polars",), "a data frame needs polars, which is not installed"),
    ],
)
def test_a_missing_library_is_one_clear_line(monkeypatch, kind, missing, said):
    without(monkeypatch, *missing)
    with pytest.raises(MissingExtraError, match=said) as caught:
        to_frame(RESULTS, kind)
    assert "\n" not in str(caught.value)
    assert caught.value.hint is not None
    assert caught.value.exit_code == 2


def test_another_word_or_no_result_is_refused():
    with pytest.raises(ConfigError, match="`arrow` is no kind of data frame"):
        to_frame(RESULTS, "arrow")
    for wrong in ("text", {"verdict": "PASS"}, Metrics()):
        with pytest.raises(ConfigError, match="is no result"):
            to_frame([wrong])


@given(st.lists(st.sampled_from(TYPES), max_size=5))
def test_the_columns_of_several_tables_are_those_of_each_in_order(kinds):
    found = together(columns_of(one).kinds for one in kinds)
    for one in kinds:
        names = list(columns_of(one).kinds)
        assert set(names) <= set(found)
    assert list(found) == list(dict.fromkeys(name for one in kinds for name in columns_of(one).kinds))
