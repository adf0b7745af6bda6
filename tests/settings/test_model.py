"""What the settings file may hold, with its defaults."""

from __future__ import annotations

import msgspec
import pytest

from rightcall.grade.golden import Options
from rightcall.settings.model import Settings
from rightcall.trace.redact import KEY_NAMES


def test_the_defaults_are_those_of_the_parts_that_use_them():
    settings, options = Settings(), Options()
    assert settings.golden.profile == options.profile
    assert settings.golden.min_overall == options.min_overall
    assert (settings.golden.retries == "free") is options.retries_are_free
    assert (settings.golden.surplus_reads == "free") is options.surplus_reads_are_free
    assert settings.redact.keys == KEY_NAMES
    assert not settings.policy.has_rules
    assert (settings.limits.jobs, settings.limits.failures, settings.limits.coverage) == (1, 20, 0.98)


def test_settings_do_not_change_once_they_are_read():
    with pytest.raises(AttributeError):
        Settings().traces = "other"


def test_no_table_takes_a_key_that_it_does_not_know():
    tables = [
        Settings,
        *(type(value) for value in msgspec.structs.asdict(Settings()).values() if isinstance(value, msgspec.Struct)),
    ]
    assert len(tables) == 11
    assert [table.__name__ for table in tables if not table.__struct_config__.forbid_unknown_fields] == []


def test_every_table_says_what_it_is_for():
    for table in msgspec.structs.fields(Settings):
        if isinstance(table.type, type) and issubclass(table.type, msgspec.Struct):
            assert table.type.__doc__
