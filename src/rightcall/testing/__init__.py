"""What users test with: a scripted model, and a model server that fails on purpose.

Names are loaded when they are first used: a test without a server does not pay for one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rightcall.llm.scripted import ScriptedModel
    from rightcall.testing.server import FaultyServer

__all__ = ["FaultyServer", "ScriptedModel"]

_HOMES = {"FaultyServer": "rightcall.testing.server", "ScriptedModel": "rightcall.llm.scripted"}


if not TYPE_CHECKING:  # a type checker would take any name for one that this gives

    def __getattr__(name: str) -> Any:
        """Load a public name on first use."""
        if name not in _HOMES:
            raise AttributeError(f"module 'rightcall.testing' has no attribute {name!r}")
        return globals().setdefault(name, getattr(import_module(_HOMES[name]), name))
