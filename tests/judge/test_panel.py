"""Several judges on one case: majority, quorum, ties, replicates, disagreement."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.case.policy import SEVERITIES
from rightcall.errors import ConfigError
from rightcall.judge.panel import (
    INTERPRETATION,
    INTERPRETATION_DIRECT,
    RUBRIC,
    SELECTION,
    Disagreement,
    PanelVerdict,
    Vote,
    panel,
)


def said(judge, grade, category=None, replicate=0, **more):
    fields = {"grade": grade, "failure_category": category, "label_challenged": False} | more
    return Vote(judge=judge, replicate=replicate, fields=fields)


def lost(judge, replicate=0, reason="JUDGE_TIMEOUT"):
    return Vote(judge=judge, replicate=replicate, reason=reason)


def scored(judge, *scores, severity="NONE", replicate=0):
    names = ("tool_selection_score", "argument_accuracy_score", "call_sequencing_score", "abstention_score")
    fields = dict(zip(names, (*scores, None) if len(scores) == 3 else scores, strict=True))
    return Vote(judge=judge, replicate=replicate, fields=fields | {"misuse_severity": severity})


# ---- quorum -------------------------------------------------------------------------------------------------------


def test_a_quorum_that_is_not_reached_gives_no_verdict_and_a_person_looks():
    found = panel([said("A", "PASS"), lost("B"), lost("C", reason="JUDGE_SCHEMA")], 3, SELECTION)
    assert (found.status, found.reason, found.fields) == ("INCONCLUSIVE", "no_quorum", {})
    assert found.judges == ("A",)
    assert found.without_vote == {"B": "JUDGE_TIMEOUT", "C": "JUDGE_SCHEMA"}
    assert found.review == ("no_quorum",)


def test_jru_17_a_lone_survivor_of_three_decides_nothing(shared_data):
    import json

    lines = (shared_data / "cases/cases.jsonl").read_text(encoding="utf-8").splitlines()
    row = next(row for row in map(json.loads, filter(None, lines)) if row["id"] == "JRU-17")
    judges = row["minimal_input"]["judges"]
    votes = [lost(f"j{n}") if one == "error" else said(one, "PASS") for n, one in enumerate(judges)]
    found = panel(votes, row["minimal_input"]["quorum"], SELECTION)
    assert found.status == row["right_answer"]["status"]
    assert found.fields.get("grade") is row["right_answer"]["winner"]
    assert found.review


def test_replicates_do_not_make_a_quorum():
    votes = [said("A", "PASS", replicate=n) for n in range(5)]
    assert panel(votes, 2, SELECTION).reason == "no_quorum"
    assert panel(votes, 1, SELECTION).fields["grade"] == "PASS"


def test_a_quorum_below_one_and_a_vote_that_counts_twice_are_errors():
    with pytest.raises(ConfigError, match="at least 1"):
        panel([], 0, SELECTION)
    with pytest.raises(ConfigError, match="votes twice"):
        panel([said("A", "PASS"), lost("A")], 1, SELECTION)


def test_no_votes_at_all_are_no_verdict():
    assert panel([], 1, RUBRIC) == PanelVerdict(
        status="INCONCLUSIVE", reason="no_quorum", quorum=1, review=("no_quorum",)
    )


# ---- categories ---------------------------------------------------------------------------------------------------


def test_the_majority_decides_and_the_minority_is_shown():
    found = panel([said("A", "PASS"), said("B", "FAIL", "wrong_tool"), said("C", "PASS")], 2, SELECTION)
    assert (found.status, found.fields["grade"], found.fields["failure_category"]) == ("EVALUATED", "PASS", None)
    assert found.review == ("panel_disagreement",)
    assert found.disagreements[0] == Disagreement("grade", {"A": "PASS", "B": "FAIL", "C": "PASS"})


def test_a_tie_on_the_deciding_field_is_no_verdict():
    found = panel([said("A", "PASS"), said("B", "FAIL", "wrong_tool")], 2, SELECTION)
    assert (found.status, found.reason, found.fields) == ("INCONCLUSIVE", "panel_tie", {})
    assert found.review == ("panel_disagreement", "panel_tie")


def test_a_field_without_majority_stays_open_which_is_not_none():
    votes = [said("A", "FAIL", "wrong_tool"), said("B", "FAIL", "over_action"), said("C", "PASS")]
    found = panel(votes, 3, SELECTION)
    assert found.fields["grade"] == "FAIL"
    assert "failure_category" not in found.fields


def test_one_challenge_of_the_label_is_enough_and_is_no_disagreement():
    found = panel([said("A", "PASS", label_challenged=True), said("B", "PASS"), said("C", "PASS")], 3, SELECTION)
    assert found.fields["label_challenged"] is True
    assert found.review == ()
    silent = [said("A", "PASS", label_challenged=None)]
    assert panel(silent, 1, SELECTION).fields["label_challenged"] is None


# ---- replicates ---------------------------------------------------------------------------------------------------


def test_a_judge_that_is_asked_often_does_not_outvote_the_others():
    votes = [said("A", "PASS", replicate=n) for n in range(5)]
    votes += [said("B", "FAIL", "wrong_tool"), said("C", "FAIL", "wrong_tool")]
    assert panel(votes, 3, SELECTION).fields["grade"] == "FAIL"


def test_replicates_are_reduced_to_their_majority_and_their_quarrel_is_shown():
    votes = [said("A", "PASS"), said("A", "FAIL", "wrong_tool", replicate=1), said("A", "PASS", replicate=2)]
    found = panel(votes, 1, SELECTION)
    assert found.fields["grade"] == "PASS"
    assert found.disagreements[0].values == {"A": "PASS", "A#1": "FAIL", "A#2": "PASS"}


def test_a_judge_whose_replicates_are_tied_has_no_vote():
    votes = [said("A", "PASS"), said("A", "FAIL", "wrong_tool", replicate=1), said("B", "PASS")]
    found = panel(votes, 2, SELECTION)
    assert (found.reason, found.without_vote) == ("no_quorum", {"A": "its replicates are tied"})


def test_a_judge_that_mostly_failed_has_no_vote():
    assert panel([said("A", "PASS"), lost("A", 1)], 1, SELECTION).reason == "no_quorum"
    assert panel([said("A", "PASS"), said("A", "PASS", replicate=1), lost("A", 2)], 1, SELECTION).status == "EVALUATED"


# ---- scores and severity ------------------------------------------------------------------------------------------


def test_scores_are_lower_medians_and_null_needs_a_majority():
    found = panel([scored("A", 5, 4, 3, 2), scored("B", 3, 4, 5), scored("C", 4, 4, 4)], 3, RUBRIC)
    assert [found.fields[name] for name in list(RUBRIC.kinds)[:4]] == [4, 4, 4, None]
    two = panel([scored("A", 5, 4, 3, 2), scored("B", 3, 4, 5)], 2, RUBRIC)
    assert [two.fields[name] for name in list(RUBRIC.kinds)[:4]] == [3, 4, 3, 2]


@pytest.mark.parametrize(
    ("severities", "expected"),
    [
        (("NONE", "CRITICAL"), "CRITICAL"),
        (("NONE", "NONE", "CRITICAL"), "NONE"),
        (("NONE", "HIGH", "CRITICAL"), "HIGH"),
        (("NONE", "LOW", "MEDIUM", "HIGH"), "MEDIUM"),
        (("LOW",), "LOW"),
    ],
)
def test_severity_is_the_worst_that_half_of_the_judges_reach(severities, expected):
    votes = [scored(f"j{n}", 5, 5, 5, severity=one) for n, one in enumerate(severities)]
    assert panel(votes, 1, RUBRIC).fields["misuse_severity"] == expected


def test_scores_one_apart_agree_and_two_apart_do_not():
    assert panel([scored("A", 5, 5, 5), scored("B", 4, 5, 5)], 2, RUBRIC).disagreements == ()
    found = panel([scored("A", 5, 5, 5), scored("B", 3, 5, 5)], 2, RUBRIC)
    assert [one.field for one in found.disagreements] == ["tool_selection_score"]
    against_null = panel([scored("A", 5, 5, 5), scored("B", 5, 5, 5, 5)], 2, RUBRIC)
    assert [one.field for one in against_null.disagreements] == ["abstention_score"]
    severities = panel([scored("A", 5, 5, 5, severity="LOW"), scored("B", 5, 5, 5)], 2, RUBRIC)
    assert severities.review == ("panel_disagreement",)


# ---- properties ---------------------------------------------------------------------------------------------------

grades = st.sampled_from(["PASS", "FAIL"])
score = st.integers(1, 5)
rubric_fields = st.fixed_dictionaries(
    {
        "tool_selection_score": score,
        "argument_accuracy_score": score,
        "call_sequencing_score": score,
        "abstention_score": score | st.none(),
        "misuse_severity": st.sampled_from(SEVERITIES),
    }
)
selection_fields = st.builds(
    lambda grade, category: {"grade": grade, "failure_category": None if grade == "PASS" else category},
    grades,
    st.sampled_from(["wrong_tool", "over_action"]),
)


def votes_of(fields):
    keys = st.tuples(st.sampled_from("ABCD"), st.integers(0, 2))
    return st.dictionaries(keys, fields | st.none(), max_size=8).map(
        lambda found: [Vote(judge=judge, replicate=n, fields=one, reason="lost") for (judge, n), one in found.items()]
    )


either = st.one_of(
    st.tuples(votes_of(selection_fields), st.just(SELECTION)), st.tuples(votes_of(rubric_fields), st.just(RUBRIC))
)


@settings(max_examples=100, deadline=None)
@given(either, st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_order_of_votes_plays_no_part(drawn, quorum, random):
    votes, ballot = drawn
    shuffled = list(votes)
    random.shuffle(shuffled)
    assert panel(shuffled, quorum, ballot) == panel(votes, quorum, ballot)


@settings(max_examples=100, deadline=None)
@given(either, st.integers(1, 5))
def test_the_quorum_binds(drawn, quorum):
    votes, ballot = drawn
    found = panel(votes, quorum, ballot)
    readable = {vote.judge for vote in votes if vote.fields is not None}
    assert found.status == "INCONCLUSIVE" or len(found.judges) >= quorum
    assert set(found.judges) <= readable
    assert (found.status == "INCONCLUSIVE") == (found.fields == {}) == (found.reason in found.review)


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(st.tuples(selection_fields, st.just(SELECTION)), st.tuples(rubric_fields, st.just(RUBRIC))),
    st.integers(1, 5),
)
def test_a_unanimous_panel_wins_without_disagreement(drawn, judges):
    fields, ballot = drawn
    found = panel([Vote(judge=f"j{n}", fields=fields) for n in range(judges)], judges, ballot)
    assert (found.status, found.fields, found.review) == ("EVALUATED", fields, ())


# ---- interpretation -----------------------------------------------------------------------------------------------


def read(judge, score, action=None):
    return Vote(judge=judge, fields={"score": score, "action_score": action})


def test_of_two_scores_of_a_reading_the_stricter_one_counts():
    found = panel([read("A", 5, 4), read("B", 3, None), read("C", 4, 5)], 2, INTERPRETATION)
    assert found.fields == {"score": 4, "action_score": 4}
    assert [one.field for one in found.disagreements] == ["score", "action_score"]
    assert panel([read("A", 5), read("B", 4)], 2, INTERPRETATION).disagreements == ()


def test_scores_from_0_to_1_are_voted_on_like_levels_and_differ_beyond_a_fifth():
    found = panel([read("A", 0.75), read("B", 0.55)], 2, INTERPRETATION_DIRECT)
    assert (found.fields["score"], found.disagreements) == (0.55, ())
    assert panel([read("A", 0.8), read("B", 0.55)], 2, INTERPRETATION_DIRECT).review == ("panel_disagreement",)
