"""Cases from τ-bench results: each run repeats its task, `info.task`, with one valid list of actions.

The actions are one way to the wanted end state and not the only one, so a golden that is not met and a reward of 1 do
not contradict each other. Their order does not count: only the end state does. The many runs of a task give one case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Raw

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.matchers import MATCHER_NAMES
from rightcall.errors import Place
from rightcall.trace import jsontext
from rightcall.trace.sources import tau as runs
from rightcall.trace.sources.conversation import mapping, text_or_none, written_id
from rightcall.trace.sources.dialect import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue


def literal(value: JsonValue) -> JsonValue:
    """A recorded value as an expected one: where a part would be read as a matcher, it is written `{"equals": …}`."""
    return {"equals": value} if holds_matcher(value) else value


def holds_matcher(value: JsonValue) -> bool:
    """Whether an object inside a value would be read as a matcher (keys are sorted when written: any may be first)."""
    if isinstance(value, dict):
        return not value.keys().isdisjoint(MATCHER_NAMES) or any(map(holds_matcher, value.values()))
    return isinstance(value, list) and any(map(holds_matcher, value))


def golden_call(
    tool: str, arguments: Mapping[str, JsonValue], matchers: Mapping[str, JsonValue] | None = None
) -> GoldenCall:
    """A golden call with these recorded arguments, and matchers for any others."""
    expected = {**{key: literal(value) for key, value in arguments.items()}, **(matchers or {})}
    return GoldenCall(tool=tool, arguments_json=Raw(jsontext.encode(expected)))


def detect(value: JsonValue) -> bool:
    """Whether this is a run, or a list that begins with one."""
    return runs.detect(value[0] if isinstance(value, list) and value else value)


def cases(value: JsonValue, place: Place) -> Iterator[Case | Skip]:
    """The case of one run, or one case for each task of a list of runs."""
    if not isinstance(value, list):
        yield _case(value, place)
        return
    seen: dict[str, str] = {}
    for index, run in enumerate(value):
        where = Place(place.file, place.line, None, f"{place.path or '$'}[{index}]")
        case = _case(run, where)
        if isinstance(case, Skip) or case.id not in seen:
            yield case
        elif seen[case.id] != case.digest:
            yield Skip("CASE_DUPLICATE_ID", f"task `{case.id}` is not the task that an earlier run has", where)
        if isinstance(case, Case):
            seen.setdefault(case.id, case.digest)


def _case(value: JsonValue, place: Place) -> Case | Skip:
    run = mapping(value)
    task, task_id = mapping(run.get("info")).get("task"), written_id(run.get("task_id"))
    if task_id is None or not isinstance(task, dict):
        return Skip("CASE_INVALID", "the run does not hold its task (`task_id` and `info.task`)", place)
    actions = task.get("actions")
    if not isinstance(actions, list):
        return Skip("CASE_INVALID", f"task `{task_id}` has no list of `actions`", place)
    calls = []
    for index, entry in enumerate(actions):
        action = mapping(entry)
        name, arguments = text_or_none(action.get("name")), action.get("kwargs")
        if not name or not isinstance(arguments, dict):
            where = Place(place.file, place.line, None, f"{place.path or '$'}.info.task.actions[{index}]")
            return Skip("CASE_INVALID", f"an action of task `{task_id}` has no `name` or no `kwargs`", where)
        calls.append(golden_call(name, arguments))
    return Case(
        id=task_id,
        request=text_or_none(task.get("instruction")),
        expect=Expect(calls=tuple(calls), order="any"),
        metadata={key: task[key] for key in ("user_id", "outputs") if task.get(key)},
    )
