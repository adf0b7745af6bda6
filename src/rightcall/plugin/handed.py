"""What a test hands over for the session's report: plain data, so that it passes between processes.

It travels with pytest's own report of the test. Traces, cases and results are redacted before they are handed over.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType


class Planned(Struct, frozen=True, array_like=True):
    """A marked test that is going to run.

    Attributes:
        node: its node id. base: the same without the number of the trial.
        trial, repeats: which of how many.
        case_id: what it is about, if that is known. has_case: whether its marker names a case.
    """

    node: str
    base: str
    trial: int = 1
    repeats: int = 1
    case_id: str | None = None
    has_case: bool = False


class HandedTrace(Struct, frozen=True, kw_only=True):
    """A trace that was recorded, and the case that it belongs to; both redacted."""

    trace: Raw
    case: Raw | UnsetType = UNSET
    case_version: str | None = None


class HandedResult(Struct, frozen=True, kw_only=True):
    """A grader's answer: whose, its JSON (redacted), about which of the test's traces, and the facts of the grader."""

    grader: str
    line: Raw
    trace: int | None = None
    facts: dict[str, Any] = {}


class Handed(Struct, frozen=True, kw_only=True):
    """What one phase of a test hands over.

    Attributes:
        plan: every marked test of the session, with the first test of a process.
        test: what ran.
        is_done: whether the test has ended, so that nothing of it is missing.
        undecided: where it stopped without an answer.
    """

    test: Planned
    plan: tuple[Planned, ...] = ()
    is_done: bool = False
    undecided: str | None = None
    traces: tuple[HandedTrace, ...] = ()
    results: tuple[HandedResult, ...] = ()


def packed(handed: Handed) -> str:
    """As text, for the report."""
    return msgspec.json.encode(handed).decode()


def unpacked(text: str) -> Handed:
    """From the report."""
    return msgspec.json.decode(text, type=Handed)
