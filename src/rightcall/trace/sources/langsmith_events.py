"""From the runs of one LangSmith trace to events: what was said, what was called, what came back.

* Calls are the decisions of LLM runs, taken from their outputs: their inputs repeat every earlier call. Where no LLM
  run of a trace made a call that can be read, the tool runs are the calls.
* Results and errors come from tool runs, by `tool_call_id`, else by name and equal arguments; for a call without a tool
  run, from the tool message that a later LLM run was given. Of a failed tool run, what the model was told in such a
  message is the content, not the exception.
* What an LLM run was given is added as far as it is new. What the first one was given up to its last assistant message
  or result was said in an earlier trace of the same thread: it is history.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw

from rightcall.trace import jsontext
from rightcall.trace.model import Call, Result
from rightcall.trace.sources.conversation import Arguments, mapping, read_arguments, text_or_none, written_id
from rightcall.trace.sources.langchain_calls import decisions
from rightcall.trace.sources.langchain_messages import (
    Talk,
    Unpacked,
    note_cut_off,
    read_message,
    read_reply,
    read_said,
    result_of,
    unpack,
)
from rightcall.trace.sources.langsmith_literals import error_message, python_object
from rightcall.trace.sources.langsmith_replies import Reply, reply_of, request_of
from rightcall.trace.sources.langsmith_runs import KINDS, surroundings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.langsmith_runs import Family, Run

    _Object = Mapping[str, JsonValue]

_FINISHED_EARLY = {"length", "max_tokens", "MAX_TOKENS"}


class Reader:
    """Reads the runs of one trace into a `Talk`."""

    def __init__(self, family: Family) -> None:
        self.talk = Talk()
        self.history: list[JsonValue] = []
        self._root = family.root
        self._around = surroundings(family.runs)
        self._seen: Counter[bytes] = Counter()
        self._llms = [run for run in family.runs if run.kind == "llm" and not self._around[run.id].llm]
        self._replies = {run.id: reply_of(run.outputs, f"{run.path}.outputs") for run in self._llms}
        found = [reply.message for reply in self._replies.values() if reply is not None]
        self._models_call = any(next(decisions(message.body, message.path), None) is not None for message in found)
        self._hides_inputs = any(run.inputs == {} and "inputs" in run.row for run in self._llms)
        self._texts: list[Run] = []
        self._failed: dict[str, int] = {}
        self._began = False

    def read(self, runs: list[Run]) -> None:
        """Read every run in order."""
        offered: set[bytes] = set()
        for run in self._llms:
            tools = _tools_of(run)
            key = jsontext.encode(tools)
            if key not in offered:
                self.talk.offer(tools, f"{run.path}.extra.invocation_params.tools")
            offered.add(key)
        requests = [request_of(run.inputs, f"{run.path}.inputs") for run in self._llms]
        if not any(request is not None and request.messages for request in requests):
            self._add_new(_given(self._root, "inputs"))
        kinds = Counter(run.kind for run in runs if run.kind not in KINDS)
        for kind, count in kinds.items():
            self.talk.note("TRACE_INCOMPLETE", f"{count} runs of the unknown type `{kind}` were left out", "$")
        own = {run.id for run in self._llms}
        for run in runs:
            if run.id in own:
                self._read_llm(run)
            elif run.kind == "tool":
                self._read_tool(run)
        self._add_new([found for found in _given(self._root, "outputs") if found.kind not in ("ai", "system")])
        self._tell_texts()

    def read_root(self) -> None:
        """Read the messages that the root run gave back, where the export holds no run that says more.

        What stands before the last message that the root was given was said in an earlier trace.
        """
        self.talk.note("TRACE_INCOMPLETE", "only the root run is in the export: its messages are read", self._root.path)
        asked, said = _given(self._root, "inputs"), _given(self._root, "outputs")
        keys = [_key(found) for found in said]
        last = _key(asked[-1]) if asked else None
        start = next((index for index in range(len(said) - 1, -1, -1) if keys[index] == last), None)
        if start is None:
            said = [*asked, *said]
        elif any(found.kind == "ai" for found in said[:start]):
            self._remember(said[:start])
            said = said[start:]
        for found in said:
            read_message(self.talk, {"type": found.kind, "data": found.body}, found.path)

    # ---- LLM runs ----

    def _read_llm(self, run: Run) -> None:
        request = request_of(run.inputs, f"{run.path}.inputs")
        if request is None and run.inputs:
            self.talk.note("TRACE_INCOMPLETE", f"the inputs of `{run.name}` have no known shape", f"{run.path}.inputs")
        elif request is not None:
            if request.is_text:
                self._texts.append(run)
            if request.others:
                self.talk.note("TRACE_INCOMPLETE", f"only the first of {request.others + 1} prompts is read", run.path)
            self._take_in(request.messages, run)
        reply = self._replies[run.id]
        if reply is not None:
            self._add_reply(run, reply)
        elif run.error is not None:
            self.talk.note("TRACE_INCOMPLETE", f"the LLM run `{run.name}` failed: {run.error[:200]}", run.path)
        elif run.outputs:
            self.talk.note("TRACE_INCOMPLETE", f"the outputs of `{run.name}` have no known shape", run.path)
        elif run.ended:
            self.talk.note("TRACE_NOT_CAPTURED", f"the outputs of `{run.name}` were not recorded", run.path)

    def _take_in(self, messages: list[Unpacked], run: Run) -> None:
        """Add what is new in a request; what stands before the first request's own part is history."""
        new = self._unseen(messages)
        if not self._began and messages:
            self._began = True
            spoken = [index for index, found in enumerate(messages) if found.kind in ("ai", "tool", "function")]
            if spoken:
                self._remember(messages[: spoken[-1] + 1])
                old = set(map(id, messages[: spoken[-1] + 1]))
                new = [found for found in new if id(found) not in old]
        for found in new:
            if found.kind == "ai":
                self._tell_unknown_calls(found, run)
        self._add(new)

    def _remember(self, messages: list[Unpacked]) -> None:
        earlier = Talk()
        for found in messages:
            read_message(earlier, {"type": found.kind, "data": found.body}, found.path)
        self.history = jsontext.decode(jsontext.encode(earlier.events))

    def _tell_unknown_calls(self, found: Unpacked, run: Run) -> None:
        for call in decisions(found.body, found.path):
            if call.id is not None and not self.talk.knows_id(call.id):
                note = f"`{run.name}` was given a call of `{call.name}` that no run of the export made"
                self.talk.note("TRACE_INCOMPLETE", note, call.path)

    def _unseen(self, messages: list[Unpacked]) -> list[Unpacked]:
        """The messages that were given more often than ever before in one request."""
        here: Counter[bytes] = Counter()
        new = []
        for found in messages:
            key = _key(found)
            here[key] += 1
            if here[key] > self._seen[key]:
                new.append(found)
        self._seen |= here
        return new

    def _add_new(self, messages: list[Unpacked]) -> None:
        self._add(self._unseen(messages))

    def _add(self, messages: list[Unpacked]) -> None:
        for found in messages:
            if found.kind in ("tool", "function"):
                self._hand_in(found)
            elif found.kind in ("human", "system"):
                read_said(self.talk, found)
            elif found.kind == "unknown":
                kind = found.body.get("type", found.body.get("role"))
                self.talk.note("TRACE_INCOMPLETE", f"a message of type `{kind}` was left out", found.path)

    def _hand_in(self, found: Unpacked) -> None:
        """Give a tool message to a call that no tool run has answered."""
        id_, name = written_id(found.body.get("tool_call_id")), text_or_none(found.body.get("name"))
        if id_ is None and name is None:
            return
        if id_ is not None and id_ in self._failed:
            self._tell_failure(self._failed.pop(id_), found)
            return
        self.talk.answer(result_of(found.body), found.path, id=id_, name=name, tell_orphan=False)

    def _tell_failure(self, index: int, found: Unpacked) -> None:
        """Replace the exception of a failed tool run by what the model was told of it."""
        call, told = self.talk.events[index], result_of(found.body).content_json
        if isinstance(call, Call) and call.result is not None and told is not UNSET:
            result = msgspec.structs.replace(call.result, content_json=told)
            self.talk.events[index] = msgspec.structs.replace(call, result=result)

    def _add_reply(self, run: Run, reply: Reply) -> None:
        if reply.others > 0:
            self.talk.note("TRACE_INCOMPLETE", f"only the first of {reply.others + 1} candidates is read", run.path)
        read_reply(self.talk, reply.message, self._agent(run), run.end)
        if reply.finish in _FINISHED_EARLY and not self.talk.cut_off:
            note_cut_off(self.talk, reply.message.path)

    def _agent(self, run: Run) -> str | None:
        """Who decided: what the tracer says, else the tool inside which an agent of its own is at work."""
        return text_or_none(run.metadata.get("lc_agent_name")) or self._around[run.id].tool

    # ---- tool runs ----

    def _read_tool(self, run: Run) -> None:
        output = unpack(run.outputs.get("output"), f"{run.path}.outputs.output") or unpack(run.outputs)
        message = output if output is not None and output.kind == "tool" else None
        id_, result = _call_id(run, message), _result(run, message)
        if message is not None and message.body.get("artifact") is not None:
            self.talk.artifacts.append({"call": id_, "tool": run.name, "value": message.body["artifact"]})
        if not self._models_call:
            self._add_call(run, id_, result)
        elif result is None:
            self._begin(run, id_)
        elif not self._answered(run, id_, result):
            self._tell_unasked(run, id_, result)

    def _begin(self, run: Run, id_: str | None) -> None:
        """A tool run that did not end leaves its call unanswered."""
        self.talk.note("TRACE_INCOMPLETE", f"the tool run `{run.name}` did not end", run.path)
        if id_ is not None and not self.talk.knows_id(id_):
            self._add_call(run, id_, None)

    def _answered(self, run: Run, id_: str | None, result: Result) -> bool:
        index = None
        if id_ is None:
            index = self.talk.answer_alike(result, run.name, self._arguments(run))
        if index is None:
            index = self.talk.answer(result, run.path, id=id_, name=run.name, tell_orphan=False)
        if index is None:
            return False
        call = self.talk.events[index]
        if isinstance(call, Call):
            self.talk.events[index] = msgspec.structs.replace(call, started_at=run.start or call.started_at)
        if run.error is not None and id_ is not None:
            self._failed[id_] = index
        return True

    def _tell_unasked(self, run: Run, id_: str | None, result: Result) -> None:
        """A tool run that answers no call: run again, called by an LLM run that is not here, or by the program."""
        if id_ is not None and self.talk.knows_id(id_):
            self.talk.note("TRACE_DUPLICATE_ID", f"`{run.name}` ran again for the call `{id_}`", run.path)
        elif id_ is not None:
            self._add_call(run, id_, result)
            note = f"the LLM run that called `{run.name}` is not in the export"
            self.talk.note("TRACE_INCOMPLETE", note, run.path)
        else:
            note = f"no LLM run called `{run.name}`: the program ran it by itself"
            self.talk.note("TRACE_ORPHAN_RESULT", note, run.path)

    def _add_call(self, run: Run, id_: str | None, result: Result | None) -> None:
        if not run.name:
            self.talk.note("TRACE_MALFORMED", "a tool run without a name", run.path)
            return
        call = Call(
            tool=run.name, id=id_, result=result, started_at=run.start, agent=self._agent(run), **self._arguments(run)
        )
        if call.arguments_status == "not_captured":
            self.talk.note("TRACE_NOT_CAPTURED", f"the arguments of `{run.name}` were hidden", run.path)
        self.talk.call(call, run.path)

    def _arguments(self, run: Run) -> Arguments:
        """A tool run's arguments: an object, or one text that may hold it as JSON or as Python writes it."""
        value = run.row.get("inputs", UNSET)
        if value == {} and self._hides_inputs:
            return {"arguments_status": "not_captured"}
        asked = run.inputs.get("args")
        if run.inputs.get("type") == "tool_call" and "id" in run.inputs:
            return read_arguments(asked)
        text = run.inputs.get("input")
        if len(run.inputs) != 1 or not isinstance(text, str) or self._takes_input(run.name):
            return read_arguments(value)
        found = read_arguments(python_object(text)) if text else {}
        if found.get("arguments_json") is not None:
            return found
        return {"arguments_status": "not_object", "arguments_raw": text}

    def _takes_input(self, name: str) -> bool:
        """Whether a tool's own parameter is called `input`."""
        tool = self.talk.tools.get(name)
        return tool is not None and "input" in mapping((tool.parameters or {}).get("properties"))

    def _tell_texts(self) -> None:
        if self._texts:
            note = f"{len(self._texts)} LLM runs were given text instead of messages: what was said in it is lost"
            self.talk.note("TRACE_INCOMPLETE", note, f"{self._texts[0].path}.inputs.prompts")


def _key(found: Unpacked) -> bytes:
    """What makes two messages the same one, in whatever way they are dumped."""
    return jsontext.encode([found.kind, found.body.get("content"), found.body.get("tool_call_id")])


def _call_id(run: Run, message: Unpacked | None) -> str | None:
    inside = message.body.get("tool_call_id") if message is not None else None
    asked = run.inputs.get("id") if run.inputs.get("type") == "tool_call" else None
    return next((id_ for value in (run.extra.get("tool_call_id"), inside, asked) if (id_ := written_id(value))), None)


def _result(run: Run, message: Unpacked | None) -> Result | None:
    """What a tool run gave back; `None` where it did not end."""
    if run.error is not None:
        return Result(content_json=Raw(jsontext.encode(error_message(run.error))), is_error=True, at=run.end)
    if message is not None:
        result = result_of(message.body)
        failed = result.is_error if result.is_error is not None else False
        return msgspec.structs.replace(result, is_error=failed, at=run.end)
    if not run.ended:
        return None
    value = run.row.get("outputs", UNSET)
    if isinstance(value, dict) and len(value) == 1 and "output" in value:
        value = value["output"]
    hidden = value is UNSET or value is None or value == {}
    return Result(content_json=UNSET if hidden else Raw(jsontext.encode(value)), is_error=False, at=run.end)


def _tools_of(run: Run) -> JsonValue:
    """The tools that an LLM run was offered."""
    asked = mapping(run.extra.get("invocation_params"))
    for source in (asked, run.inputs, mapping(asked.get("extra_body"))):
        for key in ("tools", "functions"):
            if isinstance(source.get(key), list) and source[key]:
                return source[key]
    return None


def _given(run: Run, side: str) -> list[Unpacked]:
    """The messages that a run took in or gave back; a lone text of its inputs is what somebody asked."""
    value = mapping(run.row.get(side))
    request = request_of(value, f"{run.path}.{side}") if run.kind != "llm" else None
    if request is not None and request.messages:
        return request.messages
    texts = [text for text in value.values() if isinstance(text, str)]
    if side == "inputs" and len(value) == 1 and texts and run.kind == "chain":
        return [Unpacked("human", {"content": texts[0]}, f"{run.path}.{side}")]
    return []
