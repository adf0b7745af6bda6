"""The chat endpoint's two texts: the request as it is read, the completion as it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from rightcall.testing.answers import Asked
from rightcall.testing.spoiling import Reply

BYTES_PER_TOKEN = 4
"""The common estimate for English text."""


class Message(Struct):
    """One message. `content` is a text, or a list of parts of which those with a `text` count."""

    role: str
    content: Any = None

    def text(self) -> str:
        """The message's text."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else ()
        return "".join(part["text"] for part in parts if isinstance(part, Mapping) and "text" in part)


class _Schema(Struct):
    schema: msgspec.Raw = msgspec.Raw(b"")


class _Format(Struct):
    type: str
    json_schema: _Schema | None = None


class Body(Struct):
    """What is read of a request's body; whatever else was sent does not matter here."""

    model: str
    messages: list[Message]
    temperature: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    response_format: _Format | None = None
    stream: bool = False

    def asked(self) -> Asked:
        """The request, without its place among the others."""
        form = self.response_format
        schema = bytes(form.json_schema.schema) if form and form.type == "json_schema" and form.json_schema else b""
        return Asked(
            system="\n".join(message.text() for message in self.messages if message.role in ("system", "developer")),
            user="\n".join(message.text() for message in self.messages if message.role == "user"),
            model=self.model,
            temperature=self.temperature,
            max_tokens=self.max_completion_tokens or self.max_tokens,
            form="json_schema" if schema else "json_object" if form and form.type != "text" else "text",
            schema_json=schema,
        )


read_body = msgspec.json.Decoder(Body).decode
_encode = msgspec.json.Encoder().encode


def tokens(text: str) -> int:
    """About as many tokens as a model would count: bytes / 4, and never fewer than there are words."""
    estimate = len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN
    # Only a text with that many blanks can have more words; to count words costs more than all the rest.
    blanks = text.count(" ") + text.count("\n") + text.count("\t")
    return max(estimate, len(text.split())) if blanks >= estimate - 1 else estimate


def completion(asked: Asked, reply: Reply, created: int) -> bytes:
    """The body of a completion.

    A reply that is longer than the request's limit of tokens is cut there, with finish reason `length`.

    Args:
        asked: the request.
        reply: what to say.
        created: seconds since the epoch.
    """
    text, finish = reply.text, reply.finish
    written = tokens(text) + reply.hidden_tokens
    if asked.max_tokens is not None and written > asked.max_tokens:
        text, finish = text[: max(0, asked.max_tokens - reply.hidden_tokens) * BYTES_PER_TOKEN], "length"
        written = asked.max_tokens
    prompt = max(1, round((tokens(asked.system) + tokens(asked.user)) * reply.prompt_share))
    message = {"role": "assistant", "content": None if reply.refusal else text, "refusal": reply.refusal}
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
        "completion_tokens_details": {"reasoning_tokens": reply.hidden_tokens},
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return _encode(
        {
            "id": f"chatcmpl-{asked.number}",
            "object": "chat.completion",
            "created": created,
            "model": reply.model,
            "choices": [choice],
            "usage": usage,
        }
    )
