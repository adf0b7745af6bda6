"""A small model server on this machine, and what the tests of several clients ask it."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web

from rightcall.llm.client import Request
from rightcall.llm.spec import JudgeSpec

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "grade": {"type": "string", "enum": ["PASS", "FAIL"]}},
    "required": ["reason", "grade"],
    "additionalProperties": False,
}
QUESTION = Request(system="You judge tool calls.", user="Was the call right?", schema=SCHEMA, schema_name="verdict")
PLAIN = Request(system="You judge tool calls.", user="Was the call right?")
REPLY = '{"reason": "it was", "grade": "PASS"}'
KEY = "sk-test-0123456789abcdef"


@dataclass
class Seen:
    """One request that came."""

    path: str
    query: dict[str, str]
    headers: Any
    body: Any


class Server:
    """Answers in the given order; the last answer stays.

    An answer is the JSON of a 200; (status, body) or (status, body, headers), where text and bytes are sent as they
    are; or an async function from the request to a response.
    """

    def __init__(self, *answers: Any) -> None:
        self.answers = answers
        self.requests: list[Seen] = []
        self.connections: set[Any] = set()

    async def __aenter__(self) -> Self:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def bodies(self) -> list[Any]:
        return [seen.body for seen in self.requests]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw) if raw else None
        self.requests.append(Seen(request.path, dict(request.query), request.headers, body))
        self.connections.add(request.transport)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if callable(answer):
            return await answer(request)
        status, content, headers = (200, answer, {}) if not isinstance(answer, tuple) else (*answer, {})[:3]
        if isinstance(content, str):
            content = content.encode()
        if isinstance(content, bytes):
            return web.Response(status=status, body=content, headers=headers)
        return web.json_response(content, status=status, headers=headers)


def completion(text: str | None = REPLY, finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A chat completion as OpenAI documents it."""
    return {
        "id": "chatcmpl-9", "object": "chat.completion", "created": 1, "model": "judge-1-2026-10-01",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30, "prompt_tokens_details": {"cached_tokens": 16}},
        **more,
    }  # fmt: skip


def refused(message: str, parameter: str | None = None, code: str | None = None) -> tuple[int, dict[str, Any]]:
    """A 400 as OpenAI documents it."""
    return 400, {"error": {"message": message, "type": "invalid_request_error", "param": parameter, "code": code}}


async def never(_request: web.Request) -> web.StreamResponse:
    """No answer, for longer than any test waits."""
    await asyncio.sleep(60)
    return web.Response()


async def hang_up(request: web.Request) -> web.StreamResponse:
    """The connection is closed without an answer."""
    request.transport.abort()
    return web.Response()


async def stop_in_the_middle(request: web.Request) -> web.StreamResponse:
    """Half of what the length announces, then nothing."""
    response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    request.transport.close()
    return response


async def begin_and_stall(request: web.Request) -> web.StreamResponse:
    """The head and a first byte, and then nothing for longer than any test waits."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b"{")
    await asyncio.sleep(60)
    return response


def spec(server: Server | None = None, **more: Any) -> JudgeSpec:
    """A judge at the server, at the text rung unless said otherwise."""
    url = {"base_url": f"{server.url}/v1"} if server else {}
    return JudgeSpec(**{"model": "judge-1", "structured": "text", **url, **more})


def program(code: str) -> tuple[str, ...]:
    """A Python program as a command."""
    return (sys.executable, "-c", code)
