"""Feedback that a LangSmith export carries, as labels: what was said, by whom, about which run.

`feedback_stats` of a run sums feedback up by its key; `feedback` of a run, and rows of `list_feedback` among the runs,
say who gave it. Where both are there, only the single ones are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rightcall.trace.model import Label
from rightcall.trace.sources.conversation import mapping, text_or_none, written_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.langsmith_runs import Family, Run

    _Object = Mapping[str, JsonValue]

_KINDS: dict[str, Literal["person", "code", "judge"]] = {"app": "person", "model": "judge", "auto_eval": "judge"}
_WHO = ("user_name", "user_email", "ls_user_id", "user_id")


def is_feedback(value: JsonValue) -> bool:
    """Whether this is one row of feedback, which says about which run it is."""
    row = mapping(value)
    return "run_type" not in row and "run_id" in row and "key" in row and bool({"score", "value"} & row.keys())


def labels(family: Family) -> tuple[Label, ...]:
    """Every label of a trace; those about a run that is not the root name it as their target."""
    single: dict[str, list[_Object]] = {}
    for run in family.runs:
        rows = run.row.get("feedback")
        single[run.id] = [mapping(row) for row in rows] if isinstance(rows, list) else []
    for run_id, row in family.feedback:
        single.setdefault(run_id, []).append(row)
    root = family.root.id
    found: list[Label] = []
    for run in family.runs:
        target = None if run.id == root else run.id
        said = [label for row in single[run.id] if (label := _label(row, target)) is not None]
        found += said
        found += _summed(run, target, {label.name for label in said})
    return tuple(found)


def _label(row: _Object, target: str | None) -> Label | None:
    name = text_or_none(row.get("key"))
    if not name:
        return None
    source = mapping(row.get("feedback_source"))
    about = {**mapping(source.get("metadata")), **source}
    value = row.get("score") if row.get("score") is not None else row.get("value")
    return Label(
        name=name,
        value=value if value is not None else row.get("correction"),
        comment=text_or_none(row.get("comment")),
        by=next((who for key in _WHO if (who := written_id(about.get(key))) is not None), None),
        kind=_KINDS.get(str(source.get("type")), "unknown"),
        at=text_or_none(row.get("created_at")) or text_or_none(row.get("modified_at")),
        target=target,
    )


def _summed(run: Run, target: str | None, known: set[str]) -> Iterator[Label]:
    """Labels of the sums: the mean where there is one, else how often each value was given."""
    for name, value in mapping(run.row.get("feedback_stats")).items():
        stats = mapping(value)
        if name in known or not name:
            continue
        comments = stats.get("comments")
        texts = [text for text in comments if isinstance(text, str)] if isinstance(comments, list) else []
        said = stats.get("avg") if stats.get("avg") is not None else stats.get("values")
        count = stats.get("n")
        note = [f"mean of {count}"] if isinstance(count, int) and count > 1 else []
        yield Label(
            name=name,
            value=said if stats else value,
            comment="; ".join([*note, *texts]) or None,
            target=target,
        )
