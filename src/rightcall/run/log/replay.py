"""One recorded question, asked again: does the judge still say what it said?"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rightcall.errors import ConfigError, ProviderError
from rightcall.judge.contract import Malformed, Question
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.llm.client import Request
from rightcall.run.inputs.opening import open_store, redactor_of
from rightcall.run.judging.judges import at_the_door, cleaner_of, panel_of
from rightcall.run.judging.record import Recorder
from rightcall.run.judging.subject import Subject
from rightcall.run.log.finding import whole_attempt
from rightcall.store.writer import Writer

if TYPE_CHECKING:
    from rightcall.llm.client import Exchange
    from rightcall.run.judging.judges import Panel
    from rightcall.run.judging.subject import Judge
    from rightcall.run.log.finding import WholeAttempt
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store


class Replayed(Struct, frozen=True, kw_only=True):
    """Two answers to one question.

    `status` is what became of the new exchange, `seq` its entry in the log; `then` and `now` are the readings, `None`
    where there is none; `same` says whether both could be read and say the same.
    """

    seq: int | None
    status: str
    then_model: str | None
    now_model: str | None
    then: dict[str, Any] | None
    now: dict[str, Any] | None
    same: bool
    message: str | None = None


def replay(loaded: Loaded, entry: str, judge: str | None = None) -> Replayed:
    """Ask a recorded question again. The new exchange is recorded as a replay, and no verdict changes.

    Args:
        loaded: the settings, which know the judges.
        entry: the entry of the log.
        judge: whom to ask; the judge of the entry if not given.

    Raises:
        ConfigError: no such entry, or it is no question; an unknown judge.
    """
    with open_store(loaded, create=False) as store:
        old = whole_attempt(store, entry)
        if old.attempt.purpose == "probe":
            raise ConfigError(f"entry {old.seq} is a probe of the endpoint, not a question", hint="replay a question")
        panel = panel_of(loaded, judge or old.attempt.judge)
        if len(panel.specs) != 1:
            raise ConfigError("a replay asks exactly one judge", hint="name one with --judge")
        (asked,) = at_the_door(panel)
        return asyncio.run(_again(store, old, asked, loaded, panel))


async def _again(store: Store, old: WholeAttempt, judge: Judge, loaded: Loaded, panel: Panel) -> Replayed:
    attempt = old.attempt
    schema = REPLY_SCHEMAS.get(attempt.grader, {"type": "object"})
    question = Question(
        grader=attempt.grader, prompt_id=attempt.prompt_id, prompt_version=attempt.prompt_version,
        prompt_sha256=attempt.prompt_sha256, system=old.system, user=old.user, reply_schema=schema, input_sha256="",
    )  # fmt: skip
    own = None if attempt.grader in REPLY_SCHEMAS else schema
    subject = Subject(
        grader=attempt.grader, unit=attempt.unit, question=question, values={}, case_id=attempt.case_id,
        trace_id=attempt.trace_id, step_id=attempt.step_id,
        read=lambda text, finish: read_reply(attempt.grader, text, finish, schema=own),
    )  # fmt: skip
    request = Request(
        system=old.system, user=old.user, schema=schema, schema_name=attempt.grader,
        temperature=judge.spec.temperature, max_tokens=judge.spec.max_tokens, grader=attempt.grader,
        unit=attempt.unit, replicate=attempt.replicate, attempt=attempt.attempt,
    )  # fmt: skip
    async with Writer(store) as writer:
        record = Recorder(attempt.run_id, store, writer, cleaner_of(redactor_of(loaded), panel), purpose="replay")
        seen = _Seen(subject, judge, record, request)
        try:
            await judge.door.ask(request, seen.note)
        except ProviderError as error:
            seen.message = error.message
        finally:
            await judge.door.close()
    return Replayed(
        seq=store.attempt(seen.digest)[0] if seen.digest else None, status=seen.status,
        then_model=attempt.model_answered, now_model=seen.model, then=attempt.verdict, now=seen.values,
        same=seen.values is not None and seen.values == attempt.verdict, message=seen.message,
    )  # fmt: skip


class _Seen:
    """What came of the new exchanges; the last one counts."""

    def __init__(self, subject: Subject, judge: Judge, record: Recorder, request: Request) -> None:
        self.subject, self.judge, self.record, self.request = subject, judge, record, request
        self.status, self.digest = "JUDGE_UNREACHABLE", ""
        self.model: str | None = None
        self.message: str | None = None
        self.values: dict[str, Any] | None = None

    async def note(self, exchange: Exchange) -> None:
        """Record one exchange."""
        status, problems, values = exchange.code or "ok", (), None
        if exchange.purpose == "question" and exchange.answer is not None:
            read = self.subject.read(exchange.answer.text, exchange.answer.finish)
            if isinstance(read, Malformed):
                status, problems = read.code, read.problems  # type: ignore[assignment]
                self.message = str(read)
            else:
                values = self.record.cleaner.value(read.values())
            self.model = exchange.answer.model
        self.digest = await self.record.attempt(
            self.subject, self.judge, exchange, self.request, key="", status=status, problems=problems, values=values
        )
        self.status, self.values = status, values
