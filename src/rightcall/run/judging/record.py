"""The one place where an exchange becomes a record: redacted, priced, and committed before anybody uses it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

from rightcall.errors import ConfigError, Place, RunError
from rightcall.judge.contract import INJECTION, ReplyCode
from rightcall.llm.prices import cost
from rightcall.llm.tokens import estimate_tokens, fewest_tokens
from rightcall.run.judging.budget import Budget
from rightcall.store.records import AttemptRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rightcall.judge.contract import Problem
    from rightcall.llm.client import Answer, Exchange, Request
    from rightcall.llm.spec import JudgeSpec
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.run.judging.subject import Judge, Subject
    from rightcall.store.store import Store
    from rightcall.store.writer import Writer

_READ = ("ok", *get_args(ReplyCode))


class BudgetSpent(RunError):
    """The budget does not suffice for the next call; the run stops cleanly and can be resumed."""

    default_code = "BUDGET_SPENT"


@dataclass
class Spent:
    """What the calls of a run cost so far.

    Attributes:
        calls: exchanges with endpoints, failed ones and probes too.
        input_tokens, output_tokens: as the endpoints counted.
        uncounted: answers whose endpoint did not count.
        money: by currency.
        unpriced: answers of a model without a known price.
        by_status: exchanges by what became of them.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    money: dict[str, float] = field(default_factory=dict)
    unpriced: int = 0
    by_status: dict[str, int] = field(default_factory=dict)

    def add(self, record: AttemptRecord) -> None:
        """Count one exchange."""
        self.calls += 1
        self.by_status[record.status] = self.by_status.get(record.status, 0) + 1
        if record.reply is None:
            return
        if record.input_tokens is None or record.output_tokens is None:
            self.uncounted += 1
        self.input_tokens += record.input_tokens or 0
        self.output_tokens += record.output_tokens or 0
        if record.price is None or record.currency is None:
            self.unpriced += 1
        else:
            self.money[record.currency] = self.money.get(record.currency, 0.0) + record.price


@dataclass
class Recorder:
    """Writes the attempts of one run.

    Attributes:
        run_id: the run.
        store, writer: where records are read and written.
        cleaner: takes secrets out.
        purpose: `question`, or `replay` for a question that is asked again by hand.
    """

    run_id: str
    store: Store
    writer: Writer
    cleaner: Cleaner
    purpose: str = "question"
    budget: Budget = field(default_factory=Budget)
    spent: Spent = field(default_factory=Spent)
    _constant: dict[str, str] = field(default_factory=dict, repr=False)
    _room: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def clean(self, text: str) -> str:
        """A message without secrets."""
        return self.cleaner.text(text)

    async def reserve(self, request: Request, judge: Judge) -> float:
        """Take out of the budget what a call can cost; see `release`.

        Where calls in flight hold what is left, it waits for them: most cost less than they can.

        Raises:
            BudgetSpent: it does not suffice. Nothing was asked.
            ConfigError: the budget is in money, and what the model costs is not known.
        """
        expected = self._expected(request, judge)
        while not self.budget.take(expected):
            if self.budget.is_hopeless(expected):
                raise BudgetSpent(f"the budget of {self.budget} is spent", hint="--resume with a new --budget goes on")
            self._room.clear()
            await self._room.wait()
        return expected

    def release(self, expected: float) -> None:
        """Give a reservation back: the call has ended, and what it cost was counted when it was recorded."""
        self.budget.give_back(expected)
        self._room.set()

    def _expected(self, request: Request, judge: Judge) -> float:
        """What a call costs at the most, as far as that can be known before."""
        if self.budget.unit == "calls":
            return 1.0
        tokens = estimate_tokens(request.system) + estimate_tokens(request.user)
        if self.budget.unit == "tokens":
            return float(tokens + request.max_tokens)
        price, currency = cost(judge.spec, judge.spec.model, tokens, request.max_tokens)
        if price is None or currency != self.budget.currency:
            who = judge.spec.model or judge.name  # a program or a recording has no model
            raise ConfigError(
                f"what `{who}` costs in {self.budget.currency} is not known: no limit can hold",
                place=Place("--budget"), hint=f"set `price` in [judges.{judge.name}], or limit calls or tokens",
            )  # fmt: skip
        return price

    def _real(self, record: AttemptRecord, request: Request, judge: Judge) -> float:
        """What a call did cost in the budget's unit; where nobody says so, the most that it can have cost."""
        if self.budget.unit == "calls":
            return 1.0
        if record.reply is None or self.budget.limit is None:
            return 0.0
        if self.budget.unit == "money":
            known = record.price if record.currency == self.budget.currency else None
        else:
            counted = (record.input_tokens, record.output_tokens)
            known = None if None in counted else float(sum(filter(None, counted)))
        return self._expected(request, judge) if known is None else known

    async def attempt(
        self, subject: Subject, judge: Judge, exchange: Exchange, request: Request, *, key: str, status: str,
        problems: Iterable[Problem] = (), values: dict[str, Any] | None = None,
    ) -> str:  # fmt: skip
        """Record one exchange and return its digest once it is committed.

        Raises:
            StoreError: it could not be written.
        """
        if judge.door.adaptive is not None:
            self.cleaner.learn(judge.door.adaptive.credential.secrets)
        record, bodies = self._record(subject, judge, exchange, request, key, status, problems, values)
        written = await self.writer.append([record], bodies)
        self.spent.add(record)
        self.budget.spend(self._real(record, request, judge))
        return written[0]

    def reply_of(self, old: AttemptRecord) -> str | None:
        """The raw reply of a recorded attempt that may be gone on from; `None` for transport faults."""
        if old.status not in _READ or old.reply is None or old.purpose != "question":
            return None
        return self.store.body(old.reply).decode()

    def _record(
        self, subject: Subject, judge: Judge, exchange: Exchange, request: Request, key: str, status: str,
        problems: Iterable[Problem], values: dict[str, Any] | None,
    ) -> tuple[AttemptRecord, list[bytes]]:  # fmt: skip
        answer, question, spec = exchange.answer, subject.question, judge.spec
        is_probe = exchange.purpose == "probe"
        texts = ["", ""] if is_probe else [self._clean_constant(request.system), self.clean(request.user)]
        texts += [self.clean(answer.text)] if answer else []
        bodies = [text.encode() for text in texts]
        shas = list(map(sha256_of, bodies))
        price, currency = (None, None)
        if answer is not None:
            price, currency = cost(spec, answer.model, answer.input_tokens, answer.output_tokens)
        record = AttemptRecord(
            run_id=self.run_id, grader=subject.grader, unit=subject.unit, judge=judge.name,
            key="" if is_probe else key, status=status, case_id=subject.case_id, trace_id=subject.trace_id,
            step_id=subject.step_id, provider=spec.provider, endpoint=endpoint_of(spec),
            purpose="probe" if is_probe else self.purpose, replicate=request.replicate, attempt=request.attempt,  # type: ignore[arg-type]
            transport=exchange.number, prompt_id=question.prompt_id, prompt_version=question.prompt_version,
            prompt_sha256=question.prompt_sha256, system=shas[0], user=shas[1], reply=shas[2] if answer else None,
            finish=self._said(_finish(answer)) if answer else None, model_asked=spec.model,
            model_answered=self._said(answer.model) if answer else None, parameters=self._sent(exchange, request),
            rung=answer.rung if answer else "",
            problems=tuple([{"path": self.clean(p.path), "message": self.clean(p.message)} for p in problems]),
            verdict=None if values is None else self.cleaner.value(values),
            input_tokens=answer.input_tokens if answer else None,
            output_tokens=answer.output_tokens if answer else None,
            counted_tokens=None if is_probe else fewest_tokens(request.system) + fewest_tokens(request.user),
            price=price, currency=currency, http_status=exchange.http_status, retry_after=exchange.retry_after,
            request_id=self._said(answer.request_id) if answer else None,
            message=self._said(exchange.message), latency=exchange.latency,
            positions=None if subject.positions is None else self.cleaner.value(dict(subject.positions)),
            started_at=exchange.started_at, ended_at=exchange.ended_at, notes=_notes(subject, exchange, request),
        )  # fmt: skip
        return record, bodies

    def _said(self, word: str | None) -> str | None:
        """A word of the endpoint's own, cleaned."""
        return None if word is None else self.clean(word)

    def _clean_constant(self, text: str) -> str:
        """The constant part of a prompt, cleaned once a run."""
        if text not in self._constant:
            self._constant[text] = self.clean(text)
        return self._constant[text]

    def _sent(self, exchange: Exchange, request: Request) -> dict[str, Any]:
        if exchange.answer is not None and exchange.answer.sent:
            return self.cleaner.value(exchange.answer.sent)  # type: ignore[no-any-return]
        return {"temperature": request.temperature, "max_tokens": request.max_tokens}


def _finish(answer: Answer) -> str:
    """Why the model stopped, in the provider's word, unless it says so elsewhere (a field of its own for refusals)."""
    return answer.finish if answer.finish == "refusal" else answer.finish_raw or answer.finish


def _notes(subject: Subject, exchange: Exchange, request: Request) -> tuple[str, ...]:
    """What a reader of the record must know besides."""
    notes = [f"the view was reduced: {what}" for what in subject.question.left_out]
    if subject.question.suspicions:
        places = ", ".join(suspicion.path for suspicion in subject.question.suspicions[:3])
        notes.append(f"{INJECTION} at {places}")
    answer = exchange.answer
    if answer is not None and request.temperature is not None and answer.sent and "temperature" not in answer.sent:
        notes.append(f"not produced at temperature {request.temperature:g}: the model refuses the parameter")
    return tuple(notes)


def endpoint_of(spec: JudgeSpec) -> str:
    """Where a judge is asked: host and port, a program's name, a file; never a password or a query."""
    if spec.base_url:
        parts = urlsplit(spec.base_url)
        return (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    return spec.command[0].rsplit("/", 1)[-1] if spec.command else spec.file or spec.provider


def sha256_of(body: bytes) -> str:
    """The name of a body."""
    from hashlib import sha256

    return sha256(body).hexdigest()
