"""Where a setting comes from: a place in the file, a variable of the environment, the command line, or a default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rightcall.case.written import line_of
from rightcall.errors import Place
from rightcall.settings.faults import key_path
from rightcall.settings.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.settings.faults import Fault
    from rightcall.settings.positions import Path

PREFIX = "RIGHTCALL_"


@dataclass(frozen=True)
class Source:
    """A file of settings as text.

    Attributes:
        file: its name, if it has one.
        text: what it holds; empty where there is no text to look into.
        inside: the path of the table that holds the settings: `("tool", "rightcall")` in `pyproject.toml`.
        is_toml: of other texts, only a key that is written once can be found.
    """

    file: str | None = None
    text: str = ""
    inside: Path = ()
    is_toml: bool = True

    @cached_property
    def positions(self) -> Positions:
        """Where its keys and values stand."""
        return Positions(self.text)

    def place(self, path: Path, *, of_key: bool = False) -> Place:
        """Where a part of the settings is written: its value, or its key."""
        shown = key_path(path)
        if not self.text:
            return Place(self.file, None, None, shown)
        if not self.is_toml:
            keys = [step for step in path if isinstance(step, str)]
            return Place(self.file, line_of(self.text, keys[-1]) if keys else None, None, shown)
        whole = (*self.inside, *path)
        found = self.positions.of_key(whole) if of_key else self.positions.of_value(whole)
        line, column = found or (None, None)
        return Place(self.file, line, column, shown)

    def of_fault(self, fault: Fault) -> Place:
        """Where a fault is written."""
        return self.place(fault.path, of_key=fault.at_key)


def variable_of(key: str) -> str:
    """The environment variable of a dotted key."""
    return PREFIX + key.upper().replace(".", "__")


def in_environment(path: Path, variables: Mapping[str, str]) -> Place:
    """The variable that set a part of the settings.

    Args:
        path: keys and indices.
        variables: dotted key -> variable.
    """
    steps = list(path)
    while steps:
        variable = variables.get(".".join(map(str, steps)))
        if variable is not None:
            return Place(f"environment {variable}", None, None, key_path(path))
        steps.pop()
    # A fault of a whole table: any variable that reaches into it.
    within = ".".join(map(str, path)) + "."
    variable = next((name for key, name in variables.items() if key.startswith(within)), "")
    return Place(f"environment {variable}".strip(), None, None, key_path(path))
