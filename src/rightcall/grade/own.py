"""What a grader of the user's own answers about one trace."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from rightcall.grade.opinion import Opinion
from rightcall.grade.verdict import Verdict


class OwnResult(Struct, frozen=True, kw_only=True):
    """What a grader of the user's own answers about one trace; `reply` holds the panel's values and the first texts."""

    trace_id: str | None
    case_id: str | None
    grader: str
    trial: int | None = None
    status: Literal["EVALUATED", "UNEVALUABLE"] = "EVALUATED"
    reason: str | None = None
    verdict: Verdict | None = None
    reply: dict[str, Any] | None = None
    golden_verdict: Verdict | None = None
    completed: bool | None = None
    judges: tuple[Opinion, ...] = ()
    disagreement: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    suspicions: tuple[str, ...] = ()
    calls: int = 0
