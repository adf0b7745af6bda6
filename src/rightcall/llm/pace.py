"""How fast an endpoint is asked: as fast as it lets us.

Additive increase, multiplicative decrease, as TCP does it. The limit of calls at a time starts at 20 and grows by one
with each clean answer, so it doubles with every round trip while all is well. When the endpoint says 429 or 529 it
shrinks to 80 %, at most once a round trip: all that was sent before the cut was sent at the old pace, and says nothing
about the new one. A `Retry-After` stops the whole endpoint, not only the call that was told so.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rightcall.errors import RateLimited

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

START = 20
SHRINK = 0.8


@dataclass(frozen=True)
class Slot:
    """The right to make one call. `era` numbers the cuts: it tells at which pace the call was sent."""

    era: int


class Pace:
    """The pace of one endpoint; judges on the same endpoint share one. Belongs to one event loop.

    Args:
        most: most calls at a time, whatever the endpoint bears.
        start: calls at a time in the beginning.
        clock: seconds, growing.
        sleep: waits so many seconds.

    Attributes:
        limit: calls at a time, now; a fraction counts from the next whole number.
        in_flight: calls under way.
    """

    def __init__(
        self,
        most: int = 64,
        *,
        start: int = START,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Begin at the starting limit."""
        self.most = max(1, most)
        self.limit = float(min(max(1, start), self.most))
        self.in_flight = 0
        self._era = 0
        self._paused_until = float("-inf")
        self._clock = clock
        self._sleep = sleep
        # Only the first in the queue looks at the limit; a lock lets waiters in by the order of their arrival.
        self._queue = asyncio.Lock()
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def slot(self, patience: float = float("inf")) -> AsyncIterator[Slot]:
        """Wait for one's turn and hold a slot; first come, first served. A cancelled waiter holds none.

        Args:
            patience: longest pause of the endpoint, in seconds, that is waited for.

        Raises:
            RateLimited: the endpoint asked for a longer pause.
        """
        async with self._queue:
            while not await self._is_free(patience):
                pass
            self.in_flight += 1
            slot = Slot(self._era)
        try:
            yield slot
        finally:
            self.in_flight -= 1
            self._changed.set()

    async def _is_free(self, patience: float) -> bool:
        """Whether a slot is free now; if not, wait until that may have changed."""
        wait = self._paused_until - self._clock()
        if wait > patience:
            raise RateLimited(f"the endpoint asked for a pause of {wait:.0f} more seconds", retry_after=wait)
        if wait > 0:
            await self._sleep(wait)
            return False
        if self.in_flight < int(self.limit):
            return True
        self._changed.clear()
        await self._changed.wait()
        return False

    def clean(self, slot: Slot) -> None:
        """Note a clean answer. What was sent before the last cut lets the limit not grow again."""
        if slot.era == self._era:
            self.limit = min(self.limit + 1, float(self.most))
            self._changed.set()

    def limited(self, slot: Slot, retry_after: float | None = None) -> None:
        """Note that the endpoint said 429 or 529."""
        if slot.era == self._era:
            self._era += 1
            self.limit = max(1.0, self.limit * SHRINK)
        self.pause(retry_after)

    def pause(self, seconds: float | None) -> None:
        """Send nothing for so many seconds from now; `None` changes nothing, and a longer pause stays."""
        if seconds is not None:
            self._paused_until = max(self._paused_until, self._clock() + seconds)
