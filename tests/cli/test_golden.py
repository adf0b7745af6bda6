"""`rightcall golden` as a user meets it: output, exit codes, bad input."""

from __future__ import annotations

import csv
import gzip
import io
import json

import jsonschema
import pytest
import zstandard

from rightcall.settings.schemas import SCHEMAS
from rightcall.stats.intervals import wilson

GO = ("golden", "traces.jsonl", "--cases", "cases.jsonl")


def failing(write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": [{"tool": "scan", "arguments": {}}]}})
    calls = [{"tool": "scan", "arguments": {}}, {"tool": "print", "arguments": {"copies": 2}}]
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": calls})


# ---- what it prints ---------------------------------------------------------------------------------------------


def test_a_passing_run_leaves_with_0(rightcall, suite):
    said = rightcall(*GO)
    assert said.code == 0
    assert "1 result: 1 PASS, 0 FAIL" in said.out
    assert "not that the task succeeded" in said.out
    assert said.err == "golden · all passed · exit 0\n"


def test_a_failing_run_leaves_with_1_and_explains(rightcall, write):
    failing(write)
    said = rightcall(*GO)
    assert said.code == 1
    for text in ("expected: scan", "called: scan, print", "surplus: print", "unexpected_call", "print copies=2"):
        assert text in said.out
    assert "exit 1" in said.err


def test_exit_zero_says_what_the_code_would_have_been(rightcall, write):
    failing(write)
    said = rightcall(*GO, "--exit-zero")
    assert said.code == 0
    assert "exit 0 (would be 1)" in said.err


def test_a_call_without_text_or_arguments_is_shown_with_its_name(rightcall, write):
    """A message with tool calls and no text must not look empty."""
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}})
    write("traces.jsonl", {"id": "t", "case_id": "c", "events": [
        {"type": "message", "role": "assistant", "text": ""}, {"type": "call", "id": "a", "tool": "ping", "arguments": {}},
    ]})  # fmt: skip
    assert "1 ping {}" in rightcall(*GO).out


def test_lines_fit_80_columns_and_carry_no_colour_when_piped(rightcall, write):
    failing(write)
    out = rightcall(*GO).out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out


def test_hostile_text_is_written_out(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}})
    write(
        "traces.jsonl", {"id": "t\x1b[31m", "case_id": "c", "calls": [{"tool": "a\u202eb", "arguments": {"x": "\x07"}}]}
    )
    out = rightcall(*GO).out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\x07" not in out
    assert "\\u202e" in out


def test_one_trace_in_full(rightcall, write):
    long = "x" * 300
    write("cases.jsonl", {"id": "c", "expect": {"calls": [{"tool": "say", "arguments": {"text": long}}]}})
    write(
        "traces.jsonl",
        *({"id": f"t{i}", "case_id": "c", "calls": [{"tool": "say", "arguments": {"text": long}}]} for i in range(3)),
    )
    out = rightcall(*GO, "--trace", "t1").out
    assert out.replace("\n", "").replace(" ", "").count("x" * 20) > 0
    assert "t0" not in out
    assert "1 result: 1 PASS" in out


def test_an_unknown_trace_is_a_usage_error(rightcall, suite):
    said = rightcall(*GO, "--trace", "nobody")
    assert said.code == 2
    assert "no trace has the id `nobody`" in said.err


# ---- --json and files -------------------------------------------------------------------------------------------


def test_json_is_one_object_on_stdout_and_nothing_else(rightcall, write):
    failing(write)
    said = rightcall(*GO, "--json")
    assert said.code == 1
    jsonschema.validate(said.json, SCHEMAS["result"]())
    assert list(said.json) == ["run", "summary", "results", "digest"]
    summary = said.json["summary"]
    assert (summary["n"], summary["evaluated"], summary["unevaluable"]) == (1, 1, 0)
    assert (summary["passed"], summary["failed"]) == (0, 1)
    result = said.json["results"][0]
    assert (result["trace_id"], result["case_id"], result["grader"]) == ("t", "c", "golden")
    assert (result["status"], result["reason"], result["verdict"]) == ("EVALUATED", None, "FAIL")
    assert set(result["metrics"]) == {
        "matched",
        "precision",
        "recall",
        "f1",
        "jaccard",
        "jaccard_set",
        "argument_accuracy",
        "arguments_valid",
        "order_score",
        "order_ok",
        "efficiency",
        "exact_match",
        "retries",
        "calls_failed",
        "overall",
        "unvetoed_overall",
    }
    assert result["metrics"]["argument_accuracy"] == 1
    assert result["metrics"]["order_score"] is None
    assert [finding["kind"] for finding in result["findings"]] == ["unexpected_call"]


def test_two_runs_print_the_same_json(rightcall, write):
    failing(write)
    assert rightcall(*GO, "--json").out == rightcall(*GO, "--json").out


def test_big_integers_keep_every_digit(rightcall, write):
    big = 7200000000000000001
    write("cases.jsonl", {"id": "c", "expect": {"calls": [{"tool": "load", "arguments": {"id": big}}]}})
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": [{"tool": "load", "arguments": {"id": big - 1}}]})
    finding = rightcall(*GO, "--json").json["results"][0]["findings"][0]
    assert (finding["kind"], finding["path"]) == ("wrong_argument", "$.id")
    assert (finding["expected"], finding["actual"]) == (big, big - 1)


def test_files_in_every_format(rightcall, write, tmp_path):
    failing(write)
    names = ["r.json", "r.jsonl", "r.csv", "r.md"]
    said = rightcall(*GO, "-q", *(part for name in names for part in ("-o", name)))
    assert said.code == 1
    assert json.loads((tmp_path / "r.json").read_text())["summary"]["failed"] == 1
    assert json.loads((tmp_path / "r.jsonl").read_text())["trace_id"] == "t"
    rows = list(csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text())))
    assert (rows[0]["trace_id"], rows[0]["verdict"], rows[0]["findings"]) == ("t", "FAIL", "unexpected_call")
    assert "`unexpected_call`" in (tmp_path / "r.md").read_text()


def test_csv_cells_cannot_start_a_formula(rightcall, write, tmp_path):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}})
    write("traces.jsonl", {"id": "=1+1", "case_id": "c", "calls": []})
    rightcall(*GO, "-q", "-o", "r.csv")
    assert "'=1+1" in (tmp_path / "r.csv").read_text()


@pytest.mark.parametrize(("name", "said"), [("r.pdf", "no format"), ("nowhere/r.json", "does not exist")])
def test_an_output_that_cannot_be_written_stops_before_grading(rightcall, suite, tmp_path, name, said):
    found = rightcall(*GO, "-o", name)
    assert found.code == 2
    assert said in found.err
    assert found.out == ""


def test_a_fault_in_the_last_line_leaves_no_file_behind(rightcall, write, tmp_path):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}})
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": []}, "{not json")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert rightcall(*GO, "-o", "r.json", "-o", "r.csv").code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == before


# ---- redaction ----------------------------------------------------------------------------------------------------

SECRETS = ("4111 1111 1111 1111", "amy@example.com", "sk-test1234567890abcdefABCDEF", "hunter2-very-secret")


def test_nothing_shown_or_written_holds_a_secret(rightcall, write, tmp_path):
    card, mail, key, password = SECRETS
    golden = {"tool": "pay", "arguments": {"card": card, "note": f"mail {mail}", "password": password}}
    write("cases.jsonl", {"id": f"case {mail}", "request": card, "expect": {"calls": [golden]}})
    made = {"tool": "pay", "arguments": {"card": "4242", "note": key, "password": "other " + password}, "error": mail}
    write("traces.jsonl", {"id": f"trace {mail}", "case_id": f"case {mail}", "calls": [made], "metadata": {"k": key}})
    said = rightcall(*GO, "-o", "r.json", "-o", "r.csv", "-o", "r.md", "-o", "r.jsonl")
    shown = said.out + said.err + rightcall(*GO, "--json").out
    shown += "".join(path.read_text() for path in tmp_path.glob("r.*"))
    for secret in SECRETS:
        assert secret not in shown
    assert "⟦card:" in shown
    assert "⟦email:" in shown


def test_equal_secrets_stay_equal(rightcall, write):
    call = {"tool": "pay", "arguments": {"card": SECRETS[0]}}
    write("cases.jsonl", {"id": "c", "expect": {"calls": [{**call, "arguments": {"card": SECRETS[0], "x": 1}}]}})
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": [call]})
    out = rightcall(*GO).out
    tags = {word for word in out.replace('"', " ").replace("=", " ").split() if word.startswith("⟦card:")}
    assert len(tags) == 1


# ---- joining ------------------------------------------------------------------------------------------------------


def test_a_trace_without_case_id_joins_the_only_case(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}})
    write("traces.jsonl", {"id": "t", "calls": []})
    assert rightcall(*GO, "--json").json["results"][0]["case_id"] == "c"


def test_a_trace_without_case_id_among_many_cases(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}}, {"id": "d", "expect": {"calls": []}})
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": []}, {"id": "u", "calls": []})
    said = rightcall(*GO)
    assert said.code == 2
    assert said.err.startswith("rightcall: traces.jsonl:2: trace `u` has no case_id, and there are 2 cases; ")


def test_a_case_without_a_trace_lowers_coverage(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}}, {"id": "d", "expect": {"calls": []}})
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": []})
    said = rightcall(*GO, "--json")
    assert said.code == 3
    assert said.json["results"][1]["reason"] == "no_trace"
    assert said.json["summary"]["coverage"] == 0.5
    assert "only 1 of 2 could be judged" in said.err


def test_a_trace_whose_case_is_not_there_is_unevaluable(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}})
    write("traces.jsonl", {"id": "t", "case_id": "x", "calls": []}, {"id": "u", "case_id": "c", "calls": []})
    said = rightcall(*GO, "--json")
    assert [result["reason"] for result in said.json["results"]] == ["no_case", None]
    assert said.code == 3


def test_a_fail_outranks_thin_coverage_and_both_are_said(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}}, {"id": "d", "expect": {"calls": []}})
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": [{"tool": "a", "arguments": {}}]})
    said = rightcall(*GO)
    assert said.code == 1
    assert "1 FAIL; only 1 of 2 could be judged" in said.err


def test_several_traces_of_a_case_are_trials_that_count_as_one_case(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}})
    write("traces.jsonl", *({"id": f"t{i}", "case_id": "c", "trial": i, "calls": []} for i in range(3)))
    rate = rightcall(*GO, "--json").json["summary"]["pass_rate"]
    assert (rate["estimate"], rate["n"], rate["method"]) == (1, 3, "wilson 0.95, clustered in 1 case")
    assert rate["low"] == pytest.approx(wilson(1, 1).low)


def test_a_repeated_trace_id_is_said(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}})
    write("traces.jsonl", *({"id": "t", "case_id": "c", "calls": []} for _ in range(2)))
    assert "1 traces repeat the id" in rightcall(*GO).out


# ---- settings, policy, profiles -----------------------------------------------------------------------------------


def test_the_settings_file_alone_is_enough(rightcall, write, suite):
    write("rightcall.toml", 'traces = "traces.jsonl"\ncases = "cases.jsonl"\n[golden]\nprofile = "strict"')
    said = rightcall("golden", "--json")
    assert said.code == 0
    assert said.json["run"]["profile"] == "strict"


def test_flags_win_over_environment_over_file(rightcall, write, suite, monkeypatch):
    write("rightcall.toml", '[golden]\nprofile = "strict"\nmin_overall = 0.5')
    monkeypatch.setenv("RIGHTCALL_GOLDEN__PROFILE", "exact")
    assert rightcall(*GO, "--json").json["run"]["profile"] == "exact"
    assert rightcall(*GO, "--json", "--profile", "article").json["run"]["profile"] == "article"
    assert rightcall(*GO, "--json").json["run"]["min_overall"] == 0.5


def test_a_policy_file(rightcall, write, suite):
    write("policy.toml", '[policy]\nforbidden = ["feed"]')
    said = rightcall(*GO, "--policy", "policy.toml")
    assert said.code == 1
    assert "veto: CRITICAL forbidden: feed is forbidden (call 1)" in said.out


def test_min_overall_compares_unrounded(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": [{"tool": "a"}, {"tool": "b"}, {"tool": "c"}]}})
    write(
        "traces.jsonl",
        {"id": "t", "case_id": "c", "calls": [{"tool": "a", "arguments": {}}, {"tool": "b", "arguments": {}}]},
    )
    overall = rightcall(*GO, "--json").json["results"][0]["metrics"]["overall"]
    assert rightcall(*GO, "--min-overall", str(round(overall - 0.0001, 6))).code == 0
    assert rightcall(*GO, "--min-overall", str(round(overall + 0.0001, 6))).code == 1


def test_excluded_tools_are_not_graded(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": [{"tool": "feed", "arguments": {}}]}})
    calls = [{"tool": "feed", "arguments": {}}, {"tool": "final_result", "arguments": {"x": 1}}]
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": calls})
    assert rightcall(*GO).code == 1
    write("rightcall.toml", 'exclude_tools = ["final_*"]')
    assert rightcall(*GO).code == 0


# ---- packed and large ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".zst", zstandard.compress)])
def test_packed_traces_and_cases(rightcall, write, suite, tmp_path, suffix, pack):
    for name in ("traces.jsonl", "cases.jsonl"):
        write(name + suffix, pack((tmp_path / name).read_bytes()))
    assert rightcall("golden", "traces.jsonl" + suffix, "--cases", "cases.jsonl" + suffix).code == 0


def test_processes_give_the_same_bytes_in_input_order(rightcall, write, tmp_path):
    write(
        "cases.jsonl", *({"id": f"c{i}", "expect": {"calls": [{"tool": "a", "arguments": {"i": i}}]}} for i in range(7))
    )
    filler = "f" * 3000
    write("traces.jsonl", *(
        {"id": f"t{i}", "case_id": f"c{i % 7}", "calls": [{"tool": "a", "arguments": {"i": i % 5}}], "metadata": {"f": filler}}
        for i in range(1500)
    ))  # fmt: skip
    for jobs in ("1", "2"):
        assert rightcall(*GO, "-q", "--jobs", jobs, "-o", f"r{jobs}.jsonl").code == 1
    assert (tmp_path / "r1.jsonl").read_bytes() == (tmp_path / "r2.jsonl").read_bytes()
    lines = (tmp_path / "r2.jsonl").read_text().splitlines()
    assert [json.loads(line)["trace_id"] for line in lines] == [f"t{i}" for i in range(1500)]


def test_a_fault_in_a_worker_is_one_line(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}})
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": []}, {"id": "u", "case_id": "c", "cals": []})
    said = rightcall(*GO, "--jobs", "2")
    assert said.code == 2
    assert "traces.jsonl:2 at $.cals: unknown field `cals`; did you mean `calls`?" in said.err


def test_limit_and_strict(rightcall, write):
    write("cases.jsonl", {"id": "c", "expect": {"calls": []}})
    write("traces.jsonl", *({"id": f"t{i}", "case_id": "c", "calls": []} for i in range(5)))
    assert rightcall(*GO, "--limit", "2", "--json").json["summary"]["n"] == 2


# ---- bad input: one clear line, the right code, no traceback ----------------------------------------------------


def deep(levels: int) -> str:
    return (
        '{"id": "t", "case_id": "c", "calls": [{"tool": "a", "arguments": {"x": ' + "[" * levels + "]" * levels + "}}]}"
    )


CASE = '{"id": "c", "expect": {"calls": []}}'
TRACE = '{"id": "t", "case_id": "c", "calls": []}'
BAD = {
    "traces not JSON": (["hello"], [CASE], 2, "traces.jsonl:1:1: not valid JSON"),
    "a line cut short": ([TRACE, TRACE[:20]], [CASE], 2, "traces.jsonl:2:"),
    "unknown field": (['{"id": "t", "evnts": []}'], [CASE], 2, "unknown field `evnts`; did you mean `events`?"),
    "unknown field in a case": ([TRACE], ['{"id": "c", "expct": {}}'], 2, "cases.jsonl:1 at $.expct: unknown field `expct`; did you mean `expect`? [CASE_UNKNOWN_FIELD]"),
    "a field named like a type": (['{"id": "t", "message": "x", "calls": []}'], [CASE], 2, "unknown field `message`"),
    "duplicate case id": ([TRACE], [CASE, '{"id": "c", "expect": {"calls": [{"tool": "a"}]}}'], 2, "stands twice"),
    "duplicate tool": ([TRACE], ['{"id": "c", "tools": [{"name": "a"}, {"name": "a"}], "expect": {"calls": []}}'], 2, "tool `a` is defined twice"),
    "invalid tool schema": ([TRACE], ['{"id": "c", "tools": [{"name": "a", "parameters": {"type": "strin"}}], "expect": {"calls": []}}'], 2, "[CONFIG_TOOL_INVALID]"),
    "cyclic after": ([TRACE], ['{"id": "c", "expect": {"calls": [{"tool": "a", "after": ["b"]}, {"tool": "b", "after": ["a"]}]}}'], 2, "goes in a circle"),
    "ambiguous after": ([TRACE], ['{"id": "c", "expect": {"calls": [{"tool": "a"}, {"tool": "a"}, {"tool": "b", "after": ["a"]}]}}'], 2, "`after` names `a`, which 2 golden calls have"),
    "unsupported pattern": ([TRACE], ['{"id": "c", "expect": {"calls": [{"tool": "a", "arguments": {"x": {"matches": "(?=a)"}}}]}}'], 2, "not supported by the linear-time engine"),
    "3,000-deep JSON": ([deep(3000)], [CASE], 2, "at most 256 are read"),
    "300-deep JSON": ([deep(300)], [CASE], 2, "[TRACE_TOO_DEEP]"),
    "NaN": (['{"id": "t", "case_id": "c", "calls": [{"tool": "a", "arguments": {"x": NaN}}]}'], [CASE], 2, "NaN is not a JSON value"),
    "infinity": (['{"id": "t", "case_id": "c", "calls": [{"tool": "a", "arguments": {"x": 1e999}}]}'], [CASE], 2, "traces.jsonl:1"),
    "empty traces": ([], [CASE], 5, "the file is empty: nothing to grade"),
    "blank traces": (["", "  "], [CASE], 5, "the file is empty"),
    "empty cases": ([TRACE], [], 5, "the file is empty: no case to grade against"),
    "an empty list": (["[]"], [CASE], 5, "nothing to grade"),
    "a lone surrogate": (['{"id": "t", "case_id": "c", "calls": [{"tool": "a", "arguments": {"x": "\\ud800"}}]}'], ['{"id": "c", "expect": {"calls": [{"tool": "a", "arguments": {"x": 1}}]}}'], 2, "traces.jsonl:1"),
    "neither events nor calls": (['{"id": "t", "case_id": "c"}'], [CASE], 2, "needs `events` or `calls`"),
    "no golden at all": ([TRACE], ['{"id": "c"}'], 3, "could be judged"),
    "expect without calls": ([TRACE], ['{"id": "c", "expect": {}}'], 2, "neither `calls` nor `alternatives`"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_input_gets_one_clear_line(rightcall, write, what):
    traces, cases, code, text = BAD[what]
    write("traces.jsonl", *traces)
    write("cases.jsonl", *cases)
    said = rightcall(*GO)
    assert said.code == code
    assert text in said.err
    assert "Traceback" not in said.err
    assert len(said.err.strip().splitlines()) <= 2


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("golden",), 5, "no trace file"),
        (("golden", "nowhere.jsonl", "--cases", "cases.jsonl"), 2, "nowhere.jsonl: no such file"),
        (("golden", "traces.jsonl", "--cases", "nowhere.jsonl"), 2, "nowhere.jsonl: no such file"),
        (("golden", "traces.jsonl", "--cases", "*.nothing"), 2, "no file matches `*.nothing`"),
        (("golden", "traces.jsonl"), 5, "no case file"),
        ((*GO, "--profile", "stict"), 2, "unknown profile `stict`; did you mean `strict`?"),
        ((*GO, "--from", "opnai_chat"), 2, "did you mean `openai_chat`?"),
        ((*GO, "--min-overall", "2"), 2, "command line at golden.min_overall: must be from 0 to 1, got 2.0"),
        ((*GO, "--jobs", "0"), 2, "at least 1"),
        ((*GO, "--no-such-flag"), 2, "no-such-flag"),
        ((*GO, "--tools", "nowhere.json"), 2, "nowhere.json"),
        ((*GO, "--policy", "nowhere.toml"), 2, "nowhere.toml: no such file"),
        ((*GO, "-c", "nowhere.toml"), 2, "nowhere.toml: no such file"),
        (("nonsense",), 2, "nonsense"),
    ],
)
def test_wrong_commands(rightcall, suite, arguments, code, text):
    said = rightcall(*arguments)
    assert said.code == code
    assert text in said.err
    assert said.out == ""


def test_a_truncated_gzip_file(rightcall, write, suite, tmp_path):
    packed = gzip.compress((tmp_path / "traces.jsonl").read_bytes() * 500)
    write("cut.jsonl.gz", packed[: len(packed) // 2])
    said = rightcall("golden", "cut.jsonl.gz", "--cases", "cases.jsonl", "-o", "r.json")
    assert said.code == 2
    assert "cut.jsonl.gz: damaged or truncated gzip file" in said.err
    assert not (tmp_path / "r.json").exists()


def test_bad_settings_name_line_and_nearest_key(rightcall, write, suite):
    write("rightcall.toml", "version = 1", "[golden]", 'profle = "strict"')
    said = rightcall(*GO)
    assert said.code == 2
    assert "rightcall.toml:3:1 at golden.profle: unknown field `profle`; did you mean `profile`?" in said.err


def test_a_bad_policy_names_the_file(rightcall, write, suite):
    write("p.toml", "[[policy.requires]]", 'tool = "a"', 'befor = ["b"]')
    assert "p.toml:3" in rightcall(*GO, "--policy", "p.toml").err
    write("p.toml", "[[policy.confirm]]", 'tool = "a"', 'yes = ["(?=x)"]')
    said = rightcall(*GO, "--policy", "p.toml")
    assert said.code == 2
    assert "p.toml" in said.err
    assert "'(?=x)' is not supported" in said.err


# ---- record -------------------------------------------------------------------------------------------------------


def test_record_writes_a_case_that_the_trace_passes(rightcall, write, suite, tmp_path):
    calls = [{"tool": "find", "arguments": {"q": "x"}, "result": {"id": 7}}, {"tool": "open", "arguments": {"id": 7}}]
    write("run.jsonl", {"id": "r", "case_id": "new", "calls": calls})
    said = rightcall("golden", "run.jsonl", "--record", "r", "-o", "new.toml")
    assert said.code == 0
    assert rightcall("golden", "run.jsonl", "--cases", "new.toml").code == 0
    again = rightcall("golden", "run.jsonl", "--record", "r", "-o", "new.toml")
    assert again.code == 2
    assert "never replaces another" in again.err
    assert 'tool = "find"' in rightcall("golden", "run.jsonl", "--record", "r").out
