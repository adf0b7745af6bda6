"""A real HTTP server on this machine that speaks OpenAI's chat API and fails on purpose.

It answers `POST /v1/chat/completions` and `GET /v1/models`. `GET /stats` gives its counts, `?requests=N` the last
N requests too; `POST /set` changes it while it runs; `POST /reset` forgets what it saw. It runs in the event loop
(`async with`), in a thread of its own (`with`), or as a process:

    python -m rightcall.testing.server --latency 0.2 --fault rate_limited=0.05 --answers replies.json
"""

from __future__ import annotations

import asyncio
import re
import sys
from argparse import ArgumentParser
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from signal import SIGINT, SIGTERM
from threading import Thread
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Self

import msgspec
from aiohttp import web
from msgspec import UNSET, Struct, UnsetType

from rightcall.errors import ConfigError
from rightcall.testing.answers import MARKER, Answerer, Asked, from_file, smallest_answer
from rightcall.testing.chat import completion, read_body
from rightcall.testing.faults import FAULTS, By, Plan, planner
from rightcall.testing.ledger import Ledger, Seen
from rightcall.testing.spoiling import Wire, error, spoil, wire
from rightcall.testing.transport import PIECES, Connections, cut, response, send_half, send_slowly, sent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

_BACKLOG = 2048
_json = msgspec.json.Encoder().encode


class _Change(Struct, forbid_unknown_fields=True):
    """What `POST /set` takes: settings of `FaultyServer`, and `hold`."""

    latency: float | UnsetType = UNSET
    slow: float | UnsetType = UNSET
    retry_after: float | UnsetType = UNSET
    hold_after: int | UnsetType | None = UNSET
    plan: dict[str, float] | list[str | None] | UnsetType | None = UNSET
    seed: int | UnsetType = UNSET
    by: By | UnsetType = UNSET
    hold: bool | UnsetType = UNSET


@dataclass(kw_only=True, eq=False)
class FaultyServer:
    """A model server for tests.

    Attributes:
        answers: gives the text of a reply.
        plan: which request meets which fault (`Plan`).
        seed, by: how a plan of rates is drawn (`planner`).
        marker: a regular expression that finds the name of the case in the user's text. What it finds is the request's
            identity, where a text differs from asking to asking (a nonce, a reminder).
        latency: seconds before every answer.
        slow: seconds of the faults `latency` and `slow_body`.
        retry_after: seconds that a limited caller is asked to wait.
        hold_after: requests from this number on are held until `release`; `None` = none.
        api_key: the key that a caller must show (`Authorization: Bearer`, or `api-key`); `None` = none is asked for.
        models: the models that `GET /v1/models` lists. Whatever model is asked for answers.
        keep: how many requests `requests` keeps, the newest; `None` = all.
        port: the port; 0 = a free one.

    Raises:
        ConfigError: a plan or a marker that cannot be used; when it is started, a port that is taken.
    """

    answers: Answerer = smallest_answer
    plan: Plan = None
    seed: int = 0
    by: By = "text"
    marker: str | None = None
    latency: float = 0.0
    slow: float = 1.0
    retry_after: float = 1.0
    hold_after: int | None = None
    api_key: str | None = None
    models: tuple[str, ...] = ("faulty-model",)
    keep: int | None = None
    port: int = 0

    def __post_init__(self) -> None:
        """Check the settings."""
        self._choose = planner(self.plan, seed=self.seed, by=self.by)
        try:
            self._find = re.compile(self.marker).search if self.marker else None
        except re.error as wrong:
            raise ConfigError(f"`{self.marker}` is no regular expression: {wrong}") from None
        self._ledger = Ledger(self.keep)
        self._held = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._routes = {
            ("POST", "/v1/chat/completions"): self._chat,
            ("GET", "/v1/models"): self._list_models,
            ("GET", "/stats"): self._show_stats,
            ("POST", "/reset"): self._do_reset,
            ("POST", "/set"): self._do_set,
        }

    # ---- what a test sees --------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """Where it listens, without a path: `http://127.0.0.1:PORT`."""
        if self._loop is None:
            raise RuntimeError("the server is not running: use `with` or `async with`")
        return f"http://127.0.0.1:{self._listening}"

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as its base URL."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Seen]:
        """Every request to the chat endpoint that is kept, in order of arrival."""
        return list(self._ledger.requests)

    def stats(self) -> dict[str, Any]:
        """The counts (`Ledger.stats`)."""
        return self._ledger.stats()

    def reset(self) -> None:
        """Forget what was seen; numbers and attempts begin again."""
        self._ledger.reset()

    def hold(self) -> None:
        """Freeze every call that is not answered yet, and all that follow, until `release`."""
        self._held = True

    def release(self) -> None:
        """Let held calls go on."""
        self._held = False
        self.hold_after = None
        self._wake()

    def change(self, **settings: Any) -> None:
        """Change settings while it runs: everything but `api_key`, `keep`, `marker`, `models` and `port`.

        Raises:
            ConfigError: a setting that cannot be changed, or not to this.
        """
        fixed = {"api_key", "keep", "marker", "models", "port"}
        known = {field.name for field in fields(self)} - fixed
        for name in settings:
            if name not in known:
                raise ConfigError(f"`{name}` cannot be changed", hint=f"these can: {', '.join(sorted(known))}")
        drawn = {name: settings.get(name, getattr(self, name)) for name in ("plan", "seed", "by")}
        self._choose = planner(drawn["plan"], seed=drawn["seed"], by=drawn["by"])
        for name, value in settings.items():
            setattr(self, name, value)
        self._wake()

    # ---- running -----------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Listen, in the running event loop."""
        self._ended, self._changed = asyncio.Event(), asyncio.Event()
        self._server = Connections(self._handle)
        self._runner = web.ServerRunner(self._server, shutdown_timeout=2.0)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=_BACKLOG).start()
        except OSError as refused:
            await self._runner.cleanup()
            raise ConfigError(f"cannot listen on port {self.port}: {refused.strerror or refused}") from None
        self._listening: int = self._runner.addresses[0][1]
        self._loop = asyncio.get_running_loop()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Cut what is under way and stop."""
        self._loop = None
        self._ended.set()
        self._changed.set()
        await self._runner.cleanup()

    def __enter__(self) -> Self:
        """Listen, in a thread of its own."""
        ready: Future[None] = Future()
        self._thread = Thread(target=lambda: asyncio.run(self._until_ended(ready)), name="faulty-server", daemon=True)
        self._thread.start()
        ready.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop, and wait for the thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    async def _until_ended(self, ready: Future[None]) -> None:
        try:
            async with self:
                ready.set_result(None)
                await self._ended.wait()
        except ConfigError as wrong:
            ready.set_exception(wrong)
        finally:
            ready.cancel()  # does nothing once it is set; else nobody waits for a thread that is dead

    def _wake(self) -> None:
        """Let waiting calls look again; also from another thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._pulse)

    def _pulse(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    # ---- the chat endpoint -------------------------------------------------------------------------------------------

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        route = self._routes.get((request.method, request.path))
        if route is None:
            return response(error(404, f"no such endpoint: {request.method} {request.path}"))
        return await route(request)

    async def _chat(self, request: web.BaseRequest) -> web.StreamResponse:
        connection, began = self._server.numbers.get(request.protocol, -1), monotonic()
        raw = await request.read()
        lowered = ((name.lower(), value) for name, value in request.raw_headers)
        headers = tuple(header for header in lowered if header[0] != b"content-length")
        seen = self._ledger.arrived(time(), connection, headers)
        there = True
        try:
            return await self._answer(request, raw, seen)
        except (asyncio.CancelledError, ConnectionError):
            there = self._ended.is_set()
            raise
        finally:
            self._ledger.left(seen, monotonic() - began, client_there=there)

    async def _answer(self, request: web.BaseRequest, raw: bytes, seen: Seen) -> web.StreamResponse:
        if not self._may_enter(request):
            self._ledger.met(seen, "unauthorized")
            return sent(seen, error(401, "the key is not valid", "authentication_error", code="invalid_api_key"))
        try:
            body = read_body(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
            return sent(seen, error(400, f"the request cannot be read: {wrong}"))
        if body.stream:
            return sent(seen, error(400, "this server does not stream", param="stream"))
        asked = body.asked()
        found = self._find(asked.user) if self._find else None
        asked = self._ledger.placed(seen, asked, found[0] if found else None)
        try:
            kind = self._choose(asked)
            whole = wire(kind, asked, retry_after=self.retry_after, now=time()) if kind else None
            text = "" if whole else self.answers(asked)
        except ConfigError as wrong:
            return sent(seen, error(422, str(wrong)))
        if kind and kind.startswith("unsupported_") and whole is None:
            kind = None
        self._ledger.met(seen, kind)
        await self._wait(self.latency + (self.slow if kind == "latency" else 0.0))
        while self._is_held(seen) and not self._ended.is_set():
            await self._changed.wait()
        if self._ended.is_set():
            return cut(request)
        return sent(seen, whole) if whole else await self._complete(request, seen, asked, kind, text)

    def _may_enter(self, request: web.BaseRequest) -> bool:
        shown = (request.headers.get("Authorization", "").removeprefix("Bearer "), request.headers.get("api-key"))
        return self.api_key is None or self.api_key in shown

    def _is_held(self, seen: Seen) -> bool:
        return self._held or (self.hold_after is not None and seen.number >= self.hold_after)

    async def _wait(self, seconds: float) -> None:
        """Sleep, unless the server ends."""
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ended.wait()

    async def _complete(
        self, request: web.BaseRequest, seen: Seen, asked: Asked, kind: str | None, text: str
    ) -> web.StreamResponse:
        """Send the completion, as the fault has it."""
        if kind == "hang":
            await self._ended.wait()
        if kind in ("hang", "dropped"):
            return cut(request)
        body = completion(asked, spoil(kind, asked, text), int(seen.at))
        if kind == "dropped_midway":
            return await send_half(request, seen, body)
        if kind == "slow_body":
            return await send_slowly(request, seen, body, lambda: self._wait(self.slow / PIECES))
        return sent(seen, Wire(200, body))

    # ---- the other endpoints -----------------------------------------------------------------------------------------

    async def _list_models(self, request: web.BaseRequest) -> web.StreamResponse:
        if not self._may_enter(request):
            return response(error(401, "the key is not valid", "authentication_error", code="invalid_api_key"))
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "rightcall"} for name in self.models]
        return response(Wire(200, _json({"object": "list", "data": listed})))

    async def _show_stats(self, request: web.BaseRequest) -> web.StreamResponse:
        wanted = request.rel_url.query.get("requests", "0")
        if not wanted.isdecimal():
            return response(error(400, "`requests` takes a number", param="requests"))
        kept = self.requests[-int(wanted) :] if int(wanted) else []
        listed = {"ledger": [seen.plain() for seen in kept]} if kept else {}
        return response(Wire(200, _json({**self.stats(), **listed})))

    async def _do_reset(self, _request: web.BaseRequest) -> web.StreamResponse:
        self.reset()
        return response(Wire(200, b"{}"))

    async def _do_set(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            change = msgspec.structs.asdict(msgspec.json.decode(await request.read(), type=_Change))
            settings = {name: value for name, value in change.items() if value is not UNSET}
            hold = settings.pop("hold", None)
            self.change(**settings)
        except (msgspec.MsgspecError, ConfigError) as wrong:
            return response(error(400, str(wrong)))
        if hold is not None:
            (self.hold if hold else self.release)()
        return response(Wire(200, b"{}"))


# ---- as a process ----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Listen until SIGTERM or SIGINT; the first line of output is `listening on http://127.0.0.1:PORT`."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        plan = dict(map(_rate, options.fault))
        answers = from_file(options.answers, pattern=options.marker or MARKER) if options.answers else smallest_answer
        settings = {name: value for name, value in vars(options).items() if name not in ("fault", "answers", "model")}
        server = FaultyServer(plan=plan, answers=answers, models=tuple(options.model), **settings)
        asyncio.run(_serve(server))
    except ConfigError as wrong:
        parser.error(str(wrong))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="rightcall.testing.server", description="A model server that fails on purpose.")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--slow", type=float, default=1.0, help="seconds of the faults latency and slow_body")
    parser.add_argument("--retry-after", type=float, default=1.0, help="seconds that a limited caller should wait")
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=RATE", help=f"of {', '.join(FAULTS)}")
    parser.add_argument("--seed", type=int, default=0, help="which requests meet a fault")
    parser.add_argument("--by", choices=("text", "case", "number"), default="text", help="what faults are drawn by")
    parser.add_argument("--marker", help=f"regular expression of a case's name in the text, such as {MARKER}")
    parser.add_argument("--hold-after", type=int, help="hold the requests from this number on")
    parser.add_argument("--api-key", help="the key that callers must show")
    parser.add_argument("--keep", type=int, default=10_000, help="how many requests are kept for /stats?requests=N")
    parser.add_argument("--model", action="append", default=[], help="a model that /v1/models lists")
    parser.add_argument("--answers", type=Path, help='JSON object of replies by marker; "*" for all others')
    return parser


def _rate(text: str) -> tuple[str, float]:
    kind, equals, rate = text.partition("=")
    try:
        return kind, float(rate if equals else "1")
    except ValueError:
        raise ConfigError(f"`{text}` is not KIND=RATE") from None


async def _serve(server: FaultyServer) -> None:
    stop = asyncio.Event()
    for number in (SIGTERM, SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with server:
        sys.stdout.write(f"listening on {server.url}\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    main()
