"""`rightcall init`: a first suite that runs as it is, or nothing at all."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from rightcall.case.parse import load_yaml

CARD = "4111 1111 1111 1111"
EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = [".github/workflows/rightcall.yml", ".rightcall/.gitignore", "cases.jsonl", "rightcall.toml", "tools.json"]


def said_by(name: str, arguments: dict, **more: object) -> dict:
    """Return a chat in which the agent made one call."""
    return {
        "messages": [
            {"role": "user", "content": f"Pay with {CARD}"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}},
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "done"},
            {"role": "assistant", "content": "It is done."},
        ],
        **more,
    }  # fmt: skip


@pytest.fixture
def chat(write):
    """Two recordings that name no case, of which one holds a secret."""
    hello = {"id": "chat-2", "messages": [{"role": "user", "content": "hello"}]}
    write("chat.jsonl", said_by("pay_bill", {"card": CARD}, id="chat-1"), hello)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def runs(rightcall, folder: str = "suite") -> None:
    """Everything that a person does next works, offline and without a key."""
    config = ("-c", f"{folder}/rightcall.toml")
    golden = rightcall("golden", *config)
    assert golden.code == 0, golden.err
    assert rightcall("lint", *config).code == 0
    ran = rightcall("run", *config, "-o", "report.html", "-o", "report.json", "-o", "report.junit.xml", "--github")
    assert ran.code == 0, ran.out + ran.err
    assert "golden.vetoes" in ran.out
    gated = rightcall("gate", *config)
    assert gated.code == 0, gated.out
    assert rightcall("doctor", *config, "--offline").code == 0


# ---- it runs ---------------------------------------------------------------------------------------------------------


def test_a_suite_of_recordings_that_name_no_case_runs_as_it_is(rightcall, chat, tmp_path):
    said = rightcall("init", "chat.jsonl", "-o", "suite")
    assert said.code == 0
    assert "2 goldens sketched from accepted traces: read each before you trust it" in said.out
    assert "traces.jsonl holds copies of the traces, redacted" in said.out
    assert said.err == "next: rightcall run -c suite/rightcall.toml\n"
    assert files(tmp_path / "suite") == sorted([*FILES, "traces.jsonl"])
    runs(rightcall)


def test_a_suite_of_recordings_that_name_their_cases_reads_the_recordings(rightcall, write, tmp_path):
    write(
        "t.jsonl",
        *({"id": f"t{n}", "case_id": f"c{n}", "calls": [{"tool": "get", "arguments": {"n": n}}]} for n in (1, 2)),
    )
    assert rightcall("init", "t.jsonl", "-o", "suite").code == 0
    assert files(tmp_path / "suite") == FILES
    assert tomllib.loads((tmp_path / "suite/rightcall.toml").read_text())["traces"] == ["../t.jsonl"]
    runs(rightcall)


@pytest.mark.parametrize("name", ["card-desk", "parcel-depot", "lost-wallet", "library-desk"])
def test_a_suite_of_each_example_runs(rightcall, name):
    assert rightcall("init", str(EXAMPLES / name / "traces.jsonl"), "-o", "suite").code == 0
    assert rightcall("golden", "-c", "suite/rightcall.toml").code in (0, 1)  # several tries of a case may differ
    assert rightcall("lint", "-c", "suite/rightcall.toml").code == 0
    said = rightcall("run", "-c", "suite/rightcall.toml")
    assert said.code == 1 if "FAIL (no rule is about it)" in said.err else said.code in (0, 3)
    assert rightcall("gate", "-c", "suite/rightcall.toml").code == said.code


@pytest.mark.parametrize(
    "name",
    [
        "langsmith/run_trees_tau_airline.jsonl",
        "mlflow/traces_tau_airline.jsonl",
        pytest.param("tau2_bench/azure-gpt-4o_airline_1trial.json", marks=pytest.mark.slow),
    ],
)
def test_a_suite_of_real_recordings_runs(rightcall, shared_data, name):
    assert rightcall("init", str(shared_data / "data" / name), "-o", "suite").code == 0
    runs(rightcall)


def test_where_lint_would_object_init_says_so(rightcall, write):
    tools = [{"name": "pay", "parameters": {"type": "object", "properties": {"card": {"type": "integer"}}}}]
    write(
        "t.jsonl", {"id": "t", "case_id": "c", "tools": tools, "calls": [{"tool": "pay", "arguments": {"card": "x"}}]}
    )
    said = rightcall("init", "t.jsonl", "-o", "suite")
    assert "rightcall lint finds an error in it: correct these goldens, or accept other traces" in said.out
    assert rightcall("lint", "-c", "suite/rightcall.toml").code == 1


# ---- what is in it ---------------------------------------------------------------------------------------------------


def test_settings_goldens_classes_and_gates_are_written_and_no_secret(rightcall, chat, tmp_path):
    rightcall("init", "chat.jsonl", "-o", "suite")
    text = (tmp_path / "suite/rightcall.toml").read_text()
    table = tomllib.loads(text)
    assert table["policy"] == {"guessed": ["pay_bill"], "classes": {"pay_bill": "destructive"}}
    assert table["graders"] == ["golden", "selection"]
    assert table["gates"] == {"golden.vetoes": {"max": 0}, "golden.pass_rate": {"min": 0.9, "on": "point"}}
    assert table["store"] == ".rightcall/rightcall.db"
    for part in ("# [judges.default]", "# api_key_env", "# [review.people]", '# "golden.regressions"'):
        assert part in text
    everything = "".join(path.read_text() for path in (tmp_path / "suite").rglob("*") if path.is_file())
    assert CARD not in everything
    assert (tmp_path / "suite/.rightcall/.gitignore").read_text() == "*\n"


def test_what_is_commented_out_can_be_used_too(rightcall, chat, tmp_path):
    rightcall("init", "chat.jsonl", "-o", "suite")
    path = tmp_path / "suite/rightcall.toml"
    lines = path.read_text().splitlines()
    is_setting = [
        line.startswith(("# [", '# "')) or (line.startswith("# ") and " = " in line and "`" not in line)
        for line in lines
    ]
    path.write_text("\n".join(line[2:] if setting else line for line, setting in zip(lines, is_setting, strict=True)))
    table = tomllib.loads(path.read_text())
    assert table["judges"]["default"]["api_key_env"] == "JUDGE_KEY"
    assert table["review"]["people"].keys() == {"dana", "lee"}
    said = rightcall("doctor", "-c", "suite/rightcall.toml", "--offline")
    assert "settings" in said.out
    assert "fail  settings" not in said.out


def test_where_several_traces_share_a_case_the_share_is_left_to_a_person(rightcall, write, tmp_path):
    write(
        "t.jsonl", *({"id": f"t{n}", "case_id": "c", "calls": [{"tool": "get", "arguments": {"n": n}}]} for n in (1, 2))
    )
    said = rightcall("init", "t.jsonl", "-o", "suite")
    assert "1 trace tried a case again whose golden is an earlier trace" in said.out
    assert tomllib.loads((tmp_path / "suite/rightcall.toml").read_text())["gates"] == {"golden.vetoes": {"max": 0}}
    assert rightcall("golden", "-c", "suite/rightcall.toml").code == 1
    said = rightcall("run", "-c", "suite/rightcall.toml")
    assert (said.code, "golden: 1 FAIL (no rule is about it)" in said.err) == (1, True)


def test_only_accepted_traces_become_goldens_and_are_kept(rightcall, chat, tmp_path):
    said = rightcall("init", "chat.jsonl", "-o", "suite", "--accept", "chat-1")
    assert "1 trace without a golden left out: not accepted" in said.out
    for name in ("cases.jsonl", "traces.jsonl"):
        assert [json.loads(line)["id"] for line in (tmp_path / "suite" / name).read_text().splitlines()] == ["chat-1"]
    runs(rightcall)


def test_two_traces_of_the_same_id_are_two_cases(rightcall, write, tmp_path):
    write("chat.jsonl", said_by("get", {"n": 1}, id="x"), said_by("get", {"n": 2}, id="x"))
    rightcall("init", "chat.jsonl", "-o", "suite")
    assert [json.loads(line)["id"] for line in (tmp_path / "suite/cases.jsonl").read_text().splitlines()] == [
        "x",
        "x-2",
    ]
    assert rightcall("golden", "-c", "suite/rightcall.toml").code == 0


def test_a_secret_in_a_case_id_is_not_written(rightcall, write, tmp_path):
    write("t.jsonl", {"id": "t", "case_id": "dana@example.org", "calls": []}, {"id": "u", "case_id": "c", "calls": []})
    rightcall("init", "t.jsonl", "-o", "suite")
    assert "dana@example.org" not in (tmp_path / "suite/cases.jsonl").read_text()
    runs(rightcall)


def test_the_workflow_runs_the_suite_with_the_least_rights(rightcall, chat, tmp_path):
    rightcall("init", "chat.jsonl", "-o", "suite", "--gitlab")
    flow = load_yaml((tmp_path / "suite/.github/workflows/rightcall.yml").read_text(), "rightcall.yml")
    assert flow["permissions"] == {"contents": "read"}
    steps = flow["jobs"]["suite"]["steps"]
    commands = "\n".join(step.get("run", "") for step in steps)
    for part in (
        "pip install rightcall",
        "rightcall lint",
        "rightcall run --github",
        "--baseline baseline.json",
        "report.html",
    ):
        assert part in commands
    assert {step["uses"].partition("@")[0] for step in steps if "uses" in step} == {
        "actions/checkout", "actions/setup-python", "actions/upload-artifact",
    }  # fmt: skip
    assert steps[-1]["if"] == "always()"
    lab = YAML(typ="safe").load((tmp_path / "suite/.gitlab-ci.yml").read_text())
    assert "rightcall run --yes" in lab["rightcall"]["script"][-1]
    assert lab["rightcall"]["artifacts"]["reports"] == {"junit": "report.junit.xml"}


def test_the_commands_of_the_workflow_work(rightcall, chat, tmp_path, monkeypatch):
    rightcall("init", "chat.jsonl")
    assert rightcall("lint").code == 0
    assert rightcall("run").code == 0
    assert rightcall("export", "baseline", "-o", "baseline.json").code == 0
    outs = ("-o", "report.html", "-o", "report.json", "-o", "report.junit.xml")
    said = rightcall("run", "--github", "--yes", *outs, "--baseline", "baseline.json")
    assert said.code == 3, said.out  # two cases are no evidence against a baseline, and that is said
    assert (tmp_path / "report.html").exists()


def test_in_a_folder_of_a_repository_init_says_where_the_workflow_belongs(rightcall, chat, tmp_path):
    (tmp_path / ".git").mkdir()
    said = rightcall("init", "chat.jsonl", "-o", "evals/suite")
    assert "move .github there, and run it in evals/suite" in said.out
    assert "move .github" not in rightcall("init", "chat.jsonl").out


# ---- all of it, or nothing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rightcall.toml", "cases.jsonl", "tools.json", "traces.jsonl"])
def test_a_suite_that_is_there_is_not_touched(rightcall, chat, write, tmp_path, name):
    there = write(f"suite/{name}", "mine")
    said = rightcall("init", "chat.jsonl", "-o", "suite")
    assert said.code == 2
    assert f"suite: {name} is there already; use another folder" in said.err
    assert files(tmp_path / "suite") == [name]
    assert there.read_text() == "mine\n"


def test_a_workflow_that_is_there_is_left_as_it_is(rightcall, chat, write):
    there = write(".github/workflows/rightcall.yml", "mine")
    said = rightcall("init", "chat.jsonl")
    assert said.code == 0
    assert "left .github/workflows/rightcall.yml as it is" in said.out
    assert there.read_text() == "mine\n"
    assert said.err == "next: rightcall run\n"


@pytest.mark.parametrize(
    ("sources", "code", "text"),
    [
        (
            (),
            5,
            "a suite is sketched from recorded traces, and none are named; rightcall init TRACES; or `rightcall demo`",
        ),
        (("nowhere.jsonl",), 2, "nowhere.jsonl: no such file"),
        (("odd.jsonl",), 2, "odd.jsonl:1"),
        (("empty.jsonl",), 5, "empty.jsonl: the file is empty"),
        (("broken.jsonl",), 5, "no golden can be made of these traces: trace `b` cannot be recorded"),
        (("chat.jsonl", "--accept", "nobody"), 5, "no golden can be made of these traces: none of them was accepted"),
    ],
)
@pytest.mark.parametrize("has_key", [True, False])
def test_what_cannot_be_sketched_leaves_nothing_behind(
    rightcall, chat, write, tmp_path, monkeypatch, sources, code, text, has_key
):
    if not has_key:
        monkeypatch.delenv("RIGHTCALL_REDACTION_KEY")
    write("empty.jsonl")
    write("odd.jsonl", {"shoe": "size"})
    write("broken.jsonl", {"id": "b", "calls": [{"tool": "pay", "arguments": "{"}]})
    said = rightcall("init", *sources, "-o", "deep/suite")
    assert (said.code, said.out) == (code, "")
    assert text in said.err
    assert not (tmp_path / "deep").exists()


def test_what_cannot_be_written_leaves_nothing_behind(rightcall, chat, write, tmp_path, monkeypatch):
    monkeypatch.delenv("RIGHTCALL_REDACTION_KEY")
    write("suite/.github", "a file where a folder should be")
    said = rightcall("init", "chat.jsonl", "-o", "suite")
    assert said.code in (2, 5)
    assert "Traceback" not in said.err
    assert files(tmp_path / "suite") == [".github"]


def test_without_a_key_in_the_environment_the_suite_gets_one_of_its_own(rightcall, chat, tmp_path, monkeypatch):
    monkeypatch.delenv("RIGHTCALL_REDACTION_KEY")
    assert rightcall("init", "chat.jsonl", "-o", "suite").code == 0
    key = tmp_path / "suite/.rightcall/redaction.key"
    assert key.stat().st_mode & 0o077 == 0
    runs(rightcall)


def test_traces_with_secrets_pass_against_the_goldens_that_are_sketched_from_them(rightcall, write, tmp_path):
    call = {"tool": "mail", "arguments": {"to": "ada@bank.example", "key": "sk-abcdefghijklmnopqrstuvwxyz012345"}}
    write("t.jsonl", {"id": "t", "case_id": "c", "request": "Mail her.", "calls": [call]})
    assert "copies of the traces, redacted" in rightcall("init", "t.jsonl").out
    assert b"ada@" not in (tmp_path / "cases.jsonl").read_bytes() + (tmp_path / "traces.jsonl").read_bytes()
    said = rightcall("run", "--grader", "golden", "--no-gate", "--quiet")
    assert (said.code, "all passed" in said.err) == (0, True)
