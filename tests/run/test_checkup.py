"""The checks of `doctor` one by one, where the command line cannot make what is needed."""

from __future__ import annotations

from collections import namedtuple

import pytest

from rightcall.errors import ConfigError, NoDataError, StoreError
from rightcall.run.checkup import parts as checkup_parts
from rightcall.run.checkup import store as checkup_store
from rightcall.run.checkup.doctor import checkup, exit_code
from rightcall.run.checkup.files import in_bytes
from rightcall.run.checkup.findings import failed, good, odd

NOW = "2026-11-30T10:00:00.000+00:00"
FAILURES = {2: failed("a", ConfigError("x")), 5: failed("a", StoreError("x"))}


@pytest.mark.parametrize(
    ("codes", "code"), [((), 0), ((5,), 5), ((2,), 2), ((5, 2), 2), ((5, 5), 5)]
)  # fmt: skip
def test_the_exit_code_is_that_of_the_worst_failure(codes, code):
    assert exit_code([good("a", "b"), odd("c", "d"), *(FAILURES[one] for one in codes)]) == code


def test_a_failure_has_the_exit_code_of_its_error():
    assert failed("traces", NoDataError("x", hint="y")).exit_code == 5
    assert failed("traces", NoDataError("x", hint="y")).hint == "y"


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (12_345, "12.3 kB"), (123_456, "123 kB"), (5e6, "5.0 MB"),
     (7.8e9, "7.8 GB"), (2e13, "20.0 TB")],
)  # fmt: skip
def test_a_size_is_told_as_people_read_it(size, text):
    assert in_bytes(size) == text


def looked_at(tmp_path, text: str) -> dict[str, object]:
    (tmp_path / "rightcall.toml").write_text(text)
    return {
        check.what: check for check in checkup(tmp_path / "rightcall.toml", {}, {}, now=NOW, version="0", offline=True)
    }


def test_little_room_on_the_disk_is_a_warning(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")  # noqa: PYI024 - what shutil returns
    monkeypatch.setattr(checkup_store.shutil, "disk_usage", lambda _: usage(10, 5, 1_500_000))
    found = looked_at(tmp_path, "version = 1")["disk"]
    assert (found.status, found.detail) == ("warn", "1.5 MB free where the store is")


def test_a_folder_that_may_not_be_written_cannot_hold_a_store(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    found = looked_at(tmp_path, 'store = "sub/s.db"')["store"]
    assert (found.status, found.exit_code) == ("fail", 5)
    assert f"cannot be made: {tmp_path} may not be written" in found.detail


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ('[judges.a]\nprovider = "anthropic"\nmodel = "m"', "anthropic"),
        ('store = "postgresql://me@127.0.0.1:9/x"', "postgres"),
        ('traces = "log.eval"', "inspect"),
        ('traces = "spans.binpb.gz"', "otlp"),
    ],
)
def test_an_extra_that_the_suite_needs_and_that_is_not_there_is_a_failure(tmp_path, monkeypatch, text, extra):
    monkeypatch.setattr(checkup_parts, "find_spec", lambda _: None)
    for name in ("log.eval", "spans.binpb.gz"):
        (tmp_path / name).write_bytes(b"")
    found = looked_at(tmp_path, text)["extras"]
    assert (found.status, found.exit_code, found.hint) == ("fail", 2, f"pip install 'rightcall[{extra}]'")
    assert found.detail.startswith(f"`{extra}` is not installed, and ")


def test_what_no_part_needs_is_only_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(checkup_parts, "find_spec", lambda _: None)
    found = looked_at(tmp_path, "version = 1")["extras"]
    assert (found.status, found.detail) == (
        "ok", "installed: none; not needed: anthropic, inspect, lake, mcp, otlp, postgres",
    )  # fmt: skip
