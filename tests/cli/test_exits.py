"""Exit codes, and the one line that a person sees when something stops the work."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
from cyclopts import App
from hypothesis import given
from hypothesis import strategies as st

from rightcall import errors
from rightcall.cli import exits
from rightcall.cli.exits import RANK, guarded, worst
from rightcall.errors import Place, RightcallError, TraceError

TREE = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, RightcallError)]


# ---- which code wins -------------------------------------------------------------------------------------------------


def test_the_order_of_causes():
    assert RANK == (2, 1, 5, 4, 3, 0)


@pytest.mark.parametrize(("left", "right"), list(combinations(RANK, 2)))
def test_of_two_causes_the_higher_one_wins(left, right):
    assert worst([left, right]) == worst([right, left]) == left


@given(st.lists(st.sampled_from(RANK)))
def test_the_worst_of_any_causes(codes):
    assert worst(codes) == min(codes, key=RANK.index, default=0)


# ---- what stops the work ---------------------------------------------------------------------------------------------


@pytest.fixture
def stopped(capfd, monkeypatch):
    """Run a command that raises, and give the exit code and the lines on stderr."""
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")

    def run(error: BaseException | None, code: object = None) -> tuple[int, list[str]]:
        app = App(suppress_keyboard_interrupt=False)

        @app.default
        def command() -> object:
            if error is not None:
                raise error
            return code

        found = guarded(app, [])
        out, err = capfd.readouterr()
        assert out == ""
        return found, err.splitlines()

    return run


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_every_error_of_the_tree_is_one_line_with_its_code(stopped, kind):
    error = kind("what\nis wrong", place=Place("f.jsonl", 3), hint="do\r\nthis")
    code, lines = stopped(error)
    assert code == kind.exit_code
    assert lines == [f"rightcall: f.jsonl:3: what is wrong; do this [{kind.default_code}]", f"exit {code}"]


def test_a_line_does_not_play_tricks(stopped):
    _, lines = stopped(TraceError("a\x1b[31m\u202e\u2028b\x85c", place=Place("f\x07.jsonl")))
    assert lines[0] == "rightcall: f\\u0007.jsonl: a\\u001b[31m\\u202e b c [TRACE_MALFORMED]"
    assert len(lines) == 2


@given(message=st.text(), hint=st.text(), path=st.text())
def test_any_text_is_one_line(message, hint, path):
    from contextlib import redirect_stderr
    from io import StringIO

    text = StringIO()
    with redirect_stderr(text):
        exits._say_error(TraceError(message, hint=hint, place=Place("f", path=path)))
    assert len(text.getvalue().splitlines()) == 2
    assert text.getvalue().endswith("[TRACE_MALFORMED]\nexit 2\n")


@pytest.mark.parametrize(
    "secret", ["4111 1111 1111 1111", "amy@example.com", "sk-test1234567890abcdefABCDEF", "password=hunter2-very", '"token": "hunter2-very"']
)  # fmt: skip
def test_a_line_has_no_secret(stopped, secret):
    place = Place("f.jsonl", 3, None, f"$['{secret}']")
    _, lines = stopped(TraceError(f"trace `{secret}` is odd", place=place, hint=f"remove {secret}"))
    assert secret.split("=")[-1].split('"')[-2 if '"' in secret else -1] not in lines[0]
    assert lines[0].count("⟦") == 3


def test_a_broken_pipe_is_0(stopped):
    assert stopped(BrokenPipeError()) == (0, [])


def test_an_interrupt_is_130(stopped):
    assert stopped(KeyboardInterrupt()) == (130, ["rightcall: interrupted; no report was written", "exit 130"])


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "rightcall: No space left on device [RUN_BROKEN]"),
        (PermissionError(errno.EACCES, "Permission denied", "a/b"), "rightcall: a/b: Permission denied [RUN_BROKEN]"),
        (OSError("odd"), "rightcall: odd [RUN_BROKEN]"),
    ],
)
def test_a_machine_that_does_not_do_its_part_is_5(stopped, error, line):
    assert stopped(error) == (5, [line, "exit 5"])


@pytest.mark.parametrize(("code", "shown"), [(0, 0), (1, 1), (3, 3), (None, 0), ("text", 0)])
def test_the_code_of_the_command_is_that_of_the_program(stopped, code, shown):
    assert stopped(None, code) == (shown, [])


def test_an_error_that_nobody_meant_is_not_hidden(stopped):
    with pytest.raises(ZeroDivisionError):
        stopped(ZeroDivisionError())


def test_a_wrong_option_is_one_line(rightcall):
    said = rightcall("golden", "--no-such-option=4111 1111 1111 1111")
    assert said.code == 2
    assert said.err.splitlines()[-1] == "exit 2"
    assert len(said.err.splitlines()) == 2
    assert said.out == ""


# ---- precedence of a whole command -----------------------------------------------------------------------------------

FAILING = {"id": "f", "case_id": "c", "calls": [{"tool": "x", "arguments": {}}]}
PASSING = {"id": "p", "case_id": "c", "calls": []}
NO_CASE = {"id": "n", "case_id": "nowhere", "calls": []}
CASE = {"id": "c", "expect": {"calls": []}}


@pytest.mark.parametrize(
    ("traces", "code", "said"),
    [
        ([PASSING], 0, "all passed"),
        ([PASSING, FAILING], 1, "1 FAIL"),
        ([PASSING, NO_CASE], 3, "only 1 of 2 could be judged (0.500 < 0.98)"),
        ([FAILING, NO_CASE], 1, "1 FAIL; only 1 of 2 could be judged (0.500 < 0.98)"),
        ([FAILING, NO_CASE, "{"], 2, "not valid JSON"),
        ([], 5, "nothing to grade"),
    ],
    ids=["0", "1", "3", "1 > 3", "2 > 1", "5"],
)
def test_the_highest_cause_wins_and_all_are_said(rightcall, write, traces, code, said):
    write("cases.jsonl", CASE)
    write("traces.jsonl", *traces)
    found = rightcall("golden", "traces.jsonl", "--cases", "cases.jsonl", "-q")
    assert found.code == code
    assert said in found.err
    assert f"exit {code}" in found.err


def test_a_coverage_that_is_too_small_is_never_shown_as_enough(rightcall, write):
    write("cases.jsonl", CASE)
    write("traces.jsonl", *[PASSING] * 4899, *[NO_CASE] * 101)
    found = rightcall("golden", "traces.jsonl", "--cases", "cases.jsonl", "-q")
    assert found.code == 3
    assert "(0.9798 < 0.9800)" in found.err


def test_exit_zero_is_for_what_was_graded_only(rightcall, write):
    write("cases.jsonl", CASE)
    write("traces.jsonl", FAILING, NO_CASE)
    command = ("golden", "traces.jsonl", "--cases", "cases.jsonl", "-q", "--exit-zero")
    found = rightcall(*command)
    assert (found.code, "exit 0 (would be 1)" in found.err) == (0, True)
    write("traces.jsonl", "{")
    assert rightcall(*command).code == 2


# ---- files ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def interrupted(rightcall, write, monkeypatch, tmp_path):
    """Run a command that is interrupted at some point; give its code and the files that it left."""
    write("cases.jsonl", CASE)
    write("traces.jsonl", FAILING)
    before = {path.name for path in tmp_path.iterdir()}

    def run(where: str, *arguments: str, error: type[BaseException] = KeyboardInterrupt) -> tuple[int, set[str]]:
        def stop(*_: object, **__: object) -> None:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(where, stop)
            found = rightcall("golden", "traces.jsonl", "--cases", "cases.jsonl", *arguments)
        assert found.out == ""
        return found.code, {path.name for path in tmp_path.iterdir()} - before

    return run


@pytest.mark.parametrize(
    "where",
    [
        "rightcall.settings.load.load_settings", "rightcall.run.inputs.prepare.prepare", "rightcall.run.golden.grading.run",
        "rightcall.grade.golden.Grader.grade", "rightcall.report.formats.summary_md.render",
    ],
)  # fmt: skip
def test_an_interrupt_at_any_point_leaves_nothing_behind(interrupted, where):
    assert interrupted(where, "-o", "a.json", "-o", "b.csv", "-o", "c.md") == (130, set())


def test_a_file_that_cannot_be_written_takes_the_others_with_it(interrupted):
    found = interrupted("rightcall.report.formats.summary_md.render", "-o", "a.json", "-o", "b.md", error=OSError)
    assert found == (2, set())


def test_files_that_are_read_are_not_written_over(rightcall, write):
    for name in ("cases.jsonl", "traces.jsonl"):
        write("cases.jsonl", CASE)
        before = write("traces.jsonl", PASSING).read_bytes()
        found = rightcall("golden", "traces.jsonl", "--cases", "cases.jsonl", "-o", f"./{name}")
        assert found.code == 2
        assert f"--out: `{name}` is one of the files to read; name another file" in found.err
        assert Path("traces.jsonl").read_bytes() == before


# ---- pipes, from outside ----------------------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "rightcall.cli.main", "golden", "traces.jsonl", "--cases", "cases.jsonl"]


@pytest.fixture
def many_failures(write, monkeypatch, tmp_path):
    """More output than a pipe holds."""
    monkeypatch.chdir(tmp_path)
    write("cases.jsonl", CASE)
    write("rightcall.toml", "[limits]\nfailures = 300")
    write("traces.jsonl", *({**FAILING, "id": f"t{i}"} for i in range(400)))


def unread(*command: str) -> tuple[int, str]:
    """Exit code and stderr of a command whose output nobody reads."""
    reading, writing = os.pipe()
    process = subprocess.Popen([*COMMAND[:3], *command], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    os.close(reading)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["table", "json"])
def test_a_verdict_stands_though_nobody_reads_to_the_end(many_failures, options):
    assert unread(*COMMAND[3:], *options) == (1, "golden · 400 FAIL · exit 1\n")


@pytest.mark.parametrize("command", [("schema", "case"), ("demo",), ("--help",), ("lint", "cases.jsonl", "--json")])
def test_a_reader_that_stops_reading_is_no_error(many_failures, command):
    code, err = unread(*command)
    assert code == 0
    assert "Traceback" not in err
    assert "Exception" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["table", "json"])
def test_a_full_disk_under_stdout_is_one_line(many_failures, options):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *options], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (5, "rightcall: No space left on device [RUN_BROKEN]\nexit 5\n")


def test_a_terminal_that_knows_only_ascii_is_written_to(many_failures, write):
    write("traces.jsonl", {**FAILING, "id": "naïve 🙂"})
    environ = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(COMMAND, capture_output=True, env=environ, check=False)
    assert done.returncode == 1
    assert b"na\\xefve" in done.stdout
    assert done.stdout.isascii()


def test_a_stream_that_was_closed_before_the_start_is_no_fault(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    app = App()

    @app.default
    def command() -> int:
        sys.stdout.write("nobody reads this")
        return 3

    assert guarded(app, []) == 3
    for stream in (sys.stdout, sys.stderr):
        stream.close()


def test_an_interrupt_that_knows_its_run_says_how_it_goes_on(stopped):
    code, lines = stopped(KeyboardInterrupt("run r-1 was interrupted: `rightcall run --resume r-1` goes on"))
    assert code == 130
    assert "--resume r-1" in lines[0]
