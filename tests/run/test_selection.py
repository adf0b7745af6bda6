"""Redaction of a step whose catalog is redacted once for many steps: the same as redacting the step whole."""

import json

import msgspec
import pytest

from rightcall.case.step import Step
from rightcall.errors import ConfigError
from rightcall.run.graders.selection import _hidden
from rightcall.run.judging.secrets import Cleaner
from rightcall.trace import jsontext
from rightcall.trace.redact import KEY_NAMES, Redactor

CARD = "4111111111111111"
TOOLS = [
    {"name": "find", "description": f"as in card {CARD}", "parameters": {"properties": {"token": {"default": "abc"}}}},
    {"name": "Cookie", "value": "crumbs"},
]


def hidden_whole(step, redactor):
    value = redactor.value(jsontext.decode(jsontext.encode(step)))
    return msgspec.json.decode(jsontext.encode_in_order(value), type=Step)


@pytest.mark.parametrize("tools", [TOOLS, [], None, "a text", {"tools": TOOLS}, [*TOOLS, *TOOLS]])
@pytest.mark.parametrize("names", [KEY_NAMES, ("name",)])
def test_a_step_is_redacted_as_a_whole_would_be(tools, names):
    redactor = Redactor(b"a key", key_names=names)
    for request in (f"card {CARD}", "nothing"):
        step = Step(
            id="s", selected="find", expected=None, request=request, context={"api_key": "xyz"},
            tools_json=msgspec.Raw(json.dumps(tools).encode()),
        )  # fmt: skip
        assert jsontext.encode(_hidden(step, Cleaner(redactor))) == jsontext.encode(hidden_whole(step, redactor))


def test_a_step_without_a_catalog_has_none_afterwards():
    step = Step(id="s", selected="find", expected=None)
    assert _hidden(step, Cleaner(Redactor(b"a key"))) == step


@pytest.mark.parametrize("redactor", [Redactor(b"k", patterns=("tools",)), Redactor(b"k", key_names=("id", "tools"))])
def test_what_hits_the_format_is_treated_as_before(redactor):
    step = Step(id="s", selected="find", expected=None, tools_json=msgspec.Raw(b"[]"))
    try:
        whole = hidden_whole(step, redactor)
    except msgspec.ValidationError:
        with pytest.raises(ConfigError, match="can no longer be read"):
            _hidden(step, Cleaner(redactor))
    else:
        assert _hidden(step, Cleaner(redactor)) == whole
