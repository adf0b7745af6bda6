"""Parquet: typed columns with the same values, as other readers see them; whole or not at all."""

from __future__ import annotations

import builtins
import json
import math
import tempfile

import duckdb
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


HOSTILE = ("", " ", "\0", "a\0b", "=1+1", "@SUM(A1)", "+1", "-1", '"', '""', "'", "\\", "\r\n", "\t", ",", "null", "NULL",
           "\\N", "NaN", "true", "1", "1e5", "2026-11-30", "2026-11-30T10:00:00Z", "{}", "[]", "\u2028", "\ufeff", "⟦card:9f3a⟧", "\U0001f600")  # fmt: skip
HARD = {
    "text": st.sampled_from(HOSTILE) | TEXTS,
    "integer": st.sampled_from([0, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]),
    "number": st.sampled_from([0.0, -0.0, 5e-324, -1.7976931348623157e308, 0.1, 1e22, 3, 2**53, -(2**53), 10**30 - 10**30 % 2**60]),
    "flag": st.booleans(),
    "json": st.recursive(
        st.none() | st.booleans() | st.sampled_from([10**30, -(10**30), 2**64, -0.0, 1e-7]) | st.sampled_from(HOSTILE),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(HOSTILE), inner, max_size=3),
        max_leaves=6,
    ),
}  # fmt: skip
HARD_ROWS = st.lists(
    st.fixed_dictionaries({}, optional={name: st.none() | HARD[kind] for name, kind in KINDS.items()}), max_size=8
)


def told_apart(value):
    """A value as a text in which -0.0 is not 0.0, and no type is another."""
    return repr(float(value) if isinstance(value, float) else value)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=HARD_ROWS)
def test_values_that_look_like_something_else_are_what_they_were_for_duckdb_and_polars(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("lake") / "rows.parquet"
    assert write_parquet(path, KINDS, rows) == len(rows)
    wanted = []
    for row in rows:
        plain = {name: row.get(name) for name in KINDS}
        plain["e'f"] = None if plain["e'f"] is None else float(plain["e'f"])
        plain["h"] = None if plain["h"] is None else json.dumps(plain["h"], ensure_ascii=False, separators=(",", ":"))
        wanted.append([told_apart(value) for value in plain.values()])
    same_text = [at for at, name in enumerate(KINDS) if name != "h"]
    with duckdb.connect(":memory:") as connection:
        found = connection.execute("SELECT * FROM read_parquet($path)", {"path": str(path)}).fetchall()
    for read in (found, pl.read_parquet(path).rows()):
        assert [[told_apart(row[at]) for at in same_text] for row in read] == [
            [row[at] for at in same_text] for row in wanted
        ]
        # Nested values keep every digit: what Python reads from the text is what was given.
        assert [json.loads(row[4] or "null") for row in read] == [row.get("h") for row in rows]


def test_the_same_rows_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        rows = ({"a": f"t{index}", "b": index / 7, "c": [index] * (index % 5)} for index in range(12_000))
        write_parquet(tmp_path / f"{name}.parquet", {"a": "text", "b": "number", "c": "json"}, rows)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 10**400, math.nan, math.inf, -math.inf])
def test_a_number_that_would_be_another_one_in_its_column_is_refused(tmp_path, value):
    with pytest.raises(RunError, match=r"has more than 53 bits|is no JSON number"):
        write_parquet(tmp_path / "x.parquet", {"a": "number"}, [{"a": 1.5}, {"a": value}])
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_where_temporary_files_go(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    write_parquet(tmp_path / "x.parquet", {"a": "integer"}, [{"a": 1}])

    def rows():
        yield {"a": 1}
        assert list((tmp_path / "temporary").iterdir())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_parquet(tmp_path / "y.parquet", {"a": "integer"}, rows())
    assert list((tmp_path / "temporary").iterdir()) == []
    assert {one.name for one in tmp_path.iterdir()} == {"temporary", "x.parquet"}


def test_no_room_for_temporary_files_is_one_line(tmp_path):
    with pytest.raises(RunError, match="the rows cannot be kept for the file: No space left on device") as caught:
        lake._spool(lake.Path("/dev/full"), {"a": "text"}, [{"a": "x" * 100_000}] * 3)
    assert "make room where temporary files go (TMPDIR)" in str(caught.value)


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
