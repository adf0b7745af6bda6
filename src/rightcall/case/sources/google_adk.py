"""Cases from Google ADK's eval sets: new `{eval_cases: [{conversation}]}`, and the older list of queries.

* An eval case is one case: the tool uses of its invocations, in their order, with exact names and arguments. The
  metadata keeps how many calls belong to which invocation.
* A file in the older shape, `[{query, expected_tool_use, reference}]`, is one conversation and so one case, named by
  its file.
* `args` that are `null` or absent expect no argument. No invocation with expected steps at all means no golden; an
  empty list expects no call.
* What the expected tools and sub-agents answered is metadata: it is no agent's trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.sources.tau import golden_call
from rightcall.errors import CaseError, Place
from rightcall.trace.sources.conversation import mapping, place_id, text_or_none, written_id
from rightcall.trace.sources.dialect import Skip
from rightcall.trace.sources.gemini_reply import field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]


class _Invocation(NamedTuple):
    """One turn of the user with what is expected of it; `calls` is `None` where nothing says."""

    query: str | None
    calls: tuple[GoldenCall, ...] | None
    reference: str | None
    responses: JsonValue


def detect(value: JsonValue) -> bool:
    """Whether this is an eval set, one eval case, or a list of queries with expected tool use."""
    if isinstance(value, list):
        return bool(value) and (_is_query(value[0]) or _is_case(value[0]))
    record = mapping(value)
    return isinstance(field(record, "evalCases"), list) or _is_case(record) or _is_query(record)


def _is_query(value: JsonValue) -> bool:
    row = mapping(value)
    return isinstance(row.get("query"), str) and "expected_tool_use" in row


def _is_case(value: JsonValue) -> bool:
    row = mapping(value)
    return field(row, "evalId") is not None and ("conversation" in row or "session_input" in row)


def cases(value: JsonValue, place: Place) -> Iterator[Case | Skip]:
    """The case of every eval case, or the one case of a list of queries."""
    record, root = mapping(value), place.path or "$"
    rows = field(record, "evalCases")
    if isinstance(rows, list):
        key = "eval_cases" if "eval_cases" in record else "evalCases"
        for index, row in enumerate(rows):
            yield _eval_case(row, Place(place.file, place.line, None, f"{root}.{key}[{index}]"))
    elif isinstance(value, list) and value and not _is_query(value[0]):
        for index, row in enumerate(value):
            yield _eval_case(row, Place(place.file, place.line, None, f"{root}[{index}]"))
    elif isinstance(value, list) or _is_query(record):
        yield _queries(value if isinstance(value, list) else [value], place)
    else:
        yield _eval_case(value, place)


def _eval_case(value: JsonValue, place: Place) -> Case | Skip:
    row = mapping(value)
    case_id, conversation = written_id(field(row, "evalId")), row.get("conversation")
    if case_id is None:
        return Skip("CASE_INVALID", "an eval case needs an `eval_id`", place)
    if not isinstance(conversation, list):
        return Skip("CASE_INVALID", f"eval case `{case_id}` has no list `conversation`", place)
    try:
        invocations = [_invocation(mapping(entry)) for entry in conversation]
    except CaseError as error:
        return Skip(error.code, f"eval case `{case_id}`: {error.message}", place)
    session = mapping(field(row, "sessionInput"))
    return _case(case_id, invocations, session)


def _invocation(entry: _Object) -> _Invocation:
    steps = field(entry, "intermediateData")
    responses = field(mapping(steps), "toolResponses") or field(mapping(steps), "intermediateResponses")
    return _Invocation(
        query=_text(field(entry, "userContent")),
        calls=None if steps is None else tuple(_expected(use) for use in _tool_uses(mapping(steps))),
        reference=_text(field(entry, "finalResponse")),
        responses=responses or None,
    )


def _tool_uses(steps: _Object) -> list[JsonValue]:
    """The expected tool uses: a list of them, or the calls among events of the expected run."""
    uses, events = field(steps, "toolUses"), field(steps, "invocationEvents")
    if uses is None and isinstance(events, list):
        contents = [mapping(mapping(event).get("content")).get("parts") for event in events]
        parts = [part for content in contents if isinstance(content, list) for part in content]
        return [call for part in parts if (call := field(part, "functionCall")) is not None]
    if uses is not None and not isinstance(uses, list):
        raise CaseError("`tool_uses` is not a list", code="CASE_INVALID")
    return uses or []


def _expected(value: JsonValue) -> GoldenCall:
    use = mapping(value)
    name = text_or_none(use.get("name", use.get("tool_name")))
    arguments = use.get("args", use.get("tool_input"))
    if not name or not (arguments is None or isinstance(arguments, dict)):
        raise CaseError("an expected tool use needs a name and an object of arguments", code="CASE_INVALID")
    return golden_call(name, arguments or {})


def _text(content: JsonValue) -> str | None:
    parts = mapping(content).get("parts")
    texts = [text_or_none(mapping(part).get("text")) for part in (parts if isinstance(parts, list) else ())]
    found = [text for text in texts if text is not None]
    return "\n".join(found) if found else None


def _queries(rows: Sequence[JsonValue], place: Place) -> Case | Skip:
    invocations = []
    for index, value in enumerate(rows):
        row = mapping(value)
        uses = row.get("expected_tool_use")
        try:
            if not isinstance(uses, list):
                raise CaseError("`expected_tool_use` is not a list", code="CASE_INVALID")  # noqa: TRY301
            calls = tuple(map(_expected, uses))
        except CaseError as error:
            where = Place(place.file, place.line, None, f"{place.path or '$'}[{index}]")
            return Skip(error.code, error.message, where)
        responses = row.get("expected_intermediate_agent_responses") or None
        query, reference = text_or_none(row.get("query")), text_or_none(row.get("reference"))
        invocations.append(_Invocation(query, calls, reference, responses))
    return _case(place_id(place), invocations, {})


def _case(case_id: str, invocations: list[_Invocation], session: _Object) -> Case:
    stated = any(invocation.calls is not None for invocation in invocations)
    calls = tuple(call for invocation in invocations for call in invocation.calls or ())
    state = session.get("state")
    return Case(
        id=case_id,
        request=next((invocation.query for invocation in invocations if invocation.query is not None), None),
        context={"state": state} if isinstance(state, dict) and state else None,
        expect=Expect(calls=calls, order="listed") if stated else None,
        metadata={"invocations": [_told(invocation) for invocation in invocations]},
    )


def _told(invocation: _Invocation) -> dict[str, JsonValue]:
    calls = None if invocation.calls is None else len(invocation.calls)
    kept = {
        "query": invocation.query, "calls": calls, "reference": invocation.reference, "responses": invocation.responses,
    }  # fmt: skip
    return {key: value for key, value in kept.items() if value is not None}
