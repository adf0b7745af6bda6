"""The asynchronous door to the store: many tasks write, one thread commits what has come together.

A commit waits for the disk, and a judged run has hundreds of answers under way. So what queues up while one
transaction is written becomes the next one. `append` returns when its records are committed, not before.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rightcall.errors import RunError, StoreError
from rightcall.store.packing import Checked, checked, hashed, squeeze
from rightcall.store.records import Record

if TYPE_CHECKING:
    from rightcall.store.store import Store

GROUP = 512
"""How many appends one transaction holds at most."""

GATHER = 0.005
"""Seconds between two transactions, where more than one append waits at a time."""


class _Item:
    """What one `append` wants written, and the future that it waits for."""

    def __init__(self, records: Sequence[Record], bodies: Iterable[bytes | str]) -> None:
        self.records = records
        self.bodies = bodies
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[list[str]] = self.loop.create_future()
        self.is_settled = False
        self.checked: list[Checked] = []
        self.hashed: dict[str, bytes] = {}

    def settle(self, outcome: list[str] | BaseException) -> None:
        """Tell whoever waits; from any thread, once."""
        if self.is_settled:
            return
        self.is_settled = True
        try:
            self.loop.call_soon_threadsafe(self._set, outcome)
        except RuntimeError:
            # The loop is closed: nobody waits any more. What was committed stays committed.
            return

    def _set(self, outcome: list[str] | BaseException) -> None:
        if self.future.done():
            return
        if isinstance(outcome, BaseException):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)


class Writer:
    """Writes to a store from async code; an async context manager.

    One failed transaction (no room, no server, a lock that is not let go) stops it: everyone who waits gets the error,
    and so does every later `append`. Records that contradict what is recorded, or are no JSON, fail alone.

    At the end of the process, what was appended is written before the interpreter leaves, even without `aclose`.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        # Its thread is no daemon, and Python waits for it to finish its queue before leaving.
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rightcall-writer")
        self._lock = Lock()
        self._queue: deque[_Item] = deque()
        self._group: list[_Item] = []
        self._is_draining = False
        self._is_closed = False
        self._failure: StoreError | RunError | None = None

    async def append(self, records: Sequence[Record], bodies: Iterable[bytes | str] = ()) -> list[str]:
        """Write records and bodies as one, and return the records' digests once they are committed.

        A task that is cancelled while it waits gives up the waiting, not the writing.

        Raises:
            StoreError: as `Store.write`; nothing of this was written then.
            RunError: the writer was closed before.
        """
        item = _Item(records, bodies)
        with self._lock:
            if self._failure is not None:
                raise _again(self._failure)
            if self._is_closed:
                raise RunError("the writer of the store is closed")
            self._queue.append(item)
            if not self._is_draining:
                self._is_draining = True
                self._executor.submit(self._drain).add_done_callback(self._drained)
        return await item.future

    async def aclose(self) -> None:
        """Write what was appended, and end the thread.

        Raises:
            StoreError: what stopped the writer, if anything did, so that no run ends without noticing.
        """
        await self._finish()
        if self._failure is not None:
            raise _again(self._failure)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            await self.aclose()
        else:
            await self._finish()

    async def _finish(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        # One thread: when this has its turn, everything before it is written.
        await asyncio.wrap_future(self._executor.submit(int))
        self._executor.shutdown()

    # ---- in the writer's thread ----

    def _drain(self) -> None:
        while self._next_group():
            self._write(self._group)
            if len(self._group) > 1:
                # Several are at work, and a commit costs the same for few and for many.
                time.sleep(GATHER)

    def _next_group(self) -> bool:
        with self._lock:
            self._group = [self._queue.popleft() for _ in range(min(GROUP, len(self._queue)))]
            self._is_draining = bool(self._group)
        return self._is_draining

    def _write(self, group: Sequence[_Item]) -> None:
        """Write a group in one transaction; if its content is refused, each item in one of its own."""
        ready = [item for item in group if _is_checked(item)]
        try:
            self._commit(ready)
        except StoreError as error:
            if error.code != "STORE_CONFLICT":
                raise
            for item in ready:
                self._write_alone(item)

    def _write_alone(self, item: _Item) -> None:
        try:
            self._commit([item])
        except StoreError as error:
            if error.code != "STORE_CONFLICT":
                raise
            item.settle(error)

    def _commit(self, items: Sequence[_Item]) -> None:
        bodies = {sha256: data for item in items for sha256, data in item.hashed.items()}
        self._store.write_packed(squeeze(record for item in items for record in item.checked), bodies)
        for item in items:
            item.settle([record.digest for record in item.checked])

    def _drained(self, done: Future[None]) -> None:
        """Whatever ended the thread's work early goes to everyone who waits."""
        error = done.exception()
        if error is None:
            return
        failure = error if isinstance(error, StoreError) else RunError(f"the store's writer broke: {error!r}")
        with self._lock:
            self._failure = failure
            waiting = [*self._group, *self._queue]
            self._group = []
            self._queue.clear()
        for item in waiting:
            item.settle(_again(failure))


def _is_checked(item: _Item) -> bool:
    try:
        item.checked, item.hashed = list(map(checked, item.records)), hashed(item.bodies)
    except StoreError as error:
        item.settle(error)
        return False
    return True


def _again(error: StoreError | RunError) -> StoreError | RunError:
    """The same error once more: one object, raised in several tasks, would collect the traces of all."""
    return type(error)(error.message, code=error.code, place=error.place, hint=error.hint)
