"""What a run may spend: it stops before the limit, in calls, tokens or money."""

import asyncio

import pytest
from judging_making import GARBAGE, Suite, a_judge, a_subject, ask, run_with, scripted, selection_says, step

from rightcall.errors import ConfigError, Rejected, Unavailable
from rightcall.llm.client import Answer
from rightcall.llm.spec import Price
from rightcall.run.judging.attempt import attempt
from rightcall.run.judging.budget import Budget, parse_budget
from rightcall.run.judging.record import BudgetSpent, Recorder
from rightcall.run.judging.secrets import Cleaner
from rightcall.store.store import Store
from rightcall.store.writer import Writer
from rightcall.trace.redact import Redactor

GOOD = selection_says()


# ---- as it is written ----


@pytest.mark.parametrize(
    ("text", "limit", "unit", "shown"),
    [
        ("200calls", 200, "calls", "200 calls"),
        ("1 call", 1, "calls", "1 calls"),
        ("500tok", 500, "tokens", "500 tokens"),
        ("500ktok", 500_000, "tokens", "500,000 tokens"),
        ("1Mtok", 1_000_000, "tokens", "1,000,000 tokens"),
        ("1.5mtok", 1_500_000, "tokens", "1,500,000 tokens"),
        ("2.50usd", 2.5, "money", "2.5 usd"),
        ("2 EUR", 2, "money", "2 eur"),
    ],
)
def test_a_budget_is_an_amount_of_something(text, limit, unit, shown):
    budget = parse_budget(text)
    assert (budget.limit, budget.unit, str(budget)) == (limit, unit, shown)


@pytest.mark.parametrize(
    "text", ["", "2", "usd", "-2usd", "0usd", "0calls", "2.5.1usd", "many calls", "2 dollars", "1e3tok"]
)
def test_anything_else_is_an_error_that_says_how_to_write_it(text):
    with pytest.raises(ConfigError) as caught:
        parse_budget(text)
    assert "200calls, 1Mtok or 2.50usd" in str(caught.value)


def test_without_a_budget_there_is_no_limit():
    budget = parse_budget(None)
    assert str(budget) == "no limit"
    assert budget.take(1e12)


# ---- taking and spending ----


def test_what_is_in_flight_counts_at_its_most_until_it_is_known():
    budget = Budget(10)
    assert [budget.take(4) for _ in range(3)] == [True, True, False]
    budget.spend(1)
    budget.give_back(4)
    assert (budget.spent, budget.reserved) == (1, 4)
    assert budget.take(5)
    assert not budget.take(1)


def test_a_call_is_hopeless_if_no_end_of_another_makes_room_for_it():
    budget = Budget(10, spent=4)
    assert budget.take(5)
    assert not budget.is_hopeless(6)
    assert budget.is_hopeless(7)
    budget.give_back(5)
    assert budget.is_hopeless(6)


def test_sums_of_prices_do_not_miss_the_last_call():
    budget = Budget(0.3, "money")
    for _ in range(3):
        assert budget.take(0.1)
        budget.give_back(0.1)
        budget.spend(0.1)
    assert not budget.take(0.1)


# ---- in a run ----


def suite(tmp_path):
    return Suite(tmp_path, scripted())


def judged(setup, judge):
    with run_with(setup, judge) as run:
        return run, {one.step_id: one for one in run.decoded()}


@pytest.mark.parametrize("number", [1, 3, 7])
def test_a_run_makes_no_more_calls_than_it_may_and_says_how_to_go_on(tmp_path, number):
    judge = a_judge(lambda _request: GOOD)
    run, found = judged(suite(tmp_path).selection(map(step, "abcdefghij"), budget=f"{number}calls"), judge)
    assert len(judge.door.client.requests) == number == len(found)
    assert run.spent["calls"] == number
    assert (run.stop.cause, run.tally.not_asked) == ("budget", 10 - number)
    assert f"the budget of {number} calls is spent" in run.stop.message
    assert "--resume" in run.stop.message


def test_a_budget_that_suffices_exactly_stops_nothing(tmp_path):
    judge = a_judge(lambda _request: GOOD)
    run, found = judged(suite(tmp_path).selection(map(step, "abcdefghij"), budget="10calls"), judge)
    assert (run.stop, len(found)) == (None, 10)


def test_retries_of_both_kinds_are_calls_too_and_the_limit_holds_for_them(tmp_path):
    def answer(request):
        if request.attempt == 0:
            return GARBAGE
        return Unavailable("gone", http_status=502)

    judge = a_judge(answer)
    run, found = judged(suite(tmp_path).selection(map(step, "abcdefghij"), budget="4calls"), judge)
    assert len(judge.door.client.requests) == 4
    assert run.stop.cause == "budget"
    assert found == {}  # nothing was concluded out of a question that was left in the middle


def test_many_calls_at_a_time_do_not_count_each_others_cost(tmp_path):
    async def answer(_request):
        await asyncio.sleep(0.005)
        return GOOD

    judge = a_judge(answer)
    run, found = judged(suite(tmp_path).selection((step(f"s-{n}") for n in range(60)), budget="60calls"), judge)
    assert (run.stop, len(found), run.spent["calls"]) == (None, 60, 60)


def test_a_stopped_run_goes_on_where_it_stopped(tmp_path):
    here, judge = suite(tmp_path), a_judge(lambda _request: GOOD)
    first, _ = judged(here.selection(map(step, "abcdefghij"), budget="4calls"), judge)
    again = a_judge(lambda _request: GOOD)
    second, found = judged(here.selection(map(step, "abcdefghij"), budget="6calls", resume=first.run.id), again)
    assert (second.stop, len(found), second.tally.resumed) == (None, 10, 4)
    asked = [request.unit for request in (*judge.door.client.requests, *again.door.client.requests)]
    assert sorted(asked) == list("abcdefghij")


def counted(text=GOOD, read=100, wrote=20):
    return Answer(text=text, model="scripted", input_tokens=read, output_tokens=wrote)


def test_tokens_are_those_that_the_endpoint_counts_and_the_limit_is_kept(tmp_path):
    judge = a_judge(lambda _request: counted(read=1900, wrote=50), max_tokens=200)
    run, found = judged(suite(tmp_path).selection(map(step, "abcdefghij"), budget="10ktok"), judge)
    spent = run.spent["input_tokens"] + run.spent["output_tokens"]
    assert spent == 1950 * len(found)
    assert spent <= 10_000
    assert len(found) == 4
    assert run.stop.cause == "budget"


def test_a_call_in_flight_that_may_cost_much_does_not_stop_a_run_in_which_calls_cost_little(tmp_path):
    async def answer(_request):
        await asyncio.sleep(0.002)
        return counted(read=400, wrote=20)

    judge = a_judge(answer, max_tokens=2000)
    run, found = judged(suite(tmp_path).selection((step(f"s-{n}") for n in range(20)), budget="14ktok"), judge)
    assert (run.stop, len(found)) == (None, 20)


def test_an_endpoint_that_counts_nothing_is_taken_to_have_used_the_most(tmp_path):
    judge = a_judge(lambda _request: GOOD, max_tokens=1000)
    run, found = judged(suite(tmp_path).selection(map(step, "abcdefghij"), budget="10ktok"), judge)
    assert run.stop.cause == "budget"
    assert 0 < len(found) < 10
    assert run.spent["uncounted"] == len(found)


def test_money_is_reckoned_by_the_price_of_the_judge(tmp_path):
    judge = a_judge(lambda _request: counted(read=1980, wrote=20), max_tokens=100, price=Price(input=10.0, output=10.0))
    run, found = judged(suite(tmp_path).selection(map(step, "abcdefghij"), budget="0.07usd"), judge)
    assert len(found) == 3
    assert run.spent["money"] == {"usd": pytest.approx(0.06)}
    assert run.stop.cause == "budget"


@pytest.mark.parametrize("price", [None, Price(input=1.0, output=1.0, currency="eur")])
def test_money_without_a_known_price_is_a_clear_error_before_anybody_is_asked(tmp_path, price):
    judge = a_judge([], price=price)
    with pytest.raises(ConfigError) as caught:
        run_with(suite(tmp_path).selection([step()], budget="1usd"), judge)
    assert "what `scripted` costs in usd is not known" in str(caught.value)
    assert "[judges.strong]" in str(caught.value)
    assert judge.door.client.requests == []


def test_a_single_question_beyond_the_budget_asks_nobody(tmp_path):
    with pytest.raises(BudgetSpent):
        ask(tmp_path / "s.db", a_judge([GOOD]), budget=Budget(10, "tokens"))


def test_a_refused_credential_is_named_though_the_budget_is_spent_with_it(tmp_path):
    judge = a_judge(lambda _request: Rejected("refused", code="JUDGE_AUTH", http_status=401))
    run, _ = judged(suite(tmp_path).selection(map(step, "abc"), budget="1calls"), judge)
    assert run.stop.cause == "auth"


def test_waiting_for_room_ends_when_there_is_none(tmp_path):
    # Both questions may cost all that there is; the first does.
    async def answer(_request):
        await asyncio.sleep(0.005)
        return counted(read=900, wrote=100)

    judge = a_judge(answer, max_tokens=900)
    subjects = [a_subject(f"u-{n}") for n in range(2)]

    async def both(record):
        judge.admitted = asyncio.Event()
        judge.admitted.set()
        return await asyncio.gather(*(attempt(one, judge, 0, record) for one in subjects), return_exceptions=True)

    found = _with_record(tmp_path, both, Budget(1000, "tokens"))
    assert [type(one).__name__ for one in found] == ["Outcome", "BudgetSpent"]


def _with_record(tmp_path, work, budget):
    async def go(store):
        run = store.new_run("selection", "20261129", "2026-11-29T10:00:00Z", {})
        async with Writer(store) as writer:
            return await work(Recorder(run.id, store, writer, Cleaner(Redactor(key=b"k")), budget=budget))

    with Store.open(tmp_path / "s.db") as store:
        return asyncio.run(go(store))
