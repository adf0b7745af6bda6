"""What a run would ask and cost, counted without asking anybody: `--dry-run`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from rightcall.llm.door import Door
from rightcall.llm.pace import Pace
from rightcall.llm.prices import cost
from rightcall.llm.tokens import estimate_tokens
from rightcall.run.inputs.opening import may_be_there, open_store
from rightcall.run.judging.drawing import sampled
from rightcall.run.judging.resuming import on_record
from rightcall.run.judging.subject import Judge, cache_key
from rightcall.run.results.facts import SUITE

if TYPE_CHECKING:
    from rightcall.run.graders.setup import Setup
    from rightcall.run.judging.judges import Panel
    from rightcall.run.judging.subject import Subject
    from rightcall.store.records import AttemptRecord

REPLY_TOKENS = 400
"""What a reply usually takes; an estimate."""


class Forecast(Struct, frozen=True, kw_only=True):
    """The size of a run.

    Attributes:
        items: what would be judged; `without_question`: those that nobody can be asked about.
        calls: questions to judges that are not on record yet; `cached`: those that are.
        tokens_in, tokens_out: estimates.
        money: by currency; `unpriced`: questions whose price is not known.
        later: how many calls follow at least once these are answered, and at most one for each item; not in the
            tokens and the money.
        second: how many calls of a second judge follow at the most; not in the tokens and the money either.
    """

    items: int = 0
    without_question: int = 0
    calls: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: dict[str, float] = {}
    unpriced: int = 0
    later: int = 0
    second: int = 0

    def lines(self) -> list[str]:
        """In words."""
        first = f"{self.items} to judge · {self.calls} calls · {self.cached} on record"
        if self.without_question:
            first += f" · {self.without_question} without a question"
        price = ", ".join(f"{amount:.2f} {currency}" for currency, amount in self.money.items())
        unknown = f"{self.unpriced} calls of unknown price" if self.unpriced else ""
        second = f"about {self.tokens_in:,} tokens in, {self.tokens_out:,} out"
        most = self.items - self.without_question
        later = [f"then {self.later} to {most} calls of the strong judge, which are not counted here"] * bool(
            self.later
        )
        later += [f"then up to {self.second} calls of the second judge, which are not counted here"] * bool(self.second)
        return [first, " · ".join(part for part in (second, price and f"about {price}", unknown) if part), *later]


def forecast(setup: Setup) -> Forecast:
    """Count what a run would ask. Nothing is written, and no store is made.

    The content retries of malformed replies and the one probe of an endpoint cannot be foreseen and are not counted.

    Raises:
        RightcallError: whatever would stop the run before its first question.
    """
    judges, seen = _unreachable(setup.panel), _Counting(_known(setup))
    items = without = 0
    try:
        for item in sampled(setup.work.items(), setup.asking.sample, setup.asking.seed):
            if item.unit in seen.known.settled:
                continue
            items += 1
            if not item.queries:
                without += 1
                continue
            for query in item.queries:
                for judge in (one for one in judges if query.judges is None or one.name in query.judges):
                    for replicate in range(setup.asking.terms.replicates):
                        seen.question(query.subject, judge, replicate)
    finally:
        setup.close()
    return Forecast(
        items=items, without_question=without, calls=seen.calls, cached=seen.cached, tokens_in=seen.tokens_in,
        tokens_out=seen.calls * REPLY_TOKENS, money=seen.money, unpriced=seen.unpriced,
        later=getattr(setup.work, "later", lambda _items: 0)(items - without),
        second=getattr(setup.work, "second_at_most", lambda _items: 0)(items - without) * setup.asking.terms.replicates,
    )  # fmt: skip


def _unreachable(panel: Panel) -> list[Judge]:
    """The judges with nobody behind their doors: who they are is all that counts."""
    from rightcall.llm.scripted import ScriptedModel

    return [
        Judge(name, spec, Door(ScriptedModel([]), spec, pace=Pace(most=1)), offline=True)
        for name, spec in panel.specs.items()
    ]


@dataclass
class _Known:
    """What is on record: keys of answers that count, and units of the run to go on with that have a verdict."""

    answers: set[str] = field(default_factory=set)
    settled: set[str] = field(default_factory=set)


@dataclass
class _Counting:
    """Questions as they would be asked, added up."""

    known: _Known
    calls: int = 0
    cached: int = 0
    tokens_in: int = 0
    unpriced: int = 0
    money: dict[str, float] = field(default_factory=dict)

    def question(self, subject: Subject, judge: Judge, replicate: int) -> None:
        """Count one question to one judge."""
        if cache_key(subject, judge, replicate) in self.known.answers:
            self.cached += 1
            return
        size = estimate_tokens(subject.question.system) + estimate_tokens(subject.question.user)
        self.calls += 1
        self.tokens_in += size
        price, currency = cost(judge.spec, judge.spec.model, size, REPLY_TOKENS)
        if price is None or currency is None:
            self.unpriced += 1
        else:
            self.money[currency] = self.money.get(currency, 0.0) + price


def _known(setup: Setup) -> _Known:
    """What a run would not ask again."""
    known = _Known()
    if not may_be_there(setup.loaded):
        return known
    with open_store(setup.loaded) as store:
        if setup.asking.terms.use_cache:
            known.answers.update(attempt.key for _, _, attempt in store.attempts(status="ok"))
        if setup.asking.resume is not None:
            run = store.run(setup.asking.resume)
            before = on_record(store, run.id, grader=setup.work.grader if run.grader == SUITE else None)
            known.settled.update(before.settled)
            known.answers.update(old.key for past in before.past.values() for old in past if _needs_no_call(old))
    return known


def _needs_no_call(old: AttemptRecord) -> bool:
    """Whether a question has its answer, or a second reply that nobody could read either."""
    return old.purpose == "question" and (old.status == "ok" or (old.attempt > 0 and bool(old.problems)))
