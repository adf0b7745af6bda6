"""Every dialect, and how one is recognised. A new reader is one module and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.errors import ConfigError, Place, TraceError
from rightcall.trace.explain import nearest
from rightcall.trace.sources import (
    agentdojo,
    agentrx,
    anthropic,
    atif,
    bedrock,
    bfcl,
    claude_code,
    codex,
    gemini,
    google_adk,
    hermes,
    inspect_log,
    langchain,
    langfuse,
    langsmith,
    mlflow,
    native,
    openai_chat,
    openai_responses,
    openinference,
    otel_genai,
    tau,
    tau2,
    xlam,
)

if TYPE_CHECKING:
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Dialect

DIALECTS: dict[str, Dialect] = {
    module.DIALECT.name: module.DIALECT
    for module in (
        native,
        langchain,
        langsmith,
        openai_chat,
        openai_responses,
        anthropic,
        atif,
        bedrock,
        claude_code,
        codex,
        gemini,
        google_adk,
        inspect_log,
        langfuse,
        mlflow,
        openinference,
        otel_genai,
        tau,
        tau2,
        agentdojo,
        agentrx,
        bfcl,
        hermes,
        xlam,
    )
}


def by_name(name: str) -> Dialect:
    """The dialect of this name.

    Raises:
        ConfigError: there is none; the nearest name is given.
    """
    if name in DIALECTS:
        return DIALECTS[name]
    guess = nearest(name, DIALECTS)
    known = ", ".join(("auto", *DIALECTS))
    raise ConfigError(f"unknown dialect `{name}`", hint=f"did you mean `{guess}`?" if guess else f"known: {known}")


def detect(value: JsonValue, place: Place) -> Dialect:
    """The one dialect of a decoded record.

    Raises:
        TraceError: no dialect knows it, or two do (nothing is guessed).
    """
    found = [dialect for dialect in DIALECTS.values() if dialect.detect(value)]
    if len(found) == 1:
        return found[0]
    if not found and isinstance(value, dict) and "id" in value:
        return native.DIALECT  # it will say which of its fields is wrong
    names = ", ".join(dialect.name for dialect in found or DIALECTS.values())
    if found:
        raise TraceError(f"this could be {names}", place=place, hint="say which with --from")
    raise TraceError(
        "no known way of recording traces", place=place, code="TRACE_UNKNOWN_DIALECT",
        hint=f"known: {names}; say which with --from to see what is wrong",
    )  # fmt: skip
