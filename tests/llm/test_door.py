"""The door: retries, notes, probes and closing, with a scripted model or a real server, in simulated time."""

import asyncio
import logging

import pytest
from aiohttp import web
from llm_serving import PLAIN, QUESTION, REPLY, Server, completion, hang_up, program, refused, spec

from rightcall.errors import RateLimited, Rejected, RightcallError, Unavailable
from rightcall.llm.client import Answer
from rightcall.llm.door import Backoff, Door
from rightcall.llm.openai import OpenAIClient
from rightcall.llm.pace import Pace
from rightcall.llm.scripted import ScriptedModel

KEPT = '{"shade": "teal"}'


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    """Simulated time for the door, its pace and its retries."""
    clock = Clock()
    monkeypatch.setattr("stamina._core._smart_sleep", clock.sleep)
    return clock


def door_of(client, clock, **more):
    """A door whose waits are simulated."""
    pace = Pace(64, clock=clock, sleep=clock.sleep)
    return Door(client, more.pop("spec", spec()), pace=pace, clock=clock, **more)


def ask(client, clock, request=PLAIN, times=1, **more):
    """Ask some times: answers or errors, and the exchanges noted."""

    async def go():
        door, notes, results = door_of(client, clock, **more), [], []
        for _ in range(times):
            try:
                results.append(await door.ask(request, notes.append))
            except RightcallError as error:
                results.append(error)
        await door.close()
        return results, notes

    return asyncio.run(go())


def limited(after=None):
    return RateLimited("slow down", http_status=429, retry_after=after)


# ---- retries ---------------------------------------------------------------------------------------------------------


def test_an_answer_is_noted_before_it_is_returned(clock):
    model = ScriptedModel([REPLY])
    (answer,), (exchange,) = ask(model, clock)
    assert (exchange.answer, exchange.code, exchange.number, exchange.purpose) == (answer, None, 0, "question")
    assert exchange.started_at <= exchange.ended_at
    assert model.is_closed


def test_limits_are_waited_for_with_their_retry_after_as_the_least_and_jitter_otherwise(clock):
    # The reported case JRU-05.
    model = ScriptedModel([limited(2.0), limited(), "VALID:PASS"])
    (answer,), notes = ask(model, clock)
    assert answer.text == "VALID:PASS"
    assert [(note.code, note.number, note.retry_after) for note in notes] == [
        ("JUDGE_RATE_LIMITED", 0, 2.0),
        ("JUDGE_RATE_LIMITED", 1, None),
        (None, 2, None),
    ]
    first, second = clock.slept
    assert 2 <= first <= 3
    assert 1 <= second <= 2


def test_waits_double_and_differ(clock):
    faults = [Unavailable("down")] * 4
    ask(ScriptedModel([*faults, REPLY]), clock, backoff=Backoff(first=1, longest=5, jitter=0.5))
    least = [1, 2, 4, 5]
    assert all(low <= wait <= min(5, low + 0.5) for low, wait in zip(least, clock.slept, strict=True))
    assert len({wait % 1 for wait in clock.slept[:3]}) == 3


def test_tries_are_bounded_and_the_last_error_is_raised(clock):
    model = ScriptedModel([Unavailable(f"down {n}") for n in range(9)])
    (error,), notes = ask(model, clock, retries=2)
    assert error.message == "down 2"
    assert [note.message for note in notes] == ["down 0", "down 1", "down 2"]


def test_the_total_time_is_bounded_too(clock):
    model = ScriptedModel(lambda _: limited(40.0))
    (error,), notes = ask(model, clock, retries=50, patience=100)
    assert isinstance(error, RateLimited)
    assert len(notes) == 3
    assert sum(clock.slept) <= 100


def test_an_hour_of_retry_after_is_not_waited_for_by_this_call_or_the_next(clock):
    model = ScriptedModel(lambda _: limited(3600.0))
    errors, notes = ask(model, clock, times=3)
    assert [type(error) for error in errors] == [RateLimited] * 3
    assert (len(notes), len(model.requests), clock.slept) == (1, 1, [])


def test_what_was_rejected_is_not_asked_again(clock):
    model = ScriptedModel([Rejected("no such model", code="JUDGE_UNREACHABLE", http_status=404), REPLY])
    (error, answer), notes = ask(model, clock, times=2)
    assert (error.http_status, answer.text) == (404, REPLY)
    assert [note.http_status for note in notes] == [404, None]


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_credential_costs_one_call_and_closes_the_door(clock, status):
    model = ScriptedModel(lambda _: Rejected("wrong key", code="JUDGE_AUTH", http_status=status, hint="check it"))
    errors, notes = ask(model, clock, times=4)
    assert [(error.code, error.http_status, error.message, error.hint) for error in errors] == [
        ("JUDGE_AUTH", status, "wrong key", "check it")
    ] * 4
    assert (len(notes), len(model.requests)) == (1, 1)


def test_calls_that_wait_for_their_turn_fail_without_a_call_once_the_door_is_closed(clock):
    model = ScriptedModel(lambda _: Rejected("wrong key", http_status=401))

    async def go():
        door = Door(model, spec(), pace=Pace(1), clock=clock)
        results = await asyncio.gather(*(door.ask(PLAIN, lambda _: None) for _ in range(9)), return_exceptions=True)
        return [result.code for result in results]

    assert asyncio.run(go()) == ["JUDGE_AUTH"] * 9
    assert len(model.requests) == 1


def test_a_spent_account_closes_the_door_too(clock):
    model = ScriptedModel(lambda _: Rejected("no credit", code="JUDGE_RATE_LIMITED", http_status=429))
    errors, _ = ask(model, clock, times=3)
    assert (len(errors), len(model.requests)) == (3, 1)


def test_a_limit_slows_the_pace_and_an_answer_lets_it_grow(clock):
    async def go():
        door = door_of(ScriptedModel([limited(), REPLY]), clock)
        await door.ask(PLAIN, lambda _: None)
        return door.pace.limit

    assert asyncio.run(go()) == 17


def test_retries_say_nothing_on_stderr(clock, capfd):
    logging.getLogger("stamina").propagate = False
    try:
        ask(ScriptedModel([Unavailable("down"), REPLY]), clock)
    finally:
        logging.getLogger("stamina").propagate = True
    assert capfd.readouterr().err == ""


# ---- notes -----------------------------------------------------------------------------------------------------------


def test_a_note_that_fails_goes_to_whoever_asked_and_nothing_is_asked_again(clock):
    model = ScriptedModel([REPLY, REPLY])

    async def broken(_exchange):
        raise RightcallError("the disk is full")

    async def go():
        await door_of(model, clock).ask(PLAIN, broken)

    with pytest.raises(RightcallError, match="the disk is full"):
        asyncio.run(go())
    assert len(model.requests) == 1


def test_a_call_that_is_cancelled_in_the_middle_is_noted(clock):
    async def forever(_request):
        await asyncio.sleep(60)

    async def go():
        notes = []
        door = door_of(ScriptedModel(forever), clock)
        task = asyncio.create_task(door.ask(PLAIN, notes.append))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), notes, door.pace.in_flight

    was_cancelled, (note,), in_flight = asyncio.run(go())
    assert (was_cancelled, note.code, in_flight) == (True, "JUDGE_TIMEOUT", 0)
    assert "cancelled" in note.message


def test_a_note_under_way_is_finished_although_the_task_is_cancelled(clock):
    async def go():
        notes, begun = [], asyncio.Event()

        async def slow(exchange):
            begun.set()
            await asyncio.sleep(0.01)
            notes.append(exchange)

        task = asyncio.create_task(door_of(ScriptedModel([REPLY]), clock).ask(PLAIN, slow))
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), [note.answer.text for note in notes]

    assert asyncio.run(go()) == (True, [REPLY])


# ---- probes and parameters, at a real server -------------------------------------------------------------------------


def at_server(clock, *answers, request=QUESTION, times=1, at_once=False, make=spec, **more):
    """Ask a real server through a door: results, exchanges, bodies."""

    async def go():
        async with Server(*answers) as server:
            judge = make(server, **more)
            door, notes = door_of(OpenAIClient(judge, {}), clock, spec=judge), []
            try:
                if at_once:
                    calls = (door.ask(request, notes.append) for _ in range(times))
                    results = await asyncio.gather(*calls, return_exceptions=True)
                else:
                    results = [await door.ask(request, notes.append) for _ in range(times)]
            finally:
                await door.close()
            return results, notes, server.bodies

    return asyncio.run(go())


def kinds(notes):
    return [(note.purpose, note.code, note.answer.rung if note.answer else None) for note in notes]


def test_one_probe_finds_that_the_schema_is_kept(clock):
    results, notes, bodies = at_server(clock, completion(KEPT), completion(), structured="auto", times=2)
    assert kinds(notes) == [("probe", None, "json_schema"), *[("question", None, "json_schema")] * 2]
    assert "teal" not in str(bodies[0]["messages"])
    assert [answer.rung for answer in results] == ["json_schema"] * 2


def test_many_first_questions_share_one_probe(clock):
    _, notes, _ = at_server(clock, completion(KEPT), completion(), structured="auto", times=12, at_once=True)
    assert [note.purpose for note in notes].count("probe") == 1


def test_a_schema_that_is_ignored_leads_to_text(clock):
    _, notes, bodies = at_server(clock, completion('{"color": "blue"}'), completion(), structured="auto")
    assert kinds(notes) == [("probe", None, "json_schema"), ("question", None, "text")]
    assert "response_format" not in bodies[1]


@pytest.mark.parametrize("status", [400, 422, 501])
def test_a_schema_that_is_refused_leads_to_json_objects_without_a_second_probe(clock, status):
    no_schema = (status, {"error": {"message": "response_format of type json_schema is not supported"}})
    _, notes, bodies = at_server(clock, no_schema, completion(), structured="auto")
    assert kinds(notes) == [("probe", "REJECTED_PARAMETER", None), ("question", None, "json_object")]
    assert bodies[1]["response_format"] == {"type": "json_object"}


def test_json_objects_that_are_refused_by_a_later_question_lead_to_text(clock):
    no_schema = refused("json_schema is not supported", "response_format")
    no_object = refused("'response_format' of type 'json_object' is not supported with this model.", "response_format")
    results, notes, _ = at_server(clock, no_schema, completion(), no_object, completion(), structured="auto", times=2)
    assert kinds(notes)[2:] == [("question", "REJECTED_PARAMETER", None), ("question", None, "text")]
    assert [answer.rung for answer in results] == ["json_object", "text"]


def test_a_configured_rung_is_kept_and_its_refusal_is_an_error(clock):
    no_schema = refused("json_schema is not supported", "response_format")
    with pytest.raises(Rejected, match="json_schema is not supported"):
        at_server(clock, no_schema, completion(), structured="json_schema")


def test_a_question_without_schema_needs_no_probe(clock):
    _, notes, _ = at_server(clock, completion(), structured="auto", request=PLAIN)
    assert kinds(notes) == [("question", None, "text")]


def test_a_failing_probe_fails_everybody_who_waited_for_it_and_the_next_one_probes_again(clock):
    async def go():
        async with Server(*[(500, {})] * 5, completion(KEPT), completion()) as server:
            judge = spec(server, structured="auto")
            door, notes = door_of(OpenAIClient(judge, {}), clock, spec=judge), []
            calls = (door.ask(QUESTION, notes.append) for _ in range(6))
            failed = await asyncio.gather(*calls, return_exceptions=True)
            answer = await door.ask(QUESTION, notes.append)
            await door.close()
            return failed, answer, notes

    failed, answer, notes = asyncio.run(go())
    assert [type(error) for error in failed] == [Unavailable] * 6
    assert [note.purpose for note in notes] == ["probe"] * 6 + ["question"]
    assert answer.rung == "json_schema"


def test_a_temperature_that_is_refused_is_left_out_once_and_for_all_and_the_log_says_so(clock):
    # The reported case JRU-07.
    no_temperature = refused("Unsupported value: 'temperature' does not support 0 with this model.", "temperature")
    results, notes, bodies = at_server(clock, no_temperature, completion(), request=PLAIN, times=2)
    assert [(note.code, note.http_status, note.number) for note in notes] == [
        ("REJECTED_PARAMETER", 400, 0),
        (None, None, 1),
        (None, None, 0),
    ]
    assert [body.get("temperature") for body in bodies] == [0.0, None, None]
    assert [answer.sent for answer in results] == [{"max_tokens": 2048}] * 2
    assert clock.slept == []


def test_several_parameters_are_learned_one_after_the_other(clock):
    answers = [
        refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
        refused("Unsupported value: 'temperature' does not support 0.", "temperature"),
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs"}]}),
        completion(),
    ]
    (answer,), notes, bodies = at_server(clock, *answers, request=PLAIN, seed=3, top_p=0.9)
    assert [note.code for note in notes] == ["REJECTED_PARAMETER"] * 3 + [None]
    assert answer.sent == {"max_completion_tokens": 2048, "top_p": 0.9}
    assert bodies[-1].keys() == {"model", "messages", "max_completion_tokens", "top_p"}


def test_calls_under_way_while_a_parameter_is_learned_are_sent_again_too(clock):
    together = asyncio.Barrier(4)

    async def picky(request):
        if "temperature" in await request.json():
            await together.wait()
            return web.json_response(refused("temperature is not supported", "temperature")[1], status=400)
        return web.json_response(completion())

    results, notes, _ = at_server(clock, picky, request=PLAIN, times=4, at_once=True)
    assert [answer.text for answer in results] == [REPLY] * 4
    assert [note.code for note in notes].count("REJECTED_PARAMETER") == 4


def test_an_endpoint_that_refuses_without_end_is_given_up(clock):
    model = ScriptedModel(lambda _: Rejected("no", code="JUDGE_UNREACHABLE", http_status=400, parameter="temperature"))
    (error,), notes = ask(model, clock)
    assert (error.parameter, len(notes)) == ("temperature", 1)


def test_a_connection_that_breaks_is_asked_again(clock):
    (answer,), notes, _ = at_server(clock, hang_up, completion(), request=PLAIN)
    assert answer.text == REPLY
    assert [note.code for note in notes] == ["JUDGE_UNREACHABLE", None]


def test_an_old_token_is_renewed_once_and_both_exchanges_are_noted(clock, tmp_path):
    counter = tmp_path / "n"
    code = f"import pathlib; p = pathlib.Path({str(counter)!r}); n = p.stat().st_size if p.exists() else 0; p.write_text('x' * (n + 1)); print(f'token-number-{{n}}')"

    async def second(request):
        fine = request.headers["Authorization"] == "Bearer token-number-1"
        return web.json_response(completion() if fine else {}, status=200 if fine else 401)

    (answer, again), notes, _ = at_server(clock, second, request=PLAIN, token_command=program(code), times=2)
    assert (answer.text, again.text) == (REPLY, REPLY)
    assert [(note.code, note.http_status) for note in notes] == [("JUDGE_AUTH", 401), (None, None), (None, None)]
    assert counter.read_text() == "xx"


def test_a_token_that_is_refused_twice_closes_the_door(clock):
    with pytest.raises(Rejected, match="refuses the credential"):
        at_server(clock, (401, {}), request=PLAIN, token_command=program("print('token')"), times=1)


def test_a_whole_answer_passes_through_as_it_is(clock):
    said = Answer(text="x", finish="length", model="m", input_tokens=1, output_tokens=2, rung="text", sent={"a": 1})
    (answer,), _ = ask(ScriptedModel([said]), clock)
    assert answer is said
