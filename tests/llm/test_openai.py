"""The OpenAI-compatible client against a real HTTP server."""

import asyncio
import socket

import pytest
from aiohttp import web
from llm_serving import (
    KEY,
    PLAIN,
    QUESTION,
    REPLY,
    SCHEMA,
    Server,
    begin_and_stall,
    completion,
    hang_up,
    never,
    program,
    refused,
    spec,
    stop_in_the_middle,
)

from rightcall.errors import ConfigError, RateLimited, Rejected, Unavailable
from rightcall.llm.openai import OpenAIClient


def ask(*answers, request=PLAIN, environ=None, **more):
    """Ask a server with these answers once: the answer or the error, and what the server saw."""

    async def go():
        async with Server(*answers) as server:
            client = OpenAIClient(spec(server, **more), environ or {})
            try:
                return await client.ask(request), server
            except (RateLimited, Rejected, Unavailable) as error:
                return error, server
            finally:
                await client.close()

    return asyncio.run(go())


# ---- what is sent ----------------------------------------------------------------------------------------------------


def test_a_question_is_one_chat_completion_with_its_parameters():
    answer, server = ask(completion(), seed=7, top_p=0.5)
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.bodies == [
        {
            "model": "judge-1",
            "messages": [{"role": "system", "content": PLAIN.system}, {"role": "user", "content": PLAIN.user}],
            "temperature": 0.0,
            "max_tokens": 2048,
            "seed": 7,
            "top_p": 0.5,
        }
    ]
    assert answer.sent == {"temperature": 0.0, "max_tokens": 2048, "seed": 7, "top_p": 0.5}


def test_an_empty_system_message_and_no_temperature_are_not_sent():
    request = PLAIN.__class__(system="", user="u", temperature=None)
    _, server = ask(completion(), request=request)
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "u"}]
    assert "temperature" not in server.bodies[0]


def test_the_schema_is_sent_in_the_order_of_its_keys():
    answer, server = ask(completion(), request=QUESTION, structured="json_schema")
    form = server.bodies[0]["response_format"]
    assert form == {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA, "strict": True}}
    assert list(form["json_schema"]["schema"]["properties"]) == ["reason", "grade"]
    assert (answer.rung, answer.sent["strict"]) == ("json_schema", True)


def test_the_rung_of_json_objects_sends_no_schema():
    answer, server = ask(completion(), request=QUESTION, structured="json_object")
    assert server.bodies[0]["response_format"] == {"type": "json_object"}
    assert answer.rung == "json_object"


def test_a_question_without_schema_is_text_on_every_rung():
    answer, server = ask(completion(), structured="json_schema")
    assert "response_format" not in server.bodies[0]
    assert answer.rung == "text"


def test_the_key_is_sent_and_what_the_sdk_reads_from_the_environment_is_not(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-place-000000")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-mine")
    _, server = ask(completion(), environ={"JUDGE_KEY": KEY}, api_key_env="JUDGE_KEY")
    headers = server.requests[0].headers
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert {"OpenAI-Organization", "OpenAI-Project"} & set(headers) == set()


def test_a_local_server_needs_no_key_and_gets_none(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-place-000000")
    _, server = ask(completion())
    assert "Authorization" not in server.requests[0].headers


def test_a_header_from_the_environment_takes_the_place_of_the_key_as_azure_wants_it():
    environ = {"AZURE_KEY": "azure-key-1234", "OPENAI_API_KEY": KEY}

    async def go():
        async with Server(completion()) as server:
            url = f"{server.url}/openai/deployments/judge?api-version=2024-10-21"
            client = OpenAIClient(spec(base_url=url, headers={"api-key": "$AZURE_KEY", "X-Team": "grading"}), environ)
            await client.ask(PLAIN)
            await client.close()
            return server.requests[0]

    seen = asyncio.run(go())
    assert (seen.path, seen.query) == ("/openai/deployments/judge/chat/completions", {"api-version": "2024-10-21"})
    assert (seen.headers["api-key"], seen.headers["X-Team"]) == ("azure-key-1234", "grading")
    assert "Authorization" not in seen.headers


def test_the_address_comes_from_the_environment_if_the_spec_has_none():
    async def go():
        async with Server(completion()) as server:
            client = OpenAIClient(spec(), {"OPENAI_BASE_URL": f"{server.url}/gateway/v1", "OPENAI_API_KEY": KEY})
            await client.ask(PLAIN)
            await client.close()
            return server.requests[0].path

    assert asyncio.run(go()) == "/gateway/v1/chat/completions"


def test_one_connection_serves_questions_one_after_the_other_and_the_pool_is_large_enough():
    async def go():
        async with Server(completion()) as server:
            client = OpenAIClient(spec(server, max_concurrency=1500), {})
            for _ in range(3):
                await client.ask(PLAIN)
            one = len(server.connections)
            await asyncio.gather(*(client.ask(PLAIN) for _ in range(8)))
            limit = client._client._client._transport.limits.max_connections
            await client.close()
            return one, limit

    assert asyncio.run(go()) == (1, 1500)


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")  # the transport in the SDK uses old names
def test_questions_go_through_the_proxy_that_is_configured():
    async def go():
        async with Server(completion()) as proxy:
            address = f"http://user:hunter2-secret@127.0.0.1:{proxy.port}"
            client = OpenAIClient(spec(base_url="http://judge.example.internal/v1", proxy=address), {})
            answer = await client.ask(PLAIN)
            await client.close()
            return answer.text, proxy.requests[0].headers["Host"]

    assert asyncio.run(go()) == (REPLY, "judge.example.internal")


# ---- what comes back -------------------------------------------------------------------------------------------------


def test_an_answer_says_who_answered_what_it_cost_and_how_it_was_asked():
    answer, _ = ask((200, completion(" \n{}"), {"x-request-id": "req-77"}))
    assert (answer.text, answer.finish, answer.finish_raw) == (" \n{}", "stop", "stop")
    assert (answer.model, answer.input_tokens, answer.output_tokens) == ("judge-1-2026-10-01", 21, 9)
    assert (answer.rung, answer.request_id) == ("text", "req-77")


@pytest.mark.parametrize(
    ("raw", "finish"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "refusal"), ("tool_calls", "other"), (None, "other")],
)
def test_finish_reasons_are_mapped_and_kept(raw, finish):
    answer, _ = ask(completion(finish=raw))
    assert (answer.finish, answer.finish_raw) == (finish, raw)


def test_a_refusal_has_a_field_of_its_own():
    body = completion(None)
    body["choices"][0]["message"]["refusal"] = "I cannot judge this."
    answer, _ = ask(body)
    assert (answer.text, answer.finish, answer.finish_raw) == ("I cannot judge this.", "refusal", "stop")


def test_unknown_usage_and_model_stay_unknown():
    body = completion()
    body["model"], body["usage"] = "", {"prompt_tokens": "many", "completion_tokens": None}
    answer, _ = ask(body)
    assert (answer.model, answer.input_tokens, answer.output_tokens, answer.request_id) == (
        None,
        None,
        None,
        "chatcmpl-9",
    )


@pytest.mark.parametrize(
    ("content", "text"), [(None, ""), ([{"type": "thinking"}, {"type": "text", "text": "{}"}], "{}")]
)
def test_no_content_is_an_empty_text_and_parts_are_joined(content, text):
    assert ask(completion(content))[0].text == text


# ---- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (307, Rejected, "JUDGE_UNREACHABLE"),
        (400, Rejected, "JUDGE_UNREACHABLE"),
        (401, Rejected, "JUDGE_AUTH"),
        (402, Rejected, "JUDGE_RATE_LIMITED"),
        (403, Rejected, "JUDGE_AUTH"),
        (404, Rejected, "JUDGE_UNREACHABLE"),
        (408, Unavailable, "JUDGE_UNREACHABLE"),
        (409, Unavailable, "JUDGE_UNREACHABLE"),
        (422, Rejected, "JUDGE_UNREACHABLE"),
        (425, Unavailable, "JUDGE_UNREACHABLE"),
        (429, RateLimited, "JUDGE_RATE_LIMITED"),
        (500, Unavailable, "JUDGE_UNREACHABLE"),
        (501, Rejected, "JUDGE_UNREACHABLE"),
        (503, Unavailable, "JUDGE_UNREACHABLE"),
        (529, RateLimited, "JUDGE_RATE_LIMITED"),
    ],
)
def test_every_status_has_its_error_and_one_request_is_made(status, kind, code):
    headers = {"Location": "http://127.0.0.1:9/elsewhere"} if status == 307 else {}
    error, server = ask((status, {"error": {"message": "no"}}, headers))
    assert (type(error), error.code, error.http_status) == (kind, code, status)
    assert f"HTTP {status}" in str(error)
    assert len(server.requests) == 1


def test_a_used_up_quota_is_not_waited_for():
    error, _ = ask((429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}))
    assert isinstance(error, Rejected)
    assert "quota or credit is used up" in error.message


def test_a_wait_is_passed_on():
    error, _ = ask((429, {}, {"Retry-After": "7"}))
    assert error.retry_after == 7


def test_a_refused_parameter_is_named():
    error, _ = ask(refused("Unsupported value", "temperature", "unsupported_value"))
    assert error.parameter == "temperature"


BROKEN = {
    "an empty body": (200, b""),
    "not JSON (text/html": (200, "<html>busy</html>", {"Content-Type": "text/html"}),
    "JSON that is no object": (200, "[]"),
    "no choices": (200, {"choices": []}),
    "a choice without a message": (200, {"choices": [{"finish_reason": "stop"}]}),
    "with an error in it: overloaded": (200, {"error": {"message": "overloaded"}}),
    "HTTP 502: upstream": (200, {"error": {"message": "upstream", "code": 502}}),
    "broke off its answer": completion(finish="error"),
    "closed the connection before it answered": hang_up,
    "closed the connection in the middle of its answer": stop_in_the_middle,
}


@pytest.mark.parametrize("words", BROKEN)
def test_each_broken_answer_is_told_apart_and_can_be_asked_again(words):
    error, _ = ask(BROKEN[words])
    assert (type(error), error.code) == (Unavailable, "JUDGE_UNREACHABLE")
    assert words in error.message


def test_a_limit_in_the_clothes_of_a_success_is_a_limit():
    error, _ = ask((200, {"error": {"message": "slow down", "code": 429}}, {"Retry-After": "3"}))
    assert (type(error), error.retry_after) == (RateLimited, 3)


def test_silence_and_a_slow_body_are_both_too_late_and_told_apart():
    silent, _ = ask(never, timeout=0.2)
    slow, _ = ask(begin_and_stall, timeout=2.0)  # time to begin, also where the machine is busy
    assert (silent.code, slow.code) == ("JUDGE_TIMEOUT", "JUDGE_TIMEOUT")
    assert "gave no answer within 0.2 s" in silent.message
    assert "began to answer but was not done within 2 s" in slow.message


def test_a_server_that_accepts_no_connection_is_told_apart_from_one_that_is_silent():
    async def go():
        # A listener with a full queue: the connection is neither taken nor refused.
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            port = listener.getsockname()[1]
            waiting = [socket.socket() for _ in range(4)]
            for each in waiting:
                each.setblocking(False)
                each.connect_ex(("127.0.0.1", port))
            client = OpenAIClient(spec(base_url=f"http://127.0.0.1:{port}/v1", timeout=0.3), {})
            try:
                await client.ask(PLAIN)
            except Unavailable as error:
                return error
            finally:
                await client.close()
                for each in waiting:
                    each.close()

    error = asyncio.run(go())
    assert error.code == "JUDGE_TIMEOUT"
    assert "no connection to 127.0.0.1:" in error.message


def test_nobody_listening_is_said_so():
    async def go():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        client = OpenAIClient(spec(base_url=f"http://127.0.0.1:{port}/v1"), {})
        try:
            await client.ask(PLAIN)
        except Unavailable as error:
            return error.message
        finally:
            await client.close()

    assert "cannot connect to 127.0.0.1:" in asyncio.run(go())


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")  # the transport in the SDK uses old names
def test_no_error_shows_a_secret():
    secrets = (KEY, "header-value-77", "query-value-88", "proxy-pass-99")
    echo = {
        "error": {
            "message": f"bad key {KEY}, header header-value-77, Bearer abcdef, url https://u:p@h/x?k=query-value-88"
        }
    }
    environ = {"OPENAI_API_KEY": KEY, "TEAM": secrets[1]}

    async def go():
        errors = []
        for answer in ((400, echo), (401, echo), (429, echo), (500, echo), (200, f"<p>{KEY}"), (200, echo), hang_up):
            async with Server(answer) as server:
                url = f"{server.url}/v1?k={secrets[2]}"
                client = OpenAIClient(spec(base_url=url, headers={"X-Team": "$TEAM"}), environ)
                try:
                    await client.ask(PLAIN)
                except (RateLimited, Rejected, Unavailable) as error:
                    errors.append(error)
                await client.close()
        client = OpenAIClient(
            spec(base_url="http://judge.internal/v1", proxy=f"http://me:{secrets[3]}@127.0.0.1:9"), environ
        )
        try:
            await client.ask(PLAIN)
        except Unavailable as error:
            errors.append(error)
        await client.close()
        return errors

    errors = asyncio.run(go())
    assert len(errors) == 8
    for error in errors:
        assert error.__cause__ is None
        assert [secret for secret in (*secrets, "abcdef", "u:p@") if secret in f"{error!s}{error!r}"] == []


# ---- how it is made --------------------------------------------------------------------------------------------------


def test_a_missing_key_is_said_before_anything_is_sent():
    with pytest.raises(Rejected, match=r"no credential for api\.openai\.com: OPENAI_API_KEY is not set") as caught:
        OpenAIClient(spec(), {})
    assert (caught.value.code, caught.value.exit_code) == ("JUDGE_AUTH", 5)


def test_a_model_must_be_named():
    with pytest.raises(ConfigError, match="needs a `model`"):
        OpenAIClient(spec(model=""), {"OPENAI_API_KEY": KEY})


def test_a_token_command_is_asked_once_and_again_after_a_refusal(tmp_path):
    counter = tmp_path / "n"
    code = f"import pathlib; p = pathlib.Path({str(counter)!r}); n = p.stat().st_size if p.exists() else 0; p.write_text('x' * (n + 1)); print(f'token-number-{{n}}')"

    async def check(request):
        if request.headers["Authorization"] == "Bearer token-number-0":
            return web.json_response({}, status=401)
        return web.json_response(completion())

    async def go():
        async with Server(check) as server:
            client = OpenAIClient(spec(server, token_command=program(code)), {})
            with pytest.raises(Rejected) as caught:
                await client.ask(PLAIN)
            version = client.version
            renewed = [await client.adapt(caught.value, version), await client.adapt(caught.value, version)]
            answer = await client.ask(PLAIN)
            await client.close()
            return renewed, answer.text, [seen.headers["Authorization"] for seen in server.requests]

    renewed, text, sent = asyncio.run(go())
    assert (renewed, text) == ([True, True], REPLY)
    assert sent == ["Bearer token-number-0", "Bearer token-number-1"]
    assert counter.read_text() == "xx"
