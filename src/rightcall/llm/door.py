"""The door to one judge: its pace, its transport retries, and a note of every single exchange.

A transport retry repeats a call that brought no answer. It is never the content retry, which asks again because of
what an answer says, and it is never scored. An exchange is noted before its answer is used, whatever came of it: a
reply that was paid for, a probe, a refused parameter, a call that was cut short.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import stamina
from msgspec.structs import replace

from rightcall.errors import ProviderError, RateLimited, Rejected, Unavailable
from rightcall.llm.adaptive import Adaptive
from rightcall.llm.client import Exchange
from rightcall.llm.ladder import PROBE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rightcall.llm.adaptive import Version
    from rightcall.llm.client import Answer, Client, Request
    from rightcall.llm.pace import Pace, Slot
    from rightcall.llm.spec import JudgeSpec

    Note = Callable[[Exchange], Awaitable[None] | None]
    """Keeps an exchange. It is awaited before the answer is used; what it raises goes to whoever asked."""

MOST_RESENDS = 8
"""How often one call is sent again because something was learned: more parameters than that can be refused by none."""

_FATAL = ("JUDGE_AUTH", "JUDGE_RATE_LIMITED")

# Each retry is noted as an exchange; without this, each would be a line on stderr too.
logging.getLogger("stamina").addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Backoff:
    """Waits between transport retries, in seconds: `first`, doubled each time up to `longest`, plus up to `jitter`."""

    first: float = 0.5
    longest: float = 30.0
    jitter: float = 1.0

    def least(self, failures: int) -> float:
        """The wait after so many failures, without jitter."""
        return min(self.longest, self.first * 2.0 ** (failures - 1))

    def more(self) -> float:
        """A jitter."""
        return self.jitter * secrets.randbelow(1_000_000) / 1_000_000


def _utc() -> str:
    return datetime.now(UTC).isoformat()


class Door:
    """Asks one client, politely and persistently. Belongs to one event loop.

    Args:
        client: the endpoint and model.
        spec: how the judge is configured.
        pace: of the endpoint; doors to the same endpoint share it.
        retries: transport retries of one call at the most.
        patience: seconds that the exchanges and waits of one call may take together; waiting for one's turn is free.
        backoff: waits between retries.
        clock: seconds, growing. now: the time as ISO 8601, UTC.
    """

    def __init__(
        self,
        client: Client,
        spec: JudgeSpec,
        *,
        pace: Pace,
        retries: int = 4,
        patience: float = 300.0,
        backoff: Backoff | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], str] = _utc,
    ) -> None:
        """Open the door; nothing is sent."""
        self.client = client
        self.spec = spec
        self.pace = pace
        self.retries = retries
        self.patience = patience
        self.backoff = backoff or Backoff()
        self.clock = clock
        self.now = now
        self.adaptive = client if isinstance(client, Adaptive) else None
        self._closed_by: ProviderError | None = None
        self._probing = asyncio.Lock()
        self._failed_probes = 0
        self._probe_error: ProviderError | None = None

    async def ask(self, request: Request, note: Note) -> Answer:
        """Ask until there is an answer, or none can be hoped for.

        Args:
            request: the question.
            note: gets every exchange of this call, and of the probe if this call is the first one.

        Raises:
            RateLimited, Unavailable: no answer after all retries; the last error.
            Rejected: asking again is useless. After a refused credential (401, 403) or a spent account, every later
                call fails with the same error at once, without an exchange.
        """
        self.check_open()
        if request.schema is not None:
            await self._find_rung(note)
        return await _Call(self, request, note, "question").persist()

    async def close(self) -> None:
        """Give back the client's connections."""
        await self.client.close()

    def check_open(self) -> None:
        """Raise the error that closed the door, if one did."""
        if self._closed_by is not None:
            raise _again(self._closed_by)

    def close_after(self, error: ProviderError) -> None:
        """Close the door where every further call would fail in the same way, and could cost something."""
        if isinstance(error, Rejected) and error.code in _FATAL:
            self._closed_by = error

    async def _find_rung(self, note: Note) -> None:
        """Find out once what the endpoint supports. Who waited while the probe failed fails with it."""
        if self.adaptive is None or self.adaptive.ladder.is_known:
            return
        seen = self._failed_probes
        async with self._probing:
            ladder = self.adaptive.ladder
            if ladder.is_known:
                return
            if self._probe_error is not None and self._failed_probes > seen:
                raise _again(self._probe_error)
            probe = replace(PROBE, temperature=self.spec.temperature, max_tokens=self.spec.max_tokens)
            try:
                ladder.answered(await _Call(self, probe, note, "probe").persist())
            except _RungFound:
                ladder.is_known = True
            except ProviderError as error:
                self._probe_error, self._failed_probes = error, self._failed_probes + 1
                raise


def _again(error: ProviderError) -> ProviderError:
    """The same error as a new object: one object raised in many tasks would collect all their tracebacks."""
    return type(error)(
        error.message, code=error.code, place=error.place, hint=error.hint,
        http_status=error.http_status, retry_after=error.retry_after, parameter=error.parameter,
    )  # fmt: skip


class _RungFound(Exception):
    """The probe was refused for its schema: the ladder has gone down, and nothing more need be asked."""


class _Call:
    """One call on its way through all its exchanges."""

    def __init__(self, door: Door, request: Request, note: Note, purpose: Literal["question", "probe"]) -> None:
        self.door, self.request, self.note, self.purpose = door, request, note, purpose
        self.number = 0
        self.failures = 0
        self.spent = 0.0
        self.ended: float | None = None

    async def persist(self) -> Answer:
        """Make exchanges until one brings an answer."""
        backoff = self.door.backoff
        # The total time is bounded in `wait`, since the time in the queue of the pace must not count.
        caller = stamina.AsyncRetryingCaller(
            attempts=self.door.retries + 1, timeout=None,
            wait_initial=backoff.first, wait_max=backoff.longest, wait_jitter=backoff.jitter,
        )  # fmt: skip
        return await caller(self.wait, self.once)

    def wait(self, error: Exception) -> bool | float:
        """Whether to try again; as a number, after how many seconds. `True` is stamina's own jittered backoff."""
        if not isinstance(error, (RateLimited, Unavailable)):
            return False
        least = max(error.retry_after or 0.0, self.door.backoff.least(self.failures))
        if self.spent + least > self.door.patience:
            return False
        return True if error.retry_after is None else least + self.door.backoff.more()

    async def once(self) -> Answer:
        """One try: an exchange, and further ones where the endpoint refuses a parameter or an old token."""
        if self.ended is not None:
            self.spent += self.door.clock() - self.ended
        renewals = 0
        for _ in range(MOST_RESENDS):
            answer, error, learned = await self._exchange(may_renew=renewals == 0)
            if answer is not None:
                return answer
            if error is not None and not learned:
                self.failures += 1
                self.door.close_after(error)
                raise error
            renewals += error is not None and error.http_status == 401
            if self.purpose == "probe" and self.door.adaptive and self.door.adaptive.ladder.rung != "json_schema":
                raise _RungFound
        raise Rejected(
            "the endpoint goes on refusing parameters", code="JUDGE_UNREACHABLE", hint="see its exchanges in the log"
        )

    async def _exchange(self, *, may_renew: bool) -> tuple[Answer | None, ProviderError | None, bool]:
        """One exchange, noted: the answer, or the error and whether asking again at once is worth it."""
        door = self.door
        answer: Answer | None = None
        error: ProviderError | None = None
        learned = False
        async with door.pace.slot(door.patience) as slot:
            door.check_open()
            version = door.adaptive.version if door.adaptive else (0, 0)
            started_at, started = door.now(), door.clock()
            try:
                answer = await door.client.ask(self.request)
            except ProviderError as failure:
                error = failure
            except asyncio.CancelledError:
                cut = ProviderError("cancelled before an answer came", code="JUDGE_TIMEOUT")
                with suppress(asyncio.CancelledError):
                    await self._tell(self._made(None, cut, started_at, started))
                raise
            self._pace(slot, error)
        exchange = self._made(answer, error, started_at, started)
        if isinstance(error, Rejected) and (may_renew or error.http_status != 401):
            learned, error = await self._adapt(error, version)
            if learned and error.code not in _FATAL:
                exchange = replace(exchange, code="REJECTED_PARAMETER")
        await self._tell(exchange)
        return answer, error, learned

    async def _adapt(self, error: Rejected, version: Version) -> tuple[bool, Rejected]:
        """Whether the client can ask otherwise now; and the error, which may be that of its token command."""
        if self.door.adaptive is None:
            return False, error
        try:
            return await self.door.adaptive.adapt(error, version), error
        except Rejected as failure:
            return False, failure

    def _pace(self, slot: Slot, error: ProviderError | None) -> None:
        pace = self.door.pace
        if isinstance(error, RateLimited):
            pace.limited(slot, error.retry_after)
        elif error is not None:
            pace.pause(error.retry_after)
        else:
            pace.clean(slot)

    def _made(self, answer: Answer | None, error: ProviderError | None, started_at: str, started: float) -> Exchange:
        self.ended = self.door.clock()
        latency = self.ended - started
        self.spent += latency
        number, self.number = self.number, self.number + 1
        return Exchange(
            purpose=self.purpose, answer=answer, code=error.code if error else None,
            message=error.message if error else None, http_status=error.http_status if error else None,
            retry_after=error.retry_after if error else None, number=number,
            started_at=started_at, ended_at=self.door.now(), latency=latency,
        )  # fmt: skip

    async def _tell(self, exchange: Exchange) -> None:
        """Have an exchange noted, to the end even if the task is cancelled meanwhile."""
        noted = self.note(exchange)
        if not inspect.isawaitable(noted):
            return
        task = asyncio.ensure_future(noted)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                await task
            raise
