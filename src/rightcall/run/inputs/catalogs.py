"""Which catalog counts for a trace: its own, else the case's, else the suite's (SPEC §3)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from rightcall.errors import Place
from rightcall.trace.catalog import Catalog, written_catalog
from rightcall.trace.digest import digest
from rightcall.trace.model import to_builtins

if TYPE_CHECKING:
    from rightcall.case.case import Case
    from rightcall.trace.model import Tool, Trace


class Catalogs:
    """Finds and compiles catalogs; equal bytes are compiled once.

    Args:
        tools: the suite's tools, from `--tools` or the settings.
        place: where those were written.

    Raises:
        ConfigError: a tool or schema that cannot be used, a tool defined twice.
    """

    def __init__(self, tools: tuple[Tool, ...] | None = None, place: Place | None = None) -> None:
        """Compile the suite's catalog."""
        self.suite_tools = tools
        self._suite = None if tools is None else Catalog(tools, place or Place())

    def check(self, case: Case, place: Place) -> None:
        """Compile a case's own catalog, so that a bad one is found before anything is graded."""
        written_catalog(case.tools_json, Place(place.file, place.line))

    def of(self, trace: Trace, case: Case, place: Place | None = None) -> tuple[Catalog | None, str | None]:
        """The catalog that counts, and how it differs from the next one if two are given."""
        found = [
            (name, catalog)
            for name, catalog in (
                ("trace", written_catalog(trace.tools_json, place)),
                ("case", written_catalog(case.tools_json, place)),
                ("suite", self._suite),
            )
            if catalog is not None
        ]
        if not found:
            return None, None
        chosen = found[0][1]
        conflicts = [(name, other) for name, other in found[1:] if _difference(chosen, other)]
        if not conflicts:
            return chosen, None
        name, other = conflicts[0]
        return chosen, f"the {found[0][0]}'s catalog counts and differs from the {name}'s: {_difference(chosen, other)}"


@lru_cache(maxsize=256)
def _difference(chosen: Catalog, other: Catalog) -> str | None:
    """The tools that two catalogs define differently (compared once: a catalog is hashed by identity)."""
    if chosen is other:
        return None
    left = {tool.name: _shape(tool) for tool in chosen.tools}
    right = {tool.name: _shape(tool) for tool in other.tools}
    names = sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))
    return ", ".join(names[:5]) + ("" if len(names) <= 5 else f" and {len(names) - 5} more") if names else None


def _shape(tool: Tool) -> str:
    """What makes two definitions of a tool the same: everything but the wording."""
    value = dict(to_builtins(tool))
    value.pop("description", None)
    return digest(value)
