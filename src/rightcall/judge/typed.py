"""The typed reply: what the four graders' models share. Values are never coerced, clamped, defaulted or repaired.

A fault of one value is `JUDGE_SCHEMA`; values that contradict one another are `JUDGE_INCONSISTENT`. All faults of the
kind are listed. Keys that a model does not know are ignored and noted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, PrivateAttr, ValidationError
from pydantic_core import PydanticCustomError

from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.reply import Found, find_object
from rightcall.judge.wording import is_blank, joined, listed, shown
from rightcall.trace.jsontext import same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pydantic_core import ErrorDetails

    from rightcall.judge.quotes import ReadingFacts
    from rightcall.trace.jsontext import JsonValue


class Facts(TypedDict, total=False):
    """What code knows about a question, so that a reply can be checked against it.

    calls: call id -> tool name of the trace that was shown, for `rubric`.
    reading: the texts that quotes are checked against, for `interpretation`.
    """

    calls: Mapping[str, str] | None
    reading: ReadingFacts | None


class Part(BaseModel):
    """An object inside a reply."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class TypedReply(Part):
    """A reply that could be read. Frozen; equal to another that says the same and has the same notes."""

    _noted: tuple[Problem, ...] = PrivateAttr(default=())

    @property
    def noted(self) -> tuple[Problem, ...]:
        """What is worth recording though it does not spoil the reply: unknown keys, the judge's own mean."""
        return self._noted

    def values(self) -> dict[str, Any]:
        """The reply as plain JSON values, for the log. What was absent or `null` is `None`."""
        return self.model_dump(mode="json")


# ---- types of fields ----------------------------------------------------------------------------------------------


def _score(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value not in (1, 2, 3, 4, 5):
        raise _fault("must be a whole number from 1 to 5", value)
    return int(value)


def _confidence(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise _fault("must be a number from 0 to 1", value)
    return float(value)


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _fault("must be a number", value)
    return value


def _said(text: str) -> str:
    if is_blank(text):
        raise PydanticCustomError("blank", "must say something; it is blank")
    return text


def _fault(rule: str, value: object) -> PydanticCustomError:
    return PydanticCustomError("fault", "{rule}, not {shown}", {"rule": rule, "shown": shown(value)})


Score = Annotated[int, PlainValidator(_score)]
"""A whole number from 1 to 5; JSON makes no difference between `4` and `4.0`."""

Confidence = Annotated[float, PlainValidator(_confidence)]
"""A number from 0 to 1."""

Number = Annotated[int | float, PlainValidator(_number)]
"""Any number, as it was written."""

Text = Annotated[str, AfterValidator(_said)]
"""Text that says something."""

Item = TypeVar("Item")

# Strictness would ask for a Python tuple, which JSON does not have; items stay strict.
Items = Annotated[tuple[Item, ...], Field(strict=False)]
"""A list."""


# ---- reading ------------------------------------------------------------------------------------------------------

Reply = TypeVar("Reply", bound=TypedReply)


def read_typed(
    model: type[Reply],
    text: str,
    finish_reason: str | None,
    *,
    keys: frozenset[str],
    aliases: Mapping[str, str],
    contradictions: Callable[[Reply], Iterable[Problem]] = lambda _: (),
    notes: Callable[[Reply], Iterable[Problem]] = lambda _: (),
) -> Reply | Malformed:
    """From the raw text to the typed reply of a grader whose fields have other names too.

    Args:
        model: the grader's model.
        text: the raw reply.
        finish_reason: why the model stopped, in the provider's words.
        keys: the names that make an object verdict-shaped.
        aliases: other name -> own name.
        contradictions: what contradicts what in a reply whose values are fine one by one.
        notes: what is worth recording about a good reply.
    """
    found = find_object(text, keys, finish_reason)
    if isinstance(found, Malformed):
        return found
    values = dict(found.values)
    clashes = under_own_names(values, aliases)
    return typed(model, Found(values, found.noted), clashes=clashes, contradictions=contradictions, notes=notes)


def typed(
    model: type[Reply],
    found: Found,
    *,
    clashes: Iterable[Problem] = (),
    contradictions: Callable[[Reply], Iterable[Problem]] = lambda _: (),
    notes: Callable[[Reply], Iterable[Problem]] = lambda _: (),
) -> Reply | Malformed:
    """The typed reply.

    Args:
        model: the grader's model.
        found: the reply's object, aliases already under their own names.
        clashes: contradictions between a name and its alias.
        contradictions: what contradicts what in a reply whose values are fine one by one.
        notes: what else is worth recording.
    """
    try:
        reply = model.model_validate(found.values)
    except ValidationError as error:
        return Malformed("JUDGE_SCHEMA", listed(map(_problem, error.errors(include_url=False))))
    problems = listed((*clashes, *contradictions(reply)))
    if problems:
        return Malformed("JUDGE_INCONSISTENT", problems)
    reply._noted = (*found.noted, *listed((*notes(reply), *_unknown(reply, found.values))))  # noqa: SLF001
    return reply


def under_own_names(values: dict[str, JsonValue], aliases: Mapping[str, str]) -> list[Problem]:
    """Move values from aliases to their names, in place; returns where the two are given and differ.

    Args:
        values: the reply's object.
        aliases: alias -> name.
    """
    clashes = []
    for alias, name in aliases.items():
        if alias not in values:
            continue
        other = values.pop(alias)
        if name not in values:
            values[name] = other
        elif not same(values[name], other):
            said = f"says {shown(values[name])}, and its alias `{alias}` says {shown(other)}"
            clashes.append(Problem(name, said))
    return clashes


_RULES = {
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
    "literal_error": "must be {expected}",
    "too_short": "must have at least {min_length} item",
    "too_long": "must have at most {max_length} items",
}


def _problem(error: ErrorDetails) -> Problem:
    path = ""
    for key in error["loc"]:
        if not str(key).startswith("<"):  # the tag of a union is no key
            path = joined(path, key)
    kind = error["type"]
    if kind == "missing":
        return Problem(path, "is missing")
    if kind not in _RULES:
        return Problem(path, error["msg"])
    rule = _RULES[kind].format(**error.get("ctx", {})).replace("None", "null")
    return Problem(path, rule if kind.startswith("too_") else f"{rule}, not {shown(error['input'])}")


def _unknown(part: BaseModel, values: Mapping[str, JsonValue], path: str = "") -> Iterator[Problem]:
    """Keys that the models do not know, at any depth that they describe."""
    known = {field.alias or name: name for name, field in type(part).model_fields.items()}
    for key, value in values.items():
        where = joined(path, key)
        if key not in known:
            yield Problem(where, "is an unknown key and was ignored")
            continue
        inner = getattr(part, known[key])
        if isinstance(inner, BaseModel):
            yield from _unknown(inner, value, where)
        elif isinstance(inner, tuple):
            for index, item in enumerate(inner):
                if isinstance(item, BaseModel):
                    yield from _unknown(item, value[index], joined(where, index))
