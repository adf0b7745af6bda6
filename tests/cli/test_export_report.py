"""`rightcall export report`: a run on record in every format, as it was when it ran."""

from __future__ import annotations

import json

import pytest
from bundle_making import make_runs, run_ids
from desk_suite import DESK

from rightcall.run.finished.file import read_results

OPTIONS = ("--store", "desk.db", "-c", DESK)
NAMES = ("a.json", "a.jsonl", "a.csv", "a.md", "a.html", "a.junit.xml", "a.sarif")


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
        make_runs(folder, "desk.db", "golden", "run --judge desk --yes --grader golden --grader selection")
    return folder


@pytest.fixture(autouse=True)
def here(rightcall, kept, monkeypatch, tmp_path):
    (tmp_path / "desk.db").write_bytes((kept / "desk.db").read_bytes())
    (tmp_path / "examples").symlink_to(kept / "examples")
    return tmp_path


def test_every_format_of_one_run(rightcall, here):
    run = run_ids("desk.db")["run"]
    said = rightcall("export", "report", *[part for name in NAMES for part in ("-o", name)], *OPTIONS)
    assert (said.code, said.out) == (0, "")
    line, *notes = said.err.splitlines()
    assert line == f"run {run} → {', '.join(NAMES)} (gate: FAIL)"
    assert all(note.startswith("  no rule on figures is set") for note in notes)
    assert all((here / name).stat().st_size for name in NAMES)
    found = read_results(here / "a.json")
    assert (found.id, list(found.graders)) == (run, ["golden", "selection"])
    lines = [json.loads(line) for line in (here / "a.jsonl").read_text("utf-8").splitlines()]
    assert lines == [row.value() for row in found.rows()]
    assert len(lines) == 21
    assert json.loads((here / "a.json").read_bytes())["summary"]["gate"]["answer"] == "FAIL"


def test_without_the_gates_nothing_is_said_about_them(rightcall, here):
    said = rightcall("export", "report", "-o", "a.json", "--no-gate", "--json", *OPTIONS)
    assert said.json == {"run": run_ids("desk.db")["run"], "files": ["a.json"], "gate": None}
    assert json.loads((here / "a.json").read_bytes())["summary"]["gate"] is None


def test_the_file_is_a_baseline_for_a_gate(rightcall, here):
    rightcall("export", "report", "-o", "a.json", *OPTIONS)
    said = rightcall("gate", "--baseline", "a.json", "--json", *OPTIONS)
    assert (said.code, "baseline" in said.err) == (2, True)
    whole = json.loads((here / "a.json").read_bytes())
    whole["run"] |= {"id": "20250101-1", "started_at": "2025-01-01T00:00:00+00:00"}
    del whole["digest"]  # which is of another run
    (here / "a.json").write_text(json.dumps(whole), "utf-8")
    assert rightcall("gate", "--baseline", "a.json", "--json", *OPTIONS).json["baseline"] is not None


def test_a_run_of_one_grader_is_a_report_too(rightcall, here):
    said = rightcall("export", "report", run_ids("desk.db")["golden"], "-o", "a.json", "-o", "a.md", *OPTIONS)
    assert said.code == 0
    assert list(read_results(here / "a.json").graders) == ["golden"]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "no file to write; name one: -o report.html"),
        (["-o", "a.pdf"], "no format is known for `a.pdf`"),
        (["-o", "a.md", "-o", "nowhere/a.html"], "the folder `nowhere` does not exist"),
        (["-o", "a.md", "-o", "a.md"], "is named twice"),
        (["20200101-1", "-o", "a.md"], "there is no run"),
    ],
)
def test_a_wrong_command_writes_nothing(rightcall, here, tokens, message):
    said = rightcall("export", "report", *tokens, *OPTIONS)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert not list(here.glob("a.*"))


def test_all_files_are_written_or_none(rightcall, here, monkeypatch):
    def full(*_args, **_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rightcall.report.formats.summary_md.render", full)
    assert rightcall("export", "report", "-o", "a.json", "-o", "a.md", *OPTIONS).code == 2
    assert not [path for path in here.iterdir() if "a." in path.name]
