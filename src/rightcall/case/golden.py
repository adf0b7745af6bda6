"""A golden made ready for matching: names resolved, arguments compiled, constraints as index pairs.

Compiling checks what a single case can get wrong (ambiguous or unknown `after`, cycles, bad matchers), so that grading
itself cannot fail on it.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import re2
from msgspec import UNSET

from rightcall.case.matchers import (
    MATCHER_NAMES,
    FromResult,
    Literal,
    Node,
    compile_value,
    flows_in,
)
from rightcall.errors import CaseError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.jsontext import JsonValue, nfc_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.case.case import Case, GoldenCall, Order, Way

# A first key that is a matcher's name, or one that is written with an escape and so might be one.
_MATCHER = rb'\{\s*"(?:(?:' + "|".join(MATCHER_NAMES).encode() + rb')"|[^"\\]*\\)'
_MAYBE_MATCHER = re2.compile(_MATCHER).search

# Text that is JSON and may still have no value: a lone surrogate, a number out of range.
_UNREADABLE = rb"\\u[dD]|[\[:,]\s*-?[0-9][0-9.]*[eE]"
_MAYBE_UNREADABLE = re2.compile(_UNREADABLE).search
_NEEDS_CARE = re2.compile(_MATCHER + b"|" + _UNREADABLE).search


class ExpectedCall:
    """One golden call, ready for matching.

    `raw` is the arguments' JSON text (`None`: anything goes). `literal` says that no matcher is in it, so that equal
    bytes are equal arguments.
    """

    __slots__ = ("_index", "_nodes", "_value", "_way", "label", "literal", "optional", "raw", "tool")

    def __init__(self, tool: str, raw: bytes | None, way: Place, index: int) -> None:
        """Take a required call whose arguments are known to be literal, or to be none."""
        self.tool, self.raw = tool, raw
        self.optional, self.literal = False, True
        self.label: str | None = None
        self._way, self._index = way, index
        self._nodes: Mapping[str, Node] | None = None
        self._value: Mapping[str, JsonValue] | None = None

    @classmethod
    def written(cls, call: GoldenCall, tool: str, way: Place, index: int) -> ExpectedCall:
        """Take a call as written, and look for matchers in its arguments.

        Raises:
            CaseError: arguments that are no object, have no value, or hold a bad matcher.
        """
        made = cls(tool, None, way, index)
        made.optional, made.label = call.optional, call.label
        if call.arguments_json is UNSET:
            return made
        raw = made.raw = bytes(call.arguments_json)
        if raw[:1] != b"{":
            raise CaseError("`arguments` must be an object", place=made.place, hint="leave it out if anything goes")
        if _MAYBE_UNREADABLE(raw) is not None:
            made._check()
        if _MAYBE_MATCHER(raw) is not None:
            made.literal = False
            plain = [type(node) is Literal and node.value is made.value[key] for key, node in made.nodes.items()]
            made.literal = all(plain)
        return made

    def _check(self) -> None:
        """Raise where the arguments have no value."""
        try:
            jsontext.decode(self.raw or b"{}", self.place)
        except TraceError as error:
            raise CaseError(error.message, place=self.place, hint=error.hint) from None

    @property
    def place(self) -> Place:
        """Where the arguments were written."""
        way = self._way
        return Place(way.file, way.line, None, f"{way.path or '$.expect'}.calls[{self._index}].arguments")

    @property
    def value(self) -> Mapping[str, JsonValue]:
        """The arguments as written, keys in NFC."""
        if self._value is None:
            self._value = nfc_keys(jsontext.decode(self.raw or b"{}", self.place))
        return self._value

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The compiled arguments by key, in NFC."""
        if self._nodes is None:
            self._nodes = {
                key: Literal(item) if self.literal else compile_value(item, _at(self.place, key))
                for key, item in self.value.items()
            }
        return self._nodes

    @property
    def identity(self) -> bytes:
        """A key that literal arguments share with the equal arguments of an actual call."""
        return jsontext.identity(self.raw or b"{}")

    @property
    def flows(self) -> list[FromResult]:
        """The data-flow matchers in the arguments."""
        return [] if self.literal else [flow for node in self.nodes.values() for flow in flows_in(node)]


def _at(place: Place, key: str) -> Place:
    return Place(place.file, place.line, place.column, f"{place.path or '$'}.{key}")


class Golden:
    """One acceptable way, compiled.

    Attributes:
        calls: the golden calls.
        order: which order matters.
        name: what the way is called, if anything.
        edges: index pairs (earlier, later) from `after`.
        flow_sources: label of a `from_result` -> index of its golden call.
        simple: every call is required, literal and stated.
        flows: every data-flow constraint with the index of the call that must obey it.
    """

    def __init__(
        self, calls: tuple[ExpectedCall, ...], order: Order, name: str | None, edges: tuple[tuple[int, int], ...],
        flow_sources: Mapping[str, int], *, simple: bool,
    ) -> None:  # fmt: skip
        """Keep the parts."""
        self.calls, self.order, self.name, self.edges = calls, order, name, edges
        self.flow_sources, self.simple = flow_sources, simple

        self.flows: tuple[tuple[int, FromResult], ...] = ()
        if not simple:
            self.flows = tuple((index, flow) for index, call in enumerate(calls) for flow in call.flows)

    @property
    def order_pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs (earlier, later) that the order constrains."""
        if self.order == "listed":
            return tuple(combinations(range(len(self.calls)), 2))
        return self.edges if self.order == "partial" else ()

    @property
    def required(self) -> int:
        """How many calls may not be left out."""
        return sum(not call.optional for call in self.calls)


def compile_case(
    case: Case, place: Place | None = None, aliases: Mapping[str, str] | None = None
) -> tuple[Golden, ...]:
    """Compile every acceptable way of a case; empty where the case has no golden.

    Args:
        case: the case as written.
        place: where it was written, for errors.
        aliases: other name -> canonical name, as the suite declares them.

    Raises:
        CaseError: `after` or `from_result` that names nothing or is ambiguous, a cycle, a bad matcher.
    """
    if case.expect is None:
        return ()
    base = place or Place()
    ways = case.expect.ways
    if not ways:
        raise CaseError(f"case `{case.id}`: `expect` has neither `calls` nor `alternatives`", place=base)
    return tuple(compile_way(way, way_place(case, index, base), aliases or {}) for index, way in enumerate(ways))


class Quick:
    """A golden that is one plain list: every call required, its arguments stated and literal, no `after`.

    Such a golden cannot be wrong in itself, and a trace that makes just these calls needs no compiling.
    """

    __slots__ = ("order", "raws", "tools")

    def __init__(self, tools: list[str], raws: list[bytes], order: Order) -> None:
        """Keep the parts."""
        self.tools, self.raws, self.order = tools, raws, order

    def compile(self, place: Place) -> Golden:
        """The same golden, compiled. `place` is where the case was written."""
        way = Place(place.file, place.line, None, f"{place.path or '$'}.expect")
        calls = [ExpectedCall(*both, way, index) for index, both in enumerate(zip(self.tools, self.raws, strict=True))]
        return Golden(tuple(calls), self.order, None, (), {}, simple=True)


def quick(case: Case, aliases: Mapping[str, str]) -> Quick | None:
    """The quick form of a case's golden; `None` where it has none."""
    expect = case.expect
    if expect is None or expect.calls is UNSET or expect.alternatives:
        return None
    tools = [call.tool for call in expect.calls]
    raws = [bytes(call.arguments_json) for call in expect.calls if call.arguments_json is not UNSET]
    if len(raws) < len(tools) or any([call.optional or call.after for call in expect.calls]):
        return None
    if _NEEDS_CARE(b"\n".join(raws)) is not None or any([raw[:1] != b"{" for raw in raws]):
        return None
    return Quick([aliases.get(tool, tool) for tool in tools] if aliases else tools, raws, expect.order or "listed")


def way_place(case: Case, index: int, base: Place) -> Place:
    """Where the acceptable way number `index` of a case is written; `base` is the case's own place."""
    root = f"{base.path or '$'}.expect"
    own = case.expect is not None and case.expect.calls is not UNSET
    path = root if own and not index else f"{root}.alternatives[{index - own}]"
    return Place(base.file, base.line, None, path)


def compile_way(way: Way, place: Place, aliases: Mapping[str, str]) -> Golden:
    """Compile one acceptable way. Errors: see `compile_case`."""
    calls = tuple([ExpectedCall.written(c, aliases.get(c.tool, c.tool), place, i) for i, c in enumerate(way.calls)])
    simple = all([call.literal and call.raw is not None and not call.optional for call in calls])
    has_after = any([call.after for call in way.calls])
    edges: tuple[tuple[int, int], ...] = ()
    sources: dict[str, int] = {}
    if has_after or not simple:
        names = _Names(way.calls, aliases)
        edges = _edges(way.calls, names, place)
        sources = {
            flow.call: names.index(flow.call, call.place, "from_result") for call in calls for flow in call.flows
        }
        _refuse_cycles(len(calls), edges, [(sources[f.call], i) for i, c in enumerate(calls) for f in c.flows], place)
    return Golden(calls, way.order or ("partial" if has_after else "listed"), way.name, edges, sources, simple=simple)


class _Names:
    """Resolves a label, or a tool name that stands once, to the index of its golden call."""

    def __init__(self, calls: tuple[GoldenCall, ...], aliases: Mapping[str, str]) -> None:
        self._aliases = aliases
        self._labels: dict[str, list[int]] = {}
        self._tools: dict[str, list[int]] = {}
        for index, call in enumerate(calls):
            if call.label is not None:
                self._labels.setdefault(call.label, []).append(index)
            self._tools.setdefault(aliases.get(call.tool, call.tool), []).append(index)

    def index(self, name: str, place: Place, field: str) -> int:
        """Index of the one golden call that `name` means."""
        found = self._labels.get(name) or self._tools.get(self._aliases.get(name, name), [])
        if len(found) == 1:
            return found[0]
        known = ", ".join([*self._labels, *(tool for tool, places in self._tools.items() if len(places) == 1)])
        if found:
            raise CaseError(
                f"`{field}` names `{name}`, which {len(found)} golden calls have",
                place=place,
                hint="give each of them a `label` of its own and name that",
            )
        raise CaseError(f"`{field}` names `{name}`, which no golden call has", place=place, hint=f"known: {known}")


def _edges(calls: tuple[GoldenCall, ...], names: _Names, place: Place) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for later, call in enumerate(calls):
        where = Place(place.file, place.line, None, f"{place.path}.calls[{later}].after")
        found += [(names.index(name, where, "after"), later) for name in call.after]
    return tuple(dict.fromkeys(found))


def _refuse_cycles(size: int, edges: tuple[tuple[int, int], ...], flows: list[tuple[int, int]], place: Place) -> None:
    """Raise where the edges cannot all hold: some calls would each have to come first."""
    waiting = {later: {a for a, b in (*edges, *flows) if b == later} for later in range(size)}
    while free := [index for index, before in waiting.items() if not before & waiting.keys()]:
        for index in free:
            del waiting[index]
    if waiting:
        stuck = ", ".join(f"calls[{index}]" for index in waiting)
        raise CaseError(f"`after` goes in a circle: {stuck}", place=place, hint="remove one of the edges")
