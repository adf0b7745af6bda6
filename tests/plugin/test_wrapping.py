"""Wrapped tools: what they record, and that nothing else changes."""

import asyncio
import functools
from concurrent.futures import ThreadPoolExecutor

import pytest

from rightcall import ConfigError
from rightcall.plugin.recording import Recording
from rightcall.plugin.wrapping import wrapped


class Spy:
    """A recording, and a wrapper that writes to it."""

    def __init__(self):
        self.recording = Recording()

    def __call__(self, target, name=None):
        return wrapped(target, name, lambda: self.recording)

    @property
    def calls(self):
        return [
            (call.tool, call.arguments, call.result.content if call.result else None, call.failed)
            for call in self.recording.events
        ]


@pytest.fixture
def spy():
    return Spy()


def freeze(card, *, reason=None):
    """Freeze."""
    return {"card": card, "reason": reason}


async def freeze_later(card):
    await asyncio.sleep(0)
    return card


def test_arguments_are_recorded_by_name_as_the_agent_gave_them(spy):
    tool = spy(freeze)
    assert tool("4242") == {"card": "4242", "reason": None}
    tool(card="1", reason="lost")
    assert spy.calls == [
        ("freeze", {"card": "4242"}, {"card": "4242", "reason": None}, False),
        ("freeze", {"card": "1", "reason": "lost"}, {"card": "1", "reason": "lost"}, False),
    ]


def test_a_wrapped_tool_keeps_its_name_and_its_words(spy):
    tool = spy(freeze)
    assert (tool.__name__, tool.__doc__) == ("freeze", "Freeze.")


def test_an_error_is_recorded_and_raised_again(spy):
    def broken():
        raise LookupError("no such card")

    with pytest.raises(LookupError, match="no such card"):
        spy(broken)()
    assert spy.calls == [("broken", {}, "LookupError: no such card", True)]


def test_an_async_tool_is_recorded_when_it_has_ended(spy):
    tool = spy(freeze_later)
    assert asyncio.run(tool("1")) == "1"
    assert spy.calls == [("freeze_later", {"card": "1"}, "1", False)]


def test_an_error_of_an_async_tool_is_recorded_and_raised_again(spy):
    async def broken(card):
        raise TimeoutError("slow")

    with pytest.raises(TimeoutError):
        asyncio.run(spy(broken)("1"))
    assert spy.calls == [("broken", {"card": "1"}, "TimeoutError: slow", True)]


def test_calls_that_run_side_by_side_are_of_one_turn(spy):
    tool = spy(freeze_later)

    async def agent():
        await asyncio.gather(tool("1"), tool("2"))
        await tool("3")

    asyncio.run(agent())
    assert [call.turn for call in spy.recording.events] == [1, 1, 2]


def test_calls_one_after_the_other_are_of_several_turns(spy):
    tool = spy(freeze)
    tool("1")
    tool("2")
    assert [call.turn for call in spy.recording.events] == [1, 2]


def test_a_call_that_a_tool_makes_is_not_the_agents(spy):
    inner = spy(freeze)

    def outer(card):
        return inner(card)

    spy(outer)("1")
    assert [(call.tool, call.by) for call in spy.recording.events] == [("outer", "agent"), ("freeze", "framework")]


def test_tools_may_be_called_from_several_threads(spy):
    tool = spy(freeze)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(tool, map(str, range(200))))
    calls = spy.recording.events
    assert len(calls) == 200
    assert all(call.result.content["card"] == call.arguments["card"] for call in calls)
    assert len({call.id for call in calls}) == 200


def test_what_an_agent_changes_later_is_recorded_as_it_was(spy):
    given = ["a"]
    spy(freeze)(given)
    given.append("b")
    assert spy.calls[0][1] == {"card": ["a"]}


def test_arguments_that_json_has_no_form_for_are_not_captured(spy):
    spy(freeze)(float("nan"))
    (call,) = spy.recording.events
    assert (call.arguments_status, call.arguments) == ("not_captured", None)
    assert spy.recording.findings[0].message == "the arguments of freeze hold the number nan"


def test_a_result_that_json_has_no_form_for_is_not_captured(spy):
    spy(lambda: {1, 2}, "look")()
    (call,) = spy.recording.events
    assert (call.result.is_captured, call.failed) == (False, False)


def test_arguments_that_the_tool_does_not_take_are_recorded_if_they_have_names(spy):
    tool = spy(freeze)
    with pytest.raises(TypeError):
        tool(cart="1")
    with pytest.raises(TypeError):
        tool("1", "2", "3")
    first, second = spy.recording.events
    assert (first.arguments, first.failed) == ({"cart": "1"}, True)
    assert (second.arguments_status, second.failed) == ("not_captured", True)


def test_an_async_tool_that_is_called_wrongly_is_recorded_too(spy):
    with pytest.raises(TypeError):
        asyncio.run(spy(freeze_later)(cart="1"))
    assert spy.recording.events[0].failed is True


def test_keyword_arguments_of_any_name_are_arguments(spy):
    def look(**where):
        return where

    spy(look)(name="x", self="y")
    assert spy.calls[0][1] == {"name": "x", "self": "y"}


class Desk:
    limit = 3

    def __init__(self):
        self.seen = []

    def freeze(self, card):
        self.seen.append(card)
        return self._note(card)

    async def look(self, card):
        return card

    @staticmethod
    def rate():
        return 1

    def _note(self, card):
        return f"noted {card}"


def test_the_public_methods_of_an_object_are_tools(spy):
    desk = Desk()
    box = spy(desk)
    assert box.freeze("1") == "noted 1"
    assert asyncio.run(box.look("2")) == "2"
    box.limit = 4
    assert (desk.seen, desk.limit, box.limit) == (["1"], 4, 4)
    assert [call[:2] for call in spy.calls] == [("freeze", {"card": "1"}), ("look", {"card": "2"})]


def test_the_public_methods_of_a_class_are_tools(spy):
    box = spy(Desk)()
    assert isinstance(box, Desk)
    box.freeze("1")
    box.rate()
    assert [call[:2] for call in spy.calls] == [("freeze", {"card": "1"}), ("rate", {})]


class Lookup:
    name = "look_up"

    def __call__(self, key):
        return key.upper()


def test_an_object_that_can_be_called_is_a_tool_of_its_own_name(spy):
    assert spy(Lookup())("a") == "A"
    assert spy.calls[0][:2] == ("look_up", {"key": "a"})


def test_a_partial_is_a_tool_without_what_is_settled(spy):
    spy(functools.partial(freeze, reason="lost"))("1")
    assert spy.calls[0][:2] == ("freeze", {"card": "1"})


def test_a_method_is_a_tool(spy):
    spy(Desk().freeze)("1")
    assert spy.calls[0][:2] == ("freeze", {"card": "1"})


@pytest.mark.parametrize(
    ("target", "name", "said"),
    [
        (lambda: 1, None, "a tool needs a name"),
        (Desk(), "desk", "names one tool, and a toolbox has several"),
        (type("Empty", (), {})(), None, "has nothing that can be called"),
    ],
)
def test_what_is_no_tool_is_refused(spy, target, name, said):
    with pytest.raises(ConfigError, match=said):
        spy(target, name)
