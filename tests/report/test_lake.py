"""Parquet: typed columns with the same values, as other readers see them; whole or not at all."""

from __future__ import annotations

import builtins

import polars as pl
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rightcall.errors import ConfigError, MissingExtraError, RunError
from rightcall.report.formats import lake
from rightcall.report.formats.lake import write_parquet

KINDS = {"a.b": "text", 'c"d': "integer", "e'f": "number", "g": "flag", "h": "json"}
TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=20)
VALUES = {
    "text": TEXTS, "integer": st.integers(-(2**63), 2**63 - 1), "flag": st.booleans(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "json": st.recursive(st.none() | st.booleans() | st.integers() | TEXTS, st.lists, max_leaves=5),
}  # fmt: skip
ROWS = st.lists(st.fixed_dictionaries({}, optional={name: st.none() | VALUES[kind] for name, kind in KINDS.items()}))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=ROWS)
def test_two_other_readers_see_every_value_as_it_was(tmp_path_factory, rows):
    import msgspec

    path = tmp_path_factory.mktemp("lake") / "rows.parquet"
    assert write_parquet(path, KINDS, rows) == len(rows)
    table = pyarrow.parquet.read_table(path)
    frame = pl.read_parquet(path)
    assert table.column_names == list(frame.columns) == list(KINDS)
    assert [str(one) for one in table.schema.types] == ["string", "int64", "double", "bool", "string"]
    wanted = [
        {
            name: msgspec.json.encode(row[name]).decode()
            if kind == "json" and row.get(name) is not None
            else row.get(name)
            for name, kind in KINDS.items()
        }
        for row in rows
    ]
    assert table.to_pylist() == wanted
    assert frame.to_dicts() == wanted


def test_the_order_of_many_rows_is_kept(tmp_path):
    rows = ({"a": index, "b": f"t{index}" * (index % 7)} for index in range(25_000))
    assert write_parquet(tmp_path / "x.parquet", {"a": "integer", "b": "text"}, rows) == 25_000
    table = pyarrow.parquet.read_table(tmp_path / "x.parquet")
    assert table["a"].to_pylist() == list(range(25_000))
    assert table["b"][20_000].as_py() == "t20000" * (20_000 % 7)


def test_names_that_differ_in_case_alone_are_told_apart(tmp_path):
    write_parquet(tmp_path / "x.parquet", {"a": "text", "A": "integer"}, [{"a": "x", "A": 1}])
    assert pyarrow.parquet.read_table(tmp_path / "x.parquet").to_pylist() == [{"a": "x", "A_2": 1}]


def test_a_long_text_fits(tmp_path):
    write_parquet(tmp_path / "x.parquet", {"a": "text"}, [{"a": "x" * 20_000_000}])
    assert len(pyarrow.parquet.read_table(tmp_path / "x.parquet")["a"][0].as_py()) == 20_000_000


def test_a_number_of_more_than_64_bits_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(RunError, match="has more than 64 bits"):
        write_parquet(tmp_path / "x.parquet", {"a": "integer"}, [{"a": 1}, {"a": 2**63}])
    assert list(tmp_path.iterdir()) == []


def test_a_file_appears_only_when_it_is_whole(tmp_path):
    (tmp_path / "x.parquet").write_text("old")

    def rows():
        yield {"a": "x"}
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_parquet(tmp_path / "x.parquet", {"a": "text"}, rows())
    with pytest.raises(ConfigError, match="cannot write"):
        write_parquet(tmp_path / "nowhere" / "x.parquet", {"a": "text"}, [])
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("x.parquet", "old")]


def test_what_duckdb_cannot_do_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(lake._TYPES, "text", "BIGINT")
    with pytest.raises(RunError, match="DuckDB could not write the rows") as caught:
        write_parquet(tmp_path / "x.parquet", {"a": "text"}, [{"a": "no number"}])
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_without_duckdb_there_is_one_clear_line(tmp_path, monkeypatch):
    real = builtins.__import__

    def missing(name, *rest, **more):
        if name == "duckdb":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"a \.parquet file is written by DuckDB") as caught:
        write_parquet(tmp_path / "x.parquet", {"a": "text"}, [])
    assert str(caught.value).endswith("pip install 'rightcall[lake]' [CONFIG_MISSING_EXTRA]")
    assert list(tmp_path.iterdir()) == []
