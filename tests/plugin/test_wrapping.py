"""Wrapped tools: what they record, and that nothing else changes."""

import asyncio
import functools
import inspect
from concurrent.futures import ThreadPoolExecutor

import pydantic
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


async def freeze_at_once(card):
    return card


def gathered(tool):
    return asyncio.gather(tool("1"), tool("2"), tool("3"))


async def in_tasks(tool):
    async with asyncio.TaskGroup() as group:
        for card in "123":
            group.create_task(tool(card))


async def in_steps(tool):
    async def step(card):
        return tool(card) if tool.__name__ == "freeze" else await tool(card)

    await asyncio.gather(*map(step, "123"))


@pytest.mark.parametrize("at_once", [gathered, in_tasks, in_steps])
def test_tools_that_never_wait_are_side_by_side_all_the_same(spy, at_once):
    tool = spy(freeze_at_once)

    async def agent():
        await at_once(tool)
        await tool("4")
        await asyncio.create_task(tool("5"))
        await asyncio.wait_for(tool("6"), 1)

    asyncio.run(agent())
    asyncio.run(tool("7"))
    assert [call.turn for call in spy.recording.events] == [1, 1, 1, 2, 3, 4, 5]


def test_plain_tools_in_tasks_that_run_side_by_side_are_of_one_turn(spy):
    tool = spy(freeze)

    async def agent():
        await in_steps(tool)
        tool("4")
        tool("5")

    asyncio.run(agent())
    assert [call.turn for call in spy.recording.events] == [1, 1, 1, 2, 3]


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


class Shelf(dict):
    """A toolbox whose methods are written in C."""

    largest = max


@pytest.mark.parametrize("box", [Shelf, Shelf({"a": 1})])
def test_a_toolbox_whose_methods_are_written_in_c(spy, box):
    wrapped_box = spy(box)
    shelf = wrapped_box({"a": 1}) if isinstance(box, type) else wrapped_box
    assert shelf.pop("a") == 1
    assert shelf.pop("b", None) is None
    assert shelf.get("c", 5) == 5
    assert shelf.largest(3, 5) == 5
    assert [(tool, arguments) for tool, arguments, *_ in spy.calls] == [
        ("pop", {"args": ["a"]}),
        ("pop", {"args": ["b", None]}),
        ("get", {"key": "c", "default": 5}),
        ("largest", {"args": [3, 5]}),
    ]


def test_arguments_without_names_of_a_tool_that_does_not_say_what_it_takes_are_a_list(spy):
    with pytest.raises(ValueError, match="no signature"):
        inspect.signature(max)
    assert spy(max)(3, 5) == 5
    assert spy(max, "largest")([1, 2], default=0) == 2
    assert spy(dict.fromkeys, "keys")(["a"]) == {"a": None}
    assert spy(functools.partial(max, 3), "at_least_3")(2) == 3
    assert [(tool, arguments) for tool, arguments, *_ in spy.calls] == [
        ("max", {"args": [3, 5]}),
        ("largest", {"args": [[1, 2]], "default": 0}),
        ("keys", {"iterable": ["a"]}),
        ("at_least_3", {"args": [2]}),
    ]


def test_a_tool_that_does_not_say_what_it_takes_and_gets_nothing_has_no_arguments(spy):
    with pytest.raises(TypeError):
        spy(max)()
    assert spy.calls[0][1] == {}


def test_two_arguments_of_one_name_are_not_captured(spy):
    def look(*args, **kwargs):
        return len(args) + len(kwargs)

    assert spy(look)(1, args=2) == 2
    with pytest.raises(TypeError):
        spy(max)(1, args=2)
    assert [call.arguments_status for call in spy.recording.events] == ["not_captured"] * 2
    assert "two of one name" in spy.recording.findings[0].message


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


class Vault:
    """Every kind of method."""

    @classmethod
    def sort(cls, card):
        return cls.__name__, card

    def move(self, card, to, *rest, **more):
        return [card, to, rest, more]

    burn = functools.partialmethod(move, "bin")

    @functools.lru_cache  # noqa: B019 - the test ends soon
    def look(self, card):
        return card

    def count(self):
        yield 1

    @property
    def size(self):
        return 9


@pytest.mark.parametrize("made", [lambda spy: spy(Vault)(), lambda spy: spy(Vault())])
def test_class_methods_partial_and_cached_methods_are_tools_too(spy, made):
    vault = made(spy)
    assert vault.sort("1") == ("Vault", "1")
    assert vault.move("1", "2", 3, why=4) == ["1", "2", (3,), {"why": 4}]
    assert vault.burn("5") == ["bin", "5", (), {}]
    assert (vault.look("6"), list(vault.count()), vault.size) == ("6", [1], 9)
    assert [call[:2] for call in spy.calls] == [
        ("sort", {"card": "1"}), ("move", {"card": "1", "to": "2", "rest": [3], "why": 4}), ("burn", {"to": "5"}),
        ("look", {"card": "6"}), ("count", {}),
    ]  # fmt: skip


def test_a_method_of_a_class_of_tools_may_be_called_by_the_class_and_replaced_on_the_object(spy):
    box = spy(Desk)
    desk = box()
    assert box.freeze(desk, "1") == "noted 1"
    desk.freeze = "gone"
    assert (desk.freeze, [call[:2] for call in spy.calls]) == ("gone", [("freeze", {"card": "1"})])


class Typed(pydantic.BaseModel):
    limit: int = 3

    def freeze(self, card: str) -> str:
        return f"{card} {self.limit}"


def test_a_class_with_rules_of_its_own_is_a_toolbox(spy):
    assert spy(Typed)(limit=4).freeze("1") == "1 4"
    assert spy(Typed(limit=5)).freeze("1") == "1 5"
    assert [call[:2] for call in spy.calls] == [("freeze", {"card": "1"})] * 2


# ---- tools that give their result piece by piece ----


def pieces(n):
    """Give pieces; an answer to one comes back as the next."""
    for number in range(n):
        heard = yield {"n": number}
        if heard == "more":
            yield {"n": "more"}
    return "end"


async def later(n):
    for number in range(n):
        await asyncio.sleep(0)
        yield number


def broken(n):
    yield n
    raise LookupError("no more")


async def broken_later(n):
    yield n
    raise LookupError("no more")


async def listed(stream):
    return [piece async for piece in stream]


def test_the_pieces_of_a_generator_are_its_result(spy):
    assert list(spy(pieces)(2)) == [{"n": 0}, {"n": 1}]
    assert asyncio.run(listed(spy(later)(2))) == [0, 1]
    assert spy.calls == [
        ("pieces", {"n": 2}, [{"n": 0}, {"n": 1}], False), ("later", {"n": 2}, [0, 1], False),
    ]  # fmt: skip


def test_what_passes_between_an_agent_and_a_generator_is_not_changed(spy):
    def agent():
        return (yield from spy(pieces)(1))

    stream = agent()
    assert (next(stream), stream.send("more")) == ({"n": 0}, {"n": "more"})
    with pytest.raises(StopIteration) as stop:
        next(stream)
    assert stop.value.value == "end"
    assert spy.calls[0][2] == [{"n": 0}, {"n": "more"}]


def test_an_error_among_the_pieces_is_the_error_of_the_call(spy):
    with pytest.raises(LookupError, match="no more"):
        list(spy(broken)(1))
    with pytest.raises(LookupError, match="no more"):
        asyncio.run(listed(spy(broken_later)(1)))
    assert [call[2:] for call in spy.calls] == [("LookupError: no more", True)] * 2


def test_an_error_that_the_agent_throws_in_is_the_tools_to_take(spy):
    def careful():
        try:
            yield 1
        except KeyError:
            yield 2

    stream = spy(careful)()
    assert (next(stream), stream.throw(KeyError("x")), list(stream)) == (1, 2, [])
    assert spy.calls[0][2:] == ([1, 2], False)


def test_a_generator_that_is_left_early_gave_what_was_taken_as_it_was(spy):
    stream = spy(pieces)(3)
    next(stream)["n"] = "changed later"
    stream.close()

    async def first():
        stream = spy(later)(3)
        async for _ in stream:
            break
        await stream.aclose()

    asyncio.run(first())
    assert [call[2:] for call in spy.calls] == [([{"n": 0}], False), ([0], False)]


def test_a_piece_that_json_has_no_form_for_is_a_result_that_is_not_captured(spy):
    def odd():
        yield {1}

    assert list(spy(odd)()) == [{1}]
    assert spy.recording.events[0].result.is_captured is False
    assert [one.message for one in spy.recording.findings] == ["the result of odd holds a value of type set"]


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
