"""The figures of `preference` in words."""

from __future__ import annotations

import io
import re

import msgspec
from rich.console import Console

from rightcall.grade.preference import OrderVerdict, PreferenceResult, TraceSize
from rightcall.report.figures import main_figure
from rightcall.report.preference_figures import bias_notes, pair_lines, pair_words, said_of_pair
from rightcall.report.terminal.report import print_brief
from rightcall.report.view import brief
from rightcall.report.view.model import Table
from rightcall.run.preference.figures import Evidence, PreferenceAggregate


def result(pair="c1", verdict="B", **changed) -> PreferenceResult:
    known = {"case_id": pair, "agent_a": "prod", "agent_b": "cand", "decided_by": "judge", "confidence": 0.9}
    return PreferenceResult(pair=pair, verdict=verdict, **{**known, **changed})


def figures(*results, agents=("prod", "cand"), without=0, **changed) -> dict:
    found = PreferenceAggregate(agents=agents, names=agents, alone=lambda _a, _b: without, **changed)
    for number, one in enumerate(results):
        found.evidence.expect(number, one.pair, is_first=True)
        found.add(one)
    return found.summary()


def shown(found) -> str:
    stream = io.StringIO()
    print_brief(Console(file=stream, width=80, color_system=None), brief.preference(found))
    assert max(map(len, stream.getvalue().splitlines())) <= 80
    return " ".join(stream.getvalue().split())


def said(order, letter):
    winner = letter if order == "ab" or letter == "TIE" else {"A": "B", "B": "A"}[letter]
    return OrderVerdict(judge="strong", order=order, letter=letter, winner=winner, confidence=0.9)


def test_who_wins_is_said_first_and_then_how_surely():
    text = shown(figures(*(result(f"c{n}") for n in range(9)), result("c9", "A"), result("d", "TIE")))
    assert text.startswith("cand wins 9 prod wins 1 tie 1 cand is better than prod: cand won 9 of 10 decisive pairs")
    assert "with ties as half a win: cand 0.864" in text


def test_a_comparison_that_stopped_early_is_said_by_its_evidence_and_not_by_a_p_value():
    text = shown(figures(*(result(f"c{n}") for n in range(9)), evidence=Evidence(0.05)))
    assert "cand is better than prod: stopped after 7 decisive pairs, e = " in text
    assert "(needs 20); cand wins 1.000 [" in text
    assert "p = " not in text


def test_what_is_in_no_win_is_said():
    text = shown(
        figures(
            result("c1", "TIE", partial=True), result("c2", "TIE", order_inconsistent=True), result("c3", "TIE"),
            result("c4", None, status="UNEVALUABLE", reason="data_quality_failure", quality=("prod: empty: nothing",)),
            result("c5", "A", confidence=0.4), without=2,
        )
    )  # fmt: skip
    for part in (
        "ties: 1 real · 1 with another winner in each order · 1 with a winner in one order only",
        "without a verdict: data_quality_failure 1", "2 traces without a counterpart: in no pair",
        "left out for data quality: prod: empty 1", "confidence below 0.7: 1 of 4 judged pairs",
    ):  # fmt: skip
        assert part in text, part


def test_a_category_that_the_later_agent_loses_is_marked():
    rows = [
        result("c1", category="refund"),
        result("c2", "A", category="abstain"),
        result("c3", "A", category="abstain"),
    ]
    assert "by category (cand:prod) abstain 0:2 ◀ cand loses refund 1:0" in shown(figures(*rows))


def test_three_agents_get_a_ranking():
    pairs = [("x", "y"), ("x", "z"), ("y", "z")]
    rows = [
        result(f"c{n} {a}{b}", "A" if n == 0 else "B", case_id=f"c{n}", agent_a=a, agent_b=b)
        for a, b in pairs for n in range(6)
    ]  # fmt: skip
    found = figures(*rows, agents=("x", "y", "z"))
    assert "ranking ability 95 % rank won lost tied z " in shown(found)
    (table,) = [one for one in brief.preference(found) if isinstance(one, Table)]
    assert table.rows[0][0] == "z"
    assert table.rows[0][1].startswith("+")


def test_a_judge_that_prefers_a_place_is_named_in_the_notes():
    flipped = (said("ab", "A"), said("ba", "A"))
    rows = [result(f"c{n}", "TIE", order_inconsistent=True, orders=flipped) for n in range(30)]
    (note,) = bias_notes(figures(*rows))
    assert note.startswith("judge strong: POSITION-BIASED: the first place wins 1.000 [")
    assert note.endswith("no pair has the same winner in both orders")
    (note,) = bias_notes(
        figures(*rows, *(result(f"d{n}", orders=(said("ab", "B"), said("ba", "A"))) for n in range(2)))
    )
    assert note.startswith("judge strong leans to a place")
    (note,) = bias_notes(figures(*(result(f"c{n}", "A", orders=(said("ab", "A"),)) for n in range(30))))
    assert note.endswith("each pair was asked about in one order only")
    assert bias_notes(figures(result())) == []


def test_the_list_of_runs_shows_who_won():
    found = figures(result("c1"), result("c2", "A"), result("c3", "TIE"))
    assert main_figure("preference", {"own": found}) == "cand 1 : 1 prod, tie 1"
    three = figures(result("c1"), agents=("prod", "cand", "third"))
    assert main_figure("preference", {"own": three}) == "cand 1 : 0 prod, tie 0, and 2 more comparisons"


def test_a_pair_in_a_few_words():
    def words(**changed):
        return pair_words(msgspec.to_builtins(result(**changed)))

    assert words() == "cand better than prod · 0.9"
    assert words(verdict="A", settled_by="second_judge") == "prod better than cand · 0.9 · second judge"
    assert words(verdict="TIE", order_inconsistent=True) == "cand = prod: orders disagree · 0.9"
    assert words(verdict="TIE", partial=True) == "cand = prod: one order a tie · 0.9"
    code = {"decided_by": "code", "code_reason": "policy_veto", "confidence": 1.0, "conflict": True}
    assert words(**code) == "cand better than prod · by code: policy_veto · the judge contradicts code"


def test_a_pair_in_full_names_traces_replies_and_reasons():
    one = result(
        trace_id="p", trace_b_id="k", size_a=TraceSize(calls=2, characters=90), orders=(said("ab", "B"), said("ba", "A")),
        key_differentiators=("k asks first",),
    )  # fmt: skip
    text = [f"{label} {said_of}".strip() for label, said_of, _ in pair_lines(msgspec.to_builtins(one))]
    assert text == [
        "trace prod: p, 2 calls, 90 characters", "trace cand: k, 0 calls, 0 characters",
        "reply strong, prod first, cand second: B = cand, 0.9", "reply strong, cand first, prod second: A = cand, 0.9",
        "result cand better than prod · 0.9", "k asks first",
    ]  # fmt: skip
    left = result(verdict=None, status="UNEVALUABLE", reason="data_quality_failure", quality=("prod: empty: nothing",))
    assert ("result", "none: data_quality_failure", "yellow") in list(pair_lines(msgspec.to_builtins(left)))


def test_what_a_judge_wrote_names_places():
    reply = {
        "preferred_trace": "A", "confidence": 0.75, "justification": {"tool_selection": "equal"},
        "critical_failures": {"trace_a": [], "trace_b": ["B's c1 cancels"]},
    }  # fmt: skip
    assert list(said_of_pair(reply)) == [
        "place A, confidence 0.75",
        "tool_selection: equal",
        "critical in B: B's c1 cancels",
    ]
    assert next(iter(said_of_pair(reply | {"preferred_trace": "TIE"}))) == "TIE, confidence 0.75"


def test_every_rate_says_of_how_many_and_whose_it_is():
    by_code = {"decided_by": "code", "code_reason": "policy_veto"}
    lengths = ((9, 90, "A"), (9, 90, "B"), (90, 9, "A"), (20, 30, "B"), (30, 20, "A"))
    rows = [
        result(f"c{n}", winner, size_a=TraceSize(characters=a), size_b=TraceSize(characters=b))
        for n, (a, b, winner) in enumerate(lengths)
    ]
    text = shown(figures(result("v", **by_code), *rows))
    assert "by judges alone: cand 0.400 [0.118, 0.769] of 5 decisive pairs" in text
    assert re.search(r"At equal length cand would win 0\.\d{3} \[0\.\d{3}, 0\.\d{3}\] of 5\.", text)
    assert "with ties as half a win: cand 1.000 [no interval] of 1" in shown(figures(result()))


def test_where_no_pair_has_a_verdict_nothing_is_said_of_a_difference():
    text = shown(figures(result("c1", None, status="UNEVALUABLE", reason="undecided", decided_by=None)))
    assert "Nothing is known about cand against prod: no pair has a verdict." in text
    assert "difference" not in text


def test_a_net_rate_that_was_stopped_by_its_own_result_says_so():
    text = shown(figures(*(result(f"c{n}") for n in range(9)), evidence=Evidence(0.05)))
    assert "of 9, and looks surer than it is: the end was chosen by the result" in text


def test_a_ranking_keeps_its_numbers_whole_beside_a_long_name_and_names_who_is_not_in_it():
    long = "an-agent-with-a-name-that-is-wider-than-the-terminal-on-which-it-is-shown-to-people"
    rows = [result("c1", agent_b=long), result("c2", "A", agent_b=long)]
    found = figures(*rows, agents=("prod", long, "third"))
    text = shown(found)
    assert "95 % rank won lost tied" in text
    assert "1–2 1 1 0" in text
    assert "not ranked, in no pair with a verdict: third" in text


def test_a_second_judge_against_the_first_is_told_beside_what_it_settled():
    second = {"judge": "wise", "asked": 3, "settled": 0, "to_people": 3, "against_the_first": 2}
    text = shown(figures(result()) | {"second_judge": second})
    assert "second judge wise was asked about 3: 0 settled, 3 for people; 2 against the first" in text
