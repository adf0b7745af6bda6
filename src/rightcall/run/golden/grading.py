"""`golden` over files: join, grade, count, in input order and bounded memory.

A file is cut into blocks of whole lines; a block is graded by one process and comes back as encoded results and
counts. Results are spooled to a temporary file in input order, so that nothing grows with the number of traces but
their ids. Nothing reaches an output file before everything was graded.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b, file_digest
from multiprocessing import get_context
from signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Self

import msgspec

from rightcall.case.case import Case
from rightcall.errors import NoDataError, Place, RunError, TraceError
from rightcall.grade.golden import Grader
from rightcall.grade.safety import Matrix
from rightcall.grade.verdict import GoldenResult
from rightcall.run.golden.tally import Tally
from rightcall.run.golden.worst import Worst
from rightcall.run.inputs.cases import Ready
from rightcall.run.inputs.catalogs import Catalogs
from rightcall.run.inputs.hiding import hidden, hidden_case, hidden_trace, is_hidden, without_secrets
from rightcall.trace.exclude import exclude
from rightcall.trace.jsontext import encode
from rightcall.trace.model import Trace
from rightcall.trace.sources import files, reading
from rightcall.trace.sources.dialect import ReadingReport, Skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from rightcall.run.golden.record import GoldenRecorder
    from rightcall.run.golden.tally import Shown
    from rightcall.run.inputs.plan import Plan
    from rightcall.trace.catalog import Catalog
    from rightcall.trace.sources.dialect import Dialect

_encode = msgspec.json.Encoder().encode
_NO_CASE = Case(id="")
KEPT_RESULTS = 60
"""How many failures are kept whole besides those that are shown: a page shows more of them than a screen."""


@dataclass
class Batch:
    """What came of one block: encoded results, counts, and what is kept whole.

    `bodies` holds the redacted trace and case of every result, where the run goes on record.
    """

    lines: list[bytes] = field(default_factory=list)
    bodies: list[tuple[bytes | None, bytes | None]] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    kept: Worst = field(default_factory=Worst)


class Bench:
    """Grades traces for one plan: the workplace of one process."""

    def __init__(self, plan: Plan) -> None:
        """Compile what all cases share."""
        self.plan = plan
        self._catalogs = Catalogs(plan.tools, Place(plan.tools_file))
        self._matrix = Matrix(plan.policy, plan.aliases)
        self._ready = Ready()
        self._only_case = plan.cases.only()
        self._graded = 0
        self._no_case: Grader | None = None

    def block(self, block: files.Block, file: str, dialect: Dialect) -> Batch:
        """Grade every trace of some whole lines."""
        report = ReadingReport(dialect.name)
        return self.batch(reading.read_block(block, file, dialect), report, file)

    def batch(self, items: Iterable[tuple[Trace | Skip, Place]], report: ReadingReport, file: str) -> Batch:
        """Grade some traces; skips are counted."""
        done = Batch()
        done.tally.reports[file] = report
        for item, place in items:
            if self._graded == self.plan.limit:
                break
            if isinstance(item, Skip):
                if self.plan.strict:
                    raise TraceError(
                        item.message, code=item.code, place=item.place, hint="without --strict it is skipped"
                    )
                report.skip(item)
            elif self.plan.takes(item):
                report.trace(item)
                self._one(item, place, done)
                self._graded += 1
        return done

    def _one(self, trace: Trace, place: Place, done: Batch) -> None:
        if self.plan.exclude_tools:
            trace = exclude(trace, self.plan.exclude_tools)
        result, case = self.grade(trace, place)
        self.keep(result, trace, case, done)
        done.tally.ids.append(_short_hash(trace.id))
        if case is not None:
            done.tally.cases[case.id] += 1

    def keep(self, result: GoldenResult, trace: Trace | None, case: Case | None, done: Batch) -> None:
        """Take a result into a batch: redacted and encoded, and whole where it is to be shown."""
        line = _encode(hidden(result, self.plan.redactor, trace, case))
        done.lines.append(line)
        if self.plan.keeps:
            done.bodies.append(self._bodies(trace, case))
        done.tally.add(result)
        if result.verdict != "PASS" or self.plan.only is not None:
            done.kept.add(result, line, trace, case, KEPT_RESULTS + self.plan.kept_failures)

    def _bodies(self, trace: Trace | None, case: Case | None) -> tuple[bytes | None, bytes | None]:
        """The trace and the case as they may be kept."""
        hide = self.plan.redactor
        return (
            None if trace is None else encode(hidden_trace(trace, hide)),
            None if case is None else encode(hidden_case(case, hide)),
        )

    def grade(self, trace: Trace, place: Place) -> tuple[GoldenResult, Case | None]:
        """Join one trace with its case and grade it.

        Raises:
            TraceError: no `case_id` although there are many cases; arguments that cannot be decoded.
        """
        case_id = trace.case_id if trace.case_id is not None else self._only_case
        if case_id is None:
            raise TraceError(
                f"trace `{trace.id}` has no case_id, and there are {len(self.plan.cases)} cases",
                code="TRACE_NO_CASE", place=place,
                hint="give each trace the id of its case; nothing is joined by position",
            )  # fmt: skip
        if case_id not in self.plan.cases:
            return _unevaluable(trace.id, case_id, "no_case", self.plan.options.profile), None
        grader, case = self._grader(case_id, hidden=is_hidden(trace))
        catalog, conflict = self._catalogs.of(trace, case, place)
        try:
            return grader.grade(trace, catalog, conflict=conflict), case
        except TraceError as error:
            where = Place(place.file, place.line, None, f"trace {trace.id}")
            raise TraceError(error.message, code=error.code, place=where, hint=error.hint) from None

    def catalog(self, trace: Trace, case: Case | None, place: Place) -> Catalog | None:
        """The catalog that counts for a trace."""
        return self._catalogs.of(trace, case or _NO_CASE, place)[0]

    def policy_alone(self, trace: Trace, place: Place) -> GoldenResult:
        """What the suite's policy says about a trace that belongs to no case."""
        if self._no_case is None:
            plan = self.plan
            self._no_case = Grader(
                _NO_CASE, policy=plan.policy, options=plan.options, aliases=plan.aliases, matrix=self._matrix
            )
        catalog, conflict = self._catalogs.of(trace, _NO_CASE, place)
        result = self._no_case.grade(trace, catalog, conflict=conflict)
        return msgspec.structs.replace(result, case_id=trace.case_id)

    def _grader(self, case_id: str, *, hidden: bool) -> tuple[Grader, Case]:
        """The compiled case; redacted with this project's key for a trace that was stored redacted."""
        key = f"{case_id}\0hidden" if hidden else case_id
        ready = self._ready.get(key)
        if ready is None:
            case = self.plan.cases.case(case_id)
            grader = Grader(
                hidden_case(case, self.plan.redactor) if hidden else case,
                policy=self.plan.policy,
                options=self.plan.options,
                aliases=self.plan.aliases,
                place=self.plan.cases.place(case_id),
                matrix=self._matrix,
            )
            ready = (grader, case)
            self._ready.keep(key, ready)
        return ready  # type: ignore[return-value]

    def without_trace(self, case_ids: Iterable[str]) -> Batch:
        """The cases that no trace belongs to: each is `Unevaluable: no_trace`."""
        done = Batch()
        for case_id in case_ids:
            result = _unevaluable(None, case_id, "no_trace", self.plan.options.profile)
            self.keep(result, None, None, done)
        return done


def _unevaluable(trace_id: str | None, case_id: str, reason: str, profile: str) -> GoldenResult:
    return GoldenResult(trace_id=trace_id, case_id=case_id, profile=profile, status="UNEVALUABLE", reason=reason)


def _short_hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


@dataclass
class Graded:
    """A finished run: counts, the worst results with their traces, and every result in a spool."""

    plan: Plan
    tally: Tally = field(default_factory=Tally)
    worst: Worst = field(default_factory=Worst)
    repeated_ids: int = 0
    trace_files: list[tuple[str, str]] = field(default_factory=list)
    spool: IO[bytes] = field(default_factory=TemporaryFile)

    def __enter__(self) -> Self:
        """The run itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Drop the spool."""
        self.spool.close()

    @cached_property
    def kept(self) -> list[Shown]:
        """The failures that reports list first, with their traces and cases; of one trace alone, that one."""
        return self.worst.shown()

    def results(self) -> Iterator[bytes]:
        """Every result as JSON, in input order."""
        self.spool.seek(0)
        for line in self.spool:
            yield line.rstrip(b"\n")


def run(plan: Plan, progress: Callable[[int], None] | None = None, recorder: GoldenRecorder | None = None) -> Graded:
    """Grade every trace of the plan's files. The result holds a temporary file: use it as a context manager.

    Args:
        plan: what to do.
        progress: called with the number of input bytes done since the last call.
        recorder: writes everything to the store, for a plan that keeps.

    Raises:
        TraceError, CaseError, ConfigError: input that stops the run.
        StoreError: the record broke.
        NoDataError: no trace at all.
    """
    graded = Graded(plan)
    try:
        with without_secrets(plan.redactor):
            _fill(graded, progress or (lambda _: None), recorder)
    except BaseException:
        graded.spool.close()
        raise
    finally:
        plan.cases.close()
    return graded


def _fill(graded: Graded, progress: Callable[[int], None], recorder: GoldenRecorder | None) -> None:
    plan, bench = graded.plan, Bench(graded.plan)
    graded.tally.unread_cases = len(plan.cases.skips)
    seen: set[int] = set()
    for batch in _batches(plan, bench, graded, progress):
        if recorder is not None:
            recorder.take(batch.lines, batch.bodies)
        _take(graded, batch, seen)
        if plan.limit is not None and graded.tally.n >= plan.limit:
            break
    if not plan.misses_traces:
        missing = [case_id for case_id in plan.cases.tagged(plan.tags) if case_id not in graded.tally.cases]
        left = bench.without_trace(missing)
        if recorder is not None:
            recorder.take(left.lines, left.bodies)
        _take(graded, left, seen)
    if not seen:
        plan.refuse_nothing()
        if not graded.tally.skipped:
            raise NoDataError("no trace in these files: nothing to grade")


def _take(graded: Graded, batch: Batch, seen: set[int]) -> None:
    if batch.lines:
        graded.spool.write(b"\n".join(batch.lines) + b"\n")
    graded.tally.merge(batch.tally)
    for number in batch.tally.ids:
        graded.repeated_ids += number in seen
        seen.add(number)
    graded.worst.merge(batch.kept, KEPT_RESULTS + graded.plan.kept_failures)


def _batches(plan: Plan, bench: Bench, graded: Graded, progress: Callable[[int], None]) -> Iterator[Batch]:
    pool: ProcessPoolExecutor | None = None
    try:
        for path in plan.traces:
            opened = reading.open_traces(path, plan.dialect)
            graded.trace_files.append((str(path), sha256_of_file(path)))
            if not opened.can_be_cut:
                yield from _document(opened, bench, progress)
                continue
            if plan.jobs > 1 and plan.limit is None and pool is None:
                pool = ProcessPoolExecutor(plan.jobs, get_context("spawn"), initializer=_start, initargs=(plan,))
            yield from _lines(opened, bench, pool, progress)
    finally:
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)


def sha256_of_file(path: Path) -> str:
    """The hash of the file as it lies there, packed or not, however much of it is graded."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _document(opened: reading.Opened, bench: Bench, progress: Callable[[int], None]) -> Iterator[Batch]:
    report = ReadingReport(opened.dialect.name)
    chunk: list[tuple[Trace | Skip, Place]] = []
    for item in reading.items(opened):
        chunk.append(item)
        if len(chunk) >= 256:
            yield bench.batch(chunk, report, str(opened.path))
            chunk, report = [], ReadingReport(opened.dialect.name)
    yield bench.batch(chunk, report, str(opened.path))
    progress(opened.path.stat().st_size)


def _lines(
    opened: reading.Opened, bench: Bench, pool: ProcessPoolExecutor | None, progress: Callable[[int], None]
) -> Iterator[Batch]:
    waiting: deque[tuple[Future[Batch], int]] = deque()
    with files.open_bytes(opened.path) as stream:
        for block in files.blocks(stream, opened.path):
            if pool is None:
                yield bench.block(block, str(opened.path), opened.dialect)
                progress(len(block.data))
                continue
            waiting.append((_submitted(pool, block, opened), len(block.data)))
            if len(waiting) > 2 * bench.plan.jobs:
                yield _finished(waiting, progress)
    while waiting:
        yield _finished(waiting, progress)


def _submitted(pool: ProcessPoolExecutor, block: files.Block, opened: reading.Opened) -> Future[Batch]:
    """Hand a block to a process, which is started here if need be: deaf to Ctrl-C, which is for this one alone."""
    before = pthread_sigmask(SIG_BLOCK, {SIGINT})
    try:
        return pool.submit(_work, block.data, block.first_line, str(opened.path), opened.dialect.name)
    except BrokenProcessPool:
        raise _worker_died() from None
    finally:
        pthread_sigmask(SIG_SETMASK, before)


def _worker_died() -> RunError:
    return RunError("a worker process died", hint="is there enough memory? try --jobs 1")


def _finished(waiting: deque[tuple[Future[Batch], int]], progress: Callable[[int], None]) -> Batch:
    job, size = waiting.popleft()
    try:
        batch = job.result()
    except BrokenProcessPool:
        raise _worker_died() from None
    progress(size)
    return batch


_bench: Bench | None = None


def _start(plan: Plan) -> None:
    global _bench  # noqa: PLW0603 - one bench a process, made once
    _bench = Bench(plan)


def _work(data: bytes, first_line: int, file: str, dialect: str) -> Batch:
    from rightcall.trace.sources.registry import by_name

    assert _bench is not None  # noqa: S101 - `_start` ran in this process
    return _bench.block(files.Block(data, first_line), file, by_name(dialect))
