"""Several graders over one suite under one run id: begin, run each to its end, count, end; stop and go on.

The graders run one after the other, those that ask nobody first. Each writes its verdicts, exchanges and review items
under its own name; the run's record holds the facts and figures of all. A run that was interrupted, stopped or killed
goes on where it was: what is on record is counted as it stands, and nothing is asked or written twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from rightcall.errors import RightcallError
from rightcall.run.golden.grading import run as grade_all
from rightcall.run.golden.keeping import summary_of
from rightcall.run.golden.record import GoldenRecorder
from rightcall.run.graders.setup import suite_body
from rightcall.run.inputs.hiding import without_secrets
from rightcall.run.inputs.opening import open_store
from rightcall.run.judging.clock import now, today
from rightcall.run.judging.resuming import differences, made_with_other
from rightcall.run.judging.run import judge_all, kept_summary
from rightcall.run.results.facts import SUITE, facts_for, graders_in
from rightcall.run.suite.setup import GoldenPart
from rightcall.store.records import RunEvent
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rightcall.run.golden.grading import Graded
    from rightcall.run.judging.asking import Stop
    from rightcall.run.judging.run import Judged
    from rightcall.run.suite.setup import JudgedPart, Suite
    from rightcall.store.records import RunRecord, RunStatus
    from rightcall.store.store import Store


@dataclass
class SuiteRun:
    """A finished run of several graders. Use it as a context manager: results lie in temporary files.

    Attributes:
        run: the run on record.
        graders: name -> what came of it, in the order in which they ran; those that it did not come to are missing.
        not_run: the graders that the run stopped before.
        stop: why it ended before its end.
        store_name: where it is kept. log_head: hash of the log's last entry, to be kept elsewhere.
    """

    run: RunRecord
    graders: dict[str, Graded | Judged] = field(default_factory=dict)
    not_run: tuple[str, ...] = ()
    stop: Stop | None = None
    store_name: str | None = None
    log_head: str | None = None

    def __enter__(self) -> Self:
        """The run itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Drop the temporary files."""
        self.close()

    def close(self) -> None:
        """Drop the temporary files."""
        for one in self.graders.values():
            one.spool.close()

    @property
    def status(self) -> Literal["finished", "interrupted", "stopped"]:
        """What became of it."""
        if self.stop is None:
            return "finished"
        return "interrupted" if self.stop.cause == "interrupted" else "stopped"

    def summary(self) -> dict[str, Any]:
        """The figures of every grader as the record keeps them."""
        return {"graders": {name: _kept(one) for name, one in self.graders.items()}}


def _kept(one: Graded | Judged) -> dict[str, Any]:
    from rightcall.run.golden.grading import Graded

    if isinstance(one, Graded):
        return summary_of(one)
    return {**kept_summary(one), "conflict_limit": one.conflict_limit}


def run_suite(suite: Suite, progress: Callable[[str, int, int], None] | None = None) -> SuiteRun:
    """Run every grader of a suite.

    Args:
        suite: what to run.
        progress: called with the grader, how many of its items are concluded, and how many of them without a verdict.

    Returns:
        The run. A budget that was spent, a judge that cannot be asked and an interrupt stop it where it is; the
        graders that follow do not run, and it can be resumed.

    Raises:
        ConfigError: a run to be resumed that was made with other inputs; a judge that cannot be used.
        NoDataError: a grader with nothing to judge.
        StoreError: the record broke; what was committed before stands, and the run can be resumed.
        KeyboardInterrupt: interrupted at once; the record says so.
    """
    try:
        suite.ready()
        with open_store(suite.loaded, create=suite.resume is None) as store:
            done = SuiteRun(_begin(suite, store), store_name=store.name)
            try:
                _through(suite, done, store, progress or (lambda _grader, _done, _bad: None))
            except BaseException:
                done.close()
                raise
            done.log_head = store.head().hash
            return done
    finally:
        suite.close()


def _through(suite: Suite, done: SuiteRun, store: Store, progress: Callable[[str, int, int], None]) -> None:
    """Run all, and note how it ended; the figures of what was done are read while its results are still there."""
    try:
        _run_all(suite, done, store, progress)
        _end(store, done, done.status, None if done.stop is None else done.stop.message)
    except RightcallError as error:
        _try_to_end(store, done, "broken", suite.parts[0].cleaner.text(error.message))
        raise
    except KeyboardInterrupt:
        _try_to_end(store, done, "interrupted", "interrupted at once; --resume goes on")
        said = f"run {done.run.id} was interrupted: `rightcall run --resume {done.run.id}` goes on"
        raise KeyboardInterrupt(said) from None


def _begin(suite: Suite, store: Store) -> RunRecord:
    """The run on record: a new one, or the one to go on with.

    Raises:
        ConfigError: naming what is not as it was when the run began.
    """
    facts, body = suite.facts(), suite_body(suite.loaded)
    if suite.resume is not None:
        _refuse_other_inputs(suite.resume, facts["graders"])
    store.write([], [] if body is None else [body])
    if suite.resume is None:
        return store.new_run(SUITE, today(), now(), facts)
    store.write([RunEvent(run_id=suite.resume.id, at=now(), status="resumed")])
    return suite.resume


def _refuse_other_inputs(run: RunRecord, graders: Mapping[str, dict[str, Any]]) -> None:
    if set(graders) != set(graders_in(run)):
        raise made_with_other(run, [f"graders ({', '.join(graders_in(run))})"])
    for name, facts in graders.items():
        different = differences(facts_for(run, name), facts)
        if different:
            raise made_with_other(run, [f"{', '.join(different)} of `{name}`"])


def _run_all(suite: Suite, done: SuiteRun, store: Store, progress: Callable[[str, int, int], None]) -> None:
    """Run the graders until one of them is stopped."""
    for number, part in enumerate(suite.parts):
        progress(part.grader, 0, 0)
        one: Graded | Judged
        if isinstance(part, GoldenPart):
            one = _graded(part, done.run, store)
        else:
            one = _judged(part, done.run, store, lambda n, bad, name=part.grader: progress(name, n, bad))  # type: ignore[misc]
            one.conflict_limit = suite.loaded.settings.limits.conflicts
            done.stop = one.stop
        done.graders[part.grader] = one
        if done.stop is not None:
            done.not_run = tuple(left.grader for left in suite.parts[number + 1 :])
            return


def _graded(part: GoldenPart, run: RunRecord, store: Store) -> Graded:
    return grade_all(part.plan, recorder=GoldenRecorder(store, part.facts, within=run))


def _judged(part: JudgedPart, run: RunRecord, store: Store, progress: Callable[[int, int], None]) -> Judged:
    setup = part.setup
    asking = replace(setup.asking, within=run)
    with without_secrets(part.cleaner.redactor):
        return judge_all(setup.work, part.judges, asking, setup.cleaner, store, progress, setup.warn)


def _end(store: Store, done: SuiteRun, status: RunStatus, message: str | None) -> None:
    plain = jsontext.decode(msgspec.json.encode(done.summary()))
    store.write([RunEvent(run_id=done.run.id, at=now(), status=status, message=message, summary=plain)])


def _try_to_end(store: Store, done: SuiteRun, status: RunStatus, message: str) -> None:
    """Note why a run broke, if the record still takes it."""
    try:
        _end(store, done, status, message)
    except RightcallError:
        return
