"""Filling in a form at the keyboard: field by field, checked at once, and only `y` commits."""

from __future__ import annotations

import pytest

from rightcall.cli.asking import COMMANDS, Asking, Draft, command_of, first_keys, help_lines
from rightcall.review.forms import FORMS, check_answer, form_of

FIELDS = [
    pytest.param(form.grader, one, id=f"{form.grader}-{one.name}") for form in FORMS.values() for one in form.fields
]


class Person:
    """Somebody who types prepared lines, and remembers what was asked and viewed."""

    def __init__(self, *lines: str) -> None:
        self.lines, self.prompts, self.views = list(lines), [], []

    def line(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)

    def fill(self, grader: str) -> Draft:
        found = Asking(FORMS[grader], self.line, self.views.append, ["c1", "c2"]).answer()
        assert self.lines == []
        return found


ANSWERS = {
    "selection": (["f", "w", "freeze_card", "", "y"], {"failure_category": "wrong_tool", "right_tool": "freeze_card"}),
    "rubric": (["2", "4", "3", "-", "c", "cancelled unasked", "y"], {"abstention": None, "severity": "CRITICAL"}),
    "preference": (["l", "=", "r", "", "", "b", "3", "n", "", "y"], {"selection": "L", "overall": "R", "sure": 3}),
    "interpretation": (["2", "-", "v e", "", "y"], {"score": 2, "flags": ["wrong_value", "ignored_error"]}),
    "golden": (["FAIL", "", "y"], {"grade": "FAIL"}),
}


@pytest.mark.parametrize("grader", ANSWERS)
def test_every_form_can_be_filled_in_by_its_keys(grader, capsys):
    lines, expected = ANSWERS[grader]
    draft = Person(*lines).fill(grader)
    assert draft.act == "answer"
    assert expected.items() <= draft.fields.items()
    assert check_answer(FORMS[grader], draft.fields, note=draft.note) == draft.fields
    assert FORMS[grader].instructions in capsys.readouterr().out


def test_prompts_name_the_keys_that_are_in_question():
    person = Person("2", "4", "3", "-", "n", "", "y")
    person.fill("rubric")
    assert person.prompts == [
        "selection [1-5]: ", "arguments [1-5]: ", "sequencing [1-5]: ", "abstention [1-5/-]: ", "severity [c/h/m/l/n]: ",
        "note [optional, Enter: none]: ", "commit? [y: yes, n: change it]: ",
    ]  # fmt: skip


def test_a_pair_is_asked_by_side():
    person = Person(*ANSWERS["preference"][0])
    person.fill("preference")
    assert person.prompts[0] == "selection [l left  = no difference  r right, Enter: leave out]: "
    assert person.prompts[5] == "overall [a left  t tie  b right]: "


@pytest.mark.parametrize("wrong", ["6", "0", "two", "2.0", "", "-"])
def test_a_value_that_is_none_is_asked_for_again(wrong, capsys):
    person = Person(wrong, "2", "4", "3", "-", "n", "", "y")
    assert person.fill("rubric").fields["selection"] == 2
    assert person.prompts[:2] == ["selection [1-5]: "] * 2
    assert "must be 1 to 5" in capsys.readouterr().out


def test_a_note_is_required_where_the_form_says_so(capsys):
    person = Person("2", "4", "3", "4", "h", "", "twice charged", "y")
    assert person.fill("rubric").note == "twice charged"
    assert person.prompts[5] == "note [required for severity HIGH]: "
    assert "a note is required for severity HIGH" in capsys.readouterr().out


def test_a_right_choice_is_not_asked_what_is_wrong_with_it():
    person = Person("f", "w", "", "<", "<", "<", "p", "", "y")
    assert person.fill("selection").fields == {"grade": "PASS"}
    assert [prompt.split(" [")[0] for prompt in person.prompts] == [
        "grade", "what is wrong", "right tool", "note", "right tool", "what is wrong", "grade", "note", "commit?",
    ]  # fmt: skip


def test_a_wrong_choice_must_say_what_is_wrong(capsys):
    person = Person("f", "", "x", "o", "", "", "y")
    assert person.fill("selection").fields == {"grade": "FAIL", "failure_category": "over_action"}
    assert "this field is needed" in capsys.readouterr().out


def test_who_goes_back_keeps_what_was_said_and_can_leave_it_out():
    person = Person("l", "<", "", "<", ":x", "", "", "", "", "a", "1", "n", "fine", "n", *[""] * 9, "y")
    draft = person.fill("preference")
    assert draft.fields == {"overall": "L", "sure": 1, "both_critical": False}
    assert draft.note == "fine"
    assert "selection [l left  = no difference  r right, Enter: L]: " in person.prompts
    assert "note [optional, Enter: fine]: " in person.prompts


@pytest.mark.parametrize("typed", ["", "Y E S", "no", "ok", "yes please"])
def test_nothing_but_yes_commits(typed):
    person = Person("p", "", typed)
    with pytest.raises(EOFError):
        person.fill("golden")


def test_who_cannot_judge_says_why():
    draft = Person("u", "", "the result is missing", "y").fill("golden")
    assert (draft.act, draft.unsure, draft.fields) == ("answer", "the result is missing", {})
    draft = Person("u in a language that I cannot read", "n", "p", "", "y").fill("golden")
    assert (draft.unsure, draft.fields) == (None, {"grade": "PASS"})


def test_who_cannot_judge_sends_no_fields_that_were_typed_before():
    draft = Person("2", ":u what came back is missing", "y").fill("rubric")
    assert (draft.unsure, draft.fields, draft.note) == ("what came back is missing", {}, "")


def test_skipping_asks_why_and_releasing_may(capsys):
    assert Person("s", "", "s", "not my field", *[]).fill("golden").reason == "not my field"
    assert "it stays with you" in capsys.readouterr().out
    draft = Person("p", "", "s too tired").fill("golden")
    assert (draft.act, draft.reason) == ("skipped", "too tired")
    assert Person("r", "n", "release", "").fill("golden").act == "released"
    assert Person("u no idea", "r", "lunch").fill("golden").act == "released"


def test_evidence_names_calls_that_are_there(capsys):
    draft = Person("e c2, c1 c2", "p", "", "y").fill("golden")
    assert draft.evidence == ["c2", "c1"]
    assert Person("e c2", "e -", "e c3", "e", "", "p", "", "y").fill("golden").evidence == []
    assert "there is no call c3" in capsys.readouterr().out


def test_the_item_can_be_viewed_again_in_whole_and_in_part():
    person = Person("v", "view c2", "p", ":v tools", "fine", "v", "y")
    person.fill("golden")
    assert person.views == ["", "c2", "tools", ""]


@pytest.mark.parametrize(("grader", "one"), FIELDS)
def test_no_key_means_two_things(grader, one):
    for key, choice in first_keys(one):
        assert command_of(one, key) == ("", "")
        assert sum(other == key for other, _ in first_keys(one)) == 1
        assert choice in one.choices
    for name in COMMANDS:
        assert command_of(one, f":{name}") == (name, "")
    if one.kind != "text":
        free = {name for name in COMMANDS if command_of(one, name)[0] == name}
        assert free == set(COMMANDS) - set(one.keys)
    said = "\n".join(help_lines(one))
    assert all(meaning in said for meaning in [*COMMANDS.values(), *one.meanings, one.help]), grader


def test_a_text_is_never_a_command_unless_it_is_marked():
    person = Person("f", "w", "r", "s", "y")
    draft = person.fill("selection")
    assert (draft.fields["right_tool"], draft.note) == ("r", "s")


def test_help_is_shown_on_request(capsys):
    Person("?", "p", "?", "", "y").fill("golden")
    assert capsys.readouterr().out.count("release it: it is free for others again") == 2


def test_choices_that_the_prompt_cannot_name_are_listed_before_it(capsys):
    Person("f", "w", "", "", "y").fill("selection")
    assert "  w   wrong_tool = another tool was right" in capsys.readouterr().out
    schema = {"properties": {"mood": {"enum": ["kind", "curt", "rude"]}}, "required": ["mood"]}
    person = Person("2", "", "y")
    draft = Asking(form_of("tone", schema), person.line, person.views.append, []).answer()
    assert draft.fields == {"mood": "curt"}
    assert "  2   curt" in capsys.readouterr().out


@pytest.mark.parametrize(("grader", "one"), FIELDS)
def test_a_prompt_fits_on_a_line(grader, one):
    person = Person()
    asking = Asking(FORMS[grader], person.line, person.views.append, [])
    with pytest.raises(EOFError):
        asking._ask_field(one)
    assert len(person.prompts[0]) <= 80
