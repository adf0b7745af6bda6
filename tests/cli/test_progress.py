"""The progress bar: on stderr, only on a terminal, only if there is something to wait for."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from rightcall.cli.progress import WORTH_A_BAR, bar


class Terminal:
    """A stream that says whether it is a terminal, and keeps what is written."""

    encoding = "utf-8"

    def __init__(self, *, is_terminal: bool) -> None:
        self._is_terminal, self.text = is_terminal, ""

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Nothing is kept back."""


@pytest.mark.parametrize(
    ("size", "quiet", "is_terminal", "shown"),
    [
        (WORTH_A_BAR, False, True, True),
        (WORTH_A_BAR - 1, False, True, False),
        (WORTH_A_BAR, True, True, False),
        (WORTH_A_BAR, False, False, False),
    ],
    ids=["long, on a terminal", "short", "quiet", "in a pipe"],
)
def test_a_bar_is_for_long_input_on_a_terminal(monkeypatch, capsys, size, quiet, is_terminal, shown):
    screen = Terminal(is_terminal=is_terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    with bar(size, quiet=quiet) as advance:
        advance(size // 2)
        advance(size // 2)
    assert ("grading" in screen.text) is shown
    assert capsys.readouterr().out == ""


def test_a_bar_goes_away_when_the_work_is_stopped(monkeypatch):
    screen = Terminal(is_terminal=True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    with pytest.raises(KeyboardInterrupt), bar(WORTH_A_BAR, quiet=False):
        raise KeyboardInterrupt
    assert screen.text.endswith(("\x1b[?25h", "\x1b[2K", "\n")) or "\x1b[?25h" in screen.text


def test_packed_input_may_be_longer_than_its_file(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal(is_terminal=True))
    with bar(WORTH_A_BAR, quiet=False) as advance:
        advance(10 * WORTH_A_BAR)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("megabytes", "options", "shown"), [(6, (), True), (6, ("-q",), False), (6, ("--json",), False), (1, (), False)]
)
def test_stdout_never_sees_it(tmp_path, megabytes, options, shown):
    """Stderr is a terminal here, stdout a pipe."""
    (tmp_path / "cases.jsonl").write_text('{"id": "c", "expect": {"calls": []}}\n')
    line = json.dumps({"id": "t", "case_id": "c", "calls": [], "metadata": {"f": "f" * 10_000}}) + "\n"
    (tmp_path / "traces.jsonl").write_text(line * (megabytes * 105))
    reading, writing = pty.openpty()
    command = [sys.executable, "-m", "rightcall.cli.main", "golden", "traces.jsonl", "--cases", "cases.jsonl", *options]
    environ = {**os.environ, "TERM": "xterm"}
    with (tmp_path / "out").open("wb") as stdout:  # a pipe that nobody empties meanwhile would stop the command
        process = subprocess.Popen(command, stdout=stdout, stderr=writing, cwd=tmp_path, env=environ)
    os.close(writing)
    seen = b""
    while True:
        try:
            part = os.read(reading, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(reading)
    assert process.wait(60) == 0
    out = (tmp_path / "out").read_bytes()
    assert (b"grading" in seen) is shown
    assert b"all passed" in seen
    assert b"grading" not in out
    assert b"\x1b" not in out
