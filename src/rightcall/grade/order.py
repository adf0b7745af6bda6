"""Order: which constraints the pairs are under, and which of them hold (SPEC §5.5).

Constraints bind only golden calls that are paired: a missing call lowers recall, not order.

* `listed`: every two golden calls, in the order in which they are listed. Two calls of one turn are parallel and
  satisfy it either way.
* `partial`: the `after` edges. The earlier call must come first, in an earlier turn (its result must exist), and must
  not be known to have failed.
* `any`: none.
* every `from_result`, under any order: as an `after` edge, and the value must be equal to that path of the result.
"""

from __future__ import annotations

import re
from bisect import bisect, insort
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from rightcall.case.matchers import ABSENT, FromResult
from rightcall.errors import TraceError
from rightcall.trace import jsontext
from rightcall.trace.jsontext import JsonValue, same

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.case.golden import Golden
    from rightcall.grade.actual import Actual

Pairs = "Mapping[int, int]"
"""Golden index -> actual index."""

_PATH_STEP = re.compile(r"\[(\d+)\]|\['([^']*)'\]|([^.\[\]]+)")


class Violation(NamedTuple):
    """One constraint that does not hold: golden indices of the earlier and the later call, and why."""

    earlier: int
    later: int
    why: str
    flow: FromResult | None = None


class Order(NamedTuple):
    """How many constraints apply, and those that do not hold."""

    applicable: int
    violations: list[Violation]

    @property
    def satisfied(self) -> int:
        """Number of constraints that hold."""
        return self.applicable - len(self.violations)


class ResultNotCaptured(Exception):
    """A data-flow constraint needs a result that was not recorded: it cannot be decided."""


def evaluate(golden: Golden, actual: Actual, pairs: Mapping[int, int]) -> Order:
    """Check every constraint that applies to the pairs.

    Raises:
        ResultNotCaptured: a data flow whose source result was not recorded.
    """
    if golden.order == "listed":
        applicable, violations = _listed(golden, actual, pairs)
    else:
        edges = [(a, b) for a, b in golden.order_pairs if a in pairs and b in pairs]
        applicable = len(edges)
        violations = [Violation(a, b, why) for a, b in edges if (why := _edge(actual, pairs[a], pairs[b]))]
    for later, flow in golden.flows:
        earlier = golden.flow_sources[flow.call]
        if later in pairs and earlier in pairs:
            applicable += 1
            why = _edge(actual, pairs[earlier], pairs[later]) or _flow(golden, actual, pairs, later, flow)
            if why:
                violations.append(Violation(earlier, later, why, flow))
    return Order(applicable, violations)


def _listed(golden: Golden, actual: Actual, pairs: Mapping[int, int]) -> tuple[int, list[Violation]]:
    paired = [index for index in range(len(golden.calls)) if index in pairs]
    applicable = len(paired) * (len(paired) - 1) // 2
    if all(pairs[a] < pairs[b] for a, b in pairwise(paired)):
        return applicable, []
    violations = [
        Violation(a, b, "was called after it")
        for place, a in enumerate(paired)
        for b in paired[place + 1 :]
        if pairs[a] > pairs[b] and not actual.same_turn(pairs[a], pairs[b])
    ]
    return applicable, violations


def _edge(actual: Actual, earlier: int, later: int) -> str | None:
    """Why an edge between two actual calls does not hold; `None` if it does."""
    if actual.same_turn(earlier, later):
        return "was called in the same turn, before its result existed"
    if earlier > later:
        return "was called after it"
    return "had failed" if actual.failed(earlier) else None


def _flow(golden: Golden, actual: Actual, pairs: Mapping[int, int], later: int, flow: FromResult) -> str | None:
    """Why the value does not come from the result; `None` if it does, or if it is optional and left out."""
    wanted = source_values(actual, pairs[golden.flow_sources[flow.call]], flow.path)
    value = actual.value(pairs[later])
    if value is None:
        return f"cannot be seen to give its `{flow.path}`: the arguments are not readable"
    if not wanted:
        return f"has no `{flow.path}` in its result"
    found = _values_under(golden.calls[later].nodes, value, flow)
    if not found:
        return None if flow.optional else f"returned a `{flow.path}` that was not used"
    return None if any(same(one, item) for one in wanted for item in found) else f"returned another `{flow.path}`"


def _values_under(nodes: Mapping[str, object], value: Mapping[str, JsonValue], flow: FromResult) -> list[JsonValue]:
    """The actual values that stand where a flow stands in the golden."""
    from rightcall.case.matchers import ListNode, ObjectNode

    found: list[JsonValue] = []
    for key, node in nodes.items():
        item = value.get(key, ABSENT)
        if node is flow and item is not ABSENT:
            found.append(item)
        elif isinstance(node, ObjectNode) and isinstance(item, dict):
            found += _values_under(node.items, item, flow)
        elif isinstance(node, ListNode) and isinstance(item, list):
            items = {str(place): child for place, child in enumerate(node.items)}
            found += _values_under(items, {str(place): part for place, part in enumerate(item)}, flow)
    return found


def source_values(actual: Actual, index: int, path: str) -> list[JsonValue]:
    """What stands at a path of a call's result; nothing if the path is not there.

    A result that is a text holding JSON is read as that JSON; at its root, the text itself will do as well.

    Raises:
        ResultNotCaptured: no result was recorded.
    """
    result = actual.calls[index].result
    if result is None or not result.is_captured:
        raise ResultNotCaptured
    value = result.content
    steps = _PATH_STEP.findall(path.removeprefix("$"))
    found: list[JsonValue] = []
    if isinstance(value, str):
        found = [] if steps else [value]
        try:
            value = jsontext.decode(value)
        except TraceError:
            return found
    for number, quoted, name in steps:
        value = _child(value, int(number) if number else (quoted or name))
    return found if value is ABSENT else [value, *found]


def _child(value: JsonValue, step: int | str) -> JsonValue:
    if isinstance(value, dict):
        return value.get(str(step), ABSENT)
    if isinstance(value, list) and str(step).isdigit():
        return value[int(step)] if int(step) < len(value) else ABSENT
    return ABSENT


def resolver(golden: Golden, actual: Actual, pairs: Mapping[int, int]) -> _Resolver:
    """A test of data-flow values against the results of the calls that were really paired."""
    return _Resolver(golden, actual, pairs)


class _Resolver:
    def __init__(self, golden: Golden, actual: Actual, pairs: Mapping[int, int]) -> None:
        self._golden, self._actual, self._pairs = golden, actual, pairs

    def __call__(self, flow: FromResult, value: JsonValue) -> bool:
        """Whether a value equals the flow's path in its source's result; a source that was not called has none."""
        source = self._pairs.get(self._golden.flow_sources[flow.call])
        return source is not None and any(same(one, value) for one in source_values(self._actual, source, flow.path))


def satisfied(golden: Golden, actual: Actual, pairs: Mapping[int, int]) -> int:
    """Number of constraints that hold; the same as `evaluate(…).satisfied`, without naming the others."""
    if golden.order == "listed" and not golden.flows and not actual.has_parallel_calls:
        return len(pairs) * (len(pairs) - 1) // 2 - inversions(pairs)
    return evaluate(golden, actual, pairs).satisfied


def inversions(pairs: Mapping[int, int]) -> int:
    """Number of golden pairs whose actual calls stand the other way round."""
    seen: list[int] = []
    count = 0
    for index in sorted(pairs):
        count += len(seen) - bisect(seen, pairs[index])
        insort(seen, pairs[index])
    return count


def monotone_core(pairs: Mapping[int, int]) -> set[int]:
    """Golden indices of a longest run of pairs that stand in order: the anchors of the aligned diff."""
    golden = sorted(pairs)
    if all([pairs[a] < pairs[b] for a, b in pairwise(golden)]):
        return set(golden)
    tails: list[int] = []  # position in `golden` of the smallest last element of a run of each length
    before: list[int | None] = []
    for position, index in enumerate(golden):
        low, high = 0, len(tails)
        while low < high:
            middle = (low + high) // 2
            if pairs[golden[tails[middle]]] < pairs[index]:
                low = middle + 1
            else:
                high = middle
        before.append(tails[low - 1] if low else None)
        tails[low : low + 1] = [position]
    core: set[int] = set()
    last: int | None = tails[-1] if tails else None
    while last is not None:
        core.add(golden[last])
        last = before[last]
    return core
