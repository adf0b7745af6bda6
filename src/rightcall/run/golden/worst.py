"""The results of a run that reports list first, with their traces and cases: never more than a fixed number."""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple

import msgspec

from rightcall.case.case import Case
from rightcall.grade.verdict import GoldenResult
from rightcall.run.golden.tally import Shown
from rightcall.run.results.order import natural
from rightcall.trace.model import Trace


class _Kept(NamedTuple):
    """One result; compared by how bad it is, then by its name as people count."""

    standing: tuple[int, str]
    line: bytes
    trace: bytes | None
    case: bytes | None


def _standing(result: GoldenResult) -> tuple[int, str]:
    """The worst first, as reports list them: vetoed, the CRITICAL first, failed, without a verdict, passed."""
    if result.vetoes:
        rank = 0 if any(veto.severity == "CRITICAL" for veto in result.vetoes) else 1
    else:
        rank = 2 if result.verdict == "FAIL" else 4 if result.verdict == "PASS" else 3
    return rank, natural(result.trace_id or result.case_id or "")


class Worst:
    """The worst results so far."""

    def __init__(self) -> None:
        """Nothing is kept yet."""
        self._kept: list[_Kept] = []

    def add(self, result: GoldenResult, line: bytes, trace: Trace | None, case: Case | None, most: int) -> None:
        """Keep a result, if it is among the worst `most`; `line` is its JSON."""
        standing = _standing(result)
        if len(self._kept) < most or standing < self._kept[-1].standing:
            bodies = [None if one is None else msgspec.json.encode(one) for one in (trace, case)]
            self._take(_Kept(standing, line, *bodies), most)

    def merge(self, other: Worst, most: int) -> None:
        """Take in the results of another part of the run."""
        for one in other._kept:
            if len(self._kept) < most or one.standing < self._kept[-1].standing:
                self._take(one, most)

    def _take(self, one: _Kept, most: int) -> None:
        insort(self._kept, one, key=lambda kept: kept.standing)
        del self._kept[most:]

    def shown(self) -> list[Shown]:
        """What is kept, the worst first."""
        return [
            Shown(
                msgspec.json.decode(one.line, type=GoldenResult),
                None if one.trace is None else msgspec.json.decode(one.trace, type=Trace),
                None if one.case is None else msgspec.json.decode(one.case, type=Case),
            )
            for one in self._kept
        ]
