"""Nothing leaves that must not: results and errors, whatever the secrets hide in."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.api import Case, Policy, Trace, call, grade
from rightcall.case.case import Expect, GoldenCall
from rightcall.errors import CaseError, ConfigError, Place, RunError, TraceError
from rightcall.grade.verdict import GoldenResult
from rightcall.run.inputs.hiding import hidden, hidden_case, hidden_error, hidden_raw, without_secrets
from rightcall.trace.model import Tool
from rightcall.trace.redact import Redactor

HIDE = Redactor(key=b"a fixed key for tests")
SHAPED = ("4111 1111 1111 1111", "amy@example.com", "sk-test1234567890abcdefABCDEF", "Bearer 12345678abcdef")


def case(*calls: tuple[str, Any], **fields: Any) -> Case:
    goldens = tuple(
        GoldenCall(tool=tool, arguments_json=msgspec.Raw(json.dumps(given).encode())) for tool, given in calls
    )
    return Case(id="c", expect=Expect(calls=goldens), **fields)


def graded(golden: dict[str, Any], made: dict[str, Any], tool: str = "send", **options: Any) -> GoldenResult:
    """A result of one call against another, hidden as a run hides it."""
    wanted, trace = case((tool, golden)), Trace(id="t", events=(call(tool, made),))
    return hidden(grade(wanted, trace, **options), HIDE, trace, wanted)


def text_of(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# ---- values by the names of their keys -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    ["password", "userPassword", "x-api-key", "user's password", 'the "user\'s" token', "a.password", "db[0] password"],
)
def test_what_stands_under_a_secret_key_is_hidden_however_the_key_is_written(key):
    result = graded({key: "hunter2-one"}, {key: "hunter2-two"})
    assert result.findings[0].kind == "wrong_argument"
    assert "hunter2" not in text_of(result)
    assert result.findings[0].expected != result.findings[0].actual


def test_equal_secrets_stay_equal_and_different_ones_differ():
    first, second = graded({"password": "one", "x": 1}, {"password": "two"}).findings
    assert first.path == "$.password"
    assert str(first.expected).startswith("⟦password:")
    assert graded({"password": "two", "x": 1}, {"password": "one"}).findings[0].actual == first.expected
    assert (second.path, second.expected) == ("$.x", 1)


@pytest.mark.parametrize("label", ["name", "key"])
def test_what_its_label_calls_a_secret_is_hidden(label):
    def headers(value: str) -> dict[str, Any]:
        return {"headers": [{label: "Cookie", "value": value}, {label: "Accept", "value": "text/html"}]}

    result = graded(headers("one-s3cret"), headers("two-s3cret"))
    assert result.findings[0].path == "$.headers[0].value"
    assert "s3cret" not in text_of(result)
    assert str(result.findings[0].actual).startswith("⟦cookie:")
    plain = graded({"headers": [{label: "Accept", "value": "a"}]}, {"headers": [{label: "Accept", "value": "b"}]})
    assert (plain.findings[0].expected, plain.findings[0].actual) == ("a", "b")


def test_a_label_counts_on_the_golden_side_behind_matchers_too():
    golden = {"headers": [{"equals": {"name": "Cookie", "value": "one-s3cret"}}]}
    result = graded(golden, {"headers": [{"name": "Cookie", "value": "two-s3cret"}]})
    assert "s3cret" not in text_of(result)


def test_a_value_of_which_nobody_knows_the_label_is_taken_for_a_secret():
    wanted = case(("send", {"header": {"name": "Cookie", "value": "one-s3cret"}}))
    trace = Trace(id="t", events=(call("send", {"header": {"name": "Cookie", "value": "two-s3cret"}}),))
    assert "s3cret" not in text_of(hidden(grade(wanted, trace), HIDE))


def test_a_plain_argument_called_value_is_shown():
    finding = graded({"value": 1}, {"value": 2}).findings[0]
    assert (finding.expected, finding.actual) == (1, 2)


# ---- messages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["reset_password", "get_token", "set_cookie"])
def test_a_tool_that_is_called_like_a_secret_gives_nothing_away(tool):
    result = graded({"new": 1}, {}, tool)
    assert result.findings[0].message == f"{tool}: new is missing"


def test_a_validator_does_not_quote_a_secret():
    properties = {"password": {"type": "integer"}, "headers": {"type": "object"}, "note": {"type": "integer"}}
    tools = (Tool(name="send", parameters={"type": "object", "properties": properties}),)
    for made in (
        {"password": "hunter2-very"},
        {"headers": [{"name": "Cookie", "value": "hunter2-very"}]},
        {"headers": [{"deep": {"password": "hunter2-very"}}]},
        {"note": "mail amy@example.com"},
    ):
        result = graded(made, made, tools=tools)
        assert [finding.kind for finding in result.findings] == ["invalid_argument"]
        assert "hunter2" not in text_of(result)
        assert "amy@" not in text_of(result)


def test_arguments_that_could_not_be_read_are_hidden_by_what_they_look_like():
    broken = call("send", None)
    broken = msgspec.structs.replace(
        broken, arguments_status="malformed", arguments_raw='{"password": "hunter2-very", "to": "amy@example.com"'
    )
    wanted, trace = case(("send", {"x": 1})), Trace(id="t", events=(broken,))
    assert "hunter2" not in text_of(hidden(grade(wanted, trace), HIDE, trace, wanted))


@pytest.mark.parametrize(
    "raw", ['[{"name": "Cookie", "value": "hunter2"}]', json.dumps('{"a": {"key": "Cookie", "value": "hunter2"}}')]
)
def test_arguments_that_were_recorded_as_text_are_hidden_by_what_they_mean(raw):
    made = msgspec.structs.replace(call("send", None), arguments_status="not_object", arguments_raw=raw)
    wanted, trace = case(("send", {"x": 1})), Trace(id="t", events=(made,))
    found = hidden(grade(wanted, trace), HIDE, trace, wanted).findings[0]
    assert found.kind == "invalid_argument"
    assert "hunter2" not in str(found.actual)
    assert "⟦cookie:" in str(found.actual)
    assert hidden_raw("[1, 2]", HIDE) == "[1, 2]"


def test_the_feedback_of_the_published_formula_is_hidden():
    wanted = case(("send to amy@example.com", {}))
    trace = Trace(id="t", events=(call("send to bob@example.com", {}),))
    result = hidden(grade(wanted, trace), HIDE, trace, wanted)
    assert "@example.com" not in text_of(result)
    assert result.article is not None
    assert "⟦email:" in result.article.feedback


def test_a_veto_is_hidden_like_its_finding():
    trace = Trace(id="t", events=(call("mail amy@example.com", {}),))
    wanted = case()
    raw = grade(wanted, trace, policy=Policy(forbidden=("mail amy@example.com",)))
    result = hidden(raw, HIDE, trace, wanted)
    assert "amy@" not in text_of(result)
    breach = next(finding for finding in result.findings if finding.kind == "policy_violation")
    assert breach.message == f"{result.vetoes[0].rule}: {result.vetoes[0].message}"


def test_a_redacted_case_still_has_its_matchers():
    """A matcher is known by its first key, so redaction must not sort keys (it did, and right traces failed)."""
    expected = {"to": {"similar": "123 Maple St", "as": "address"}, "amount": {"approx": 10, "abs_tol": 1}}
    golden = GoldenCall(tool="send", arguments_json=msgspec.Raw(msgspec.json.encode(expected)))
    case = Case(id="c", expect=Expect(calls=(golden,)))
    made = call("send", {"to": "123 Maple Street", "amount": 10.5})
    kept = hidden_case(case, Redactor(key=b"k"))
    assert list(kept.expect.calls[0].arguments["to"]) == ["similar", "as"]
    assert grade(kept, Trace(id="t", events=(made,))).verdict == "PASS"


def test_a_result_without_secrets_is_the_same():
    wanted, trace = (
        case(("send", {"to": "amy"})),
        Trace(id="t", events=(call("send", {"to": "bob", "x": [1, {"y": None}]}),)),
    )
    result = grade(wanted, trace)
    assert hidden(result, HIDE, trace, wanted) == result


# ---- whatever they hide in -------------------------------------------------------------------------------------------

_PLACES = st.sampled_from(["plain", "key", "list", "nested", "labelled", "under"])


@st.composite
def _arguments(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments with planted secrets: as values, in keys, in lists, under names and labels of secrets."""
    made: dict[str, Any] = {}
    for number in range(draw(st.integers(0, 3))):
        shaped = draw(st.sampled_from(SHAPED))
        place, key = draw(_PLACES), f"k{number}"
        named = f"hunter2-{draw(st.integers(0, 9))}"
        made |= {
            "plain": {key: f"see {shaped}"}, "key": {f"{key} {shaped}": number}, "list": {key: [number, [shaped]]},
            "nested": {key: {"a": {"b": shaped, "c": number}}},
            "labelled": {key: [{"name": "X-Api-Key", "value": named, "n": number}]},
            "under": {key: {draw(st.sampled_from(["password", "access_token", "user's secret"])): {"x": [named, number]}}},
        }[place]  # fmt: skip
    return made


@given(
    golden=_arguments(), made=_arguments(), ids=st.lists(st.sampled_from(SHAPED), min_size=2, max_size=2),
    schema=st.booleans(),
)  # fmt: skip
def test_no_planted_secret_is_in_a_result(golden, made, ids, schema):
    tools = (
        [Tool(name="send", parameters={"type": "object", "additionalProperties": {"type": "null"}})] if schema else None
    )
    wanted = msgspec.structs.replace(case(("send", golden), (f"to {ids[0]}", {})), id=f"c {ids[0]}")
    trace = Trace(id=f"t {ids[1]}", events=(call("send", made), call(f"to {ids[1]}", {}, error=ids[0])))
    said = text_of(hidden(grade(wanted, trace, tools=tools), HIDE, trace, wanted))
    for secret in (*SHAPED, "hunter2"):
        assert secret not in said


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [TraceError, CaseError, ConfigError, RunError])
def test_an_error_keeps_what_it_is_without_its_secrets(kind):
    error = kind(
        "trace `amy@example.com` is odd", code="ODD", place=Place("f.jsonl", 3, 4, "$['amy@example.com']"),
        hint="ask amy@example.com",
    )  # fmt: skip
    found = hidden_error(error, HIDE)
    assert type(found) is kind
    assert (found.code, found.exit_code) == ("ODD", kind.exit_code)
    assert (found.place.file, found.place.line, found.place.column) == ("f.jsonl", 3, 4)
    assert "amy@" not in str(found)
    assert str(found).count("⟦email:") == 3


def test_a_path_that_ends_with_a_secrets_name_does_not_hide_the_message():
    error = TraceError("unknown field `token`", place=Place("f", 1, None, "$.token"), hint="did you mean `tools`?")
    assert str(hidden_error(error, HIDE)) == str(error)


def test_errors_leave_the_block_without_secrets_and_others_as_they_are():
    with pytest.raises(TraceError) as error, without_secrets(HIDE):
        raise TraceError("to amy@example.com")
    assert "amy@" not in str(error.value)
    assert error.value.__cause__ is None
    with pytest.raises(KeyError, match="amy@"), without_secrets(HIDE):
        raise KeyError("amy@example.com")
