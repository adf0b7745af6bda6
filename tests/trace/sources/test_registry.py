"""Which dialect a record is of: one, or an error that says what to do."""

import pytest

from rightcall.errors import ConfigError, Place, TraceError
from rightcall.trace.sources import registry
from rightcall.trace.sources.dialect import Dialect, ReadingReport, Skip

PLACE = Place("t.jsonl", 1)


def test_every_dialect_is_registered_under_its_name():
    assert next(iter(registry.DIALECTS)) == "native"
    assert {"openai_chat", "tau", "tau2"} <= registry.DIALECTS.keys()
    assert all(dialect.name == name and dialect.title for name, dialect in registry.DIALECTS.items())


def test_a_dialect_is_found_by_its_name():
    assert registry.by_name("native") is registry.DIALECTS["native"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("nativ", "did you mean `native`?"), ("openai-chat", "`openai_chat`"), ("xyz", "known: auto, native")],
)
def test_an_unknown_name_is_an_error_with_the_nearest(name, hint):
    with pytest.raises(ConfigError) as caught:
        registry.by_name(name)
    assert f"`{name}`" in caught.value.message
    assert hint in caught.value.hint


def test_a_native_record_is_recognised():
    assert registry.detect({"id": "t", "calls": []}, PLACE).name == "native"


def test_a_record_with_an_id_that_nobody_knows_is_native_and_wrong():
    assert registry.detect({"id": "t", "evnets": []}, PLACE).name == "native"


@pytest.mark.parametrize("value", [None, 7, "text", {}, {"a": 1}, [], [7]])
def test_a_record_of_no_dialect_is_an_error_that_lists_them(value):
    with pytest.raises(TraceError) as caught:
        registry.detect(value, PLACE)
    assert (caught.value.code, caught.value.place) == ("TRACE_UNKNOWN_DIALECT", PLACE)
    assert "native" in caught.value.hint
    assert "--from" in caught.value.hint


def test_a_record_of_two_dialects_is_not_guessed(monkeypatch):
    other = Dialect("other", "another", lambda _: True, lambda _value, _place: iter(()))
    monkeypatch.setitem(registry.DIALECTS, "other", other)
    with pytest.raises(TraceError) as caught:
        registry.detect({"id": "t", "calls": []}, PLACE)
    assert "this could be native, other" in caught.value.message


# ---- the report that all dialects share ----


def test_a_report_counts_skips_by_cause_and_keeps_three_places():
    report = ReadingReport()
    for line in range(5):
        report.skip(Skip("TRACE_MALFORMED", "no messages", Place("f", line)))
    report.skip(Skip("TRACE_TREE_INVALID", "a loop", Place()))
    assert (report.skipped, report.causes) == (6, {"TRACE_MALFORMED": 5, "TRACE_TREE_INVALID": 1})
    assert report.examples == {
        "TRACE_MALFORMED": ["f:0: no messages", "f:1: no messages", "f:2: no messages"],
        "TRACE_TREE_INVALID": ["a loop"],
    }


def test_two_reports_add_up_and_stay_as_they_were():
    left, right = ReadingReport("tau", read=2, incomplete=1), ReadingReport("tau", read=1)
    for place in range(2):
        left.skip(Skip("A", "x", Place("l", place)))
        right.skip(Skip("A", "y", Place("r", place)))
    total = left + right
    assert (total.dialect, total.read, total.incomplete, total.skipped, total.causes) == ("tau", 3, 1, 4, {"A": 4})
    assert total.examples == {"A": ["l:0: x", "l:1: x", "r:0: y"]}
    assert len(left.examples["A"]) == len(right.examples["A"]) == 2
