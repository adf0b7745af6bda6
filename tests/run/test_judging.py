"""Many questions: at a time, from the record, in panels and replicates, and the reasons to stop."""

import asyncio
from collections import Counter

import pytest
from judging_making import GARBAGE, Suite, Together, a_judge, results, run_with, scripted, selection_says, step

from rightcall.errors import Rejected, Unavailable
from rightcall.llm.client import Answer
from rightcall.llm.pace import Pace
from rightcall.run.judging.asking import UNREACHABLE_IN_A_ROW, Judging, Terms

GOOD = selection_says()


@pytest.fixture
def suite(tmp_path):
    return Suite(tmp_path, scripted("strong", "fast", "other"))


def steps(number):
    return [step(f"s-{n:03d}") for n in range(number)]


def requests(judge):
    return judge.door.client.requests


def always(said=GOOD):
    return lambda _request: said


def down(_request):
    return Unavailable("gone", http_status=502)


def finished(setup, *judges):
    with run_with(setup, *judges) as run:
        return run, {one.step_id: one for one in run.decoded()}


# ---- at a time ----


@pytest.mark.parametrize(("jobs", "places"), [(None, 6), (3, 3), (1, 1)])
def test_so_many_questions_are_under_way_as_the_run_and_the_judge_allow(suite, jobs, places):
    model = Together(places, GOOD)
    _, found = finished(suite.selection(steps(30), jobs=jobs), a_judge(model, max_concurrency=6))
    assert (len(found), model.most) == (30, places)


def test_items_are_taken_one_by_one_as_places_become_free():
    taken = []

    async def go():
        judging = Judging((), None, Terms(jobs=2))

        def items():
            for n in range(6):
                taken.append(n)
                yield Item(n)

        class Item:
            queries = ()

            def __init__(self, n):
                self.n = n

        ahead = []

        async def conclude(item, outcomes):
            assert outcomes == []
            await asyncio.sleep(0)
            ahead.append(len(taken) - item.n)

        await judging.run(items(), conclude)
        return ahead

    assert max(asyncio.run(go())) <= 2
    assert taken == list(range(6))


def test_judges_at_one_endpoint_share_its_pace(suite):
    model, pace = Together(4, GOOD), Pace(4)
    judges = [a_judge(model, name, pace=pace) for name in ("strong", "fast")]
    _, found = finished(suite.selection(steps(20), judge="strong,fast"), *judges)
    assert (len(found), model.calls, model.most) == (20, 40, 4)


# ---- from the record ----


def test_two_runs_on_one_store_share_their_answers(suite):
    first, again = a_judge(always()), a_judge(always())
    finished(suite.selection(steps(5)), first)
    run, found = finished(suite.selection(steps(8)), again)
    assert [one.unit for one in requests(again)] == ["s-005", "s-006", "s-007"]
    assert [found[name].judges[0].cached for name in sorted(found)] == [True] * 5 + [False] * 3
    assert run.tally.judges["strong"].cached == 5


def test_the_name_of_the_step_is_not_what_was_asked(suite):
    finished(suite.selection([step("a", request="freeze it")]), a_judge(always()))
    again = a_judge([])
    _, found = finished(suite.selection([step("b", request="freeze it")]), again)
    assert found["b"].judges[0].cached
    assert requests(again) == []


def test_only_what_could_be_read_is_served_from_the_record(suite):
    finished(suite.selection(steps(1)), a_judge(always(GARBAGE)))
    again = a_judge(always())
    _, found = finished(suite.selection(steps(1)), again)
    assert (len(requests(again)), found["s-000"].status) == (1, "EVALUATED")


def test_faults_and_answers_of_other_models_are_never_served(suite):
    finished(suite.selection(steps(1)), a_judge(down, retries=1))
    finished(suite.selection(steps(1)), a_judge(always(Answer(text=GOOD, model="other"))))
    again = a_judge(always())
    finished(suite.selection(steps(1)), again)
    assert len(requests(again)) == 1


def test_an_answer_that_needed_the_retry_is_served_like_any_other(suite):
    finished(suite.selection(steps(1)), a_judge([GARBAGE, GOOD]))
    again = a_judge([])
    _, found = finished(suite.selection(steps(1)), again)
    opinion = found["s-000"].judges[0]
    assert (opinion.cached, opinion.healed, requests(again)) == (True, True, [])


def test_the_retry_itself_asks_for_real(suite):
    # The same question was answered well in an earlier run, but this run asks anew and gets a bad reply first.
    finished(suite.selection(steps(1)), a_judge(always()))
    again = a_judge([GARBAGE, selection_says(justification="Another one.")])
    _, found = finished(suite.selection(steps(1), use_cache=False), again)
    assert len(requests(again)) == 2
    assert found["s-000"].justification == "Another one."


def test_no_cache_asks_again(suite):
    finished(suite.selection(steps(3)), a_judge(always()))
    again = a_judge(always())
    finished(suite.selection(steps(3), use_cache=False), again)
    assert len(requests(again)) == 3


@pytest.mark.parametrize(
    "changed", [{"temperature": 0.7}, {"model": "j-2"}, {"max_tokens": 99}, {"seed": 1}, {"top_p": 0.5}]
)
def test_another_judge_is_another_question(suite, changed):
    finished(suite.selection(steps(1)), a_judge(always()))
    again = a_judge(always(Answer(text=GOOD)), **changed)
    finished(suite.selection(steps(1)), again)
    assert len(requests(again)) == 1


@pytest.mark.parametrize(
    "changed", [{"request": "cancel my card"}, {"context": "a bank"}, {"tools": [{"name": "freeze_card"}]}]
)
def test_another_input_is_another_question(suite, changed):
    finished(suite.selection(steps(1)), a_judge(always()))
    again = a_judge(always())
    finished(suite.selection([step("s-000", **changed)]), again)
    assert len(requests(again)) == 1


def test_another_prompt_is_another_question(suite):
    finished(suite.selection(steps(1)), a_judge(always()))
    again = a_judge(always())
    finished(suite.selection(steps(1), prompt="selection_short"), again)
    assert len(requests(again)) == 1


def test_a_copy_of_the_trace_is_flagged_from_the_record_too(suite):
    echoing = step("s-000", context={"history": [{"role": "user", "text": GOOD}]})
    finished(suite.selection([echoing]), a_judge(always()))
    run, found = finished(suite.selection([echoing]), a_judge([]))
    assert found["s-000"].judges[0].cached
    assert any(" echo at " in one for one in found["s-000"].suspicions)
    assert run.tally.reviews["injection_suspected"] == 1


def test_offline_what_is_on_record_counts_and_the_rest_is_missing(suite):
    finished(suite.selection(steps(2)), a_judge(always()))
    judge = a_judge([])
    judge.offline = True
    run, found = finished(suite.selection(steps(3)), judge)
    assert [found[name].status for name in sorted(found)] == ["EVALUATED", "EVALUATED", "UNEVALUABLE"]
    assert run.tally.unevaluable == {"not_recorded": 1}
    assert requests(judge) == []


# ---- panels and replicates ----


def test_replicates_are_real_calls_with_their_number_in_the_key(suite):
    judge = a_judge(always())
    run, found = finished(suite.selection(steps(2), replicates=3), judge)
    assert Counter((one.unit, one.replicate) for one in requests(judge)) == {
        (name, n): 1 for name in ("s-000", "s-001") for n in range(3)
    }
    assert [one.replicate for one in found["s-000"].judges] == [0, 1, 2]
    with suite.opened() as store:
        attempts = [one for _, _, one in store.attempts(run_id=run.run.id)]
    assert len({one.key for one in attempts}) == 6


def test_replicates_of_an_earlier_run_are_served_one_by_one(suite):
    finished(suite.selection(steps(1), replicates=2), a_judge(always()))
    again = a_judge(always())
    finished(suite.selection(steps(1), replicates=3), again)
    assert [one.replicate for one in requests(again)] == [2]


def test_a_panel_needs_its_quorum(suite):
    judges = [a_judge(always(), "strong"), a_judge(always(GARBAGE), "fast"), a_judge(always(GARBAGE), "other")]
    run, found = finished(suite.selection(steps(1), judge="strong,fast,other", quorum=2), *judges)
    result = found["s-000"]
    assert (result.status, result.reason, result.verdict) == ("UNEVALUABLE", "no_quorum", None)
    assert result.code_grade == "PASS"  # what code decides stands beside it
    assert run.tally.reviews["unevaluable"] == 1


def test_without_a_word_the_quorum_is_more_than_half(suite):
    judges = [a_judge(always(), "strong"), a_judge(always(), "fast"), a_judge(always(GARBAGE), "other")]
    _, found = finished(suite.selection(steps(1), judge="strong,fast,other"), *judges)
    assert found["s-000"].status == "EVALUATED"
    judges = [a_judge(always(), "strong"), a_judge(always(GARBAGE), "fast")]
    _, found = finished(suite.selection(steps(1), judge="strong,fast", use_cache=False), *judges)
    assert found["s-000"].reason == "no_quorum"


def test_disagreement_is_shown_and_goes_to_review(suite):
    judges = [a_judge(always(), "strong"), a_judge(always(), "fast"), a_judge(always(selection_says("FAIL")), "other")]
    run, found = finished(suite.selection(steps(1), judge="strong,fast,other"), *judges)
    assert (found["s-000"].verdict, found["s-000"].judge_grade) == ("PASS", "PASS")
    assert "grade" in found["s-000"].disagreement
    assert run.tally.reviews["panel_disagreement"] == 1


# ---- reasons to stop ----


def test_a_refused_credential_stops_the_run_after_one_call(suite):
    judge = a_judge(lambda _request: Rejected("refused", code="JUDGE_AUTH", http_status=401))
    run, found = finished(suite.selection(steps(50)), judge)
    assert len(requests(judge)) == 1
    assert (run.stop.cause, run.tally.not_asked, found) == ("auth", 50, {})
    assert "judge `strong`: refused" in run.stop.message


def test_what_was_stopped_by_a_credential_is_asked_when_the_run_goes_on(suite):
    judge = a_judge(lambda _request: Rejected("refused", code="JUDGE_AUTH", http_status=401))
    run, _ = finished(suite.selection(steps(5)), judge)
    again, found = finished(suite.selection(steps(5), resume=run.run.id), a_judge(always()))
    assert (again.stop, len(found)) == (None, 5)


def test_a_long_row_without_an_answer_stops_the_run(suite):
    judge = a_judge(down, retries=0, max_concurrency=1)
    run, found = finished(suite.selection(steps(50)), judge)
    assert run.stop.cause == "unreachable"
    assert len(found) == UNREACHABLE_IN_A_ROW
    assert run.tally.unevaluable == {"JUDGE_UNREACHABLE": UNREACHABLE_IN_A_ROW}
    assert run.tally.not_asked == 50 - UNREACHABLE_IN_A_ROW
    assert "--resume goes on" in run.stop.message


def test_one_answer_in_between_begins_the_row_anew(suite):
    def answer(request):
        return GOOD if request.unit == "s-010" else down(request)

    judge = a_judge(answer, retries=0, max_concurrency=1)
    run, found = finished(suite.selection(steps(50)), judge)
    assert len(found) == 11 + UNREACHABLE_IN_A_ROW
    assert run.stop.cause == "unreachable"


def test_an_answer_from_the_record_does_not_show_that_somebody_is_there(suite):
    finished(suite.selection(steps(50)[10:11]), a_judge(always()))
    run, found = finished(suite.selection(steps(50)), a_judge(down, retries=0, max_concurrency=1))
    assert run.stop.cause == "unreachable"
    assert len(found) == UNREACHABLE_IN_A_ROW + 1


def test_replies_that_cannot_be_read_are_no_silence(suite):
    judge = a_judge(always(GARBAGE), max_concurrency=1)
    run, found = finished(suite.selection(steps(30)), judge)
    assert (run.stop, len(found)) == (None, 30)


def test_after_the_endpoint_has_come_back_the_run_goes_on_with_all_that_had_no_answer(suite):
    run, _ = finished(suite.selection(steps(30)), a_judge(down, retries=0, max_concurrency=1))
    again, found = finished(suite.selection(steps(30), resume=run.run.id), a_judge(always()))
    assert (again.stop, again.tally.evaluated, len(found)) == (None, 30, 30)
    with suite.opened() as store:
        assert len(list(store.verdicts(run.run.id))) == 30


def test_one_interrupt_asks_nothing_new_and_loses_nothing_that_was_asked():
    async def go():
        judging = Judging((), None, Terms(jobs=3))
        done = []

        async def conclude(item, _outcomes):
            await asyncio.sleep(0.001)
            done.append(item)
            if len(done) == 4:
                judging.interrupt()

        class Item:
            queries = ()

        stop = await judging.run((Item() for _ in range(100)), conclude)
        return stop, len(done)

    stop, done = asyncio.run(go())
    assert stop.cause == "interrupted"
    assert 4 <= done <= 6


def test_the_first_reason_to_stop_is_kept():
    judging = Judging((), None)
    judging.interrupt()
    first = judging.stop
    judging.interrupt()
    assert judging.stop is first


def test_a_bad_reply_touches_no_other_case(suite):
    def answer(request):
        return GARBAGE if request.unit == "s-003" else GOOD

    found = results(run_with(suite.selection(steps(6)), a_judge(answer)))
    assert {name for name, one in found.items() if one.status != "EVALUATED"} == {"s-003"}


def test_while_answers_are_written_down_other_questions_are_asked(suite, monkeypatch):
    """Four may be under way; nothing is committed until six wait for that, so two were asked meanwhile.

    So it is from `MANY` questions at a time on. Below, whoever is killed repeats no more than what was under way.
    """
    monkeypatch.setattr("rightcall.run.judging.asking.MANY", 4)
    under_way, waiting, done = [], [], []

    class Slow:
        full = asyncio.Event()

        async def attempt(self, subject, *_args, **_more):
            under_way.remove(subject.unit)
            if done or waiting or not subject.unit.endswith("0"):  # the first call goes alone
                waiting.append(subject.unit)
                if len(waiting) == 6:
                    self.full.set()
                await self.full.wait()
            return "d" * 64

        def clean(self, text):
            return text

        async def reserve(self, request, _judge):
            under_way.append(request.unit)
            assert len(under_way) <= 4
            return 0.0

        def release(self, _reserved):
            return None

    async def conclude(_item, outcomes):
        done.append(outcomes[0].reply.grade)

    async def go():
        judge = a_judge(always(), max_concurrency=4, structured="text")
        return await Judging((judge,), Slow(), Terms(jobs=4, use_cache=False)).run(items, conclude)

    items = list(suite.selection(steps(12)).work.items())
    assert asyncio.run(asyncio.wait_for(go(), 30)) is None
    assert done == ["PASS"] * 12


def test_an_interrupt_finds_nobody_who_still_waits_for_a_place(suite):
    async def go():
        judge = a_judge(slow, max_concurrency=4, structured="text")
        judging = Judging((judge,), record, Terms(jobs=4, use_cache=False))
        asked.append(judging)
        return await judging.run(items, conclude)

    class Quick:
        async def attempt(self, *_args, **_more):
            return "d" * 64

        def clean(self, text):
            return text

        async def reserve(self, *_):
            return 0.0

        def release(self, _):
            return None

    async def slow(request):
        asked.append(request.unit)
        if len(asked) == 6:  # the run, the first question, and four that are under way
            asked[0].interrupt()
        await asyncio.sleep(0.01)
        return GOOD

    async def conclude(item, _outcomes):
        done.append(item.unit)

    asked, done, record = [], [], Quick()
    items = list(suite.selection(steps(30)).work.items())
    assert asyncio.run(asyncio.wait_for(go(), 30)).cause == "interrupted"
    assert len(asked) == 6
    assert sorted(done) == sorted(asked[1:])
