"""Many questions to one or several judges: at most so many at a time, resumable at any moment.

An item is finished when all its questions have an outcome; only then is it concluded and its verdict recorded. A run
stops cleanly, with whatever is in flight brought to its end, when it is interrupted, when its budget is spent, when a
judge refuses the credential, or when a judge has not answered for a long row of questions.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from rightcall.judge.contract import Malformed
from rightcall.run.judging.attempt import NotBegun, Outcome, attempt, echoes
from rightcall.run.judging.record import BudgetSpent
from rightcall.run.judging.subject import cache_key
from rightcall.store.packing import digest_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence

    from rightcall.run.judging.items import Item, Query
    from rightcall.run.judging.record import Recorder
    from rightcall.run.judging.subject import Judge, Subject
    from rightcall.store.records import AttemptRecord

UNREACHABLE_IN_A_ROW = 20
"""After so many questions in a row without any answer, the endpoint is taken to be down and the run stops."""

MANY = 32
"""From so many questions at a time on, there are more hands than places."""

NO_ANSWER = ("JUDGE_UNREACHABLE", "JUDGE_TIMEOUT", "JUDGE_RATE_LIMITED")
StopCause = Literal["interrupted", "budget", "auth", "unreachable"]


@dataclass(frozen=True)
class Stop:
    """Why a run ended before all subjects were judged."""

    cause: StopCause
    message: str


@dataclass(frozen=True)
class Terms:
    """How a run asks.

    Attributes:
        replicates: how often each judge is asked the same question.
        jobs: questions at a time; `None` = what the judges' endpoints allow together.
        use_cache: whether answers of earlier runs count.
    """

    replicates: int = 1
    jobs: int | None = None
    use_cache: bool = True


@dataclass
class Judging:
    """Asks the questions of one run.

    Attributes:
        judges: who is asked.
        record: writes and reads attempts.
        terms: how often, how many at a time.
        past: unit -> attempts of this run that are on record and belong to no verdict yet.
        answered: judge -> questions with a reply; `failed`: judge -> reason -> questions without one.
    """

    judges: Sequence[Judge]
    record: Recorder
    terms: Terms = Terms()
    past: Mapping[str, Sequence[AttemptRecord]] = field(default_factory=dict)
    stop: Stop | None = None
    answered: Counter[str] = field(default_factory=Counter)
    failed: dict[str, Counter[str]] = field(default_factory=dict)
    _silent: Counter[str] = field(default_factory=Counter)
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def interrupt(self) -> None:
        """Ask nothing new; what is in flight is brought to its end."""
        self.stop = self.stop or Stop("interrupted", "interrupted; --resume goes on")

    async def run(
        self, items: Iterable[Item], conclude: Callable[[Item, list[Outcome]], Awaitable[None]]
    ) -> Stop | None:
        """Judge every item.

        Args:
            items: what to judge, taken one by one as places become free.
            conclude: called once for each item with the outcomes of all its questions, judge by judge; with none for
                an item that there is nothing to ask about.

        Returns:
            Why it stopped early; `None` if every item was concluded.

        Raises:
            StoreError: the record cannot be written.
        """
        waiting = iter(items)
        places = self.terms.jobs or sum(judge.spec.max_concurrency for judge in self.judges) or 1
        for judge in self.judges:
            judge.places = asyncio.Semaphore(self.terms.jobs or judge.spec.max_concurrency)
        # Who writes an answer down or prepares the next question keeps nobody from asking.
        more = places // 2 if places >= MANY else 0
        workers = [asyncio.create_task(self._work(waiting, conclude)) for _ in range(places + more)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return self.stop

    async def _work(self, waiting: Iterator[Item], conclude: Callable[[Item, list[Outcome]], Awaitable[None]]) -> None:
        while self.stop is None:
            async with self._taking:
                item = next(waiting, None)
                await asyncio.sleep(0)  # between two questions that are prepared, answers are taken in
            if item is None:
                return
            outcomes = await self._judge(item) if self.judges else []
            if outcomes is not None:
                await conclude(item, outcomes)

    async def _judge(self, item: Item) -> list[Outcome] | None:
        """The outcomes of all questions about an item; `None` if the run stopped before they were complete."""
        outcomes: list[Outcome] = []
        queries: Sequence[Query] = item.queries
        while queries:
            answered = await self._answers(queries)
            if answered is None:
                return None
            outcomes += answered
            queries = item.more(outcomes)
        return outcomes

    async def _answers(self, queries: Sequence[Query]) -> list[Outcome] | None:
        """The outcomes of some questions, side by side; `None` if the run stopped before they were complete."""
        questions = [
            (query.subject, judge, number)
            for query in queries
            for judge in self.judges
            if query.judges is None or judge.name in query.judges
            for number in range(self.terms.replicates)
        ]
        try:
            if len(questions) == 1:
                outcomes = [await self._ask(*questions[0])]
            else:
                outcomes = await _all([self._ask(*question) for question in questions])
        except NotBegun:
            return None
        except BudgetSpent as error:
            self.stop = self.stop or Stop("budget", f"{error.message}; {error.hint}")
            return None
        for outcome in outcomes:
            self._watch(outcome)
        return None if any(outcome.reason == "JUDGE_AUTH" for outcome in outcomes) else outcomes

    async def _ask(self, subject: Subject, judge: Judge, replicate: int) -> Outcome:
        past: Sequence[AttemptRecord] = self.past.get(subject.unit, ())
        if past:
            key = cache_key(subject, judge, replicate)
            past = [old for old in past if old.judge == judge.name and old.key == key]
        # A file of replies costs nothing, and may have been written anew since.
        if not past and self.terms.use_cache and judge.spec.provider != "recorded":
            cached = self._cached(subject, judge, replicate)
            if cached is not None:
                return cached
        return await attempt(subject, judge, replicate, self.record, past, lambda: self.stop is None)

    def _cached(self, subject: Subject, judge: Judge, replicate: int) -> Outcome | None:
        """The answer of an earlier run to this very question, if it still reads as a verdict."""
        old = self.record.store.answered(cache_key(subject, judge, replicate))
        text = None if old is None else self.record.reply_of(old)
        if old is None or text is None:
            return None
        read = subject.read(text, old.finish)
        if isinstance(read, Malformed):
            return None
        return Outcome(
            judge=judge.name, replicate=replicate, reply=read, problems=read.noted, attempts=(digest_of(old),),
            cached=True, healed=old.attempt > 0, model=old.model_answered, order=subject.order,
            suspicions=echoes(text, subject, self.record),
        )  # fmt: skip

    def _watch(self, outcome: Outcome) -> None:
        """Count an outcome, and see whether its judge is still there."""
        name = outcome.judge
        if outcome.reply is not None:
            self.answered[name] += 1
            if not outcome.cached:  # what is on record does not show that somebody is there
                self._silent[name] = 0
            return
        self.failed.setdefault(name, Counter())[outcome.reason or "unknown"] += 1
        if outcome.reason == "JUDGE_AUTH":
            self.stop = self.stop or Stop("auth", f"judge `{name}`: {outcome.message}")
        self._silent[name] = self._silent[name] + 1 if outcome.reason in NO_ANSWER else 0
        if self._silent[name] >= UNREACHABLE_IN_A_ROW:
            message = f"judge `{name}` has not answered {self._silent[name]} questions in a row: {outcome.message}"
            self.stop = self.stop or Stop("unreachable", f"{message}; --resume goes on")


async def _all(asked: list[Coroutine[Any, Any, Outcome]]) -> list[Outcome]:
    """Every outcome; if one question fails for good, the others are still brought to their end."""
    done = await asyncio.gather(*asked, return_exceptions=True)
    for outcome in done:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in done if not isinstance(outcome, BaseException)]
