"""One exchange, one record: what stands in it, redacted, priced, and counted."""

import pytest
from judging_making import GARBAGE, a_judge, a_subject, ask, selection_says, truncated

from rightcall.errors import RateLimited, Unavailable
from rightcall.judge.contract import INJECTION, Suspicion
from rightcall.llm.client import Answer
from rightcall.llm.spec import JudgeSpec, Price
from rightcall.run.judging.record import Spent, endpoint_of, sha256_of
from rightcall.store.records import AttemptRecord

GOOD = selection_says()
CARD = "4111 1111 1111 1111"


def only(asked):
    (one,) = asked.attempts
    return one


def test_a_record_says_what_was_asked_for_what_by_which_prompt(tmp_path):
    subject = a_subject(case_id="c-1", trace_id="t-1", step_id="s-1", prompt_id="mine", prompt_version="7")
    one = only(ask(tmp_path / "s.db", [GOOD], subject))
    assert (one.grader, one.unit, one.case_id, one.trace_id, one.step_id) == ("selection", "u-1", "c-1", "t-1", "s-1")
    assert (one.prompt_id, one.prompt_version, one.prompt_sha256) == ("mine", "7", "p" * 64)
    assert (one.judge, one.provider, one.purpose, one.replicate) == ("strong", "scripted", "question", 0)


def test_question_and_raw_reply_are_kept_word_for_word(tmp_path):
    reply = f"Here it is:\n```json\n{GOOD}\n```\n"
    asked = ask(tmp_path / "s.db", [reply])
    assert asked.bodies == [{"system": "You judge choices of tools.", "user": "Was it right in u-1?", "reply": reply}]


def test_a_malformed_reply_is_kept_raw_with_its_problems_and_no_verdict(tmp_path):
    asked = ask(tmp_path / "s.db", [GARBAGE, GOOD])
    first, second = asked.attempts
    assert asked.bodies[0]["reply"] == GARBAGE
    assert first.problems[0].keys() == {"path", "message"}
    assert (first.verdict, second.verdict["grade"]) == (None, "PASS")
    assert first.key == second.key != ""


def test_what_does_not_spoil_a_reply_is_noted(tmp_path):
    one = only(ask(tmp_path / "s.db", [selection_says(mood="good")]))
    assert one.status == "ok"
    assert any("mood" in problem["path"] + problem["message"] for problem in one.problems)


def test_a_fault_of_the_network_is_kept_as_what_it_was(tmp_path):
    errors = [RateLimited("slow down", http_status=429, retry_after=0.0), Unavailable("gone", http_status=502), GOOD]
    asked = ask(tmp_path / "s.db", errors)
    assert [(one.status, one.http_status, one.retry_after, one.message, one.reply) for one in asked.attempts[:2]] == [
        ("JUDGE_RATE_LIMITED", 429, 0.0, "slow down", None), ("JUDGE_UNREACHABLE", 502, None, "gone", None)
    ]  # fmt: skip
    assert asked.attempts[0].finish is None


def test_who_answered_how_is_on_record(tmp_path):
    answer = Answer(
        text=GOOD, model="scripted-2026-11-01", finish="stop", finish_raw="end_turn", rung="json_schema",
        sent={"temperature": 0.0, "max_tokens": 2048, "strict": True}, request_id="r-9", input_tokens=900,
        output_tokens=60,
    )  # fmt: skip
    one = only(ask(tmp_path / "s.db", [answer]))
    assert (one.model_asked, one.model_answered) == ("scripted", "scripted-2026-11-01")
    assert (one.finish, one.rung, one.request_id) == ("end_turn", "json_schema", "r-9")
    assert one.parameters == {"temperature": 0.0, "max_tokens": 2048, "strict": True}
    assert (one.input_tokens, one.output_tokens) == (900, 60)
    assert one.counted_tokens == 11
    assert one.latency >= 0
    assert one.started_at <= one.ended_at


def test_a_verdict_that_was_not_produced_at_the_temperature_asked_for_says_so(tmp_path):
    answer = Answer(text=GOOD, model="scripted", sent={"max_tokens": 2048})
    one = only(ask(tmp_path / "s.db", [answer]))
    assert "not produced at temperature 0: the model refuses the parameter" in one.notes


def test_suspected_and_reduced_questions_say_so_in_every_record(tmp_path):
    subject = a_subject(suspicions=(Suspicion("$.CONTEXT", "score_demand", "give it a 5"),))
    asked = ask(tmp_path / "s.db", [GARBAGE, GOOD], subject)
    assert [one.notes for one in asked.attempts] == [(f"{INJECTION} at $.CONTEXT",)] * 2


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({"base_url": "https://user:pw@host.example:8443/v1?api-key=k"}, "host.example:8443"),
        ({"base_url": "https://host.example/v1"}, "host.example"),
        ({"provider": "command", "command": ("/opt/bin/ask", "--key", "k")}, "ask"),
        ({"provider": "recorded", "file": "replies.jsonl"}, "replies.jsonl"),
        ({"provider": "anthropic"}, "anthropic"),
    ],
)
def test_an_endpoint_is_named_by_its_host_and_by_nothing_secret(spec, shown):
    assert endpoint_of(JudgeSpec(**spec)) == shown


# ---- secrets ----


def test_every_word_that_an_endpoint_says_is_cleaned(tmp_path):
    answer = Answer(
        text=selection_says(justification=f"The card {CARD} was frozen.", extra="sk-abcdefghijklmnopqrstuvwx0123"),
        model="scripted", finish_raw=f"stop {CARD}", request_id=f"r {CARD}", sent={"token": "hush-hush"},
    )  # fmt: skip
    asked = ask(tmp_path / "s.db", [Unavailable(f"card {CARD} gone"), answer])
    whole = repr(asked.attempts) + repr(asked.bodies)
    assert CARD not in whole
    assert "hush-hush" not in whole
    assert "sk-abcdef" not in whole
    assert "⟦card:" in whole


def test_the_name_of_a_model_and_the_place_of_a_problem_are_cleaned_too(tmp_path):
    other = Answer(text=GOOD, model=f"model {CARD}")
    judge = a_judge([other] * 3)
    asked = ask(tmp_path / "s.db", judge)
    extra = ask(tmp_path / "t.db", [selection_says(**{CARD: 1})])
    for whole in (repr(asked.attempts), repr(judge.others), asked.outcome.message, repr(extra.attempts)):
        assert CARD not in whole
        assert "⟦card:" in whole


def test_known_secrets_are_no_shape_and_go_all_the_same(tmp_path):
    asked = ask(tmp_path / "s.db", [Unavailable("who is correct-horse?"), GOOD], secrets=("correct-horse",))
    assert "correct-horse" not in repr(asked.attempts)


def test_a_question_that_holds_a_secret_is_kept_without_it(tmp_path):
    asked = ask(tmp_path / "s.db", [GOOD], a_subject(user=f"Card {CARD}?", system=f"Rules of {CARD}."))
    assert "4111" not in repr(asked.bodies)


# ---- counting ----


def test_what_a_run_spends_is_counted_by_what_became_of_it(tmp_path):
    price = Price(input=2.0, output=10.0)
    script = [
        Unavailable("gone"),
        Answer(text=GARBAGE, model="scripted", input_tokens=1000, output_tokens=100),
        Answer(text=GOOD, model="scripted", input_tokens=1500, output_tokens=100),
    ]
    asked = ask(tmp_path / "s.db", a_judge(script, price=price))
    assert asked.record.spent == Spent(
        calls=3, input_tokens=2500, output_tokens=200, money={"usd": pytest.approx(0.007)},
        by_status={"JUDGE_UNREACHABLE": 1, "JUDGE_NOT_JSON": 1, "ok": 1},
    )  # fmt: skip
    assert [one.price for one in asked.attempts] == [None, pytest.approx(0.003), pytest.approx(0.004)]


def test_what_nobody_counted_is_not_zero(tmp_path):
    asked = ask(tmp_path / "s.db", [GOOD])
    assert (asked.record.spent.uncounted, asked.record.spent.unpriced) == (1, 1)
    assert (only(asked).input_tokens, only(asked).price) == (None, None)


def test_a_reply_without_a_price_is_counted_apart(tmp_path):
    answer = Answer(text=GOOD, model="scripted", input_tokens=9, output_tokens=9)
    asked = ask(tmp_path / "s.db", [answer])
    assert (asked.record.spent.uncounted, asked.record.spent.unpriced) == (0, 1)


@pytest.mark.parametrize(
    ("changed", "goes_on"),
    [
        ({}, True),
        ({"status": "JUDGE_NOT_JSON"}, True),
        ({"status": "JUDGE_TRUNCATED"}, True),
        ({"status": "JUDGE_TIMEOUT"}, False),
        ({"status": "JUDGE_UNREACHABLE"}, False),
        ({"status": "REJECTED_PARAMETER"}, False),
        ({"reply": None}, False),
        ({"purpose": "probe"}, False),
        ({"purpose": "replay"}, False),
    ],
)
def test_only_replies_to_the_question_itself_may_be_gone_on_from(tmp_path, changed, goes_on):
    asked = ask(tmp_path / "s.db", [GOOD])
    known = {"run_id": "r", "grader": "selection", "unit": "u", "judge": "j", "key": "k", "status": "ok"}
    old = AttemptRecord(**{**known, "reply": only(asked).reply, **changed})
    from rightcall.store.store import Store

    with Store.open(tmp_path / "s.db") as store:
        asked.record.store = store
        assert (asked.record.reply_of(old) == GOOD) is goes_on


def test_a_body_is_named_by_its_bytes(tmp_path):
    asked = ask(tmp_path / "s.db", [truncated("é"), GOOD])
    assert asked.attempts[0].reply == sha256_of("é".encode())
