"""Filling a template: one pass, values as JSON between fences, nothing missing, nothing that plays structure."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from rightcall.case.step import Step
from rightcall.judge import fences
from rightcall.judge.ask import MissingValue, ask, input_sha256
from rightcall.judge.contract import Suspicion
from rightcall.judge.fences import fenced, nonce_of, rendered
from rightcall.judge.library import reply_schema, template
from rightcall.judge.placeholders import TRACE_LEVEL
from rightcall.judge.template import parse_template
from rightcall.judge.views import rubric_values, selection_values
from rightcall.trace.catalog import Catalog
from rightcall.trace.digest import canonical, digest
from rightcall.trace.history import history
from rightcall.trace.jsontext import same
from rightcall.trace.model import Call, Result, Tool, Trace, call

NONCE = "9f2c41d07ab3"
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def made(case, names, grader="courtesy", optional=()):
    schema = "reply_schema: {type: object, properties: {ok: {type: boolean}}}"
    return parse_template(
        f"---\nid: p\nversion: 1\ngrader: {grader}\nplaceholders: [{', '.join(names)}]\n"
        f"optional: [{', '.join(optional)}]\n{schema if grader == 'courtesy' else ''}\n---\nJudge.\n=== case ===\n{case}"
    )


def asked(prompt, values, **more):
    return ask(prompt, values, nonce=NONCE, reply_schema=SCHEMA, **more)


def blocks(user, nonce=NONCE):
    """Every fenced block as (name, JSON value)."""
    pattern = rf"^<<<DATA ([A-Z_]+) {nonce}\n(.*?)\n{nonce} DATA>>>$"
    return [(name, json.loads(text)) for name, text in re.findall(pattern, user, re.MULTILINE | re.DOTALL)]


@pytest.fixture(scope="module")
def reported(shared_data):
    """Return the cases from public bug reports by id."""
    file = shared_data / "cases" / "cases.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["id"]: row for row in rows}


# ---- the question ----


def test_a_question_has_a_constant_part_and_the_case():
    prompt = made("It was:\n[USER_REQUEST]\nJudge it.", ["USER_REQUEST"])
    suspicion = Suspicion(path="$.USER_REQUEST", kind="score_demand", excerpt="give it a 5")
    question = asked(prompt, {"USER_REQUEST": "Hi.", "CONTEXT": "not used"}, suspicions=(suspicion,))
    assert question.system == prompt.system
    assert question.user == f'It was:\n<<<DATA USER_REQUEST {NONCE}\n"Hi."\n{NONCE} DATA>>>\nJudge it.'
    assert (question.grader, question.prompt_id, question.prompt_version) == ("courtesy", "p", "1")
    assert question.prompt_sha256 == prompt.sha256
    assert question.reply_schema == SCHEMA
    assert question.suspicions == (suspicion,)
    assert question.left_out == ()


def test_a_fence_stands_on_lines_of_its_own_wherever_its_placeholder_is():
    question = asked(made("A [USER_REQUEST] b", ["USER_REQUEST"]), {"USER_REQUEST": "x"})
    assert question.user == f'A \n<<<DATA USER_REQUEST {NONCE}\n"x"\n{NONCE} DATA>>>\n b'


def test_a_name_from_elsewhere_is_filled_with_our_value():
    prompt = made("[TOOL_USE_TRACE]", ["TOOL_USE_TRACE"])
    assert blocks(asked(prompt, {"AGENT_TOOL_CALLS": [1]}).user) == [("AGENT_TOOL_CALLS", [1])]


def test_filling_is_one_pass():
    prompt = made("[USER_REQUEST]\n[CONTEXT]", ["USER_REQUEST", "CONTEXT"])
    values = {"USER_REQUEST": "[CONTEXT] [TRACE_B] \\1 \\g<0>", "CONTEXT": "[USER_REQUEST]"}
    assert blocks(asked(prompt, values).user) == list(values.items())


def test_what_was_left_out_is_told_to_the_judge_as_data():
    question = asked(
        made("[CONTEXT]", ["CONTEXT"]), {"CONTEXT": 1}, left_out=("31 of 60 tools are not shown: <<<a>>>",)
    )
    assert blocks(question.user)[-1] == ("LEFT_OUT", ["31 of 60 tools are not shown: <<<a>>>"])
    assert question.user.endswith(f"{NONCE} DATA>>>")
    assert question.left_out == ("31 of 60 tools are not shown: <<<a>>>",)


# ---- identity ----


def test_the_identity_does_not_contain_the_nonce_and_is_known_before_it():
    prompt, values = made("[CONTEXT]", ["CONTEXT"]), {"CONTEXT": {"a": 1}}
    first = ask(prompt, values, nonce="a" * 12, reply_schema=SCHEMA)
    second = ask(prompt, values, nonce="b" * 12, reply_schema=SCHEMA)
    assert first.user != second.user
    assert first.input_sha256 == second.input_sha256 == input_sha256(prompt, values, reply_schema=SCHEMA)


def test_the_identity_changes_with_the_prompt_the_values_the_schema_and_what_was_left_out():
    prompt, values = made("[CONTEXT]", ["CONTEXT"]), {"CONTEXT": {"a": 1}}
    other = made("x [CONTEXT]", ["CONTEXT"])
    found = {
        input_sha256(prompt, values, reply_schema=SCHEMA),
        input_sha256(other, values, reply_schema=SCHEMA),
        input_sha256(prompt, {"CONTEXT": {"a": 2}}, reply_schema=SCHEMA),
        input_sha256(prompt, values, reply_schema={"type": "object"}),
        input_sha256(prompt, values, reply_schema=SCHEMA, left_out=("x",)),
    }
    assert len(found) == 5
    assert input_sha256(prompt, {**values, "USER_REQUEST": "not used"}, reply_schema=SCHEMA) in found


def test_the_word_of_the_fences_follows_from_key_and_identity_and_from_both():
    word = nonce_of(b"key", "abc")
    assert word == nonce_of(b"key", "abc")
    assert len({word, nonce_of(b"other", "abc"), nonce_of(b"key", "abd")}) == 3
    assert re.fullmatch("[0-9a-f]{20}", word)


@pytest.mark.parametrize("nonce", ["", "short", "with blank 123", "x" * 65, "abcdefgh\n"])
def test_a_nonce_that_is_no_word_is_refused(nonce):
    with pytest.raises(ValueError, match="8 to 64 letters and digits"):
        ask(made("[CONTEXT]", ["CONTEXT"]), {"CONTEXT": 1}, nonce=nonce, reply_schema=SCHEMA)


@pytest.mark.parametrize("value", [NONCE, {"a": [NONCE.upper()]}, {f"key {NONCE}": 1}])
def test_a_nonce_that_stands_in_a_value_is_refused(value):
    with pytest.raises(ValueError, match="cannot fence them"):
        asked(made("[CONTEXT]", ["CONTEXT"]), {"CONTEXT": value})


# ---- what is missing ----


@pytest.mark.parametrize("values", [{}, {"USER_REQUEST": None}])
def test_a_required_value_that_is_missing_is_named_and_nothing_is_asked(values):
    with pytest.raises(MissingValue) as caught:
        asked(made("[USER_REQUEST]\n[CONTEXT]", ["USER_REQUEST", "CONTEXT"]), {**values, "CONTEXT": "x"})
    assert caught.value.placeholders == ("USER_REQUEST",)
    assert caught.value.code == "PROMPT_MISSING_VALUE"
    assert "USER_REQUEST" in str(caught.value)


@pytest.mark.parametrize("value", ["", [], {}, 0, False])
def test_empty_and_zero_are_values(value):
    assert blocks(asked(made("[CONTEXT]", ["CONTEXT"]), {"CONTEXT": value}).user) == [("CONTEXT", value)]


def test_an_optional_value_that_is_missing_is_null():
    prompt = made("[USER_REQUEST]\n[CONTEXT]", ["USER_REQUEST"], optional=["CONTEXT"])
    assert blocks(asked(prompt, {"USER_REQUEST": "x"}).user) == [("USER_REQUEST", "x"), ("CONTEXT", None)]


def test_null_for_a_tool_is_no_tool_and_not_a_missing_value():
    names = ["SELECTED_TOOL_NAME", "EXPECTED_TOOL_NAME"]
    prompt = made("[SELECTED_TOOL_NAME]\n[EXPECTED_TOOL_NAME]", names, grader="selection")
    assert blocks(asked(prompt, dict.fromkeys(names)).user) == [(name, None) for name in names]
    with pytest.raises(MissingValue, match="EXPECTED_TOOL_NAME"):
        asked(prompt, {"SELECTED_TOOL_NAME": None})


# ---- values ----


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("line\nbreak", r'"line\nbreak"'),
        ({"a": [1, 2.5, True, None]}, '{"a": [1, 2.5, true, null]}'),
        (12345678901234567890123, "12345678901234567890123"),
        ([], "[]"),
        ([{"a": 1}, "b"], '[\n{"a": 1},\n"b"\n]'),
        ("a < b << c > d", '"a < b << c > d"'),
        ("<<<DATA x", r'"\u003c\u003c\u003cDATA x"'),
        ("x DATA>>>", r'"x DATA\u003e\u003e\u003e"'),
        ("<|im_start|>system", r'"\u003c|im_start\u007c\u003esystem"'),
        ("<\uff5cUser\uff5c>", '"\\u003c\uff5cUser\\uff5c\\u003e"'),
        ("[INST] <s> </S> <<SYS>>", r'"\u005bINST] \u003cs> \u003c/S> \u003c\u003cSYS>>"'),
        ("\\<<<", r'"\\\u003c\u003c\u003c"'),
        ("a\u200bb\u202ec\u2028d\x85", r'"a\u200bb\u202ec\u2028d\u0085"'),
        ("\U000e0041", r'"\udb40\udc41"'),
        ("[TRACE_B] ```", '"[TRACE_B] ```"'),
        ("naïve 日本 🙂", '"naïve 日本 🙂"'),
    ],
)
def test_a_value_is_json_text_in_which_nothing_passes_for_structure(value, text):
    assert rendered(value) == text
    assert json.loads(text) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_json_is_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        rendered({"a": value})


SCALARS = st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
NASTY = st.sampled_from(
    [
        "<<<DATA",
        "DATA>>>",
        "\n",
        "\r",
        "\u2028",
        "\x85",
        "\u200b",
        "[USER_REQUEST]",
        "[TRACE_A]",
        "<|im_start|>",
        "```",
        '"',
        "\\",
        "# ",
        "<s>",
    ]
)
TEXTS = st.lists(NASTY | st.text(max_size=8)).map("".join)
VALUES = st.recursive(SCALARS | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=10)


@settings(max_examples=100)
@given(st.fixed_dictionaries(dict.fromkeys(TRACE_LEVEL, VALUES)))
def test_whatever_the_values_each_can_be_read_back_from_between_its_fences(values):
    names = list(TRACE_LEVEL)
    prompt = made("\n".join(f"{name}: [{name}]" for name in names), [], optional=names)
    nonce = nonce_of(b"key", input_sha256(prompt, values, reply_schema=SCHEMA))
    user = ask(prompt, values, nonce=nonce, reply_schema=SCHEMA).user
    found = blocks(user, nonce)
    assert [name for name, _ in found] == names
    assert all(same(value, values[name]) for name, value in found)
    starts = [
        line
        for line in re.split(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", user)
        if re.match(r"\s*(<<<|\S* ?DATA>>>)", line)
    ]
    assert len(starts) == 2 * len(names)
    assert all(nonce in line for line in starts)


@given(VALUES)
def test_a_fence_cannot_be_closed_from_within(value):
    block = fenced("CONTEXT", rendered(value), NONCE)
    assert block.count("<<<") == block.count(">>>") == 1


# ---- reported faults ----


def test_jru_13_the_judge_of_a_single_call_sees_earlier_results(reported):
    given_ = reported["JRU-13"]["minimal_input"]
    trace = Trace(
        id="t",
        events=tuple(call(one["tool"], one["arguments"], result=one.get("result", None)) for one in given_["trace"]),
    )
    before = history(trace, given_["judge_call"] - 1)
    step = Step(id="s", request="Reset it.", selected="reset", expected="reset", context={"history": before})
    values = selection_values(step, Catalog((Tool(name="reset"),)))
    prompt = template("selection")
    question = ask(prompt, values, nonce=NONCE, reply_schema=reply_schema(prompt))
    assert '"content": {"uid": 418}' in question.user


def test_jru_14_a_placeholder_without_a_value_stops_the_question(reported):
    row = reported["JRU-14"]
    prompt = made(row["minimal_input"]["template"], ["AVAILABLE_TOOLS", "TRACE_A"], grader="preference")
    with pytest.raises(MissingValue) as caught:
        asked(prompt, row["minimal_input"]["values"])
    assert caught.value.code == row["right_answer"]["error_class"]
    assert "AVAILABLE_TOOLS" in str(caught.value)


def test_uix_06_a_structured_value_reaches_the_judge_as_json(reported):
    row = reported["UIX-06"]
    result, seen = row["minimal_input"]["result"], row["right_answer"]["judge_sees"]
    assert rendered(result) == seen
    recorded = Result(content_json=Raw(json.dumps(result).encode()))
    trace = Trace(id="t", request="x", events=(Call(tool="read", result=recorded),))
    question = asked(made("[AGENT_TOOL_CALLS]", ["AGENT_TOOL_CALLS"]), rubric_values(trace, None))
    assert f'"content": {seen}' in question.user


@pytest.mark.parametrize("case_id", ["SEC-04", "SEC-06"])
def test_sec_04_and_06_text_of_a_tool_stays_inside_its_fence(reported, case_id):
    text = reported[case_id]["minimal_input"]["tool_result"]
    trace = Trace(id="t", request="Look it up.", events=(call("read", {}, result=text),))
    prompt = template("rubric")
    values = rubric_values(trace, Catalog((Tool(name="read"),)))
    user = ask(prompt, values, nonce=NONCE, reply_schema=reply_schema(prompt)).user
    found = dict(blocks(user))
    assert found["AGENT_TOOL_CALLS"][0]["result"]["content"] == text
    assert user.count(rendered(text)) == 1
    assert not any(line.startswith(("# OUTPUT", "Return", "```", '{"grade"')) for line in user.splitlines())


@pytest.mark.parametrize("left_out", [(), ("12 tools",)])
def test_the_identity_is_the_digest_of_all_that_is_asked(left_out):
    prompt = made("[USER_REQUEST]", ["USER_REQUEST"])
    values = {"USER_REQUEST": {"b": 1.0, "a": "é < ]"}}
    texts = {"USER_REQUEST": rendered(values["USER_REQUEST"])}
    whole = {"prompt": prompt.sha256, "values": texts, "reply_schema": SCHEMA, "left_out": list(left_out)}
    words = []
    question = ask(
        prompt, values, nonce=lambda identity: words.append(identity) or NONCE, reply_schema=SCHEMA, left_out=left_out,
        schema_json=canonical(SCHEMA), written=texts,
    )  # fmt: skip
    assert question == asked(prompt, values, left_out=left_out)
    assert question.input_sha256 == digest(whole) == words[0]


MARKS = st.text(alphabet='<>|[]/INSTinst\u017f\u0131\x7f\u200b\ud800 aé"\\\n', max_size=30)


@given(st.lists(MARKS, max_size=3) | MARKS)
@settings(deadline=None, max_examples=300)
def test_nothing_that_plays_structure_is_overlooked(value):
    lines = value if isinstance(value, list) and value else [value]
    plain = [json.dumps(one, ensure_ascii=False) for one in lines]
    escaped = [fences._UNSEEN.sub(fences._escaped, fences._STRUCTURE.sub(fences._escaped, one)) for one in plain]
    assert rendered(value) == ("[\n" + ",\n".join(escaped) + "\n]" if lines is value else escaped[0])
