"""Blindness as a property: what a person sees before the answer holds no trace of who acted or what others said."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from review_making import answer

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.step import Step
from rightcall.review import blind
from rightcall.review.sides import sides_of
from rightcall.trace.catalog import Catalog
from rightcall.trace.model import Agent, Call, Label, Message, Result, Tool, Trace, TraceFinding

ITEM = "rv-" + "0a" * 32
CATALOG = Catalog((Tool(name="open_door", description="Opens a door."), Tool(name="close_door")))
ENCODE = msgspec.json.Encoder().encode


def planted(*names: str) -> dict[str, str]:
    """Return a token for each name that occurs nowhere else."""
    return {name: f"zqx-{name.replace('_', '-')}-7" for name in names}


WHO = planted("model", "agent", "version", "speaker", "caller", "trace_id", "case_id", "call_id", "label", "labeller")
WHO |= planted("metadata", "tag", "finding", "step_id", "golden_tool", "way")
SECRETS = tuple(WHO.values())


# ---- traces that are full of what must not be seen -------------------------------------------------------------------

WORDS = st.sampled_from(["Open the door.", "It is open now.", "Done", "42", ""])
MENTIONS = st.sampled_from(
    ["", f"I am {WHO['model']}.", f"Hello from {WHO['agent']}!", f"({WHO['version']})", WHO["speaker"], WHO["caller"]]
)
TEXTS = st.builds(lambda said, mention: f"{said} {mention}", WORDS, MENTIONS)
VALUES = st.recursive(
    TEXTS | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=2) | st.fixed_dictionaries({"x": inner})
)
RESULTS = st.builds(
    lambda value, is_error: Result(content_json=Raw(ENCODE(value)), is_error=is_error, at="2026-11-29T10:00:07Z"),
    VALUES, st.sampled_from([None, True, False]),
)  # fmt: skip
CALLS = st.builds(
    lambda tool, arguments, result, turn: Call(
        tool=tool, arguments_json=Raw(ENCODE({"a": arguments})), result=result, turn=turn, id=WHO["call_id"],
        agent=WHO["caller"], started_at="2026-11-29T10:00:05Z",
    ),
    st.sampled_from(["open_door", "close_door", "no_such_tool"]), VALUES, st.none() | RESULTS,
    st.none() | st.integers(1, 3),
)  # fmt: skip
MESSAGES = st.builds(
    lambda role, text: Message(role=role, text=text, agent=WHO["speaker"], at="2026-11-29T10:00:01Z"),
    st.sampled_from(["system", "user", "assistant"]), st.none() | TEXTS,
)  # fmt: skip
CONTEXTS = st.sampled_from([
    None, f"You are {WHO['model']}, version {WHO['version']}.",
    {"system": f"{WHO['agent']} helps.", "model": WHO["model"], "agent": {"name": WHO["agent"], "more": 1}},
    {"agent": {"name": WHO["agent"], "version": WHO["version"], "model": f"vendor/{WHO['model']}"}},
    {"history": [{"role": "user", "text": "Open.", "agent_name": WHO["agent"], "version": WHO["version"]}]},
    {"costs": {WHO["model"]: 1, WHO["agent"]: [{WHO["version"]: None}]}},
])  # fmt: skip


# So that the names of speakers are names of this trace, whatever else is drawn.
NAMED = (
    Message(role="assistant", agent=WHO["speaker"]),
    Call(tool="open_door", arguments_json=Raw(b"{}"), agent=WHO["caller"], id=WHO["call_id"]),
)


@st.composite
def traces(draw: Any) -> Trace:
    """Return a trace that says who acted wherever a trace can."""
    return Trace(
        id=WHO["trace_id"], case_id=WHO["case_id"], request=draw(st.none() | TEXTS), context=draw(CONTEXTS),
        agent=Agent(name=WHO["agent"], version=WHO["version"], model=f"vendor/{WHO['model']}"),
        events=(*NAMED, *draw(st.lists(CALLS | MESSAGES, max_size=4))), completed=draw(st.sampled_from([None, True, False])),
        findings=(TraceFinding(code="TRACE_ORPHAN_RESULT", message=WHO["finding"], path="$.x"),),
        labels=(Label(name=WHO["label"], value=WHO["label"], by=WHO["labeller"], comment=WHO["label"]),),
        metadata={"run": WHO["metadata"], WHO["metadata"]: 1},
    )  # fmt: skip


CASES = st.none() | st.builds(
    lambda request: Case(
        id=WHO["case_id"], request=request, tags=(WHO["tag"],), metadata={"m": WHO["metadata"]},
        expect=Expect(calls=(GoldenCall(tool=WHO["golden_tool"]),)),
    ),
    st.none() | WORDS,
)  # fmt: skip
NAMING = Catalog(
    (Tool(name=f"ask-{WHO['agent']}", description=f"For {WHO['model']}.", parameters={"title": WHO["version"]}),)
)
CATALOGS = st.sampled_from([None, CATALOG, NAMING])


def seen(view: blind.BlindItem) -> str:
    """Everything that can be read off a view: as an object, as JSON, as plain values."""
    return "\n".join([repr(view), msgspec.json.encode(view).decode(), json.dumps(msgspec.to_builtins(view))])


def assert_blind(view: blind.BlindItem, *more: str) -> None:
    text = seen(view)
    assert [token for token in (*SECRETS, *more) if token in text] == []


@pytest.mark.slow
@given(traces(), CASES, CATALOGS)
@settings(max_examples=150)
def test_nobody_sees_who_acted_in_a_trace(trace, case, catalog):
    assert_blind(blind.of_rubric(ITEM, trace, case, catalog))
    assert_blind(blind.of_golden(ITEM, trace, case, catalog))
    assert_blind(blind.of_rubric(ITEM, trace, case, catalog, grader="mine"))
    for index in range(-1, len(trace.calls) + 1):
        assert_blind(blind.of_interpretation(ITEM, trace, index, case, catalog))


@pytest.mark.slow
@given(traces(), traces(), CASES, st.sampled_from([f"zqp-{n}-person" for n in range(6)]), CATALOGS)
@settings(max_examples=150)
def test_nobody_sees_which_agent_is_which(first, second, case, who, catalog):
    other = planted("other")["other"]
    second = msgspec.structs.replace(second, agent=Agent(name=other, version=other, model=other), id=other)
    view = blind.of_preference(ITEM, who, (first, second), case, (catalog, None))
    assert_blind(view, other, "2026-11-29", who, sides_of(ITEM, who).seed)


@pytest.mark.slow
@given(traces(), traces())
def test_two_people_may_see_the_sides_the_other_way_round_and_nothing_else_differs(first, second):
    left = next(f"p{n}" for n in range(99) if sides_of(ITEM, f"p{n}").left == "A")
    right = next(f"p{n}" for n in range(99) if sides_of(ITEM, f"p{n}").left == "B")
    one = blind.of_preference(ITEM, left, (first, second), None)
    other = blind.of_preference(ITEM, right, (first, second), None)
    assert (one.left, one.right) == (other.right, other.left)
    # Who is named A changes nothing either: the same picture for the pair given the other way round.
    assert blind.of_preference(ITEM, left, (second, first), None) == other


@given(st.sampled_from([None, "open_door"]), st.sampled_from([None, WHO["golden_tool"]]), CONTEXTS)
def test_nobody_sees_what_a_label_expects_or_where_a_step_comes_from(selected, expected, context):
    step = Step(
        id=WHO["step_id"], selected=selected, expected=expected, request="Open.", tags=(WHO["tag"],),
        context="You help." if context is None or isinstance(context, str) else {"state": {"open": False}},
        metadata={"m": WHO["metadata"]}, trace_id=WHO["trace_id"], case_id=WHO["case_id"],
    )  # fmt: skip
    view = blind.of_selection(ITEM, step, CATALOG)
    assert_blind(view)
    assert view.chosen is not None
    assert view.chosen.selected == selected


# ---- deciding between answers ----------------------------------------------------------------------------------------

PEOPLE = planted("ana", "bo", "verdict", "reason", "run", "client", "seed")


def earlier(who: str, **changed: Any):
    hidden = {
        "verdict": PEOPLE["verdict"], "reasons": (PEOPLE["reason"],), "client": PEOPLE["client"], "seed": PEOPLE["seed"],
        "run_id": PEOPLE["run"], "trace_id": WHO["trace_id"], "case_id": WHO["case_id"], "seconds": 4321.5,
    }  # fmt: skip
    return answer(PEOPLE[who], **{**hidden, **changed})


@given(traces(), st.booleans())
def test_whoever_decides_sees_what_was_said_and_not_by_whom(trace, swapped):
    said = [
        earlier("ana", fields={"grade": "PASS"}, note="It is open.", evidence=("c1",)),
        earlier("bo", unsure="the result was cut"),
    ]
    view = blind.for_adjudication(
        blind.of_golden(ITEM, trace, None, CATALOG), said[::-1] if swapped else said, ("unsure",)
    )
    assert_blind(view, *PEOPLE.values(), "4321", "2026-11-29T10:00:00")
    assert view == blind.for_adjudication(blind.of_golden(ITEM, trace, None, CATALOG), said, ("unsure",))
    assert {(one.note, one.unsure) for one in view.answers} == {("It is open.", None), ("", "the result was cut")}
    assert view.differing == ("unsure",)
    assert json.loads(msgspec.json.encode(view))["view"] == "adjudication"


def test_answers_about_a_pair_are_shown_by_the_sides_of_whoever_decides():
    fields = {"overall": "A", "selection": "B", "errors": "=", "sure": 3}
    said = answer("bo", "preference", fields=fields, evidence=("A:c1", "c2"), note="Left asks first.", seed="s")
    blank = blind.nothing_to_show(said.item, "preference")
    for who in ("cy", "di", "eve", "flo"):
        sides = sides_of(said.item, who)
        a, b = ("left", "right") if sides.left == "A" else ("right", "left")
        (shown,) = blind.for_adjudication(blank, [said], ("overall",), sides).answers
        assert shown.fields == {"overall": a[0].upper(), "selection": b[0].upper(), "errors": "=", "sure": 3}
        assert shown.evidence == (f"{a}:c1", "c2")
        # "Left" in the note is what the author saw on the left.
        assert shown.mirrored is (sides_of(said.item, "bo").left != sides.left)
        elsewhere = msgspec.structs.replace(said, seed=None, kind="imported")
        assert not blind.for_adjudication(blank, [elsewhere], (), sides).answers[0].mirrored


# ---- and everything else is there ------------------------------------------------------------------------------------

TRACE = Trace(
    id="t", request="Open the door.", context={"state": {"open": False}}, agent=Agent(name="doors"), completed=True,
    events=(
        Message(role="user", text="Open the door."),
        Call(
            tool="open_door", arguments_json=Raw(b'{"door":1}'), id="x9", turn=1,
            result=Result(content_json=Raw(b'{"open":true}'), is_error=False),
        ),
        Message(role="assistant", text="It is open."),
        Call(tool="close_door", arguments_json=Raw(b"{}"), id="x9"),
    ),
    findings=(TraceFinding(code="TRACE_DUPLICATE_ID", message="x9 stands twice"),),
)  # fmt: skip
CASE = Case(id="c", request="Please.", expect=Expect(calls=(GoldenCall(tool="open_door"),)))


def test_keys_that_become_alike_are_kept_apart():
    context = {"zq-one-1": 1, "ZQ-one-1": 2, "[agent]": 3}
    trace = msgspec.structs.replace(TRACE, context=context, agent=Agent(model="zq-one-1"))
    shown = blind.of_rubric(ITEM, trace, None, None).context
    assert shown == {"[agent]": 1, "[agent] (2)": 2, "[agent] (3)": 3}


def test_a_whole_trace_is_seen_as_a_judge_sees_it():
    view = blind.of_rubric(ITEM, TRACE, CASE, CATALOG)
    assert (view.request, view.context) == ("Open the door.", {"state": {"open": False}})
    assert [one.get("call_id") for one in view.events or ()] == [None, "c1", None, "c2"]
    assert view.events[1]["result"] == {"is_error": False, "content": {"open": True}}
    assert [one["name"] for one in view.tools] == ["open_door", "close_door"]
    assert (view.completed, view.oddities, view.golden) == (True, ("TRACE_DUPLICATE_ID",), None)


def test_a_form_that_shows_the_golden_shows_it():
    view = blind.of_golden(ITEM, TRACE, CASE, CATALOG, with_golden=True)
    assert view.golden == ({"order": "listed", "calls": [{"tool": "open_door"}]},)
    step = Step(id="s", selected=None, expected=None)
    assert blind.of_selection(ITEM, step, None, with_expected=True).chosen == blind.Chosen(selected=None, expected=None)
    assert b"expected" not in msgspec.json.encode(blind.of_selection(ITEM, step, None))


def test_no_tool_is_a_choice_and_no_catalog_is_no_empty_one():
    step = Step(id="s", selected=None, expected="open_door")
    assert msgspec.to_builtins(blind.of_selection(ITEM, step, None).chosen) == {"selected": None}
    assert (blind.of_selection(ITEM, step, None).tools, blind.of_selection(ITEM, step, Catalog(())).tools) == (None, [])


def test_a_reading_is_a_result_and_what_the_agent_made_of_it():
    view = blind.of_interpretation(ITEM, TRACE, 0, CASE, CATALOG)
    assert view.reading.call["result"]["content"] == {"open": True}
    assert view.reading.stated == "It is open."
    assert view.reading.next_action == {"role": "assistant", "text": "It is open."}
    last = blind.of_interpretation(ITEM, TRACE, 1, CASE, CATALOG).reading
    assert (last.call["call_id"], last.stated, last.next_action) == ("c2", None, None)


def test_a_next_call_is_seen_without_what_came_of_it():
    silent = msgspec.structs.replace(TRACE, events=tuple(e for e in TRACE.events if isinstance(e, Call)))
    action = blind.of_interpretation(ITEM, silent, 0, None, None).reading.next_action
    assert action == {"call_id": "c2", "tool": "close_door", "arguments": {}}


@pytest.mark.parametrize("index", [-1, 2, 99])
def test_a_call_that_is_not_there_is_missing(index):
    assert blind.of_interpretation(ITEM, TRACE, index, None, None).missing == ("call",)


def test_the_same_is_shown_once_and_what_differs_by_side():
    who = next(f"p{n}" for n in range(99) if sides_of(ITEM, f"p{n}").left == "B")
    other = msgspec.structs.replace(TRACE, request="Shut it.")
    view = blind.of_preference(ITEM, who, (TRACE, other), None, (CATALOG, CATALOG))
    assert view.request == {"left": "Shut it.", "right": "Open the door."}
    assert view.context == {"state": {"open": False}}
    assert [one["name"] for one in view.tools] == ["open_door", "close_door"]


def test_a_view_is_of_a_type_that_has_no_place_for_anything_else():
    fields = set(blind.AdjudicationItem.__struct_fields__)
    assert fields == {
        "item", "grader", "request", "context", "tools", "events", "completed", "oddities", "golden", "chosen",
        "reading", "left", "right", "missing", "answers", "differing",
    }  # fmt: skip
    assert set(blind.Earlier.__struct_fields__) == {"fields", "unsure", "note", "evidence", "mirrored"}
