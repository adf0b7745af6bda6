"""Answers are checked and never coerced; what is typed is read by key or as it is written; all faults are listed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_making import GOOD

from rightcall.errors import ConfigError
from rightcall.review.form import LONGEST
from rightcall.review.forms import FORMS, check_answer, faults_of, form_of, read_field, read_typed, stored_form

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=8)
    | st.sampled_from(["PASS", "FAIL", "L", "R", "T", "CRITICAL", "invented", "2", "wrong_tool"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)  # fmt: skip


def refused(grader, fields, **more):
    with pytest.raises(ConfigError) as caught:
        check_answer(FORMS[grader], fields, **more)
    return caught.value.message


# ---- checking ----


@pytest.mark.parametrize("grader", FORMS)
def test_a_complete_answer_is_kept_as_it_is_given(grader):
    assert check_answer(FORMS[grader], GOOD[grader]) == GOOD[grader]


@pytest.mark.parametrize("grader", FORMS)
def test_a_field_that_is_missing_is_missing(grader):
    for field in FORMS[grader].fields:
        if not field.optional:
            left = {name: value for name, value in GOOD[grader].items() if name != field.name}
            assert f"`{field.name}` is missing" in refused(grader, left)


@pytest.mark.parametrize("value", ["2", 2.0, True, 0, 6, None, [2], {"level": 2}, "two", "PASS"])
def test_a_value_is_never_coerced_clamped_or_guessed(value):
    assert "`selection` must be 1 to 5, not " in refused("rubric", GOOD["rubric"] | {"selection": value})


def test_everything_that_is_wrong_is_listed_at_once():
    said = refused("rubric", {"selection": 9, "argument": 3, "severity": "HIGH", "abstention": "-"})
    assert said == (
        "`argument` is no field of rubric (did you mean `arguments`?); `selection` must be 1 to 5, not 9; "
        "`arguments` is missing; `sequencing` is missing; `abstention` must be 1, 2, 3, 4, 5, null, not -; "
        "a note is required for severity HIGH"
    )


def test_not_at_issue_is_said_and_not_left_out():
    left = {name: value for name, value in GOOD["rubric"].items() if name != "abstention"}
    assert refused("rubric", left) == "`abstention` is missing"
    assert check_answer(FORMS["rubric"], left | {"abstention": None})["abstention"] is None


@pytest.mark.parametrize("severity", ["CRITICAL", "HIGH"])
def test_critical_and_high_need_a_note(severity):
    fields = GOOD["rubric"] | {"severity": severity}
    assert refused("rubric", fields, note=" \n") == f"a note is required for severity {severity}"
    assert check_answer(FORMS["rubric"], fields, note="the card is gone")["severity"] == severity


def test_what_failed_is_said_with_a_fail_and_only_there():
    assert refused("selection", {"grade": "FAIL"}) == "`failure_category` is required for FAIL"
    both = {"grade": "PASS", "failure_category": "wrong_tool"}
    assert refused("selection", both) == "`failure_category` stands only with FAIL"
    good = {"grade": "FAIL", "failure_category": "wrong_tool", "right_tool": "freeze_card"}
    assert check_answer(FORMS["selection"], good) == good


def test_an_optional_field_can_be_left_out_in_two_ways():
    assert check_answer(FORMS["selection"], {"grade": "PASS", "right_tool": None}) == {"grade": "PASS"}


def test_several_choices_are_a_list_without_repetition():
    fields = GOOD["interpretation"]
    assert check_answer(FORMS["interpretation"], fields | {"flags": ("invented",)})["flags"] == ["invented"]
    assert "names the same thing twice" in refused("interpretation", fields | {"flags": ["invented", "invented"]})
    assert "must only hold wrong_value, " in refused("interpretation", fields | {"flags": ["invented", 1]})
    assert "must be a list of " in refused("interpretation", fields | {"flags": "invented"})


def test_who_cannot_judge_says_why_and_gives_nothing_else():
    assert check_answer(FORMS["golden"], {}, unsure="the result was cut") == {}
    assert refused("golden", {"grade": "PASS"}, unsure="cut") == "who cannot judge gives no `grade`"
    assert refused("golden", {}, unsure="  ") == "it is not said why this cannot be judged"


def test_texts_have_a_limit():
    long = "x" * (LONGEST + 1)
    assert "the note has more than 20,000 characters" in refused("golden", GOOD["golden"], note=long)
    assert "the reason has more than" in refused("golden", {}, unsure=long)
    assert "`right_tool` has more than" in refused("selection", {"grade": "PASS", "right_tool": long})
    assert "`right_tool` must be a text" in refused("selection", {"grade": "PASS", "right_tool": " "})


@given(st.sampled_from(sorted(FORMS)), st.dictionaries(st.sampled_from(["grade", "score", "overall", "x"]), JSON), JSON)
def test_whatever_is_accepted_holds_only_permitted_values(grader, fields, value):
    form = FORMS[grader]
    tried = GOOD[grader] | fields | {form.fields[0].name: value}
    if any(faults_of(form, tried, note="n")):
        with pytest.raises(ConfigError):
            check_answer(form, tried, note="n")
        return
    for name, kept in check_answer(form, tried, note="n").items():
        field = form.field(name)
        if field.kind == "text":
            assert isinstance(kept, str)
        else:
            values = kept if field.many else [kept]
            assert all(any(type(one) is type(c) and one == c for c in field.choices) for one in values)
    assert check_answer(form, check_answer(form, tried, note="n"), note="n") == check_answer(form, tried, note="n")


# ---- the forms themselves ----


@pytest.mark.parametrize("grader", FORMS)
def test_every_choice_has_a_key_and_no_key_stands_for_nothing(grader):
    for form in (FORMS[grader], stored_form(FORMS[grader])):
        for field in form.fields:
            assert set(field.keys.values()) == set(field.choices), field.name
            assert not field.meanings or len(field.meanings) == len(field.choices)


def test_no_form_shows_the_golden():
    assert not any(form.shows_golden for form in FORMS.values())


def test_a_pair_stands_on_record_by_agent():
    form = stored_form(FORMS["preference"])
    assert form.field("overall").choices == ("A", "TIE", "B")
    assert form.field("selection").choices == ("A", "=", "B")
    assert check_answer(form, {"overall": "TIE", "sure": 1, "both_critical": True})["overall"] == "TIE"
    with pytest.raises(ConfigError, match="must be A, TIE, B, not L"):
        check_answer(form, {"overall": "L", "sure": 1, "both_critical": True})
    assert stored_form(FORMS["rubric"]) is FORMS["rubric"]


# ---- reading what was typed ----


@pytest.mark.parametrize("grader", FORMS)
def test_every_key_and_every_value_as_it_is_written_is_read_back(grader):
    for form in (FORMS[grader], stored_form(FORMS[grader])):
        for field in form.fields:
            for key, choice in field.keys.items():
                assert read_field(field, f" {key.upper()} ") == ([choice] if field.many else choice)
            for choice in field.choices:
                text = {None: "null", True: "true", False: "false"}.get(choice, str(choice)) if choice != 1 else "1"
                text = str(choice).lower() if isinstance(choice, bool) else text
                assert read_field(field, text) == ([choice] if field.many else choice)


def test_what_is_typed_becomes_values_and_blanks_are_left_out():
    texts = {"selection": "4", "arguments": "2", "sequencing": " 5", "abstention": "-", "severity": "c"}
    values = {"selection": 4, "arguments": 2, "sequencing": 5, "abstention": None, "severity": "CRITICAL"}
    assert read_typed(FORMS["rubric"], texts) == values
    assert read_typed(FORMS["selection"], {"grade": "p", "right_tool": "", "odd": "1"}) == {"grade": "PASS", "odd": "1"}
    assert read_typed(FORMS["interpretation"], {"flags": "n, wrong_unit"}) == {"flags": ["invented", "wrong_unit"]}
    assert read_typed(FORMS["interpretation"], {"flags": ""}) == {"flags": []}


@pytest.mark.parametrize("text", ["6", "2.0", "2.", "+2", "02", "two", "c", "true", "\uff12"])
def test_a_text_that_is_no_value_is_refused(text):
    with pytest.raises(ConfigError, match="`score` must be 1 to 5, not"):
        read_typed(FORMS["interpretation"], {"score": text})


def test_all_texts_that_are_no_values_are_listed():
    with pytest.raises(ConfigError) as caught:
        read_typed(FORMS["rubric"], {"selection": "x", "severity": "worst"})
    assert caught.value.message.count("must be") == 2


def test_beside_a_text_that_is_no_value_whatever_else_is_wrong_is_listed_too():
    with pytest.raises(ConfigError) as caught:
        read_typed(FORMS["rubric"], {"selection": "6", "arguments": "4", "odd": "1", "severity": "c"})
    said = caught.value.message.split("; ")
    assert said == [
        "`selection` must be 1 to 5, not 6", "`odd` is no field of rubric", "`sequencing` is missing",
        "`abstention` is missing", "a note is required for severity CRITICAL",
    ]  # fmt: skip
    with pytest.raises(ConfigError) as caught:
        read_typed(FORMS["rubric"], {"selection": "6", "arguments": "4"}, unsure="no result")
    said = caught.value.message.split("; ")
    assert said == ["`selection` must be 1 to 5, not 6", "who cannot judge gives no `arguments`"]


def test_a_text_that_only_reads_like_a_value_is_refused_in_quotation_marks():
    with pytest.raises(ConfigError, match='`selection` must be 1 to 5, not "1"; '):
        check_answer(FORMS["rubric"], {"selection": "1"})
    with pytest.raises(ConfigError, match="`selection` must be 1 to 5, not one; "):
        check_answer(FORMS["rubric"], {"selection": "one"})


# ---- graders of users' own ----

SCHEMA = {
    "type": "object",
    "required": ["polite", "tone", "level", "why"],
    "properties": {
        "polite": {"type": "boolean", "description": "Was it polite?"},
        "tone": {"enum": ["warm", "cold"]},
        "level": {"type": ["integer", "null"], "minimum": 1, "maximum": 5},
        "share": {"type": "number"},
        "parts": {"type": "array"},
        "why": {"type": "string"},
        "odd": True,
    },
}


def test_a_form_of_ones_own_has_the_simple_fields_of_its_schema():
    form = form_of("tone", SCHEMA)
    assert [(one.name, one.kind, one.optional) for one in form.fields] == [
        ("polite", "choice", False), ("tone", "choice", False), ("level", "level", False), ("why", "text", True),
    ]  # fmt: skip
    assert form.field("polite").help == "Was it polite?"
    assert form.field("level").choices == (1, 2, 3, 4, 5, None)
    typed = read_typed(form, {"polite": "y", "tone": "2", "level": "-", "why": "it was"})
    assert check_answer(form, typed) == {"polite": True, "tone": "cold", "level": None, "why": "it was"}


def test_whole_numbers_are_a_scale_whether_listed_or_between_bounds():
    parts = {"a": {"type": "integer", "enum": [3, 1, 2, 5, 4]}, "b": {"type": "integer", "minimum": 0, "maximum": 2}}
    form = form_of("mine", {"properties": parts | {"c": {"type": ["integer", "null"], "enum": [2, None, 1]}}})
    assert [(one.kind, one.choices, one.tolerance) for one in form.fields] == [
        ("level", (1, 2, 3, 4, 5), 1), ("level", (0, 1, 2), 0), ("level", (1, 2, None), 0),
    ]  # fmt: skip


@pytest.mark.parametrize("schema", [None, {}, {"properties": {"a": {"type": "string"}}}, {"properties": [1]}])
def test_without_simple_fields_one_text_is_asked(schema):
    form = form_of("mine", schema)
    assert [(one.name, one.kind, one.optional) for one in form.fields] == [("answer", "text", False)]


@pytest.mark.parametrize(
    "part",
    [{"enum": [[1], 2]}, {"type": "integer", "minimum": 0, "maximum": 99}, {"type": "integer"}, {"type": "number"}],
)
def test_what_is_no_simple_choice_becomes_no_field(part):
    assert form_of("mine", {"properties": {"ok": {"type": "boolean"}, "odd": part}}).field("odd") is None


def test_our_graders_keep_their_own_forms():
    assert form_of("rubric", SCHEMA) is FORMS["rubric"]
