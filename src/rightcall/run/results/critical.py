"""What is CRITICAL on record, and what people have decided about it: for gates, reports and exports (SPEC §8).

An open one holds gates and exports back. A confirmed one counts as a failure of its case and keeps its traces out of
training exports. A dismissed one has lost its severity, and the reason is shown wherever the case appears.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from rightcall.review.signoffs import SignState, is_failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rightcall.store.records import SignoffRecord, VerdictRecord
    from rightcall.store.store import Store
    from rightcall.store.waiting import QueueItem


class Critical(Struct, frozen=True, kw_only=True):
    """One CRITICAL item.

    Attributes:
        item: its full id. run_id, grader, unit, case_id, trace_id: what it is about.
        state: `open`, `confirmed` or `dismissed`.
        reasons: why it is in the queue.
        who, at, reason: of the sign-off that stands; `None` while it is open.
    """

    item: str
    run_id: str
    grader: str
    unit: str
    case_id: str | None
    trace_id: str | None
    state: SignState
    reasons: tuple[str, ...] = ()
    who: str | None = None
    at: str | None = None
    reason: str | None = None

    @property
    def is_failure(self) -> bool:
        """Whether its case counts as a failure whatever its verdict says."""
        return is_failure(None, self.state)


class Summary(Struct, frozen=True, kw_only=True):
    """How many CRITICAL items a run has, by what became of them."""

    open: int = 0
    confirmed: int = 0
    dismissed: int = 0


def criticals(store: Store, run_id: str | None = None, *, traces: Iterable[str] | None = None) -> Iterator[Critical]:
    """The CRITICAL items, in the queue's order.

    Args:
        store: the record.
        run_id: only of this run.
        traces: only those about one of these traces, by the SHA-256 of their bodies, whatever the run.
    """
    wanted = None if traces is None else list(traces)
    for item, signoff in store.queue.criticals(run_id, wanted):
        yield _critical(item, signoff)


def _critical(item: QueueItem, signoff: SignoffRecord | None) -> Critical:
    return Critical(
        item=item.item, run_id=item.run_id, grader=item.grader, unit=item.unit, case_id=item.case_id,
        trace_id=item.trace_id, state="open" if signoff is None else signoff.outcome, reasons=item.reasons,
        who=None if signoff is None else signoff.who, at=None if signoff is None else signoff.at,
        reason=None if signoff is None else signoff.reason,
    )  # fmt: skip


def summary_of(store: Store, run_id: str) -> Summary:
    """How many CRITICAL items a run has: what a gate asks."""
    counts: dict[SignState, int] = {"open": 0, "confirmed": 0, "dismissed": 0}
    for one in criticals(store, run_id):
        counts[one.state] += 1
    return Summary(open=counts["open"], confirmed=counts["confirmed"], dismissed=counts["dismissed"])


def by_unit(store: Store, run_id: str) -> dict[tuple[str, str], Critical]:
    """(grader, unit) -> its CRITICAL item, for a list of a run's results."""
    return {(one.grader, one.unit): one for one in criticals(store, run_id)}


def effective_verdict(verdict: VerdictRecord, critical: Critical | None) -> str | None:
    """The verdict as it counts: `FAIL` where a person has confirmed a CRITICAL misuse, else what is on record.

    A dismissal changes nothing here: it withdraws a severity and makes no failure a pass.
    """
    return "FAIL" if critical is not None and critical.is_failure else verdict.verdict
