"""A judge as it is configured: which endpoint, which model, with which parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Provider = Literal["openai", "anthropic", "ollama", "command", "recorded", "scripted"]
Rung = Literal["auto", "json_schema", "json_object", "text"]
_Count = Annotated[int, Meta(ge=1)]
_Amount = Annotated[float, Meta(ge=0)]


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a million tokens cost, in `currency`."""

    input: _Amount
    output: _Amount
    currency: str = "usd"


class JudgeSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[judges.NAME]` table. Secrets are named, never written: `api_key_env` is the variable that holds the key.

    Attributes:
        provider: who answers: an OpenAI-compatible URL, Anthropic, Ollama's own API, a program, a file of replies.
        model: the model asked for.
        base_url: the endpoint; the provider's own where it is left out.
        api_key_env: name of the environment variable with the key; the provider's usual one where it is left out.
        token_command: a program that prints a fresh token (asked again when the endpoint says 401).
        headers: further headers; a value `$NAME` is read from the environment.
        proxy, ca_bundle: for networks of companies.
        command: for `command`: program and arguments. It reads one JSON object on stdin and prints the reply.
        file: for `recorded`: the file of replies.
        temperature, max_tokens, seed, top_p: sent as they are; `None` is left out.
        context_tokens: how many tokens the model can read; questions that do not fit are `too_long`.
        timeout: seconds for one answer.
        max_concurrency: calls at a time on this endpoint.
        structured: the rung of the structured-output ladder; `auto` finds the strictest by one call.
        price: what tokens cost, where the table does not know.
        family: the model's family, to warn of a judge that is related to the agent.
        answers_as: the name under which a local server answers, where that is not the model asked for.
    """

    provider: Provider = "openai"
    model: str = ""
    base_url: str | None = None
    api_key_env: str | None = None
    token_command: tuple[str, ...] = ()
    headers: dict[str, str] = {}
    proxy: str | None = None
    ca_bundle: str | None = None
    command: tuple[str, ...] = ()
    file: str | None = None
    temperature: _Amount | None = 0.0
    max_tokens: _Count = 2048
    seed: int | None = None
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    context_tokens: _Count | None = None
    timeout: Annotated[float, Meta(gt=0)] = 60.0
    max_concurrency: _Count = 64
    structured: Rung = "auto"
    price: Price | None = None
    family: str | None = None
    answers_as: str | None = None
