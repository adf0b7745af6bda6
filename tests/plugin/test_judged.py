"""Judged assertions: a judge decides, and whatever keeps it from answering is an error."""

import asyncio
import json

import pytest

from rightcall import Judge, Message, Trace, call
from rightcall.plugin import Undecided
from rightcall.testing import ScriptedModel

SCORES = {
    "tool_selection_score": 4,
    "argument_accuracy_score": 5,
    "call_sequencing_score": 5,
    "abstention_score": None,
    "misuse_severity": "LOW",
    "downstream_impact": "None worth naming.",
    "justification": "Nearly the best tool.",
}
TOOLS = [{"name": "freeze", "description": "Freezes a card.", "parameters": {"type": "object"}}]
FREEZE = call("freeze", {"card": "4242"}, result={"status": "frozen", "days": 3})


@pytest.fixture
def traced(agent):
    """Return a maker of recorded traces with all that a judge must know."""

    def make(*events, **more):
        return agent(tools=TOOLS, **more).record(Trace(id="t", request="Freeze my card.", events=events))

    return make


def judge(**more):
    return Judge(ScriptedModel(lambda request: json.dumps({**SCORES, **more})))


def silent(*said):
    return Judge(ScriptedModel(list(said)))


def fails(assertion):
    with pytest.raises(AssertionError) as caught:
        assertion()
    return str(caught.value)


def undecided(assertion):
    with pytest.raises(Undecided) as caught:
        assertion()
    assert caught.value.phase == "judging"
    return str(caught.value)


def test_scores_that_reach_what_is_asked_pass(traced):
    result = traced(FREEZE).assert_rubric(
        judge=judge(), min_scores={"tool_selection_score": 4, "overall_score": 4.5}, max_severity="LOW"
    )
    assert result.metrics.tool_selection_score == 4


def test_a_lower_score_fails_with_the_judges_words(traced):
    text = fails(lambda: traced(FREEZE).assert_rubric(judge=judge(), min_scores={"tool_selection_score": 5}))
    assert text.splitlines()[0] == "rubric: tool_selection_score 4 is below 5"
    assert "  justification: Nearly the best tool." in text.splitlines()


def test_a_worse_misuse_fails(traced):
    said = judge(misuse_severity="HIGH", downstream_impact="Blocked.")
    text = fails(lambda: traced(FREEZE).assert_rubric(judge=said, max_severity="MEDIUM"))
    assert text.splitlines()[0] == "rubric: misuse HIGH is worse than MEDIUM"


def test_an_average_that_misses_the_limit_is_never_shown_as_the_limit(traced):
    text = fails(lambda: traced(FREEZE).assert_rubric(judge=judge(), min_scores={"overall_score": 4.667}))
    assert text.splitlines()[0] == "rubric: overall_score 4.6667 is below 4.667"


def test_a_score_that_does_not_apply_reaches_nothing(traced):
    text = undecided(lambda: traced(FREEZE).assert_rubric(judge=judge(), min_scores={"abstention_score": 3}))
    assert "abstention_score does not apply to this trace" in text


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (["no json", "still none"], "JUDGE_NOT_JSON"),
        ([], "not_recorded"),
    ],
)
def test_a_judge_without_a_readable_answer_is_no_answer(traced, said, why):
    text = undecided(lambda: traced(FREEZE).assert_rubric(judge=silent(*said), max_severity="CRITICAL"))
    assert why in text


def test_what_the_prompt_needs_and_the_trace_lacks_is_named(agent):
    bare = agent().record(Trace(id="t", events=(FREEZE,)))
    text = undecided(lambda: bare.assert_rubric(judge=judge(), max_severity="HIGH"))
    assert text.splitlines()[0] == (
        "rubric: no judgement: missing_input: the prompt needs a request and a catalog; give run() a request, and the "
        "marker `tools`"
    )


def test_no_judge_at_all_is_no_answer(traced):
    assert "needs a judge" in undecided(lambda: traced(FREEZE).assert_rubric(max_severity="HIGH"))


def test_a_missing_credential_is_no_answer(traced, monkeypatch):
    monkeypatch.delenv("NOBODYS_KEY", raising=False)
    away = Judge("openai:some-model", api_key_env="NOBODYS_KEY", base_url="http://127.0.0.1:9/v1")
    assert "NOBODYS_KEY" in undecided(lambda: traced(FREEZE).assert_rubric(judge=away, max_severity="HIGH"))


def test_offline_only_answers_on_record_count(agent):
    made = agent(tools=TOOLS)
    made._state.suite.offline = True
    recorded = made.record(Trace(id="t", request="Freeze it.", events=(FREEZE,)))
    away = Judge("openai:some-model", base_url="http://127.0.0.1:9/v1", api_key_env=None)
    assert "not_recorded" in undecided(lambda: recorded.assert_rubric(judge=away, max_severity="HIGH"))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "nothing is asserted"),
        ({"min_scores": {"tool_selection": 4}}, "did you mean `tool_selection_score`"),
        ({"min_scores": {"overall_score": 7}}, "a number from 1 to 5"),
        ({"max_severity": "AWFUL"}, "there is no severity `AWFUL`"),
    ],
)
def test_what_cannot_be_asserted_is_no_answer(traced, asked, said):
    with pytest.raises(Undecided, match=said):
        traced(FREEZE).assert_rubric(judge=judge(), **asked)


def test_a_judge_is_asked_in_an_async_test_too(traced):
    trace = traced(FREEZE)

    async def test():
        return trace.assert_rubric(judge=judge(), max_severity="LOW")

    assert asyncio.run(test()).misuse_severity == "LOW"


def test_a_result_is_kept_for_the_report(traced):
    trace = traced(FREEZE)
    trace.assert_rubric(judge=judge(), max_severity="LOW")
    ((grader, result, facts),) = trace._said.others
    assert (grader, result.misuse_severity) == ("rubric", "LOW")
    assert facts["judges"][0]["name"] == "ScriptedModel"


def test_a_judge_of_the_test_leaves_nothing_in_the_projects_record(traced, tmp_path):
    trace = traced(FREEZE, settings='store = "record.db"\n')
    trace.assert_rubric(judge=judge(), max_severity="LOW")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rightcall.toml"]


def test_a_judge_of_the_settings_is_asked_by_name(traced, tmp_path):
    line = {"grader": "rubric", "unit": "t", "replies": [json.dumps(SCORES)]}
    (tmp_path / "answers.jsonl").write_text(json.dumps(line))
    text = (
        'store = "record.db"\n[judges.desk]\nprovider = "recorded"\nfile = "answers.jsonl"\n[rubric]\njudge = "desk"\n'
    )
    traced(FREEZE, settings=text).assert_rubric(max_severity="LOW")
    assert (tmp_path / "record.db").exists()


def test_secrets_of_a_judges_words_are_not_shown(traced):
    said = judge(justification="The agent mailed it to ann@example.org.", misuse_severity="HIGH")
    text = fails(lambda: traced(FREEZE).assert_rubric(judge=said, max_severity="LOW"))
    assert "ann@example.org" not in text


# ---- interpretation --------------------------------------------------------------------------------------------------

READING = {
    "score": 5,
    "interpretation_accuracy": "It says what the result says.",
    "action_appropriateness": "Fine.",
    "action_score": 5,
    "key_errors": [],
    "justification": "Frozen for 3 days.",
    "misinterpretation_flags": [],
    "evidence": [],
}
SAID = (FREEZE, Message(role="assistant", text="Your card is frozen for 3 days."))


def reader(**more):
    return Judge(ScriptedModel(lambda request: json.dumps({**READING, **more})))


def test_readings_that_are_right_pass(traced):
    (result,) = traced(*SAID).assert_interpretation(judge=reader())
    assert result.interpretation_fidelity_score == 1.0


def test_a_reading_that_is_wrong_fails_with_the_judges_words(traced):
    said = reader(score=2, interpretation_accuracy="It is not for good.")
    text = fails(lambda: traced(*SAID).assert_interpretation(judge=said))
    assert text.splitlines()[:2] == [
        "interpretation: 1 of 1 readings below 0.8", "  call 1 freeze: fidelity 0.4: It is not for good.",
    ]  # fmt: skip


def test_a_trace_without_a_reading_is_no_answer(traced):
    assert "nothing to judge" in undecided(
        lambda: traced(Message(role="assistant", text="Hello.")).assert_interpretation(judge=reader())
    )


def test_a_reader_that_cannot_be_reached_is_no_answer(traced):
    refused = Judge("openai:some-model", base_url="http://127.0.0.1:9/v1", api_key_env="NOBODYS_KEY")
    assert undecided(lambda: traced(*SAID).assert_interpretation(judge=refused))


@pytest.mark.parametrize("limit", [-0.1, 2, float("nan"), True])
def test_a_fidelity_that_there_is_none_of_is_no_answer(traced, limit):
    with pytest.raises(Undecided, match="a number from 0 to 1"):
        traced(*SAID).assert_interpretation(judge=reader(), min_fidelity=limit)
