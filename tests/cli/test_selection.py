"""`rightcall selection`: what it prints, writes and leaves with, with and without a judge."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from desk_suite import DESK, copy_desk, reply, step, steps_with_judge, write_lines

from rightcall.testing.answers import selection_answer
from rightcall.testing.server import FaultyServer


@pytest.fixture(autouse=True)
def no_judge_around(monkeypatch):
    """No judge of the person who runs the tests."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST", "RIGHTCALL_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def desk(rightcall, tmp_path):
    """The card desk in the current folder."""
    copy_desk(tmp_path)
    return DESK


def one_good(count: int = 1) -> str:
    return steps_with_judge([(step(f"s-{n}"), [reply()]) for n in range(count)])


# ---- what is printed -------------------------------------------------------------------------------------------------


def test_by_code_alone_it_prints_figures_with_interval_and_n_and_leaves_with_1(rightcall):
    write_lines("steps.jsonl", [step("a"), step("b", "close"), step("c", None), step("d", "freeze", None)])
    said = rightcall("selection", "steps.jsonl")
    assert said.code == 1
    assert "decided by code alone: no judge was asked" in said.out
    assert re.search(r"^precision +0\.333 +0\.061 – 0\.792 +3 calls$", said.out, re.MULTILINE)
    assert "failures: abstention_error 1 · over_action 1 · wrong_tool 1" in said.out
    assert re.search(r"^  b FAIL wrong_tool: close, not freeze *$", said.out, re.MULTILINE)
    assert said.err.splitlines()[-1] == "selection · 3 FAIL · exit 1"


def test_everything_fits_80_columns_and_names_what_waits_with_the_command_that_lists_it(rightcall, desk):
    said = rightcall("selection", "-c", desk, "--judge", "desk")
    assert said.code == 1
    assert max(map(len, said.out.splitlines())) <= 80
    lines = said.out.splitlines()
    assert "11 steps · retried 1, 0 healed by it · unevaluable 1 (JUDGE_SCHEMA 1) → review" in lines
    assert "coverage 0.909 [0.623, 0.984]: 10 of 11 have a verdict; the rest is in no figure" in lines
    run = re.search(r"run (\d+-\d+)", said.err)[1]
    assert f"  rightcall review list --run {run}" in lines
    last = f"run {run} · 6 FAIL; only 10 of 11 could be judged (0.909 < 0.98) · exit 1 · rightcall show {run}"
    assert said.err.splitlines() == [last]


def test_a_judge_that_contradicts_facts_is_named_before_any_figure(rightcall):
    wrong = [(step(f"s-{n}"), [reply(grade="FAIL", failure_category="wrong_tool")]) for n in range(8)]
    judge = steps_with_judge(wrong)
    said = rightcall("selection", "steps.jsonl", "--judge", judge, "-o", "out.md", "-o", "out.json")
    assert said.code == 0  # the names are equal: code decides
    first = "not a judgement: it contradicts what code decides in 8 of 8 verdicts"
    flat = " ".join(said.out.split())
    assert flat.startswith(f"judge {judge}: {first}")
    markdown = Path("out.md").read_text("utf-8").replace("\\", "")
    assert markdown.index("not a judgement") < markdown.index("pass rate")
    text = Path("out.json").read_text("utf-8")
    assert text.index("not a judgement") < text.index('"summary"')
    assert json.loads(text)["summary"]["judges"][judge]["stamp"] == "not a judgement"
    run = re.search(r"run (\d+-\d+)", said.err)[1]
    shown = rightcall("show", run).out
    assert shown.index("not a judgement") < shown.index("pass rate")


def test_each_judge_of_a_panel_gives_its_own_answers(rightcall, desk):
    """Two files of replies are two judges, however alike their questions are."""
    said = rightcall("selection", "-c", desk, "--judge", "desk,second", "--json")
    result = next(one for one in said.json["results"] if one["step_id"] == "allowance#g0")
    assert [(one["judge"], one["reply"]["grade"]) for one in result["judges"]] == [("desk", "PASS"), ("second", "FAIL")]
    assert (result["status"], result["reason"], result["code_grade"]) == ("UNEVALUABLE", "panel_tie", "FAIL")
    again = rightcall("selection", "-c", desk, "--judge", "second", "--json")
    grades = {one["step_id"]: one["judge_grade"] for one in again.json["results"]}
    assert grades["allowance#g0"] == "FAIL"


def test_quiet_prints_the_last_line_alone_and_no_color_no_colour(rightcall, monkeypatch):
    judge = one_good()
    said = rightcall("selection", "steps.jsonl", "--judge", judge, "--quiet")
    assert (said.code, said.out, len(said.err.splitlines())) == (0, "", 1)
    assert "· all passed · exit 0 · rightcall show " in said.err
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[3" not in rightcall("selection", "steps.jsonl", "--judge", judge, "--no-color").out


# ---- files -----------------------------------------------------------------------------------------------------------


def test_json_is_one_object_and_nothing_else(rightcall, desk):
    said = rightcall("selection", "-c", desk, "--judge", "desk", "--json")
    value = json.loads(said.out)
    assert list(value) == ["run", "summary", "results", "digest"]
    assert len(value["results"]) == value["summary"]["n"] == 11
    precision = value["summary"]["overall"]["precision"]
    assert set(precision) == {"estimate", "low", "high", "n", "method", "excluded", "reason"}
    assert (precision["estimate"], precision["n"], precision["excluded"]) == (3 / 8, 8, 1)
    assert value["summary"]["coverage"]["estimate"] == 10 / 11
    assert said.err.count("\n") == 1


def test_a_figure_that_is_undefined_is_null_with_a_reason(rightcall):
    write_lines("steps.jsonl", [step("a", None, None)])
    figures = rightcall("selection", "steps.jsonl", "--json").json["summary"]
    assert figures["overall"]["precision"]["estimate"] is None
    assert figures["overall"]["precision"]["reason"]


def test_csv_neutralises_formulas_and_shows_what_is_hidden(rightcall):
    tools = [{"name": "=cmd()"}, {"name": "a\u202eb"}]
    write_lines("steps.jsonl", [step("-x", "=cmd()", "a\u202eb", tools=tools)])
    rightcall("selection", "steps.jsonl", "-o", "out.csv")
    (row,) = csv.DictReader(io.StringIO(Path("out.csv", newline="").read_text("utf-8")))
    assert (row["step_id"], row["selected_tool"], row["expected_tool"]) == ("'-x", "'=cmd()", "a\\u202eb")


def test_markdown_escapes_what_would_be_markup(rightcall):
    tools = [{"name": "<b>|x"}, {"name": "freeze"}]
    write_lines("steps.jsonl", [step("*s*", "<b>|x", "freeze", tools=tools)])
    rightcall("selection", "steps.jsonl", "-o", "out.md")
    text = Path("out.md").read_text("utf-8")
    assert "\n### `*s*`\n" in text
    assert r"- `wrong_tool: <b>\u007cx, not freeze`" in text
    assert not re.search("[<*]", re.sub(r"```.*?```|`[^`\n]*`|\*\*[A-Z][^*\n]*\*\*", "", text, flags=re.DOTALL))


def test_files_are_whole_or_absent(rightcall, tmp_path):
    write_lines("steps.jsonl", [step("a"), step("a")])
    said = rightcall("selection", "steps.jsonl", "--judge", one_good(), "-o", "out.json", "-o", "out.csv")
    assert said.code == 0
    write_lines("steps.jsonl", [step("a"), step("a")])
    (tmp_path / "out.json").unlink()
    said = rightcall("selection", "steps.jsonl", "-o", "out.json", "-o", "other.csv")
    assert (said.code, said.out) == (2, "")
    assert "CASE_DUPLICATE_ID" in said.err
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith((".o", "o"))) == ["out.csv"]


# ---- exit codes ------------------------------------------------------------------------------------------------------


def test_a_step_that_no_reply_is_recorded_for_leaves_with_5_and_a_fail_wins_over_it(rightcall):
    judge = steps_with_judge([(step("a"), [reply()]), (step("b"), [])])
    said = rightcall("selection", "steps.jsonl", "--judge", judge)
    assert (said.code, "1 without an answer on record" in said.err) == (5, True)
    judge = steps_with_judge([(step("a", "close"), [reply("close")]), (step("b"), [])])
    said = rightcall("selection", "steps.jsonl", "--judge", judge)
    assert said.code == 1
    assert re.search(r"· 1 FAIL; 1 without an answer on record; only 1 of 2 could be judged .* · exit 1 ·", said.err)


def test_replies_that_nobody_can_read_lower_the_coverage_and_leave_with_3(rightcall):
    rows = [(step(f"s-{n}"), [reply()]) for n in range(3)]
    judge = steps_with_judge([*rows, (step("bad"), ["no", "no"])])
    said = rightcall("selection", "steps.jsonl", "--judge", judge)
    assert said.code == 3
    assert "only 3 of 4 could be judged (0.750 < 0.98) · exit 3" in said.err


def test_a_budget_that_is_spent_leaves_with_5_and_the_run_goes_on_when_resumed(rightcall):
    judge = one_good(6)
    said = rightcall("selection", "steps.jsonl", "--judge", judge, "--budget", "2calls", "--jobs", "1")
    assert said.code == 5
    flat = " ".join(said.out.split())
    assert flat.startswith("the run is not complete (stopped): the budget of 2 calls is spent")
    assert "4 items not asked" in flat
    run = re.search(r"run (\d+-\d+)", said.err)[1]
    listed = rightcall("runs").out
    assert "stopped" in listed
    assert "4 not asked" in listed
    more = rightcall("selection", "steps.jsonl", "--judge", judge, "--resume", run)
    assert more.code == 0
    assert "6 steps · 2 of them judged before" in more.out


def test_offline_asks_nobody_and_a_miss_leaves_with_5(rightcall, write):
    write("judge.py", "raise SystemExit('nobody may ask me')")
    one_good()
    said = rightcall("selection", "steps.jsonl", "--judge", "command:python judge.py", "--offline")
    assert said.code == 5
    assert "1 without an answer on record" in said.err


def test_exit_zero_hides_what_was_found_and_not_what_broke(rightcall):
    judge = steps_with_judge([(step("a", "close"), [reply("close")]), (step("b"), [])])
    said = rightcall("selection", "steps.jsonl", "--judge", judge, "--exit-zero")
    assert (said.code, "exit 5 (would be 1)" in said.err) == (5, True)
    judge = steps_with_judge([(step("a", "close"), [reply("close")])])
    said = rightcall("selection", "steps.jsonl", "--judge", judge, "--exit-zero")
    assert (said.code, "· 1 FAIL · exit 0 (would be 1)" in said.err) == (0, True)


def test_without_any_judge_auto_grades_by_code_and_says_so(rightcall):
    write_lines("steps.jsonl", [step("a")])
    said = rightcall("selection", "steps.jsonl", "--judge", "auto")
    assert said.code == 0
    first = said.err.splitlines()[0]
    assert first.startswith("no judge was asked: no judge is configured")
    assert said.out.splitlines()[:2] == ["decided by code alone: no judge was asked", "1 step · unevaluable 0"]


@pytest.mark.parametrize(
    ("tokens", "code", "message"),
    [
        (("steps.jsonl", "--only", "NOPE"), 2, r"--only: nothing has the id `NOPE`"),
        (("steps.jsonl", "--limit", "0"), 2, r"--limit: must be at least 1"),
        (("steps.jsonl", "--judge", "nobody"), 2, r"there is no judge `nobody`"),
        (("steps.jsonl", "--judge", "recorded:absent.jsonl"), 2, r"absent.jsonl: No such file"),
        (("steps.jsonl", "--judge", "command:no-such-program"), 2, r"there is no program `no-such-program`"),
        (("steps.jsonl", "--judge", "openai:some-model"), 5, r"no credential .* \[JUDGE_AUTH\]"),
        (("steps.jsonl", "--budget", "lots"), 2, r"`lots` is no budget"),
        (("steps.jsonl", "-o", "out.pdf"), 2, r"no format is known for `out.pdf`"),
        (("steps.jsonl", "-o", "steps.jsonl"), 2, r"`steps.jsonl` is one of the files to read"),
        (("empty.jsonl",), 5, r"no step in this file"),
        (("absent.jsonl",), 2, r"absent.jsonl: .*[Nn]o such file"),
        ((), 5, r"no step file"),
    ],
)
def test_bad_input_is_one_line_with_its_code_and_leaves_no_run(rightcall, write, tokens, code, message):
    write_lines("steps.jsonl", [step("a")])
    write("empty.jsonl")
    said = rightcall("selection", *tokens)
    assert (said.code, said.out) == (code, "")
    line, last = said.err.splitlines()
    assert re.search(message, line), line
    assert last == f"exit {code}"
    assert rightcall("runs", "--store", ".rightcall/rightcall.db").out == ""


def test_a_run_to_resume_that_is_not_there_is_a_wrong_command(rightcall):
    judge = one_good()
    rightcall("selection", "steps.jsonl", "--judge", judge)
    said = rightcall("selection", "steps.jsonl", "--judge", judge, "--resume", "20200101-1")
    assert (said.code, "there is no run `20200101-1`" in said.err) == (2, True)


# ---- before anybody is asked -----------------------------------------------------------------------------------------


def test_a_dry_run_counts_and_asks_nobody(rightcall, write, tmp_path):
    write("judge.py", "raise SystemExit('nobody may ask me')")
    one_good(3)
    said = rightcall("selection", "steps.jsonl", "--judge", "command:python judge.py", "--dry-run")
    assert said.code == 0
    assert said.out.splitlines()[0] == "3 to judge · 3 calls · 0 on record"
    value = rightcall("selection", "steps.jsonl", "--judge", "command:python judge.py", "--dry-run", "--json").json
    assert (value["items"], value["calls"], value["unpriced"]) == (3, 3, 3)
    assert not (tmp_path / ".rightcall/rightcall.db").exists()


class Terminal(io.StringIO):
    """Text that somebody types at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "is_asked"), [("\n", True), ("y\n", True), ("n\n", False), ("what\n", False), ("", False)]
)
def test_on_a_terminal_it_asks_before_it_asks_a_judge(rightcall, write, monkeypatch, typed, is_asked):
    write("judge.py", f"print({reply()!r})")
    write_lines("steps.jsonl", [step("a")])
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    said = rightcall("selection", "steps.jsonl", "--judge", "command:python judge.py")
    assert "continue? [Y/n] " in said.err
    assert "1 to judge · 1 calls · 0 on record" in said.err
    assert ("· all passed · exit 0" in said.err) is is_asked
    assert ("nobody was asked · exit 0" in said.err) is not is_asked


@pytest.mark.parametrize("flag", ["--yes", "--quiet"])
def test_yes_and_quiet_do_not_ask(rightcall, write, monkeypatch, flag):
    write("judge.py", f"print({reply()!r})")
    write_lines("steps.jsonl", [step("a")])
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    said = rightcall("selection", "steps.jsonl", "--judge", "command:python judge.py", flag)
    assert "continue?" not in said.err
    assert "exit 0 · rightcall show" in said.err


# ---- a real endpoint -------------------------------------------------------------------------------------------------


def served(plan):
    """A server that answers rightly but for what the plan says."""
    answers = selection_answer(selected="freeze", expected="freeze")
    return FaultyServer(answers=answers, plan=plan, marker=r"case-\d+", slow=0.01, retry_after=0.01)


def settings(write, server):
    write("rightcall.toml", f'[judges.j]\nmodel = "faulty-model"\nbase_url = "{server.base_url}"\ntimeout = 5\n')


def case_steps(count):
    return write_lines("steps.jsonl", [step(f"case-{n:03d}") for n in range(count)])


def test_a_refused_credential_leaves_with_5_and_says_how_many_were_not_asked(rightcall, write):
    case_steps(5)
    with served({"unauthorized": 1.0}) as server:
        settings(write, server)
        said = rightcall("selection", "steps.jsonl", "--judge", "j")
    assert said.code == 5
    assert "5 not asked: judge `j`: " in said.err


def test_a_judge_that_is_never_reached_leaves_with_5(rightcall, write):
    case_steps(2)
    with served(None) as server:
        settings(write, server)
        written = Path("rightcall.toml").read_text("utf-8")
        write("rightcall.toml", written.replace("/v1", "/nowhere"))  # 404: an error at once
        said = rightcall("selection", "steps.jsonl", "--judge", "j", "--json")
    assert said.code == 5
    assert "no judge was reached" in said.err
    assert said.json["summary"]["unevaluable_by_reason"] == {"JUDGE_UNREACHABLE": 2}


def test_answers_of_another_model_are_said_before_the_figures_and_on_record(rightcall, write):
    case_steps(3)
    with served(lambda asked: "wrong_model" if "case-001" in asked.user and not asked.attempt else None) as server:
        settings(write, server)
        said = rightcall("selection", "steps.jsonl", "--judge", "j", "-o", "out.json")
    note = "judge j: 1 answer came from `faulty-model-other`, which is not the model asked for: not used"
    assert said.code == 0
    assert " ".join(said.out.split()).startswith(note)
    assert json.loads(Path("out.json").read_text("utf-8"))["run"]["notes"] == [note]
    run = re.search(r"run (\d+-\d+)", said.err)[1]
    assert note in " ".join(rightcall("show", run).out.split())


def test_tokens_and_money_are_counted_and_faults_of_the_network_named(rightcall, write):
    case_steps(3)
    with served(lambda asked: "rate_limited" if "case-002" in asked.user and not asked.attempt else None) as server:
        write(
            "rightcall.toml",
            f'[judges.j]\nmodel = "faulty-model"\nbase_url = "{server.base_url}"\nprice = {{ input = 1, output = 2 }}\n',
        )
        said = rightcall("selection", "steps.jsonl", "--judge", "j")
    assert said.code == 0
    line = next(line for line in said.out.splitlines() if " calls · " in line)
    assert re.fullmatch(r"5 calls · [\d,]+ tokens in, [\d,]+ out · 0\.\d{4} usd · failed:", line.rstrip()) or (
        "failed: JUDGE_RATE_LIMITED 1" in said.out
    )
    assert "JUDGE_RATE_LIMITED 1" in said.out
    again = rightcall("selection", "steps.jsonl", "--judge", "j")
    assert "0 calls · 3 answers from the record" in again.out
