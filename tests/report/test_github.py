"""What GitHub Actions shows: summary, ten annotations at most, outputs; and nothing of a trace that it obeys."""

from __future__ import annotations

import io
import re

import pytest
from report_making import HOSTILE, case, hostile_case, report

from rightcall.errors import ConfigError, Place
from rightcall.report.formats import github
from rightcall.report.formats.github import COMMENT, MARKER, STEP, annotated, comment, publish, quiet_commands
from rightcall.report.view.model import CallLine

COMMAND = re.compile(r"::(error|warning) ((?:[a-z]+=[^,:\r\n]*,?)+)::([^\r\n]*)")


def parsed(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the runner reads it."""
    found = COMMAND.fullmatch(line)
    assert found, line
    pairs = dict(pair.split("=", 1) for pair in found[2].split(","))
    return found[1], {name: unescaped(value) for name, value in pairs.items()}, unescaped(found[3])


def unescaped(text: str) -> str:
    """The runner's reading of its escapes."""
    for escape, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(escape, character)
    return text


@pytest.fixture
def runner(tmp_path):
    """The environment of a step."""
    (tmp_path / "temp").mkdir()
    return {
        "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"), "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_WORKSPACE": str(tmp_path),
    }  # fmt: skip


def test_a_failure_is_an_error_at_the_line_of_its_case():
    (line,) = annotated(report([case(place=Place("golden/lost.toml", 14))]), {})
    level, properties, message = parsed(line)
    assert level == "error"
    assert (properties["file"], properties["line"]) == ("golden/lost.toml", "14")
    assert properties["title"] == "golden freeze: 1 result"
    assert message == "t-1: HIGH missing_call: freeze was not called"


def test_failures_are_grouped_by_tool_the_largest_group_first():
    cases = [case(f"a-{n}", tool="freeze") for n in range(2)] + [case(f"b-{n}", tool="close") for n in range(7)]
    titles = [parsed(line)[1]["title"] for line in annotated(report(cases), {})]
    assert titles == ["golden close: 7 results", "golden freeze: 2 results"]
    assert "b-0, b-1, b-2 and 4 more: " in annotated(report(cases), {})[0]


@pytest.mark.parametrize("tools", [9, 10, 11, 40])
def test_no_more_annotations_than_github_shows(tools):
    lines = annotated(report([case(f"t-{n}", tool=f"tool-{n}") for n in range(tools)]), {})
    assert len(lines) == min(tools, 10)
    if tools > 10:
        assert parsed(lines[-1])[2] == f"and {tools - 9} more, in the step summary and the report"


def test_what_is_not_looked_at_is_counted(monkeypatch):
    monkeypatch.setattr(github, "_LOOKED_AT", 3)
    lines = annotated(report([case(f"t-{n}") for n in range(8)]), {})
    assert parsed(lines[-1])[2].startswith("and 5 more")


def test_who_waits_for_a_person_is_a_warning():
    assert parsed(annotated(report([case(outcome="waiting")]), {})[0])[0] == "warning"


def test_nothing_in_a_message_ends_it_or_begins_another():
    line = annotated(report([hostile_case()]), {})[0]
    level, properties, message = parsed(line)
    assert level == "error"
    assert set(properties) == {"file", "line", "title"}
    assert "##[" not in line
    assert "\\u000d\\u000a::error::forged" in message
    percent = annotated(report([case("50%0A::error::x", words=("a,b:c%",))]), {})[0]
    assert parsed(percent)[2] == "50%0A::error::x: a,b:c%"


def test_files_are_named_from_the_root_of_the_repository(tmp_path, monkeypatch):
    (tmp_path / "evals").mkdir()
    monkeypatch.chdir(tmp_path / "evals")
    root = {"GITHUB_WORKSPACE": str(tmp_path)}
    assert github.from_repository("cases.toml", root) == "evals/cases.toml"
    assert github.from_repository(str(tmp_path / "evals/a.toml"), root) == "evals/a.toml"
    assert github.from_repository("cases.toml", {}) == "cases.toml"


def test_the_summary_is_added_to_what_is_there(runner, tmp_path):
    (tmp_path / "summary.md").write_text("before\n", "utf-8")
    publish(report([case()]), runner, io.StringIO())
    text = (tmp_path / "summary.md").read_text("utf-8")
    assert text.startswith("before\n# rightcall: FAIL")


@pytest.mark.parametrize("there", [STEP - 5_000, STEP - 100, STEP + 10])
def test_the_summary_never_grows_beyond_what_github_takes(runner, tmp_path, capsys, there):
    (tmp_path / "summary.md").write_bytes(b"x" * there)
    lines = (CallLine(state="wrong", expected="x" * 200, actual="y" * 200),)
    publish(report([case(f"t-{n}", lines=lines) for n in range(40)]), runner, io.StringIO())
    size = (tmp_path / "summary.md").stat().st_size
    assert size <= max(there, STEP)
    assert (size > there) == (there == STEP - 5_000)
    assert ("full already" in capsys.readouterr().err) == (there != STEP - 5_000)


def test_the_outputs_are_verdict_exit_code_run_and_comment(runner, tmp_path):
    publish(report([case()], run_id="20261130-7\nverdict=PASS"), runner, io.StringIO())
    lines = (tmp_path / "output").read_text("utf-8").splitlines()
    assert lines == [
        "verdict=FAIL", "exit-code=1", "run-id=20261130-7\\u000averdict=PASS",
        f"comment={tmp_path / 'temp/rightcall-comment.md'}",
    ]  # fmt: skip
    assert (tmp_path / "temp/rightcall-comment.md").read_text("utf-8").startswith(MARKER)


def test_outside_github_one_line_says_so(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    publish(report([case()]), {})
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "--github: this is no step of GitHub Actions, so nothing was published there\n"
    assert list(tmp_path.iterdir()) == []


def test_annotations_leave_stdout_to_data(runner, capsys):
    publish(report([case()]), runner)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("::error ")


def test_a_file_of_the_runner_that_cannot_be_written_is_one_clear_error(runner, tmp_path):
    with pytest.raises(ConfigError, match="the step summary cannot be written"):
        publish(report([case()]), runner | {"GITHUB_STEP_SUMMARY": str(tmp_path / "no/summary.md")}, io.StringIO())
    with pytest.raises(ConfigError, match="an output of the step cannot be written"):
        publish(report([case()]), runner | {"GITHUB_OUTPUT": str(tmp_path / "no/output")}, io.StringIO())


def test_a_comment_begins_with_its_mark_and_is_short_enough():
    lines = (CallLine(state="wrong", expected="ä" * 4_000, actual="y"),)
    text = comment(report([case(f"t-{n}", lines=lines) for n in range(40)]))
    assert text.split("\n", 1)[0] == MARKER
    assert len(text) <= len(text.encode()) <= COMMENT


def test_a_trace_cannot_write_the_mark_of_a_comment():
    text = comment(report([hostile_case(unit=f"x\n{MARKER}")]))
    assert text.count(f"\n{MARKER}") == 0


def test_what_is_printed_meanwhile_is_no_command_of_the_runner():
    stream = io.StringIO()
    with quiet_commands({"GITHUB_ACTIONS": "true"}, stream):
        stream.write(f"{HOSTILE}\n")
    lines = stream.getvalue().splitlines()
    word = lines[0].removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", word)
    assert lines[-1] == f"::{word}::"


def test_outside_github_nothing_is_printed_around():
    stream = io.StringIO()
    with quiet_commands({}, stream):
        stream.write("as it is\n")
    assert stream.getvalue() == "as it is\n"


def test_commands_are_obeyed_again_after_an_error():
    stream = io.StringIO()
    with pytest.raises(RuntimeError), quiet_commands({"GITHUB_ACTIONS": "true"}, stream):
        raise RuntimeError
    assert len(stream.getvalue().splitlines()) == 2
