"""Pairs from traces to results: data quality, code, judges in both orders, a second judge, people."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from pair_making import Contest, always, by_unit, pairs_of, prefers, says, trace, traces

from rightcall.grade.preference import OrderVerdict
from rightcall.run.preference.comparing import drawn_order
from rightcall.testing import ScriptedModel

VETO = '[policy]\nforbidden = ["cancel_card"]\n'


@pytest.fixture
def contest(tmp_path):
    return Contest(tmp_path)


def two(contest, number=1, **setup):
    """Prepare two agents with traces of the same cases."""
    a, b = (contest.write(f"{name}.jsonl", *traces(name, number)) for name in ("prod", "cand"))
    return contest.setup(a, b, **setup)


def reviews(contest):
    with contest.opened() as store:
        found = [(review.unit, review.reason) for _, review in store.reviews()]
    return Counter(reason for _, reason in found if reason != "random")


# ---- both orders -----------------------------------------------------------------------------------------------------


def test_a_pair_is_asked_in_both_orders_and_raw_letters_and_positions_are_kept(contest):
    found = pairs_of(contest.run(two(contest), prefers("B")))["c0"]
    assert (found.verdict, found.confidence, found.decided_by, found.protocol) == ("B", 0.9, "judge", "both")
    assert [(one.order, one.letter, one.winner) for one in found.orders] == [("ab", "B", "B"), ("ba", "A", "B")]
    assert (found.trace_id, found.trace_b_id, found.agent_a, found.agent_b) == ("prod-0", "cand-0", "prod", "cand")
    assert found.key_differentiators == ("B it is",)
    assert found.words_order == "ab"
    with contest.opened() as store:
        attempts = {one.key: one for _, _, one in store.attempts() if one.purpose == "question"}
        assert sorted(tuple(one.positions.items()) for one in attempts.values()) == [
            (("A", "cand-0"), ("B", "prod-0")), (("A", "prod-0"), ("B", "cand-0")),
        ]  # fmt: skip
        (verdict,) = store.verdicts(next(run.id for run, _ in store.runs()))
        assert {one.attempts[0] for one in found.orders} == set(verdict.attempts)
        assert (json.loads(store.body(verdict.trace))["id"], json.loads(store.body(verdict.trace_b))["id"]) == (
            "prod-0", "cand-0",
        )  # fmt: skip
        assert verdict.verdict == "B"
    assert reviews(contest) == Counter()


def test_a_judge_sees_no_agent_and_both_orders_of_the_same_traces(contest):
    agent = {"name": "desk-bot-7", "version": "v41", "model": "vendor/model-9"}
    rows = [trace(name, "c", agent=agent | {"name": f"{name}-bot-7"}) for name in ("prod", "cand")]
    model = ScriptedModel(prefers("A"))
    setup = contest.setup(*(contest.write(f"{row['id']}.jsonl", row) for row in rows))
    pairs_of(contest.run(setup, model))
    assert [request.order for request in model.requests] == ["ab", "ba"]
    for request in model.requests:
        for name in ("bot-7", "v41", "model-9", "prod.jsonl", "cand.jsonl"):
            assert name not in request.system + request.user


@pytest.mark.parametrize(
    ("rule", "flags", "reason"),
    [
        (always("A"), (False, True), "order_inconsistent"),
        (always("TIE"), (False, False), "tie"),
        (lambda request: says("A" if request.order == "ab" else "TIE"), (True, False), "tie"),
    ],
)
def test_what_no_order_settles_is_a_tie_of_its_kind_and_a_person_looks(contest, rule, flags, reason):
    found = pairs_of(contest.run(two(contest), rule))["c0"]
    assert (found.verdict, found.partial, found.order_inconsistent) == ("TIE", *flags)
    assert reviews(contest) == Counter({reason: 1})


def test_where_ties_are_not_allowed_such_a_pair_has_no_verdict(contest):
    found = pairs_of(contest.run(two(contest, settings={"preference.allow_tie": False}), always("A")))["c0"]
    assert (found.status, found.reason, found.verdict) == ("UNEVALUABLE", "INCONCLUSIVE", None)
    assert found.order_inconsistent
    assert reviews(contest) == Counter({"unevaluable": 1, "order_inconsistent": 1})


def test_little_confidence_goes_to_a_person_and_the_lower_one_counts(contest):
    rule = lambda request: says("A", 0.65) if request.order == "ab" else says("B", 0.95)  # noqa: E731
    found = pairs_of(contest.run(two(contest), rule))["c0"]
    assert (found.verdict, found.confidence) == ("A", 0.65)
    assert reviews(contest) == Counter({"low_confidence": 1})


def test_two_critical_traces_cap_the_confidence(contest):
    rule = lambda request: says("A" if request.order == "ab" else "B", 0.95, (["x"], ["y"]))  # noqa: E731
    found = pairs_of(contest.run(two(contest), rule))["c0"]
    assert (found.verdict, found.confidence, found.both_critical) == ("A", 0.5, True)
    assert reviews(contest) == Counter({"low_confidence": 1})


def test_one_unreadable_order_leaves_no_verdict_and_the_reason_of_the_judge(contest):
    rule = lambda request: says("A") if request.order == "ab" else "no idea"  # noqa: E731
    found = pairs_of(contest.run(two(contest), rule))["c0"]
    assert (found.status, found.reason) == ("UNEVALUABLE", "JUDGE_NOT_JSON")
    assert [(one.order, one.letter) for one in found.orders] == [("ab", "A")]
    assert found.reconciled[0].orders == 1
    assert reviews(contest) == Counter({"unevaluable": 1})


def test_replicates_are_each_reconciled_and_the_majority_counts(contest):
    def rule(request):
        return says("A") if request.replicate == 1 else prefers("B")(request)

    found = pairs_of(contest.run(two(contest, replicates=3), rule))["c0"]
    assert (found.verdict, len(found.orders), len(found.reconciled)) == ("B", 6, 1)
    assert Counter(one.replicate for one in found.orders) == {0: 2, 1: 2, 2: 2}


# ---- one order -------------------------------------------------------------------------------------------------------


def test_one_drawn_order_is_recorded_and_depends_on_the_seed_and_the_pair_alone(contest):
    settings = {"preference.orders": "random"}
    found = pairs_of(contest.run(two(contest, 12, settings=settings, seed=5), always("A")))
    for unit, one in found.items():
        (only,) = one.orders
        assert only.order == drawn_order(5, unit)
        assert one.verdict == ("A" if only.order == "ab" else "B")
        assert one.protocol == "random"
    assert {one.orders[0].order for one in found.values()} == {"ab", "ba"}
    again = pairs_of(contest.run(two(contest, 12, settings=settings, seed=6), always("A")))
    assert [one.orders[0].order for one in again.values()] != [one.orders[0].order for one in found.values()]


# ---- several judges --------------------------------------------------------------------------------------------------


def test_a_panel_decides_by_majority_and_its_disagreement_goes_to_a_person(tmp_path):
    contest = Contest(tmp_path, judges=("one", "two", "three"))
    found = pairs_of(contest.run(two(contest), prefers("A", 0.9), prefers("A", 0.8), prefers("B")))["c0"]
    assert (found.verdict, found.confidence, found.decided_by) == ("A", 0.8, "panel")
    assert [(one.judge, one.winner) for one in found.reconciled] == [("one", "A"), ("two", "A"), ("three", "B")]
    assert reviews(contest) == Counter({"panel_disagreement": 1})


def test_a_panel_without_a_majority_or_a_quorum_has_no_verdict(tmp_path):
    contest = Contest(tmp_path, judges=("one", "two"))
    found = pairs_of(contest.run(two(contest), prefers("A"), prefers("B")))["c0"]
    assert (found.reason, found.decided_by) == ("panel_tie", None)
    broken = pairs_of(contest.run(two(contest, use_cache=False), prefers("A"), lambda _: "nothing"))["c0"]
    assert broken.reason == "no_quorum"
    lone = pairs_of(contest.run(two(contest, use_cache=False, quorum=1), prefers("A"), lambda _: "nothing"))["c0"]
    assert lone.verdict == "A"


SECOND = {"preference.second_judge": "wise"}


@pytest.mark.parametrize(
    ("first", "second", "verdict", "settled", "reasons"),
    [
        (prefers("A"), None, "A", None, {}),
        (prefers("TIE"), prefers("B", 0.8), "B", "second_judge", {}),
        (always("A"), prefers("B", 0.8), "B", "second_judge", {}),
        (prefers("A", 0.6), prefers("A", 0.8), "A", "second_judge", {}),
        (prefers("A", 0.6), prefers("B", 0.8), "B", "second_judge", {"panel_disagreement": 1}),
        (prefers("A", 0.6), prefers("B", 0.6), "A", None, {"panel_disagreement": 1, "low_confidence": 1}),
        (prefers("TIE"), prefers("TIE"), "TIE", None, {"tie": 1}),
        (always("B"), always("B"), "TIE", None, {"order_inconsistent": 1}),
        (prefers("A", 0.6), lambda _: "nothing", "A", None, {"low_confidence": 1}),
    ],
)
def test_a_second_judge_is_asked_about_doubtful_pairs_alone_and_counts_if_it_settles_them(
    tmp_path, first, second, verdict, settled, reasons
):
    contest = Contest(tmp_path, judges=("quick", "wise"))
    asked = ScriptedModel(second or (lambda _: pytest.fail("nobody needed a second judge")))
    found = pairs_of(contest.run(two(contest, settings=SECOND), first, asked))["c0"]
    assert (found.verdict, found.settled_by) == (verdict, settled)
    assert found.escalated == (second is not None) == bool(asked.requests)
    assert reviews(contest) == Counter(reasons)


def test_an_unreadable_first_judge_calls_no_second_one(tmp_path):
    contest = Contest(tmp_path, judges=("quick", "wise"))
    asked = ScriptedModel(prefers("A"))
    found = pairs_of(contest.run(two(contest, settings=SECOND), lambda _: "nothing", asked))["c0"]
    assert (found.reason, found.escalated, asked.requests) == ("JUDGE_NOT_JSON", False, [])


# ---- code ------------------------------------------------------------------------------------------------------------


def vetoed(contest, a="cancel_card", b="freeze_card", **setup):
    """Prepare a pair whose traces use these tools, under a policy."""
    contest.settings = VETO
    files = [contest.write(f"{name}.jsonl", trace(name, "c", tool)) for name, tool in (("prod", a), ("cand", b))]
    return contest.setup(*files, **setup)


def test_a_veto_decides_by_code_and_a_judge_that_prefers_the_vetoed_one_is_a_conflict(contest):
    judged = contest.run(vetoed(contest), prefers("A"))
    tally = judged.tally.judges["strong"]
    assert (tally.checked, tally.conflicting, dict(tally.conflicts)) == (2, 2, {"code_preference": 2})
    found = pairs_of(judged)["c"]
    assert (found.verdict, found.confidence, found.decided_by, found.code_reason) == ("B", 1.0, "code", "policy_veto")
    assert found.conflict
    assert reviews(contest) == Counter({"judge_conflict": 1})
    with contest.opened() as store:
        (words,) = [review.detail for _, review in store.reviews() if review.reason == "judge_conflict"]
    assert words.count("code_preference") == 1  # both orders say the same


def test_a_judge_that_agrees_with_code_or_cannot_be_read_changes_nothing(contest):
    agrees = pairs_of(contest.run(vetoed(contest), prefers("B", 0.3)))["c"]
    assert (agrees.verdict, agrees.confidence, agrees.conflict, len(agrees.orders)) == ("B", 1.0, False, 2)
    unread = pairs_of(contest.run(vetoed(contest, use_cache=False), lambda _: "nothing"))["c"]
    assert (unread.status, unread.verdict) == ("EVALUATED", "B")
    assert reviews(contest) == Counter()


def test_without_cross_check_nobody_is_asked_about_what_code_decides(contest):
    model = ScriptedModel(prefers("A"))
    found = pairs_of(contest.run(vetoed(contest, pair={"cross_check": False}), model))["c"]
    assert (found.verdict, found.decided_by, model.requests) == ("B", "code", [])


def test_a_veto_of_both_decides_nothing_and_a_critical_one_waits_for_a_person(contest):
    found = pairs_of(contest.run(vetoed(contest, b="cancel_card"), prefers("B")))["c"]
    assert (found.verdict, found.decided_by) == ("B", "judge")
    assert reviews(contest) == Counter({"policy_veto": 1, "CRITICAL": 1})


def test_traces_that_show_the_same_are_a_tie_by_code_and_the_judge_is_asked_once(contest):
    rows = [trace(name, "c", calls=[{"tool": "list_cards", "arguments": {}}]) for name in ("prod", "cand")]
    model = ScriptedModel(always("A"))
    setup = contest.setup(*(contest.write(f"{row['id']}.jsonl", row) for row in rows))
    found = pairs_of(contest.run(setup, model))["c"]
    assert (found.verdict, found.code_reason, found.conflict, len(model.requests)) == ("TIE", "identical", True, 1)


def test_a_golden_decides_if_it_is_asked_to(contest):
    case = {"id": "c0", "expect": {"calls": [{"tool": "freeze_card"}]}, "tags": ["cards"]}
    a = contest.write("prod.jsonl", trace("prod", "c0", "list_cards"))
    b = contest.write("cand.jsonl", trace("cand", "c0"))
    cases = {"cases": [contest.write("cases.jsonl", case)]}
    golden = {**cases, "preference.by": "golden"}
    found = pairs_of(contest.run(contest.setup(a, b, settings=golden), prefers("A")))["c0"]
    assert (found.verdict, found.decided_by, found.code_reason, found.category) == ("B", "code", "golden", "cards")
    assert [one.conflicts[0].check for one in found.judges] == ["golden_preference", "golden_preference"]
    judged = pairs_of(contest.run(contest.setup(a, b, settings=cases), prefers("A")))["c0"]
    assert (judged.verdict, judged.decided_by) == ("A", "judge")


def test_without_a_judge_only_what_code_decides_has_a_verdict_and_the_rest_lowers_no_coverage(tmp_path):
    contest = Contest(tmp_path, judges=(), settings=VETO)
    a = contest.write("prod.jsonl", trace("p0", "c0", "cancel_card"), trace("p1", "c1"))
    b = contest.write("cand.jsonl", trace("k0", "c0"), trace("k1", "c1"))
    judged = contest.run(contest.setup(a, b))
    assert (judged.run, judged.tally.by_design) == (None, 1)
    from rightcall.run.judging.run import short_summary

    assert short_summary(judged)["coverage"] == 1.0
    found = pairs_of(judged)
    assert (found["c0"].verdict, found["c1"].status, found["c1"].reason) == ("B", "UNEVALUABLE", "undecided")


# ---- data quality ----------------------------------------------------------------------------------------------------


def test_a_pair_with_a_damaged_recording_is_logged_and_nobody_is_asked(contest):
    a = contest.write("prod.jsonl", trace("p0", "c0", completed=False))
    b = contest.write("cand.jsonl", trace("k0", "c0"))
    model = ScriptedModel(prefers("A"))
    found = pairs_of(contest.run(contest.setup(a, b), model))["c0"]
    assert (found.status, found.reason) == ("UNEVALUABLE", "data_quality_failure")
    assert found.quality == ("prod: incomplete: the run was not completed",)
    assert (model.requests, found.code_verdict) == ([], None)
    assert reviews(contest) == Counter()


def test_a_complete_trace_without_calls_is_an_abstention_and_can_win(contest):
    a = contest.write("prod.jsonl", trace("p0", "c0", calls=[]))
    b = contest.write("cand.jsonl", trace("k0", "c0", "cancel_card"))
    found = pairs_of(contest.run(contest.setup(a, b), prefers("A")))["c0"]
    assert (found.verdict, found.size_a.calls, found.size_b.calls) == ("A", 0, 1)


# ---- going on --------------------------------------------------------------------------------------------------------


def test_a_run_that_stopped_goes_on_asks_nothing_twice_and_ends_the_same(tmp_path):
    whole = Contest(tmp_path / "whole")
    whole.folder.mkdir()
    rule = by_unit({"c1": always("A"), "c3": prefers("A", 0.6)}, prefers("B"))
    expected = {unit: (one.verdict, one.partial) for unit, one in pairs_of(whole.run(two(whole, 6), rule)).items()}
    contest = Contest(tmp_path)
    judged = contest.run(two(contest, 6, budget="5calls"), rule)
    assert judged.stop.cause == "budget"
    first = len(pairs_of(judged))
    assert 0 < first < 6
    model = ScriptedModel(rule)
    again = contest.run(two(contest, 6, resume=judged.run.id), model)
    assert again.tally.resumed == first
    assert {unit: (one.verdict, one.partial) for unit, one in pairs_of(again).items()} == expected
    with contest.opened() as store:
        asked = Counter(one.key for _, _, one in store.attempts() if one.purpose == "question")
    assert set(asked.values()) == {1}
    assert len(asked) == 12


def test_a_run_is_not_gone_on_with_under_other_rules(contest):
    judged = contest.run(two(contest, 3, budget="2calls"), prefers("A"))
    judged.close()
    with pytest.raises(Exception, match=r"was made with other allow_tie"):
        contest.run(two(contest, 3, resume=judged.run.id, settings={"preference.allow_tie": False}), prefers("A"))


# ---- early stopping --------------------------------------------------------------------------------------------------


def test_a_comparison_stops_asking_once_the_difference_is_shown(contest):
    model = ScriptedModel(prefers("B"))
    judged = contest.run(two(contest, 60, pair={"stop_early": 0.05}), model, places=2)
    left = judged.tally.unevaluable["stopped_early"]
    figures = judged.aggregate.summary()["comparisons"][0]
    assert judged.stop is None
    assert left == judged.tally.by_design > 30
    assert len(model.requests) == 2 * (60 - left)
    stopped = figures["stopped_early"]
    assert (stopped["wins_a"], stopped["wins_b"]) == (0, 7)
    assert stopped["e_value"] >= 20
    assert stopped["share_b"]["low"] > 0.5
    pairs_of(judged)


def test_what_code_decides_is_decided_after_a_stop_too_without_asking(contest):
    contest.settings = VETO
    a = contest.write("prod.jsonl", *(trace(f"p{n}", f"c{n}", "cancel_card") for n in range(20)))
    b = contest.write("cand.jsonl", *(trace(f"k{n}", f"c{n}") for n in range(20)))
    model = ScriptedModel(prefers("B"))
    found = pairs_of(contest.run(contest.setup(a, b, pair={"stop_early": 0.05}), model, places=1))
    assert {one.verdict for one in found.values()} == {"B"}
    assert len(model.requests) < 40


def test_without_a_difference_every_pair_is_asked(contest):
    judged = contest.run(two(contest, 12, pair={"stop_early": 0.05}), always("A"))
    assert judged.tally.by_design == 0
    assert judged.aggregate.summary()["comparisons"][0]["stopped_early"] is None
    judged.close()


def test_a_run_that_goes_on_knows_its_evidence_from_before(contest):
    rules = {"stop_early": 0.05}
    judged = contest.run(two(contest, 40, pair=rules, budget="12calls"), prefers("B"))
    judged.close()
    again = contest.run(two(contest, 40, pair=rules, resume=judged.run.id), prefers("B"))
    stopped = again.aggregate.summary()["comparisons"][0]["stopped_early"]
    assert (stopped["wins_a"], stopped["wins_b"]) == (0, 7)
    again.close()


def test_only_the_first_trial_of_a_case_is_evidence(contest):
    rows = {
        name: [trace(f"{name}-{n}-{t}", f"c{n}", trial=t) for n in range(4) for t in range(8)] for name in ("a", "b")
    }
    setup = contest.setup(
        *(contest.write(f"{name}.jsonl", *own) for name, own in rows.items()), pair={"stop_early": 0.05}
    )
    judged = contest.run(setup, prefers("B"))
    assert judged.tally.by_design == 0  # 32 pairs, and evidence of 4 cases
    assert len(pairs_of(judged)) == 32


# ---- several agents --------------------------------------------------------------------------------------------------


def test_three_agents_are_compared_two_by_two_in_one_run(contest):
    files = [contest.write(f"{name}.jsonl", *traces(name, 3)) for name in ("x", "y", "z")]
    judged = contest.run(contest.setup(*files), prefers("B"))
    figures = judged.aggregate.summary()
    found = pairs_of(judged)
    assert len(found) == 9
    assert [(one["agent_a"], one["agent_b"], one["wins_b"]) for one in figures["comparisons"]] == [
        ("x", "y", 3), ("x", "z", 3), ("y", "z", 3),
    ]  # fmt: skip
    assert [one["name"] for one in figures["ranking"]["standings"]] == ["z", "y", "x"]


def test_what_a_result_says_of_an_order_is_what_the_type_says():
    assert OrderVerdict.__struct_fields__[:4] == ("judge", "order", "letter", "winner")
