"""Cases from DeepEval goldens: `{input, expected_tools}`, as `EvaluationDataset.save_as` or its platform write them.

* `expected_tools` are the golden calls, in any order, as DeepEval's own metric compares them by default.
* `input_parameters` that are missing or `null` mean that any arguments will do; `{}` means none.
* `expected_tools` that are `null` are no golden; an empty list expects no call.

What an agent did (`tools_called`, `actual_output`) is not read: it is a trace, and not of a known run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.sources.tau import golden_call
from rightcall.errors import CaseError, Place
from rightcall.trace.sources.conversation import mapping, place_id, text_or_none, written_id
from rightcall.trace.sources.dialect import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

_KEPT = {
    "expected_output": "expectedOutput", "comments": "comments", "source_file": "sourceFile",
    "additional_metadata": "additionalMetadata",
}  # fmt: skip


def detect(value: JsonValue) -> bool:
    """Whether this is a golden, or a list that begins with one."""
    row = mapping(value[0] if isinstance(value, list) and value else value)
    return isinstance(row.get("input"), str) and bool({"expected_tools", "expectedTools"} & row.keys())


def cases(value: JsonValue, place: Place) -> Iterator[Case | Skip]:
    """The case of one golden, or of every golden of a list."""
    if not isinstance(value, list):
        yield _case(value, place)
        return
    for index, row in enumerate(value):
        yield _case(row, Place(place.file, place.line, None, f"{place.path or '$'}[{index}]"))


def _either(row: Mapping[str, JsonValue], snake: str, camel: str) -> JsonValue:
    """A field in either way of writing its name."""
    return row[snake] if row.get(snake) is not None else row.get(camel)


def _case(value: JsonValue, place: Place) -> Case | Skip:
    row = mapping(value)
    if not isinstance(row.get("input"), str):
        return Skip("CASE_INVALID", "a golden needs a text as its `input`", place)
    expected = _either(row, "expected_tools", "expectedTools")
    if expected is not None and not isinstance(expected, list):
        return Skip("CASE_INVALID", "`expected_tools` is not a list", place)
    try:
        calls = tuple(map(_golden, expected or ()))
    except CaseError as error:
        return Skip(error.code, error.message, place)
    context = row.get("context")
    return Case(
        id=written_id(row.get("id")) or written_id(row.get("name")) or place_id(place),
        request=row["input"],
        context={"documents": context} if context else None,
        expect=None if expected is None else Expect(calls=calls, order="any"),
        metadata={key: _either(row, key, camel) for key, camel in _KEPT.items() if _either(row, key, camel)},
    )


def _golden(value: JsonValue) -> GoldenCall:
    call = mapping(value)
    name, arguments = text_or_none(call.get("name")), _either(call, "input_parameters", "inputParameters")
    if not name:
        raise CaseError("an expected tool needs a `name`")
    if arguments is None:
        return GoldenCall(tool=name)
    if not isinstance(arguments, dict):
        raise CaseError(f"the `input_parameters` of `{name}` are not an object")
    return golden_call(name, arguments)
