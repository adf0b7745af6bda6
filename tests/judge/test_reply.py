"""From a judge's raw text to exactly one JSON object."""

import json

import pytest

from rightcall.judge.contract import Malformed
from rightcall.judge.reply import CUT, MAX_CHARACTERS, MAX_DEPTH, MAX_OBJECTS, REFUSED, Found, find_object

KEYS = frozenset({"grade", "justification"})
OBJECT = '{"grade": "FAIL", "justification": "a chisel is no saw"}'
VALUES = {"grade": "FAIL", "justification": "a chisel is no saw"}
OTHER = '{"grade": "PASS"}'


def values_of(text, finish_reason=None, keys=KEYS):
    found = find_object(text, keys, finish_reason)
    assert isinstance(found, Found), str(found)
    return found.values


def fault_of(text, finish_reason=None, keys=KEYS):
    found = find_object(text, keys, finish_reason)
    assert isinstance(found, Malformed), found
    assert found.problems
    return found


def code_and_place(text, finish_reason=None, keys=KEYS):
    fault = fault_of(text, finish_reason, keys)
    return fault.code, fault.problems[0].path


# ---- packing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "packed",
    [
        OBJECT,
        "\ufeff" + OBJECT,
        f"  \r\n\t{OBJECT}\n\n",
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}\n```\n",
        f"~~~\n{OBJECT}\n~~~",
        f"\ufeff```JSON\r\n{OBJECT}\r\n```",
        f"Here is my assessment:\n\n{OBJECT}\n\nLet me know.",
        f"<think>A saw would do.</think>{OBJECT}",
        f"\ufeff \n<thinking>\nlong\n</thinking>\n\n```json\n{OBJECT}\n```",
        f"<REASONING>x</reasoning >{OBJECT}",
        f'<reasoning effort="high">x</reasoning>{OBJECT}',
        f"[THINK]x[/THINK]{OBJECT}",
        f"<think>{OTHER}</think>{OBJECT}",
        f'<think>shape {{"grade": ... no</think>{OBJECT}',
        f"<answer>{OBJECT}</answer>",
        f"Use of {{braces}} and {{{{NAME}}}} and ${{HOME}} and {{a, b}} is prose. {OBJECT}",
        f'The agent passed {{}} and {{"depth": 3}}. {OBJECT}',
        f"{OBJECT}\n{OBJECT}",
        f'{OBJECT}\nAgain: {{"justification":"a chisel is no saw","grade":"FAIL"}}',
        f"Citing [1] and [c1, c2]: {OBJECT}",
    ],
)
def test_packing_is_removed_and_the_object_stays_as_it_is(packed):
    assert values_of(packed) == VALUES


def test_literal_control_characters_inside_strings_are_tolerated():
    assert values_of('{"grade": "a\nb\tc\x01d"}') == {"grade": "a\nb\tc\x01d"}


def test_reasoning_tags_inside_a_string_are_data():
    text = json.dumps({"grade": "FAIL", "justification": "it holds <think>go</think> and </think> and <think>"})
    assert values_of(text) == json.loads(text)


def test_numbers_keep_their_digits():
    found = values_of('{"grade": 123456789012345678901234567890, "justification": 0.1}')
    assert found == {"grade": 123456789012345678901234567890, "justification": 0.1}


# ---- what is no reply ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " \n\t ", "\ufeff", "\ufeff\u200b \u2060", "<think>only this</think> \n"])
def test_a_blank_reply_is_empty_and_cut_if_the_limit_ended_it(text):
    assert fault_of(text).code == "JUDGE_EMPTY"
    assert fault_of(text, "stop").code == "JUDGE_EMPTY"
    assert fault_of(text, "length").code == "JUDGE_TRUNCATED"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("An excellent choice, 5 of 5.", "text"),
        ("RESULT -> PASS", "text"),
        ("true", "text"),
        ('["PASS"]', "text"),
        ("```json\n```", "text"),
        ("{grade: four}", "object at 0"),
        ("{'grade': 'PASS'}", "object at 0"),
        ("so: {“grade”: “PASS”}", "object at 4"),
        ('{"grade": "PASS",}', "object at 0"),
        ('{"grade": "PASS", // sure\n}', "object at 0"),
        ('{"grade": PASS}', "object at 0"),
        ('{"grade": "PASS"', "object at 0"),
        ('{"grade": "PA', "object at 0"),
        ("{", "object at 0"),
        ('{"grade": "said "stop" twice"}', "object at 0"),
        ('{"grade": .5}', "object at 0"),
        ('{"grade": 01}', "object at 0"),
        ('{"grade": "\\x41"}', "object at 0"),
        ('{\u00a0"grade": "PASS"}', "object at 0"),
        ('{\u200b"grade": "PASS"}', "object at 0"),
        ('"{\\"grade\\": \\"PASS\\"}"', "object at 1"),
        (f'It wrote {{"grade": "PASS", "note": "{{ and stopped. {OBJECT}', "object at 9"),
        (f"{OBJECT} as in {{'grade': 'PASS'}}", f"object at {len(OBJECT) + 7}"),
        (f"first {{ and then {OBJECT}", "object at 6"),
        (f"{{see {OBJECT} }}", "object at 0"),
        ('{"grade": "\\ud800"}', "object at 0"),
        ('{"grade": {"\\udc00": 1}}', "object at 0"),
        ('{"grade": "' + chr(0xD800) + '"}', "object at 0"),
    ],
)
def test_what_is_not_json_is_never_repaired(text, place):
    assert code_and_place(text) == ("JUDGE_NOT_JSON", place)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"[{OBJECT}]", "object at 1"),
        (f"[ 1, {OBJECT}\n]", "object at 5"),
        (f'"verdict": {OBJECT}}}', "object at 11"),
    ],
)
def test_an_object_inside_something_larger_is_no_reply(text, place):
    assert code_and_place(text) == ("JUDGE_NOT_JSON", place)


@pytest.mark.parametrize(
    "text",
    [
        f"<think>never closed {OBJECT}",
        f"<think>closed by another</thinking>{OBJECT}",
        f"<think>a</think><think>b {OBJECT}",
        f"Well. <think>drafting {OBJECT}",
        f"a draft {OBJECT} is not the answer</think>",
        f"Well. <think>{OBJECT}</think> Done.",
    ],
)
def test_an_object_inside_reasoning_is_no_reply(text):
    assert fault_of(text).code == "JUDGE_NOT_JSON"
    assert fault_of(text, "length").code == "JUDGE_TRUNCATED"


def test_a_draft_before_a_closing_tag_that_was_never_opened_counts_only_as_an_equal_of_the_answer():
    assert values_of(f"a draft {OBJECT}</think>{OBJECT}") == VALUES
    assert fault_of(f"a draft {OTHER}</think>{OBJECT}").code == "JUDGE_AMBIGUOUS"


def test_the_first_closing_tag_ends_the_reasoning_so_that_no_object_can_be_hidden():
    assert fault_of(f"<think>a</think>{OTHER}</think>{OBJECT}").code == "JUDGE_AMBIGUOUS"


def test_two_different_verdicts_are_ambiguous_and_both_places_are_named():
    text = f"It said {OTHER} to me.\n{OBJECT}"
    fault = fault_of(text)
    assert fault.code == "JUDGE_AMBIGUOUS"
    assert [problem.path for problem in fault.problems] == ["object at 8", f"object at {text.index(OBJECT)}"]


def test_a_verdict_and_its_faulty_twin_are_ambiguous():
    twice = '{"grade": "PASS", "grade": "PASS"}'
    assert fault_of(f"{OTHER} {twice}").code == "JUDGE_AMBIGUOUS"
    assert fault_of(f"{twice} {twice}").code == "JUDGE_DUPLICATE_KEY"
    assert fault_of('{"grade": 1} {"grade": true}').code == "JUDGE_AMBIGUOUS"
    assert values_of('{"grade": 1} {"grade": 1.0}') == {"grade": 1}


def test_objects_without_any_key_of_a_verdict_are_no_verdict():
    assert values_of('{"note": 1}') == {"note": 1}  # the one object there is: its reader lists what is missing
    fault = fault_of('{"note": 1} {"note": 2}')
    assert fault.code == "JUDGE_SCHEMA"
    assert [problem.path for problem in fault.problems] == ["object at 0", "object at 12"]


def test_without_keys_every_object_is_a_verdict():
    assert fault_of('{"note": 1} {"note": 2}', keys=()).code == "JUDGE_AMBIGUOUS"


# ---- inside the object --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('{"grade": "FAIL", "grade": "PASS"}', ["grade"]),
        ('{"grade": "FAIL", "grade": "FAIL", "grade": "FAIL"}', ["grade"]),
        ('{"grade": "FAIL", "justification": {"a": {"b": 1, "b": 1}}}', ["justification.a.b"]),
        ('{"grade": [{"x": 1}, {"x": 1, "x": 2}], "a": 1, "a": 2}', ["grade[1].x", "a"]),
        ('{"grade": "FAIL", "gr\\u0061de": "PASS"}', ["grade"]),
    ],
)
def test_a_key_that_stands_twice_is_named_at_any_depth(text, paths):
    fault = fault_of(text)
    assert fault.code == "JUDGE_DUPLICATE_KEY"
    assert [problem.path for problem in fault.problems] == paths


def test_duplicate_keys_of_an_object_in_the_prose_do_not_matter():
    assert values_of(f'Its arguments {{"a": 1, "a": 2}} were odd. {OBJECT}') == VALUES


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_number_that_is_none_is_named_with_its_place(literal):
    fault = fault_of(f'{{"grade": "FAIL", "a": [0, {literal}]}}')
    assert (fault.code, fault.problems[0].path) == ("JUDGE_NON_FINITE", literal)
    assert "`a[1]`" in fault.problems[0].message


def test_duplicate_keys_and_non_finite_numbers_are_listed_together():
    fault = fault_of('{"grade": NaN, "a": 1, "a": 1e999}')
    assert fault.code == "JUDGE_DUPLICATE_KEY"
    assert [problem.path for problem in fault.problems] == ["a", "NaN", "1e999"]


# ---- why the model stopped ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("finish", [*sorted(CUT), "LENGTH", "MAX_TOKENS"])
def test_a_reply_that_the_limit_cut_is_truncated_and_says_what_was_there(finish):
    fault = fault_of(OBJECT[:20], finish)
    assert fault.code == "JUDGE_TRUNCATED"
    assert [problem.path for problem in fault.problems] == ["finish_reason", "object at 0"]
    assert "output token limit" in fault.problems[0].message


@pytest.mark.parametrize("text", [OBJECT, f"Here:\n```json\n{OBJECT}\n```", f"{OBJECT}\n``"])
def test_a_whole_object_that_ends_a_cut_reply_is_read_and_that_is_noted(text):
    found = find_object(text, KEYS, "length")
    assert found.values == VALUES
    assert [problem.path for problem in found.noted] == ["finish_reason"]


def test_a_cut_reply_that_goes_on_after_its_object_is_truncated():
    assert fault_of(f"{OBJECT} On second thought", "length").code == "JUDGE_TRUNCATED"


def test_a_cut_reply_keeps_the_faults_of_a_whole_object():
    assert fault_of(f"{OTHER}{OBJECT}", "length").code == "JUDGE_AMBIGUOUS"
    assert fault_of('{"grade": NaN}', "length").code == "JUDGE_NON_FINITE"
    assert fault_of('{"grade": 1, "grade": 1}', "length").code == "JUDGE_DUPLICATE_KEY"


@pytest.mark.parametrize("finish", [*sorted(REFUSED), "SAFETY", "Content_Filter"])
@pytest.mark.parametrize("text", ["", "no", OBJECT])
def test_a_refusal_by_the_provider_is_one_whatever_the_text_says(finish, text):
    assert code_and_place(text, finish) == ("JUDGE_REFUSAL", "finish_reason")


@pytest.mark.parametrize("finish", [None, "", "stop", "other", "end_turn"])
def test_any_other_reason_to_stop_changes_nothing(finish):
    assert values_of(OBJECT, finish) == VALUES


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that request.",
        "I’m sorry, but I can’t help with this.",
        "I cannot evaluate this conversation.",
        "Sorry, I am unable to provide a grade here.",
        "<think>hm</think>\nI apologize, but I won't comply.",
        "Unfortunately, I must decline to judge this.",
        "As an AI model, I am not able to answer that.",
    ],
)
def test_a_text_that_only_declines_is_a_refusal(text):
    assert code_and_place(text) == ("JUDGE_REFUSAL", "text")
    assert fault_of(text, "length").code == "JUDGE_TRUNCATED"


@pytest.mark.parametrize(
    "text",
    [
        "I can't tell whether it is PASS.",
        "The agent cannot help here, so FAIL.",
        "The judge says: I cannot assist.",
        "Sorry for the delay. The grade is PASS.",
        "I'm sorry, but I can't assist with that." + " Really." * 400,
    ],
)
def test_prose_that_is_no_refusal_is_just_not_json(text):
    assert fault_of(text).code == "JUDGE_NOT_JSON"


def test_a_refusal_before_a_whole_object_is_prose():
    assert values_of(f"I'm sorry, I can't grade tone, only tools. {OBJECT}") == VALUES


# ---- limits -------------------------------------------------------------------------------------------------------


def nested(depth, inner="1"):
    return '{"grade": ' + "[" * (depth - 1) + inner + "]" * (depth - 1) + "}"


def test_the_deepest_permitted_nesting_is_read_and_one_level_more_is_not():
    assert isinstance(find_object(nested(MAX_DEPTH), KEYS), Found)
    assert code_and_place(nested(MAX_DEPTH + 1)) == ("JUDGE_NOT_JSON", "object at 0")


def test_brackets_inside_strings_do_not_nest():
    text = json.dumps({"grade": '[{"\\' * 500})
    assert values_of(text) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        '{"grade": ' + "[" * 10_000,
        "{" * 100_000,
        '{"' + '\\"' * 100_000,
        '{"grade": ' + "9" * 10_000 + "}",
        OBJECT + " {}" * (MAX_OBJECTS + 1),
        OBJECT + "x" * MAX_CHARACTERS,
        " " * (MAX_CHARACTERS + 1),
        "x" * 5_000_000,
        "<think>" * 10_000,
    ],
    ids=["deep", "deep-open", "braces", "quotes", "digits", "objects", "long", "blank", "5MB", "tags"],
)
def test_hostile_sizes_give_a_code(text):
    assert fault_of(text).code == "JUDGE_NOT_JSON"
    assert fault_of(text, "length").code == "JUDGE_TRUNCATED"


def test_a_reply_just_within_the_limits_is_read():
    assert values_of(OBJECT + " " * (MAX_CHARACTERS - len(OBJECT))) == VALUES
    assert values_of("{}" * (MAX_OBJECTS - 1) + OBJECT) == VALUES


def test_a_hopeless_reply_lists_its_first_problems_and_counts_the_rest():
    text = '{"grade": [' + ", ".join(["NaN"] * 250) + "]}"
    problems = fault_of(text).problems
    assert len(problems) == 101
    assert "150 more" in problems[-1].message
