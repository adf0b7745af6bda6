"""A judged run from its first question to its figures: record, ask, conclude, count; stop and go on.

Results are spooled to a temporary file as they are concluded and read back in input order, so that nothing grows with
their number but one place a result. With a store, every verdict is on record before it is counted; without one (which
only code-decided runs may do) nothing is kept.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import msgspec

from rightcall.errors import ConfigError, RightcallError
from rightcall.run.judging.asking import Judging, Stop, Terms
from rightcall.run.judging.clock import now, today
from rightcall.run.judging.concluding import Verdicts
from rightcall.run.judging.drawing import sampled
from rightcall.run.judging.facts import judge_facts, refuse_nothing
from rightcall.run.judging.interrupts import on_interrupt
from rightcall.run.judging.items import JudgedTally
from rightcall.run.judging.record import Recorder
from rightcall.run.judging.resuming import Before, on_record, refuse_other_inputs
from rightcall.run.judging.spool import Spool
from rightcall.store.records import RunEvent, RunRecord
from rightcall.store.writer import Writer
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from rightcall.run.judging.attempt import Outcome
    from rightcall.run.judging.budget import Budget
    from rightcall.run.judging.items import Aggregate, Item, JudgedResult, Work
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.run.judging.subject import Judge
    from rightcall.store.records import RunStatus
    from rightcall.store.store import Store

TOGETHER = 64
"""How many conclusions are written at a time where no judge is asked: one commit holds what comes together."""


@dataclass(frozen=True)
class Asking:
    """How a run asks, beyond its judges.

    Attributes:
        terms: replicates, places, cache.
        budget: what may be spent.
        sample: judge only so many items, drawn by a hash of `seed` and the item's unit.
        resume: the run to go on with.
        quorum: how many judges must have answered; `None` = more than half.
        review_share: share of items that go to review at random, for calibration.
        source: on which branch, at which commit the suite stands; `None` where the whole run says it.
        bodies: what is kept with the run besides what it judges: the suite's catalog.
        within: the run of several graders that this one is a part of. It has begun, and ends elsewhere; what it has on
            record of this grader counts as it stands.
    """

    terms: Terms
    budget: Budget
    sample: int | None = None
    seed: int = 0
    resume: str | None = None
    quorum: int | None = None
    review_share: float = 0.1
    source: Mapping[str, str | None] | None = None
    bodies: tuple[bytes, ...] = ()
    within: RunRecord | None = None


@dataclass
class Judged:
    """A finished run: its figures, and every result in a spool. Use it as a context manager.

    Attributes:
        run: the run on record; `None` where nothing is kept.
        facts: what was judged, how, by whom.
        stop: why it ended before its end.
        spent: calls, tokens, money. others: judge -> other models that answered in its place.
        warnings: what must be said about the judges. log_head: hash of the log's last entry, to be kept elsewhere.
    """

    grader: str
    run: RunRecord | None
    facts: dict[str, Any]
    aggregate: Aggregate
    result_type: type[Any]
    tally: JudgedTally = field(default_factory=JudgedTally)
    stop: Stop | None = None
    spent: dict[str, Any] = field(default_factory=dict)
    others: dict[str, dict[str, int]] = field(default_factory=dict)
    reports: dict[str, Any] = field(default_factory=dict)
    conflict_limit: float = 0.05
    warnings: list[str] = field(default_factory=list)
    log_head: str | None = None
    store_name: str | None = None
    spool: Spool = field(default_factory=Spool)

    def __enter__(self) -> Self:
        """The run itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Drop the spool."""
        self.close()

    def close(self) -> None:
        """Drop the spool."""
        self.spool.close()

    def count(self, place: int, line: bytes, result: JudgedResult) -> None:
        """Take a result into the figures and the spool."""
        self.spool.put(place, line)
        self.tally.add(result)
        self.aggregate.add(result)

    def recount(self, aggregate: Aggregate) -> None:
        """Take all figures anew from the spool, whose results were replaced in part."""
        old = self.tally
        self.aggregate = aggregate
        self.tally = JudgedTally(not_asked=old.not_asked, reviews=old.reviews, resumed=old.resumed)
        for result in self.decoded():
            self.tally.add(result)
            self.aggregate.add(result)

    def results(self) -> Iterator[bytes]:
        """Every concluded result as JSON, in input order."""
        return self.spool.lines()

    def decoded(self) -> Iterator[Any]:
        """Every concluded result, typed, in input order."""
        for line in self.results():
            yield msgspec.json.decode(line, type=self.result_type)


def judge_all(
    work: Work, judges: Sequence[Judge], asking: Asking, cleaner: Cleaner, store: Store | None,
    progress: Callable[[int, int], None] | None = None, warn: Callable[[], list[str]] = list,
) -> Judged:  # fmt: skip
    """Run a grader over all its items.

    Args:
        work: the grader's side.
        judges: who is asked; none for a run that code decides alone.
        asking: how.
        cleaner: takes secrets out of what is kept.
        store: where everything is kept; needed as soon as a judge is asked.
        progress: called with how many items are concluded, and how many of them without a verdict.
        warn: what must be said about the judges, once all items were seen.

    Raises:
        ConfigError: a run to be resumed that was made with other inputs.
        StoreError: the record broke; what was committed before stands, and the run can be resumed.
        NoDataError: nothing to judge.
    """
    return asyncio.run(_Run(work, judges, asking, cleaner, store, progress or (lambda _done, _bad: None), warn).all())


async def judge_all_async(
    work: Work, judges: Sequence[Judge], asking: Asking, cleaner: Cleaner, store: Store | None,
    progress: Callable[[int, int], None] | None = None, warn: Callable[[], list[str]] = list,
) -> Judged:  # fmt: skip
    """Like `judge_all`, in the event loop of the caller, whose signals stay its own; cancelling interrupts the run."""
    run = _Run(work, judges, asking, cleaner, store, progress or (lambda _done, _bad: None), warn)
    run.on_interrupt = lambda _stop: nullcontext()
    return await run.all()


class _Run:
    """One run while it goes on.

    Attributes:
        before: what it had on record already.
        verdicts: writes what is concluded; `None` where nothing is kept.
    """

    def __init__(
        self, work: Work, judges: Sequence[Judge], asking: Asking, cleaner: Cleaner, store: Store | None,
        progress: Callable[[int, int], None], warn: Callable[[], list[str]],
    ) -> None:  # fmt: skip
        self.work, self.judges, self.asking, self.cleaner, self.store = work, judges, asking, cleaner, store
        self.progress, self.warn = progress, warn
        self.facts = facts_of(work, judges, asking, cleaner)
        self.before = Before()
        self.verdicts: Verdicts | None = None
        self.judged: Judged
        self.found: Iterator[Item] = iter(())
        self.left: Iterator[Item] = iter(())
        self.on_interrupt: Callable[[Callable[[], None]], AbstractContextManager[None]] = on_interrupt

    async def all(self) -> Judged:
        """From the start of the run to its end."""
        async with AsyncExitStack() as doors:
            for judge in self.judges:
                doors.push_async_callback(judge.door.close)
            self.found = self._found()
            run = self._begin()
            self.judged = Judged(
                self.work.grader, run, self.facts, self.work.aggregate(), self.work.result_type,
                reports=self.work.reports, store_name=None if self.store is None else self.store.name,
            )  # fmt: skip
            doors.push(self._close_if_broken)
            self.judged.tally.reviews.update(self.before.reviews)
            if self.store is None or run is None:
                await self._unrecorded()
            else:
                await self._recorded(run, self.store, await doors.enter_async_context(Writer(self.store)))
        return self.judged

    def _close_if_broken(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.judged.close()

    async def _unrecorded(self) -> None:
        """Code alone decides, and nothing is kept."""
        for item in self._items():
            await self._conclude(item, [])
        self.judged.warnings = self.cleaner.value(self.warn())

    async def _recorded(self, run: RunRecord, store: Store, writer: Writer) -> None:
        self.verdicts = Verdicts(run, self.work.grader, writer, self.cleaner, self.before, hasattr(self.work, "stage"))
        record = Recorder(run.id, store, writer, self.cleaner, budget=self.asking.budget)
        terms = self.asking.terms if self.judges else replace(self.asking.terms, jobs=TOGETHER)
        judging = Judging(self.judges, record, terms, self.before.past)
        try:
            with self.on_interrupt(judging.interrupt):
                self.judged.stop = await judging.run(self._items(), self._conclude)
                self._pass_over_the_rest()
                await self._stages(judging)
        except RightcallError as error:
            await self._try_to_end(writer, run, "broken", self.cleaner.text(error.message))
            raise
        except (asyncio.CancelledError, KeyboardInterrupt):
            await self._try_to_end(writer, run, "interrupted", "interrupted at once; --resume goes on")
            raise
        self.judged.spent = msgspec.to_builtins(record.spent)
        self.judged.others = {judge.name: judge.others for judge in self.judges if judge.others}
        stop = self.judged.stop
        status: RunStatus = "finished"
        if stop is not None:
            status = "interrupted" if stop.cause == "interrupted" else "stopped"
        await self._end(writer, run, status, None if stop is None else stop.message)
        self.judged.log_head = store.head().hash

    # ---- begin and end -------------------------------------------------------------------------------------------

    def _begin(self) -> RunRecord | None:
        if self.store is None:
            if self.judges:
                raise ConfigError("a judge is only asked where its answers can be kept", hint="name a --store")
            return None
        self.store.write([], self.asking.bodies)
        staged, within = hasattr(self.work, "stage"), self.asking.within
        if within is not None:
            self.before = on_record(self.store, within.id, grader=self.work.grader, staged=staged)
            return within
        if self.asking.resume is None:
            return self.store.new_run(self.work.grader, today(), now(), self.facts)
        run = self.store.run(self.asking.resume)
        refuse_other_inputs(run, self.work.grader, self.facts)
        self.facts |= {key: run.facts[key] for key in ("source",) if key in run.facts}
        self.store.write([RunEvent(run_id=run.id, at=now(), status="resumed")])
        self.before = on_record(self.store, run.id, staged=staged)
        return run

    async def _end(self, writer: Writer, run: RunRecord, status: RunStatus, message: str | None) -> None:
        self.judged.warnings = self.cleaner.value(self.warn())
        if self.asking.within is not None:
            return
        plain = jsontext.decode(msgspec.json.encode(kept_summary(self.judged)))
        await writer.append([RunEvent(run_id=run.id, at=now(), status=status, message=message, summary=plain)])

    async def _stages(self, judging: Judging) -> None:
        """Further questions about what has a result, for graders that have any; then everything is counted anew."""
        stage = getattr(self.work, "stage", None)
        while stage is not None and self.judges and self.judged.stop is None:
            items = stage(self.judged.decoded)
            if items is None:
                return
            self.judged.stop = await judging.run(items, self._conclude_again)
            self.judged.recount(self.work.aggregate())

    async def _try_to_end(self, writer: Writer, run: RunRecord, status: RunStatus, message: str) -> None:
        """Note why a run broke, if the record still takes it."""
        try:
            await self._end(writer, run, status, message)
        except RightcallError:
            return

    def _pass_over_the_rest(self) -> None:
        """Items that the run stopped before are counted, so that they lower its coverage."""
        for _ in self.left:
            pass
        self.judged.tally.not_asked = self.judged.spool.missing

    # ---- items ---------------------------------------------------------------------------------------------------

    def _found(self) -> Iterator[Item]:
        """All items. The first one is made here, before the run begins: a run of nothing leaves nothing behind.

        Raises:
            ConfigError: a filter that selects nothing. NoDataError: nothing to judge.
        """
        items = sampled(self.work.items(), self.asking.sample, self.asking.seed)
        first = next(items, None)
        if first is not None:
            return chain((first,), items)
        refuse_nothing(self.work, self.facts)
        return items

    def _items(self) -> Iterator[Item]:
        """The items that are not on record yet; the others are counted as they stand."""
        self.left = self._fresh()
        return self.left

    def _fresh(self) -> Iterator[Item]:
        for item in self.found:
            place = self.judged.spool.place()
            known = self.before.settled.pop(item.unit, None)
            if known is None or self.store is None:
                yield replace(item, place=place)
                continue
            line = self.store.body(known)
            self.judged.tally.resumed += 1
            self._count(place, line, msgspec.json.decode(line, type=self.work.result_type))

    async def _conclude(self, item: Item, outcomes: list[Outcome]) -> None:
        """Record a conclusion, then count it."""
        done = item.conclude(outcomes)
        line = msgspec.json.encode(done.result)
        reasons = [review.reason for review in done.reviews]
        if self.verdicts is not None:
            await self.verdicts.write(item, outcomes, done, line)
        self.judged.tally.reviews.update(reasons)
        self._count(item.place, line, done.result)

    async def _conclude_again(self, item: Item, outcomes: list[Outcome]) -> None:
        """Record a conclusion that replaces an earlier one of this run; `_stages` counts it."""
        assert self.verdicts is not None  # noqa: S101 - stages are only run where everything is kept
        assert self.store is not None  # noqa: S101 - the same
        done = item.conclude(outcomes)
        line = msgspec.json.encode(done.result)
        earlier = self.store.verdict(self.verdicts.run.id, item.unit, self.work.grader)
        self.judged.tally.reviews.update(await self.verdicts.write(item, outcomes, done, line, earlier))
        self.judged.spool.put(item.place, line)
        self.progress(self.judged.tally.evaluated, sum(self.judged.tally.unevaluable.values()))

    def _count(self, place: int, line: bytes, result: JudgedResult) -> None:
        self.judged.count(place, line, result)
        tally = self.judged.tally
        bad = sum(tally.unevaluable.values())
        self.progress(tally.evaluated + bad, bad)


def facts_of(work: Work, judges: Sequence[Judge], asking: Asking, cleaner: Cleaner) -> dict[str, Any]:
    """What a run judges, by whom and how: enough to tell whether it may be gone on with."""
    facts = {**work.facts(), "judges": [judge_facts(judge) for judge in judges], **_asked(asking)}
    found: dict[str, Any] = cleaner.value(facts)
    return found


def _asked(asking: Asking) -> dict[str, Any]:
    return {
        "replicates": asking.terms.replicates, "quorum": asking.quorum, "sample": asking.sample, "seed": asking.seed,
        **({} if asking.source is None else {"source": dict(asking.source)}),
    }  # fmt: skip


def kept_summary(judged: Judged) -> dict[str, Any]:
    """The figures of a run as its record keeps them."""
    return {
        **short_summary(judged), "own": judged.aggregate.summary(), "warnings": judged.warnings,
        "spent": judged.spent or None, "other_models": judged.others,
    }  # fmt: skip


def short_summary(judged: Judged) -> dict[str, Any]:
    """The counts of a run that every judged grader has."""
    tally = judged.tally
    skipped = sum(report.skipped for report in judged.reports.values())
    whole = tally.n + skipped - tally.by_design
    return {
        "n": tally.n,
        "evaluated": tally.evaluated,
        "unevaluable": sum(tally.unevaluable.values()),
        "not_asked": tally.not_asked,
        "skipped": skipped,
        "coverage": tally.evaluated / whole if whole else None,
        "unevaluable_by_reason": dict(sorted(tally.unevaluable.items())),
        "reviews": dict(sorted(tally.reviews.items())),
        "resumed": tally.resumed,
    }
