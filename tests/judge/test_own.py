"""Replies of graders that users bring."""

import json
from collections import Counter

import pytest

from rightcall.errors import ConfigError
from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.own import OwnReply, read_own
from rightcall.judge.read import read_reply

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["pass", "fail"]}, "justification": {"type": "string"}},
    "required": ["verdict", "justification"],
}
GOOD = {"verdict": "pass", "justification": "the loan was renewed"}


def read(values, schema=SCHEMA):
    return read_own(json.dumps(values), schema)


def test_a_reply_that_satisfies_the_schema_is_read_as_it_is():
    reply = read(GOOD)
    assert reply == OwnReply(values=GOOD)
    assert (reply.values(), reply["verdict"], reply.noted) == (GOOD, "pass", ())


def test_a_reply_cannot_be_changed_through_its_values():
    given = {"verdict": "pass", "parts": [1]}
    reply = OwnReply(given)
    given["parts"].append(2)
    reply.values()["parts"].append(3)
    assert reply.values() == {"verdict": "pass", "parts": [1]}
    assert reply != OwnReply(given)
    assert hash(reply) == hash(OwnReply({"parts": [1], "verdict": "pass"}))
    assert "'parts': [1]" in repr(reply)


def test_all_problems_are_listed_and_a_missing_key_by_its_name():
    schema = SCHEMA | {"properties": SCHEMA["properties"] | {"parts": {"items": {"required": ["id"]}}}}
    fault = read({"verdict": "PASS\u200b", "parts": [{"id": 1}, {}]}, schema)
    assert fault.code == "JUDGE_SCHEMA"
    assert {problem.path for problem in fault.problems} == {"verdict", "justification", "parts[1].id"}
    assert "U+200B" in str(fault)


def test_keys_outside_the_schema_are_noted_or_refused_as_the_schema_says():
    more = GOOD | {"mood": "good"}
    assert [problem.path for problem in read(more).noted] == ["mood"]
    fault = read(more, SCHEMA | {"additionalProperties": False})
    assert (fault.code, fault.problems[0].path) == ("JUDGE_SCHEMA", "reply")
    assert "mood" in fault.problems[0].message


def test_what_is_verdict_shaped_follows_from_the_schema():
    assert read_own(f'It used {{"id": 1}}. {json.dumps(GOOD)}', SCHEMA) == OwnReply(GOOD)
    assert read_own(f'{{"verdict": "fail"}} {json.dumps(GOOD)}', SCHEMA).code == "JUDGE_AMBIGUOUS"
    assert read_own(f'{{"id": 1}} {json.dumps(GOOD)}', {"type": "object"}).code == "JUDGE_AMBIGUOUS"


def test_numbers_stay_exact():
    big = {"n": 10**40, "x": 0.1}
    assert read(big, {"type": "object"}).values() == big


@pytest.mark.parametrize(
    ("text", "finish", "code"),
    [
        ("", None, "JUDGE_EMPTY"),
        ('{"verdict": "pa', "length", "JUDGE_TRUNCATED"),
        ("pass", None, "JUDGE_NOT_JSON"),
        ('{"verdict": "pass", "verdict": "fail"}', None, "JUDGE_DUPLICATE_KEY"),
        ('{"verdict": NaN}', None, "JUDGE_NON_FINITE"),
        (json.dumps(GOOD), "content_filter", "JUDGE_REFUSAL"),
    ],
)
def test_the_text_is_read_as_strictly_as_for_any_grader(text, finish, code):
    assert read_own(text, SCHEMA, finish).code == code


@pytest.mark.parametrize("schema", [{"type": "verdict"}, {"properties": []}, {"$ref": "file:///elsewhere.json"}])
def test_a_schema_that_is_none_is_a_configuration_error(schema):
    with pytest.raises(ConfigError, match="the reply schema is not a valid JSON Schema") as caught:
        read(GOOD, schema)
    assert caught.value.code == "CONFIG_INVALID"


# ---- recorded verdicts of a real judge ----------------------------------------------------------------------------


def recorded_verdicts(shared_data):
    folder = shared_data / "data" / "tau2_bench" / "judged"
    files = sorted(folder.glob("*.verdicts.jsonl"))
    if not files:
        pytest.skip("needs the recorded verdicts of tau2-bench")
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield {"verdict": row["judge_verdict"], "justification": row["judge_justification"]}


def test_exactly_the_recorded_verdicts_outside_the_enum_are_rejected_at_the_verdict(shared_data):
    kept, rejected, elsewhere = Counter(), Counter(), []
    for reply in recorded_verdicts(shared_data):
        result = read_reply("policy", json.dumps(reply), schema=SCHEMA)
        if isinstance(result, OwnReply):
            kept[reply["verdict"]] += 1
            assert result.values() == reply
            continue
        assert result.code == "JUDGE_SCHEMA"
        if "verdict" in {problem.path for problem in result.problems}:
            rejected[reply["verdict"]] += 1
        else:
            elsewhere.append(result)
    told = f"kept {dict(kept)}, rejected {dict(rejected)}, elsewhere {elsewhere}"
    assert (kept.total(), rejected.total(), elsewhere) == (910, 202, []), told
    assert kept == {"pass": 509, "fail": 401}, told
    assert not set(rejected) & {"pass", "fail"}, told


def test_a_justification_that_is_null_is_a_fault_of_its_own():
    assert read(GOOD | {"justification": None}) == Malformed(
        "JUDGE_SCHEMA", (Problem("justification", 'null is not of type "string"'),)
    )
