"""Cases from BFCL: its possible answers (`{"id", "ground_truth"}`), and the questions of its data files.

* A row of objects lists the allowed values of every parameter; `""` among them means that it may be left out (and that
  an empty text will do, where the parameter is a text). The calls of one row have no order.
* A row of turns lists calls as Python text, in order. They are parsed and never run. A positional argument needs the
  tool's parameter names (`parameters`); without them the row is skipped.
* A row of data (`question` and `function`) gives the request and the catalog. In a category in which no call is right
  (`irrelevance`) the golden expects none; otherwise the answer stands in another file, and there is no golden.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.sources.tau import golden_call, holds_matcher, literal
from rightcall.errors import CaseError, ConfigError, Place
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.sources import python_calls
from rightcall.trace.sources.conversation import mapping, place_id, written_id
from rightcall.trace.sources.dialect import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.case.case import Order
    from rightcall.trace.jsontext import JsonValue

MAX_CALL_CHARACTERS = python_calls.MAX_CHARACTERS
"""Longest call text that is parsed."""


def detect(value: JsonValue) -> bool:
    """Whether this is a possible answer or a question, or a list that begins with one."""
    row = mapping(value[0] if isinstance(value, list) and value else value)
    if _is_question(row):
        return True
    truth = row.get("ground_truth")
    if written_id(row.get("id")) is None or not isinstance(truth, list):
        return False
    return all(map(_is_choice, truth)) or _is_turns(truth)


def _is_question(row: Mapping[str, JsonValue]) -> bool:
    has_tools = isinstance(row.get("function"), list) or "involved_classes" in row
    return written_id(row.get("id")) is not None and isinstance(row.get("question"), list) and has_tools


def _is_choice(item: JsonValue) -> bool:
    """Whether this is `{tool: {parameter: allowed}}`."""
    return isinstance(item, dict) and all(isinstance(allowed, dict) for allowed in item.values())


def _is_turns(truth: list[JsonValue]) -> bool:
    return all(isinstance(turn, list) and all(isinstance(call, str) for call in turn) for turn in truth)


def cases(
    value: JsonValue, place: Place, parameters: Mapping[str, Sequence[str]] | None = None
) -> Iterator[Case | Skip]:
    """The case of one row, or of every row of a list.

    Args:
        value: the row or the rows.
        place: where it stands.
        parameters: tool -> the names of its parameters in their order, for positional arguments.
    """
    if not isinstance(value, list):
        yield _case(value, place, parameters or {})
        return
    for index, row in enumerate(value):
        where = Place(place.file, place.line, None, f"{place.path or '$'}[{index}]")
        yield _case(row, where, parameters or {})


def _case(value: JsonValue, place: Place, parameters: Mapping[str, Sequence[str]]) -> Case | Skip:
    row = mapping(value)
    if _is_question(row) and "ground_truth" not in row:
        return _question(row, place)
    row_id, truth = written_id(row.get("id")), row.get("ground_truth")
    if row_id is None or not isinstance(truth, list):
        return Skip("CASE_INVALID", "a possible answer needs an `id` and a list of `ground_truth`", place)
    order: Order = "any"
    try:
        if truth and _is_turns(truth):
            calls = [_python_call(text, parameters) for turn in truth for text in turn]
            order = "listed"
        else:
            calls = [call for item in truth for call in _answer_calls(item)]
    except CaseError as error:
        hint = f"; {error.hint}" if error.hint else ""
        return Skip(error.code, f"row `{row_id}`: {error.message}{hint}", place)
    return Case(id=row_id, expect=Expect(calls=tuple(calls), order=order))


# ---- questions -----------------------------------------------------------------------------------------------------

_NO_CALL_IS_RIGHT = re.compile(r"(?:live_)?irrelevance_\d.*|relevance_\d.*")
"""Ids of the categories in which no call is right; the leaderboard once called `irrelevance` `relevance`."""


def _question(row: Mapping[str, JsonValue], place: Place) -> Case | Skip:
    row_id = written_id(row.get("id")) or place_id(place)
    tools: Raw | UnsetType = UNSET
    if isinstance(row.get("function"), list):
        where = Place(place.file, place.line, None, f"{place.path or '$'}.function")
        try:
            tools = Raw(jsontext.encode(parse_tools(row["function"], where)))
        except ConfigError as error:
            return Skip("CASE_INVALID", f"row `{row_id}`: {error.message}", place)
    asked, system = _said(row["question"], "user"), _said(row["question"], "system")
    return Case(
        id=row_id,
        request=asked[0] if asked else None,
        context="\n".join(system) or None,
        tools_json=tools,
        expect=Expect(calls=()) if _NO_CALL_IS_RIGHT.fullmatch(row_id) else None,
        metadata={"later_requests": asked[1:]} if len(asked) > 1 else {},
    )


def _said(turns: list[JsonValue], role: str) -> list[str]:
    """The texts of one role, over all turns."""
    messages = [mapping(message) for turn in turns for message in (turn if isinstance(turn, list) else [turn])]
    texts = [message.get("content") for message in messages if message.get("role") == role]
    return [text for text in texts if isinstance(text, str)]


# ---- lists of allowed values ---------------------------------------------------------------------------------------


def _answer_calls(item: JsonValue) -> Iterator[GoldenCall]:
    if not _is_choice(item):
        raise CaseError("`ground_truth` must hold objects of the form {tool: {parameter: [allowed values]}}")
    for tool, allowed in item.items():
        arguments = {name: _allowed(values, name) for name, values in allowed.items()}
        yield GoldenCall(tool=tool, arguments_json=Raw(jsontext.encode(arguments)))


def _allowed(values: JsonValue, name: str) -> JsonValue:
    """The matcher of one parameter. A value that stands alone, where a list should be, is the only one."""
    if not isinstance(values, list):
        return literal(values)
    if not values:
        raise CaseError(f"no value is allowed for `{name}`, so no call could be right")
    only_texts = all(isinstance(value, str) for value in values)
    options = [_value(value, name) for value in values if value != "" or only_texts]
    if "" in values:
        return {"any_of": options, "optional": True}
    return options[0] if len(options) == 1 else {"any_of": options}


def _value(value: JsonValue, name: str) -> JsonValue:
    """One allowed value; the values inside an object are lists of allowed values again."""
    if holds_matcher(value):
        return {"equals": _only(value, name)}
    if isinstance(value, list):
        return [_value(item, name) for item in value]
    if isinstance(value, dict):
        return {key: _allowed(values, f"{name}.{key}") for key, values in value.items()}
    return value


def _only(value: JsonValue, name: str) -> JsonValue:
    """The one value that is meant, inside an object that would otherwise be read as a matcher."""
    if isinstance(value, list):
        return [_only(item, name) for item in value]
    if not isinstance(value, dict):
        return value
    for key, values in value.items():
        if isinstance(values, list) and (len(values) != 1 or values == [""]):
            raise CaseError(f"`{name}.{key}` has a choice of values, in an object with the key of a matcher")
    return {key: _only(values[0] if isinstance(values, list) else values, name) for key, values in value.items()}


# ---- calls as Python text ------------------------------------------------------------------------------------------


def _python_call(text: str, parameters: Mapping[str, Sequence[str]]) -> GoldenCall:
    if len(text) > MAX_CALL_CHARACTERS:
        raise CaseError(f"a call of more than {MAX_CALL_CHARACTERS} characters")
    call = python_calls.expression(text)
    tool = python_calls.dotted(call.func) if isinstance(call, ast.Call) else None
    if tool is None or not isinstance(call, ast.Call):
        raise CaseError(f"`{text}` is not a call")
    arguments: dict[str, JsonValue] = {}
    named = zip(_positions(call, tool, parameters), call.args, strict=True)
    for name, node in [*named, *((keyword.arg, keyword.value) for keyword in call.keywords)]:
        if name is None or name in arguments:
            raise CaseError(f"`{text}` names an argument twice, or not at all")
        arguments[name] = _constant(node, text)
    return golden_call(tool, arguments)


def _positions(call: ast.Call, tool: str, parameters: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The names of a call's positional arguments."""
    if not call.args:
        return ()
    if tool not in parameters:
        raise CaseError(
            f"`{tool}` has a positional argument and its parameters are not known",
            hint="pass the file of the tools too",
        )
    names = parameters[tool][: len(call.args)]
    if len(names) < len(call.args):
        raise CaseError(f"`{tool}` has {len(names)} parameters and gets {len(call.args)} positional arguments")
    return names


def _constant(node: ast.expr, text: str) -> JsonValue:
    try:
        return python_calls.constant(node)
    except ValueError:
        raise CaseError(f"`{text}` has an argument that is no JSON value") from None
