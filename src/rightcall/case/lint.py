"""Faults of a suite that can be seen before any trace is graded (SPEC §4).

An *error* is a case that cannot be graded, or that no agent can pass as it stands: a golden that its own catalog or
policy refuses, or that another case contradicts. A *warning* is what is probably not meant: a rule that never fires, a
label that nobody uses, tools that a model cannot tell apart. An alternative is called unreachable only where that can
be proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from rightcall.case import checks
from rightcall.case.case import Case
from rightcall.case.checks import Known, Lint, inside, refusal
from rightcall.case.golden import compile_way, way_place
from rightcall.case.policy import Policy
from rightcall.errors import Place, RightcallError
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.schemas import compile_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.case.case import Way
    from rightcall.case.golden import ExpectedCall, Golden
    from rightcall.trace.model import Tool

__all__ = ["Lint", "lint"]


def lint(
    cases: Sequence[tuple[Case, Place]],
    tools: tuple[Tool, ...] | None = None,
    policy: Policy | None = None,
    aliases: Mapping[str, str] | None = None,
    *,
    tools_place: Place | None = None,
    policy_place: Place | None = None,
) -> list[Lint]:
    """Every fault of a suite: its catalog and policy first, then case by case.

    Args:
        cases: the cases as written, with where each stands; catalogs that are named by path are loaded.
        tools: the suite's catalog; a case's own catalog counts before it.
        policy: the suite's policy; a case's own is added to it.
        aliases: other tool name -> canonical name.
        tools_place: where the catalog is written.
        policy_place: where the policy is written.
    """
    rules = policy if policy is not None else Policy()
    return _Linter(tools, tools_place or Place(), rules, aliases or {}).run(cases, policy_place or Place())


@dataclass(slots=True)
class _Compiled:
    """A case with the ways that could be compiled; `whole` says that all could."""

    case: Case
    place: Place
    ways: list[tuple[Way, Golden, Place]]
    whole: bool


class _Linter:
    def __init__(
        self, tools: tuple[Tool, ...] | None, place: Place, policy: Policy, aliases: Mapping[str, str]
    ) -> None:
        self.policy, self.aliases, self.found = policy, aliases, list[Lint]()
        self._catalogs: dict[bytes, Known | None] = {}
        self._suite = None if tools is None else self._know(tools, place, None)

    def run(self, cases: Sequence[tuple[Case, Place]], policy_place: Place) -> list[Lint]:
        """Lint everything, in the order in which a person would look."""
        mark = len(self.found)
        compiled = [self._case(case, place) for case, place in cases]
        of_cases, self.found = self.found[mark:], self.found[:mark]
        catalogs = [known for known in (self._suite, *self._catalogs.values()) if known]
        names = {name for known in catalogs for name in known.tools} if catalogs else None
        self.found += checks.policy_faults(self.policy, names, self.aliases, policy_place, None)
        return [*self.found, *of_cases, *_across(compiled)]

    def _error(self, error: RightcallError, case_id: str | None) -> None:
        self.found.append(refusal(error, case_id))

    def _know(self, tools: tuple[Tool, ...], place: Place, case_id: str | None) -> Known:
        known = Known({self.aliases.get(tool.name, tool.name): tool for tool in tools}, {})
        for name, tool in known.tools.items():
            if tool.parameters is not None:
                try:
                    known.validators[name] = compile_schema(tool.parameters, place, f"the schema of tool `{tool.name}`")
                except RightcallError as error:
                    self._error(error, case_id)
        self.found += [*checks.thin(tools, place, case_id), *checks.overlapping(tools, place, case_id)]
        return known

    def _catalog_of(self, case: Case, place: Place) -> Known | None:
        """The catalog that counts for a case: its own, else the suite's. Each is looked at once."""
        if case.tools_json is UNSET or bytes(case.tools_json) == b"null":
            return self._suite
        data = bytes(case.tools_json)
        if data not in self._catalogs:
            where = inside(place, ".tools")
            try:
                self._catalogs[data] = self._know(parse_tools(jsontext.decode(data), where), where, case.id)
            except RightcallError as error:
                self._catalogs[data] = None
                self._error(error, case.id)
        return self._catalogs[data]

    def _case(self, case: Case, place: Place) -> _Compiled:
        try:
            jsontext.decode(jsontext.encode(case))  # what was kept as text is read here for the first time
        except RightcallError as error:
            self.found.append(refusal(error, case.id, place))
            return _Compiled(case, place, [], whole=False)
        known = self._catalog_of(case, place)
        compiled = self._compile(case, place)
        if case.policy is not None:
            where = inside(place, ".policy")
            names = known.tools.keys() if known else None
            self.found += checks.policy_faults(case.policy, names, self.aliases, where, case.id)
        policy = self.policy + (Policy() if case.policy is None else case.policy)
        for way, golden, where in compiled.ways:
            self.found += checks.idle_words(way, golden, where, case.id)
            for index, call in enumerate(golden.calls):
                self.found += checks.arguments(call, known, case.id)
                self.found += checks.unknown(call, index, known, where, case.id)
            self.found += checks.refused(golden, policy, self.aliases, where, case.id)
        self.found += _unreachable([(golden, where) for _, golden, where in compiled.ways], case.id)
        return compiled

    def _compile(self, case: Case, place: Place) -> _Compiled:
        compiled = _Compiled(case, place, [], whole=True)
        ways = case.expect.ways if case.expect else ()
        if case.expect and not ways:
            message = "`expect` has neither `calls` nor `alternatives`"
            hint = "write calls = [] where no tool may be called"
            self.found.append(Lint("error", "CASE_INVALID", inside(place, ".expect"), case.id, message, hint))
        for index, way in enumerate(ways):
            where = way_place(case, index, place)
            try:
                compiled.ways.append((way, compile_way(way, where, self.aliases), where))
            except RightcallError as error:
                compiled.whole = False
                self._error(error, case.id)
        return compiled


# ---- alternatives, and cases against each other --------------------------------------------------------------------


def _unreachable(ways: Sequence[tuple[Golden, Place]], case_id: str) -> Iterator[Lint]:
    for later, (golden, place) in enumerate(ways):
        for earlier, (other, other_place) in enumerate(ways[:later]):
            if _covers(other, golden):
                what = "is the same as" if _signature(other) == _signature(golden) else "adds nothing to"
                message = f"this way {what} the one at {other_place.path}: whatever fulfils it fulfils that one too"
                hint = f"remove way {later} or {earlier}"
                yield Lint("warning", "unreachable_alternative", place, case_id, message, hint)
                break


def _covers(wide: Golden, narrow: Golden) -> bool:
    """Whether every trace that fulfils `narrow` is certain to fulfil `wide`."""
    if _signature(wide) == _signature(narrow):
        return True
    if len(wide.calls) != len(narrow.calls) or wide.flow_sources != narrow.flow_sources:
        return False
    if not all(map(_accepts, wide.calls, narrow.calls)):
        return False
    if wide.order == "partial":
        return narrow.order == "partial" and set(wide.edges) <= set(narrow.edges)
    return wide.order in ("any", narrow.order)


def _accepts(wide: ExpectedCall, narrow: ExpectedCall) -> bool:
    same = wide.raw is None or (narrow.raw is not None and wide.identity == narrow.identity)
    return wide.tool == narrow.tool and same and wide.optional >= narrow.optional


def _signature(golden: Golden) -> tuple[object, ...]:
    """What a way expects, whatever its labels are called; where no order is asked for, its calls in any order."""
    calls = [(call.tool, b"" if call.raw is None else call.identity, call.optional) for call in golden.calls]
    if not golden.order_pairs and not golden.flows:
        return ("any", tuple(sorted(calls)))
    flows = tuple((later, golden.flow_sources[flow.call], flow.path) for later, flow in golden.flows)
    return (golden.order, tuple(calls), golden.order_pairs, flows)


def _across(compiled: Sequence[_Compiled]) -> Iterator[Lint]:
    """Ids that stand twice, cases that say the same, cases that contradict each other."""
    ids: dict[str, _Compiled] = {}
    contents: dict[str, _Compiled] = {}
    tasks: dict[bytes, _Compiled] = {}
    for one in compiled:
        case = one.case
        other = ids.setdefault(case.id, one)
        if other is not one:
            if one.place.file != other.place.file or jsontext.encode(other.case) != jsontext.encode(case):
                hint = "give each case an id of its own"
                message = f"this id stands twice{_also(other)}"
                yield Lint("error", "CASE_DUPLICATE_ID", one.place, case.id, message, hint)
            continue
        if not one.whole or (case.request is None and case.context is None):
            continue
        content = msgspec.structs.replace(case, id="", tags=(), metadata={}).digest
        same = contents.setdefault(content, one)
        if same is not one:
            message = f"the same as case `{same.case.id}`{_also(same)}"
            yield Lint("warning", "duplicate_case", one.place, case.id, message, "remove one of them")
            continue
        if case.expect is None:
            continue
        task = tasks.setdefault(_task(case), one)
        if {_signature(golden) for _, golden, _ in task.ways} != {_signature(golden) for _, golden, _ in one.ways}:
            message = f"case `{task.case.id}`{_also(task)} has the same request and context, and another golden"
            hint = "make them one case with `alternatives`, or say in the request what makes the difference"
            yield Lint("error", "contradictory_case", one.place, case.id, message, hint)


def _also(other: _Compiled) -> str:
    return f" (at {other.place})" if str(other.place) else ""


def _task(case: Case) -> bytes:
    """What the agent was faced with: equal for equal requests, contexts and catalogs."""
    return jsontext.encode(Case(id="", request=case.request, context=case.context, tools_json=case.tools_json))
