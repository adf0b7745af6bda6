"""The server that fails on purpose, seen by a plain HTTP client."""

import asyncio
import io
import json
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import asynccontextmanager, contextmanager
from email.utils import parsedate_to_datetime

import aiohttp
import pytest

from rightcall.errors import ConfigError
from rightcall.testing.answers import by_marker, selection_answer
from rightcall.testing.faults import EXPECTED, FAULTS
from rightcall.testing.server import FaultyServer

SCHEMA = {"type": "object", "properties": {"grade": {"enum": ["PASS", "FAIL"]}}, "required": ["grade"]}
QUESTION = {
    "model": "judge",
    "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "case-0007: was it right?"}],
    "temperature": 0,
    "max_tokens": 200,
    "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}},
}
LOST = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


def question(user="case-0007: was it right?", **parts):
    return {**QUESTION, "messages": [QUESTION["messages"][0], {"role": "user", "content": user}], **parts}


@asynccontextmanager
async def running(**settings):
    """A server and a client for it."""
    async with FaultyServer(**settings) as server, aiohttp.ClientSession(server.url) as client:
        yield server, client


async def ask(client, body=QUESTION, **options):
    """Status, headers and body of one call."""
    async with client.post("/v1/chat/completions", json=body, **options) as answer:
        return answer.status, answer.headers, await answer.read()


async def text(client, body=QUESTION):
    """The reply's text."""
    status, _, raw = await ask(client, body)
    assert status == 200, raw
    return json.loads(raw)["choices"][0]["message"]["content"]


async def until(condition):
    """Wait for something that other tasks bring about."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - the server has no event for everything
            await asyncio.sleep(0.005)


# ---- answers ---------------------------------------------------------------------------------------------------------


def test_a_question_gets_a_valid_answer_and_plausible_usage():
    async def scene():
        async with running() as (server, client):
            status, headers, raw = await ask(client)
            assert server.base_url == f"{server.url}/v1"
        value = json.loads(raw)
        assert (status, headers["Content-Type"], headers["x-request-id"]) == (
            200,
            "application/json",
            "req-0",
        )
        assert value["choices"][0] == {
            "index": 0, "logprobs": None, "finish_reason": "stop",
            "message": {"role": "assistant", "content": '{"grade": "PASS"}', "refusal": None},
        }  # fmt: skip
        assert (value["model"], value["object"]) == ("judge", "chat.completion")
        assert value["usage"]["prompt_tokens"] == 7

    asyncio.run(scene())


def test_answers_come_from_a_function_of_the_request():
    async def scene():
        async with running(answers=lambda asked: f"{asked.model} {asked.attempt} {asked.form} {asked.schema}") as (
            _,
            client,
        ):
            assert await text(client) == f"judge 0 json_schema {SCHEMA}"
            assert (await text(client)).startswith("judge 1 ")

    asyncio.run(scene())


def test_a_case_without_a_reply_is_told_and_not_made_up():
    async def scene():
        async with running(answers=by_marker({"case-0001": "x"})) as (server, client):
            status, _, raw = await ask(client)
            assert (status, server.requests[0].status) == (422, 422)
            assert "no reply for `case-0007`" in json.loads(raw)["error"]["message"]

    asyncio.run(scene())


def test_the_models_are_listed():
    async def scene():
        async with running(models=("a", "b")) as (_, client), client.get("/v1/models") as answer:
            assert [model["id"] for model in (await answer.json())["data"]] == ["a", "b"]

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/chat/completions", b"{", 400),
        ("POST", "/v1/chat/completions", json.dumps({**QUESTION, "stream": True}).encode(), 400),
        ("GET", "/v1/chat/completions", None, 404),
        ("POST", "/v1/responses", b"{}", 404),
        ("GET", "/stats?requests=many", None, 400),
        ("POST", "/set", b'{"latencyy": 1}', 400),
        ("POST", "/set", b'{"latency": "slow"}', 400),
        ("POST", "/set", b'{"plan": {"malformd": 1}}', 400),
    ],
)
def test_a_request_that_cannot_be_served_says_why(method, path, body, status):
    async def scene():
        async with running() as (_, client), client.request(method, path, data=body) as answer:
            assert (answer.status, bool((await answer.json())["error"]["message"])) == (status, True)

    asyncio.run(scene())


def test_a_long_trace_is_read():
    async def scene():
        async with running() as (_, client):
            body = io.BytesIO(json.dumps(question("word " * 500_000)).encode())
            async with client.post("/v1/chat/completions", data=body) as answer:
                assert (await answer.json())["usage"]["prompt_tokens"] > 500_000

    asyncio.run(scene())


# ---- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind, fault in FAULTS.items() if fault.status not in (200, None)])
def test_a_status_is_sent_as_it_is_documented(kind):
    async def scene():
        async with running(plan=[kind], retry_after=3) as (server, client):
            status, headers, raw = await ask(client)
            assert (status, server.requests[0].status) == (FAULTS[kind].status, FAULTS[kind].status)
            assert (server.requests[0].fault, server.stats()["by_fault"]) == (kind, {kind: 1})
            assert await text(client) == '{"grade": "PASS"}'
        if kind == "bad_gateway":
            assert (headers["Content-Type"], raw[:6]) == ("text/html", b"<html>")
        else:
            assert json.loads(raw)["error"]["message"]
        if kind == "rate_limited":
            assert headers["Retry-After"] == "3"
        elif kind == "rate_limited_date":
            assert parsedate_to_datetime(headers["Retry-After"]).timestamp() >= server.requests[0].at + 3
        else:
            assert "Retry-After" not in headers

    asyncio.run(scene())


def test_a_refused_parameter_is_no_fault_where_it_was_not_sent():
    async def scene():
        async with running(plan={"unsupported_temperature": 1.0}) as (server, client):
            assert (await ask(client))[0] == 400
            plain = {key: value for key, value in QUESTION.items() if key != "temperature"}
            assert (await ask(client, plain))[0] == 200
            assert [seen.fault for seen in server.requests] == ["unsupported_temperature", None]

    asyncio.run(scene())


@pytest.mark.parametrize("kind", ["malformed_http_json", "empty_body", "no_choices", "error_in_200"])
def test_a_success_that_is_none(kind):
    async def scene():
        async with running(plan=[kind]) as (_, client):
            status, _, raw = await ask(client)
        assert status == 200
        if kind == "malformed_http_json":
            with pytest.raises(json.JSONDecodeError):
                json.loads(raw)
        elif kind == "empty_body":
            assert raw == b""
        else:
            value = json.loads(raw)
            assert value.get("choices") == ([] if kind == "no_choices" else None)
            assert ("error" in value) == (kind == "error_in_200")

    asyncio.run(scene())


def test_a_dropped_call_gets_no_byte():
    async def scene():
        async with running(plan=lambda _: "dropped") as (server, client):
            with pytest.raises(LOST):
                await ask(client)
            await until(lambda: server.stats()["in_flight"] == 0)
            assert {(seen.status, seen.client_there) for seen in server.requests} == {(None, True)}

    asyncio.run(scene())


def test_a_call_dropped_midway_gets_a_part_of_the_body():
    async def scene():
        async with running(plan=["dropped_midway"]) as (server, client):
            async with client.post("/v1/chat/completions", json=QUESTION) as answer:
                assert answer.status == 200
                half = int(answer.headers["Content-Length"]) // 2
                assert await answer.content.readexactly(half)
                with pytest.raises(aiohttp.ClientPayloadError):
                    await answer.content.readany()
            assert (server.requests[0].status, server.requests[0].fault) == (200, "dropped_midway")
            assert await text(client) == '{"grade": "PASS"}'

    asyncio.run(scene())


def test_a_hanging_call_ends_when_its_client_leaves():
    async def scene():
        async with running(plan=["hang"]) as (server, client):
            call = asyncio.ensure_future(ask(client))
            await until(lambda: server.stats()["in_flight"] == 1)
            call.cancel()
            await until(lambda: server.stats()["in_flight"] == 0)
            assert (server.requests[0].status, server.requests[0].client_there) == (None, False)
            assert server.stats()["gone"] == 1

    asyncio.run(scene())


def test_a_slow_body_takes_its_time_and_is_whole():
    async def scene():
        async with running(plan=["slow_body"], slow=0.2) as (server, client):
            assert await text(client) == '{"grade": "PASS"}'
            assert server.requests[0].seconds >= 0.19

    asyncio.run(scene())


def test_latency_delays_every_answer_and_the_fault_adds_to_it():
    async def scene():
        async with running(latency=0.05, slow=0.1, plan=["latency"]) as (server, client):
            assert await text(client) == await text(client) == '{"grade": "PASS"}'
            slow, usual = server.requests
            assert slow.seconds >= 0.14
            assert usual.seconds >= 0.04

    asyncio.run(scene())


@pytest.mark.parametrize("kind", [kind for kind, fault in FAULTS.items() if fault.nature == "content"])
def test_a_spoiled_reply_stands_in_a_whole_completion(kind):
    async def scene():
        async with running(plan=[kind], answers=selection_answer()) as (_, client):
            _, _, raw = await ask(client)
            [choice] = json.loads(raw)["choices"]
            assert choice["message"]["content"] != await text(client)
            assert choice["finish_reason"] == ("length" if EXPECTED[kind] == "JUDGE_TRUNCATED" else "stop")
            assert bool(choice["message"]["refusal"]) == (kind == "refusal")

    asyncio.run(scene())


def test_another_model_answers_and_a_cut_prompt_is_admitted():
    async def scene():
        async with running(plan=["wrong_model", "cut_prompt"]) as (_, client):
            values = [json.loads((await ask(client, question("word " * 100)))[2]) for _ in range(3)]
        assert [value["model"] for value in values] == ["judge-other", "judge", "judge"]
        assert [value["usage"]["prompt_tokens"] for value in values] == [126, 13, 126]

    asyncio.run(scene())


def test_the_same_cases_meet_the_same_faults_whatever_the_order():
    async def scene(order):
        users = [f"case-{number:04}" for number in order]
        async with running(plan={"malformed": 0.3, "server_error": 0.2}, seed=3) as (server, client):
            await asyncio.gather(*(ask(client, question(user)) for user in users))
            return {seen.digest: seen.fault for seen in server.requests}

    first, second = asyncio.run(scene(range(60))), asyncio.run(scene(reversed(range(60))))
    assert first == second
    assert set(first.values()) == {"malformed", "server_error", None}


def test_a_marker_makes_texts_that_differ_one_case():
    async def scene():
        async with running(marker=r"case-\d+", plan=lambda asked: "malformed" if asked.attempt == 0 else None) as (
            server,
            client,
        ):
            for nonce in ("x", "y"):
                await ask(client, question(f"[{nonce}] case-0007"))
            assert [(seen.identity, seen.fault) for seen in server.requests] == [
                ("case-0007", "malformed"),
                ("case-0007", None),
            ]

    asyncio.run(scene())


# ---- keys, connections, counts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Bearer right"}, 200),
        ({"api-key": "right"}, 200),
    ],
)
def test_a_key_is_asked_for(headers, status):
    async def scene():
        async with running(api_key="right") as (server, client):
            assert (await ask(client, headers=headers))[0] == status
            async with client.get("/v1/models", headers=headers) as answer:
                assert answer.status == status
            assert server.requests[0].fault == (None if status == 200 else "unauthorized")

    asyncio.run(scene())


def test_the_ledger_shows_that_connections_are_used_again_and_which_key_came():
    async def scene():
        async with running() as (server, client):
            for _ in range(5):
                await ask(client, headers={"Authorization": "Bearer key-one"})
            assert {seen.header("authorization") for seen in server.requests} == {"Bearer key-one"}
            assert (server.stats()["connections"], len({seen.connection for seen in server.requests})) == (1, 1)
            async with aiohttp.ClientSession(server.url) as other:
                await ask(other)
            assert server.stats()["connections"] == 2
            async with client.get("/stats?requests=2") as answer:
                raw = await answer.text()
            assert [seen["number"] for seen in json.loads(raw)["ledger"]] == [4, 5]
            assert "key-one" not in raw

    asyncio.run(scene())


def test_stats_count_requests_at_a_time_and_a_reset_begins_anew():
    async def scene():
        async with running(plan=["server_error"]) as (server, client):
            server.hold()
            calls = [asyncio.create_task(ask(client, question(str(number)))) for number in range(8)]
            await until(lambda: server.stats()["in_flight"] == 8)
            server.release()
            await asyncio.gather(*calls)
            async with client.get("/stats") as answer:
                counts = await answer.json()
            assert (counts["requests"], counts["in_flight"], counts["peak_in_flight"]) == (8, 0, 8)
            assert (counts["by_status"], counts["by_model"]) == ({"500": 1, "200": 7}, {"judge": 8})
            async with client.post("/reset") as answer:
                assert answer.status == 200
            assert (server.stats()["requests"], server.requests) == (0, [])

    asyncio.run(scene())


def test_the_newest_requests_are_kept():
    async def scene():
        async with running(keep=2) as (server, client):
            for number in range(4):
                await ask(client, question(str(number)))
            assert [seen.number for seen in server.requests] == [2, 3]
            assert server.stats()["requests"] == 4

    asyncio.run(scene())


# ---- holding and changing --------------------------------------------------------------------------------------------


def test_held_calls_wait_until_they_are_released():
    async def scene():
        async with running() as (server, client):
            server.hold()
            calls = [asyncio.create_task(ask(client, question(str(number)))) for number in range(3)]
            await until(lambda: server.stats()["in_flight"] == 3)
            assert not any(call.done() for call in calls)
            server.release()
            assert {(await call)[0] for call in calls} == {200}

    asyncio.run(scene())


def test_calls_from_a_number_on_are_held_and_a_client_that_is_gone_is_noticed():
    async def scene():
        async with running(hold_after=2) as (server, client):
            calls = [asyncio.create_task(ask(client, question(str(number)))) for number in range(5)]
            await until(lambda: sum(call.done() for call in calls) == 2)
            waiting = [call for call in calls if not call.done()]
            waiting[0].cancel()
            await until(lambda: server.stats()["gone"] == 1)
            server.release()
            assert [(await call)[0] for call in waiting[1:]] == [200, 200]
            assert sorted(str(seen.status) for seen in server.requests) == ["200"] * 4 + ["None"]

    asyncio.run(scene())


def test_settings_change_while_it_runs():
    async def scene():
        async with running() as (server, client):
            async with client.post("/set", json={"plan": {"server_error": 1.0}, "latency": 0.01}) as answer:
                assert answer.status == 200
            assert ((await ask(client))[0], server.latency) == (500, 0.01)
            server.change(plan=None, answers=lambda _: "changed")
            assert await text(client) == "changed"
            async with client.post("/set", json={"hold": True}):
                call = asyncio.create_task(ask(client))
                await until(lambda: server.stats()["in_flight"] == 1)
            async with client.post("/set", json={"hold": False}):
                assert (await call)[0] == 200

    asyncio.run(scene())


@pytest.mark.parametrize("settings", [{"port": 1}, {"no_such": 1}, {"plan": {"malformed": 2}}, {"plan": ["hung"]}])
def test_what_cannot_be_changed_is_an_error_and_changes_nothing(settings):
    server = FaultyServer()
    with pytest.raises(ConfigError):
        server.change(latency=5.0, **settings)
    assert server.latency == 0.0


def test_a_marker_that_is_no_expression_is_an_error():
    with pytest.raises(ConfigError, match="no regular expression"):
        FaultyServer(marker="(")


# ---- where it runs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["hang", "slow_body", "latency", None])
def test_it_stops_while_calls_are_under_way(kind):
    async def scene():
        async with aiohttp.ClientSession() as client:
            async with FaultyServer(plan=lambda _: kind, slow=600) as server:
                if kind is None:
                    server.hold()
                call = asyncio.create_task(client.post(f"{server.base_url}/chat/completions", json=QUESTION))
                await until(lambda: server.stats()["in_flight"] == 1)
            if kind == "slow_body":
                (await call).close()
            else:
                with pytest.raises(LOST):
                    await call
            assert (server.stats()["in_flight"], server.stats()["gone"]) == (0, 0)

    asyncio.run(scene())


def post(url, body=QUESTION):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def test_it_runs_in_a_thread_of_its_own():
    with FaultyServer(answers=selection_answer("FAIL")) as server:
        value = post(f"{server.base_url}/chat/completions")
        assert json.loads(value["choices"][0]["message"]["content"])["grade"] == "FAIL"
        server.change(answers=selection_answer("PASS"))
        assert '"PASS"' in post(f"{server.base_url}/chat/completions")["choices"][0]["message"]["content"]
        assert [seen.attempt for seen in server.requests] == [0, 1]
    assert not any(thread.name == "faulty-server" for thread in threading.enumerate())
    with pytest.raises(RuntimeError, match="not running"):
        _ = server.url


def test_a_hanging_call_does_not_keep_the_thread():
    with FaultyServer(plan=["hang"]) as server:
        failed = []

        def call():
            try:
                post(f"{server.base_url}/chat/completions")
            except OSError as error:
                failed.append(error)

        caller = threading.Thread(target=call)
        caller.start()
        while server.stats()["in_flight"] == 0:
            time.sleep(0.005)
    caller.join(30)
    assert len(failed) == 1


def test_it_can_be_started_again():
    server = FaultyServer()
    for count in (1, 2):
        with server:
            post(f"{server.base_url}/chat/completions")
            assert server.stats()["requests"] == count


def test_a_port_that_is_taken_is_an_error():
    with FaultyServer() as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(ConfigError, match=f"cannot listen on port {port}"), FaultyServer(port=port):
            pass


@contextmanager
def process(*arguments):
    """The server as a process of its own, and its address."""
    command = [sys.executable, "-W", "error", "-m", "rightcall.testing.server", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            line = child.stdout.readline()
            assert line.startswith("listening on http://127.0.0.1:"), line + child.stderr.read()
            yield child, line.split()[-1]
        finally:
            child.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_runs_as_a_process_until_it_is_told_to_stop(tmp_path, number):
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps({"case-0007": {"grade": "FAIL"}}))
    with process("--answers", str(replies), "--fault", "wrong_model=1", "--seed", "4") as (child, url):
        value = post(f"{url}/v1/chat/completions")
        assert json.loads(value["choices"][0]["message"]["content"]) == {"grade": "FAIL"}
        assert value["model"] == "judge-other"
        with urllib.request.urlopen(f"{url}/stats?requests=9", timeout=30) as answer:
            assert len(json.loads(answer.read())["ledger"]) == 1
        child.send_signal(number)
        assert (child.wait(30), child.stdout.read(), child.stderr.read()) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fault", "malformd=0.1"], "did you mean `malformed`"),
        (["--fault", "malformed=often"], "`malformed=often` is not KIND=RATE"),
        (["--answers", "absent.json"], "cannot use the replies"),
        (["--by", "luck"], "invalid choice"),
    ],
)
def test_a_wrong_option_is_one_clear_line(arguments, said, capsys):
    from rightcall.testing.server import main

    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err.splitlines()[-1]
