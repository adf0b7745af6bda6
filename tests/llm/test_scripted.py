"""The scripted model."""

import asyncio
import subprocess
import sys

import pytest
from llm_serving import PLAIN
from msgspec.structs import replace

from rightcall.errors import Rejected, Unavailable
from rightcall.llm.client import Answer
from rightcall.testing import ScriptedModel


def said(model, *requests):
    async def go():
        return [await model.ask(request) for request in requests]

    return asyncio.run(go())


def at(unit, attempt=0):
    return replace(PLAIN, unit=unit, attempt=attempt)


def test_a_list_is_said_in_the_order_of_the_questions():
    model = ScriptedModel(["one", Answer(text="two", finish="length")], model="m")
    first, second = said(model, at("a"), at("b"))
    assert (first.text, first.model, first.sent) == ("one", "m", {"temperature": 0.0, "max_tokens": 2048})
    assert (second.text, second.finish) == ("two", "length")
    assert [request.unit for request in model.requests] == ["a", "b"]


def test_a_mapping_is_said_by_unit_and_attempt():
    model = ScriptedModel({"a": ["a0", "a1"], "b": ["b0"]})
    assert [answer.text for answer in said(model, at("b"), at("a", 1), at("a"))] == ["b0", "a1", "a0"]


def test_a_function_gets_the_request_and_may_be_async():
    async def slowly(request):
        await asyncio.sleep(0)
        return request.unit.upper()

    assert said(ScriptedModel(slowly), at("a"))[0].text == "A"
    assert said(ScriptedModel(lambda request: request.unit * 2), at("a"))[0].text == "aa"


def test_an_exception_is_raised():
    model = ScriptedModel([Unavailable("down"), "up"])
    with pytest.raises(Unavailable, match="down"):
        said(model, at("a"))
    assert said(model, at("a"))[0].text == "up"


@pytest.mark.parametrize(
    ("replies", "words"),
    [([], "nothing to say"), ({"b": ["x"]}, "nothing to say"), ({"a": "text"}, "one text, not a list")],
)
def test_a_script_that_has_run_out_is_an_error_that_is_not_retried(replies, words):
    with pytest.raises(Rejected, match=words) as caught:
        said(ScriptedModel(replies), at("a"))
    assert caught.value.code == "JUDGE_NOT_RECORDED"


def test_the_testing_room_loads_no_server_and_no_sdk():
    code = "import sys, rightcall.testing as t; t.ScriptedModel; print([m for m in ('aiohttp', 'openai') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_the_testing_room_has_nothing_else():
    import rightcall.testing

    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = rightcall.testing.Nothing
