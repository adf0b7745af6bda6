"""A call as an assertion describes it, against the calls that were made: yes, no, or nobody can tell.

Only the arguments that the assertion names are compared; others do not matter. They are values or matchers of cases
(SPEC §4). A default that the tool's schema declares stands in for an argument that was left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rightcall.case.matchers import ABSENT, compile_value, flows_in, is_ignored, matches, may_be_absent
from rightcall.errors import CaseError, Place, TraceError
from rightcall.grade.arguments import default_of
from rightcall.plugin.values import NotJson, plain
from rightcall.trace.jsontext import nfc_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.case.matchers import Node
    from rightcall.grade.actual import Actual
    from rightcall.trace.jsontext import JsonValue

Fit = Literal["yes", "no", "unreadable", "unknown"]
"""`unreadable`: the agent's arguments are no JSON object, or missing. `unknown`: they were not captured."""


def compiled(value: object, where: str) -> tuple[JsonValue, Node]:
    """An expected value as JSON, and ready for matching.

    Raises:
        CaseError: it is not JSON, or holds a matcher that cannot be used here.
    """
    place = Place(path=where)
    try:
        written = plain(value)
    except NotJson as error:
        raise CaseError(f"holds {error}, which is not JSON", place=place) from None
    node = compile_value(written, place)
    if flows_in(node):
        raise CaseError("`from_result` needs a golden", place=place, hint="write it in a case, and assert_golden()")
    return written, node


@dataclass(frozen=True)
class Wanted:
    """A call of a tool with some arguments.

    Attributes:
        tool: its canonical name.
        written: the arguments as the assertion gives them.
        nodes: the same, ready for matching.
    """

    tool: str
    written: Mapping[str, JsonValue]
    nodes: Mapping[str, Node]

    @classmethod
    def of(cls, tool: object, arguments: Mapping[str, object], aliases: Mapping[str, str]) -> Wanted:
        """Take what an assertion says.

        Raises:
            CaseError: no name, or an argument that cannot be used.
        """
        if not isinstance(tool, str) or not tool:
            raise CaseError(f"a tool is called by its name, not by {tool!r}")
        pairs = {name: compiled(value, f"{tool}.{name}") for name, value in arguments.items()}
        written = {name: pair[0] for name, pair in pairs.items()}
        return cls(aliases.get(tool, tool), written, nfc_keys({name: pair[1] for name, pair in pairs.items()}))

    def fits(self, actual: Actual, index: int) -> Fit:
        """Whether a call of this tool is the one."""
        if not self.nodes:
            return "yes"
        status = actual.calls[index].arguments_status
        if status != "ok":
            return "unknown" if status == "not_captured" else "unreadable"
        try:
            return "no" if self.differences(actual, index) else "yes"
        except TraceError:
            return "unknown"  # bytes that no JSON reader can hold

    def differences(self, actual: Actual, index: int) -> list[tuple[str, JsonValue]]:
        """The named arguments that differ, with what the call has there (`ABSENT`: nothing).

        Raises:
            TraceError: the recorded bytes cannot be decoded.
        """
        found = actual.value(index) or {}
        schemas = _schemas(actual, index)
        unequal: list[tuple[str, JsonValue]] = []
        for name, node in self.nodes.items():
            value = found[name] if name in found else default_of(schemas, name)
            if is_ignored(node) or (value is ABSENT and may_be_absent(node)):
                continue
            if value is ABSENT or not matches(node, value):
                unequal.append((name, value))
        return unequal


def _schemas(actual: Actual, index: int) -> Mapping[str, JsonValue]:
    if actual.catalog is None:
        return {}
    name = actual.tool_name(index)
    properties = actual.catalog.schema(name).get("properties") if name in actual.catalog else None
    return properties if isinstance(properties, dict) else {}


@dataclass(frozen=True)
class Found:
    """The calls of one tool, by whether they are the wanted ones; indices of the agent's calls."""

    yes: tuple[int, ...]
    no: tuple[int, ...]
    unreadable: tuple[int, ...]
    unknown: tuple[int, ...]

    @classmethod
    def among(cls, actual: Actual, wanted: Wanted) -> Found:
        """Look at every call."""
        parts: dict[Fit, list[int]] = {"yes": [], "no": [], "unreadable": [], "unknown": []}
        for index, name in enumerate(actual.names):
            if name == wanted.tool:
                parts[wanted.fits(actual, index)].append(index)
        return cls(*(tuple(parts[fit]) for fit in ("yes", "no", "unreadable", "unknown")))

    @property
    def all(self) -> tuple[int, ...]:
        """Every call of the tool, in order."""
        return tuple(sorted((*self.yes, *self.no, *self.unreadable, *self.unknown)))
