"""rightcall: did the AI agent make the right tool calls, and how far can that answer be trusted?

Names are loaded when they are first used, so that importing the package costs next to nothing. See `rightcall.api`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rightcall.api import (
        Call,
        Case,
        CaseError,
        ConfigError,
        Finding,
        GoldenResult,
        Message,
        Metrics,
        NoDataError,
        Place,
        Policy,
        Result,
        RightcallError,
        Tool,
        Trace,
        TraceError,
        call,
        grade,
        load_cases,
        load_policy,
        load_traces,
    )

__version__ = "0.1.0"
__all__ = [
    "Call",
    "Case",
    "CaseError",
    "ConfigError",
    "Finding",
    "GoldenResult",
    "Message",
    "Metrics",
    "NoDataError",
    "Place",
    "Policy",
    "Result",
    "RightcallError",
    "Tool",
    "Trace",
    "TraceError",
    "call",
    "grade",
    "load_cases",
    "load_policy",
    "load_traces",
]


if not TYPE_CHECKING:  # a type checker would take any name for one that this gives

    def __getattr__(name: str) -> Any:
        """Load a public name on first use."""
        if name not in __all__:
            raise AttributeError(f"module 'rightcall' has no attribute {name!r}")
        return globals().setdefault(name, api_function(name))


def api_function(name: str) -> Any:
    """A public name, from where it lives."""
    return getattr(import_module("rightcall.api"), name)
