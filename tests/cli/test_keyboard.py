"""The keyboard: whole lines from a terminal, and what is done while nobody types."""

from __future__ import annotations

import os
import pty

import pytest

from rightcall.cli.keyboard import LONGEST, Keyboard


@pytest.fixture
def terminal():
    """Return both ends of a terminal: where a person types, and where a program reads."""
    typing, reading = pty.openpty()
    yield typing, reading
    os.close(typing)
    os.close(reading)


def board(source: int, idle=lambda: None, **more) -> Keyboard:
    return Keyboard(idle, **{"every": 10.0, **more}, source=source)


def test_lines_that_were_typed_ahead_come_one_by_one(terminal, capsys):
    typing, reading = terminal
    os.write(typing, b"  one \ntwo\n\n")
    keys = board(reading)
    assert [keys.line("> "), keys.line("> "), keys.line("> ")] == ["one", "two", ""]
    assert capsys.readouterr().out == "> > > "


def test_the_end_of_input_is_an_end_also_in_the_middle_of_a_line(capsys):
    reading, writing = os.pipe()
    os.write(writing, b"half a line")
    os.close(writing)
    with pytest.raises(EOFError):
        board(reading).line("> ")
    os.close(reading)
    assert capsys.readouterr().out == "> "


def test_a_line_that_is_no_text_is_asked_for_again(terminal, capsys):
    typing, reading = terminal
    os.write(typing, b"caf\xe9\ncaf\xc3\xa9\n")
    assert board(reading).line("> ") == "café"
    assert capsys.readouterr().out == "> this is not UTF-8: please type it again\n> "


def test_a_line_that_the_terminal_may_have_cut_is_refused(terminal, capsys):
    typing, reading = terminal
    os.write(typing, b"x" * (LONGEST + 1) + b"\n")
    os.write(typing, b"short\n")
    assert board(reading).line("> ") == "short"
    assert "may be cut: use --file" in capsys.readouterr().out


def test_something_is_done_while_nobody_types_but_not_for_ever(terminal):
    typing, reading = terminal
    done = []

    def idle() -> None:
        done.append(1)
        if len(done) == 3:
            os.write(typing, b"at last\n")

    assert board(reading, idle, every=0.01, patience=3).line("> ") == "at last"
    assert len(done) == 4
