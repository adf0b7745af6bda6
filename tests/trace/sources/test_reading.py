"""From a file to traces: lines or one document, packed or not, empty, faulty, read twice."""

import gzip
import json

import pytest
import zstandard

from rightcall.errors import ConfigError, NoDataError, Place, TraceError
from rightcall.trace.model import Trace
from rightcall.trace.sources import native, reading, registry
from rightcall.trace.sources.dialect import Dialect, ReadingReport, Skip
from rightcall.trace.sources.reading import load_traces, open_traces, read

ROWS = [
    {"id": "a", "calls": [{"tool": "x", "arguments": {"n": 9007199254740993}, "result": None}]},
    {"id": "b", "case_id": "é", "events": [], "completed": False},
]
EXPECTED = [native.read_line(json.dumps(row).encode(), Place()) for row in ROWS]


def jsonl(rows, end="\n"):
    return "".join(json.dumps(row) + end for row in rows).encode()


def written(tmp_path, data, name="t.jsonl"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def digests(traces):
    return [trace.digest for trace in traces]


def refusal(path, kind=TraceError, **options):
    with pytest.raises(kind) as caught:
        load_traces(path, **options)
    return caught.value


# ---- shapes of files ----


@pytest.mark.parametrize(
    "data",
    [
        jsonl(ROWS),
        jsonl(ROWS).rstrip(),
        jsonl(ROWS, "\r\n"),
        b"\xef\xbb\xbf" + jsonl(ROWS),
        b"\n\n" + jsonl(ROWS, "\n\n"),
        json.dumps(ROWS).encode(),
        json.dumps(ROWS, indent=2).encode(),
        b"\xef\xbb\xbf" + json.dumps(ROWS, indent="\t").encode(),
        json.dumps(ROWS, ensure_ascii=False).encode(),
    ],
    ids=[
        "lines",
        "no last newline",
        "crlf",
        "mark",
        "blank lines",
        "list",
        "list over lines",
        "list and mark",
        "utf-8",
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gz", "zst"])
def test_every_way_of_writing_the_same_traces_reads_alike(tmp_path, data, pack):
    suffix = {gzip.compress: ".gz", zstandard.compress: ".zst"}.get(pack, "")
    path = written(tmp_path, pack(data), f"t.json{suffix}")
    assert digests(load_traces(path)) == digests(load_traces(str(path))) == digests(EXPECTED)


@pytest.mark.parametrize("indent", [None, 1])
def test_one_object_is_one_trace(tmp_path, indent):
    assert digests(load_traces(written(tmp_path, json.dumps(ROWS[0], indent=indent).encode()))) == digests(EXPECTED[:1])


def test_reading_twice_gives_the_same_digests(tmp_path):
    path = written(tmp_path, jsonl(ROWS))
    assert digests(load_traces(path)) == digests(load_traces(path))


def test_big_integers_come_through_every_way_exactly(tmp_path):
    for data in (jsonl(ROWS), json.dumps(ROWS, indent=1).encode()):
        assert load_traces(written(tmp_path, data))[0].calls[0].arguments == {"n": 9007199254740993}


def test_a_file_of_many_blocks_is_read_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(reading.files.blocks, "__defaults__", (64,))
    rows = [{"id": f"t{n}", "calls": []} for n in range(200)]
    assert [trace.id for trace in load_traces(written(tmp_path, jsonl(rows)))] == [row["id"] for row in rows]


# ---- nothing to grade ----


@pytest.mark.parametrize("data", [b"", b"\n \r\n\n", b"\xef\xbb\xbf", b"[]", b" [ ]\n"])
def test_a_file_that_holds_nothing_is_no_data_and_exits_5(tmp_path, data):
    error = refusal(written(tmp_path, data), NoDataError)
    assert (error.exit_code, error.code) == (5, "NO_DATA")
    assert error.place.file.endswith("t.jsonl")


def test_an_empty_gzip_file_is_no_data(tmp_path):
    refusal(written(tmp_path, gzip.compress(b""), "t.jsonl.gz"), NoDataError)


def test_a_missing_file_is_an_error(tmp_path):
    assert refusal(tmp_path / "none.jsonl").code == "TRACE_NO_FILE"


# ---- faults ----


@pytest.mark.parametrize(
    ("data", "line", "path", "text"),
    [
        (jsonl(ROWS) + b"{oops}\n", 3, None, "not valid JSON"),
        (jsonl(ROWS) + b'\n{"id": "c", "calls": [], "compelted": 1}\n', 4, "$.compelted", "unknown field `compelted`"),
        (jsonl(ROWS, "\r\n") + b'{"id": "c"}\r\n', 3, None, "needs `events` or `calls`"),
        (jsonl(ROWS) + b'{"id": "c", "calls": [NaN]}', 3, None, "NaN is not a JSON value"),
        (jsonl(ROWS) + b'{"id": "c", "metadata": ' + b"[" * 3000 + b"]" * 3000 + b"}", 3, None, "nested 3001 levels"),
        (b'{"id": "c", "calls": [], "evnets": 1}\n' + jsonl(ROWS), 1, "$.evnets", "unknown field `evnets`"),
    ],
)
def test_a_bad_line_stops_the_reading_with_its_place(tmp_path, data, line, path, text):
    error = refusal(written(tmp_path, data))
    assert (error.place.line, error.place.path) == (line, path)
    assert text in error.message
    assert error.exit_code == 2


def test_the_traces_before_a_bad_line_are_yielded_first(tmp_path):
    stream = read(open_traces(written(tmp_path, jsonl(ROWS) + b"{oops}\n")))
    assert [next(stream), next(stream)] == EXPECTED
    with pytest.raises(TraceError):
        next(stream)


def test_a_bad_element_of_a_list_is_named_by_its_index(tmp_path):
    rows = [*ROWS, {"id": "c", "calls": [{"tol": "x"}]}]
    error = refusal(written(tmp_path, json.dumps(rows, indent=1).encode(), "t.json"))
    assert error.place.path == "$[2].calls[0].tol"


def test_a_document_that_is_cut_short_names_line_and_column(tmp_path):
    data = json.dumps(ROWS, indent=1).encode()
    error = refusal(written(tmp_path, data[: len(data) // 2], "t.json"))
    assert error.place.line > 3
    assert error.place.column is not None


def test_a_document_too_deep_is_refused(tmp_path):
    assert refusal(written(tmp_path, b"[" * 3000 + b"]" * 3000, "t.json")).code == "TRACE_TOO_DEEP"


def test_a_truncated_gzip_file_yields_an_error_and_not_a_shorter_file(tmp_path):
    data = gzip.compress(jsonl([{"id": f"t{n}", "calls": []} for n in range(5_000)]), 1)
    assert refusal(written(tmp_path, data[:-20], "t.jsonl.gz")).code == "TRACE_TRUNCATED"


def test_no_known_dialect_is_an_error_with_its_place(tmp_path):
    error = refusal(written(tmp_path, b'{"foo": 1}\n'))
    assert (error.code, error.place.line) == ("TRACE_UNKNOWN_DIALECT", 1)
    error = refusal(written(tmp_path, b'[{"foo": 1}]', "t.json"))
    assert (error.code, error.place.path) == ("TRACE_UNKNOWN_DIALECT", "$[0]")


def test_an_unknown_dialect_name_is_a_configuration_error(tmp_path):
    assert "`native`" in refusal(written(tmp_path, jsonl(ROWS)), ConfigError, dialect="natve").hint


# ---- other dialects, and the report ----


def pairs(value, place):
    """A made-up dialect: a list of two names; any other list is skipped."""
    if isinstance(value, list) and len(value) == 2:
        yield Trace(id=value[0], completed=value[1] or None)
    else:
        yield Skip("TRACE_MALFORMED", "not a pair", place)


@pytest.fixture
def pair_dialect(monkeypatch):
    """Register the made-up dialect."""

    def is_pair(value):
        return isinstance(value, dict) and "pair" in value

    def traces(value, place):
        return pairs(value.get("pair") if isinstance(value, dict) else value, place)

    dialect = Dialect("pairs", "pairs of names", is_pair, traces)
    monkeypatch.setitem(registry.DIALECTS, "pairs", dialect)
    return dialect


def test_a_bad_record_of_a_foreign_dialect_is_reported_and_skipped(tmp_path, pair_dialect):
    path = written(tmp_path, b'{"pair": ["a", null]}\n{"pair": 7}\n{"pair": ["b", null]}\n')
    report = ReadingReport()
    assert [trace.id for trace in read(open_traces(path), report)] == ["a", "b"]
    assert (report.dialect, report.read, report.skipped, report.causes) == ("pairs", 2, 1, {"TRACE_MALFORMED": 1})
    assert report.examples["TRACE_MALFORMED"] == [f"{path}:2: not a pair"]


def test_a_line_of_a_foreign_file_that_is_not_json_is_skipped_and_counted(tmp_path, pair_dialect):
    path = written(tmp_path, b'{"pair": ["a", null]}\n{oops\n{"pair": ["b", null]}\n')
    report = ReadingReport()
    assert [trace.id for trace in read(open_traces(path), report)] == ["a", "b"]
    assert report.skipped == 1
    assert report.examples["TRACE_MALFORMED"][0].startswith(f"{path}:2:2: not valid JSON")


def test_so_it_is_where_traces_are_spread_over_lines(tmp_path, monkeypatch):
    def all_of(records):
        for value, place in records:
            yield Trace(id=value["pair"]), place

    def is_pair(value):
        return isinstance(value, dict) and "pair" in value

    spread = Dialect("spread", "spread", is_pair, lambda value, place: iter(()), grouped=all_of)
    monkeypatch.setitem(registry.DIALECTS, "spread", spread)
    report = ReadingReport()
    opened = open_traces(written(tmp_path, b'{"pair": "a"}\n{oops\n{"pair": "b"}\n'))
    assert [trace.id for trace in read(opened, report)] == ["a", "b"]
    assert report.skipped == 1


def test_the_elements_of_a_foreign_list_have_their_index(tmp_path, pair_dialect):
    path = written(tmp_path, b'[{"pair": ["a", null]}, {"pair": []}]', "t.json")
    report = ReadingReport()
    assert len(list(read(open_traces(path), report))) == 1
    assert report.examples["TRACE_MALFORMED"] == [f"{path} at $[1]: not a pair"]


def test_a_dialect_whose_record_is_a_list_gets_the_list_whole(tmp_path, monkeypatch):
    whole = Dialect(
        "whole", "a list", lambda value: isinstance(value, list) and value[:1] == [0], pairs, whole_list=True
    )
    monkeypatch.setitem(registry.DIALECTS, "whole", whole)
    path = written(tmp_path, b"[0, 1]", "t.json")
    opened = open_traces(path)
    assert opened.dialect is whole
    report = ReadingReport()
    assert len(list(read(opened, report))) == 1


def test_the_report_counts_incomplete_traces_and_findings(tmp_path):
    finding = {"code": "TRACE_ORPHAN_RESULT", "message": "a result without a call"}
    rows = [{"id": "a", "calls": [], "completed": False, "findings": [finding]}, {"id": "b", "calls": []}]
    report = ReadingReport()
    list(read(open_traces(written(tmp_path, jsonl(rows))), report))
    assert (report.read, report.incomplete, report.skipped) == (2, 1, 0)
    assert report.causes == {"TRACE_ORPHAN_RESULT": 1}
    assert report.examples == {"TRACE_ORPHAN_RESULT": ["trace a: a result without a call"]}
