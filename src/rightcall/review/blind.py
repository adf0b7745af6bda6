"""What a person sees of an item before the answer is committed: a type of its own, in which nothing else has a place.

It is made from the case or step, the trace or traces and the catalog, and from nothing else: no verdict, score, judge
or model, no reason for the review and no severity, no run, no other answer. Ids of traces, cases and steps stay out as
well, since people name agents and outcomes in them. Which agent acted is nowhere either: its description, its names in
messages and calls, labels, metadata and tags are left out, the context loses the keys that name it, and identifiers
of models and agents are masked as they are for a judge of pairs, here also in the keys of objects and in the catalog.

What a person decides is the same as what a judge decides, so the views are those of the judges with one difference:
what should have happened is shown only where the form says so. Of a pair the times are left out too, since two agents
rarely ran at the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from rightcall.judge.pair_views import identifiers, masked, preference_values
from rightcall.judge.views import rubric_values, selection_values, shown_golden, shown_tools
from rightcall.review.sides import by_side, cited_by_side, sides_of
from rightcall.store.packing import digest_of
from rightcall.trace.history import shown_call, shown_message
from rightcall.trace.model import Call
from rightcall.trace.segments import segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.case.case import Case
    from rightcall.case.step import Step
    from rightcall.review.sides import Sides
    from rightcall.store.records import AnswerRecord
    from rightcall.trace.catalog import Catalog
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Event, Trace

_TIMES = frozenset({"at", "started_at"})


class Chosen(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The choice of one step. `None` is *no tool*; `expected` is there only where the form shows it."""

    selected: str | None
    expected: str | UnsetType | None = UNSET


class Reading(Struct, frozen=True, kw_only=True):
    """One result and what the agent made of it.

    Attributes:
        call: the call with its arguments and result, as a judge sees it.
        stated: the agent's first text after the result; `None`: it said nothing.
        next_action: its next call or message; `None`: there was none.
    """

    call: dict[str, Any]
    stated: str | None
    next_action: dict[str, Any] | None


class BlindItem(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="view", tag="blind"):
    """One review item as it is shown before the answer.

    Attributes:
        item: its full id. grader: whose form is filled in.
        request, context: what was asked, and what else the agent knew. Of a pair whose traces differ in one of them,
            an object with `left` and `right`.
        tools: the catalog; `None`: not known. Of a pair likewise.
        events: messages and calls in order, with our call ids; `None` where another part stands for them.
        completed: whether the run came to its end; `None`: not known.
        oddities: codes of what was odd about the recording.
        golden: the acceptable ways, where the form shows them.
        chosen: of `selection`. reading: of `interpretation`. left, right: the events of a pair.
        missing: parts that are not on record, so that nothing can be shown for them.
    """

    item: str
    grader: str
    request: Any = None
    context: Any = None
    tools: Any = None
    events: tuple[dict[str, Any], ...] | None = None
    completed: bool | None = None
    oddities: tuple[str, ...] = ()
    golden: tuple[dict[str, Any], ...] | None = None
    chosen: Chosen | None = None
    reading: Reading | None = None
    left: tuple[dict[str, Any], ...] | None = None
    right: tuple[dict[str, Any], ...] | None = None
    missing: tuple[str, ...] = ()


class Earlier(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer that somebody gave before, without the name.

    Fields and evidence of a pair are by the sides of whoever reads this. `mirrored`: whoever wrote it saw the sides the
    other way round, so that *left* in the note is right here.
    """

    fields: dict[str, Any] = {}
    unsure: str | None = None
    note: str = ""
    evidence: tuple[str, ...] = ()
    mirrored: bool = False


class AdjudicationItem(BlindItem, frozen=True, kw_only=True, omit_defaults=True, tag_field="view", tag="adjudication"):
    """An item whose answers differ, for the person who decides: what those saw who answered, and what they said.

    `answers` stand in the order of their digests, which says nothing about who or when; those of a pair by this
    person's own sides. `differing` names the fields that are to be decided.
    """

    answers: tuple[Earlier, ...] = ()
    differing: tuple[str, ...] = ()


def nothing_to_show(item: str, grader: str, *missing: str) -> BlindItem:
    """An item of which nothing is on record that could be shown: somebody must say that it cannot be judged."""
    return BlindItem(item=item, grader=grader, missing=missing)


def of_selection(item: str, step: Step, catalog: Catalog | None, *, with_expected: bool = False) -> BlindItem:
    """One step: request, context, tools and the tool that was chosen.

    Args:
        item: the item's id.
        step: the step.
        catalog: the one that counts for it.
        with_expected: show the tool that the label asks for.
    """
    values = selection_values(step, catalog)
    chosen = Chosen(selected=step.selected, expected=step.expected) if with_expected else Chosen(selected=step.selected)
    return BlindItem(
        item=item, grader="selection", request=values["USER_REQUEST"], context=values["CONTEXT"],
        tools=values["AVAILABLE_TOOLS"], chosen=chosen,
    )  # fmt: skip


def of_rubric(
    item: str, trace: Trace, case: Case | None, catalog: Catalog | None, *, grader: str = "rubric",
    with_golden: bool = False,
) -> BlindItem:  # fmt: skip
    """One whole trace, for `rubric` and for graders of users' own.

    Args:
        item: the item's id.
        trace: the trace.
        case: its case, whose request and context stand in for the trace's.
        catalog: the one that counts.
        grader: whose form is filled in.
        with_golden: show the acceptable ways.
    """
    names = identifiers(trace)
    values = {name: _unnamed(value, names) for name, value in rubric_values(trace, catalog, case).items()}
    return BlindItem(
        item=item, grader=grader, request=values["USER_REQUEST"], context=values["CONTEXT"],
        tools=values["AVAILABLE_TOOLS"], events=tuple(values["AGENT_TOOL_CALLS"]), completed=trace.completed,
        oddities=tuple(dict.fromkeys(one.code for one in trace.findings)),
        golden=tuple(shown_golden(case) or ()) if with_golden else None,
    )  # fmt: skip


def of_golden(
    item: str, trace: Trace, case: Case | None, catalog: Catalog | None, *, with_golden: bool = False
) -> BlindItem:
    """One whole trace, for `golden`; see `of_rubric`."""
    return of_rubric(item, trace, case, catalog, grader="golden", with_golden=with_golden)


def of_preference(
    item: str, who: str, traces: tuple[Trace, Trace], case: Case | None,
    catalogs: Sequence[Catalog | None] = (None, None),
) -> BlindItem:  # fmt: skip
    """Two traces of one case, on the sides that this person sees.

    Args:
        item: the item's id.
        who: the person, who together with the item decides the sides.
        traces: agent A's and agent B's.
        case: the case of both.
        catalogs: the ones that count for the two.
    """
    order = (0, 1) if sides_of(item, who).left == "A" else (1, 0)
    left, right = traces[order[0]], traces[order[1]]
    seen = preference_values(left, right, case, (catalogs[order[0]], catalogs[order[1]]))
    names = identifiers(*traces)
    values = {name: _unnamed(value, names) for name, value in seen.items()}
    return BlindItem(
        item=item, grader="preference", request=_placed(values["USER_REQUEST"]), context=_placed(values["CONTEXT"]),
        tools=_placed(values["AVAILABLE_TOOLS"]), left=_timeless(values["TRACE_A"]),
        right=_timeless(values["TRACE_B"]),
    )  # fmt: skip


def _placed(value: JsonValue) -> JsonValue:
    """What differs between two traces, by side."""
    if isinstance(value, dict) and value.keys() == {"trace_a", "trace_b"}:
        return {"left": value["trace_a"], "right": value["trace_b"]}
    return value


def _timeless(events: JsonValue) -> tuple[dict[str, Any], ...]:
    found = []
    for event in events or ():
        kept = {key: value for key, value in event.items() if key not in _TIMES}
        if isinstance(kept.get("result"), dict):
            kept["result"] = {key: value for key, value in kept["result"].items() if key not in _TIMES}
        found.append(kept)
    return tuple(found)


def of_interpretation(
    item: str, trace: Trace, call_index: int, case: Case | None, catalog: Catalog | None
) -> BlindItem:  # fmt: skip
    """One call of a trace with its result, what the agent said about it, and what it did next.

    Args:
        item: the item's id.
        trace: the trace.
        call_index: which of the agent's own calls, from 0.
        case: its case, whose request and context stand in for the trace's.
        catalog: the one that counts.
    """
    parts = segments(trace)
    if not 0 <= call_index < len(parts):
        return nothing_to_show(item, "interpretation", "call")
    part = parts[call_index]
    names = identifiers(trace)
    values = rubric_values(trace, None, case)
    reading = Reading(
        call=_unnamed(shown_call(part.call, f"c{call_index + 1}"), names), stated=_unnamed(part.interpretation, names),
        next_action=_unnamed(_action(trace, part.next_action), names),
    )  # fmt: skip
    return BlindItem(
        item=item, grader="interpretation", request=_unnamed(values["USER_REQUEST"], names),
        context=_unnamed(values["CONTEXT"], names), tools=_unnamed(shown_tools(catalog), names), reading=reading,
        completed=trace.completed,
    )  # fmt: skip


def _unnamed(value: JsonValue, names: Sequence[str]) -> JsonValue:
    """A value without identifiers of agents, in texts and in keys; keys that become alike are numbered."""
    return _keys_masked(masked(value, names), names) if names else value


def _keys_masked(value: JsonValue, names: Sequence[str]) -> JsonValue:
    if isinstance(value, list):
        return [_keys_masked(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, JsonValue] = {}
    for key, item in value.items():
        plain = masked(key, names)
        number = 2
        while plain in found:
            plain, number = f"{masked(key, names)} ({number})", number + 1
        found[plain] = _keys_masked(item, names)
    return found


def _action(trace: Trace, event: Event | None) -> dict[str, Any] | None:
    """The next action: a call without what came back, which the agent could not know when it decided."""
    if event is None:
        return None
    if not isinstance(event, Call):
        return next(iter(shown_message(event)), None)
    number = 1 + next(place for place, call in enumerate(trace.calls) if call is event)
    shown = shown_call(event, f"c{number}")
    return {key: value for key, value in shown.items() if key != "result"}


def for_adjudication(
    blind: BlindItem, answers: Sequence[AnswerRecord], differing: Sequence[str], sides: Sides | None = None
) -> AdjudicationItem:
    """The item with the answers that differ, without names.

    Args:
        blind: the item as this person would see it to answer.
        answers: the answers that count.
        differing: the fields in which they differ.
        sides: this person's sides, for a pair.
    """
    earlier = tuple(_earlier(answer, sides) for answer in sorted(answers, key=digest_of))
    return AdjudicationItem(**asdict(blind), answers=earlier, differing=tuple(differing))


def _earlier(answer: AnswerRecord, sides: Sides | None) -> Earlier:
    if sides is None:
        return Earlier(fields=answer.fields, unsure=answer.unsure, note=answer.note, evidence=answer.evidence)
    # What came from elsewhere has no seed: it speaks of the agents by their letters.
    mirrored = answer.seed is not None and sides_of(answer.item, answer.who).left != sides.left
    return Earlier(
        fields=by_side(answer.fields, sides), unsure=answer.unsure, note=answer.note,
        evidence=cited_by_side(answer.evidence, sides), mirrored=mirrored,
    )  # fmt: skip
