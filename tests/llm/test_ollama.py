"""Ollama's client against exchanges that follow its documentation, with invented contents, on a real HTTP server."""

import asyncio

import pytest
from llm_serving import (
    KEY,
    PLAIN,
    QUESTION,
    REPLY,
    SCHEMA,
    Server,
    begin_and_stall,
    hang_up,
    never,
    spec,
    stop_in_the_middle,
)

from rightcall.errors import ConfigError, RateLimited, Rejected, Unavailable
from rightcall.llm.door import Door
from rightcall.llm.ollama import OllamaClient, ollama_url
from rightcall.llm.pace import Pace


def chat(text=REPLY, done="stop", **more):
    """An answer as Ollama documents it."""
    return {
        "model": "judge-o:1b", "created_at": "2026-11-30T12:00:00Z", "message": {"role": "assistant", "content": text},
        "done": True, "done_reason": done, "total_duration": 5, "prompt_eval_count": 44, "eval_count": 12, **more,
    }  # fmt: skip


def judge(server, **more):
    return spec(**{"base_url": server.url, "provider": "ollama", "model": "judge-o", "structured": "auto", **more})


def ask(*answers, request=QUESTION, environ=None, **more):
    async def go():
        async with Server(*answers) as server:
            client = OllamaClient(judge(server, **more), environ or {})
            try:
                return await client.ask(request), server
            except (RateLimited, Rejected, Unavailable) as failure:
                return failure, server
            finally:
                await client.close()

    return asyncio.run(go())


def test_a_question_sets_the_context_size_and_the_schema():
    answer, server = ask(chat(), context_tokens=32_000, seed=4)
    (seen,) = server.requests
    options = {"num_ctx": 32_000, "num_predict": 2048, "temperature": 0.0, "seed": 4}
    assert seen.path == "/api/chat"
    assert seen.body == {
        "model": "judge-o",
        "messages": [{"role": "system", "content": QUESTION.system}, {"role": "user", "content": QUESTION.user}],
        "stream": False,
        "truncate": False,
        "options": options,
        "format": SCHEMA,
    }
    assert list(seen.body["format"]["properties"]) == ["reason", "grade"]
    assert answer.sent == options
    assert "Authorization" not in seen.headers


def test_the_context_size_is_never_left_to_the_server():
    assert ask(chat())[1].bodies[0]["options"]["num_ctx"] == 16_384


@pytest.mark.parametrize(("rung", "form"), [("json_object", "json"), ("text", None)])
def test_the_lower_rungs_send_the_word_json_or_nothing(rung, form):
    answer, server = ask(chat(), structured=rung)
    assert (server.bodies[0].get("format"), answer.rung) == (form, rung)


def test_an_answer_has_its_model_and_its_tokens():
    answer, _ = ask(chat())
    assert (answer.text, answer.model, answer.rung) == (REPLY, "judge-o:1b", "json_schema")
    assert (answer.input_tokens, answer.output_tokens) == (44, 12)


@pytest.mark.parametrize(
    ("done", "finish"), [("stop", "stop"), ("length", "length"), ("load", "other"), (None, "other")]
)
def test_reasons_to_stop_are_mapped_and_kept(done, finish):
    answer, _ = ask(chat(done=done))
    assert (answer.finish, answer.finish_raw) == (finish, done)


def test_unknown_counts_stay_unknown():
    body = chat()
    del body["prompt_eval_count"], body["eval_count"]
    answer, _ = ask(body)
    assert (answer.input_tokens, answer.output_tokens) == (None, None)


def test_a_server_that_knows_no_schema_is_asked_for_json():
    async def go():
        async with Server((400, {"error": 'invalid format: expected "json" or a JSON schema'}), chat()) as server:
            own = judge(server)
            door, notes = Door(OllamaClient(own, {}), own, pace=Pace()), []
            answer = await door.ask(QUESTION, notes.append)
            await door.close()
            return answer.rung, [(note.purpose, note.code) for note in notes]

    assert asyncio.run(go()) == ("json_object", [("question", "REJECTED_PARAMETER"), ("question", None)])


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ((404, {"error": "model 'judge-o' not found"}), Rejected, "HTTP 404: model 'judge-o' not found"),
        ((400, {"error": "the input length exceeds the context length"}), Rejected, "exceeds the context length"),
        ((401, {"error": "unauthorized"}), Rejected, "refuses the credential"),
        ((429, {"error": "busy"}, {"Retry-After": "2"}), RateLimited, "busy"),
        ((500, {"error": "llama runner process has terminated"}), Unavailable, "runner process has terminated"),
        ((503, {"error": "server busy"}), Unavailable, "server busy"),
        ((302, b"", {"Location": "http://127.0.0.1:9/"}), Rejected, "HTTP 302"),
        ((200, b"<html>"), Unavailable, "not JSON"),
        ((200, {"done": True}), Unavailable, "no message"),
        ((200, {"error": "out of memory"}), Unavailable, "an error in it: out of memory"),
        (hang_up, Unavailable, "before it answered"),
        (stop_in_the_middle, Unavailable, "in the middle of its answer"),
        (never, Unavailable, "gave no answer within 0.3 s"),
        (begin_and_stall, Unavailable, "was not done within 0.3 s"),
    ],
)
def test_every_fault_has_its_error_after_one_request(answer, kind, words):
    failure, server = ask(answer, timeout=0.3 if answer in (never, begin_and_stall) else 20)
    assert type(failure) is kind
    assert words in failure.message
    assert len(server.requests) == 1


def test_nobody_listening_is_said_so():
    async def go():
        async with Server() as server:
            gone = judge(server)
        client = OllamaClient(gone, {})
        try:
            await client.ask(PLAIN)
        except Unavailable as failure:
            return failure.message
        finally:
            await client.close()

    assert "cannot connect to 127.0.0.1:" in asyncio.run(go())


def test_a_key_is_sent_where_one_is_configured():
    _, server = ask(chat(), environ={"OLLAMA_API_KEY": KEY})
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_one_connection_serves_questions_one_after_the_other():
    async def go():
        async with Server(chat()) as server:
            client = OllamaClient(judge(server), {})
            for _ in range(3):
                await client.ask(QUESTION)
            await client.close()
            return len(server.connections)

    assert asyncio.run(go()) == 1


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"), ("gpu-box", "http://gpu-box:11434"), ("gpu-box:8000/", "http://gpu-box:8000"),
        ("0.0.0.0", "http://127.0.0.1:11434"), (":9999", "http://127.0.0.1:9999"), ("https://o.example.org", "https://o.example.org"),
    ],
)  # fmt: skip
def test_the_address_in_the_environment_may_be_short(host, url):
    assert ollama_url({"OLLAMA_HOST": host}) == url


def test_a_model_must_be_named():
    with pytest.raises(ConfigError, match="needs a `model`"):
        OllamaClient(spec(provider="ollama", model=""), {})
