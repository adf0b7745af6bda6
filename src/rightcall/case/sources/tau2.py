"""Cases from τ²-bench: the tasks of a result document, a list of tasks, or one task.

The agent's golden holds the actions that the agent is to take; the simulated user's actions are metadata. Order does
not count. `compare_args` says which arguments count: `null` all of them, `[]` none, a list only the named ones.
A task without `evaluation_criteria`, or whose criteria state no actions, has no golden; an empty list expects no call.

A simulation that names no task still holds its own expected actions with their verdicts (`action_goldens`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.sources.tau import golden_call
from rightcall.errors import CaseError, Place
from rightcall.trace.sources.conversation import mapping, text_or_none, written_id
from rightcall.trace.sources.dialect import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]


class ActionGolden(NamedTuple):
    """One expected action of a simulation, whose it is, and whether the benchmark saw it happen."""

    call: GoldenCall
    by: str
    matched: bool | None


def detect(value: JsonValue) -> bool:
    """Whether this is a document with tasks, a list of tasks, or one task."""
    if isinstance(value, list):
        return bool(value) and _is_task(value[0])
    return _is_task(value) or isinstance(mapping(value).get("tasks"), list)


def _is_task(value: JsonValue) -> bool:
    return {"id", "user_scenario", "evaluation_criteria"} <= mapping(value).keys()


def cases(value: JsonValue, place: Place) -> Iterator[Case | Skip]:
    """The case of every task."""
    root = place.path or "$"
    if isinstance(value, dict) and "tasks" not in value and _is_task(value):
        yield _case(value, place)
        return
    tasks = value.get("tasks") if isinstance(value, dict) else value
    if not isinstance(tasks, list):
        yield Skip("CASE_INVALID", "no `tasks` in it", place)
        return
    root = f"{root}.tasks" if isinstance(value, dict) else root
    for index, task in enumerate(tasks):
        yield _case(task, Place(place.file, place.line, None, f"{root}[{index}]"))


def _case(value: JsonValue, place: Place) -> Case | Skip:
    task = mapping(value)
    task_id = written_id(task.get("id"))
    if task_id is None:
        return Skip("CASE_INVALID", "a task needs an `id`", place)
    actions = mapping(task.get("evaluation_criteria")).get("actions")
    if actions is not None and not isinstance(actions, list):
        return Skip("CASE_INVALID", f"the actions of task `{task_id}` are not a list", place)
    try:
        calls = tuple(_golden(action) for action in actions or () if _by(action) != "user")
    except CaseError as error:
        return Skip(error.code, f"task `{task_id}`: {error.message}", place)
    return Case(
        id=task_id,
        request=_request(task),
        expect=None if actions is None else Expect(calls=calls, order="any"),
        metadata=_metadata(task, actions or []),
    )


def _by(action: JsonValue) -> str:
    return text_or_none(mapping(action).get("requestor")) or "assistant"


def _golden(value: JsonValue) -> GoldenCall:
    action = mapping(value)
    name, arguments, compared = text_or_none(action.get("name")), action.get("arguments"), action.get("compare_args")
    if not name or not isinstance(arguments, dict):
        raise CaseError("an expected action needs a `name` and an object of `arguments`")
    if compared is None:
        return golden_call(name, arguments)
    if not isinstance(compared, list):
        raise CaseError(f"`compare_args` of `{name}` is not a list")
    if not compared:
        return GoldenCall(tool=name)
    uncompared = {key: {"ignore": True, "optional": True} for key in arguments if key not in compared}
    return golden_call(name, {key: item for key, item in arguments.items() if key in compared}, uncompared)


def _request(task: _Object) -> str | None:
    instructions = mapping(task.get("user_scenario")).get("instructions")
    spoken = mapping(instructions).get("reason_for_call") if isinstance(instructions, dict) else instructions
    return text_or_none(spoken) or text_or_none(task.get("ticket"))


def _metadata(task: _Object, actions: list[JsonValue]) -> dict[str, JsonValue]:
    kept = {
        "purpose": mapping(task.get("description")).get("purpose"),
        "reward_basis": mapping(task.get("evaluation_criteria")).get("reward_basis"),
        "user_actions": [action for action in actions if _by(action) == "user"],
    }
    return {key: value for key, value in kept.items() if value}


def action_goldens(simulation: JsonValue) -> list[ActionGolden]:
    """The expected actions that a simulation's own checks hold, each with the benchmark's verdict.

    Raises:
        CaseError: a check without a readable action.
    """
    checks = mapping(mapping(simulation).get("reward_info")).get("action_checks")
    found = []
    for check in checks if isinstance(checks, list) else []:
        action, matched = mapping(check).get("action"), mapping(check).get("action_match")
        found.append(ActionGolden(_golden(action), _by(action), matched if isinstance(matched, bool) else None))
    return found
