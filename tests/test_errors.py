"""The error tree: one line a person can act on, a stable code, the right exit code."""

import pytest

from rightcall import errors
from rightcall.errors import Place, RightcallError


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(), ""),
        (Place("a.jsonl"), "a.jsonl"),
        (Place("a.jsonl", 3), "a.jsonl:3"),
        (Place("a.jsonl", 3, 7), "a.jsonl:3:7"),
        (Place("a.jsonl", 3, None, "$.id"), "a.jsonl:3 at $.id"),
        (Place(None, 3, 7), "line 3:7"),
        (Place(None, None, None, "$.id"), "$.id"),
        (Place(None, 3, None, "$.id"), "line 3 at $.id"),
    ],
)
def test_a_place_leaves_out_what_is_not_known(place, text):
    assert str(place) == text


def test_an_error_is_one_line_with_place_message_hint_and_code():
    error = errors.TraceError("two\nlines", place=Place("a", 1), hint="do   this")
    assert str(error) == "a:1: two lines; do this [TRACE_MALFORMED]"


def test_an_error_without_a_place_begins_with_its_message():
    assert str(errors.ConfigError("wrong")) == "wrong [CONFIG_INVALID]"


def test_an_error_keeps_its_parts():
    error = errors.CaseError("m", code="CASE_DUPLICATE_ID", place=Place("f"), hint="h")
    assert (error.message, error.code, error.place, error.hint) == ("m", "CASE_DUPLICATE_ID", Place("f"), "h")
    assert errors.CaseError("m").place == Place()


@pytest.mark.parametrize(
    ("kind", "parent", "code", "exit_code"),
    [
        (errors.TraceError, RightcallError, "TRACE_MALFORMED", 2),
        (errors.CaseError, RightcallError, "CASE_INVALID", 2),
        (errors.ConfigError, RightcallError, "CONFIG_INVALID", 2),
        (errors.MissingExtraError, errors.ConfigError, "CONFIG_MISSING_EXTRA", 2),
        (errors.NoDataError, RightcallError, "NO_DATA", 5),
        (errors.ReplyError, RightcallError, "JUDGE_SCHEMA", 5),
        (errors.ProviderError, RightcallError, "JUDGE_UNREACHABLE", 5),
        (errors.RateLimited, errors.ProviderError, "JUDGE_RATE_LIMITED", 5),
        (errors.Unavailable, errors.ProviderError, "JUDGE_UNREACHABLE", 5),
        (errors.Rejected, errors.ProviderError, "JUDGE_AUTH", 5),
        (errors.StoreError, RightcallError, "STORE_CONFLICT", 5),
    ],
)
def test_the_tree_gives_each_error_its_code_and_exit_code(kind, parent, code, exit_code):
    assert issubclass(kind, parent)
    assert (kind("m").code, kind("m").exit_code) == (code, exit_code)


def test_the_tree_is_drawn_in_the_docstring():
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, RightcallError)]
    assert [kind.__name__ for kind in classes if kind.__name__ not in errors.__doc__] == []
