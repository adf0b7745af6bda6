"""The client and the reader together end with the code that each fault promises."""

import asyncio

import pytest

from rightcall.errors import ProviderError, RateLimited, Rejected, Unavailable
from rightcall.judge.contract import Malformed
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.llm.client import Request
from rightcall.llm.openai import OpenAIClient
from rightcall.llm.spec import JudgeSpec
from rightcall.testing.answers import selection_answer
from rightcall.testing.faults import EXPECTED, FAULTS
from rightcall.testing.server import FaultyServer

REQUEST = Request(system="Judge.", user="Was the tool right for case-0007?", schema=REPLY_SCHEMAS["selection"])
BROKEN = [kind for kind, fault in FAULTS.items() if kind in EXPECTED and fault.nature != "content"]
SPOILED = [kind for kind, fault in FAULTS.items() if fault.nature == "content"]


def exchange(kind, timeout=30.0):
    """One exchange with a server that always fails in one way: what comes of it, and the server."""

    async def scene():
        async with FaultyServer(plan={kind: 1.0}, answers=selection_answer(), slow=0.05) as server:
            spec = JudgeSpec(model="judge", base_url=server.base_url, structured="json_schema", timeout=timeout)
            client = OpenAIClient(spec, {})
            try:
                return await client.ask(REQUEST), server
            finally:
                await client.close()

    return asyncio.run(scene())


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_exchange_ends_with_its_code(kind):
    with pytest.raises(ProviderError) as caught:
        exchange(kind, timeout=0.5 if kind == "hang" else 30.0)
    assert caught.value.code == EXPECTED[kind]
    if FAULTS[kind].nature == "endpoint":
        assert isinstance(caught.value, Rejected)
    elif EXPECTED[kind] == "JUDGE_RATE_LIMITED":
        assert isinstance(caught.value, RateLimited)
        assert (caught.value.retry_after is None) == (kind == "overloaded")
    else:
        assert isinstance(caught.value, Unavailable)


@pytest.mark.parametrize("kind", SPOILED)
def test_a_spoiled_reply_ends_with_its_code(kind):
    answer, server = exchange(kind)
    read = read_reply("selection", answer.text, answer.finish if answer.finish != "other" else answer.finish_raw)
    assert isinstance(read, Malformed)
    assert read.code == EXPECTED[kind]
    assert server.stats()["by_fault"] == {kind: 1}


@pytest.mark.parametrize("kind", ["latency", "slow_body", "wrong_model", "cut_prompt"])
def test_a_fault_without_a_code_ends_with_a_verdict(kind):
    answer, _ = exchange(kind)
    assert not isinstance(read_reply("selection", answer.text, answer.finish), Malformed)
    assert answer.model == ("judge-other" if kind == "wrong_model" else "judge")
    assert (answer.input_tokens < len(REQUEST.user.split())) == (kind == "cut_prompt")


@pytest.mark.parametrize(
    ("kind", "parameter"),
    [
        ("unsupported_temperature", "temperature"),
        ("unsupported_schema", "response_format"),
        ("unsupported_json", "response_format"),
    ],
)
def test_a_refused_parameter_is_named(kind, parameter):
    with pytest.raises(Rejected) as caught:
        exchange(kind)
    assert (caught.value.parameter, caught.value.http_status) == (parameter, 400)
