"""Whether a name in an assertion is that of a tool, or of one of its arguments.

A misspelt one is never called, or given, so that `should_not_call` would always hold.

Where a catalog is known, a name is one that it holds, an alias, a wrapped tool, or one that the agent called all the
same; any other is an error. So is an argument that a tool's schema does not have, where it says all that there are, and
no call gave it. Without a catalog nobody can tell: a name that stands nowhere else is said in a warning.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

from rightcall.errors import CaseError, TraceError
from rightcall.report.plain import visible
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.case.case import Case
    from rightcall.grade.actual import Actual
    from rightcall.plugin.state import State
    from rightcall.plugin.wanted import Wanted

_LEVELS = 5
"""Frames from the warning to the test: this one, `Ground.wanted`, the assertion, its wrapper."""


_OPEN = frozenset({
    "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "propertyNames", "dependentSchemas",
    "dependencies", "unevaluatedProperties",
})  # fmt: skip
"""Parts of a schema by which a tool may take arguments that `properties` does not name."""


class UnknownToolWarning(UserWarning):
    """An assertion names a tool that nothing else does; said once for each name."""


UnknownToolWarning.__module__ = "rightcall.plugin"


def check_tool(name: str, state: State, case: Case | None, actual: Actual) -> None:
    """Refuse the name of a tool that there is not, or warn of one that there may not be.

    Args:
        name: the canonical name.
        state: the test.
        case: what it is about.
        actual: the agent's calls, and the catalog that counts, if one is known.

    Raises:
        CaseError: a catalog is known, and does not have it. The nearest name is named.
    """
    aliases = state.suite.loaded.settings.aliases
    known = {*actual.names, *state.tools, *aliases.values()}
    if actual.catalog is not None:
        known |= {tool.name for tool in actual.catalog.tools}
    names = {aliases.get(one, one) for one in known}
    if name in names:
        return
    if actual.catalog is not None:
        raise CaseError(f"`{visible(name)}` is no tool of the catalog", hint=_hint(name, names))
    if name in {aliases.get(one, one) for one in _written(state, case)} or name in state.suite.doubted:
        return
    state.suite.doubted.add(name)
    warnings.warn(
        f"no tool `{visible(name)}` is known: it was neither called nor wrapped, no golden or policy names it, and "
        f"there is no catalog ({_hint(name, names)})",
        UnknownToolWarning,
        stacklevel=_LEVELS,
    )


def check_arguments(wanted: Wanted, state: State, actual: Actual) -> None:
    """Refuse the name of an argument that the tool does not have.

    Args:
        wanted: the call as the assertion describes it.
        state: the test.
        actual: the agent's calls, and the catalog that counts, if one is known.

    Raises:
        CaseError: the tool's schema names all its arguments, and this is none of them. The nearest one is named.
    """
    aliases = state.suite.loaded.settings.aliases
    known = _arguments(wanted.tool, actual, aliases)
    if known is None:
        return
    for index, name in enumerate(actual.names):
        if name == wanted.tool:
            with suppress(TraceError):  # bytes that no JSON reader can hold name no argument
                known |= (actual.value(index) or {}).keys()
    for name in wanted.nodes:
        if name not in known:
            tool = visible(wanted.tool)
            raise CaseError(f"`{visible(name)}` is no argument of `{tool}` in the catalog", hint=_hint(name, known))


def _arguments(tool: str, actual: Actual, aliases: Mapping[str, str]) -> set[str] | None:
    """The arguments that the catalog says a tool has; `None` where there may be others."""
    catalog, found = actual.catalog, set[str]()
    names = [] if catalog is None else [one.name for one in catalog.tools if aliases.get(one.name, one.name) == tool]
    for name in names:
        schema = catalog.schema(name) if catalog is not None else {}
        properties = schema.get("properties")
        is_open = schema.keys() & _OPEN or schema.get("additionalProperties", False) is not False
        if is_open or not isinstance(properties, dict):
            return None
        found |= properties.keys()
    return found if names else None


def _hint(name: str, names: set[str]) -> str:
    near = nearest(name, sorted(names))
    return f"did you mean `{visible(near)}`?" if near else "check its spelling"


def _written(state: State, case: Case | None) -> Iterator[str]:
    """The tools that the golden and the policies name."""
    yield from state.suite.loaded.settings.policy.tools
    if case is None:
        return
    if case.policy is not None:
        yield from case.policy.tools
    if case.expect is not None:
        yield from (one.tool for way in case.expect.ways for one in way.calls)
