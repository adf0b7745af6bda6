"""The pytest plugin: what a test of an agent's tool calls is written with. `docs/pytest.md` shows how.

pytest finds it by its entry point; these names are for annotations and `pytest.raises`. They are loaded when they are
first used, so that a session without any of it does not pay for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rightcall.plugin.agent import Agent
    from rightcall.plugin.calls import Calls
    from rightcall.plugin.named import UnknownToolWarning
    from rightcall.plugin.traced import RecordedTrace
    from rightcall.plugin.undecided import Undecided

__all__ = ["Agent", "Calls", "RecordedTrace", "Undecided", "UnknownToolWarning"]

_HOMES = {
    "Agent": "rightcall.plugin.agent",
    "Calls": "rightcall.plugin.calls",
    "RecordedTrace": "rightcall.plugin.traced",
    "Undecided": "rightcall.plugin.undecided",
    "UnknownToolWarning": "rightcall.plugin.named",
}


if not TYPE_CHECKING:  # a type checker would take any name for one that this gives

    def __getattr__(name: str) -> Any:
        """Load a public name on first use."""
        if name not in _HOMES:
            raise AttributeError(f"module 'rightcall.plugin' has no attribute {name!r}")
        return globals().setdefault(name, getattr(import_module(_HOMES[name]), name))
