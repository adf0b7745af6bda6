"""One question to one judge: ask, call, read, one content retry, or `Unevaluable` with its cause (SPEC §7).

What happens, in this order:

* An answer that is already on record is taken from there: from the cache, or, when a run is resumed, from the run
  itself, whose first malformed reply is then followed by its retry and not by the first question again.
* The door makes the call, with its own transport retries. Each exchange is recorded before anything is done with it.
* The reply is read strictly. A malformed one is asked again exactly once, at temperature 0, with its problems and a
  reminder of the format appended; after a truncated reply with room for twice as much.
* A second malformed reply, or no reply, is no verdict: the outcome has a reason and no values. It is never a score.

An answer of another model than the one asked for is no answer of this judge, and a reply to a question that the
endpoint has cut is no reply to this question.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from rightcall.errors import ProviderError, RunError
from rightcall.judge.contract import Malformed, Problem, Suspicion
from rightcall.judge.injection import is_echo
from rightcall.judge.reminder import reminder
from rightcall.llm.client import Answer, Request
from rightcall.llm.tokens import was_cut
from rightcall.run.judging.subject import cache_key
from rightcall.store.packing import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rightcall.llm.client import Exchange
    from rightcall.run.judging.questions import Readable
    from rightcall.run.judging.record import Recorder
    from rightcall.run.judging.subject import Judge, Subject
    from rightcall.store.records import AttemptRecord

_REASONS = {"TOO_LONG": "too_long", "JUDGE_NOT_RECORDED": "not_recorded"}
"""Codes of endpoints that are a case's own reason."""

WRONG_MODEL_TRIES = 3
"""How often an answer of another model is asked for again before the judge counts as unreachable."""


class NotBegun(RunError):
    """A question that was not asked, since the run stopped before it was its turn."""


@dataclass(frozen=True)
class Outcome:
    """What came of one question to one judge.

    Attributes:
        reply: the typed reply; `None` if there is none.
        reason: why there is none (a `JUDGE_*` code, `too_long`, …).
        problems: everything that is wrong with the last reply.
        attempts: digests of the recorded attempts.
        cached: whether it was served from the record, without a call.
        healed: whether the content retry gave the reply.
        suspicions: what in the reply itself looks like an attack.
        calls: exchanges made for it.
        order: which of several questions about the item it was, as the subject says.
    """

    judge: str
    replicate: int
    reply: Readable | None = None
    reason: str | None = None
    problems: tuple[Problem, ...] = ()
    attempts: tuple[str, ...] = ()
    cached: bool = False
    healed: bool = False
    suspicions: tuple[Suspicion, ...] = ()
    model: str | None = None
    message: str | None = None
    calls: int = 0
    order: str = ""


async def attempt(
    subject: Subject, judge: Judge, replicate: int, record: Recorder, past: Sequence[AttemptRecord] = (),
    may_begin: Callable[[], bool] = lambda: True,
) -> Outcome:  # fmt: skip
    """Ask one judge one question, with at most one content retry.

    Args:
        subject: what is judged.
        judge: who is asked.
        replicate: which of several identical questions.
        record: writes every exchange before it is used.
        past: attempts of this very question that are on record and may be gone on from.
        may_begin: whether a question may still be asked for the first time, once there is a place for it.

    Raises:
        StoreError: the record cannot be written; nothing is used that is not on record.
        NotBegun: it might not begin any more.
    """
    asking = _Asking(subject, judge, replicate, record, may_begin)
    outcome = asking.resumed(past)
    if outcome is not None:
        return outcome
    while asking.number <= 1:
        outcome = await asking.once()
        if outcome is not None:
            return outcome
    return asking.unreadable()


class _Asking:
    """One question on its way through at most two attempts."""

    def __init__(
        self, subject: Subject, judge: Judge, replicate: int, record: Recorder, may_begin: Callable[[], bool]
    ) -> None:
        self.subject, self.judge, self.replicate, self.record = subject, judge, replicate, record
        self.may_begin = may_begin
        self.has_place = False
        self.key = cache_key(subject, judge, replicate)
        self.number = 0
        self.malformed: Malformed | None = None
        self.digests: list[str] = []
        self.calls = 0
        self.reserved = 0.0
        self.echoed: tuple[Suspicion, ...] = ()
        self._read: Readable | Malformed | None = None
        self._is_its_own = True

    def resumed(self, past: Sequence[AttemptRecord]) -> Outcome | None:
        """Go on from what is on record: an outcome, or the place where to go on."""
        for old in past:
            again = self.record.reply_of(old)
            if again is None:
                continue
            limit = old.parameters.get("max_tokens", old.parameters.get("max_completion_tokens"))
            asked = (self.subject.question.system, self.subject.question.user)
            read = self._checked(_answer_of(old, again), asked, limit)
            self.digests.append(digest_of(old))
            if isinstance(read, Malformed):
                if _is_cut(read):
                    return replace(self._failed("too_long", str(read)), problems=read.problems)
                self.malformed, self.number = read, max(self.number, old.attempt + 1)
                self.echoed = self.echoed or echoes(again, self.subject, self.record)
                continue
            return self._answered(read, again, old.model_answered, cached=True, number=old.attempt)
        return self.unreadable() if self.number > 1 else None

    async def once(self) -> Outcome | None:
        """One attempt: an outcome, or `None` after a malformed reply."""
        if self.judge.offline:
            return self._failed("not_recorded", "no such answer is on record, and --offline asks nobody")
        request = self._request()
        for _ in range(WRONG_MODEL_TRIES):
            try:
                answer = await self._ask(request)
            except ProviderError as error:
                return self._failed(_REASONS.get(error.code, error.code), error.message)
            if self._is_its_own:
                break
            other = self.record.clean(str(answer.model))
            self.judge.others[other] = self.judge.others.get(other, 0) + 1
        else:
            return self._failed("JUDGE_UNREACHABLE", _other_model(self.judge, answer))
        read = self._read
        if isinstance(read, Malformed):
            if _is_cut(read):
                return replace(self._failed("too_long", str(read)), problems=read.problems)
            self.malformed, self.number = read, self.number + 1
            self.echoed = self.echoed or echoes(answer.text, self.subject, self.record)
            return None
        assert read is not None  # noqa: S101 - an answer was noted before it was returned
        return self._answered(read, answer.text, answer.model, cached=False, number=self.number)

    async def _ask(self, request: Request) -> Answer:
        """Make the call within the budget.

        Raises:
            BudgetSpent: it does not suffice for the next exchange; those before are on record.
            ProviderError: no answer.
        """
        is_first = self.judge.admitted is None
        if self.judge.admitted is None:
            self.judge.admitted = asyncio.Event()
        else:
            # A refused credential closes the door; whoever waits here has not knocked.
            await self.judge.admitted.wait()
        try:
            await self._enter()
            self.judge.door.check_open()
            self.reserved = await self.record.reserve(request, self.judge)
            return await self.judge.door.ask(request, lambda exchange: self._note(exchange, request))
        finally:
            self._leave()
            self._release()
            if is_first:
                self.judge.admitted.set()

    async def _enter(self) -> None:
        """Wait for a place among the questions that are under way.

        Raises:
            NotBegun: the run stopped before this question was begun.
        """
        if self.judge.places is not None:
            await self.judge.places.acquire()
            self.has_place = True
        if self.calls == 0 and not self.may_begin():
            raise NotBegun("the run stopped before")

    def _leave(self) -> None:
        """Give the place back: nothing is under way."""
        if self.judge.places is not None and self.has_place:
            self.judge.places.release()
        self.has_place = False

    def _release(self) -> None:
        """Give the reservation back: the call has ended."""
        self.record.release(self.reserved)
        self.reserved = 0.0

    def unreadable(self) -> Outcome:
        """The outcome after two malformed replies."""
        assert self.malformed is not None  # noqa: S101 - that is how one gets here
        failed = self._failed(self.malformed.code, str(self.malformed))
        return replace(failed, problems=self.malformed.problems, suspicions=self.echoed)

    def _request(self) -> Request:
        question, spec = self.subject.question, self.judge.spec
        user, temperature, room = question.user, spec.temperature, spec.max_tokens
        if self.malformed is not None:
            user += "\n\n" + reminder(self.malformed, question.reply_schema)
            temperature = None if temperature is None else 0.0
            room *= 2 if self.malformed.code == "JUDGE_TRUNCATED" else 1
        return Request(
            system=question.system, user=user, schema=question.reply_schema, schema_name=self.subject.grader,
            temperature=temperature, max_tokens=room, grader=self.subject.grader, unit=self.subject.unit,
            order=self.subject.order, replicate=self.replicate, attempt=self.number, input_sha256=question.input_sha256,
        )  # fmt: skip

    async def _note(self, exchange: Exchange, request: Request) -> None:
        """Record an exchange; a reply is read first, so that the record says what it was."""
        self.calls += 1
        self._leave()  # while it is written down, another question may be under way
        status, values = exchange.code or "ok", None
        problems: tuple[Problem, ...] = ()
        answer = exchange.answer
        if exchange.purpose == "probe":
            self.judge.meet(None if answer is None else answer.model)
        elif answer is not None and not self._is_answer(answer):
            status = "JUDGE_UNREACHABLE"
            exchange = structs.replace(exchange, message=_other_model(self.judge, answer))
        elif answer is not None:
            asked = (request.system, request.user)
            read = self._read = self._checked(answer, asked, request.max_tokens)
            if isinstance(read, Malformed):
                status, problems = read.code, read.problems
            else:
                problems, values = read.noted, read.values()
        written = await self.record.attempt(
            self.subject, self.judge, exchange, request, key=self.key, status=status, problems=problems, values=values
        )
        if exchange.purpose == "question":
            self.digests.append(written)
        if exchange.code == "JUDGE_AUTH":
            return
        if self.judge.admitted is not None:
            self.judge.admitted.set()
        self._release()
        if answer is None or exchange.purpose == "probe":  # another exchange may follow
            await self._enter()
            self.reserved = await self.record.reserve(request, self.judge)

    def _is_answer(self, answer: Answer) -> bool:
        """Whether this judge gave the answer; settled once, since what is known of its names can change meanwhile."""
        self._is_its_own = self.judge.is_it(answer.model)
        return self._is_its_own

    def _checked(self, answer: Answer, asked: tuple[str, str], limit: int | None) -> Readable | Malformed:
        """Read an answer to `asked`; `limit` is the most tokens that it could have."""
        if was_cut(answer.input_tokens, *asked):
            said = (
                f"the endpoint read {answer.input_tokens} tokens of a question that has more: its context is too small"
            )
            return Malformed("JUDGE_TRUNCATED", (Problem("question", said),))
        read = self.subject.read(answer.text, answer.finish)
        if not isinstance(read, Malformed):
            return read
        problems = [Problem(self.record.clean(one.path), self.record.clean(one.message)) for one in read.problems]
        if read.code == "JUDGE_TRUNCATED" and limit is not None:
            used = "" if answer.output_tokens is None else f" after {answer.output_tokens} tokens"
            problems.append(Problem("max_tokens", f"the reply was cut{used}: the output limit is {limit} tokens"))
        return Malformed(read.code, tuple(problems))

    def _answered(self, read: Readable, text: str, model: str | None, *, cached: bool, number: int) -> Outcome:
        return Outcome(
            judge=self.judge.name, replicate=self.replicate, reply=read, problems=read.noted,
            attempts=tuple(self.digests), cached=cached, healed=number > 0,
            suspicions=echoes(text, self.subject, self.record), calls=self.calls, order=self.subject.order,
            model=None if model is None else self.record.clean(model),
        )  # fmt: skip

    def _failed(self, reason: str, message: str) -> Outcome:
        return Outcome(
            judge=self.judge.name, replicate=self.replicate, reason=reason, attempts=tuple(self.digests),
            message=self.record.clean(message), calls=self.calls, order=self.subject.order,
        )  # fmt: skip


def echoes(text: str, subject: Subject, record: Recorder) -> tuple[Suspicion, ...]:
    """Whether a reply is a copy of something in the question, as suspicions; one at the most."""
    echo = is_echo(text, subject.values, subject.question.user)
    return () if echo is None else (structs.replace(echo, excerpt=record.clean(echo.excerpt)),)


def _answer_of(old: AttemptRecord, text: str) -> Answer:
    """A recorded reply as the answer that it was."""
    finish: Any = old.finish
    return Answer(text=text, finish=finish, input_tokens=old.input_tokens, output_tokens=old.output_tokens)


def _is_cut(read: Malformed) -> bool:
    """Whether the question itself was cut: asking again would cut it again."""
    return any(problem.path == "question" for problem in read.problems)


def _other_model(judge: Judge, answer: Answer) -> str:
    return (
        f"asked for `{judge.spec.model}`, answered by `{answer.model}`: "
        "not this judge's answer (a server's own name for it goes into `answers_as`)"
    )
