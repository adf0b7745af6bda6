"""What one judge said about one case, as it stands in a result: its reply, or why there is none, and its conflicts."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Conflict(Struct, frozen=True, gc=False):
    """A decidable fact that a judge contradicts. `check` names the fact; `judge` and `code` say what each holds."""

    check: str
    message: str
    judge: Any = None
    code: Any = None


class Opinion(Struct, frozen=True, kw_only=True):
    """One judge's answer to one question.

    Attributes:
        judge, replicate: who was asked, and for the how-manieth time.
        status, reason: `UNEVALUABLE` with the code of what went wrong, if there is no reply.
        reply: the reply as plain values.
        problems: what is wrong with an unreadable reply, or was noted about a readable one; in words.
        checked: the facts that code decides too; `conflicts`: those that the reply contradicts.
        cached: served from the record, without a call. healed: given on the one content retry.
        model: the model that answered.
        attempts: digests of the recorded attempts.
    """

    judge: str
    replicate: int = 0
    status: Literal["EVALUATED", "UNEVALUABLE"] = "EVALUATED"
    reason: str | None = None
    reply: dict[str, Any] | None = None
    problems: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    cached: bool = False
    healed: bool = False
    model: str | None = None
    attempts: tuple[str, ...] = ()
