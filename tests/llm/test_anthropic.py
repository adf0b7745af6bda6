"""Anthropic's client against exchanges that follow its documentation, with invented contents, on a real HTTP server."""

import asyncio
import sys

import pytest
from llm_serving import KEY, PLAIN, QUESTION, REPLY, SCHEMA, Server, begin_and_stall, hang_up, never, program, spec

from rightcall.errors import ConfigError, MissingExtraError, RateLimited, Rejected, Unavailable
from rightcall.llm.anthropic import AnthropicClient
from rightcall.llm.door import Door
from rightcall.llm.pace import Pace

TEXT = [{"type": "text", "text": REPLY}]
TOOL = [{"type": "tool_use", "id": "toolu_1", "name": "verdict", "input": {"reason": "it was", "grade": "PASS"}}]


def message(content=TEXT, stop="end_turn", **more):
    """A message as Anthropic documents it."""
    return {
        "id": "msg_01", "type": "message", "role": "assistant", "model": "judge-a-20261001", "content": content,
        "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": 12, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 2000, "output_tokens": 8},
        **more,
    }  # fmt: skip


def error(status, text, kind="invalid_request_error", headers=None):
    """An error as Anthropic documents it."""
    return status, {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_1"}, headers or {}


def judge(server, **more):
    return spec(**{"base_url": server.url, "provider": "anthropic", "model": "judge-a", "structured": "auto", **more})


def ask(*answers, request=QUESTION, environ=None, **more):
    async def go():
        async with Server(*answers) as server:
            client = AnthropicClient(judge(server, **more), environ or {"ANTHROPIC_API_KEY": KEY})
            try:
                return await client.ask(request), server
            except (RateLimited, Rejected, Unavailable) as failure:
                return failure, server
            finally:
                await client.close()

    return asyncio.run(go())


def through_door(*answers, times=1, **more):
    async def go():
        async with Server(*answers) as server:
            own = judge(server, **more)
            door, notes = Door(AnthropicClient(own, {"ANTHROPIC_API_KEY": KEY}), own, pace=Pace()), []
            try:
                return [await door.ask(QUESTION, notes.append) for _ in range(times)], notes, server.bodies
            finally:
                await door.close()

    return asyncio.run(go())


def test_a_question_is_a_cached_system_block_one_message_and_the_schema():
    answer, server = ask(message(), top_p=0.5)
    (seen,) = server.requests
    assert (seen.path, seen.headers["X-Api-Key"]) == ("/v1/messages", KEY)
    assert "anthropic-version" in seen.headers
    assert "Authorization" not in seen.headers
    assert seen.body == {
        "model": "judge-a",
        "max_tokens": 2048,
        "system": [{"type": "text", "text": QUESTION.system, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": QUESTION.user}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        "temperature": 0.0,
        "top_p": 0.5,
    }
    assert answer.sent == {"max_tokens": 2048, "temperature": 0.0, "top_p": 0.5}


def test_an_answer_counts_cached_tokens_as_read():
    answer, _ = ask((200, message(), {"request-id": "req_9"}))
    assert (answer.text, answer.finish, answer.model, answer.rung) == (REPLY, "stop", "judge-a-20261001", "json_schema")
    assert (answer.input_tokens, answer.output_tokens, answer.request_id) == (2112, 8, "req_9")


def test_without_usage_nothing_is_known():
    answer, _ = ask(message(usage={}))
    assert (answer.input_tokens, answer.output_tokens, answer.request_id) == (None, None, "msg_01")


def test_the_forced_tool_gives_its_input_as_the_reply():
    answer, server = ask(message(TOOL, "tool_use"), structured="json_object")
    body = server.bodies[0]
    assert body["tools"] == [{"name": "verdict", "description": "Give the reply.", "input_schema": SCHEMA}]
    assert body["tool_choice"] == {"type": "tool", "name": "verdict", "disable_parallel_tool_use": True}
    assert (answer.text, answer.finish, answer.rung) == ('{"reason":"it was","grade":"PASS"}', "stop", "json_object")


def test_plain_text_has_no_schema_and_an_empty_system_message_is_left_out():
    request = PLAIN.__class__(system="", user="u")
    _, server = ask(message(), request=request)
    assert {"system", "output_config", "tools"} & server.bodies[0].keys() == set()


def test_several_texts_are_one_and_thinking_is_none_of_them():
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert ask(message(content))[0].text == "ab"


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("end_turn", "stop"), ("stop_sequence", "stop"), ("max_tokens", "length"), ("refusal", "refusal"),
        ("model_context_window_exceeded", "length"), ("pause_turn", "other"), (None, "other"),
    ],
)  # fmt: skip
def test_stop_reasons_are_mapped_and_kept(stop, finish):
    answer, _ = ask(message(stop=stop))
    assert (answer.finish, answer.finish_raw) == (finish, stop)


def test_a_temperature_that_is_refused_is_left_out_from_then_on():
    refusal = error(400, "`temperature` is deprecated for this model.")
    answers, notes, bodies = through_door(refusal, message(), times=2)
    assert [note.code for note in notes] == ["REJECTED_PARAMETER", None, None]
    assert ["temperature" in body for body in bodies] == [True, False, False]
    assert [answer.sent for answer in answers] == [{"max_tokens": 2048}] * 2


def test_a_model_without_structured_output_gets_the_forced_tool():
    refusal = error(400, "output_config: 'judge-a' does not support structured outputs")
    (answer,), notes, _ = through_door(refusal, message(TOOL, "tool_use"))
    assert [note.purpose for note in notes] == ["question", "question"]
    assert answer.rung == "json_object"


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (error(401, f"invalid x-api-key {KEY}", "authentication_error"), Rejected, "JUDGE_AUTH"),
        (error(403, "no permission", "permission_error"), Rejected, "JUDGE_AUTH"),
        (error(400, "messages: too long"), Rejected, "JUDGE_UNREACHABLE"),
        (error(404, "model: judge-a", "not_found_error"), Rejected, "JUDGE_UNREACHABLE"),
        (error(429, "rate limit", "rate_limit_error", {"retry-after": "4"}), RateLimited, "JUDGE_RATE_LIMITED"),
        (error(529, "Overloaded", "overloaded_error"), RateLimited, "JUDGE_RATE_LIMITED"),
        (error(500, "internal", "api_error"), Unavailable, "JUDGE_UNREACHABLE"),
        ((200, {"type": "message"}), Unavailable, "JUDGE_UNREACHABLE"),
        ((200, b""), Unavailable, "JUDGE_UNREACHABLE"),
        (hang_up, Unavailable, "JUDGE_UNREACHABLE"),
        (never, Unavailable, "JUDGE_TIMEOUT"),
        (begin_and_stall, Unavailable, "JUDGE_TIMEOUT"),
    ],
)
def test_every_fault_has_its_error_after_one_request(answer, kind, code):
    failure, server = ask(answer, timeout=20.0 if not callable(answer) or answer is hang_up else 0.2)
    assert (type(failure), failure.code) == (kind, code)
    assert KEY not in str(failure)
    assert len(server.requests) == 1


def test_a_wait_is_passed_on():
    assert ask(error(429, "slow", "rate_limit_error", {"retry-after": "4"}))[0].retry_after == 4


def test_a_token_from_a_command_is_a_bearer():
    _, server = ask(message(), token_command=program("print('tok-1234')"), environ={})
    headers = server.requests[0].headers
    assert (headers["Authorization"], headers.get("X-Api-Key")) == ("Bearer tok-1234", None)


def test_a_configured_header_is_the_credential():
    _, server = ask(message(), headers={"X-Api-Key": "$MINE"}, environ={"MINE": "k-777", "ANTHROPIC_API_KEY": KEY})
    assert server.requests[0].headers["X-Api-Key"] == "k-777"


def test_what_is_missing_is_said_when_the_client_is_made(monkeypatch):
    outside = spec(provider="anthropic", model="judge-a")
    with pytest.raises(Rejected, match="ANTHROPIC_API_KEY is not set"):
        AnthropicClient(outside, {})
    with pytest.raises(ConfigError, match="needs a `model`"):
        AnthropicClient(spec(provider="anthropic", model=""), {"ANTHROPIC_API_KEY": KEY})
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rightcall\[anthropic\]'"):
        AnthropicClient(outside, {"ANTHROPIC_API_KEY": KEY})
