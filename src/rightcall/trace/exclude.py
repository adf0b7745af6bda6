"""Calls that are no decision to use a tool: a framework's way of returning structured output, for example.

They are kept and marked (`by` is `framework`), so that nothing is lost and nothing is graded that is no tool.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from rightcall.trace.model import Call, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.trace.model import Event


def exclude(trace: Trace, patterns: Sequence[str]) -> Trace:
    """The trace with the agent's calls of these tools marked as the framework's (`*` and `?` stand for characters)."""
    if not any(_is_excluded(event, patterns) for event in trace.events):
        return trace
    return msgspec.structs.replace(trace, events=tuple(_marked(event, patterns) for event in trace.events))


def _is_excluded(event: Event, patterns: Sequence[str]) -> bool:
    if not isinstance(event, Call) or event.by != "agent":
        return False
    return any(fnmatchcase(event.tool, pattern) for pattern in patterns)


def _marked(event: Event, patterns: Sequence[str]) -> Event:
    return msgspec.structs.replace(event, by="framework") if _is_excluded(event, patterns) else event
