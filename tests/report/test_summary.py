"""A run in a few figures."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from rightcall import __version__
from rightcall.report.summary import NOT_SUCCESS, counted, most_first, run_facts, summary
from rightcall.report.view.building import view_of
from rightcall.report.written.ended import ended_view
from rightcall.run.finished.live import graded_results
from rightcall.run.finished.unread import unread_words
from rightcall.stats.intervals import wilson

FEED = {"tool": "feed", "arguments": {"tank": 2}}
CASE = {"id": "c", "expect": {"calls": [FEED]}}


def trace(name: str, *calls: dict, **fields: object) -> dict:
    return {"id": name, "case_id": "c", "calls": list(calls)} | fields


# ---- what `--json` calls run -----------------------------------------------------------------------------------------


def test_a_run_says_what_was_graded_against_what(graded):
    done = graded([CASE], [trace("t", FEED)], '[golden]\nprofile = "strict"\nmin_overall = 0.5\nretries = "surplus"')
    facts = run_facts(done)
    assert (facts["grader"], facts["rightcall"]) == ("golden", __version__)
    assert (facts["profile"], facts["min_overall"], facts["retries"], facts["surplus_reads"]) == (
        "strict",
        0.5,
        "surplus",
        "charged",
    )
    assert facts["cases"] == [{"file": "cases.jsonl", "sha256": sha256(Path("cases.jsonl").read_bytes()).hexdigest()}]
    assert facts["traces"][0]["sha256"] == sha256(Path("traces.jsonl").read_bytes()).hexdigest()
    assert (facts["limit"], facts["only"], facts["repeated_trace_ids"], facts["incomplete_traces"]) == (
        None,
        None,
        0,
        0,
    )


def test_the_policy_has_a_hash_that_does_not_depend_on_the_order_of_its_keys(graded):
    hashes = [
        run_facts(graded([CASE], [trace("t")], f"[policy]\nclasses = {{ {classes} }}"))["policy_sha256"]
        for classes in ('a = "read", b = "write"', 'b = "write", a = "read"', 'a = "write", b = "read"')
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_the_reading_report_stands_beside_its_file(graded):
    rows = [
        {"messages": [{"role": "user", "content": "hi"}]},
        {"messages": []},
        {"messages": [{"role": "user", "content": "amy@example.com", "tool_calls": 3}]},
    ]
    facts = run_facts(graded([CASE], rows))["traces"][0]
    assert (facts["dialect"], facts["file"]) == ("openai_chat", "traces.jsonl")
    assert facts["read"] + facts["skipped"] == 3
    assert facts["skipped"] >= 1
    assert sum(facts["causes"].values()) >= 1
    assert set(facts["examples"]) == set(facts["causes"])


def test_a_limit_does_not_hide_the_file(graded):
    facts = run_facts(graded([CASE], [trace("t"), trace("u")], limit=1))
    assert facts["limit"] == 1
    assert [file["file"] for file in facts["traces"]] == ["traces.jsonl"]


def test_everything_is_json(graded):
    done = graded([CASE], [trace("t", FEED)])
    for value in (run_facts(done), summary(done)):
        assert json.loads(msgspec.json.encode(value)) == json.loads(json.dumps(value))


# ---- what it calls summary -------------------------------------------------------------------------------------------


def test_counts_and_rates(graded):
    done = graded(
        [CASE, {"id": "d", "expect": {"calls": []}}],
        [trace("t", FEED), trace("u"), {"id": "v", "case_id": "nowhere", "calls": []}],
    )
    figures = summary(done)
    assert (figures["n"], figures["evaluated"], figures["unevaluable"]) == (4, 2, 2)
    assert (figures["passed"], figures["failed"], figures["vetoed"], figures["policy_only"]) == (1, 1, 0, 0)
    assert figures["coverage"] == 0.5
    assert figures["unevaluable_by_reason"] == {"no_case": 1, "no_trace": 1}
    assert figures["pass_rate"]["estimate"] == 0.5
    assert figures["pass_rate"]["excluded"] == 2
    assert figures["findings"] == {"abstention_error": 1, "missing_call": 1}


def test_a_metric_that_does_not_apply_is_in_no_mean(graded):
    means = summary(graded([CASE], [trace("t", FEED), trace("u")]))["means"]
    shown = {name: (one["estimate"], one["n"], one["excluded"]) for name, one in means.items()}
    assert shown["argument_accuracy"] == (1.0, 1, 1)
    assert shown["order_score"] == (None, 0, 2)
    assert shown["overall"] == (0.5, 2, 0)
    assert means["order_score"]["reason"] == "nothing was evaluated"


def test_a_mean_has_the_interval_of_its_cases(graded):
    tries = [trace(f"t{number}", *([FEED] * (number % 2)), case_id="c") for number in range(6)]
    twice = summary(graded([CASE], tries))["means"]["overall"]
    assert (twice["estimate"], twice["n"], twice["reason"]) == (0.5, 6, "the values of one case have no interval")


def test_a_rate_of_nothing_is_undefined_with_a_reason(graded):
    rate = summary(graded([{"id": "c"}], [trace("t")]))["pass_rate"]
    assert (rate["estimate"], rate["low"], rate["high"], rate["n"], rate["excluded"]) == (None, None, None, 0, 1)
    assert rate["reason"] == "nothing was evaluated"


def test_vetoes_and_verdicts_by_policy_alone_are_counted(graded):
    done = graded([{"id": "c"}], [trace("t", FEED), trace("u")], '[policy]\nforbidden = ["feed"]')
    figures = summary(done)
    assert (figures["vetoed"], figures["policy_only"], figures["passed"], figures["failed"]) == (1, 2, 1, 1)


# ---- in words --------------------------------------------------------------------------------------------------------


def headline(done) -> list[str]:
    """The counts of a run as every report has them."""
    return [*ended_view(done).graders[0].headline]


def test_the_headline_has_counts_rate_interval_and_what_it_does_not_say(graded):
    said = headline(graded([CASE], [trace("t", FEED)]))
    assert said == ["1 result: 1 PASS, 0 FAIL", "pass rate 1.000 [0.207, 1.000] n=1 (wilson 0.95)", NOT_SUCCESS]


def test_the_headline_says_what_could_not_be_judged(graded):
    said = headline(graded([CASE, {"id": "d"}], [trace("t", FEED), trace("u")], '[policy]\nforbidden = ["feed"]'))
    assert said[0] == "3 results: 0 PASS, 2 FAIL (1 by veto), 1 unevaluable (no_trace 1)"
    assert said[1].endswith("n=2 (wilson 0.95, clustered in 1 case)")
    rate = wilson(2, 3)
    between = f"[{rate.low:.3f}, {rate.high:.3f}]"
    assert said[2] == f"coverage 0.667 {between}: 2 of 3 have a verdict; the rest is in no figure"


def test_several_traces_of_a_case_widen_the_interval_as_in_every_report(graded):
    rows = [trace(f"t{n}", *([FEED] * (n != 3)), case_id=f"c{n % 4}") for n in range(8)]
    cases = [{"id": f"c{n}", "expect": {"calls": [FEED]}} for n in range(4)]
    done = graded(cases, rows)
    rate, shown = done.tally.pass_rate(), view_of(graded_results(done)).graders[0].bars[0].value
    assert (rate.estimate, rate.n, rate.method) == (7 / 8, 8, "wilson 0.95, clustered in 4 cases")
    assert rate == shown
    alone = wilson(7, 8)
    assert rate.low < alone.low
    assert f"pass rate 0.875 [{rate.low:.3f}, {rate.high:.3f}] n=8" in headline(done)[1]


def test_a_coverage_that_is_not_whole_is_never_shown_as_whole(graded):
    rows = [{"id": f"t{i}", "case_id": "c" if i else "nowhere", "calls": []} for i in range(5000)]
    assert headline(graded([CASE], rows))[2].startswith("coverage <1.000")


def test_what_was_not_read_comes_first(graded):
    done = graded([CASE], [{"messages": [{"role": "user", "content": "hi"}]}, {"messages": []}])
    said = unread_words(done)
    assert said[0] == "traces.jsonl: 1 of 2 records were not read"
    assert said[1].startswith("  TRACE_")
    assert "traces.jsonl:2" in said[1]
    assert ended_view(done).graders[0].warnings == said


def test_ids_that_repeat_are_told(graded):
    assert "repeat the id of an earlier one" in unread_words(graded([CASE], [trace("t"), trace("t")]))[-1]


def test_nothing_to_note(graded):
    assert unread_words(graded([CASE], [trace("t", FEED)])) == ()


def test_notes_hide_secrets(graded):
    twice = [{"id": "x", "function": {"name": "a", "arguments": "{"}}] * 2
    messages = [{"role": "assistant", "tool_calls": twice}]
    done = graded([CASE], [{"id": "amy@example.com", "messages": messages}])
    said = "".join(unread_words(done)) + json.dumps(run_facts(done), ensure_ascii=False)
    assert "⟦email:" in said
    assert "amy@" not in said


@pytest.mark.parametrize(("number", "said"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases")])
def test_one_thing_is_no_plural(number, said):
    assert counted(number, "case") == said


def test_equal_counts_stand_by_name_and_not_as_they_came_in():
    assert most_first({"tie": 1, "random": 3, "CRITICAL": 1}) == [("random", 3), ("CRITICAL", 1), ("tie", 1)]
