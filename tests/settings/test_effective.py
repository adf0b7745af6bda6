"""Every setting with its value and origin, and no secret."""

from __future__ import annotations

import msgspec
import pytest

from rightcall.settings.effective import effective, without_password
from rightcall.settings.load import load_settings
from rightcall.settings.model import Settings


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("my.db", "my.db"),
        ("sqlite:///my.db", "sqlite:///my.db"),
        ("postgresql://me:pw@host:5432/x?sslmode=require", "postgresql://me@host:5432/x?sslmode=require"),
        ("postgresql://host/x?user=me&password=pw", "postgresql://host/x?(not shown)"),
        ("postgresql://me:p/w@host/x", "(not shown)"),
        ("postgresql://me:p?w@host/x", "(not shown)"),
        ("postgresql://me:p#w@host/x", "(not shown)"),
        ("https://me:pw@[::1]:8080/v1", "https://me@[::1]:8080/v1"),
        ("http://[::1/v1", "(not shown)"),
    ],
)
def test_an_address_is_shown_without_its_password(url, shown):
    assert without_password(url) == shown
    assert "pw" not in shown


def test_all_settings_are_there_once_and_defaults_say_so(put):
    found = effective(load_settings(None, {}, {}))
    assert len({one.key for one in found}) == len(found)
    tables = {one.key.partition(".")[0] for one in found}
    assert tables == {field.encode_name for field in msgspec.structs.fields(Settings)}
    assert {one.origin for one in found} == {"default"}


def test_free_tables_are_shown_key_by_key(put):
    put(
        "rightcall.toml",
        '[aliases]\n"a.b" = "c"\n[gates]\n"golden.pass_rate" = { min = 0.9 }\n[review.people]\ndana = ["signer"]\n'
        '[policy]\nclasses = { a = "read" }\n',
    )
    found = {one.key: one for one in effective(load_settings(None, {}, {}))}
    assert found['aliases."a.b"'].value == "c"
    assert found['gates."golden.pass_rate".min'].value == 0.9
    assert found["review.people.dana"].where == "rightcall.toml:6"
    assert found["policy.classes"].value == {"a": "read"}


def test_what_may_be_secret_is_not_shown(put):
    put(
        "rightcall.toml",
        '[redact]\npatterns = ["PRC-[0-9]+"]\n[judges.a]\nheaders = { X-Team = "blue", Authorization = "$KEY" }\n'
        'base_url = "https://host/v1?version=2"',
    )
    found = {one.key: one.value for one in effective(load_settings(None, {}, {}))}
    assert found["redact.patterns"] == "(not shown)"
    assert found["judges.a.headers.X-Team"] == "(not shown)"
    assert found["judges.a.headers.Authorization"] == "$KEY"
    assert found["judges.a.base_url"] == "https://host/v1?version=2"
