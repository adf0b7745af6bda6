"""One trace of OpenInference spans, told as a conversation.

* The calls are those of the models' output messages; a tool's own span gives result, error and time.
* Every model span repeats the history, so only what is new in it is told (`histories.py`). Calls of a history that no
  span of this trace made came before it, and stay context.
* A tool's span is given to its call by id; without one to the calls of the nearest model span before it that has the
  same agent, by order and name. A run that no model's span asked for is a call of its own, with a finding.
* What was cut (dropped attributes, message indexes with gaps) makes the trace incomplete, never a call wrong.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw

from rightcall.trace import jsontext
from rightcall.trace.model import Call, Message, Result
from rightcall.trace.sources.conversation import Conversation
from rightcall.trace.sources.histories import Histories
from rightcall.trace.sources.openinference_attributes import Came, Made, Odd, Part, Said
from rightcall.trace.sources.openinference_tools import arguments_of_run
from rightcall.trace.sources.otlp_values import instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.trace.sources.openinference_steps import Asked, Ran


class Telling:
    """The conversation of one trace while its spans are read in the order of their start."""

    def __init__(self, asked: Sequence[Asked], *, agents: bool) -> None:
        self.talk = Conversation()
        self.earlier = 0
        self._agents = agents
        self._histories = Histories()
        self._system: set[tuple[str | None, str | None]] = set()
        self._noted: set[tuple[str, str]] = set()
        parts = [part for step in asked for part in (*step.inputs, *step.outputs)]
        self._known_ids = {part.id for part in parts if isinstance(part, Made)}
        self._latest: dict[str, dict[str, deque[int]]] = {}
        self._early: dict[str, list[Ran]] = {}
        self._unshown: dict[tuple[str, str | None], list[int]] = {}
        self._shown: set[int] = set()
        self._begun = False
        self._has_calls = any(isinstance(part, Made) for step in asked for part in step.outputs)
        self._has_replies = any(step.answered for step in asked)

    # ---- models ----

    def asked(self, step: Asked) -> None:
        """Tell what one model was given that is new, and what it answered."""
        for odd in step.odd:
            self._odd(step, odd)
        for part in step.inputs:
            if isinstance(part, Said) and part.role == "system":
                self._system_prompt(step, part)
        parts = [part for part in step.inputs if not (isinstance(part, Said) and part.role == "system")]
        known = self._histories.request([part.key for part in parts])
        new = parts[known:]
        if known == 0:
            new = self._before(step, new)
        for part in new:
            self._heard(step, part)
        self._begun = True
        self._histories.reply([part.key for part in step.outputs])
        if step.outputs or step.answered:
            self._replied(step)

    def _system_prompt(self, step: Asked, part: Said) -> None:
        if (step.agent, part.text) not in self._system:
            self._system.add((step.agent, part.text))
            self.talk.events.append(Message(role="system", text=part.text, agent=self._agent(step)))

    def _before(self, step: Asked, parts: list[Part]) -> list[Part]:
        """Of a history that begins here, what is not told yet; calls from before this trace are told as context."""
        own = self._first_own(parts)
        calls = [index for index in range(own) if isinstance(parts[index], Made)]
        if not calls:
            return parts
        if not self._begun and not any(isinstance(event, Call) for event in self.talk.events):
            for part in parts[:own]:
                self._heard(step, part, earlier=True)
            self.earlier = len(self.talk.events)
            return parts[own:]
        text = f"{len(calls)} calls in the history of an agent are of no span of this trace and were left out"
        self.talk.note("TRACE_INCOMPLETE", text, step.path)
        cut = calls[-1] + 1
        while cut < own and isinstance(parts[cut], Came):
            cut += 1
        return parts[cut:]

    def _first_own(self, parts: list[Part]) -> int:
        """Where the last calls of a history begin of which this trace has seen a run already."""
        used: Counter[str] = Counter()
        first = len(parts)
        for index in reversed(range(len(parts))):
            part = parts[index]
            if isinstance(part, Made):
                if part.id is None or used[part.id] == len(self._early.get(part.id, ())):
                    break
                used[part.id] += 1
                first = index
        return first

    def _heard(self, step: Asked, part: Part, *, earlier: bool = False) -> None:
        """Tell one part of a history."""
        if isinstance(part, Came):
            self._came(step, part)
        elif isinstance(part, Said):
            turn = self._next_turn() if part.role == "assistant" else None
            self.talk.events.append(Message(role=part.role, text=part.text, turn=turn, agent=self._agent(step)))
        else:
            if not earlier and part.id not in self._early:
                text = f"the call of `{part.name}` is only known from a later history: its own span was not recorded"
                self.talk.note("TRACE_INCOMPLETE", text, f"{step.path}.{part.path}")
            self._call(step, part, self.talk.turn if self._in_turn() else self._next_turn(), earlier=earlier)

    def _in_turn(self) -> bool:
        """Whether the last event is of the last turn, so that a call that follows is a parallel one."""
        last = self.talk.events[-1] if self.talk.events else None
        return last is not None and last.turn == self.talk.turn and (isinstance(last, Message) or last.result is None)

    def _replied(self, step: Asked) -> None:
        turn = self._next_turn()
        texts = [part.text for part in step.outputs if isinstance(part, Said)]
        agent, said = self._agent(step), instant(step.span.end)
        self._latest[step.scope] = {}
        for text in texts or [None]:
            self.talk.events.append(Message(role="assistant", text=text, turn=turn, at=said, agent=agent))
        for part in step.outputs:
            if isinstance(part, Made):
                self._call(step, part, turn)

    def _call(self, step: Asked, made: Made, turn: int, *, earlier: bool = False) -> None:
        index = len(self.talk.events)
        call = Call(tool=made.name, id=made.id, turn=turn, agent=self._agent(step), **made.arguments)
        self.talk.call(call, f"{step.path}.{made.path}")
        self._latest.setdefault(step.scope, {}).setdefault(made.name, deque()).append(index)
        waiting = self._early.get(made.id) if made.id is not None and not earlier else None
        if waiting:
            self._settle(waiting.pop(0), made.id)

    def _next_turn(self) -> int:
        self.talk.turn += 1
        return self.talk.turn

    def _agent(self, step: Asked | Ran) -> str | None:
        return step.agent if self._agents else None

    def _odd(self, step: Asked, odd: Odd) -> None:
        """Note what could not be read, once though every later history repeats it."""
        if (odd.path, odd.message) not in self._noted:
            self._noted.add((odd.path, odd.message))
            self.talk.note(odd.code, odd.message, f"{step.path}.{odd.path}")

    # ---- results ----

    def _came(self, step: Asked, part: Came) -> None:
        """A result as the model was shown it: new, or the content of what a tool's span has told."""
        raw = UNSET if part.content is UNSET else Raw(jsontext.encode(part.content))
        index = self._next_unshown(part)
        if index is None:
            self.talk.answer(Result(content_json=raw), f"{step.path}.{part.path}", id=part.id, name=part.name)
            return
        self._shown.add(index)
        call = self.talk.events[index]
        if raw is not UNSET and isinstance(call, Call) and call.result is not None:
            result = msgspec.structs.replace(call.result, content_json=raw)
            self.talk.events[index] = msgspec.structs.replace(call, result=result)

    def ran(self, run: Ran) -> None:
        """Give the run of a tool to its call."""
        id_ = run.outcome.id
        if id_ is not None and id_ in self._known_ids and not self.talk.knows_id(id_):
            self._early.setdefault(id_, []).append(run)
        elif not self._settle(run, id_) if id_ is not None else not self._settle_by_name(run):
            self._unasked(run)

    def rest(self) -> None:
        """Tell the runs whose call did not come."""
        for runs in self._early.values():
            for run in runs:
                self._unasked(run)

    def _settle_by_name(self, run: Ran) -> bool:
        """Give a run without an id to the first unanswered call of its name in the last reply to its agent.

        Where no model of its agent was recorded, the last turn that has such a call is as near as it gets.
        """
        if run.scope not in self._latest:
            return self._settle(run, None)
        places = self._latest[run.scope].get(run.name, deque())
        while places and self._is_answered(places[0]):
            places.popleft()
        call = self.talk.events[places[0]] if places else None
        return isinstance(call, Call) and self._settle(run, call.id)

    def _is_answered(self, index: int) -> bool:
        call = self.talk.events[index]
        return not isinstance(call, Call) or call.result is not None

    def _settle(self, run: Ran, id_: str | None) -> bool:
        """Answer the call of a run, and remember it for the message that shows the result to the model."""
        result = Result(content_json=run.outcome.content, is_error=run.outcome.is_error, at=instant(run.span.end))
        index = self.talk.answer(result, run.path, id=id_, name=run.name, tell_orphan=False)
        call = self.talk.events[index] if index is not None else None
        if index is None or not isinstance(call, Call):
            return False
        self.talk.events[index] = msgspec.structs.replace(call, started_at=instant(run.span.start))
        for key in (("id", call.id), ("name", call.tool), ("name", None)):
            self._unshown.setdefault(key, []).append(index)
        return True

    def _next_unshown(self, part: Came) -> int | None:
        """The call whose result a tool's span has told and no message has shown yet: by id, else the last by name."""
        places = self._unshown.get(("id", part.id) if part.id is not None else ("name", part.name), [])
        while places and places[-1] in self._shown:
            places.pop()
        return places[-1] if places else None

    def _unasked(self, run: Ran) -> None:
        """A run that no model's span has asked for: a call of its own, unless it is a part of another tool's run."""
        if run.within_tool or (self._has_calls and not run.is_named):
            text = f"the tool span `{run.span.name}` belongs to no call that a model made"
            self.talk.note("TRACE_ORPHAN_RESULT", text, run.path)
            return
        if self._has_replies:
            text = f"no recorded span of a model asked for this run of `{run.name}`; it is read as a call"
            self.talk.note("TRACE_INCOMPLETE", text, run.path)
        turn, arguments = self._next_turn(), arguments_of_run(run.node)
        call = Call(tool=run.name, id=run.outcome.id, turn=turn, agent=self._agent(run), **arguments)
        self.talk.call(call, run.path)
        self._settle(run, call.id)
