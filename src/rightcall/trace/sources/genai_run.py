"""From the spans of one run to its conversation: every call once, with what its own span knows about it.

A request to a model repeats everything said before, so calls are taken from its answer alone, and from its input only
what is new: what stands after the answers that are known already. A tool's own span adds times, failure, and arguments
or content where the messages hold none; a tool's span that no message announced is a call of its own.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rightcall.trace import jsontext
from rightcall.trace.model import Call, CalledBy, Message, Result, Role
from rightcall.trace.sources.conversation import Arguments, Conversation, mapping, read_arguments, text_or_none
from rightcall.trace.sources.genai_messages import Said, SaidCall, decoded, messages_of
from rightcall.trace.sources.genai_spans import Request, ToolRun, all_attributes, part_of, request_of, tool_run_of
from rightcall.trace.sources.otlp_values import instant, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.otlp import LogRecord, Span

    _Thread = tuple[str | None, str | None, tuple[str, ...]]


class _Nearest:
    """The nearest span of some kinds that each span lies in, itself among them; every way up is gone once."""

    def __init__(self, kinds: set[str], parents: Mapping[str, Span | None]) -> None:
        self._kinds = kinds
        self._parents = parents
        self._known: dict[str, Span | None] = {}

    def of(self, span: Span | None) -> Span | None:
        """The nearest one of a span."""
        way = []
        while span is not None and span.span_id not in self._known and part_of(span) not in self._kinds:
            way.append(span.span_id)
            span = self._parents.get(span.span_id)
        found = self._known.get(span.span_id, span) if span is not None else None
        self._known.update(dict.fromkeys(way, found))
        return found


class Run:
    """Reads the spans of one run in their order.

    Args:
        spans: the spans, parents before children.
        logs_of: the log records of each span.
        parents: the parent of each span, by id.
    """

    def __init__(
        self, spans: Sequence[Span], logs_of: Mapping[str, Sequence[LogRecord]], parents: Mapping[str, Span | None]
    ) -> None:
        self.talk = Conversation()
        self.earlier = 0
        self.is_cut = False
        self.is_captured = False
        self.failure: str | None = None
        self._is_told_whole = False
        self._spans = spans
        self._logs_of = logs_of
        self._parents = parents
        self._agents = _Nearest({"agent"}, parents)
        self._owners = _Nearest({"agent", "tool"}, parents)
        self._threads: dict[_Thread, int] = {}
        self._runs: dict[int, tuple[ToolRun, Span]] = {}
        self._ids: set[str] = set()
        self._by_id: defaultdict[str, deque[int]] = defaultdict(deque)
        self._by_name: defaultdict[tuple[str, bool], deque[int]] = defaultdict(deque)
        names = {self._agent_name(span) for span in spans if part_of(span) == "agent"}
        self._has_agents = len(names) > 1

    def read(self) -> None:
        """Read all spans."""
        requests = {
            span.span_id: request_of(span, self._logs_of.get(span.span_id, ()))
            for span in self._spans
            if part_of(span) == "request"
        }
        self.is_captured = any(request.is_captured for request in requests.values())
        whole_run = {} if self.is_captured else self._whole_runs()
        for span in self._spans:
            self._check(span)
            if span.span_id in whole_run:
                self._request(span, whole_run[span.span_id], is_whole_run=True)
            elif span.span_id in requests and not whole_run:
                self._request(span, requests[span.span_id])
            elif part_of(span) == "tool":
                self._tool(span)
        self._merge_runs()

    def _check(self, span: Span) -> None:
        path = span.place.path or "$"
        if span.dropped_attributes:
            self._cut(f"{span.dropped_attributes} attributes of the span `{span.name}` were dropped", path)
        for name in span.odd:
            self.talk.note("TRACE_MALFORMED", f"the attribute `{name}` cannot be decoded", path)

    def _cut(self, message: str, path: str) -> None:
        self.is_cut = True
        self.talk.note("TRACE_TRUNCATED", message, path)

    # ---- who ----

    def _agent_name(self, span: Span) -> str | None:
        agent = self._agents.of(span)
        if agent is None:
            return text_or_none(span.attributes.get("gen_ai.agent.name"))
        keys = ("gen_ai.agent.name", "agent_name", "traceloop.entity.name", "ai.telemetry.functionId")
        names = (text_or_none(agent.attributes.get(key)) for key in keys)
        return next((name for name in names if name), None)

    def _speaker(self, span: Span) -> str | None:
        return self._agent_name(span) if self._has_agents else None

    # ---- requests ----

    def _whole_runs(self) -> dict[str, Request]:
        """Of a run whose requests hold no content, what the spans of its agents tell (not of those within one)."""
        found: dict[str, Request] = {}
        for span in self._spans:
            parent = self._parents.get(span.span_id)
            above = self._agents.of(parent)
            if part_of(span) == "agent" and (above is None or above.span_id not in found):
                request = _whole_run(span, self._logs_of.get(span.span_id, ()))
                if request.is_captured:
                    found[span.span_id] = request
        self.is_captured = self._is_told_whole = bool(found)
        return found

    def _request(self, span: Span, request: Request, *, is_whole_run: bool = False) -> None:
        path = span.place.path or "$"
        for key in request.cut:
            self._cut(f"`{key}` cannot be read whole", path)
        agent = self._agents.of(span)
        first = next((said for said in request.inputs if said.role != "system"), None)
        thread = (
            agent.span_id if agent else None,
            first.role if first else None,
            tuple(first.texts) if first else (),
        )
        self._inputs(span, request, thread, path)
        outputs = request.outputs if is_whole_run else self._first_choice(request.outputs, path)
        turn = None
        for said in outputs:
            if said.role in (None, "assistant"):
                if turn is None or is_whole_run:
                    self.talk.turn += 1
                turn = self.talk.turn
                self._said(span, said, "assistant", request, path)
                if said.finish in ("length", "max_tokens"):
                    self._cut("the reply was cut off at its longest length", path)
            else:
                self._new(span, said, request, path)
        answered = sum(said.role == "assistant" for said in request.inputs) + len(outputs)
        self._threads[thread] = answered
        self.failure = (span.status_message or "an error") if span.status == "ERROR" and not outputs else None
        if self.failure:
            self.talk.note("TRACE_INCOMPLETE", f"a request to the model failed: {self.failure}", path)

    def _first_choice(self, outputs: Sequence[Said], path: str) -> Sequence[Said]:
        choices = [said for said in outputs if said.finish is not None]
        if len(choices) < 2:
            return outputs
        self.talk.note("TRACE_INCOMPLETE", f"only the first of {len(choices)} choices is read", path)
        return choices[:1]

    def _inputs(self, span: Span, request: Request, thread: _Thread, path: str) -> None:
        """Read what is new among the messages that a request begins with."""
        is_first = not self._threads
        known = self._threads.get(thread)
        answers = [index for index, said in enumerate(request.inputs) if said.role == "assistant"]
        begin = 0
        if not is_first and answers:
            begin = answers[min(known, len(answers)) - 1 if known else -1] + 1
        for said in request.inputs[begin:]:
            if not is_first and known is None and said.role == "system":
                continue
            if said.role == "assistant":
                self.talk.turn += 1
                self._said(span, said, "assistant", request, path, is_past=True, is_gap=not is_first)
            else:
                self._new(span, said, request, path, tell_orphan=known is not None or is_first)
        if is_first:
            self.earlier = len(self.talk.events)

    def _new(self, span: Span, said: Said, request: Request, path: str, *, tell_orphan: bool = True) -> None:
        """Read one message that is not the model's: a text, or results."""
        for result in said.results:
            content = UNSET if result.content is UNSET else Raw(jsontext.encode(result.content))
            outcome = Result(content_json=content, is_error=result.is_error)
            self.talk.answer(outcome, path, id=result.id, name=result.name, tell_orphan=tell_orphan)
        if said.role in ("system", "user", "assistant") and (said.texts or not said.results):
            self._said(span, said, "system" if said.role == "system" else "user", request, path)
        elif said.role is None:
            self.talk.note("TRACE_MALFORMED", "this is not a message with a known `role`", path)

    def _said(
        self, span: Span, said: Said, role: Role, request: Request, path: str,
        *, is_past: bool = False, is_gap: bool = False,
    ) -> None:  # fmt: skip
        turn = self.talk.turn if role == "assistant" else None
        at = instant(span.end) if role == "assistant" and not is_past else None
        text = "\n".join(said.texts) if said.texts else None
        self.talk.events.append(Message(role=role, text=text, turn=turn, agent=self._speaker(span), at=at))
        if role != "assistant" and text is None and request.is_captured and not said.unknown:
            self.talk.note("TRACE_INCOMPLETE", f"a message of role `{role}` holds nothing that can be read", path)
        for kind in said.unknown:
            self.talk.note("TRACE_INCOMPLETE", f"a part of type `{kind}` is not text and was left out", path)
        for call in said.calls:
            if is_gap and call.id in self._ids:
                continue
            if is_gap:
                text = f"the request that decided to call `{call.name}` was not recorded; a later one repeats it"
                self.talk.note("TRACE_INCOMPLETE", text, path)
            self._call(span, call, turn, is_captured=request.is_captured, path=path)
        if role == "assistant":
            for result in said.results:
                self._new(span, Said(role="tool", results=[result]), request, path)

    def _call(self, span: Span, call: SaidCall, turn: int | None, *, is_captured: bool, path: str) -> None:
        arguments = read_said_arguments(call.arguments, is_captured=is_captured)
        if call.id is not None:
            self._ids.add(call.id)
            self._by_id[call.id].append(len(self.talk.events))
            self._by_name[call.name, False].append(len(self.talk.events))
        else:
            for has_id in (True, False):
                self._by_name[call.name, has_id].append(len(self.talk.events))
        by: CalledBy = "provider" if call.is_provider else "agent"
        made = Call(tool=call.name, id=call.id, turn=turn, by=by, agent=self._speaker(span), **arguments)
        self.talk.call(made, path)

    # ---- tools ----

    def _tool(self, span: Span) -> None:
        run = tool_run_of(span)
        path = span.place.path or "$"
        if run is None:
            self.talk.note("TRACE_MALFORMED", f"the span `{span.name}` names no tool", path)
            return
        if self._is_same_run(span, run.name):
            return
        index = self._announced(run)
        if index is None:
            index = len(self.talk.events)
            self.talk.turn += 1
            call = Call(
                tool=run.name, id=run.id, turn=self.talk.turn, agent=self._speaker(span), **self._own(run, path)
            )
            self.talk.call(call, path)
        self._runs[index] = (run, span)

    def _is_same_run(self, span: Span, name: str) -> bool:
        """Whether a span lies within the run of the same tool (an MCP client within the tool that it serves)."""
        owner = self._owners.of(self._parents.get(span.span_id))
        above = tool_run_of(owner) if owner is not None and part_of(owner) == "tool" else None
        return above is not None and above.name == name

    def _announced(self, run: ToolRun) -> int | None:
        """The call that a tool's span is the run of: the nearest with its id; without ids, the first of its name."""
        places: deque[int] = self._by_id[run.id] if run.id is not None else deque()
        while places:
            index = places.popleft() if self._is_told_whole else places.pop()
            if index not in self._runs:
                return index
        waiting = self._by_name[run.name, run.id is not None]
        while waiting:
            index = waiting.popleft()
            if index not in self._runs and index >= self.earlier:
                return index
        return None

    def _own(self, run: ToolRun, path: str) -> Arguments:
        """The arguments of a call that only its run tells of."""
        arguments = read_run_arguments(run.arguments)
        if run.arguments is UNSET:
            self.talk.note("TRACE_ARGS_MISSING", f"the span of `{run.name}` holds no arguments that are known", path)
        elif arguments.get("arguments_status") == "not_captured":
            self._cut(f"the recorded arguments of `{run.name}` are cut off or no object", path)
        return arguments

    def _merge_runs(self) -> None:
        for index, (run, span) in self._runs.items():
            event = self.talk.events[index]
            if isinstance(event, Call):
                self.talk.events[index] = _merged(event, run, span)
        lost = [e.tool for e in self.talk.events if isinstance(e, Call) and e.arguments_status == "not_captured"]
        if lost:
            self.talk.note("TRACE_NOT_CAPTURED", f"the arguments of {len(lost)} calls were not captured", "$")


def read_said_arguments(value: JsonValue | UnsetType, *, is_captured: bool) -> Arguments:
    """Arguments within a message. Where they are absent, other content tells whether any was captured."""
    if value is UNSET and not is_captured:
        return {"arguments_status": "not_captured"}
    return read_arguments(value)


def read_run_arguments(value: JsonValue | UnsetType) -> Arguments:
    """Arguments on a tool's own span. The tool ran, so it had some: what cannot be read was lost by the recording."""
    found = read_arguments(value)
    if "arguments_json" in found:
        return found
    lost: Arguments = {"arguments_status": "not_captured"}
    if "arguments_raw" in found:
        lost["arguments_raw"] = found["arguments_raw"]
    return lost


def _merged(call: Call, run: ToolRun, span: Span) -> Call:
    """A call with what the span of its run adds."""
    said = call.result
    content = UNSET if run.content is UNSET else Raw(jsontext.encode(run.content))
    is_error: bool | None = True if run.has_failed else None
    if said is not None:
        content = said.content_json if said.is_captured else content
        is_error = said.is_error if is_error is None else is_error
    ran = said is not None or content is not UNSET or run.has_failed or span.end is not None
    result = Result(content_json=content, is_error=is_error, at=instant(span.end)) if ran else None
    changes: dict[str, JsonValue] = {"result": result, "started_at": instant(span.start)}
    if call.arguments_status in ("missing", "not_captured") and run.arguments is not UNSET:
        changes.update(read_run_arguments(run.arguments))
        changes.setdefault("arguments_status", "ok")
    return msgspec.structs.replace(call, **changes)


def _whole_run(span: Span, logs: Sequence[LogRecord]) -> Request:
    """The whole run as an agent's own span tells it; of Pydantic AI's messages, the new ones are the run's."""
    attributes = all_attributes(span, logs)
    messages = messages_of(attributes.get("pydantic_ai.all_messages"))
    if messages:
        new = whole(attributes.get("pydantic_ai.new_message_index"))
        begins = next((index for index, said in enumerate(messages) if said.role == "assistant"), len(messages))
        if new is not None and 0 <= new <= len(messages):
            later = (index for index in range(new, len(messages)) if messages[index].role == "assistant")
            begins = next(later, len(messages))
        return Request(messages[:begins], messages[begins:])
    request = request_of(span, logs)
    if request.inputs or "ai.prompt" not in attributes:
        return request
    prompt = mapping(decoded(attributes["ai.prompt"]))
    system = [{"role": "system", "content": prompt["system"]}] if "system" in prompt else []
    asked = decoded(prompt.get("messages", prompt.get("prompt")))
    said = asked if isinstance(asked, list) else [{"role": "user", "content": asked}]
    return Request(messages_of([*system, *said]) or (), request.outputs)
