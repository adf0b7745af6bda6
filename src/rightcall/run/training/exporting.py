"""Pairs of `preference` runs that may be used for training, from the record: what was judged, and what people said.

An open CRITICAL item about any trace of the runs holds the whole export back (SPEC §8): it would be decided after the
data had left. It may belong to any run and grader; its trace is known by its content, or by its id with its case's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import UNSET

from rightcall.case.case import Case
from rightcall.errors import ConfigError, NoDataError, Place, RunError
from rightcall.grade.preference import PreferenceResult
from rightcall.review.urgency import needed, rank
from rightcall.run.inputs.catalog_record import kept_catalog
from rightcall.run.results.critical import criticals
from rightcall.run.results.facts import graders_in
from rightcall.run.training.rules import PairReview, Said, Settled, settle
from rightcall.store.packing import digest_of
from rightcall.store.records import item_of, short_item
from rightcall.trace.catalog import parse_tools
from rightcall.trace.jsontext import decode
from rightcall.trace.model import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rightcall.run.results.critical import Critical
    from rightcall.run.training.rules import ExportRules
    from rightcall.settings.model import ReviewTable
    from rightcall.store.records import VerdictRecord
    from rightcall.store.store import Store
    from rightcall.trace.model import Tool

GRADER = "preference"
NAMED = 5
"""How many items a message names."""


class Used(NamedTuple):
    """A pair that may be used: its verdict on record, that record's digest, and who won."""

    record: VerdictRecord
    digest: str
    settled: Settled


class Pair(NamedTuple):
    """The two traces of a pair by what became of them, its case, and the catalog of each."""

    better: Trace
    worse: Trace
    case: Case | None
    tools: tuple[tuple[Tool, ...] | None, tuple[Tool, ...] | None]


@dataclass
class Selection:
    """What may be used, in the order of the record; how many pairs there were; why others may not be used."""

    used: list[Used] = field(default_factory=list)
    pairs: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def preference_runs(store: Store, wanted: Sequence[str]) -> list[str]:
    """The runs to export: those that are named, else the newest one of `preference`.

    Raises:
        StoreError: an unknown run. ConfigError: a run of another grader. NoDataError: there is none at all.
    """
    for run_id in wanted:
        graders = graders_in(store.run(run_id))
        if GRADER not in graders:
            named = ", ".join(f"`{name}`" for name in graders)
            raise ConfigError(
                f"run `{run_id}` is one of {named}", place=Place("--run"), hint="name a run of `preference`"
            )
    if wanted:
        return list(dict.fromkeys(wanted))
    newest = next((run.id for run, _ in store.runs() if GRADER in graders_in(run)), None)
    if newest is None:
        raise NoDataError("no run of `preference` is on record", hint="compare traces first: rightcall preference A B")
    return [newest]


def unfinished(store: Store, run_ids: Sequence[str]) -> list[str]:
    """The runs that were not finished: they may hold fewer pairs than they should."""
    last = dict.fromkeys(run_ids) | {run_id: event.status for run_id in run_ids for event in store.events(run_id)}
    return [run_id for run_id, status in last.items() if status != "finished"]


def select(store: Store, run_ids: Sequence[str], rules: ExportRules, review: ReviewTable) -> Selection:
    """Every pair of the runs that may be used.

    Args:
        store: the record.
        run_ids: runs of `preference`.
        rules: what is asked of a pair.
        review: how many answers an item needs.

    Raises:
        RunError: `REVIEW_WAITING` (exit 4): an open CRITICAL item about one of the traces.
        StoreError: the record cannot be read.
    """
    verdicts = [record for run_id in run_ids for record in store.verdicts(run_id) if record.grader == GRADER]
    store.queue.sync(rank, lambda reasons: needed(reasons, review.answers, review.answers_critical))
    states = _Criticals(store)
    _refuse_open(states, verdicts)
    reviews = {unit: found for run_id in run_ids for unit, found in _reviews(store, run_id)}
    chosen = Selection()
    for record in verdicts:
        chosen.pairs += 1
        result = msgspec.json.decode(store.body(record.result), type=PreferenceResult)
        item = item_of(record.run_id, GRADER, record.unit)
        found = settle(result, reviews.get(item, PairReview()), [one.state for one in states.of(record)], rules)
        if not isinstance(found, Settled):
            chosen.left_out[found] += 1
        elif record.trace is None or record.trace_b is None:
            chosen.left_out["no_trace"] += 1
        else:
            chosen.used.append(Used(record, digest_of(record), found))
    return chosen


def catalogs_of(
    store: Store, run_ids: Iterable[str], tools: tuple[Tool, ...] | None
) -> dict[str, tuple[Tool, ...] | None]:
    """The suite's catalog of each run: the one that it kept, else `tools`.

    Raises:
        StoreError, ConfigError: what is kept cannot be read.
    """
    kept = {run_id: kept_catalog(store, run_id) for run_id in run_ids}
    return {run_id: tools if catalog is None else catalog.tools for run_id, catalog in kept.items()}


def pair_of(store: Store, used: Used, tools: tuple[Tool, ...] | None = None) -> Pair:
    """The traces of a pair as they are kept, the winner's first, with the catalog of each.

    The catalog is the trace's own, else the case's, else `tools`.

    Raises:
        StoreError, TraceError, ConfigError: what is kept cannot be read.
    """
    record = used.record
    case = None if record.case is None else msgspec.json.decode(store.body(record.case), type=Case)
    a, b = (msgspec.json.decode(store.body(body or ""), type=Trace) for body in (record.trace, record.trace_b))
    better, worse = (a, b) if used.settled.winner == "A" else (b, a)
    return Pair(better, worse, case, (_tools(better, case, tools), _tools(worse, case, tools)))


def _tools(trace: Trace, case: Case | None, suite: tuple[Tool, ...] | None) -> tuple[Tool, ...] | None:
    for written in (trace.tools_json, UNSET if case is None else case.tools_json):
        if written is not UNSET:
            return parse_tools(decode(bytes(written)), Place(path=trace.id))
    return suite


# ---- people ----------------------------------------------------------------------------------------------------------

_Key = str | tuple[str, str | None]
"""What a trace is known by: the name of its body, or its id with that of its case."""


class _Criticals:
    """Every CRITICAL item on record, by the traces that it is about."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._by_trace: dict[_Key, list[Critical]] = {}
        for one in criticals(store):
            verdict = store.verdict(one.run_id, one.unit, one.grader)
            own: list[_Key] = [] if one.trace_id is None else [(one.trace_id, one.case_id)]
            for key in {*own, *([] if verdict is None else self._keys(verdict))}:
                self._by_trace.setdefault(key, []).append(one)

    def of(self, record: VerdictRecord) -> list[Critical]:
        """Those about the traces of a verdict."""
        if not self._by_trace:
            return []
        return [one for key in self._keys(record) for one in self._by_trace.get(key, ())]

    def _keys(self, record: VerdictRecord) -> list[_Key]:
        keys: list[_Key] = []
        for body in (record.trace, record.trace_b):
            if body is not None:
                known = self._store.trace(body)
                keys += [body] if known is None else [body, (known.id, known.case_id)]
        return keys


def _refuse_open(states: _Criticals, verdicts: Iterable[VerdictRecord]) -> None:
    """Refuse while somebody must still sign for what is in one of the traces."""
    waiting = {one.item for record in verdicts for one in states.of(record) if one.state == "open"}
    if not waiting:
        return
    names = sorted(map(short_item, waiting))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    what = "CRITICAL item waits" if len(names) == 1 else "CRITICAL items wait"
    error = RunError(
        f"{len(names)} {what} for a sign-off: {', '.join(names[:NAMED])}{more}; nothing was written",
        code="REVIEW_WAITING", hint="sign first: rightcall signoff",
    )  # fmt: skip
    error.exit_code = 4
    raise error


def _reviews(store: Store, run_id: str) -> Iterator[tuple[str, PairReview]]:
    """Where each pair of a run that is in the queue stands, by item."""
    from rightcall.store.queue import Only

    for item in store.queue.items(Only(run_id=run_id, grader=GRADER)):
        yield item.item, PairReview(
            reasons=item.reasons, is_open=item.state != "done", adjudicates=item.adjudicates,
            said=_said(store, item.item) if item.answered_by else None,
        )  # fmt: skip


def _said(store: Store, item: str) -> Said | None:
    """What people agree on, with the fields of the answers that it rests on."""
    consensus = store.queue.consensus(item)
    if consensus is None:
        return None
    heard = [one for _, digest, one in store.queue.answers(item=item) if digest in consensus.answers]
    return Said(fields=consensus.fields, answers=tuple(None if one.unsure is not None else one.fields for one in heard))
