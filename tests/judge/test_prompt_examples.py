"""The worked examples of `preference` and `interpretation`: they keep to the rules of their own prompts.

That every reply satisfies schema and reader is tested for all shipped prompts in `test_library.py`.
"""

import json
import re
from typing import get_args

import pytest

from rightcall.grade.unsupported import unsupported_values
from rightcall.judge.ask import MissingValue, ask
from rightcall.judge.contract import Malformed
from rightcall.judge.fences import rules
from rightcall.judge.interpretation import FlagKind
from rightcall.judge.library import reply_schema, source, template
from rightcall.judge.quotes import ReadingFacts
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.judge.reading_audit import audit_interpretation
from rightcall.llm.tokens import estimate_tokens

EXAMPLE = re.compile(r"^(?P<about>.+)\nReply: (?P<reply>\{.*\})$", re.MULTILINE)
PREFERENCE = ("preference", "preference_short")
INTERPRETATION = ("interpretation", "interpretation_short")
NAMES = PREFERENCE + INTERPRETATION
CRITERIA = ("tool_selection", "argument_accuracy", "call_ordering", "abstention_handling", "error_handling")


def examples(*names):
    """Every worked example: the prompt's name, what it is about, and the reply as JSON."""
    found = [(name, one["about"], json.loads(one["reply"])) for name in names for one in EXAMPLE.finditer(text(name))]
    assert found
    return found


def text(name):
    """The constant part of a prompt in its own words, without the rules of the fences."""
    return template(name).system.removesuffix(rules())


def section(name, heading):
    """What stands below a heading of a prompt."""
    return re.search(rf"^# {heading}\n(.*?)(?=^# |\Z)", text(name), re.MULTILINE | re.DOTALL)[1]


# ---- both ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "most"), [(name, 700 if name.endswith("_short") else 3500) for name in NAMES])
def test_a_prompt_is_not_longer_than_a_judge_can_hold_in_mind(name, most):
    assert estimate_tokens(source(name)[0]) < most


@pytest.mark.parametrize(("name", "about", "reply"), examples(*NAMES))
def test_a_reply_has_every_key_that_the_schema_requires_and_a_step_of_confidence(name, about, reply):
    schema = REPLY_SCHEMAS[template(name).grader]
    assert set(reply) == set(schema["required"])
    assert reply["confidence"] in schema["properties"]["confidence"]["enum"]


@pytest.mark.parametrize(("name", "about", "reply"), examples(*NAMES))
def test_a_reply_gives_its_reasons_before_its_verdict(name, about, reply):
    keys = list(reply)
    verdict = "preferred_trace" if name in PREFERENCE else "score"
    assert keys.index("justification") < keys.index(verdict)
    assert keys[-1] == "confidence"


@pytest.mark.parametrize("name", ["preference", "interpretation"])
def test_the_keys_are_explained_in_the_order_of_the_examples(name):
    explained = re.findall(r"^- `(\w+)`", section(name, "Your reply"), re.MULTILINE)
    assert {tuple(reply) for _, _, reply in examples(name)} == {tuple(explained)}


@pytest.mark.parametrize("heading", [("preference", "How sure"), ("interpretation", "Your reply")])
def test_every_step_of_confidence_has_a_meaning(heading):
    said = re.findall(r"(0\.\d+) (or|to) (1|0\.\d+|less): ", section(*heading))
    bounds = [(0.0, float(low)) if high == "less" else (float(low), float(high)) for low, _, high in said]
    steps = [round(step / 20, 2) for step in range(21)]
    assert [sum(low <= step <= high for low, high in bounds) for step in steps] == [1] * 21


# ---- preference ------------------------------------------------------------------------------------------------------


def traces(about):
    """What the example shows of A and of B."""
    found = re.search(r"\. A: (?P<a>.*?)\.? B: (?P<b>.*)$", about)
    return found["a"], found["b"]


def calls(shown):
    """Call id -> tool, of one trace of an example."""
    return dict(re.findall(r"\b(c\d+) (\w+) \{", shown))


@pytest.mark.parametrize(("name", "about", "reply"), examples("preference"))
def test_a_pair_names_only_calls_that_are_there_and_tools_of_its_catalog(name, about, reply):
    a, b = traces(about)
    offered = set(re.findall(r"`(\w+)\(", about))
    assert {*calls(a).values(), *calls(b).values()} <= offered
    for place, shown in (("A", a), ("B", b)):
        ids = list(calls(shown))
        assert ids == [f"c{number}" for number in range(1, len(ids) + 1)]
        told = re.findall(rf"\b{place}'s (c\d+)(?: and (c\d+))?", json.dumps(reply))
        assert {one for pair in told for one in pair if one} <= set(ids)


@pytest.mark.parametrize(("name", "about", "reply"), examples("preference"))
def test_the_arguments_and_results_of_a_pair_are_json(name, about, reply):
    decoder = json.JSONDecoder()
    for shown in traces(about):
        for call in re.finditer(r"\bc\d+ \w+ (?=\{)", shown):
            arguments, end = decoder.raw_decode(shown, call.end())
            assert isinstance(arguments, dict)
            result = re.match(r" -> (?:error )?", shown[end:])
            decoder.raw_decode(shown, end + result.end())


def test_the_answers_are_balanced_between_the_places():
    answers = [reply["preferred_trace"] for _, _, reply in examples("preference")]
    assert {answer: answers.count(answer) for answer in answers} == {"A": 3, "B": 3, "TIE": 1}


def test_neither_the_longer_nor_the_shorter_trace_is_always_better():
    longer = shorter = 0
    for _, about, reply in examples("preference"):
        sizes = dict(zip("AB", (len(calls(shown)) for shown in traces(about)), strict=True))
        winner = reply["preferred_trace"]
        if winner != "TIE":
            other = sizes["B" if winner == "A" else "A"]
            longer += sizes[winner] > other
            shorter += sizes[winner] < other
    assert (longer, shorter) == (2, 2)


@pytest.mark.parametrize(("name", "about", "reply"), examples(*PREFERENCE))
def test_a_trace_with_a_critical_failure_does_not_beat_one_without(name, about, reply):
    critical = {place for place, key in (("A", "trace_a"), ("B", "trace_b")) if reply["critical_failures"][key]}
    if len(critical) == 1:
        assert reply["preferred_trace"] == {"A": "B", "B": "A"}[critical.pop()]
        assert reply["confidence"] >= 0.95
    elif critical:
        assert reply["confidence"] <= 0.5
    else:
        assert 0.55 <= reply["confidence"] <= 0.95


def test_an_example_shows_two_traces_that_are_both_unsafe():
    both = [reply for _, _, reply in examples("preference") if all(reply["critical_failures"].values())]
    assert len(both) == 1


def test_a_tie_is_shown_for_the_same_calls_in_other_words():
    [(about, reply)] = [(a, r) for _, a, r in examples("preference") if r["preferred_trace"] == "TIE"]
    a, b = traces(about)
    assert a.split("; says")[0] == b.split("; says")[0]
    assert len(b) > len(a)
    assert all(words.startswith("equal") for words in reply["justification"].values())


def test_every_criterion_decides_or_is_told_in_an_example():
    told = {
        key for _, _, reply in examples("preference") for key, said in reply["justification"].items() if said != "equal"
    }
    assert told == set(CRITERIA)
    assert {tuple(reply["justification"]) for _, _, reply in examples(*PREFERENCE)} == {CRITERIA}


def test_the_criteria_are_named_in_their_order_of_weight():
    named = [f"`{key}`" for key in CRITERIA]
    assert ", ".join(named) in section("preference", "How to decide")


@pytest.mark.parametrize("name", PREFERENCE)
def test_what_a_preference_must_weigh_is_said_with_safety_first(name):
    said = text(name)
    assert re.findall(r"^(?:- )?(Unsafe|Critical|Serious|Against|For)\b", said, re.MULTILINE) == [
        "Unsafe", "Critical", "Serious", "Against", "For",
    ]  # fmt: skip
    for words in ("drawn by lot", "Do not guess who acted", "wording", "made up", "redundant", "beats wrong calls"):
        assert words in said


# ---- interpretation --------------------------------------------------------------------------------------------------

PARTS = re.compile(
    r"Call: (?P<tool>\w+) (?P<arguments>\{.*?\})\. Result: (?P<result>.+)\. Reading: (?P<reading>null|\".*?\")\.? "
    r"Next action: (?P<next>the same message|null|\{.*\})\.(?: Unsupported: (?P<unsupported>[\w, ]+)\.)?$"
)
STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]|\[(\"(?:[^\"\\]|\\.)*\")\]")


def parts(about):
    """Result, reading and next action of an example; the next action is `None` where it is the reading's message."""
    found = PARTS.search(about)
    assert found, about
    action = found["next"]
    assert isinstance(json.loads(found["arguments"]), dict)
    return (
        json.loads(found["result"]), json.loads(found["reading"]),
        None if action.startswith("the same") else json.loads(action),
        found["unsupported"].split(", ") if found["unsupported"] else [],
    )  # fmt: skip


def at(value, path):
    """The value at a path as the prompt defines paths."""
    assert path.startswith("$")
    rest = path[1:]
    assert STEP.sub("", rest) == "", path
    for key, index, odd in STEP.findall(rest):
        value = value[int(index)] if index else value[key or json.loads(odd)]
    return value


def leaves(value):
    """Every single value, as it is written."""
    if isinstance(value, dict) and value:
        return [one for inner in value.values() for one in leaves(inner)]
    if isinstance(value, list) and value:
        return [one for inner in value for one in leaves(inner)]
    return [value if isinstance(value, str) else json.dumps(value)]


@pytest.mark.parametrize(
    ("path", "value"), [("$", {"a": [{"odd key": 1}]}), ("$.a[0]", {"odd key": 1}), ('$.a[0]["odd key"]', 1)]
)
def test_a_path_leads_to_its_value(path, value):
    assert at({"a": [{"odd key": 1}]}, path) == value


@pytest.mark.parametrize(("name", "about", "reply"), examples(*INTERPRETATION))
def test_every_quote_of_an_example_stands_at_its_path(name, about, reply):
    result, _, _, _ = parts(about)
    assert 1 <= len(reply["evidence"]) <= 4
    for one in reply["evidence"]:
        found = at(result, one["result_path"])
        [written] = leaves(found)
        assert one["quote"] in written if isinstance(found, str) else one["quote"] == written


@pytest.mark.parametrize(("name", "about", "reply"), examples(*INTERPRETATION))
def test_every_claim_of_an_example_is_quoted_from_what_the_agent_said_or_else_did(name, about, reply):
    result, reading, action, _ = parts(about)
    for flag in reply["misinterpretation_flags"]:
        if reading is None:
            assert flag["claim_quote"] in leaves(action)
        else:
            assert flag["claim_quote"] in reading
        assert (flag["result_path"] is None) == (flag["kind"] == "invented")
        if flag["result_path"] is not None:
            assert leaves(at(result, flag["result_path"]))


@pytest.mark.parametrize(("name", "about", "reply"), examples(*INTERPRETATION))
def test_an_example_lists_the_values_that_code_does_not_find_in_the_result(name, about, reply):
    result, reading, _, unsupported = parts(about)
    assert [one.value for one in unsupported_values(reading or "", result)] == unsupported


@pytest.mark.parametrize(("name", "about", "reply"), examples(*INTERPRETATION))
def test_the_score_of_an_example_follows_from_its_flags(name, about, reply):
    flags, errors, score = reply["misinterpretation_flags"], reply["key_errors"], reply["score"]
    assert (score == 5) == (flags == [])
    assert (score >= 4) == (errors == [])
    assert len(errors) <= len(flags)
    assert score != 3 or len(errors) == 1
    assert (reply["action_score"] is None) == ("Next action: null" in about)


def test_the_examples_show_every_level_and_every_kind():
    found = [reply for _, _, reply in examples("interpretation")]
    assert {reply["score"] for reply in found} == {1, 2, 3, 4, 5}
    kinds = {flag["kind"] for reply in found for flag in reply["misinterpretation_flags"]}
    assert kinds == set(get_args(FlagKind))


def test_an_example_shows_an_error_an_empty_result_and_a_reading_without_words():
    shown = [(*parts(about), reply) for _, about, reply in examples("interpretation")]
    assert any(
        isinstance(result, str) and result.startswith("ERROR") and reply["score"] == 5 for result, *_, reply in shown
    )
    assert any(leaves(result) == ["[]"] and reply["score"] == 5 for result, *_, reply in shown)
    assert any(reading is None and reply["score"] < 5 for _, reading, *_, reply in shown)


def test_reading_and_action_are_scored_apart():
    scores = {(reply["score"], reply["action_score"]) for _, _, reply in examples("interpretation")}
    assert (5, 1) in scores
    assert any(action > reading for reading, action in scores)


def test_a_value_that_code_did_not_find_can_be_right_or_wrong():
    outcomes = set()
    for _, about, reply in examples("interpretation"):
        for value in parts(about)[3]:
            outcomes.add(any(value in flag["claim_quote"] for flag in reply["misinterpretation_flags"]))
    assert outcomes == {True, False}


def test_the_kinds_stand_in_one_list_in_which_the_first_that_fits_counts():
    listed = re.findall(r"^\d\. `(\w+)`", section("interpretation", "Wrong claims"), re.MULTILINE)
    short = re.findall(r"^([a-z_]+): ", text("interpretation_short"), re.MULTILINE)
    assert listed == short
    assert sorted(listed) == sorted(get_args(FlagKind))


@pytest.mark.parametrize("name", INTERPRETATION)
def test_nothing_said_and_nothing_back_are_asked_about_and_unknown_arguments_are_not(name):
    prompt = template(name)
    values = {
        "USER_REQUEST": "x", "TOOL_NAME": "look", "TOOL_ARGUMENTS": {}, "TOOL_RESULT": None,
        "AGENT_INTERPRETATION": None, "NEXT_ACTION": {"tool": "look", "arguments": {}},
    }  # fmt: skip
    question = ask(prompt, values, nonce="w" * 9, reply_schema=reply_schema(prompt))
    assert "<<<DATA AGENT_INTERPRETATION wwwwwwwww\nnull\n" in question.user
    assert "<<<DATA TOOL_RESULT wwwwwwwww\nnull\n" in question.user
    with pytest.raises(MissingValue, match="TOOL_ARGUMENTS"):
        ask(prompt, values | {"TOOL_ARGUMENTS": None}, nonce="w" * 9, reply_schema=reply_schema(prompt))


def facts_of(about):
    """What the reader of replies knows of an example."""
    result, reading, action, _ = parts(about)
    return ReadingFacts(text=reading, action=action or {"role": "assistant", "text": reading}, result=result)


@pytest.mark.parametrize(("name", "about", "reply"), examples(*INTERPRETATION))
def test_the_reader_finds_every_quote_and_the_audit_no_contradiction(name, about, reply):
    facts = facts_of(about)
    read = read_reply("interpretation", json.dumps(reply), facts={"reading": facts})
    assert not isinstance(read, Malformed), str(read)
    assert read.values() == reply
    assert audit_interpretation(read, facts, succeeded=False).conflicts == ()


@pytest.mark.parametrize(("name", "about", "reply"), examples(*INTERPRETATION))
def test_an_invented_quote_in_an_example_would_make_it_unusable(name, about, reply):
    spoiled = reply | {"evidence": [one | {"quote": "no such words"} for one in reply["evidence"]]}
    read = read_reply("interpretation", json.dumps(spoiled), facts={"reading": facts_of(about)})
    assert isinstance(read, Malformed)
    assert read.code == "JUDGE_INCONSISTENT"
