"""Anthropic's Messages API, on the official SDK (extra `[anthropic]`).

The rungs of the ladder mean here: `json_schema` the API's own structured output (`output_config.format`);
`json_object` a forced tool whose input is the reply, for models that have no structured output; `text` neither.
Models that refuse `temperature` get none: the ladder learns it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import ConfigError, MissingExtraError
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

ANTHROPIC_URL = "https://api.anthropic.com"

_FINISHES: dict[str | None, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class AnthropicClient(Adaptive):
    """A judge behind Anthropic's Messages API.

    Args:
        spec: the judge; `base_url` else `ANTHROPIC_BASE_URL` else Anthropic's own, key from `api_key_env` else
            `ANTHROPIC_API_KEY`.
        environ: the environment.

    Raises:
        MissingExtraError: the SDK is not installed.
        ConfigError: no model, or an address, header, proxy or CA bundle that cannot be used.
        Rejected: no key where one is needed (`JUDGE_AUTH`).
    """

    def __init__(self, spec: JudgeSpec, environ: Mapping[str, str]) -> None:
        """Make the client; nothing is sent."""
        try:
            import anthropic
        except ImportError:
            raise MissingExtraError(
                "a judge of provider `anthropic` needs its SDK", hint="pip install 'rightcall[anthropic]'"
            ) from None
        if not spec.model:
            raise ConfigError("a judge of provider `anthropic` needs a `model`", hint="name the model to ask for")
        url = environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC_URL
        self.endpoint = resolve(spec, environ, url=url, key_variable="ANTHROPIC_API_KEY")
        for line in environ.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines():
            self.endpoint.hider.add(line.partition(":")[2].strip())
        self.credential = self.endpoint.credential
        self.ladder = Ladder(spec.structured, leaves_out=("temperature", "top_p"), is_sure=True)
        self._spec = spec
        self._sdk = anthropic
        self._client = anthropic.AsyncAnthropic(
            api_key="in the headers of each request",
            base_url=self.endpoint.url,
            default_headers=self.endpoint.headers,
            default_query=self.endpoint.query,
            max_retries=0,
            http_client=http_client(anthropic, self.endpoint),
            open_telemetry=False,
        )

    async def ask(self, request: Request) -> Answer:
        """Make one exchange (see `Client`)."""
        rung = self.ladder.rung_for(request)
        sent = self.ladder.parameters({"temperature": request.temperature, "top_p": self._spec.top_p})
        body: dict[str, Any] = {
            "model": self._spec.model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": "user", "content": request.user}],
            **_system(request.system),
            **_form(request, rung),
            "extra_headers": await self._authorization(),
            "extra_body": sent,  # the SDK has no arguments for these any more
        }

        async def create() -> Any:
            return (await self._client.messages.with_raw_response.create(**body)).http_response

        value, answered = await exchange(self._sdk, self.endpoint, create)
        return self._read(value, rung, {"max_tokens": request.max_tokens, **sent}, answered.get("request-id"))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _authorization(self) -> dict[str, Any]:
        """A key goes into `x-api-key`, a token from a command into `Authorization`; a configured header wins."""
        omit = self._sdk.omit
        if self.endpoint.has_own_credential:
            names = {name.lower(): value for name, value in self.endpoint.headers.items()}
            return {
                "X-Api-Key": names.get("x-api-key", omit),
                "Authorization": names.get("authorization", omit),
            }
        token = await self.credential.token()
        if self._spec.token_command:
            return {"X-Api-Key": omit, "Authorization": f"Bearer {token}"}
        return {"X-Api-Key": token or omit, "Authorization": omit}

    def _read(self, value: dict[str, Any], rung: Step, sent: dict[str, Any], request_id: str | None) -> Answer:
        blocks = value.get("content")
        if not isinstance(blocks, list):
            raise unreadable(self.endpoint, "no content")
        raw = value.get("stop_reason")
        usage = value.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        identity, model = value.get("id"), value.get("model")
        return Answer(
            text=_text([block for block in blocks if isinstance(block, dict)]),
            finish=_FINISHES.get(raw, "other"), finish_raw=raw if isinstance(raw, str) else None,
            model=model if isinstance(model, str) else None,
            input_tokens=_input_tokens(usage), output_tokens=counted(usage.get("output_tokens")),
            rung=rung, sent=sent, request_id=request_id or (identity if isinstance(identity, str) else None),
        )  # fmt: skip


def _system(text: str) -> dict[str, Any]:
    """The system message as a block that the API may cache; an empty text would be refused."""
    if not text:
        return {}
    return {"system": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]}


def _form(request: Request, rung: Step) -> dict[str, Any]:
    if rung == "json_schema":
        return {"output_config": {"format": {"type": "json_schema", "schema": request.schema}}}
    if rung == "json_object":
        name = request.schema_name
        tool = {"name": name, "description": "Give the reply.", "input_schema": request.schema}
        choice = {"type": "tool", "name": name, "disable_parallel_tool_use": True}
        return {"tools": [tool], "tool_choice": choice}
    return {}


def _text(blocks: list[dict[str, Any]]) -> str:
    """The input of the forced tool as JSON, else the text."""
    inputs = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
    if inputs:
        return msgspec.json.encode(inputs[0]).decode()
    return "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")


def _input_tokens(usage: dict[str, Any]) -> int | None:
    """All tokens of the question: the API counts those that it wrote to its cache or read from it apart."""
    if counted(usage.get("input_tokens")) is None:
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(counted(usage.get(name)) or 0 for name in names)
