"""Rows as files: the same rows in every format, whole or not at all, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import json

import pytest

from rightcall.report.written.verdicts import write_rows

KINDS = {"who": "text", "n": "integer", "x": "number", "ok": "flag", "more": "json"}
ROWS = [
    {"who": "ana", "n": 1, "x": 0.1, "ok": True, "more": {"a": [1, None]}},
    {"who": None, "ok": False, "more": []},
    {"who": "=1+1", "n": -3, "x": -0.5, "more": "-text"},
]


def table(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_lines_keep_what_is_nested_and_tables_have_its_text(tmp_path):
    assert write_rows(tmp_path / "x.jsonl", KINDS, ROWS) == 3
    assert [json.loads(line) for line in (tmp_path / "x.jsonl").read_text("utf-8").splitlines()] == ROWS
    assert write_rows(tmp_path / "x.csv", KINDS, ROWS) == 3
    assert table(tmp_path / "x.csv") == [
        ["who", "n", "x", "ok", "more"],
        ["ana", "1", "0.1", "true", '{"a":[1,null]}'],
        ["", "", "", "false", "[]"],
        ["'=1+1", "-3", "-0.5", "", '"-text"'],
    ]


@pytest.mark.parametrize("case", ["SEC-07"])
def test_a_reported_formula_is_a_text(shared_data, tmp_path, case):
    lines = (shared_data / "cases" / "cases.jsonl").read_text("utf-8").splitlines()
    found = next(row for row in map(json.loads, lines) if row["id"] == case)
    cells = found["minimal_input"]["cells"]
    write_rows(tmp_path / "x.csv", {"who": "text"}, [{"who": cell} for cell in cells])
    assert [row[0] for row in table(tmp_path / "x.csv")[1:]] == found["right_answer"]["csv_cells"]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_file_appears_only_when_it_is_whole(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    path.write_text("old")

    def rows():
        yield ROWS[0]
        raise RuntimeError("the record broke")

    with pytest.raises(RuntimeError, match="the record broke"):
        write_rows(path, KINDS, rows())
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [(path.name, "old")]
