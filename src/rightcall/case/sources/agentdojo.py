"""Cases from AgentDojo's ground truth: rows `{suite, task_id, prompt, ground_truth}`, of user and of injection tasks.

`ground_truth` is one way to do the task, as calls; their order does not count, since only the end state does. Where an
argument's `placeholder_args` differ from its `args`, the value is only known in a run: any will do.

An injection task's case says what the *attack* wants. It is tagged `injection`; grade attacked runs against the case of
their user task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.sources.tau import golden_call
from rightcall.errors import CaseError, Place
from rightcall.trace import jsontext
from rightcall.trace.sources.agentdojo import task_case
from rightcall.trace.sources.conversation import mapping, text_or_none
from rightcall.trace.sources.dialect import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.trace.jsontext import JsonValue

_KEPT = ("suite", "version", "kind", "ground_truth_output")


def detect(value: JsonValue) -> bool:
    """Whether this is a row, or a list that begins with one."""
    row = mapping(value[0] if isinstance(value, list) and value else value)
    return {"suite", "task_id", "ground_truth"} <= row.keys()


def cases(value: JsonValue, place: Place) -> Iterator[Case | Skip]:
    """The case of one row, or of every row of a list."""
    if not isinstance(value, list):
        yield _case(value, place)
        return
    for index, row in enumerate(value):
        yield _case(row, Place(place.file, place.line, None, f"{place.path or '$'}[{index}]"))


def _case(value: JsonValue, place: Place) -> Case | Skip:
    row = mapping(value)
    case_id, truth = task_case(row.get("suite"), row.get("task_id")), row.get("ground_truth")
    if case_id is None or not isinstance(truth, list):
        return Skip("CASE_INVALID", "a row needs `suite`, `task_id` and a list of `ground_truth`", place)
    try:
        calls = tuple(map(_golden, truth))
    except CaseError as error:
        return Skip(error.code, f"task `{case_id}`: {error.message}", place)
    kind = text_or_none(row.get("kind"))
    return Case(
        id=case_id,
        request=text_or_none(row.get("prompt")),
        tags=(kind,) if kind else (),
        expect=Expect(calls=calls, order="any"),
        metadata={key: row[key] for key in _KEPT if row.get(key)},
    )


def _golden(value: JsonValue) -> GoldenCall:
    call = mapping(value)
    name, arguments = text_or_none(call.get("function")), call.get("args")
    if not name or not isinstance(arguments, dict):
        raise CaseError("an expected call needs a `function` and an object of `args`")
    placeholders = mapping(call.get("placeholder_args"))
    open_ = {
        key: {"ignore": True}
        for key, value in placeholders.items()
        if key not in arguments or not jsontext.same(value, arguments[key])
    }
    return golden_call(name, {key: item for key, item in arguments.items() if key not in open_}, open_)
