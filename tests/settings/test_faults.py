"""Faults of form, each once, and how they are put together."""

from __future__ import annotations

import pytest

from rightcall.errors import Place
from rightcall.settings.faults import Fault, SettingsError, faults_of_form, key_path, refuse
from rightcall.settings.model import Settings


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("a", "b-c", "d_1"), "a.b-c.d_1"),
        (("a", 0, "b"), "a[0].b"),
        (("judges", "my judge"), 'judges."my judge"'),
        (("aliases", 'a."b'), 'aliases."a.\\"b"'),
        ((), ""),
    ],
)
def test_a_path_is_written_as_in_toml(path, text):
    assert key_path(path) == text


def test_a_slip_for_a_required_key_is_one_fault():
    table = {"policy": {"requires": [{"tool": "a", "befor": ["b"]}]}}
    assert [(fault.path[-1], fault.at_key) for fault in faults_of_form(Settings, table)] == [("befor", True)]


def test_a_value_that_a_union_refuses_is_one_fault_where_it_is_wrong():
    assert [fault.path for fault in faults_of_form(Settings, {"traces": ["a", 1, 2]})] == [("traces", 1), ("traces", 2)]
    assert [fault.path for fault in faults_of_form(Settings, {"traces": 1})] == [("traces",)]


def test_what_json_cannot_say_is_one_fault_and_no_second_one():
    (fault,) = faults_of_form(Settings, {"limits": {"coverage": float("nan")}})
    assert fault.message == "must be a finite number, got nan"


def test_without_a_fault_nothing_is_raised():
    refuse([], lambda _: Place())


def test_faults_without_a_line_keep_their_order():
    faults = [Fault(("b",), "first", "do it"), Fault(("a",), "second")]
    with pytest.raises(SettingsError) as error:
        refuse(faults, lambda fault: Place("command line", None, None, key_path(fault.path)))
    assert str(error.value) == "command line at b: first; do it (and 1 more: a: second) [CONFIG_INVALID]"
    assert [fault.message for fault in error.value.faults] == ["first", "second"]


def test_a_long_value_is_shown_short_and_without_secrets():
    (fault,) = faults_of_form(Settings, {"limits": {"jobs": "sk-" + "a1" * 20}})
    assert "a1a1" not in fault.message
    (fault,) = faults_of_form(Settings, {"limits": {"jobs": "x" * 500}})
    assert len(fault.message) < 120
