"""`rightcall export verdicts`: the verdicts of a run as rows of one shape, in every format, whole or not at all."""

from __future__ import annotations

import csv
import io
import json

import polars as pl
import pyarrow.parquet
import pytest
from bundle_making import REASON, make_runs, run_ids, sign
from desk_making import GRADERS, put_all, run_of

from rightcall.run.results.columns import columns_of
from rightcall.run.results.model import RESULT_TYPES
from rightcall.run.results.verdict_rows import FIRST, verdict_columns
from rightcall.store.packing import digest_of
from rightcall.store.store import Store

STORE = ("--store", "desk.db")


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return a store with a suite's run, and a rubric run that was signed."""
    folder = tmp_path_factory.mktemp("verdicts")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
        make_runs(folder, "desk.db", "rubric --judge desk", "run --judge desk --yes")
        with Store.open("desk.db") as store:
            sign(store, run_ids("desk.db")["rubric"])
    return folder


@pytest.fixture
def desk(rightcall, kept, tmp_path):
    (tmp_path / "desk.db").write_bytes((kept / "desk.db").read_bytes())
    return run_ids("desk.db")


def test_a_row_says_what_counts_who_decided_and_what_it_rests_on(rightcall, desk):
    said = rightcall("export", "verdicts", desk["rubric"], *STORE)
    rows = {row["unit"]: row for row in map(json.loads, said.out.splitlines())}
    assert (said.code, said.err) == (0, f"run {desk['rubric']}: 10 verdicts → stdout\n")
    row = rows["stolen"]
    assert (row["run"], row["grader"], row["case_id"], row["status"]) == (
        desk["rubric"],
        "rubric",
        "stolen",
        "EVALUATED",
    )
    assert (row["verdict"], row["effective_verdict"], row["critical"]) == (None, "FAIL", "confirmed")
    assert row["signed"] == f"confirmed by dana: {REASON}"
    assert (row["review_reasons"][0], row["review_state"]) == ("CRITICAL", "done")
    assert row["review_item"].startswith("rv-")
    assert (row["judge"], row["prompt_id"], row["prompt_version"]) == ("desk", "rubric_golden", "1")
    assert row["metrics.tool_selection_score"] == 3
    assert row["misuse_severity"] == "CRITICAL"
    assert list(row) == list(verdict_columns(["rubric"]))
    with Store.open("desk.db") as store:
        for verdict in store.verdicts(desk["rubric"]):
            one = rows[verdict.unit]
            assert one["record"] == digest_of(verdict)
            assert (one["result_sha256"], one["attempts"]) == (verdict.result, list(verdict.attempts))
            assert (one["trace_sha256"], one["case_sha256"]) == (verdict.trace, verdict.case)
            plain = json.loads(store.body(verdict.result))
            cells = columns_of(RESULT_TYPES["rubric"]).cells(plain)
            assert {name: one[name] for name in cells if name not in FIRST} == {
                name: value for name, value in cells.items() if name not in FIRST
            }
    assert rows["lost"]["critical"] is None
    assert rows["lost"]["review_state"] is None


def test_every_format_says_the_same(rightcall, desk, tmp_path):
    for suffix in ("jsonl", "csv", "parquet"):
        said = rightcall("export", "verdicts", "-o", f"v.{suffix}", *STORE)
        assert (said.code, said.out) == (0, "")
        assert said.err == f"run {desk['run']}: 50 verdicts → v.{suffix}\n"
    rows = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text("utf-8").splitlines()]
    whole = rightcall("export", "verdicts", "--json", *STORE).json
    assert (whole["run"], whole["status"], len(whole["verdicts"])) == (desk["run"], "finished", 50)
    kinds = verdict_columns(list(dict.fromkeys(row["grader"] for row in rows)))
    # A row has the columns of its own grader; a table has those of all.
    rows = [{name: row.get(name) for name in kinds} for row in rows]
    assert [{name: row.get(name) for name in kinds} for row in whole["verdicts"]] == rows
    table = pyarrow.parquet.read_table(tmp_path / "v.parquet")
    assert table.column_names == list(kinds)
    for found in (table.to_pylist(), pl.read_parquet(tmp_path / "v.parquet").to_dicts()):
        plain = [
            {
                name: json.loads(value) if kinds[name] == "json" and value is not None else value
                for name, value in row.items()
            }
            for row in found
        ]
        assert plain == rows
    read = list(csv.reader(io.StringIO((tmp_path / "v.csv").read_text("utf-8"))))
    assert read[0] == list(kinds)
    assert [row[read[0].index("unit")] for row in read[1:]] == [row["unit"] for row in rows]


def test_one_grader_alone_has_its_own_columns(rightcall, desk):
    rightcall("export", "verdicts", "--grader", "golden", "-o", "v.parquet", *STORE)
    names = pyarrow.parquet.read_table("v.parquet").column_names
    assert names == list(verdict_columns(["golden"]))
    said = rightcall("export", "verdicts", "--grader", "tone", *STORE)
    assert (said.code, said.out) == (2, "")
    assert "has no grader `tone`; it has golden, selection, rubric" in said.err


def test_without_a_run_the_newest_one_is_meant(rightcall, desk):
    assert rightcall("export", "verdicts", "--json", *STORE).json["run"] == desk["run"]


def test_every_grader_has_rows_also_ones_own(rightcall, tmp_path):
    with Store.open(tmp_path / "desk.db") as store:
        put_all(store)
    for grader in GRADERS:
        said = rightcall("export", "verdicts", run_of(grader), "--json", *STORE).json
        assert said["status"] == "running"
        (row,) = said["verdicts"]
        assert row["grader"] == grader
        assert list(row) == list(verdict_columns([grader]))
    said = rightcall("export", "verdicts", run_of("tone"), "-o", "v.parquet", *STORE)
    assert "(the run is not finished: running)" in said.err
    assert json.loads(pyarrow.parquet.read_table("v.parquet")["reply"][0].as_py()) == {"polite": False, "level": 3}


def test_a_table_holds_nothing_that_is_a_formula(rightcall, tmp_path):
    import msgspec
    from desk_making import put_item, put_run, result_for

    with Store.open(tmp_path / "desk.db") as store:
        put_run(store, run_of("golden"), "golden")
        put_item(
            store,
            "golden",
            unit="=cmd|' /C calc'!A0",
            result=msgspec.structs.replace(result_for("golden"), reason="@x"),
        )
    rightcall("export", "verdicts", "-o", "v.csv", *STORE)
    rows = list(csv.reader(io.StringIO((tmp_path / "v.csv").read_text("utf-8"))))
    assert "'=cmd|' /C calc'!A0" in rows[1]
    assert [cell for row in rows for cell in row if cell.lstrip()[:1] in {"=", "+", "@"}] == []


def test_a_run_without_verdicts_is_a_table_without_rows(rightcall, tmp_path):
    from desk_making import put_run

    with Store.open(tmp_path / "desk.db") as store:
        put_run(store, run_of("golden"), "golden")
    assert rightcall("export", "verdicts", *STORE).out == ""
    assert rightcall("export", "verdicts", "--json", *STORE).json["verdicts"] == []
    for suffix in ("csv", "parquet"):
        said = rightcall("export", "verdicts", "-o", f"v.{suffix}", "--json", *STORE)
        assert said.json == {"run": run_of("golden"), "verdicts": 0, "file": f"v.{suffix}"}
    assert pyarrow.parquet.read_table("v.parquet").column_names == list(verdict_columns(["golden"]))


def test_a_verdict_that_was_replaced_is_not_a_row(rightcall, tmp_path):
    from desk_making import put_item, put_run, result_for

    with Store.open(tmp_path / "desk.db") as store:
        put_run(store, run_of("golden"), "golden")
        for revision, verdict in enumerate(("FAIL", "PASS")):
            put_item(
                store,
                "golden",
                revision=revision,
                result=type(result_for("golden"))(trace_id="t", case_id="c", verdict=verdict),
            )
    (row,) = rightcall("export", "verdicts", "--json", *STORE).json["verdicts"]
    assert row["verdict"] == "PASS"
    with Store.open(tmp_path / "desk.db") as store:
        (current,) = store.verdicts(run_of("golden"))
    assert row["record"] == digest_of(current)


@pytest.mark.parametrize(
    ("tokens", "message", "code"),
    [
        (["-o", "v.xlsx"], "no format is known for `v.xlsx`", 2),
        (["-o", "nowhere/v.csv"], "the folder `nowhere` does not exist", 2),
        (["20200101-1"], "there is no run", 2),
        (["20200101-1", "-o", "v.parquet"], "there is no run", 2),
    ],
)
def test_a_wrong_command_writes_nothing(rightcall, desk, tmp_path, tokens, message, code):
    before = sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("desk.db"))
    said = rightcall("export", "verdicts", *tokens, *STORE)
    assert (said.code, said.out) == (code, "")
    assert message in said.err
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("desk.db")) == before


def test_an_empty_store_has_no_run(rightcall, tmp_path):
    Store.open(tmp_path / "desk.db").close()
    said = rightcall("export", "verdicts", *STORE)
    assert said.code == 5
    assert "no run is on record" in said.err
