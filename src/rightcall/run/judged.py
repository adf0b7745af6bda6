"""A judged run from its first question to its figures: record, ask, conclude, count; stop and go on.

Results are spooled to a temporary file as they are concluded and read back in input order, so that nothing grows with
their number but one place a result. With a store, every verdict is on record before it is counted; without one (which
only code-decided runs may do) nothing is kept.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import nsmallest
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Self

import msgspec

from rightcall.errors import ConfigError, NoDataError, RightcallError
from rightcall.run.clock import now, today
from rightcall.run.items import JudgedTally
from rightcall.run.judging import Judging, Stop, Terms
from rightcall.run.record import Recorder, sha256_of
from rightcall.store.records import CaseRecord, ReviewRecord, RunEvent, RunRecord, TraceRecord, VerdictRecord
from rightcall.store.writer import Writer
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rightcall.run.attempt import Outcome
    from rightcall.run.budget import Budget
    from rightcall.run.items import Aggregate, Concluded, Item, Work
    from rightcall.run.secrets import Cleaner
    from rightcall.run.subject import Judge
    from rightcall.store.records import AttemptRecord, Record
    from rightcall.store.store import Store

AGAIN = ("JUDGE_UNREACHABLE", "JUDGE_TIMEOUT", "JUDGE_RATE_LIMITED", "JUDGE_AUTH", "not_recorded")
"""Reasons for which a case without an answer is asked again when its run is resumed."""

RECKONED = {"known_tools", "new_tools"}
"""Facts that follow from what was on record before a run, and so do not tell two inputs apart."""


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
    """

    terms: Terms
    budget: Budget
    sample: int | None = None
    seed: int = 0
    resume: str | None = None
    quorum: int | None = None
    review_share: float = 0.1


@dataclass
class Judged:
    """A finished run: its figures, and every result in a spool. Use it as a context manager."""

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
    store_name: str | None = None
    _spool: IO[bytes] = field(default_factory=TemporaryFile)
    _places: list[tuple[int, int] | None] = field(default_factory=list)

    def __enter__(self) -> Self:
        """The run itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Drop the spool."""
        self._spool.close()

    def place(self) -> int:
        """Keep the next place in input order."""
        self._places.append(None)
        return len(self._places) - 1

    def put(self, place: int, line: bytes) -> None:
        """Write one result at its place."""
        self._places[place] = (self._spool.seek(0, 2), len(line))
        self._spool.write(line)

    def results(self) -> Iterator[bytes]:
        """Every concluded result as JSON, in input order."""
        for place in self._places:
            if place is not None:
                self._spool.seek(place[0])
                yield self._spool.read(place[1])

    def decoded(self) -> Iterator[Any]:
        """Every concluded result, typed, in input order."""
        for line in self.results():
            yield msgspec.json.decode(line, type=self.result_type)


def judge_all(
    work: Work, judges: Sequence[Judge], asking: Asking, cleaner: Cleaner, store: Store | None,
    progress: Callable[[int, int], None] | None = None,
) -> Judged:  # fmt: skip
    """Run a grader over all its items.

    Args:
        work: the grader's side.
        judges: who is asked; none for a run that code decides alone.
        asking: how.
        cleaner: takes secrets out of what is kept.
        store: where everything is kept; needed as soon as a judge is asked.
        progress: called with how many items are concluded, and how many of them without a verdict.

    Raises:
        ConfigError: a run to be resumed that is unknown or was made with other inputs.
        StoreError: the record broke; what was committed before stands, and the run can be resumed.
        NoDataError: nothing to judge.
    """
    return asyncio.run(_Run(work, judges, asking, cleaner, store, progress or (lambda _done, _bad: None)).all())


class _Run:
    """One run while it goes on."""

    def __init__(
        self, work: Work, judges: Sequence[Judge], asking: Asking, cleaner: Cleaner, store: Store | None,
        progress: Callable[[int, int], None],
    ) -> None:  # fmt: skip
        self.work, self.judges, self.asking, self.cleaner, self.store = work, judges, asking, cleaner, store
        self.progress = progress
        self.facts = cleaner.value(
            {**work.facts(), "judges": [judge_facts(judge) for judge in judges], **_asked(asking)}
        )
        self.known: dict[str, tuple[VerdictRecord, bytes]] = {}
        self.writer: Writer | None = None
        self.kept: set[str] = set()
        self.places: dict[str, int] = {}
        self.judged: Judged

    async def all(self) -> Judged:
        """From the start of the run to its end."""
        run = self._begin()
        self.judged = Judged(
            self.work.grader, run, self.facts, self.work.aggregate(), self.work.result_type,
            store_name=None if self.store is None else self.store.name,
        )  # fmt: skip
        try:
            await self._through(run)
        except BaseException:
            self.judged._spool.close()  # noqa: SLF001 - its own
            raise
        self.judged.reports = self.work.reports
        return self.judged

    async def _through(self, run: RunRecord | None) -> None:
        async with AsyncExitStack() as doors:
            for judge in self.judges:
                doors.push_async_callback(judge.door.close)
            if self.store is None or run is None:
                await Judging((), _NO_RECORD, self.asking.terms).run(self._items(), self._conclude)
                self._check_found()
                return
            self.writer = await doors.enter_async_context(Writer(self.store))
            await self._recorded(run, self.store, self.writer)

    async def _recorded(self, run: RunRecord, store: Store, writer: Writer) -> None:
        record = Recorder(run.id, store, writer, self.cleaner, budget=self.asking.budget)
        judging = Judging(self.judges, record, self.asking.terms, self._past(run))
        try:
            with _on_interrupt(judging.interrupt):
                self.judged.stop = await judging.run(self._items(), self._conclude)
            self._check_found()
        except RightcallError as error:
            await self._try_to_end(writer, run, "broken", self.cleaner.text(error.message))
            raise
        self.judged.spent = msgspec.to_builtins(record.spent)
        self.judged.others = {judge.name: judge.others for judge in self.judges if judge.others}
        self.judged.tally.not_asked = sum(place is None for place in self.judged._places)  # noqa: SLF001 - its own
        stop = self.judged.stop
        if stop is not None:
            self._count_the_rest()
        status = "finished" if stop is None else "interrupted" if stop.cause == "interrupted" else "stopped"
        await self._end(writer, run, status, None if stop is None else stop.message)

    # ---- begin and end -------------------------------------------------------------------------------------------

    def _begin(self) -> RunRecord | None:
        if self.store is None:
            if self.judges:
                raise ConfigError("a judge is only asked where its answers can be kept", hint="name a --store")
            return None
        if self.asking.resume is None:
            return self.store.new_run(self.work.grader, today(), now(), self.facts)
        run = self.store.run(self.asking.resume)
        _refuse_other_inputs(run, self.work.grader, self.facts)
        self.store.write([RunEvent(run_id=run.id, at=now(), status="resumed")])
        for verdict in self.store.verdicts(run.id):
            if verdict.reason not in AGAIN:
                self.known[verdict.unit] = (verdict, self.store.body(verdict.result))
        return run

    def _past(self, run: RunRecord) -> dict[str, list[AttemptRecord]]:
        """The attempts of this run that belong to no verdict yet."""
        found: dict[str, list[AttemptRecord]] = {}
        if self.asking.resume is not None and self.store is not None:
            for _seq, _digest, old in self.store.attempts(run_id=run.id):
                if old.unit not in self.known:
                    found.setdefault(old.unit, []).append(old)
        return found

    async def _end(self, writer: Writer, run: RunRecord, status: Any, message: str | None) -> None:
        summary = {**short_summary(self.judged), "own": self.judged.aggregate.summary()}
        plain = jsontext.decode(msgspec.json.encode(summary))
        await writer.append([RunEvent(run_id=run.id, at=now(), status=status, message=message, summary=plain)])

    async def _try_to_end(self, writer: Writer, run: RunRecord, status: Any, message: str) -> None:
        """Note why a run broke, if the record still takes it."""
        try:
            await self._end(writer, run, status, message)
        except RightcallError:
            return

    def _check_found(self) -> None:
        if not self.judged._places and not any(report.skipped for report in self.work.reports.values()):  # noqa: SLF001 - its own
            raise NoDataError("nothing to judge in these files")

    def _count_the_rest(self) -> None:
        """Items that the run stopped before are counted, so that they lower its coverage."""
        for _ in self._rest:
            self.judged.tally.not_asked += 1

    # ---- items ---------------------------------------------------------------------------------------------------

    def _items(self) -> Iterator[Item]:
        """The items that are not on record yet; the others are counted as they stand."""
        self._rest = self._fresh()
        yield from self._rest

    def _fresh(self) -> Iterator[Item]:
        for item in sampled(self.work.items(), self.asking):
            place = self.judged.place()
            known = self.known.pop(item.unit, None)
            if known is None:
                self.places[item.unit] = place
                yield item
            else:
                self.judged.tally.resumed += 1
                self._count(place, known[1])

    def _count(self, place: int, line: bytes) -> None:
        result = msgspec.json.decode(line, type=self.work.result_type)
        self.judged.put(place, line)
        self.judged.tally.add(result)
        self.judged.aggregate.add(result)
        tally = self.judged.tally
        self.progress(tally.evaluated + sum(tally.unevaluable.values()), sum(tally.unevaluable.values()))

    async def _conclude(self, item: Item, outcomes: list[Outcome]) -> None:
        """Record a conclusion, then count it."""
        done = item.conclude(outcomes)
        line = msgspec.json.encode(done.result)
        if self.writer is not None and self.judged.run is not None:
            records, bodies = self._records(item, outcomes, done, line, self.judged.run)
            await self.writer.append(records, bodies)
        for review in done.reviews:
            self.judged.tally.reviews[review.reason] += 1
        self._count(self.places.pop(item.unit), line)

    def _records(
        self, item: Item, outcomes: Sequence[Outcome], done: Concluded, line: bytes, run: RunRecord
    ) -> tuple[list[Record], list[bytes]]:
        records: list[Record] = []
        bodies = [line]
        trace, case = self._kept(item.trace, bodies), self._kept(item.case, bodies)
        if trace is not None and trace not in self.kept:
            records.append(TraceRecord(body=trace, id=item.trace_id or "", case_id=item.case_id))
        if case is not None and case not in self.kept:
            records.append(CaseRecord(body=case, id=item.case_id or item.step_id or ""))
        self.kept.update(sha for sha in (trace, case) if sha is not None)
        result = done.result
        records.append(
            VerdictRecord(
                run_id=run.id,
                grader=self.work.grader,
                unit=item.unit,
                result=sha256_of(line),
                status=result.status,
                reason=result.reason,
                verdict=result.verdict,
                score=getattr(result, "overall_score", None),
                case_id=item.case_id,
                trace_id=item.trace_id,
                step_id=item.step_id,
                trace=trace,
                case=case,
                revision=self._revision(item, run),
                attempts=tuple(digest for outcome in outcomes for digest in outcome.attempts),
                decided_by=done.decided_by,
            )
        )
        records += [
            ReviewRecord(
                run_id=run.id, grader=self.work.grader, unit=item.unit, reason=review.reason, created_at=now(),
                detail=self.cleaner.text(review.detail), severity=review.severity, probability=review.probability,
                case_id=item.case_id, trace_id=item.trace_id, step_id=item.step_id,
            )
            for review in done.reviews
        ]  # fmt: skip
        return records, bodies

    def _kept(self, body: bytes | None, bodies: list[bytes]) -> str | None:
        """The name of a body, which is written where this run has not written it yet."""
        if body is None:
            return None
        sha = sha256_of(body)
        if sha not in self.kept:
            bodies.append(body)
        return sha

    def _revision(self, item: Item, run: RunRecord) -> int:
        if self.asking.resume is None or self.store is None:
            return 0
        before = self.store.verdict(run.id, item.unit)
        return 0 if before is None else before.revision + 1


_NO_RECORD: Any = None
"""A run without judges writes no attempt, so its recorder is never used."""


def judge_facts(judge: Judge) -> dict[str, Any]:
    """A judge as it stands in a run's facts: who, where, how; no secrets."""
    from rightcall.run.record import endpoint_of

    return {
        "name": judge.name, "provider": judge.spec.provider, "model": judge.spec.model,
        "endpoint": endpoint_of(judge.spec), "parameters": judge.parameters(),
    }  # fmt: skip


def _asked(asking: Asking) -> dict[str, Any]:
    return {
        "replicates": asking.terms.replicates, "quorum": asking.quorum, "sample": asking.sample, "seed": asking.seed,
    }  # fmt: skip


def short_summary(judged: Judged) -> dict[str, Any]:
    """The counts of a run that every judged grader has."""
    tally = judged.tally
    skipped = sum(report.skipped for report in judged.reports.values())
    whole = tally.n + skipped
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


def sampled(items: Iterator[Item], asking: Asking) -> Iterator[Item]:
    """All items, or as many as are asked for: those whose hash with the seed is smallest, in input order."""
    if asking.sample is None:
        yield from items
        return

    def rank(numbered: tuple[int, Item]) -> bytes:
        return blake2b(f"{asking.seed}\0{numbered[1].unit}".encode(), digest_size=16).digest()

    chosen = nsmallest(asking.sample, enumerate(items), key=rank)
    yield from (item for _, item in sorted(chosen, key=lambda numbered: numbered[0]))


def is_drawn(run_salt: str, unit: str, share: float) -> bool:
    """Whether an item goes to review at random: by a hash, so that a resumed run draws the same ones."""
    number = int.from_bytes(blake2b(f"review\0{run_salt}\0{unit}".encode(), digest_size=8).digest(), "big")
    return number < share * 2**64


def _refuse_other_inputs(run: RunRecord, grader: str, facts: dict[str, Any]) -> None:
    """A run is only gone on with as it began: one run, one set of inputs.

    Raises:
        ConfigError: naming what differs.
    """
    if run.grader != grader:
        raise ConfigError(f"run {run.id} is a run of `{run.grader}`", hint=f"rightcall {run.grader} --resume {run.id}")
    then, here = jsontext.decode(jsontext.encode(run.facts)), jsontext.decode(msgspec.json.encode(facts))
    keys = (then.keys() | here.keys()) - RECKONED
    different = sorted(key for key in keys if then.get(key) != here.get(key))
    if different:
        raise ConfigError(
            f"run {run.id} was made with other {', '.join(different)}", hint="resume it as it was begun, or begin anew"
        )


@contextmanager
def _on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C stops the run cleanly; a second one ends it at once."""
    import signal

    loop = asyncio.get_running_loop()

    def first() -> None:
        stop()
        loop.remove_signal_handler(signal.SIGINT)

    try:
        loop.add_signal_handler(signal.SIGINT, first)
    except (NotImplementedError, RuntimeError, ValueError):  # not in the main thread: the caller's business
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
