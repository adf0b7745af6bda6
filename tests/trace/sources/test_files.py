"""Bytes in: packed or not, cut at any place, damaged or empty."""

import gzip
import io
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import NoDataError, Place, TraceError
from rightcall.trace.sources import files
from rightcall.trace.sources.files import Block, blocks, is_empty, lines, open_bytes, read_document

LINES = b"".join(b'{"n": %d, "pad": "%s"}\n' % (n, b"x" * 50) for n in range(400))
NAME = Path("t.jsonl")


def packed(path, data):
    """Write `data` to `path`, packed as its suffix says."""
    pack = {".gz": gzip.compress, ".zst": zstandard.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(data))
    return path


def content(path):
    with open_bytes(path) as stream:
        return stream.read()


def refusal(path):
    with pytest.raises(TraceError) as caught:
        content(path)
    assert caught.value.place == Place(str(path))
    return caught.value


# ---- opening ----


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.jsonl.zst"])
@pytest.mark.parametrize("size", [-1, 1, 7, 1 << 20])
def test_a_file_reads_the_same_packed_or_not(tmp_path, name, size):
    path = packed(tmp_path / name, LINES)
    with open_bytes(path) as stream:
        parts = [stream.read(size)]
        while parts[-1] and len(parts) < 3_000:
            parts.append(stream.read(size))
        parts.append(stream.read())
    assert b"".join(parts) == LINES
    assert read_document(path) == LINES


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_several_packed_frames_are_one_file(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    first = packed(path, b"a\n").read_bytes()
    path.write_bytes(first + packed(tmp_path / f"u{suffix}", b"b\n").read_bytes())
    assert content(path) == b"a\nb\n"


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.99])
@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_packed_file_that_is_cut_short_is_no_shorter_file(tmp_path, suffix, cut):
    path = packed(tmp_path / f"t{suffix}", LINES)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * cut)])
    error = refusal(path)
    assert error.code == "TRACE_TRUNCATED"
    assert "damaged or truncated" in error.message


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_second_frame_that_is_cut_short_is_noticed(tmp_path, suffix):
    path = packed(tmp_path / f"t{suffix}", LINES)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:-9])
    assert refusal(path).code == "TRACE_TRUNCATED"


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_file_that_is_not_packed_as_its_name_says_is_damaged(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    path.write_bytes(LINES)
    assert refusal(path).code == "TRACE_TRUNCATED"


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_flipped_byte_is_noticed(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    data = bytearray(
        gzip.compress(LINES) if suffix == ".gz" else zstandard.ZstdCompressor(write_checksum=True).compress(LINES)
    )
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    assert refusal(path).code == "TRACE_TRUNCATED"


@pytest.mark.parametrize("name", ["none.jsonl", "none.jsonl.gz", "none.jsonl.zst"])
def test_a_missing_file_is_named(tmp_path, name):
    error = refusal(tmp_path / name)
    assert (error.code, error.message, error.exit_code) == ("TRACE_NO_FILE", "no such file", 2)


@pytest.mark.parametrize("name", ["folder", "folder.gz", "folder.zst"])
def test_a_folder_is_no_file(tmp_path, name):
    (tmp_path / name).mkdir()
    assert refusal(tmp_path / name).code == "TRACE_NO_FILE"


def test_a_name_that_the_system_refuses_is_one_clear_error(tmp_path):
    error = refusal(tmp_path / ("x" * 300))
    assert error.code == "TRACE_NO_FILE"
    assert error.message.startswith("cannot be read: ")


# ---- cutting ----


def cut(data, size):
    return list(blocks(io.BytesIO(data), NAME, size))


def numbered(data, size):
    return [line for block in cut(data, size) for line in lines(block)]


ANY_BYTES = st.lists(st.sampled_from([b"{}", b"\n", b"\r\n", b" ", b"\xef\xbb\xbf", b"x" * 9, b"\xc3\xa9"])).map(
    b"".join
)


@given(ANY_BYTES, st.integers(1, 40))
@settings(deadline=None, max_examples=200)
def test_any_block_size_gives_the_same_lines(data, size):
    assert numbered(data, size) == numbered(data, 1 << 20)


@given(ANY_BYTES, st.integers(1, 40))
@settings(deadline=None)
def test_blocks_lose_nothing_but_blanks_and_the_mark(data, size):
    joined = b"".join(block.data for block in cut(data, size))
    assert joined.rstrip() == data.removeprefix(b"\xef\xbb\xbf").rstrip()


@given(ANY_BYTES, st.integers(1, 40))
@settings(deadline=None)
def test_a_block_holds_whole_lines_and_knows_its_first(data, size):
    found = cut(data, size)
    line = 1
    for block in found:
        assert block.first_line == line
        line += block.data.count(b"\n")
    assert all(block.data.endswith(b"\n") for block in found[:-1])


def test_lines_are_numbered_from_one_and_blank_ones_counted_but_not_given():
    assert numbered(b"a\r\n\r\n  b \n\n\nc", 4) == [(1, b"a"), (3, b"b"), (6, b"c")]


def test_a_byte_order_mark_is_dropped_at_the_start_only():
    assert numbered(b"\xef\xbb\xbfa\n\xef\xbb\xbfb", 1) == [(1, b"a"), (2, b"\xef\xbb\xbfb")]
    assert cut(b"\xef\xbb\xbf", 1) == []


def test_a_block_is_about_as_large_as_asked():
    assert max(len(block.data) for block in cut(LINES, 1_000)) < 1_200


def test_a_line_longer_than_the_limit_stops_the_reading(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 100)
    with pytest.raises(TraceError) as caught:
        cut(b"a\n" + b"x" * 200, 10)
    assert (caught.value.code, caught.value.place) == ("TRACE_TOO_LONG", Place("t.jsonl", 2))
    path = tmp_path / "t.json"
    path.write_bytes(b"x" * 200)
    with pytest.raises(TraceError) as caught:
        read_document(path)
    assert caught.value.code == "TRACE_TOO_LONG"


def test_lines_up_to_the_limit_are_read(monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 100)
    assert [len(line) for _, line in numbered((b"x" * 99 + b"\n") * 5, 1_000)] == [99] * 5


def test_a_document_comes_without_its_mark(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(b"\xef\xbb\xbf[]")
    assert read_document(path) == b"[]"


def test_an_empty_file_is_nothing_to_grade():
    error = is_empty(NAME)
    assert isinstance(error, NoDataError)
    assert (error.exit_code, error.place) == (5, Place("t.jsonl"))


def test_lines_of_a_block_begin_at_its_first():
    assert list(lines(Block(b"a\n\nb\n", 7))) == [(7, b"a"), (9, b"b")]
