"""Expected arguments: literal values and matchers, at any depth.

An object whose *first* key is a matcher's name is a matcher, its other keys are the matcher's options; everything
else is a literal (an object or list may hold matchers further down). A literal that looks like a matcher is written
`{"equals": …}`. Every matcher takes `optional: true`: the key may then be absent.

A literal compares under JSON's types (`rightcall.trace.jsontext.same`). A default that the tool's schema declares
fills a key that one side leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final
from unicodedata import normalize

import re2

from rightcall.case.similar import FORMS, token_similarity
from rightcall.errors import CaseError, ConfigError, Place
from rightcall.trace.jsontext import JsonValue, nfc_keys, same
from rightcall.trace.schemas import compile_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Test = "Callable[[JsonValue], bool]"


class _Absent:
    """A key that is not there: neither `null` nor empty."""

    def __repr__(self) -> str:
        return "<absent>"


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that must be equal."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class ObjectNode:
    """An object with a matcher somewhere inside: the same keys, each matched."""

    items: Mapping[str, Node]


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list with a matcher somewhere inside: the same length, matched place by place."""

    items: Sequence[Node]


@dataclass(frozen=True, slots=True)
class Matcher:
    """One matcher: its name, its source as written, and the compiled test of a present value."""

    name: str
    source: JsonValue
    test: Callable[[JsonValue], bool] = field(compare=False)
    optional: bool = False


@dataclass(frozen=True, slots=True)
class FromResult:
    """Data flow: the value must equal `path` in the earlier result of the golden call `call`."""

    call: str
    path: str
    source: JsonValue
    optional: bool = False


Node = Literal | ObjectNode | ListNode | Matcher | FromResult
Resolve = "Callable[[FromResult, JsonValue], bool]"


def compile_value(value: JsonValue, place: Place) -> Node:
    """Compile one expected value.

    Raises:
        CaseError: an unknown option, a pattern that the linear-time engine does not support, a bad schema.
    """
    if isinstance(value, dict):
        return _compile_object(value, place)
    if isinstance(value, list):
        nodes = [compile_value(item, _at(place, f"[{index}]")) for index, item in enumerate(value)]
        return Literal(value) if all(map(_is_as_written, nodes, value)) else ListNode(nodes)
    return Literal(value)


def _compile_object(value: dict[str, Any], place: Place) -> Node:
    name = next(iter(value), None)
    if name in _BUILDERS:
        return _compile_matcher(name, value, place)
    nodes = {key: compile_value(item, _at(place, f".{key}")) for key, item in nfc_keys(value).items()}
    if all(map(_is_as_written, nodes.values(), value.values())):
        return Literal(value)
    return ObjectNode(nodes)


def _is_as_written(node: Node, value: JsonValue) -> bool:
    """Whether a node is the literal that stands in the case; one under `equals` is not."""
    return type(node) is Literal and node.value is value


def _compile_matcher(name: str, source: dict[str, Any], place: Place) -> Node:
    builder, allowed = _BUILDERS[name]
    for option in source:
        if option not in (name, "optional", *allowed) and name != "custom":
            known = ", ".join((*allowed, "optional"))
            raise CaseError(
                f"matcher `{name}` has no option `{option}`; it takes {known}",
                place=place,
                hint="write a literal that looks like a matcher as { equals = … }",
            )
    optional = source.get("optional", False)
    if not isinstance(optional, bool):
        raise CaseError("`optional` must be true or false", place=place)
    built = builder(source, place)
    if isinstance(built, FromResult):
        return FromResult(built.call, built.path, source, optional)
    if isinstance(built, Literal):
        return Matcher(name, source, lambda actual: same(built.value, actual), optional) if optional else built
    return Matcher(name, source, built, optional)


def _at(place: Place, step: str) -> Place:
    return Place(place.file, place.line, place.column, (place.path or "$") + step)


def matches(node: Node, actual: JsonValue, resolve: Callable[[FromResult, JsonValue], bool] | None = None) -> bool:
    """Whether a present value satisfies a node. Without `resolve`, data flow matches anything (see `grade.pairing`)."""
    kind = type(node)
    if kind is Literal:
        return same(node.value, actual)  # type: ignore[union-attr]
    if isinstance(node, Matcher):
        return node.test(actual)
    if isinstance(node, FromResult):
        return resolve is None or resolve(node, actual)
    if isinstance(node, ListNode):
        return (
            isinstance(actual, list)
            and len(actual) == len(node.items)
            and all(matches(child, item, resolve) for child, item in zip(node.items, actual, strict=True))
        )
    return isinstance(node, ObjectNode) and isinstance(actual, dict) and _matches_object(node, actual, resolve)


def _matches_object(
    node: ObjectNode, actual: dict[str, Any], resolve: Callable[[FromResult, JsonValue], bool] | None
) -> bool:
    found = nfc_keys(actual)
    if not found.keys() <= node.items.keys():
        return False
    return all(
        matches(child, found[key], resolve) if key in found else may_be_absent(child) or is_ignored(child)
        for key, child in node.items.items()
    )


def may_be_absent(node: Node) -> bool:
    """Whether a node accepts that its key is not there."""
    return isinstance(node, (Matcher, FromResult)) and node.optional


def is_ignored(node: Node) -> bool:
    """Whether a key with this node counts nowhere."""
    return isinstance(node, Matcher) and node.name == "ignore"


def flows_in(node: Node) -> list[FromResult]:
    """Every data-flow matcher inside a node."""
    if isinstance(node, FromResult):
        return [node]
    children: Sequence[Node] = ()
    if isinstance(node, ObjectNode):
        children = list(node.items.values())
    elif isinstance(node, ListNode):
        children = node.items
    return [flow for child in children for flow in flows_in(child)]


def describe(node: Node) -> JsonValue:
    """The node as it was written in the case, for findings and pages."""
    if isinstance(node, ObjectNode):
        return {key: describe(child) for key, child in node.items.items()}
    if isinstance(node, ListNode):
        return [describe(child) for child in node.items]
    return node.value if isinstance(node, Literal) else node.source


# ---- builders: source object -> test ------------------------------------------------------------------------------


def _children(values: JsonValue, name: str, place: Place) -> list[Node]:
    if not isinstance(values, list):
        raise CaseError(f"`{name}` takes a list", place=place)
    nodes = [compile_value(item, place) for item in values]
    if any(map(flows_in, nodes)):
        raise CaseError(f"`from_result` cannot stand inside `{name}`", place=place, hint="write alternatives instead")
    return nodes


def _any_of(source: dict[str, Any], place: Place) -> Callable[[JsonValue], bool]:
    nodes = _children(source["any_of"], "any_of", place)
    return lambda actual: any(matches(node, actual) for node in nodes)


def _set(source: dict[str, Any], place: Place) -> Callable[[JsonValue], bool]:
    nodes = _children(source["set"], "set", place)

    def test(actual: JsonValue) -> bool:
        if not isinstance(actual, list):
            return False
        covered = all(any(matches(node, item) for node in nodes) for item in actual)
        return covered and all(any(matches(node, item) for item in actual) for node in nodes)

    return test


def _contains(source: dict[str, Any], place: Place) -> Callable[[JsonValue], bool]:
    wanted = source["contains"]
    nodes = _children(wanted if isinstance(wanted, list) else [wanted], "contains", place)

    def test(actual: JsonValue) -> bool:
        if isinstance(actual, str):
            return all(type(node) is Literal and _is_part(node.value, actual) for node in nodes)
        return isinstance(actual, list) and all(any(matches(node, item) for item in actual) for node in nodes)

    return test


def _is_part(part: JsonValue, whole: str) -> bool:
    return isinstance(part, str) and normalize("NFC", part) in normalize("NFC", whole)


def _number(value: JsonValue, name: str, place: Place) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise CaseError(f"`{name}` takes a number", place=place)
    return Decimal(repr(value))


def _approx(source: dict[str, Any], place: Place) -> Callable[[JsonValue], bool]:
    target = _number(source["approx"], "approx", place)
    bounds = [_number(source[key], key, place) for key in ("abs_tol", "rel_tol") if key in source]
    if not bounds or min(bounds) < 0:
        raise CaseError("`approx` needs `abs_tol` or `rel_tol`, not negative", place=place)
    allowed = max(
        _number(source.get("abs_tol", 0), "abs_tol", place),
        _number(source.get("rel_tol", 0), "rel_tol", place) * abs(target),
    )

    def test(actual: JsonValue) -> bool:
        if isinstance(actual, bool) or not isinstance(actual, (int, float)):
            return False
        return abs(Decimal(repr(actual)) - target) <= allowed

    return test


def compile_pattern(pattern: JsonValue, place: Place, *, ignore_case: bool = False) -> Callable[[str], bool]:
    """Compile a full-match test with the linear-time engine.

    Raises:
        CaseError: not a text, or a pattern that the engine does not support (look-around, back-references).
    """
    if not isinstance(pattern, str):
        raise CaseError("a pattern must be text", place=place)
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise CaseError(
            f"pattern {pattern!r} is not supported by the linear-time engine: {reason}",
            place=place,
            hint="look-around and back-references cannot be used; split the rule or use another matcher",
        ) from None
    return lambda text: compiled.fullmatch(text) is not None


def _matches(source: dict[str, Any], place: Place) -> Callable[[JsonValue], bool]:
    test = compile_pattern(source["matches"], place)
    return lambda actual: isinstance(actual, str) and test(actual)


def _similar(source: dict[str, Any], place: Place) -> Callable[[JsonValue], bool]:
    kind = source.get("as", "text")
    if kind not in FORMS:
        raise CaseError(f"`similar` knows no `as = {kind!r}`; it knows {', '.join(FORMS)}", place=place)
    wanted, threshold = source["similar"], source.get("threshold")
    if isinstance(wanted, bool) or not isinstance(wanted, (str, int, float)):
        raise CaseError("`similar` takes a text or a number", place=place)
    if threshold is not None and not 0 <= _number(threshold, "threshold", place) <= 1:
        raise CaseError("`threshold` must be from 0 to 1", place=place)
    form = FORMS[kind]
    expected = form(str(wanted))

    def test(actual: JsonValue) -> bool:
        if isinstance(actual, bool) or not isinstance(actual, (str, int, float)):
            return False
        found = form(str(actual))
        return found == expected or (threshold is not None and token_similarity(found, expected) >= threshold)

    return test


def _schema(source: dict[str, Any], place: Place) -> Callable[[JsonValue], bool]:
    try:
        return compile_schema(source["schema"], place).is_valid
    except ConfigError as error:
        raise CaseError(error.message, place=place) from None


def _from_result(source: dict[str, Any], place: Place) -> FromResult:
    options = source["from_result"]
    if not isinstance(options, dict) or set(options) != {"call", "path"}:
        raise CaseError("`from_result` takes { call = label, path = text }", place=place)
    call, path = options["call"], options["path"]
    if not isinstance(call, str) or not isinstance(path, str):
        raise CaseError("`from_result` takes { call = label, path = text }", place=place)
    return FromResult(call, path, source)


def _ignore(source: dict[str, Any], place: Place) -> Callable[[JsonValue], bool]:
    if source["ignore"] is not True:
        raise CaseError("`ignore` takes true", place=place)
    return lambda _actual: True


def _equals(source: dict[str, Any], _place: Place) -> Literal:
    return Literal(source["equals"])


def _custom(source: dict[str, Any], place: Place) -> Callable[[JsonValue], bool]:
    name = source["custom"]
    for found in entry_points(group="rightcall.matchers", name=str(name)):
        options = {key: value for key, value in source.items() if key not in ("custom", "optional")}
        try:
            test: Callable[[JsonValue], bool] = found.load()(**options)
        except (TypeError, ValueError) as error:
            raise CaseError(f"comparator `{name}` does not take these options: {error}", place=place) from None
        return test
    raise CaseError(
        f"no comparator `{name}` is installed", place=place, hint="a package offers one in `rightcall.matchers`"
    )


_Builder = "Callable[[dict[str, Any], Place], Callable[[JsonValue], bool] | Literal | FromResult]"
_BUILDERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "any_of": (_any_of, ()),
    "approx": (_approx, ("abs_tol", "rel_tol")),
    "matches": (_matches, ()),
    "similar": (_similar, ("as", "threshold")),
    "set": (_set, ()),
    "contains": (_contains, ()),
    "schema": (_schema, ()),
    "from_result": (_from_result, ()),
    "ignore": (_ignore, ()),
    "equals": (_equals, ()),
    "custom": (_custom, ()),
}
MATCHER_NAMES: tuple[str, ...] = tuple(_BUILDERS)
