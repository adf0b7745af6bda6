"""OpenAI-compatible Chat Completions, on the official SDK: OpenAI, Azure, gateways, vLLM, llama.cpp and many more.

One `ask` is one HTTP request (`max_retries=0`). Loaded only where such a judge is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai as sdk  # noqa: TID253 - nothing imports this module before such a judge is used

from rightcall.errors import ConfigError, Unavailable
from rightcall.llm.adaptive import Adaptive
from rightcall.llm.client import Answer, Finish, Request
from rightcall.llm.endpoint import resolve
from rightcall.llm.failures import unreadable
from rightcall.llm.ladder import Ladder
from rightcall.llm.sdk import exchange, http_client
from rightcall.llm.tokens import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.llm.ladder import Step
    from rightcall.llm.spec import JudgeSpec

OPENAI_URL = "https://api.openai.com/v1"
PATH = "/chat/completions"

_FINISHES: dict[str | None, Finish] = {"stop": "stop", "length": "length", "content_filter": "refusal"}


class OpenAIClient(Adaptive):
    """A judge behind a Chat Completions URL.

    Args:
        spec: the judge; `base_url` else `OPENAI_BASE_URL` else OpenAI's own, key from `api_key_env` else
            `OPENAI_API_KEY` (an address inside needs none).
        environ: the environment.

    Raises:
        ConfigError: no model, or an address, header, proxy or CA bundle that cannot be used.
        Rejected: no key where one is needed (`JUDGE_AUTH`).
    """

    def __init__(self, spec: JudgeSpec, environ: Mapping[str, str]) -> None:
        """Make the client; nothing is sent."""
        if not spec.model:
            raise ConfigError("a judge of provider `openai` needs a `model`", hint="name the model to ask for")
        url = environ.get("OPENAI_BASE_URL") or OPENAI_URL
        self.endpoint = resolve(spec, environ, url=url, key_variable="OPENAI_API_KEY")
        for line in environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines():
            self.endpoint.hider.add(line.partition(":")[2].strip())
        self.credential = self.endpoint.credential
        self.ladder = Ladder(spec.structured, renames={"max_tokens": "max_completion_tokens"})
        self._spec = spec
        self._client = sdk.AsyncOpenAI(
            api_key="in the headers of each request",
            base_url=self.endpoint.url,
            default_headers=self.endpoint.headers,
            default_query=self.endpoint.query,
            max_retries=0,
            http_client=http_client(sdk, self.endpoint),
        )
        if self.endpoint.url != OPENAI_URL:
            # Whose organization and project one is at OpenAI is nobody else's business.
            self._client.organization = self._client.project = None

    async def ask(self, request: Request) -> Answer:
        """Make one exchange (see `Client`)."""
        rung = self.ladder.rung_for(request)
        sent = self._parameters(request)
        form = self._form(request, rung)
        headers = await self._authorization()
        messages = [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]
        body: dict[str, Any] = {
            "model": self._spec.model,
            "messages": messages if request.system else messages[1:],
            **sent,
            **({"response_format": form} if form else {}),
        }

        async def post() -> Any:
            # `chat.completions.create` would look through the whole body for types that are not in it.
            kind = sdk.HttpxBinaryResponseContent
            return (await self._client.post(PATH, cast_to=kind, body=body, options={"headers": headers})).response

        value, answered = await exchange(sdk, self.endpoint, post)
        if rung == "json_schema" and form:
            sent["strict"] = form["json_schema"].get("strict", False)
        return self._read(value, rung, sent, answered.get("x-request-id"))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _authorization(self) -> dict[str, Any]:
        """The credential of one request. A configured header wins over a key."""
        names = {name.lower(): value for name, value in self.endpoint.headers.items()}
        if self.endpoint.has_own_credential:
            return {"Authorization": names.get("authorization", sdk.omit)}
        token = await self.credential.token()
        return {"Authorization": f"Bearer {token}" if token else sdk.omit}

    def _parameters(self, request: Request) -> dict[str, Any]:
        wanted = {
            "temperature": request.temperature, "max_tokens": request.max_tokens,
            "seed": self._spec.seed, "top_p": self._spec.top_p,
        }  # fmt: skip
        return self.ladder.parameters(wanted)

    def _form(self, request: Request, rung: Step) -> dict[str, Any] | None:
        if rung == "text":
            return None
        if rung == "json_object":
            return {"type": "json_object"}
        strict = {"strict": True} if self.ladder.allows("strict") else {}
        return {
            "type": "json_schema",
            "json_schema": {"name": request.schema_name, "schema": request.schema, **strict},
        }

    def _read(self, value: dict[str, Any], rung: Step, sent: dict[str, Any], request_id: str | None) -> Answer:
        choices = value.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise unreadable(self.endpoint, "no choices" if not choices else "a choice without a message")
        raw = choice.get("finish_reason")
        if raw == "error" or choice.get("error"):
            raise Unavailable(f"{self.endpoint.host} broke off its answer with an error", http_status=200)
        text, finish = _text(message.get("content")), _FINISHES.get(raw, "other")
        refused = message.get("refusal")
        if isinstance(refused, str) and refused:
            text, finish = refused, "refusal"
        usage = value.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return Answer(
            text=text, finish=finish, finish_raw=raw if isinstance(raw, str) else None, model=_name(value.get("model")),
            input_tokens=counted(usage.get("prompt_tokens")), output_tokens=counted(usage.get("completion_tokens")),
            rung=rung, sent=sent, request_id=request_id or _name(value.get("id")),
        )  # fmt: skip


def _text(content: Any) -> str:
    """The text of a message; some servers send a list of parts."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
