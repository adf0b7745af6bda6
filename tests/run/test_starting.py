"""A first suite as texts: guessed classes, settings that can be read back."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.run.starting.first import guess_class
from rightcall.run.starting.texts import quoted, settings_text


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("delete_customer", "destructive"), ("cancelCard", "destructive"), ("mcp__bank__transferMoney", "destructive"),
        ("update_address", "write"), ("getUser", "read"), ("search_and_delete", "destructive"), ("get_or_create", "write"),
        ("frobnicate", "unknown"), ("target", "unknown"), ("HTTPGet", "read"), ("payload_reader", "unknown"),
    ],
)  # fmt: skip
def test_the_most_dangerous_verb_in_a_name_decides(name, kind):
    assert guess_class(name) == kind


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(
    st.lists(texts, min_size=1, max_size=3), st.dictionaries(texts, st.sampled_from(["read", "destructive", "unknown"]))
)
def test_whatever_files_and_tools_are_called_the_settings_say_just_that(traces, classes):
    table = tomllib.loads(settings_text(traces, classes))
    known = {name: kind for name, kind in classes.items() if kind != "unknown"}
    assert table["traces"] == traces
    assert table["policy"] == {"guessed": list(known), "classes": known}
    assert "golden.pass_rate" in table["gates"]


@given(texts)
def test_a_text_is_quoted_so_that_toml_reads_it(text):
    assert tomllib.loads(f"{quoted(text)} = {quoted(text)}") == {text: text}


def test_the_share_is_only_asked_where_each_trace_has_its_own_golden():
    assert "golden.pass_rate" not in tomllib.loads(settings_text(["t"], {}, has_tries=True))["gates"]
