"""What a test server is asked, and ready-made ways to answer it.

An answerer is a function from `Asked` to the reply's text. The default answers any JSON Schema with its smallest valid
value; `by_marker` looks the case up in a mapping; `filled`, `selection_answer` and `rubric_answer` say what a judge
might say.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from rightcall.errors import ConfigError, Place

if TYPE_CHECKING:
    from rightcall.trace.jsontext import JsonValue

MARKER = r"case-\d+"
"""How `by_marker` finds a case in the user's text: `case-0007`."""

_DEEPEST = 40


class Asked(Struct, frozen=True, kw_only=True):
    """One request to the chat endpoint, as an answerer or a plan sees it.

    Attributes:
        number: how many requests reached the endpoint before it.
        attempt: how many of those asked the same: had the same `identity`.
        identity: the marker in the user's text, where the server looks for one; else the text's digest.
        system, user: the texts of the messages with these roles, joined by line breaks.
        model: the model asked for.
        temperature, max_tokens: as sent; `None` where nothing was sent.
        form: the structured output asked for.
        schema_json: the reply's JSON Schema as it was sent; empty without one.
    """

    number: int = 0
    attempt: int = 0
    identity: str = ""
    system: str = ""
    user: str = ""
    model: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    form: Literal["json_schema", "json_object", "text"] = "text"
    schema_json: bytes = b""

    @property
    def schema(self) -> dict[str, Any] | None:
        """The reply's JSON Schema, to be read only; `None` without one."""
        return _decoded(self.schema_json) if self.schema_json else None


Answerer = Callable[[Asked], str]
"""Gives the text of the reply. A `ConfigError` that it raises is sent as status 422 with its message; any other is a
fault of the answerer, logged by aiohttp and sent as 500."""


@lru_cache(maxsize=256)
def _decoded(schema: bytes) -> dict[str, Any]:
    return msgspec.json.decode(schema, type=dict[str, Any])


def text_digest(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, as 64 hexadecimal characters."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# ---- answerers -------------------------------------------------------------------------------------------------------


def smallest_answer(asked: Asked) -> str:
    """The smallest value that satisfies the request's schema, as JSON; `{}` without a schema.

    It satisfies the schema and nothing else: a judge's reply that must name calls or tools needs an answerer that
    knows them.

    Raises:
        ConfigError: no value can be made up for the schema (a `pattern`, a contradiction).
    """
    return _smallest_text(asked.schema_json) if asked.schema_json else "{}"


def filled(**values: JsonValue) -> Answerer:
    """Answer the request's schema with its smallest value, except for these top-level keys."""

    def answer(asked: Asked) -> str:
        return json.dumps({**json.loads(smallest_answer(asked)), **values}, ensure_ascii=False)

    return answer


def selection_answer(
    grade: Literal["PASS", "FAIL"] = "PASS",
    *,
    selected: str | None = None,
    expected: str | None = None,
    category: str | None = None,
    justification: str = "The catalog describes this tool for this request.",
    challenge: str | None = None,
) -> Answerer:
    """Answer as a `selection` judge would; a schema without its keys (a probe) gets its smallest answer.

    Args:
        grade: the judge's own grade.
        selected: the tool that it says was selected; `None` is "no tool".
        expected: the tool that it says was expected; `None` is "no tool".
        category: its failure category; left out, `wrong_tool` for a `FAIL`.
        justification: its reason.
        challenge: why it doubts the golden label; `None` = it does not.
    """
    reply: dict[str, JsonValue] = {
        "grade": grade,
        "selected_tool": selected,
        "expected_tool": expected,
        "justification": justification,
        "failure_category": category or ("wrong_tool" if grade == "FAIL" else None),
        "secondary_categories": [],
        "label_challenged": challenge is not None,
        "label_challenge_reason": challenge,
    }
    return _unless_probe(json.dumps(reply, ensure_ascii=False), {"grade"})


def rubric_answer(score: int = 4, severity: str = "NONE", *, impact: str = "None.", **scores: int | None) -> Answerer:
    """Answer as a `rubric` judge would that evaluates no single call; a probe as above.

    Args:
        score: the score of every dimension.
        severity: the worst misuse.
        impact: its impact.
        **scores: single dimensions, such as `abstention_score=None`.
    """
    dimensions = ("tool_selection", "argument_accuracy", "call_sequencing", "abstention")
    reply: dict[str, JsonValue] = {
        **{f"{name}_score": score for name in dimensions},
        **scores,
        "misuse_severity": severity,
        "downstream_impact": impact,
        "justification": dict.fromkeys(dimensions, f"What was done deserves a {score}."),
    }
    return _unless_probe(json.dumps(reply, ensure_ascii=False), {"misuse_severity"})


def _unless_probe(text: str, keys: Collection[str]) -> Answerer:
    """Answer with this text, but a schema that has none of the keys with its smallest value."""

    def answer(asked: Asked) -> str:
        known = (asked.schema or {}).get("properties")
        return text if known is None or not keys or any(key in known for key in keys) else smallest_answer(asked)

    return answer


def by_marker(
    replies: Mapping[str, str | Sequence[str]], *, pattern: str = MARKER, otherwise: Answerer | None = None
) -> Answerer:
    """Answer by the first marker in the user's text. A text without a marker (a probe) gets its smallest answer.

    Args:
        replies: the reply's text for each marker; of a list, each further asking takes the next, and the last stays.
        pattern: a regular expression for the marker.
        otherwise: answers where no marker is found, or none that `replies` knows.

    Raises:
        ConfigError: from the answerer, where `replies` lacks the marker and there is no `otherwise`.
    """
    find = re.compile(pattern).search

    def answer(asked: Asked) -> str:
        found = find(asked.user)
        reply = replies.get(found[0]) if found else None
        if isinstance(reply, str):
            return reply
        if reply:
            return reply[min(asked.attempt, len(reply) - 1)]
        if found and otherwise is None:
            raise ConfigError(f"no reply for `{found[0]}`")
        return (otherwise or smallest_answer)(asked)

    return answer


def from_file(path: Path, *, pattern: str = MARKER) -> Answerer:
    """Answer from a file: a JSON object of replies by marker, with `*` for all others.

    A text is sent as it is, of a list each further asking takes the next, an object is sent as JSON. Where neither the
    marker nor `*` is in the file, the answer is the smallest one.

    Raises:
        ConfigError: the file cannot be read or holds something else.
    """
    try:
        replies = msgspec.json.decode(path.read_bytes(), type=dict[str, str | list[str] | dict[str, Any]])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as wrong:
        raise ConfigError(f"cannot use the replies: {wrong}", place=Place(str(path))) from None
    others = replies.pop("*", {})
    texts = {key: json.dumps(reply) if isinstance(reply, dict) else reply for key, reply in replies.items()}
    if isinstance(others, dict):
        otherwise = _unless_probe(json.dumps(others), others) if others else smallest_answer
    else:
        otherwise = by_marker({"": others}, pattern="")
    return by_marker(texts, pattern=pattern, otherwise=otherwise)


# ---- the smallest value of a schema ----------------------------------------------------------------------------------


def smallest(schema: JsonValue) -> JsonValue:
    """The smallest value that satisfies a JSON Schema, always the same one.

    First members of `enum`, `anyOf`, `oneOf` and of a list of types; required keys only; lowest numbers, or 0 where it
    is allowed; shortest lists; shortest texts that are not empty, since graders refuse a reason that says nothing.

    Raises:
        ConfigError: the schema is none, or no value was found: a `pattern`, a contradiction, an endless recursion.
    """
    from rightcall.trace.schemas import compile_schema

    validator = compile_schema(schema, Place(), "the reply's schema")
    value = _value(schema, schema, 0)
    if not validator.is_valid(value):
        raise ConfigError("no answer can be made up for this schema", hint="give the server `answers`")
    return value


@lru_cache(maxsize=256)
def _smallest_text(schema: bytes) -> str:
    return json.dumps(smallest(_decoded(schema)), ensure_ascii=False)


def _value(schema: JsonValue, root: JsonValue, depth: int) -> JsonValue:
    if not isinstance(schema, dict):
        return None
    if depth > _DEEPEST:
        raise ConfigError("the reply's schema never ends", hint="give the server `answers`")
    schema = _merged(schema, root, depth)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return next(iter(schema["enum"]), None)
    return _of_type(schema, root, depth)


def _merged(schema: dict[str, Any], root: JsonValue, depth: int) -> dict[str, Any]:
    """The schema with what it refers to: references, the first alternative, all of `allOf`."""
    parts = [_resolved(schema["$ref"], root)] if "$ref" in schema else []
    parts += [schema[key][0] for key in ("anyOf", "oneOf") if schema.get(key)]
    parts += schema.get("allOf", [])
    merged = {key: item for key, item in schema.items() if key not in ("$ref", "anyOf", "oneOf", "allOf")}
    if depth > _DEEPEST:
        return merged
    for part in (part for part in parts if isinstance(part, dict)):
        inner = _merged(part, root, depth + 1)
        properties = {**inner.get("properties", {}), **merged.get("properties", {})}
        required = [*inner.get("required", []), *merged.get("required", [])]
        merged = {**inner, **merged, "properties": properties, "required": required}
    return merged


def _resolved(reference: str, root: JsonValue) -> JsonValue:
    found = root
    for step in reference.removeprefix("#").split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        found = found[int(key)] if isinstance(found, list) else found.get(key, {})
    return found


def _of_type(schema: dict[str, Any], root: JsonValue, depth: int) -> JsonValue:
    named = schema.get("type") or ("object" if schema.get("properties") or schema.get("required") else "null")
    match named[0] if isinstance(named, list) else named:
        case "object":
            properties = schema.get("properties", {})
            return {key: _value(properties.get(key, {}), root, depth + 1) for key in schema.get("required", ())}
        case "array":
            first = schema.get("prefixItems", [])[: schema.get("minItems", 0)]
            rest = [schema.get("items", {})] * (schema.get("minItems", 0) - len(first))
            return [_value(item, root, depth + 1) for item in (*first, *rest)]
        case "integer":
            return int(_lowest(schema, 1))
        case "number":
            return _lowest(schema, 0)
        case "string":
            return "x" * max(schema.get("minLength", 0), min(1, schema.get("maxLength", 1)))
        case "boolean":
            return False
        case _:
            return None


def _lowest(schema: dict[str, Any], step: int) -> float:
    """0 where it is allowed, else the lowest number, else (without a lower bound) the highest."""
    step = schema.get("multipleOf", step)
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    high = schema.get("maximum", schema.get("exclusiveMaximum", low))
    unit = step or 1
    near = [0, low, low + unit, high, high - unit, (low + high) / 2]
    if step:
        near = [0, *(turn(number / step) * step for number in near for turn in (ceil, floor))]
    return next((number for number in near if _allowed(number, schema)), 0)


def _allowed(number: float, schema: dict[str, Any]) -> bool:
    low, high = schema.get("minimum", number), schema.get("maximum", number)
    above, below = schema.get("exclusiveMinimum", number - 1), schema.get("exclusiveMaximum", number + 1)
    return bool(low <= number <= high and above < number < below)
