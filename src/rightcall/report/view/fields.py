"""The fields of a result by name, for tables that programs read: every number as it is, nothing rounded.

Metrics and the fields of a reply get a name each. Of findings there are the kinds, of vetoes the rules, of judges what
of their replies contradicts code. Other lists of words are joined by spaces; lists of sentences, and what has parts of
its own, are JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.grade.own import OwnResult
from rightcall.grade.rubric import RubricMetrics, RubricResult
from rightcall.grade.verdict import Article, GoldenResult, Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.report.view.model import Plain

_IDENTITY = ("grader", "unit", "trace_id", "case_id", "trial", "verdict")
"""What every table says of every result."""

_APART = (
    "judges", "orders", "reconciled", "conflicts", "justification", "tool_call_evaluations", "alignment",
)  # fmt: skip
"""What a cell cannot hold; it is in the JSON files."""

_ARTICLE = tuple(name for name in Article.__struct_fields__ if name != "feedback")
"""Figures of the published formula; they carry its name, since its words mean other things than ours."""

_METRICS: dict[type, tuple[str, ...]] = {
    GoldenResult: Metrics.__struct_fields__, RubricResult: RubricMetrics.__struct_fields__,
}  # fmt: skip


def fields_of(value: Mapping[str, Any]) -> dict[str, Plain]:
    """The fields of one result by name.

    Args:
        value: the result as plain values.
    """
    found: dict[str, Plain] = {}
    for name, item in value.items():
        if name not in _IDENTITY and name not in _APART:
            found.update(_parts(name, item))
    if "judges" in value:
        found["conflicts"] = " ".join(sorted(_conflicts(value))) or None
    return found


def names_of(result: Any) -> Iterator[str]:
    """The names of the fields of a result, in order; the same for all results of one of our own types."""
    if isinstance(result, (dict, OwnResult)):
        yield from fields_of(result if isinstance(result, dict) else msgspec.to_builtins(result))
        return
    kind = type(result)
    for name in kind.__struct_fields__:
        if name == "metrics":
            yield from _METRICS[kind]
        elif name == "article":
            yield from (f"article.{one}" for one in _ARTICLE)
        elif name not in _IDENTITY and name not in _APART:
            yield name
    if "judges" in kind.__struct_fields__:
        yield "conflicts"


def _parts(name: str, item: Any) -> Iterator[tuple[str, Plain]]:
    if name == "metrics":
        yield from item.items()
    elif name == "article":
        yield from ((f"article.{one}", (item or {}).get(one)) for one in _ARTICLE)
    elif name == "reply":
        yield from ((f"reply.{key}", _plain(one)) for key, one in (item or {}).items())
    elif name == "findings":
        yield name, " ".join(one["kind"] for one in item) or None
    elif name == "vetoes":
        yield name, " ".join(one["rule"] for one in item) or None
    else:
        yield name, _plain(item)


def _plain(item: Any) -> Plain:
    if item is None or isinstance(item, (str, int, float)):
        return item
    if isinstance(item, (list, tuple)) and all(map(_is_word, item)):
        return " ".join(item) or None
    return msgspec.json.encode(item).decode()


def _is_word(item: Any) -> bool:
    """Whether a part of a list stays one part between spaces."""
    return isinstance(item, str) and item.split() == [item]


def _conflicts(value: Mapping[str, Any]) -> set[str]:
    return {one["check"] for opinion in value.get("judges") or () for one in opinion.get("conflicts") or ()}
