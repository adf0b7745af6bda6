"""What a run would ask and cost, counted without asking anybody: `--dry-run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from rightcall.llm.prices import cost
from rightcall.llm.tokens import estimate_tokens
from rightcall.run.judged import sampled
from rightcall.run.judges import at_the_door
from rightcall.run.opening import has_store, open_store
from rightcall.run.subject import cache_key

if TYPE_CHECKING:
    from rightcall.run.judged_setup import Setup
    from rightcall.run.subject import Subject

REPLY_TOKENS = 400
"""What a reply usually takes; an estimate."""


class Forecast(Struct, frozen=True, kw_only=True):
    """The size of a run.

    Attributes:
        items: what would be judged; `without_question`: those that nobody can be asked about.
        calls: questions to judges that are not on record yet; `cached`: those that are.
        tokens_in, tokens_out: estimates.
        money: by currency; `unpriced`: questions whose price is not known.
    """

    items: int = 0
    without_question: int = 0
    calls: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: dict[str, float] = {}
    unpriced: int = 0

    def lines(self) -> list[str]:
        """In words."""
        first = f"{self.items} to judge · {self.calls} calls · {self.cached} on record"
        if self.without_question:
            first += f" · {self.without_question} without a question"
        price = ", ".join(f"{amount:.2f} {currency}" for currency, amount in self.money.items())
        unknown = f"{self.unpriced} calls of unknown price" if self.unpriced else ""
        second = f"about {self.tokens_in:,} tokens in, {self.tokens_out:,} out"
        return [first, " · ".join(part for part in (second, price and f"about {price}", unknown) if part)]


def forecast(setup: Setup) -> Forecast:
    """Count what a run would ask.

    Raises:
        RightcallError: whatever would stop the run before its first question.
    """
    judges = at_the_door(setup.panel, offline=True)
    known = _known(setup)
    items = without = calls = cached = tokens_in = unpriced = 0
    money: dict[str, float] = {}
    for item in sampled(setup.work.items(), setup.asking):
        items += 1
        subject = item.subject
        if subject is None:
            without += 1
            continue
        size = _size(subject)
        for judge in judges:
            for replicate in range(setup.asking.terms.replicates):
                if setup.asking.terms.use_cache and cache_key(subject, judge, replicate) in known:
                    cached += 1
                    continue
                calls += 1
                tokens_in += size
                price, currency = cost(judge.spec, judge.spec.model, size, REPLY_TOKENS)
                if price is None or currency is None:
                    unpriced += 1
                else:
                    money[currency] = money.get(currency, 0.0) + price
    return Forecast(
        items=items, without_question=without, calls=calls, cached=cached, tokens_in=tokens_in,
        tokens_out=calls * REPLY_TOKENS, money=money, unpriced=unpriced,
    )  # fmt: skip


def _size(subject: Subject) -> int:
    return estimate_tokens(subject.question.system) + estimate_tokens(subject.question.user)


def _known(setup: Setup) -> set[str]:
    """The keys of all answers on record."""
    if not has_store(setup.loaded):
        return set()
    with open_store(setup.loaded) as store:
        return {attempt.key for _, _, attempt in store.attempts(status="ok")}
