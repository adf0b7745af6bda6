"""Arguments of one golden call against one actual call: the score, and what exactly differs.

Score of a pair: equal keys / union of keys, at the top level. A key with the matcher `ignore` counts in neither, nor
does an `optional` key that is left out. A default that the tool's schema declares stands in for a key that one side
leaves out. A golden that states no arguments scores 1. Arguments that were not readable (`malformed`, `not_object`,
`missing`) score 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from rightcall.case.matchers import (
    ABSENT,
    FromResult,
    ListNode,
    Literal,
    Node,
    ObjectNode,
    describe,
    is_ignored,
    matches,
    may_be_absent,
)
from rightcall.trace.jsontext import JsonValue, nfc_keys, same

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rightcall.case.golden import ExpectedCall
    from rightcall.grade.actual import Actual

Resolve = "Callable[[FromResult, JsonValue], bool]"
Score = Fraction | int
"""An exact score in [0, 1]; the whole numbers 0 and 1 stand for themselves, since most scores are."""
ONE = 1
ZERO = 0


class Difference(NamedTuple):
    """One unequal key: its deepest single place, and both sides there (`ABSENT` where a side has nothing)."""

    path: str
    expected: JsonValue
    actual: JsonValue
    flow: bool = False


def score(
    expected: ExpectedCall, actual: Actual, index: int, resolve: Callable[[FromResult, JsonValue], bool] | None = None
) -> Score:
    """Argument score of a pair, in [0, 1]. Without `resolve`, data flow is taken as kept."""
    if expected.raw is None:
        return ONE
    raw = actual.raw(index)
    if raw is None:
        return ZERO
    if expected.literal and actual.has(index, expected.raw):
        return ONE
    equal, union = _count(expected, actual, index, resolve)
    return Fraction(equal, union) if 0 < equal < union else int(equal == union)


def _has_defaults(actual: Actual, index: int) -> bool:
    catalog = actual.catalog
    return catalog is not None and catalog.has_defaults.get(actual.tool_name(index), False)


def _count(
    expected: ExpectedCall, actual: Actual, index: int, resolve: Callable[[FromResult, JsonValue], bool] | None
) -> tuple[int, int]:
    """(equal keys, union of keys)."""
    equal = union = 0
    nodes, found = expected.nodes, actual.value(index) or {}
    schemas = _schemas(actual, index)
    for key, node in nodes.items():
        if is_ignored(node) or (key not in found and may_be_absent(node)):
            continue
        union += 1
        value = found[key] if key in found else default_of(schemas, key)
        equal += value is not ABSENT and _equal(node, value, schemas.get(key), resolve)
    for key, value in found.items():
        if key not in nodes:
            union += 1
            default = default_of(schemas, key)
            equal += default is not ABSENT and same(default, value)
    return equal, union


def _schemas(actual: Actual, index: int) -> Mapping[str, JsonValue]:
    """The schemas of the tool's parameters, where any of them declares a default."""
    if not _has_defaults(actual, index) or actual.catalog is None:
        return {}
    properties = actual.catalog.schema(actual.tool_name(index)).get("properties")
    return properties if isinstance(properties, dict) else {}


def default_of(schemas: Mapping[str, JsonValue], key: str) -> JsonValue:
    """The declared default of a key; `ABSENT` if there is none."""
    schema = schemas.get(key)
    return schema["default"] if isinstance(schema, dict) and "default" in schema else ABSENT


def _equal(
    node: Node, value: JsonValue, schema: JsonValue, resolve: Callable[[FromResult, JsonValue], bool] | None
) -> bool:
    """Whether a value satisfies a node, with the schema's nested defaults standing in on either side."""
    if matches(node, value, resolve):
        return True
    if not isinstance(schema, dict):
        return False
    if isinstance(node, Literal):
        return same(_fill(schema, node.value), _fill(schema, value))
    if isinstance(node, ObjectNode) and isinstance(value, dict):
        return _equal_object(node, nfc_keys(value), schema, resolve)
    if isinstance(node, ListNode) and isinstance(value, list) and len(node.items) == len(value):
        items = schema.get("items")
        return all(_equal(child, item, items, resolve) for child, item in zip(node.items, value, strict=True))
    return matches(node, _fill(schema, value), resolve)


def _equal_object(
    node: ObjectNode,
    value: Mapping[str, JsonValue],
    schema: Mapping[str, JsonValue],
    resolve: Callable[[FromResult, JsonValue], bool] | None,
) -> bool:
    declared = schema.get("properties")
    schemas: Mapping[str, JsonValue] = declared if isinstance(declared, dict) else {}
    for key, child in node.items.items():
        item = value[key] if key in value else default_of(schemas, key)
        absent_is_fine = key not in value and (may_be_absent(child) or is_ignored(child))
        if not absent_is_fine and (item is ABSENT or not _equal(child, item, schemas.get(key), resolve)):
            return False
    left = [(key, item, default_of(schemas, key)) for key, item in value.items() if key not in node.items]
    return all(default is not ABSENT and same(default, item) for _, item, default in left)


def _fill(schema: JsonValue, value: JsonValue) -> JsonValue:
    """The value with nested declared defaults put in where keys are left out."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        return [_fill(schema.get("items"), item) for item in value]
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return value
    defaults = {key: default_of(properties, key) for key in properties if key not in value}
    present = {key: _fill(properties.get(key), item) for key, item in value.items()}
    return present | {key: default for key, default in defaults.items() if default is not ABSENT}


def differences(
    expected: ExpectedCall, actual: Actual, index: int, resolve: Callable[[FromResult, JsonValue], bool]
) -> list[Difference]:
    """Every unequal top-level key of a pair, with its deepest single place."""
    nodes, found = expected.nodes, actual.value(index) or {}
    schemas = _schemas(actual, index)
    result: list[Difference] = []
    for key, node in nodes.items():
        value = found[key] if key in found else default_of(schemas, key)
        if is_ignored(node) or (key not in found and may_be_absent(node)):
            continue
        if value is ABSENT or not _equal(node, value, schemas.get(key), resolve):
            result.append(_deepest(node, value, step_to("$", key), resolve))
    for key in sorted(found.keys() - nodes.keys()):
        value, default = found[key], default_of(schemas, key)
        if default is ABSENT or not same(default, value):
            result.append(Difference(step_to("$", key), ABSENT, value))
    return result


def step_to(path: str, key: str) -> str:
    """The path of a key inside an object; a key that is no plain word is quoted."""
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{key!r}]"


def _deepest(
    node: Node, value: JsonValue, path: str, resolve: Callable[[FromResult, JsonValue], bool] | None
) -> Difference:
    """Go down as long as exactly one part differs."""
    if isinstance(node, FromResult):
        return Difference(path, describe(node), value, flow=value is not ABSENT)
    parts = _parts(node, value)
    if parts is not None:
        unequal = [
            (where, child, item)
            for where, child, item in parts
            if item is ABSENT or child is None or not matches(child, item, resolve)
        ]
        if len(unequal) == 1:
            where, child, item = unequal[0]
            inner = f"{path}[{where}]" if isinstance(where, int) else step_to(path, where)
            return Difference(inner, ABSENT, item) if child is None else _deepest(child, item, inner, resolve)
    return Difference(path, describe(node), value)


def _parts(node: Node, value: JsonValue) -> list[tuple[str | int, Node | None, JsonValue]] | None:
    """Children of both sides, place by place; `None` where there is nothing to go down into."""
    children: Mapping[str, Node] | None = None
    if isinstance(value, dict) and isinstance(node, ObjectNode):
        children = node.items
    elif isinstance(value, dict) and isinstance(node, Literal) and isinstance(node.value, dict):
        children = {key: Literal(item) for key, item in nfc_keys(node.value).items()}
    if children is not None:
        found = nfc_keys(value)
        both = [(key, child, found.get(key, ABSENT)) for key, child in children.items()]
        kept = [part for part in both if part[2] is not ABSENT or not may_be_absent(part[1])]
        return [*kept, *((key, None, item) for key, item in found.items() if key not in children)]
    items = node.items if isinstance(node, ListNode) else node.value if isinstance(node, Literal) else None
    if isinstance(value, list) and isinstance(items, list) and len(items) == len(value):
        nodes = items if isinstance(node, ListNode) else [Literal(item) for item in items]
        return [(index, child, item) for index, (child, item) in enumerate(zip(nodes, value, strict=True))]
    return None
