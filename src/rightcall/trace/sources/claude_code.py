"""Claude Code's session files: JSON Lines `{type, uuid, parentUuid, sessionId, isSidechain, message}`.

* All lines of one `sessionId`, also of several files read together, are one trace.
* One message of the API is split over several lines with one `message.id`: one turn. A result may stand before the line
  of its call.
* Lines that stand twice are read once. What belongs to a branch that was edited or asked for again is left out, and a
  finding tells how much.
* Lines of sub-agents (`isSidechain`) are kept with `agent: sidechain…`, directly after the call that started them.
* A result's `is_error` is kept as written. It is also true where a person refused the call: where the program's own
  words tell that, a label `user_rejected` says so.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rightcall.trace.model import Agent, Call, Event, Label, Message, Trace, TraceFinding
from rightcall.trace.sources import anthropic
from rightcall.trace.sources.claude_code_lines import Line, abandoned, in_order, line_of, without_copies
from rightcall.trace.sources.conversation import Conversation, first_request, mapping, text_or_none
from rightcall.trace.sources.dialect import Dialect, Skip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record

    _Object = Mapping[str, JsonValue]

_SAID = {"user", "assistant"}
_TOLD = {"attachment"}
"""Lines that the model may have seen, which hold no message: counted as left out."""
_SILENT = {
    "agent-name", "agent-setting", "ai-title", "custom-title", "file-history-snapshot", "last-prompt", "mode",
    "permission-mode", "pr-link", "progress", "queue-operation", "summary", "system", "tag", "worktree-state",
}  # fmt: skip
"""Lines of bookkeeping."""
_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
)
_WRAPPED = ("<command-", "<local-command-", "<bash-", "Caveat: The messages below", "<system-reminder>")
"""How texts begin that the program writes in the user's name."""


# ---- recognition ---------------------------------------------------------------------------------------------------


def detect(value: JsonValue) -> bool:
    """Whether a record is a line of a session: linked by ids, or bookkeeping that names its session or message."""
    line = mapping(value)
    kind = line.get("type")
    if not isinstance(kind, str) or "payload" in line or "id" in line:
        return False
    if "parentUuid" in line and isinstance(line.get("uuid"), str):
        return kind not in _SAID or isinstance(line.get("message"), dict)
    if isinstance(line.get("sessionId"), str):
        return kind in _SILENT or isinstance(line.get("version"), str)
    return (kind == "summary" and "leafUuid" in line) or (kind == "file-history-snapshot" and "snapshot" in line)


# ---- sessions ------------------------------------------------------------------------------------------------------


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read a single line as if it were the file."""
    for item, _ in grouped([(value, place)]):
        yield item


def grouped(records: Iterable[Record]) -> Iterator[tuple[Trace | Skip, Place]]:
    """Read all lines of one file or of several: one trace a session."""
    sessions: dict[str, list[Line]] = {}
    homeless: list[Line] = []
    last: dict[str | None, str] = {}
    for value, place in records:
        line = line_of(value, place)
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            yield Skip("TRACE_MALFORMED", "this is not a line of a session: it has no `type`", place), place
            continue
        session = text_or_none(line.value.get("sessionId")) or last.get(place.file)
        if session is None and line.kind in _SAID:
            session = f"{place.file or 'session'}"
        if session is None:
            homeless.append(line)
        else:
            last[place.file] = session
            sessions.setdefault(session, []).append(line)
    for session, lines in sessions.items():
        yield _session(session, lines), lines[0].place
    for line in homeless:
        if line.place.file not in last:
            yield Skip("TRACE_INCOMPLETE", f"no message: a line of type `{line.kind}` alone", line.place), line.place


class _Strand(NamedTuple):
    """What was said and called by the main agent, or by one sub-agent."""

    agent: str | None
    events: list[Event]
    at: str | None


def _session(session: str, lines: Sequence[Line]) -> Trace | Skip:
    kept, again, differing = without_copies(lines)
    said = [line for line in kept if line.kind in _SAID]
    if not said:
        kinds = ", ".join(sorted({f"`{line.kind}`" for line in kept}))
        return Skip(
            "TRACE_INCOMPLETE", f"no message of this session is here: only lines of type {kinds}", lines[0].place
        )
    findings: list[TraceFinding] = []
    _tell_copies(findings, again, differing)
    gone = abandoned(kept)
    _tell_abandoned(findings, [kept[index] for index in sorted(gone)])
    live = [line for index, line in enumerate(kept) if index not in gone]
    strands, labels = _strands(live, findings)
    _tell_missing(findings, kept)
    _tell_kinds(findings, live)
    events = _numbered(_woven(strands, _starts(live)))
    if not events:
        why = "only results are here, and their calls are not" if any(map(_answers, said)) else "none could be read"
        return Skip("TRACE_INCOMPLETE", f"no message or call: {why}", said[0].place)
    main = [line for line in said if line.value.get("isSidechain") is not True]
    first = (main or said)[0].value
    models = (text_or_none(line.message.get("model")) for line in main or said)
    return Trace(
        id=session if main else f"{session}/{_agent(said[0]) or 'sidechain'}",
        request=_request(main or said) or first_request(events),
        agent=Agent(
            name="claude-code",
            version=text_or_none(first.get("version")),
            model=next((model for model in models if model and model != "<synthetic>"), None),
        ),
        events=events,
        completed=False if any(finding.code == "TRACE_TRUNCATED" for finding in findings) else None,
        findings=tuple(findings),
        labels=tuple(labels),
        metadata={"session": session},
    )


def _answers(line: Line) -> bool:
    return bool(line.blocks("tool_result"))


def _request(lines: Sequence[Line]) -> str | None:
    """The first thing that a person has said."""
    for line in lines:
        if line.is_prompt and line.value.get("isCompactSummary") is not True:
            talk = Conversation()
            anthropic.read_message(talk, line.message, line.path)
            text = first_request(talk.events)
            if text is not None and not text.lstrip().startswith(_WRAPPED):
                return text
    return None


def _agent(line: Line) -> str | None:
    return text_or_none(line.value.get("agentId"))


# ---- strands: the main agent and its sub-agents --------------------------------------------------------------------


def _strands(lines: Sequence[Line], findings: list[TraceFinding]) -> tuple[list[_Strand], list[Label]]:
    """What each agent has said and called, the main agent first, and what people said about calls."""
    by_agent: dict[str | None, list[Line]] = {None: []}
    for line, name in zip(lines, _names(lines), strict=True):
        by_agent.setdefault(name, []).append(line)
    strands, labels = [], []
    for agent, own in by_agent.items():
        spoken = in_order([line for line in own if line.kind in _SAID])
        talk, events = _read(spoken, agent)
        findings += talk.findings
        labels += [label for line in spoken for label in _refusals(line)]
        strands.append(_Strand(agent, events, text_or_none(spoken[0].value.get("timestamp")) if spoken else None))
    return strands, labels


def _names(lines: Sequence[Line]) -> list[str | None]:
    """The sub-agent of every line; `None` for the main agent. Lines of older versions only link to their first one."""
    by_uuid: dict[str | None, Line] = {line.uuid: line for line in lines if line.uuid is not None}
    roots: dict[str | None, str] = {}
    numbers: dict[str, int] = {}
    names: list[str | None] = []
    for line in lines:
        if line.value.get("isSidechain") is not True:
            names.append(None)
        elif _agent(line):
            names.append(f"sidechain-{_agent(line)}")
        else:
            root = _root(line, by_uuid, roots)
            names.append(f"sidechain-{numbers.setdefault(root, len(numbers) + 1)}")
    return names


def _root(line: Line, by_uuid: Mapping[str | None, Line], roots: dict[str | None, str]) -> str:
    """What a line's chain of parents begins with, as far as it is here."""
    passed: set[str | None] = set()
    here = line
    while here.uuid not in roots and here.uuid not in passed:
        passed.add(here.uuid)
        parent = by_uuid.get(here.parent)
        if parent is None or parent.value.get("isSidechain") is not True:
            break
        here = parent
    root = roots.get(here.uuid) or here.uuid or here.path
    roots.update(dict.fromkeys(passed, root))
    return root


def _read(lines: Sequence[Line], agent: str | None) -> tuple[Conversation, list[Event]]:
    """Read the lines of one agent; the lines of one message are one turn."""
    talk = Conversation()
    turns: dict[str, int] = {}
    marks: list[tuple[int, bool]] = []
    for number, line in enumerate(lines):
        if line.value.get("isApiErrorMessage") is True:
            talk.note("TRACE_HTTP_ERROR", "a request failed; the program wrote a message about it", line.path)
            continue
        message = {**line.message, "role": line.kind}
        if message.get("stop_reason") == "max_tokens":
            talk.note("TRACE_TRUNCATED", "the reply was cut off at its longest length", line.path)
        anthropic.read_message(talk, message, line.path, text_or_none(line.value.get("timestamp")))
        key = line.message_id or f"line {number}"
        more = key in turns
        turn = turns.setdefault(key, len(turns) + 1)
        marks += [(turn, more)] * (len(talk.events) - len(marks))
    return talk, [
        _placed(event, turn, agent)
        for event, (turn, more) in zip(talk.events, marks, strict=True)
        if not (more and isinstance(event, Message) and event.text is None)
    ]


def _placed(event: Event, turn: int, agent: str | None) -> Event:
    """An event with the turn of its message and its agent."""
    own = turn if event.turn is not None else None
    return msgspec.structs.replace(event, turn=own, agent=agent)


def _refusals(line: Line) -> Iterator[Label]:
    """Where the program's own words say that a person refused a call: what the person said."""
    for block in line.blocks("tool_result"):
        content = block.get("content")
        if isinstance(content, list):
            content = next((mapping(part).get("text") for part in content), None)
        told = line.value.get("toolUseResult") == "User rejected tool use"
        if block.get("is_error") is True and (told or (isinstance(content, str) and content.startswith(_REFUSED))):
            yield Label(
                name="user_rejected", value=True, kind="person", comment=text_or_none(content),
                at=text_or_none(line.value.get("timestamp")), target=text_or_none(block.get("tool_use_id")),
            )  # fmt: skip


def _woven(strands: Sequence[_Strand], started: Mapping[str, str]) -> list[Event]:
    """All events: each sub-agent's after the call that started it, else where its time puts it, else at the end."""
    by_call: dict[str, list[_Strand]] = {}
    loose: list[_Strand] = []
    for strand in strands[1:]:
        call = started.get(strand.agent or "")
        (loose if call is None else by_call.setdefault(call, [])).append(strand)
    timed = deque(sorted((strand for strand in loose if strand.at is not None), key=lambda strand: strand.at or ""))
    woven: list[Event] = []
    stack = [deque(strands[0].events)]
    while stack:
        top = stack[-1]
        if not top:
            stack.pop()
        elif len(stack) == 1 and timed and _later(top[0], timed[0].at):
            stack.append(deque(timed.popleft().events))
        else:
            event = top.popleft()
            woven.append(event)
            if isinstance(event, Call) and event.id in by_call:
                stack += [deque(strand.events) for strand in reversed(by_call.pop(event.id))]
    left = [*timed, *(strand for strand in loose if strand.at is None), *(s for some in by_call.values() for s in some)]
    return woven + [event for strand in left for event in strand.events]


def _later(event: Event, at: str | None) -> bool:
    own = event.started_at if isinstance(event, Call) else event.at
    return own is not None and at is not None and own > at


def _starts(lines: Sequence[Line]) -> dict[str, str]:
    """Which call started which sub-agent, by the agent's id that its result carries."""
    found: dict[str, str] = {}
    for line in lines:
        agent = text_or_none(mapping(line.value.get("toolUseResult")).get("agentId"))
        for block in line.blocks("tool_result"):
            call = text_or_none(block.get("tool_use_id"))
            if agent is not None and call is not None:
                found.setdefault(f"sidechain-{agent}", call)
    return found


def _numbered(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events with turns numbered over all agents, in order of appearance."""
    turns: dict[tuple[str | None, int], int] = {}
    return tuple(
        event
        if event.turn is None
        else msgspec.structs.replace(event, turn=turns.setdefault((event.agent, event.turn), len(turns) + 1))
        for event in events
    )


# ---- what is told --------------------------------------------------------------------------------------------------


def _tell_copies(findings: list[TraceFinding], again: Sequence[Line], differing: Sequence[Line]) -> None:
    if again:
        text = f"{_lines(len(again))} there twice and read once"
        findings.append(TraceFinding(code="TRACE_DUPLICATE_ID", message=text, path=again[0].path))
    for line in differing:
        text = f"an earlier line has the uuid `{line.uuid}` too; this one differs and was left out"
        findings.append(TraceFinding(code="TRACE_DUPLICATE_ID", message=text, path=line.path))


def _tell_abandoned(findings: list[TraceFinding], gone: Sequence[Line]) -> None:
    if gone:
        calls = sum(len(line.blocks("tool_use")) for line in gone)
        text = f"{_lines(len(gone))} of abandoned branches left out, with {calls} calls"
        findings.append(TraceFinding(code="TRACE_INCOMPLETE", message=text, path=gone[0].path))


def _tell_missing(findings: list[TraceFinding], lines: Sequence[Line]) -> None:
    known = {line.uuid for line in lines}
    lost = [line for line in lines if line.parent is not None and line.parent not in known]
    if lost:
        text = f"{_lines(len(lost))} going on from lines that are not here"
        findings.append(TraceFinding(code="TRACE_INCOMPLETE", message=text, path=lost[0].path))


def _tell_kinds(findings: list[TraceFinding], lines: Sequence[Line]) -> None:
    """Note compacted contexts and failed requests, and count the lines that are left out by their type."""
    left_out = Counter(line.kind for line in lines if line.kind not in _SAID | _SILENT)
    for kind, count in left_out.items():
        path = next(line.path for line in lines if line.kind == kind)
        what = "" if kind in _TOLD else "unknown "
        text = f"{_lines(count)} of {what}type `{kind}` left out"
        findings.append(TraceFinding(code="TRACE_INCOMPLETE", message=text, path=path))
    for line in lines:
        subtype = line.value.get("subtype") if line.kind == "system" else None
        if subtype == "compact_boundary":
            text = "the context was compacted here: from now on the model saw a summary of what came before"
            findings.append(TraceFinding(code="TRACE_INCOMPLETE", message=text, path=line.path))
        elif subtype == "api_error":
            reason = text_or_none(mapping(line.value.get("error")).get("message"))
            text = "a request failed and was made again" + (f": {reason}" if reason else "")
            findings.append(TraceFinding(code="TRACE_HTTP_ERROR", message=text, path=line.path))


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


DIALECT = Dialect("claude_code", "Claude Code sessions", detect, traces, grouped=grouped)
