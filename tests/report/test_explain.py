"""One verdict in words: the aligned call diff, the veto, and the reason for every lost point."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall.report.explain import Explained, explain, scores, verdict

FEED = {"tool": "feed", "arguments": {"tank": 2}}
SCAN = {"tool": "scan", "arguments": {}}


@pytest.fixture
def words(graded):
    """Grade one trace against one case, and say it."""

    def say(
        golden: list[Any] | None, calls: list[Any], settings: str = "", limit: int | None = 48, **case: Any
    ) -> Explained:
        expect = {} if golden is None else {"expect": {"calls": golden}}
        done = graded(
            [{"id": "c", **expect, **case}], [{"id": "t", "case_id": "c", "calls": calls}], settings, only="t"
        )
        return explain(done.kept[0], done.plan.redactor, limit=limit)

    return say


def lines(said: Explained) -> list[tuple[str, str, str, str]]:
    return [(row.mark, row.golden, row.agent, row.note) for row in said.rows]


def test_equal_calls_stand_side_by_side(words):
    said = words([FEED, SCAN], [FEED, SCAN])
    assert lines(said) == [("=", "1 feed tank=2", "1 feed tank=2", ""), ("=", "2 scan {}", "2 scan {}", "")]
    assert said.title == "t · case c · PASS · 2 calls, golden 2"
    assert said.names == ("expected: feed, scan", "called: feed, scan")
    assert (said.vetoes, said.reasons) == ((), ())


def test_what_is_missing_and_what_is_surplus(words):
    said = words([FEED, SCAN], [SCAN, {"tool": "print", "arguments": {}}])
    assert lines(said) == [
        ("-", "1 feed tank=2", "·", "not called"), ("=", "2 scan {}", "1 scan {}", ""),
        ("+", "·", "2 print {}", "not expected"),
    ]  # fmt: skip
    assert said.names[2:] == ("missing: feed", "surplus: print")
    assert all(row.bad == (row.mark != "=") for row in said.rows)


def test_a_call_in_the_place_of_another(words):
    said = words([FEED], [{"tool": "flood", "arguments": {}}])
    assert lines(said) == [("≠", "1 feed tank=2", "1 flood {}", "in its place")]
    assert [reason.split(":")[0] for reason in said.reasons] == ["HIGH substituted_call"]


def test_retries_free_reads_and_optional_calls(words):
    failed = {"tool": "feed", "arguments": {"tank": 2}, "error": "busy"}
    golden = [FEED, {"tool": "log", "optional": True}]
    said = words(
        golden, [failed, FEED, SCAN], '[golden]\nsurplus_reads = "free"\n[policy]\nclasses = { scan = "read" }'
    )
    assert {(row.mark, row.note) for row in said.rows} == {
        ("=", "the tool failed"), ("~", "retry after a failure"), ("o", "optional, left out"), ("o", "a read, not charged"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("golden", "made", "detail"),
    [
        ({"a": 1}, {"a": 2}, "$.a: expected 1, got 2"),
        ({"a": 1}, {}, "$.a: expected 1, missing"),
        ({}, {"a": 2}, "$.a: not expected, got 2"),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "$.a.b[1]: expected 2, got 3"),
        ({"a b": 1}, {"a b": 2}, "$['a b']: expected 1, got 2"),
        ({"a": {"similar": "main st", "as": "address"}}, {"a": "x"}, '$.a: expected ≈"main st", got "x"'),
        ({"a": "x" * 99}, {"a": "y"}, f'$.a: expected "{"x" * 46}…, got "y"'),
    ],
)  # fmt: skip
def test_differences_of_arguments_stand_under_their_call_by_path(words, golden, made, detail):
    said = words([{"tool": "f", "arguments": golden}], [{"tool": "f", "arguments": made}])
    assert said.rows[0].details == (detail,)
    assert said.rows[0].mark == "≠"


def test_nothing_is_cut_where_all_is_asked_for(words):
    long = "x" * 300
    said = words([{"tool": "f", "arguments": {"a": long}}], [{"tool": "f", "arguments": {"a": 1}}], limit=None)
    assert long in said.rows[0].golden
    assert long in said.rows[0].details[0]


def test_data_flow_is_told_by_its_source(words):
    golden = [
        {"tool": "find", "arguments": {}},
        {"tool": "open", "arguments": {"id": {"from_result": {"call": "find", "path": "id"}}}},
    ]
    said = words(
        golden, [{"tool": "find", "arguments": {}, "result": {"id": 7}}, {"tool": "open", "arguments": {"id": 8}}]
    )
    assert said.rows[1].golden == "2 open id←find:id"
    assert said.rows[1].details == ("$.id: expected ←find:id, got 8",)


def test_a_call_out_of_order_is_noted_at_its_place(words):
    said = words([FEED, SCAN], [SCAN, FEED])
    assert [row.note for row in said.rows if row.note] == ["out of order"]
    assert any(reason.startswith("MEDIUM order_violation: ") for reason in said.reasons)


def test_an_argument_that_the_schema_refuses_is_told_once(words):
    tools = [{"name": "feed", "parameters": {"type": "object", "properties": {"tank": {"type": "integer"}}}}]
    said = words([{"tool": "feed"}], [{"tool": "feed", "arguments": {"tank": "two"}}], tools=tools)
    assert said.rows[0].details == ('$.tank: feed: "two" is not of type "integer"',)
    paired = words([FEED], [{"tool": "feed", "arguments": {"tank": "two"}}], tools=tools)
    assert paired.rows[0].details == ('$.tank: expected 2, got "two"',)


def test_a_veto_is_told_once_in_words(words):
    said = words([FEED], [FEED, {"tool": "drain", "arguments": {}}], '[policy]\nclasses = { drain = "destructive" }')
    assert said.vetoes == ("CRITICAL destructive_surplus: drain is destructive and not in the golden trace (call 2)",)
    assert not any("destructive_surplus" in reason for reason in said.reasons)
    assert "FAIL (veto)" in said.title
    assert said.scores[0].endswith("set to 0 by the veto")
    assert said.rows[1].note == "not expected; CRITICAL destructive_surplus"


def test_a_policy_without_a_golden_has_no_sides(words):
    said = words(None, [SCAN, {"tool": "drain", "arguments": {}}], '[policy]\nforbidden = ["drain"]')
    assert said.title == "t · case c · FAIL (veto, policy only) · 2 calls"
    assert said.names == ("called: scan, drain",)
    assert [(row.mark, row.bad) for row in said.rows] == [("=", False), ("+", True)]
    assert said.scores == ()


def test_the_scores_say_what_they_are_made_of(words):
    said = words([FEED, SCAN], [{"tool": "feed", "arguments": {"tank": 3}}])
    assert said.scores[0] == "tools 0.50 (4) · args 0.00 (3) · order – (2) · steps 1.00 (1) → overall 0.38"
    assert said.scores[1] == "steps 1.00: fewer calls than the golden is no merit; see the missing calls"


def test_a_tool_that_failed_is_not_held_against_the_agent(words):
    said = words([FEED, SCAN], [{**FEED, "error": "busy"}, SCAN])
    assert "1 of 2 calls failed at the tool: not the agent's wrong choice" in said.scores
    assert said.rows[0].note == "the tool failed"


def test_the_published_formula_shows_its_own_figures_and_feedback(words):
    said = words([FEED], [SCAN], '[golden]\nprofile = "article"')
    assert said.scores[0].startswith("tools 0.00 (4) · args 1.00 (3) · order 0.50 (2) · steps 1.00 (1) → overall 0.50")
    assert said.scores[-1] == "feedback: not called: feed; not expected: scan; the order differs from the golden"


def test_another_acceptable_way_is_named(words, graded):
    ways = [{"calls": [FEED]}, {"calls": [SCAN]}]
    done = graded(
        [{"id": "c", "expect": {"alternatives": ways}}], [{"id": "t", "case_id": "c", "calls": [SCAN]}], only="t"
    )
    said = explain(done.kept[0], done.plan.redactor)
    assert said.title.endswith("way 2")
    assert said.rows[0].golden == "1 scan {}"


@pytest.mark.parametrize(
    ("golden", "calls", "marks"),
    [
        ([], [], ("expected: nothing", "called: nothing")),
        ([FEED], [], ("expected: feed", "called: nothing", "missing: feed")),
    ],
)
def test_nothing_is_a_word_too(words, golden, calls, marks):
    assert words(golden, calls).names == marks


def test_of_many_names_the_first_are_told(words):
    said = words([], [{"tool": f"tool{i}", "arguments": {}} for i in range(20)])
    assert said.names[1].endswith("tool11 and 8 more")


def test_a_trace_that_was_not_completed_says_so(graded):
    done = graded(
        [{"id": "c", "expect": {"calls": []}}],
        [{"id": "t", "case_id": "c", "calls": [], "completed": False}],
        only="t",
    )
    assert verdict(done.kept[0].result) == "PASS (incomplete trace)"


def test_no_verdict_says_why(graded):
    done = graded([{"id": "c"}], [{"id": "t", "case_id": "c", "calls": []}])
    assert verdict(done.kept[0].result) == "UNEVALUABLE: nothing_expected"
    said = explain(done.kept[0], done.plan.redactor)
    assert said.scores == ()


def test_an_id_that_is_that_of_its_case_stands_once(graded):
    done = graded([{"id": "same", "expect": {"calls": [FEED]}}], [{"id": "same", "case_id": "same", "calls": []}])
    assert explain(done.kept[0], done.plan.redactor).title == "same · FAIL · 0 calls, golden 1"


def test_the_figures_of_a_table_are_those_of_the_profile(graded):
    rows = [{"id": "c", "expect": {"calls": [FEED]}}], [{"id": "t", "case_id": "c", "calls": [SCAN]}]
    assert scores(graded(*rows).kept[0].result) == (0.0, None, None, 0.0, 0.0)
    assert scores(graded(*rows, '[golden]\nprofile = "article"').kept[0].result) == (0.0, 1.0, 0.5, 1.0, 0.5)


def test_no_text_of_a_trace_plays_tricks_or_tells_secrets(words):
    trick = "a\x1b[31m\u202e\nb amy@example.com"
    said = words(
        [{"tool": trick, "arguments": {trick: trick}}],
        [{"tool": trick, "arguments": {trick: 1, "p": 2}}, {"tool": f"{trick}2", "arguments": {}}],
        '[golden]\nprofile = "article"',
    )
    vetoed = words([], [{"tool": trick, "arguments": {}}], f"[policy]\nforbidden = [{json.dumps(trick)}]")
    assert len(vetoed.vetoes) == 1
    texts = [*vetoed.vetoes, *vetoed.reasons]
    texts += [said.title, *said.names, *said.vetoes, *said.reasons, *said.scores]
    texts += [part for row in said.rows for part in (row.golden, row.agent, row.note, *row.details)]
    for char in ("\x1b", "\u202e", "\n", "amy@"):
        assert not any(char in text for text in texts)
