"""What each fault of the test server looks like: as a whole HTTP answer, or as a reply that cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from email.utils import formatdate
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from rightcall.testing.answers import Asked

# ---- faults of the exchange ------------------------------------------------------------------------------------------


class Wire(Struct, frozen=True):
    """A whole HTTP answer that is no completion."""

    status: int
    body: bytes
    headers: Mapping[str, str] = {}
    content_type: str = "application/json"


def wire(kind: str, asked: Asked, *, retry_after: float, now: float) -> Wire | None:
    """The HTTP answer of a kind of fault; `None` where the kind does not answer so, or does not apply to the request.

    Args:
        kind: the kind of fault.
        asked: the request.
        retry_after: seconds that a limited caller is asked to wait.
        now: seconds since the epoch, for the HTTP date.
    """
    if kind == "rate_limited":
        return error(429, "too many requests", "rate_limit_error", headers={"Retry-After": f"{retry_after:g}"})
    if kind == "rate_limited_date":
        headers = {"Retry-After": formatdate(ceil(now + retry_after), usegmt=True)}
        return error(429, "too many requests", "rate_limit_error", headers=headers)
    return _WIRES.get(kind) or _unsupported(kind, asked)


def _unsupported(kind: str, asked: Asked) -> Wire | None:
    if kind == "unsupported_temperature" and asked.temperature is not None:
        message = "unsupported value: `temperature` cannot be set for this model"
        return error(400, message, param="temperature", code="unsupported_value")
    if kind == "unsupported_schema" and asked.form == "json_schema":
        message = "`response_format` of type `json_schema` is not supported by this model"
        return error(400, message, param="response_format")
    if kind == "unsupported_json" and asked.form != "text":
        return error(400, "`response_format` is not supported by this model", param="response_format")
    return None


def error(
    status: int, message: str, kind: str = "invalid_request_error", *,
    param: str | None = None, code: str | None = None, headers: Mapping[str, str] | None = None,
) -> Wire:  # fmt: skip
    """An answer with an error object as OpenAI's API sends it."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": code or status}}
    return Wire(status, _json(body), headers or {})


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


_PAGE = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
_WIRES: Mapping[str, Wire] = {
    "quota": error(429, "the quota is used up", "insufficient_quota", code="insufficient_quota"),
    "overloaded": error(529, "overloaded", "overloaded_error"),
    "server_error": error(500, "the server failed", "server_error"),
    "bad_gateway": Wire(502, _PAGE, content_type="text/html"),
    "unauthorized": error(401, "the key is not valid", "authentication_error", code="invalid_api_key"),
    "malformed_http_json": Wire(200, b'{"id": "chatcmpl-0", "object": "chat.completion", "choices": [{"in'),
    "empty_body": Wire(200, b""),
    "no_choices": Wire(200, _json({"id": "chatcmpl-0", "object": "chat.completion", "choices": []})),
    "error_in_200": Wire(200, error(503, "the model is busy", "server_error").body),
}


# ---- faults of the reply ---------------------------------------------------------------------------------------------


class Reply(Struct, frozen=True, kw_only=True):
    """What the completion will say. `hidden_tokens` went to reasoning; `prompt_share` of the prompt is reported."""

    text: str
    finish: Literal["stop", "length"] = "stop"
    refusal: str | None = None
    model: str = ""
    prompt_share: float = 1.0
    hidden_tokens: int = 0


def spoil(kind: str | None, asked: Asked, text: str) -> Reply:
    """The reply of a request that meets this kind of fault; whatever is no fault of the reply leaves it whole.

    Args:
        kind: the kind of fault, or `None`.
        asked: the request.
        text: the reply without the fault.
    """
    match kind:
        case "truncated":
            return Reply(text=text[: len(text) // 2], finish="length", model=asked.model)
        case "truncated_empty":
            return Reply(text="", finish="length", model=asked.model, hidden_tokens=asked.max_tokens or 4096)
        case "refusal":
            return Reply(text="", refusal="I will not judge this.", model=asked.model)
        case "wrong_model":
            return Reply(text=text, model=f"{asked.model}-other")
        case "cut_prompt":
            return Reply(text=text, model=asked.model, prompt_share=0.1)
        case _:
            change = _TEXTS.get(kind or "")
            return Reply(text=change(asked, text) if change else text, model=asked.model)


def _object(text: str) -> dict[str, Any]:
    """The reply as an object with at least one key; a stand-in where it is none."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) and value else {"grade": "PASS"}


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _with_number(text: str, number: float) -> str:
    """The reply with its first top-level number, or without one its first value, replaced."""
    value = _object(text)
    numbers = (key for key, item in value.items() if isinstance(item, (int, float)) and not isinstance(item, bool))
    return _dumps({**value, next(numbers, next(iter(value))): number})


def _beyond(asked: Asked, text: str) -> str:
    """7, or more where the schema allows 7."""
    bounds = (asked.schema or {}).get("properties", {}).values()
    highest = [bound.get("maximum", 0) for bound in bounds if isinstance(bound, dict)]
    return _with_number(text, max([7, *(int(bound) + 1 for bound in highest)]))


def _other(value: Any, schema: Any) -> Any:
    """Another value that a judge might have meant instead of this one."""
    if isinstance(schema, dict) and isinstance(schema.get("enum"), list):
        return next((item for item in schema["enum"] if item != value), value)
    if isinstance(value, str):
        return {"PASS": "FAIL", "FAIL": "PASS"}.get(value, f"{value} or not")
    if isinstance(value, bool):
        return not value
    return value - 1 if isinstance(value, (int, float)) and value > 1 else 2


def _second(asked: Asked, value: dict[str, Any]) -> dict[str, Any]:
    """A reply of the same shape that says something else: the grade or score, if there is one, else the first value."""
    properties = (asked.schema or {}).get("properties", {})
    plain = [key for key, item in value.items() if isinstance(item, (str, int, float))]
    telling = [key for key in plain if isinstance(properties.get(key), dict) and "enum" in properties[key]]
    telling += [key for key in plain if value[key] in ("PASS", "FAIL") or not isinstance(value[key], str)]
    key = next(iter(telling or plain or value))
    return {**value, key: _other(value[key], properties.get(key))}


def _twice(asked: Asked, text: str) -> str:
    value = _object(text)
    key = next(iter(value))
    other = _other(value[key], (asked.schema or {}).get("properties", {}).get(key))
    return f"{{{_dumps(key)}: {_dumps(other)}, {_dumps(value)[1:]}"


def _both(asked: Asked, text: str) -> str:
    value = _object(text)
    return f"{_dumps(value)}\n\nOn second thoughts:\n\n{_dumps(_second(asked, value))}"


def _echo(asked: Asked, _text: str) -> str:
    """The longest stretch of the request without a bracket: never a JSON object, whatever the trace holds."""
    return max(re.split(r"[{}\[\]]", asked.user), key=len)[:300].strip() or "user:"


_TEXTS: Mapping[str, Callable[[Asked, str], str]] = {
    "malformed": lambda _asked, text: _dumps(_object(text))[: -(len(_dumps(_object(text))) // 3 or 1)],
    "refusal_text": lambda _asked, _text: "I'm sorry, but I can't help with that.",
    "ignored_schema": lambda _asked, _text: "The agent chose well: the tool does what the user wanted.",
    "other_keys": lambda _asked, _text: '{"answer": "the agent chose well", "certainty": "high"}',
    "out_of_range": _beyond,
    "duplicate_key": _twice,
    "non_finite": lambda _asked, text: _with_number(text, float("nan")),
    "ambiguous": _both,
    "echo": _echo,
    "empty_text": lambda _asked, _text: "",
}
