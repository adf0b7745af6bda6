"""What gates and comparisons read of a result: only the fields that some figure needs, of whichever grader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from rightcall.run.results.model import Row


class Contradiction(Struct, frozen=True):
    """A fact that a judge contradicts; only its name."""

    check: str = ""


class Heard(Struct, frozen=True):
    """One judge's opinion: whether it could be read, which facts it could be checked by, which it contradicts."""

    judge: str = ""
    status: str = "EVALUATED"
    checked: tuple[str, ...] = ()
    conflicts: tuple[Contradiction, ...] = ()


class Breach(Struct, frozen=True):
    """A rule of the policy that was broken."""

    rule: str = ""
    severity: str = ""
    message: str = ""


class Noted(Struct, frozen=True):
    """A finding of code."""

    kind: str = ""
    message: str = ""


class Line(Struct, frozen=True):
    """The fields of any grader's result that are read here."""

    metrics: dict[str, Any] = {}
    vetoes: tuple[Breach, ...] = ()
    findings: tuple[Noted, ...] = ()
    selected_tool: str | None = None
    expected_tool: str | None = None
    failure_category: str | None = None
    destructive: bool = False
    misuse_severity: str | None = None
    downstream_impact: str | None = None
    interpretation_fidelity_score: float | None = None
    fidelity_mapping: Any = "fifths"
    action_score: int | None = None
    tool: str | None = None
    order_inconsistent: bool = False
    agent_a: str = ""
    agent_b: str = ""
    reply: dict[str, Any] | None = None
    judges: tuple[Heard, ...] = ()
    calls: int = 0


_decoder = msgspec.json.Decoder(Line)


def line_of(row: Row) -> Line:
    """The fields of a row's result."""
    return _decoder.decode(row.line)
