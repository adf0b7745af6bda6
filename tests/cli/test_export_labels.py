"""`rightcall export labels`: people's answers as rows, whole or not at all, with nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json

import pytest
from desk_making import ANSWERS, GRADERS, HIDDEN, desk, put_all, put_item, put_run, run_of

from rightcall.store.store import Store

STORE = ("--store", "r.db")


@pytest.fixture
def store(rightcall, tmp_path):
    with Store.open(tmp_path / "r.db") as found:
        yield found


@pytest.fixture
def answered(store):
    """Answer one item of every grader."""
    items = put_all(store)
    for grader, item in items.items():
        desk(store, "ana").answer(item, ANSWERS[grader], note=f"=HYPERLINK({grader})", evidence=["c1"], seconds=9.5)
    return items


def test_a_row_holds_the_answer_and_what_stands_beside_it(rightcall, answered):
    said = rightcall("export", "labels", *STORE)
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert said.code == 0
    assert said.err == f"{len(GRADERS)} labels → stdout\n"
    assert [row["grader"] for row in rows] == list(GRADERS)
    row = next(row for row in rows if row["grader"] == "rubric")
    assert (row["who"], row["blind"], row["kind"], row["extra"], row["seconds"]) == ("ana", True, "answer", False, 9.5)
    assert row["fields"] == ANSWERS["rubric"]
    assert (row["reasons"], row["probability"]) == (["random"], 0.1)
    assert row["judge"]["severity"] == "HIGH"
    assert row["judged"]["severity"] == "CRITICAL"
    assert len(row["verdict"]) == 64


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_a_file_can_be_taken_back_into_another_store(rightcall, store, answered, tmp_path, suffix):
    said = rightcall("export", "labels", "-o", f"labels{suffix}", *STORE)
    assert (said.code, said.out) == (0, "")
    with Store.open(tmp_path / "other.db") as other:
        put_all(other)
        taken = rightcall("review", "import", f"labels{suffix}", "--store", "other.db", "--as", "ana", "--json").json
        assert (taken["written"], taken["counted"]) == (len(GRADERS), len(GRADERS))
        first = [one for _, _, one in store.queue.answers()]
        second = [one for _, _, one in other.queue.answers()]
    assert [one.fields for one in second] == [one.fields for one in first]
    assert [one.note for one in second] == [one.note for one in first]
    assert [one.evidence for one in second] == [one.evidence for one in first]


def test_a_table_holds_nothing_that_is_a_formula(rightcall, answered, tmp_path):
    rightcall("export", "labels", "-o", "labels.csv", *STORE)
    rows = list(csv.reader(io.StringIO((tmp_path / "labels.csv").read_text("utf-8"))))
    assert len(rows) == 1 + len(GRADERS)
    assert {"field.grade", "field.selection", "judge.severity", "judged.severity"} <= set(rows[0])
    assert "'=HYPERLINK(golden)" in rows[1]
    assert [cell for row in rows for cell in row if cell.lstrip()[:1] in {"=", "+", "@"}] == []


def test_parquet_has_typed_columns_with_the_same_values(rightcall, answered, tmp_path):
    import pyarrow.parquet

    rows = [json.loads(line) for line in rightcall("export", "labels", *STORE).out.splitlines()]
    said = rightcall("export", "labels", "-o", "labels.parquet", *STORE)
    assert (said.code, said.err) == (0, f"{len(GRADERS)} labels → labels.parquet\n")
    table = pyarrow.parquet.read_table(tmp_path / "labels.parquet")
    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert types["blind"] == types["field.polite"] == "bool"
    assert types["entry"] == types["field.selection"] == types["field.sure"] == "int64"
    assert types["seconds"] == types["probability"] == "double"
    assert types["who"] == types["field.grade"] == types["evidence"] == "string"
    for found, row in zip(table.to_pylist(), rows, strict=True):
        assert found["note"] == row["note"]
        assert json.loads(found["reasons"]) == row["reasons"]
        assert {name: found[f"field.{name}"] for name in row["fields"] if name != "flags"} == {
            name: value for name, value in row["fields"].items() if name != "flags"
        }
        assert found["verdict"] == row["verdict"]


def test_a_field_with_values_of_several_kinds_is_json_in_parquet(tmp_path):
    import pyarrow.parquet

    from rightcall.report.review.labels import LABEL_COLUMNS, write_labels

    values = [1, "two", None, [3], 2**70, 1.5, True]
    rows = [
        dict.fromkeys(LABEL_COLUMNS) | {"fields": {"x": value, "y": None, "z": number}}
        for number, value in enumerate(values)
    ]
    rows = [row | {"judged": None, "judge": {"z": 0.5}, "consensus": {}} for row in rows]
    write_labels(tmp_path / "labels.parquet", rows)
    table = pyarrow.parquet.read_table(tmp_path / "labels.parquet")
    assert [None if one is None else json.loads(one) for one in table["field.x"].to_pylist()] == values
    assert table["field.y"].to_pylist() == [None] * 7
    assert (str(table.schema.field("field.z").type), str(table.schema.field("judge.z").type)) == ("int64", "double")


def test_one_run_alone_can_be_written(rightcall, answered):
    said = rightcall("export", "labels", "--run", run_of("tone"), "--json", *STORE)
    assert [row["grader"] for row in said.json["labels"]] == ["tone"]


def test_no_answer_is_no_row(rightcall, store, tmp_path):
    put_all(store, "golden")
    assert rightcall("export", "labels", *STORE).out == ""
    said = rightcall("export", "labels", "-o", "labels.csv", "--json", *STORE)
    assert said.json == {"labels": 0, "file": "labels.csv"}


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["-o", "labels.xlsx"], "no format is known for `labels.xlsx`"),
        (["-o", "nowhere/labels.csv"], "the folder `nowhere` does not exist"),
        (["--run", "20200101-1"], "there is no run"),
        (["--run", "20200101-1", "-o", "labels.csv"], "there is no run"),
    ],
)
def test_a_wrong_command_writes_nothing(rightcall, answered, tmp_path, tokens, message):
    before = sorted(tmp_path.iterdir())
    said = rightcall("export", "labels", *tokens, *STORE)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_appears_only_when_it_is_whole(rightcall, store, answered, tmp_path, monkeypatch):
    """The store breaks in the middle."""
    (tmp_path / "labels.csv").write_text("old")
    put_run(store, "20261130-1", "golden")
    item = put_item(store, "golden", run="20261130-1")
    desk(store, "bo").answer(item, ANSWERS["golden"])
    from rightcall.run.people import labels

    def broken(grader, result):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rightcall.review.beside.judge_fields", broken)
    said = rightcall("export", "labels", "-o", "labels.csv", *STORE)
    assert said.code in {2, 5}
    assert (tmp_path / "labels.csv").read_text() == "old"
    assert labels is not None


def test_hidden_things_are_in_the_export_on_purpose_and_it_says_so(rightcall, answered):
    said = rightcall("export", "labels", *STORE)
    assert HIDDEN["unit"] in said.out
    assert "not blind" in rightcall("export", "labels", "--help").out
