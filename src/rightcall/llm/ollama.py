"""Ollama's own API (`/api/chat`), because its `/v1` cannot set the context size and cuts long questions silently.

Here the context size is sent with each question, and `truncate: false` asks servers that know it to refuse a question
that does not fit. Older ones cut all the same: whoever asks compares the tokens reported with `tokens.was_cut`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec

from rightcall.errors import ConfigError
from rightcall.llm.adaptive import Adaptive
from rightcall.llm.client import Answer, Finish, Request
from rightcall.llm.endpoint import resolve
from rightcall.llm.failures import Progress, body_of, broken, refusal, too_late, unreadable
from rightcall.llm.ladder import Ladder
from rightcall.llm.tokens import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.llm.ladder import Step
    from rightcall.llm.spec import JudgeSpec

OLLAMA_URL = "http://127.0.0.1:11434"
DEFAULT_CONTEXT = 16_384
"""Tokens of context where the spec does not say: Ollama's own default is too small for a trace with its catalog."""

_FINISHES: dict[str | None, Finish] = {"stop": "stop", "length": "length"}


def ollama_url(environ: Mapping[str, str]) -> str:
    """The address in `OLLAMA_HOST`, which may lack scheme and port. Nobody can be asked at `0.0.0.0`: it means here."""
    host = environ.get("OLLAMA_HOST", "").strip().rstrip("/")
    if not host:
        return OLLAMA_URL
    if "://" in host:
        return host
    name, _, port = host.partition(":")
    return f"http://{'127.0.0.1' if name in ('', '0.0.0.0') else name}:{port or 11434}"  # noqa: S104


class OllamaClient(Adaptive):
    """A judge behind an Ollama server.

    Args:
        spec: the judge; `base_url` else `OLLAMA_HOST` else this machine. `context_tokens` becomes `num_ctx`.
        environ: the environment.

    Raises:
        ConfigError: no model, or an address, header, proxy or CA bundle that cannot be used.
    """

    def __init__(self, spec: JudgeSpec, environ: Mapping[str, str]) -> None:
        """Make the client; nothing is sent."""
        if not spec.model:
            raise ConfigError("a judge of provider `ollama` needs a `model`", hint="name the model to ask for")
        self.endpoint = resolve(spec, environ, url=ollama_url(environ), key_variable="OLLAMA_API_KEY", needs_key=False)
        self.credential = self.endpoint.credential
        self.ladder = Ladder(spec.structured, leaves_out=(), is_sure=True)
        self._spec = spec
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, request: Request) -> Answer:
        """Make one exchange (see `Client`)."""
        rung = self.ladder.rung_for(request)
        options = {
            "num_ctx": self._spec.context_tokens or DEFAULT_CONTEXT, "num_predict": request.max_tokens,
            "temperature": request.temperature, "seed": self._spec.seed, "top_p": self._spec.top_p,
        }  # fmt: skip
        sent = {name: value for name, value in options.items() if value is not None}
        form = {"json_schema": request.schema, "json_object": "json", "text": None}[rung]
        messages = [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]
        body = {
            "model": self._spec.model, "messages": messages if request.system else messages[1:],
            "stream": False, "truncate": False, "options": sent, **({"format": form} if form else {}),
        }  # fmt: skip
        return self._read(await self._post(body), rung, sent)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _post(self, body: dict[str, Any]) -> dict[str, Any]:
        endpoint, progress = self.endpoint, Progress()
        url = f"{endpoint.url.rstrip('/')}/api/chat"
        token = await self.credential.token()
        headers = {"Authorization": f"Bearer {token}"} if token and not endpoint.has_own_credential else {}
        try:
            async with (
                asyncio.timeout(endpoint.timeout),
                self._connected().post(
                    url, json=body, params=endpoint.query, headers=headers, allow_redirects=False
                ) as response,
            ):
                progress.started = True
                content = await response.read()
        except aiohttp.ServerTimeoutError as error:
            raise broken(endpoint, error, progress) from None
        except TimeoutError:
            raise too_late(endpoint, progress) from None
        except aiohttp.ClientError as error:
            raise broken(endpoint, error, progress) from None
        if response.status != 200:
            raise refusal(endpoint, response.status, response.headers, content)
        return body_of(endpoint, content, response.headers)

    def _connected(self) -> aiohttp.ClientSession:
        """The session, made in the loop that uses it."""
        if self._session is None:
            endpoint = self.endpoint
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=max(100, endpoint.max_concurrency), ssl=endpoint.tls or True),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=endpoint.timeout_to_connect()),
                headers=endpoint.headers,
                json_serialize=lambda value: msgspec.json.encode(value).decode(),
                proxy=endpoint.proxy,
                trust_env=not endpoint.is_loopback,
            )
        return self._session

    def _read(self, value: dict[str, Any], rung: Step, sent: dict[str, Any]) -> Answer:
        message = value.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        if not isinstance(text, str):
            raise unreadable(self.endpoint, "no message")
        raw, model = value.get("done_reason"), value.get("model")
        return Answer(
            text=text,
            finish=_FINISHES.get(raw, "other"), finish_raw=raw if isinstance(raw, str) else None,
            model=model if isinstance(model, str) else None,
            input_tokens=counted(value.get("prompt_eval_count")), output_tokens=counted(value.get("eval_count")),
            rung=rung, sent=sent,
        )  # fmt: skip
