"""The screen of a review item: everything that is to be judged, nothing that is to be hidden, nothing that plays tricks."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from rightcall.case.case import Case
from rightcall.case.step import Step
from rightcall.report.review.screen import cited_ids, print_earlier, print_item, print_part, said_by
from rightcall.review.blind import (
    for_adjudication,
    nothing_to_show,
    of_golden,
    of_interpretation,
    of_preference,
    of_rubric,
    of_selection,
)
from rightcall.review.forms import FORMS
from rightcall.review.sides import sides_of
from rightcall.store.records import AnswerRecord
from rightcall.trace.catalog import Catalog
from rightcall.trace.model import Agent, Label, Message, Tool, Trace, TraceFinding, call

SECRETS = {
    "model": "planted-model-7", "agent": "planted-agent-a1", "version": "planted-version-2.1", "label": "plantedlabel",
    "who": "plantedperson", "unit": "planted-trace-id", "case": "planted-case-id", "run": "20990101-77",
    "speaker": "planted-speaker-x", "other": "planted-agent-b2",
}  # fmt: skip
ITEM = "rv-" + "ab12cd34" * 8
CATALOG = Catalog((Tool(name="open_gate", description="Opens a gate.", parameters={"properties": {"gate": {}}}),))


def trace(agent: str = "agent", text: str = "It is open.", **more) -> Trace:
    """A trace whose identity is planted wherever a trace has a place for it."""
    known = {
        "id": SECRETS["unit"], "case_id": SECRETS["case"], "request": "Open gate 3.",
        "context": {"agent": SECRETS[agent], "model": SECRETS["model"], "rule": "Gates close at dusk."},
        "agent": Agent(name=SECRETS[agent], version=SECRETS["version"], model=SECRETS["model"]),
        "events": (
            Message(role="user", text="Open gate 3.", turn=0),
            call("open_gate", {"gate": 3}, result={"state": "open"}, turn=1),
            Message(role="assistant", text=text, agent=SECRETS["speaker"], turn=2),
        ),
        "labels": (Label(name=SECRETS["label"], value="FAIL", by=SECRETS["who"]),), "metadata": {"run": SECRETS["run"]},
        "completed": False, "findings": (TraceFinding(code="CLOCK_SKEW", message=SECRETS["unit"]),),
    }  # fmt: skip
    return Trace(**known | more)


CASE = Case(id=SECRETS["case"], tags=(SECRETS["label"],))
STEP = Step(
    id=SECRETS["unit"], selected="open_gate", expected="plantedexpected", request="Open gate 3.",
    metadata={"by": SECRETS["agent"]}, trace_id=SECRETS["unit"], case_id=SECRETS["case"], tags=(SECRETS["label"],),
)  # fmt: skip


def views(text: str = "It is open."):
    """One blind view for each grader."""
    one, other = trace(text=text), trace("other", text + " Good bye.")
    return {
        "selection": of_selection(ITEM, STEP, CATALOG),
        "rubric": of_rubric(ITEM, one, CASE, CATALOG),
        "golden": of_golden(ITEM, one, CASE, CATALOG),
        "interpretation": of_interpretation(ITEM, one, 0, CASE, CATALOG),
        "preference": of_preference(ITEM, "dana", (one, other), CASE, (CATALOG, CATALOG)),
    }


def shown(item, width: int = 80, part: str | None = None, *, colour: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=colour, color_system="truecolor" if colour else None)
    if part is None:
        print_item(console, item)
        print_earlier(console, item, FORMS[item.grader])
    else:
        print_part(console, item, part)
    return stream.getvalue()


@pytest.mark.parametrize("grader", FORMS)
@pytest.mark.parametrize("width", [40, 80, 140])
def test_the_screen_shows_the_task_and_never_who_acted_or_what_was_said_about_it(grader, width):
    item = views()[grader]
    text = shown(item, width)
    for part in ("tools", "request", "context", "c1", "m1", "left:c1"):
        text += shown(item, width, part)
    text += shown(item, width, colour=True)
    assert [secret for secret in [*SECRETS.values(), "plantedexpected"] if secret in text.replace("\n", "")] == []
    assert "Open gate 3." in text
    assert "open_gate" in text
    assert max(map(len, shown(item, width).splitlines())) <= width


def test_every_grader_shows_what_is_to_be_judged():
    flat = {grader: " ".join(shown(item).split()) for grader, item in views().items()}
    assert "chosen open_gate" in flat["selection"]
    assert 'c1 open_gate gate=3 → {"state":"open"}' in flat["rubric"]
    assert "assistant It is open." in flat["golden"]
    assert "the run did not come to its end" in flat["golden"]
    assert "odd about the recording: CLOCK_SKEW" in flat["golden"]
    assert "reading It is open." in flat["interpretation"]
    assert re.search(r"LEFT ─+ .*c1 = open_gate gate=3.*RIGHT ─+ .*c1 = open_gate", flat["preference"])
    assert "= the same call stands on both sides" in flat["preference"]


def test_no_tool_no_reading_and_no_next_action_are_said():
    step = Step(id="s", selected=None, expected=None, request="Hello")
    assert "chosen (no tool)" in " ".join(shown(of_selection(ITEM, step, None)).split())
    silent = trace(events=(call("open_gate", {"gate": 3}, result="ok"),))
    text = " ".join(shown(of_interpretation(ITEM, silent, 0, None, None)).split())
    assert "reading (the agent said nothing)" in text
    assert "next (nothing)" in text


def test_what_is_not_on_record_is_said():
    assert "not on record: trace" in shown(nothing_to_show(ITEM, "rubric", "trace"))


def test_a_wide_screen_puts_a_pair_side_by_side():
    wide = shown(views()["preference"], 140).splitlines()
    assert any("LEFT" in line and "RIGHT" in line for line in wide)
    assert any(line.count("open_gate gate=3") == 2 for line in wide)


def test_the_sides_of_a_pair_are_those_of_the_person():
    pair = (trace(text="I am the first."), trace("other", "I am the second."))
    for who in ("ana", "bo", "cem", "dana"):
        text = shown(of_preference(ITEM, who, pair, CASE))
        is_first_left = text.index("I am the first.") < text.index("I am the second.")
        assert is_first_left == (sides_of(ITEM, who).left == "A")


def test_an_adjudicator_sees_the_answers_without_names():
    def said(who: str, **fields) -> AnswerRecord:
        return AnswerRecord(
            item=ITEM, run_id=SECRETS["run"], grader="rubric", unit="u", who=who, at="2026-11-29T10:00:00+00:00",
            fields=fields, note="no check before", evidence=("c1",),
        )  # fmt: skip

    answers = [said("plantedperson", selection=1, severity="HIGH"), said("planted-agent-b2", selection=4)]
    text = shown(for_adjudication(views()["rubric"], answers, ["selection"]))
    assert "2 answers that differ on selection: you decide" in text
    flat = " ".join(text.split())
    assert "selection 1 · severity HIGH note: no check before evidence: c1" in flat
    assert [secret for secret in SECRETS.values() if secret in text] == []


def test_words_about_sides_that_were_the_other_way_round_are_marked():
    other = next(who for who in "abcdefgh" if sides_of(ITEM, who).left != sides_of(ITEM, "dana").left)
    same = next(who for who in "abcdefgh" if sides_of(ITEM, who).left == sides_of(ITEM, "dana").left)
    answers = [
        AnswerRecord(
            item=ITEM, run_id="r", grader="preference", unit="u", who=who, at="2026-11-29T10:00:00+00:00",
            fields={"overall": "A"}, note=f"{word} is better", seed="seed", evidence=("A:c1",),
        )
        for who, word in ((other, "zqleft"), (same, "zqright"))
    ]  # fmt: skip
    found = for_adjudication(views()["preference"], answers, ["overall"], sides_of(ITEM, "dana"))
    flat = " ".join(shown(found).split())
    assert "note (written with the sides the other way round): zqleft is better" in flat
    assert "note: zqright is better" in flat
    assert flat.count(f"evidence: {'left' if sides_of(ITEM, 'dana').left == 'A' else 'right'}:c1") == 2


def test_evidence_names_calls_and_of_a_pair_the_side_too():
    found = {grader: cited_ids(item) for grader, item in views().items()}
    assert found == {
        "selection": [], "rubric": ["c1"], "golden": ["c1"], "interpretation": ["c1"],
        "preference": ["left:c1", "right:c1"],
    }  # fmt: skip


def test_a_part_that_is_not_there_is_said():
    assert "there is no c9" in shown(views()["rubric"], part="c9")


def test_an_answer_is_written_with_the_labels_of_its_form():
    fields = {"score": 2, "action_score": None, "flags": [], "more": True}
    assert said_by(FORMS["interpretation"], fields) == "reading 2 · next action – · what was misread none · more yes"
    assert said_by(FORMS["golden"], {}, "no result") == "cannot judge it: no result"


HOSTILE = "\x1b]0;t\x07\x1b[2J\x9b1A\r\u202e\u2066\u200b\ufeff\x08\x7f"


@pytest.mark.parametrize("grader", FORMS)
def test_text_of_a_trace_cannot_move_the_cursor_or_hide_itself(grader):
    step = Step(id="s", selected=HOSTILE, expected=None, request=HOSTILE, context={HOSTILE: HOSTILE})
    hostile = trace(
        request=HOSTILE, context=HOSTILE, findings=(TraceFinding(code=HOSTILE, message=""),),
        events=(call(HOSTILE, {HOSTILE: HOSTILE}, result=HOSTILE), Message(role="assistant", text=HOSTILE)),
    )  # fmt: skip
    catalog = Catalog((Tool(name=HOSTILE, description=HOSTILE, parameters={"properties": {HOSTILE: {}}}),))
    item = {
        "selection": of_selection(ITEM, step, catalog),
        "interpretation": of_interpretation(ITEM, hostile, 0, None, catalog),
        "preference": of_preference(ITEM, "dana", (hostile, hostile), None, (catalog, catalog)),
    }.get(grader) or of_rubric(ITEM, hostile, None, catalog, grader=grader)
    text = shown(item) + "".join(shown(item, part=part) for part in ("tools", "request", "context", "c1", HOSTILE))
    assert set(HOSTILE) & set(text) <= set("]0;t[2J1A")
    assert "\\u001b" in text


@settings(deadline=None)
@given(st.text(max_size=200), st.integers(20, 160))
def test_whatever_an_agent_says_is_shown_within_the_width(text, width):
    for item in views(text).values():
        said = shown(item, width)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", said)
        assert [secret for secret in SECRETS.values() if secret in said] == []
