"""Cases from public bug reports about judged runs, through the whole engine: store, prompts, doors, readers, reviews.

Where a case and the specification disagree, the specification wins and a comment says so.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from judging_making import (
    Suite,
    a_judge,
    everything_in,
    rubric_says,
    run_with,
    said,
    scripted,
    selection_says,
    step,
    trace,
)

from rightcall.errors import Rejected, Unavailable
from rightcall.judge.contract import INJECTION
from rightcall.judge.library import source
from rightcall.llm.client import Answer
from rightcall.run.graders.setup import Flags, set_up_selection
from rightcall.run.judging.run import short_summary
from rightcall.settings.load import load_settings
from rightcall.store.store import Store
from rightcall.testing import FaultyServer
from rightcall.testing.answers import by_marker, selection_answer

GOOD = selection_says()
TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def reported(shared_data):
    """Return the cases from public bug reports by id; skip where they are absent."""
    file = shared_data / "cases" / "cases.jsonl"
    if not file.is_file():
        pytest.skip(f"needs ../{shared_data.name}/cases/cases.jsonl, which is not part of the repository")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["id"]: row for row in rows}


@pytest.fixture
def suite(tmp_path):
    return Suite(tmp_path, scripted("strong", "fast", "other"))


def given_and_right(reported, name):
    return reported[name]["minimal_input"], reported[name]["right_answer"]


def finished(setup, *judges):
    with run_with(setup, *judges) as run:
        return run, {getattr(one, "step_id", None) or one.trace_id: one for one in run.decoded()}


def asked(judge):
    return judge.door.client.requests


def reviews(suite, run):
    with suite.opened() as store:
        return [review for _, review in store.reviews(run_id=run.run.id)]


def on_record(suite, run):
    with suite.opened() as store:
        attempts = [one for _, _, one in store.attempts(run_id=run.run.id)]
        return attempts, [store.body(one.user).decode() for one in attempts if one.purpose == "question"]


def faulty(server, **more):
    lines = {"model": "faulty-model", "base_url": server.base_url, **more}
    return "[judges.strong]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items())


# ---- runs ----


def test_jru_01_one_unreadable_reply_is_contained_in_its_case(suite, reported):
    given, right = given_and_right(reported, "JRU-01")
    fails = {name for name, texts in given["replies"].items() if texts == ["FAIL"]}
    told = {"PASS": GOOD, "FAIL": selection_says("FAIL", selected_tool="cancel_card"), "garbage": "garbage"}
    # The grade of `selection` is decided by code, so the case that fails is one in which the wrong tool was chosen.
    steps = [step(name, selected="cancel_card" if name in fails else "freeze_card") for name in given["replies"]]
    lines = [{"unit": name, "replies": [told[text] for text in texts]} for name, texts in given["replies"].items()]
    suite.write("replies.jsonl", lines)
    judge = a_judge({line["unit"]: line["replies"] for line in lines})
    run, found = finished(suite.selection(steps), judge)
    figures = run.aggregate.summary()
    assert len(asked(judge)) == right["calls_made"]
    assert (run.tally.evaluated, figures["passed"], figures["failed"]) == (
        right["scored"],
        right["pass"],
        right["fail"],
    )
    assert [one.unit for one in reviews(suite, run) if one.reason == "unevaluable"] == right["review_queue"]
    assert figures["overall"]["pass_rate"]["estimate"] == right["pass_rate"]
    assert short_summary(run)["coverage"] == 4 / 5
    assert len(found) == given["cases"]
    # Coverage is shown wherever the run ends.
    config = str(suite.folder / "rightcall.toml")
    recorded = f"recorded:{suite.folder / 'replies.jsonl'}"
    code, out, err = said("selection", str(suite.folder / "steps.jsonl"), "--judge", recorded, "--config", config)
    assert code == 1
    assert "only 4 of 5 could be judged" in err
    assert "4 of 5" in out


@pytest.mark.slow
def test_jru_05_limits_are_waited_for(tmp_path, reported):
    given, right = given_and_right(reported, "JRU-05")
    first, second, last = given["responses"]
    assert (first["http"], second["http"], last["http"]) == (429, 429, 200)
    # The second limit names no pause; the server's kind of fault for that answers 529, which is handled as 429 is.
    with FaultyServer(
        plan=["rate_limited", "overloaded"], retry_after=first["retry_after_s"],
        answers=selection_answer(selected="freeze_card", expected="freeze_card"),
    ) as server:  # fmt: skip
        with Suite(tmp_path, faulty(server, structured="text")).selection([step()]).run() as run:
            (found,) = run.decoded()
        one, two, three = (request.at for request in server.requests)
    assert found.verdict == right["verdict"]
    assert two - one >= first["retry_after_s"]
    assert three - two > 0
    assert found.judges[0].healed is False


@pytest.mark.parametrize("jobs", [1, 8])
def test_jru_05_a_wrong_credential_costs_one_call(tmp_path, reported, jobs):
    given, right = given_and_right(reported, "JRU-05")
    assert given["other"] == {"http": 401}
    with FaultyServer(plan={"unauthorized": 1.0}) as server:
        suite = Suite(tmp_path, faulty(server, structured="text"))
        with suite.selection([step(f"s-{n}") for n in range(20)], jobs=jobs).run() as run:
            assert list(run.decoded()) == []
        assert right["on_401"] == "one call, stop, JUDGE_AUTH"
        assert (server.stats()["requests"], run.stop.cause) == (1, "auth")
    attempts, _ = on_record(suite, run)
    assert [one.status for one in attempts] == ["JUDGE_AUTH"]


@pytest.mark.parametrize("status", [400, 404, 405, 413, 422])
def test_jru_05_no_other_refusal_is_sent_again(suite, status):
    judge = a_judge(lambda _request: Rejected("no", code="JUDGE_UNREACHABLE", http_status=status))
    _, found = finished(suite.selection([step()]), judge)
    assert (len(asked(judge)), found["s-1"].status) == (1, "UNEVALUABLE")


def test_jru_07_a_refused_temperature_is_left_out_and_the_log_says_so(tmp_path, reported):
    given, _right = given_and_right(reported, "JRU-07")
    assert given["response"] == {"http": 400, "error_param": "temperature"}
    with FaultyServer(
        plan=lambda _asked: "unsupported_temperature",
        answers=selection_answer(selected="freeze_card", expected="freeze_card"),
    ) as server:  # fmt: skip
        suite = Suite(tmp_path, faulty(server, structured="text", temperature=given["request"]["temperature"]))
        with suite.selection([step("s-1"), step("s-2")]).run() as run:
            found = list(run.decoded())
        statuses = [request.status for request in server.requests]
    assert statuses == [400, 200, 200]  # learned once
    assert [one.verdict for one in found] == ["PASS", "PASS"]
    attempts, _ = on_record(suite, run)
    assert [one.status for one in attempts] == ["REJECTED_PARAMETER", "ok", "ok"]
    assert all("not produced at temperature 0" in " ".join(one.notes) for one in attempts[1:])
    assert all("temperature" not in one.parameters for one in attempts[1:])


def test_jru_08_the_second_question_is_never_the_first(suite, reported):
    given, right = given_and_right(reported, "JRU-08")
    bad = given["attempt1"]["text"]
    finished(suite.selection([step()]), a_judge([GOOD]))  # a good answer to the first question is on record
    judge = a_judge(lambda request: bad if request.attempt == 0 else GOOD)
    run, found = finished(suite.selection([step()], use_cache=False), judge)
    first, second = asked(judge)
    attempts, _ = on_record(suite, run)
    assert right["attempt2_prompt_contains"] == ["P", "the validation error text"]
    assert second.user.startswith(first.user)
    assert second.user != first.user
    assert all(problem["message"] in second.user for problem in attempts[0].problems)
    assert found["s-1"].judges[0].healed


def test_jru_09_a_bad_reply_is_not_served_to_the_next_run(suite, reported):
    _given, right = given_and_right(reported, "JRU-09")
    finished(suite.selection([step()]), a_judge(["{score: four}"] * 2))
    judge = a_judge([GOOD])
    _, found = finished(suite.selection([step()]), judge)
    assert right["run2"] == "judge is called again"
    assert (len(asked(judge)), found["s-1"].status) == (1, "EVALUATED")


def test_jru_10_whatever_can_change_an_answer_misses_the_cache(suite, reported):
    given, right = given_and_right(reported, "JRU-10")
    text, _ = source("selection")
    head, rest = text.split("\n---\n", 1)
    schema = '{"type": "object", "properties": {"grade": {"enum": ["PASS", "FAIL"]}, "selected_tool": {}, '
    schema += '"expected_tool": {}, "justification": {"type": "string"%s}, "failure_category": {}}, '
    schema += '"required": ["grade", "selected_tool", "expected_tool", "justification", "failure_category"]}'

    def prompt(name, words="", more=""):
        made = head.replace("id: selection\n", "id: mine\n") + f"\nreply_schema: {schema % more}\n---\n{words}{rest}"
        (suite.folder / name).write_text(made)
        return str(suite.folder / name)

    aa, bb, v2 = prompt("aa.md"), prompt("bb.md", "Be brief. "), prompt("v2.md", more=', "maxLength": 999')

    def hit(file=aa, swap=False, **judge):
        ours, theirs = ("cancel_card", "freeze_card") if swap else ("freeze_card", "cancel_card")
        model = a_judge(
            lambda _r: Answer(text=selection_says("FAIL", selected_tool=ours, expected_tool=theirs)), **judge
        )
        finished(suite.selection([step(selected=ours, expected=theirs)], prompt=file), model)
        return asked(model) == []

    assert not hit(model="j-1", temperature=given["stored"]["params"]["t"])
    variants = {
        "prompt_sha": lambda _: hit(bb, model="j-1"),
        "schema": lambda _: hit(v2, model="j-1"),
        "params": lambda params: hit(model="j-1", temperature=params["t"]),
        # These graders show one trace; what is swapped here is which tool was chosen and which expected.
        "swap": lambda _: hit(swap=True, model="j-1"),
        "model": lambda model: hit(model=model),
    }
    hits = [variants[next(iter(one))](next(iter(one.values()))) if one else hit(model="j-1") for one in given["asked"]]
    assert hits == right["hits"]


def test_jru_13_the_judge_sees_what_the_agent_knew(suite, reported):
    given, _right = given_and_right(reported, "JRU-13")
    calls = given["trace"]
    wanted = str(calls[0]["result"]["uid"])
    tools = [{"name": call["tool"], "description": "One of two."} for call in calls]
    told = suite.write(
        "traces.jsonl", [{"id": "t-1", "case_id": "c-1", "request": "reset it", "tools": tools, "calls": calls}]
    )
    golden = [{"tool": call["tool"]} for call in calls]
    cases = suite.write("cases.jsonl", [{"id": "c-1", "request": "reset it", "expect": {"calls": golden}}])
    loaded = load_settings(suite.folder / "rightcall.toml", {}, {"traces": [str(told)], "cases": [str(cases)]})
    judge = a_judge(lambda request: selection_says(selected_tool=request.unit, expected_tool=request.unit))
    finished(set_up_selection(loaded, (str(told),), Flags(judge="strong")), judge)
    first, second = asked(judge)
    assert wanted in second.user
    assert wanted not in first.user
    again = a_judge([rubric_says()])
    finished(suite.rubric([{"id": "t-1", "request": "reset it", "tools": tools, "calls": calls}]), again)
    (whole,) = asked(again)
    assert whole.user.count(wanted) == 2  # the result, and the argument that was taken from it


def test_jru_14_a_value_that_is_missing_stops_the_question(suite, reported):
    given, right = given_and_right(reported, "JRU-14")
    assert "[AVAILABLE_TOOLS]" in given["template"]
    judge = a_judge([])
    run, found = finished(suite.selection([{"id": "s-1", "request": "x", "selected": "a", "expected": "a"}]), judge)
    (review,) = reviews(suite, run)
    assert (found["s-1"].status, found["s-1"].reason) == ("UNEVALUABLE", "missing_input")
    assert right["error_class"] in review.detail
    assert "AVAILABLE_TOOLS" in review.detail
    assert asked(judge) == []


def test_jru_17_a_lone_survivor_of_a_panel_decides_nothing(suite, reported):
    given, right = given_and_right(reported, "JRU-17")
    names = ("strong", "fast", "other")
    answers = [(lambda _r: GOOD) if one != "error" else (lambda _r: Unavailable("gone")) for one in given["judges"]]
    judges = [a_judge(answer, name, retries=0) for answer, name in zip(answers, names, strict=True)]
    run, found = finished(suite.selection([step()], judge=",".join(names), quorum=given["quorum"]), *judges)
    # What the case calls INCONCLUSIVE is `UNEVALUABLE: no_quorum` in a result (SPEC §3, §5.11): out of all figures.
    assert right["status"] == "INCONCLUSIVE"
    assert (found["s-1"].status, found["s-1"].reason, found["s-1"].verdict) == (
        "UNEVALUABLE",
        "no_quorum",
        right["winner"],
    )
    assert [one.reason for one in reviews(suite, run)] == ["unevaluable"]
    assert run.tally.evaluated == 0


# ---- the store ----


def test_sto_05_every_record_belongs_to_its_case(tmp_path, reported):
    given, right = given_and_right(reported, "STO-05")
    number, workers = given["cases"], given["workers"]
    replies = {f"case-{n:04d}": selection_says(justification=f"That of case-{n:04d}.") for n in range(number)}
    with FaultyServer(
        answers=by_marker(replies), marker=r"case-\d+", plan={"malformed": 0.3, "dropped": 0.1}
    ) as server:
        suite = Suite(tmp_path, faulty(server))
        with suite.selection([step(name) for name in replies], jobs=workers).run() as run:
            found = {one.step_id: one for one in run.decoded()}
    empty = 0
    with suite.opened() as store:
        for _, _, one in store.attempts(run_id=run.run.id):
            empty += not one.case_id
            if one.purpose == "question":
                texts = [store.body(sha).decode() for sha in (one.user, one.reply) if sha]
                named = {name for text in texts for name in re.findall(r"case-\d+", text)}
                assert named == {one.case_id} == {one.unit}
    assert (empty, right["every_judge_record_case_id_matches"]) == (right["empty"], True)
    assert all(one.justification == f"That of {name}." for name, one in found.items() if one.status == "EVALUATED")


def test_sto_06_a_resumed_run_has_one_current_verdict_a_case(suite, reported):
    given, right = given_and_right(reported, "STO-06")
    steps = [step(name) for name in ("a", "b", "c")]
    # The first case has a verdict, the second no answer, and at the third the run stops.
    said_to = {"a": GOOD, "b": Unavailable("gone"), "c": Rejected("no", code="JUDGE_AUTH", http_status=401)}
    lost = a_judge(lambda request: said_to[request.unit], retries=0, max_concurrency=1)
    first, found = finished(suite.selection(steps), lost)
    assert sorted(found) == given["done"]
    judge = a_judge(lambda _request: GOOD)
    second, found = finished(suite.selection(steps, resume=first.run.id), judge)
    assert sorted(one.unit for one in asked(judge)) == given["resume_writes"]
    assert sorted(found) == right["rows_current"]
    with suite.opened() as store:
        assert sorted(one.unit for one in store.verdicts(first.run.id)) == right["rows_current"]
        assert len(list(store.log(kind="verdict", run_id=first.run.id))) == right["audit_rows"]
    assert f"{second.tally.evaluated}/{second.tally.n}" == right["progress"]


@pytest.mark.slow
def test_sca_05_nothing_is_lost_at_the_end_of_a_process(suite, reported):
    given, right = given_and_right(reported, "SCA-05")
    suite.write("steps.jsonl", [step(f"s-{n}") for n in range(given["scores"])])
    suite.write("replies.jsonl", [{"unit": f"s-{n}", "replies": [GOOD]} for n in range(given["scores"])])
    code = "from rightcall.cli.main import main; main()"
    flags = ["--judge", "recorded:replies.jsonl", "--config", "rightcall.toml", "--quiet"]
    ran = subprocess.run(
        [sys.executable, "-c", code, "selection", "steps.jsonl", *flags], cwd=suite.folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    with Store.open(suite.store, create=False) as store:
        (run, event), *_ = store.runs()
        assert len(list(store.verdicts(run.id))) == right["rows"]
        assert Counter(one.status for _, _, one in store.attempts()) == {"ok": right["rows"]}
        assert event.status == "finished"


# ---- what the judge sees ----


def test_uix_06_a_structured_result_is_shown_as_json(suite, reported):
    given, right = given_and_right(reported, "UIX-06")
    judge = a_judge([rubric_says()])
    finished(suite.rubric([trace(calls=[{"tool": "freeze_card", "arguments": {}, "result": given["result"]}])]), judge)
    (request,) = asked(judge)
    assert right["judge_sees"] in request.user
    assert "[object Object]" not in request.user


# ---- hostile traces ----


def test_sec_04_text_cannot_leave_its_fence_and_is_reported(suite, reported):
    given, _right = given_and_right(reported, "SEC-04")
    planted = given["tool_result"]
    judge = a_judge(lambda _request: rubric_says())
    calls = [{"tool": "freeze_card", "arguments": {}, "result": planted}]
    run, found = finished(suite.rubric([trace("t-1", calls=calls), trace("t-2")]), judge)
    hostile, plain = asked(judge)
    (nonce,) = set(re.findall(r"<<<DATA AGENT_TOOL_CALLS (\w+)", hostile.user))
    block = re.search(rf"<<<DATA AGENT_TOOL_CALLS {nonce}\n(.*?)\n{nonce} DATA>>>", hostile.user, re.DOTALL)[1]
    shown = [event["result"]["content"] for event in json.loads(block) if "result" in event]
    assert shown == [planted]
    outside = hostile.user.replace(block, "")
    assert "# OUTPUT FORMAT\nReturn" not in hostile.user
    assert "[TRACE_B]" not in outside
    assert nonce not in plain.user
    assert any(INJECTION in one for one in found["t-1"].suspicions)
    assert found["t-2"].suspicions == ()
    assert [(one.unit, one.reason) for one in reviews(suite, run)] == [("t-1", "injection_suspected")]


def test_sec_06_an_echo_is_flagged_and_what_it_echoes_stays_data(suite, reported):
    given, _right = given_and_right(reported, "SEC-06")
    planted = given["tool_result"]
    # The planted object lacks what a verdict needs, so its echo is none; the whole one below could be one.
    for number, text in enumerate((planted, GOOD)):
        name, judge = f"s-{number}", a_judge([text, text])
        history = [{"type": "call", "tool": "look", "arguments": {}, "result": {"content": text}}]
        run, found = finished(suite.selection([step(name, context={"history": history})]), judge)
        assert all(json.dumps(text)[1:-1] in request.user for request in asked(judge))
        assert any(" echo at " in one for one in found[name].suspicions)
        assert found[name].status == ("EVALUATED" if text == GOOD else "UNEVALUABLE")
        assert "injection_suspected" in [one.reason for one in reviews(suite, run)]


def test_sec_08_the_log_is_complete_and_holds_no_secret(tmp_path, monkeypatch, reported):
    given, right = given_and_right(reported, "SEC-08")
    key = given["judge_config"]["api_key"]
    monkeypatch.setenv("TEAM_KEY", key)
    call = given["trace"][0]
    tools = [{"name": call["tool"], "description": "Gets a page."}]
    made = {"id": "t-1", "request": "get it", "tools": tools, "calls": [call, call]}
    with FaultyServer(api_key=key, answers=lambda _asked: rubric_says()) as server:
        suite = Suite(tmp_path, faulty(server, api_key_env="TEAM_KEY", structured="text"))
        with suite.rubric([made]).run() as run:
            (found,) = run.decoded()
        assert [request.header("authorization") for request in server.requests] == [f"Bearer {key}"]
    assert found.status == "EVALUATED"
    held = everything_in(suite.store)
    for secret in right["stored_must_not_contain"]:
        assert secret.encode() not in held
    _, (question,) = on_record(suite, run)
    tags = re.findall(r"Bearer (⟦\w+:\w+⟧)", question)
    assert len(tags) == 2
    assert len(set(tags)) == 1


# ---- all of them ----


@pytest.mark.parametrize(("part", "number"), [("judges", 42), ("people", 5), ("numbers", 18)])
def test_every_case_about_judges_people_and_numbers_is_named_in_a_test(reported, part, number):
    written = "\n".join(file.read_text(encoding="utf-8") for file in TESTS.rglob("test_*.py"))
    wanted = {name for name, case in reported.items() if case["part"] == part}
    missing = {name for name in wanted if not re.search(rf"\b{name}\b", written)}
    assert (len(wanted), missing) == (number, set())
