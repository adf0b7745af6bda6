"""What reached the test server: every request, and the counts."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from typing import Any

from msgspec import Struct, structs

from rightcall.testing.answers import Asked, text_digest

_SECRET = (b"authorization", b"api-key", b"x-api-key")

Headers = tuple[tuple[bytes, bytes], ...]


class Seen(Struct, kw_only=True, eq=False):
    """One request that reached the chat endpoint.

    Attributes:
        number: how many came before it.
        at: when it arrived, in seconds since the epoch.
        connection: the number of the connection that it came on.
        headers: names (lower case) and values, without the length of the body; keys are among them.
        digest: SHA-256 of the user's text; `None` where the request could not be read.
        identity, attempt, model: as in `Asked`.
        fault: the kind of fault that it met.
        status: the HTTP status that was sent; `None` where none was, or not yet.
        seconds: how long it took; `None` while it is under way.
        client_there: whether the client was still there at the end; `None` while it is under way.
    """

    number: int
    at: float
    connection: int
    headers: Headers
    digest: str | None = None
    identity: str = ""
    attempt: int = 0
    model: str | None = None
    fault: str | None = None
    status: int | None = None
    seconds: float | None = None
    client_there: bool | None = None

    def header(self, name: str) -> str | None:
        """A header's value, `None` where it was not sent."""
        wanted = name.lower().encode()
        return next((value.decode("latin-1") for key, value in self.headers if key == wanted), None)

    def plain(self) -> dict[str, Any]:
        """As JSON; a key shows as the first digits of its SHA-256, so that it can be compared and not read."""
        shown = {
            key.decode("latin-1"): hashlib.sha256(value).hexdigest()[:12] if key in _SECRET else value.decode("latin-1")
            for key, value in self.headers
        }
        return {**structs.asdict(self), "headers": shown}


class Ledger:
    """Every request, and the counts of all, also of those that are no longer kept.

    Args:
        keep: how many requests are kept, the newest; `None` = all.
    """

    def __init__(self, keep: int | None = None) -> None:
        self._keep = keep
        self._headers: dict[Headers, Headers] = {}
        self.reset()

    def reset(self) -> None:
        """Forget everything; calls that are under way are not counted any more."""
        self.requests: deque[Seen] = deque(maxlen=self._keep)
        self._under_way: set[Seen] = set()
        self._attempts: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._models: Counter[str] = Counter()
        self._connections: set[int] = set()
        self._count = self._peak = self._gone = 0

    def arrived(self, at: float, connection: int, headers: Headers) -> Seen:
        """Enter a request."""
        # Clients send the same headers every time: one copy is enough.
        seen = Seen(
            number=self._count, at=at, connection=connection, headers=self._headers.setdefault(headers, headers)
        )
        self._count += 1
        self.requests.append(seen)
        self._under_way.add(seen)
        self._peak = max(self._peak, len(self._under_way))
        self._connections.add(connection)
        return seen

    def placed(self, seen: Seen, asked: Asked, identity: str | None) -> Asked:
        """The request with its number, identity and attempt; the identity is the text's digest unless one is given."""
        seen.digest = text_digest(asked.user)
        seen.identity = identity or seen.digest
        seen.attempt = self._attempts[seen.identity]
        seen.model = asked.model
        self._attempts[seen.identity] += 1
        self._models[asked.model] += 1
        return structs.replace(asked, number=seen.number, attempt=seen.attempt, identity=seen.identity)

    def met(self, seen: Seen, fault: str | None) -> None:
        """Note the fault that a request meets."""
        seen.fault = fault
        if fault is not None and seen in self._under_way:
            self._faults[fault] += 1

    def left(self, seen: Seen, seconds: float, *, client_there: bool) -> None:
        """Close a request's entry."""
        seen.seconds = seconds
        seen.client_there = client_there
        if seen in self._under_way:
            self._under_way.remove(seen)
            self._gone += not client_there
            if seen.status is not None:
                self._statuses[seen.status] += 1

    def stats(self) -> dict[str, Any]:
        """The counts.

        `requests` all that arrived, `in_flight` and `peak_in_flight` at a time, `connections` that carried them, `gone`
        clients that left before the end, `repeated` requests whose identity had been asked before, and the requests
        `by_fault`, `by_status` (those that were sent one) and `by_model`.
        """
        return {
            "requests": self._count,
            "in_flight": len(self._under_way),
            "peak_in_flight": self._peak,
            "connections": len(self._connections),
            "gone": self._gone,
            "repeated": self._attempts.total() - len(self._attempts),
            "by_fault": dict(self._faults),
            "by_status": {str(status): count for status, count in dict(self._statuses).items()},
            "by_model": dict(self._models),
        }
