"""A bundle as it is written: what is in it, the same bytes each time, whole or not at all, and never a secret."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path

import msgspec
import pytest
from bundle_making import check, exported, files_of, lines, make_runs, run_ids, sha, sign
from desk_suite import DESK

from rightcall.errors import ConfigError, RightcallError, StoreError
from rightcall.report.bundle import writing as bundling
from rightcall.report.bundle.suite import cleaner_of, write_prompts
from rightcall.report.bundle.writing import refuse_target, write_bundle
from rightcall.run.bundle import records
from rightcall.run.bundle.check import check_bundle
from rightcall.run.judging.record import sha256_of
from rightcall.settings.load import load_settings
from rightcall.store.records import (
    AttemptRecord,
    CalibrationRecord,
    RunEvent,
    RunRecord,
    VerdictRecord,
)
from rightcall.store.store import Store

KEY = "a fixed key for tests"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a store that has a rubric run, which was answered and signed."""
    folder = tmp_path_factory.mktemp("desk")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RIGHTCALL_REDACTION_KEY", KEY)
        make_runs(folder, "desk.db", "rubric --judge desk", "golden")
        with Store.open("desk.db") as store:
            sign(store, run_ids("desk.db")["rubric"])
    return folder


@pytest.fixture(autouse=True)
def here(place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", KEY)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "bundle"


def rubric(out: Path):
    return exported("desk.db", run_ids("desk.db")["rubric"], out)


# ---- what is in it ----


def test_it_holds_what_an_auditor_needs(out):
    made = rubric(out)
    files = files_of(out)
    expected = {
        "README.txt",
        "SHA256SUMS",
        "gate.json",
        "judges.json",
        "log.jsonl",
        "manifest.json",
        "prompts/index.json",
    }
    expected |= {"report.html", "report.md", "results.jsonl", "traces.jsonl"}
    expected |= {f"suite/{name}" for name in ("cases.jsonl", "catalog.json", "policy.json", "settings.json")}
    kinds = ("answer", "attempt", "case", "consensus", "review", "run", "run_event", "signoff", "trace", "verdict")
    expected |= {f"records/{kind}.jsonl" for kind in kinds} - {"records/consensus.jsonl"}
    assert expected <= files.keys()
    rest = files.keys() - expected
    assert all(path.startswith(("bodies/", "prompts/", "records/")) for path in rest)
    attempts = [json.loads(line) for line in lines(out / "records/attempt.jsonl")]
    for one in attempts:
        for name in (one["system"], one["user"], one["reply"]):
            assert files[f"bodies/{name[:2]}/{name}"], "every question and reply, not a sample of them"
    assert json.loads(files["judges.json"])[0]["judge"] == "desk"
    assert json.loads(files["gate.json"])["run"] == made.manifest.run
    assert json.loads(lines(out / "records/signoff.jsonl")[0])["who"] == "dana"
    assert b"dana" in files["report.md"]


def test_traces_and_cases_are_files_that_rightcall_reads(out):
    from rightcall import load_cases, load_traces

    rubric(out)
    assert len(load_traces(out / "traces.jsonl")) == 10
    assert len(load_cases(out / "suite/cases.jsonl")) == 10


def test_of_other_runs_there_is_nothing_but_the_log(out):
    rubric(out)
    other = run_ids("desk.db")["golden"]
    for path, data in files_of(out).items():
        assert path == "log.jsonl" or other.encode() not in data, path


def test_the_manifest_lists_every_file_and_the_end_of_the_log(out):
    made = rubric(out)
    manifest = json.loads((out / "manifest.json").read_bytes())
    files = files_of(out)
    listed = {one["path"]: (one["sha256"], one["size"]) for one in manifest["files"]}
    assert listed == {p: (sha(d), len(d)) for p, d in files.items() if p not in ("manifest.json", "SHA256SUMS")}
    with Store.open("desk.db") as store:
        assert manifest["log"] == {"entries": store.head().seq, "head": store.head().hash}
    assert (manifest["format"], manifest["finished"], manifest["store"]) == (1, True, "sqlite")
    assert made.found.intact
    assert made.found.bundle == str(out)


def test_the_readme_says_how_to_check_it_and_that_names_are_in_it(out):
    made = rubric(out)
    text = (out / "README.txt").read_text("utf-8")
    assert "sha256sum -c SHA256SUMS" in text
    assert "rightcall log verify" in text
    assert "The names of the people who reviewed and signed are in it" in text
    assert made.manifest.log.head in text
    assert "NOT FINISHED" not in text
    assert max(map(len, text.splitlines())) <= 120


def test_an_attempt_of_another_run_that_a_verdict_rests_on_is_in_it(out, tmp_path):
    """A cached answer was recorded by the run that asked for it."""
    with Store.open(tmp_path / "r.db") as store:
        line = b'{"trace_id":"t","case_id":null,"grader":"tone","status":"EVALUATED","reason":null,"verdict":null}'
        old = AttemptRecord(
            run_id="20261128-1", grader="tone", unit="t", judge="kind", key="k", status="ok", system=sha256_of(b"s"),
            user=sha256_of(b"u"), reply=sha256_of(b"r"), prompt_id="tone", prompt_version="1", prompt_sha256="p" * 64,
        )  # fmt: skip
        (digest,) = store.write([old], [b"s", b"u", b"r"])
        store.write([AttemptRecord(run_id="20261128-1", grader="tone", unit="x", judge="kind", key="x", status="ok")])
        run = RunRecord(
            id="20261129-1",
            grader="tone",
            started_at="2026-11-29T10:00:00Z",
            facts={"judges": [{"name": "kind", "provider": "recorded"}]},
        )
        verdict = VerdictRecord(
            run_id=run.id, grader="tone", unit="t", result=sha256_of(line), status="EVALUATED", attempts=(digest,)
        )
        event = RunEvent(
            run_id=run.id,
            at="2026-11-29T10:00:02Z",
            status="finished",
            summary={"n": 1, "evaluated": 1, "unevaluable": 0, "skipped": 0},
        )
        store.write([run, verdict, event], [line])
    made = exported(str(tmp_path / "r.db"), "20261129-1", out)
    assert made.found.records == {"run": 1, "run_event": 1, "attempt": 1, "verdict": 1}
    assert made.found.prompts_unknown == 1
    assert made.manifest.notes == (
        "the text of prompt tone 1 is not there: neither shipped nor named by the settings in this wording",
    )


def test_calibrations_of_its_judges_are_in_it_and_those_of_others_are_not(out, tmp_path):
    known = {"grader": "tone", "field": "level", "model": "m", "prompt_sha256": "p", "at": "2026-11-29T10:00:00Z"}
    with Store.open(tmp_path / "r.db") as store:
        for judge in ("kind", "strict", "kind + strict", "kind + other", "other"):
            body = f"report of {judge}".encode()
            record = CalibrationRecord(**known, judge=judge, split="test", verdict="FIT", report=sha256_of(body))
            store.write([record], [body])
        judges = [{"name": name, "provider": "recorded"} for name in ("kind", "strict")]
        store.write([RunRecord(id="20261129-1", grader="tone", started_at="", facts={"judges": judges})])
    made = exported(str(tmp_path / "r.db"), "20261129-1", out)
    found = [json.loads(line)["judge"] for line in lines(out / "records/calibration.jsonl")]
    assert found == ["kind", "strict", "kind + strict"]
    assert made.found.bodies == 3


# ---- an unfinished run ----


@pytest.mark.parametrize("status", [None, "interrupted", "stopped", "broken"])
def test_a_run_that_is_not_finished_is_exported_with_a_mark(out, tmp_path, status):
    with Store.open(tmp_path / "r.db") as store:
        store.write([RunRecord(id="20261129-1", grader="golden", started_at="2026-11-29T10:00:00Z")])
        if status is not None:
            store.write([RunEvent(run_id="20261129-1", at="2026-11-29T10:00:02Z", status=status, summary={"n": 7})])
    made = exported(str(tmp_path / "r.db"), "20261129-1", out)
    name = status or "running"
    assert (made.manifest.status, made.manifest.finished) == (name, False)
    assert made.manifest.notes == (f"the run is not finished: {name}",)
    assert "!! THE RUN IS NOT FINISHED" in (out / "README.txt").read_text("utf-8")
    found = check_bundle(out)
    assert (found.intact, found.finished, found.results, found.figures) == (True, False, 0, 0)


# ---- the same bytes ----


def test_the_same_store_gives_the_same_bytes(tmp_path):
    for name in ("a", "b", "a.zip", "b.zip"):
        rubric(tmp_path / name)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        infos = archive.infolist()
        assert {info.filename: archive.read(info) for info in infos} == files_of(tmp_path / "a")
    assert [info.filename for info in infos] == sorted(files_of(tmp_path / "a"))
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    assert all(stat.S_ISREG(info.external_attr >> 16) for info in infos)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_how_many_bodies_are_read_at_once_is_not_to_be_seen(tmp_path, monkeypatch, size):
    rubric(tmp_path / "a")
    monkeypatch.setattr(records, "_BODIES", size)
    monkeypatch.setattr(records, "_PAGE", size + 1)
    rubric(tmp_path / "b")
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


# ---- whole or not at all ----


@pytest.mark.parametrize("name", ["there", "there.zip", "link"])
def test_nothing_is_overwritten(tmp_path, name):
    (tmp_path / "there").mkdir()
    (tmp_path / "there.zip").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="is there already; a bundle overwrites nothing"):
        rubric(tmp_path / name)
    assert (tmp_path / "there.zip").read_text() == "old"
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.parametrize("name", ["nowhere/x", "a\0b", "x" * 300])
def test_a_place_that_cannot_be_is_one_line(tmp_path, name):
    with pytest.raises(ConfigError) as caught:
        refuse_target(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["bundle", "bundle.zip"])
def test_a_failure_in_the_middle_leaves_nothing(tmp_path, monkeypatch, name):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundling, "_seal", full)
    with pytest.raises(ConfigError, match="cannot write: No space left on device"):
        rubric(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_record_is_not_exported(out, tmp_path):
    import shutil

    shutil.copy("desk.db", tmp_path / "broken.db")
    run_id = run_ids("desk.db")["rubric"]
    with Store.open(tmp_path / "broken.db") as store:

        def change(connection):
            connection.exec_driver_sql("DROP TRIGGER signoffs_no_delete")
            connection.exec_driver_sql("DELETE FROM signoffs")

        store.database.write(change)
    with pytest.raises(StoreError, match="the record is not what was written") as caught:
        exported(str(tmp_path / "broken.db"), run_id, out)
    assert "of log entry" in caught.value.message
    assert not out.exists()


def test_a_missing_body_is_an_error_that_names_it(out, tmp_path):
    import shutil

    shutil.copy("desk.db", tmp_path / "broken.db")
    with Store.open(tmp_path / "broken.db") as store:

        def change(connection):
            connection.exec_driver_sql("DROP TRIGGER bodies_no_delete")
            connection.exec_driver_sql("DELETE FROM bodies WHERE sha256 IN (SELECT body FROM traces LIMIT 1)")

        store.database.write(change)
    with pytest.raises(StoreError, match="there is no body"):
        exported(str(tmp_path / "broken.db"), run_ids("desk.db")["rubric"], out)
    assert not out.exists()


def test_an_unknown_run_writes_nothing(out):
    with pytest.raises(RightcallError, match="there is no run"):
        exported("desk.db", "20200101-1", out)
    assert not out.exists()


# ---- no secret ----

SECRET = "sk-live-9f8e7d6c5b4a39281706"
SETTINGS = f"""
[judges.near]
provider = "openai"
model = "small"
base_url = "http://ana:{SECRET}@127.0.0.1:9/v1?key={SECRET}"
api_key_env = "NEAR_KEY"
headers = {{ X-Team = "$NEAR_TEAM", X-Plain = "plain-{SECRET}" }}
[judges.far]
provider = "command"
command = ["ask", "--key", "{SECRET}"]
token_command = ["vault", "read", "{SECRET}"]
[redact]
patterns = ["{SECRET}"]
"""


def test_no_secret_of_the_settings_is_in_it(out, tmp_path, monkeypatch):
    """Read past the check that refuses secrets in files: what a newer key could smuggle in must stay out all the same."""
    from rightcall.llm.spec import JudgeSpec

    monkeypatch.setenv("NEAR_KEY", "env-" + SECRET)
    monkeypatch.setenv("NEAR_TEAM", "team-" + SECRET)
    import dataclasses
    import tomllib

    table = tomllib.loads(SETTINGS)
    loaded = load_settings(Path(DESK), {}, {"store": "desk.db"})
    judges = {name: msgspec.convert(one, JudgeSpec) for name, one in table["judges"].items()}
    settings = msgspec.structs.replace(
        loaded.settings, judges={**loaded.settings.judges, **judges},
        redact=msgspec.structs.replace(loaded.settings.redact, patterns=(SECRET,)),
    )  # fmt: skip
    with Store.open("desk.db") as store:
        write_bundle(store, dataclasses.replace(loaded, settings=settings), run_ids("desk.db")["rubric"], out)
    for path, data in files_of(out).items():
        assert SECRET.encode() not in data, path
    shown = json.loads((out / "suite/settings.json").read_bytes())
    assert shown["judges.near.model"]["value"] == "small"
    assert shown["judges.far.command"]["value"] == ["ask", "(not shown)"]


def test_a_prompt_of_ones_own_is_in_it_by_its_hash_and_one_with_a_secret_is_not(tmp_path, monkeypatch):
    from rightcall.judge.library import source, template

    text, _ = source("rubric")
    own = tmp_path / "own.md"
    own.write_text(text.replace("version: 1", "version: 7", 1).replace('version: "1"', 'version: "7"', 1))
    told = tmp_path / "told.md"
    told.write_text(text + "\nmail ana@harbour.example\n")
    (tmp_path / "rightcall.toml").write_text('[rubric]\nprompt = "own.md"\nprompt_golden = "told.md"\n')
    loaded = load_settings(tmp_path / "rightcall.toml", {}, {})
    used = {template(str(file)).sha256: (file.stem, "7") for file in (own, told)}
    (tmp_path / "out").mkdir()
    notes = write_prompts(used, loaded, cleaner_of(loaded, {}), tmp_path / "out")
    assert notes == ["the text of prompt told 7 is not there: it holds what looks like a secret"]
    (file,) = (tmp_path / "out/prompts").glob("*.md")
    assert file.read_text() == own.read_text()
    assert file.name.startswith("own-7-")


def test_another_policy_than_that_of_the_run_is_said(out, tmp_path):
    text = Path(DESK).read_text("utf-8").replace('severity = "CRITICAL"', 'severity = "HIGH"')
    other = Path(DESK).with_name("other.toml")
    other.write_text(text, "utf-8")
    loaded = load_settings(other, {}, {"store": "desk.db"})
    with Store.open("desk.db") as store:
        made = write_bundle(store, loaded, run_ids("desk.db")["rubric"], out)
    assert any(
        note.startswith("suite/policy.json is the policy of the settings now; rubric was run with another one")
        for note in made.manifest.notes
    )
    assert check(out) == []
