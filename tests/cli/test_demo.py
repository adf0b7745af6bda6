"""`rightcall demo`: three suites, graded here and now, without key, network or account."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from rightcall.cli.demo import SUITES, examples


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_the_suites_are_copied_and_graded(rightcall, tmp_path):
    said = rightcall("demo")
    assert (said.code, said.err) == (0, "")
    shipped = {name: data for name, data in files(examples()).items() if name.partition("/")[0] in SUITES}
    assert files(tmp_path / "rightcall-demo") == shipped
    for suite in SUITES:
        assert f"\n{suite}\n" in said.out
        assert f"rightcall golden -c rightcall-demo/{suite}/rightcall.toml" in said.out
    assert "Everything is in rightcall-demo/ to look at and change." in said.out


def test_it_ends_in_an_insight(rightcall):
    out = " ".join(rightcall("demo").out.split())
    assert "bad-agent: FAIL, CRITICAL" in out
    assert "the published formula gives this trace 0.45, and no alarm" in out
    assert out.count("why points were lost: ") == len(SUITES)


def test_it_leaves_with_0_although_traces_fail(rightcall):
    said = rightcall("demo")
    assert said.code == 0
    assert re.search(r"[1-9]\d* FAIL", said.out)


@pytest.mark.parametrize("arguments", [("elsewhere/deep",), ("--folder", "elsewhere/deep")])
def test_another_folder(rightcall, tmp_path, arguments):
    assert rightcall("demo", *arguments).code == 0
    assert (tmp_path / "elsewhere" / "deep" / SUITES[0] / "rightcall.toml").is_file()
    assert not (tmp_path / "rightcall-demo").exists()


def test_what_it_names_can_be_run(rightcall, tmp_path):
    out = rightcall("demo").out
    for command in re.findall(r"rightcall golden -c (\S+)", out):
        assert rightcall("golden", "-c", command, "-q").code in (0, 1)


def test_files_that_are_there_are_left_as_they_are(rightcall, tmp_path):
    rightcall("demo")
    mine = tmp_path / "rightcall-demo" / SUITES[0] / "rightcall.toml"
    mine.write_text(mine.read_text() + "\n[limits]\nfailures = 1\n")
    other = tmp_path / "rightcall-demo" / SUITES[0] / "notes.txt"
    other.write_text("mine")
    gone = tmp_path / "rightcall-demo" / SUITES[1] / "README.md"
    gone.unlink()
    before = files(tmp_path / "rightcall-demo")
    assert rightcall("demo").code == 0
    after = files(tmp_path / "rightcall-demo")
    assert {name: data for name, data in after.items() if name in before} == before
    assert gone.is_file()


def test_what_was_changed_is_what_is_graded(rightcall, tmp_path):
    rightcall("demo")
    traces = tmp_path / "rightcall-demo" / "lost-wallet" / "traces.jsonl"
    traces.write_text("".join(line for line in traces.read_text().splitlines(keepends=True) if "good-agent" in line))
    out = rightcall("demo").out
    assert "1 result: 1 PASS, 0 FAIL" in out


@pytest.mark.parametrize("folder", ["a-file", "a-file/inside"])
def test_a_folder_that_cannot_be_written_is_no_reason_to_show_nothing(rightcall, tmp_path, folder):
    (tmp_path / "a-file").write_text("mine")
    said = rightcall("demo", folder)
    assert said.code == 0
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith(f"rightcall: cannot write {folder}: ")
    assert said.err.endswith("; showing the shipped suites\n")
    out = " ".join(said.out.split())
    assert f"The suites are in {examples()}/." in out
    assert "Everything is in" not in out
    assert (tmp_path / "a-file").read_text() == "mine"


def test_settings_of_the_current_folder_and_the_environment_do_not_count(rightcall, write, monkeypatch):
    write("rightcall.toml", 'frobnicate = "x"')
    monkeypatch.setenv("RIGHTCALL_GOLDEN__PROFILE", "nonsense")
    assert rightcall("demo").code == 0


def test_no_network_is_used(rightcall, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a network connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert rightcall("demo").code == 0


def test_a_pipe_gets_80_columns_without_colour(rightcall):
    out = rightcall("demo", "--no-color").out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_trace_that_was_changed_plays_no_tricks(rightcall, tmp_path):
    rightcall("demo")
    traces = tmp_path / "rightcall-demo" / "lost-wallet" / "traces.jsonl"
    traces.write_text(traces.read_text().replace("bad-agent", "bad[bold]\\u001b[31m"))
    out = rightcall("demo").out
    assert "\x1b" not in out
    assert "bad[bold]\\u001b[31m" in out
