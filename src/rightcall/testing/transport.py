"""How the test server's bytes leave: whole, slowly, by half, or not at all."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rightcall.testing.ledger import Seen
    from rightcall.testing.spoiling import Wire

PIECES = 10
"""In how many pieces a slow body is sent."""

_LARGEST_BODY = 256 * 2**20


class Connections(web.Server):
    """Gives every connection a number."""

    def __init__(self, handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> None:
        # A call ends when its client leaves: the ledger knows it at once, and no hanging call outlives its client.
        super().__init__(handler, request_factory=_request, handler_cancellation=True, access_log=None)
        self.numbers: dict[web.RequestHandler, int] = {}
        self._next = count()

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """Number a connection."""
        super().connection_made(handler, transport)
        self.numbers[handler] = next(self._next)

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection."""
        super().connection_lost(handler, exc)
        self.numbers.pop(handler, None)


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_LARGEST_BODY)


def response(what: Wire) -> web.Response:
    """An answer as it is."""
    return web.Response(body=what.body, status=what.status, content_type=what.content_type, headers=what.headers)


def sent(seen: Seen, what: Wire) -> web.Response:
    """An answer of the chat endpoint, noted in the ledger."""
    seen.status = what.status
    answer = response(what)
    answer.headers["x-request-id"] = f"req-{seen.number}"
    return answer


def cut(request: web.BaseRequest) -> web.Response:
    """Close the connection without a byte; what is returned goes nowhere."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def send_half(request: web.BaseRequest, seen: Seen, body: bytes) -> web.StreamResponse:
    """Announce the whole body, send half of it and close the connection."""
    answer = await _begun(request, seen, body)
    await answer.write(body[: len(body) // 2])
    if request.transport is not None:
        request.transport.close()  # an abort might throw away what was written
    return answer


async def send_slowly(
    request: web.BaseRequest, seen: Seen, body: bytes, wait: Callable[[], Awaitable[None]]
) -> web.StreamResponse:
    """Send the body in `PIECES` pieces, and wait before each."""
    answer = await _begun(request, seen, body)
    step = -(-len(body) // PIECES)
    for start in range(0, len(body), step):
        await wait()
        await answer.write(body[start : start + step])
    return answer


async def _begun(request: web.BaseRequest, seen: Seen, body: bytes) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Type": "application/json", "x-request-id": f"req-{seen.number}"})
    answer.content_length = len(body)
    seen.status = 200
    await answer.prepare(request)
    return answer
