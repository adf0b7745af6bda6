"""The fixture's object: running an agent, and taking what was recorded elsewhere."""

import asyncio
import json

import pytest

from rightcall import ConfigError, RightcallError, Trace, TraceError, call
from rightcall.plugin import RecordedTrace, Undecided

LOST = {"id": "lost", "request": "I lost card 4242", "expect": {"calls": [{"tool": "freeze"}]}}


def freeze(card):
    return {"status": "frozen"}


def entry(request, recorder):
    recorder.tool(freeze)(request.split()[-1])
    recorder.say("It is frozen.")
    return "Anything else?"


async def entry_async(request, recorder):
    await asyncio.sleep(0)
    return entry(request, recorder)


# ---- run -------------------------------------------------------------------------------------------------------------


def test_a_run_is_recorded_from_the_request_to_the_last_word(agent):
    recorded = agent(entry).run("block 4242")
    assert isinstance(recorded, RecordedTrace)
    trace = recorded.trace
    assert [type(event).__name__ for event in trace.events] == ["Message", "Call", "Message", "Message"]
    assert (trace.request, recorded.text, trace.completed) == ("block 4242", "Anything else?", True)
    assert trace.calls[0].arguments == {"card": "4242"}
    assert trace.calls[0].result.content == {"status": "frozen"}
    assert trace.id == "test_desk.py::test_card"
    assert trace.metadata == {"pytest": {"test": "test_desk.py::test_card"}}


def test_without_a_request_the_case_says_what_to_ask(agent):
    trace = agent(entry, case=LOST).run().trace
    assert (trace.request, trace.case_id) == ("I lost card 4242", "lost")
    with pytest.raises(ConfigError, match="there is nothing to ask"):
        agent(entry).run()


def test_an_agent_may_be_async_in_a_test_that_is_not(agent):
    assert agent(entry_async).run("block 4242").text == "Anything else?"


def test_an_async_test_awaits_the_run(agent):
    made = agent(entry_async)
    assert asyncio.run(made.run_async("block 4242")).text == "Anything else?"
    assert asyncio.run(agent(entry).run_async("block 4242")).text == "Anything else?"


def test_where_a_loop_is_running_run_says_what_to_write(agent):
    made = agent(entry_async)

    async def test():
        made.run("block 4242")

    with pytest.raises(ConfigError, match=r"await rightcall_agent\.run_async"):
        asyncio.run(test())
    assert made._state.said == []


def test_a_second_run_is_a_second_trace(agent):
    made = agent(entry)
    assert len(made.run("a 1").calls) == len(made.run("b 2").calls) == 1
    assert [said.trace.id for said in made._state.said] == ["test_desk.py::test_card", "test_desk.py::test_card#2"]


def test_a_repeated_test_numbers_its_traces(agent):
    made = agent(entry, trial=2, repeats=3)
    assert (made.trial, made.run("a 1").trace.trial) == (2, 2)
    assert agent(entry).run("a 1").trace.trial is None


def test_what_an_agent_did_before_it_broke_is_kept(agent):
    def broken(request, recorder):
        entry(request, recorder)
        raise LookupError("no such card")

    made = agent(broken, case=LOST)
    with pytest.raises(LookupError):
        made.run()
    (said,) = made._state.said
    assert (said.trace.completed, [one.tool for one in said.trace.calls]) == (False, ["freeze"])


def test_without_an_entry_one_error_shows_the_lines_to_write(agent):
    with pytest.raises(Undecided) as caught:
        agent().run("block 4242")
    lines = str(caught.value).splitlines()
    assert lines[0] == "rightcall does not know how to call your agent. Say it once, in conftest.py:"
    assert "    def rightcall_entry():" in lines


def test_the_lines_of_that_error_are_python():
    from rightcall.plugin.agent import NO_ENTRY

    lines = NO_ENTRY.splitlines()
    code = "\n".join(line.removeprefix("    ") for line in lines[1:] if line.startswith("    ") or not line)
    compile(code, "conftest.py", "exec")


def test_an_entry_that_is_no_function_is_named(agent):
    with pytest.raises(ConfigError, match="must give a function, not 'agent'"):
        agent("agent").run("a 1")


@pytest.mark.parametrize(
    "said",
    [
        [
            {"role": "user", "content": "block 4242"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "freeze", "arguments": '{"card": "4242"}'}}]},
            {"role": "tool", "tool_call_id": "a", "content": "frozen"},
        ],
        Trace(id="own", events=(call("freeze", {"card": "4242"}),)),
        {"id": "x", "calls": [{"tool": "freeze", "arguments": {"card": "4242"}}]},
    ],
)  # fmt: skip
def test_an_agent_may_return_its_messages_or_a_trace(agent, said):
    trace = agent(lambda request, recorder: said, case=LOST).run()
    trace.should_call("freeze", card="4242").once()
    assert trace.trace.case_id == "lost"


def test_a_run_that_was_recorded_twice_is_refused(agent):
    def both(request, recorder):
        entry(request, recorder)
        return [{"role": "assistant", "content": "done"}]

    with pytest.raises(ConfigError, match="recorded twice"):
        agent(both).run("a 1")


@pytest.mark.parametrize("said", [3, object(), [object()]])
def test_what_is_no_recording_is_refused(agent, said):
    with pytest.raises(RightcallError):
        agent(lambda request, recorder: said).run("a 1")


# ---- recorded, record ------------------------------------------------------------------------------------------------


def test_a_test_may_call_its_agent_itself(agent):
    made = agent(case=LOST)
    made.tool(freeze)("1")
    first = made.recorded(reply="Done.")
    assert (len(first.calls), first.text, first.trace.completed) == (1, "Done.", None)
    assert made.recorded().calls == ()


def test_a_decorator_names_a_tool(agent):
    made = agent()

    @made.tool("freeze_card")
    def anything(card):
        return card

    anything("1")
    made.recorded().should_call("freeze_card", card="1")


def test_a_place_that_was_not_captured_is_that_of_the_trace(agent):
    made = agent()
    made.tool(freeze)(object())
    trace = made.recorded(request="block").trace
    assert trace.findings[0].path == "$.events[1].arguments"


def test_a_file_is_read_by_the_reader_of_its_dialect(agent, tmp_path):
    path = tmp_path / "traces.jsonl"
    lines = [{"id": name, "case_id": name, "calls": [{"tool": name}]} for name in ("lost", "found")]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert agent(case=LOST).record(path).trace.id == "lost"
    assert agent().record(str(path), trace_id="found").calls[0].tool == "found"
    with pytest.raises(TraceError, match="there are 2 traces"):
        agent().record(path)
    with pytest.raises(TraceError, match="there are 0 traces `gone`"):
        agent().record(path, trace_id="gone")


def test_the_trace_of_another_case_is_refused(agent):
    with pytest.raises(ConfigError, match="belongs to the case `other`, and the test to `lost`"):
        agent(case=LOST).record(Trace(id="t", case_id="other", events=(call("a", {}),)))


def test_an_unknown_dialect_is_named(agent):
    with pytest.raises(ConfigError, match="did you mean `openai_chat`"):
        agent().record([{"role": "user", "content": "a"}], dialect="openai_chats")


def test_a_record_that_cannot_be_read_is_an_error_and_no_shorter_trace(agent):
    good = {"messages": [{"role": "user", "content": "a"}]}
    with pytest.raises(TraceError, match="1 of 2 records could not be read"):
        agent().record([good, {"messages": "none"}], dialect="openai_chat")
