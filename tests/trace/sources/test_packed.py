"""Zip archives are looked through before anything reads them: bombs, paths that lead outside, lies, damage."""

import contextlib
import random
import struct
import zipfile
import zlib

import pytest
import zstandard

from rightcall.errors import TraceError
from rightcall.trace.sources import packed


def archive(path, entries, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as made:
        for name, data in entries:
            made.writestr(name, data)
    return path


def refusal(path):
    with pytest.raises(TraceError) as caught:
        packed.check_zip(path)
    assert caught.value.place.file == str(path)
    return caught.value.code


def zstd_archive(path, data, declared=None):
    """An archive with one entry that is packed with zstd, which the standard library writes only in newer versions."""
    name, body = b"header.json", zstandard.compress(data)
    size = len(data) if declared is None else declared
    common = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 33, zlib.crc32(data), len(body), size, len(name), 0)
    local = b"PK\x03\x04" + common + name + body
    entry = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
    path.write_bytes(local + entry + end)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_sound_archive_gives_its_names(tmp_path, method):
    path = archive(tmp_path / "a.eval", [("header.json", "{}"), ("samples/1_epoch_1.json", "x" * 5000)], method)
    assert packed.check_zip(path) == ["header.json", "samples/1_epoch_1.json"]
    assert packed.check_zip(archive(tmp_path / "empty.eval", [])) == []


def test_zstd_is_looked_through_on_every_python(tmp_path):
    assert packed.check_zip(zstd_archive(tmp_path / "a.eval", b'{"a": 1}' * 1000)) == ["header.json"]


@pytest.mark.parametrize("name", ["../up.json", "a/../../up.json", "/etc/x", "C:\\x", "c:x", "a\\..\\b"])
def test_a_path_that_leads_outside_is_refused(tmp_path, name):
    assert refusal(archive(tmp_path / "a.eval", [("header.json", "{}"), (name, "x")])) == "TRACE_UNSAFE_ARCHIVE"


def test_too_many_entries_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "MAX_ENTRIES", 3)
    assert refusal(archive(tmp_path / "a.eval", [(f"{i}.json", "") for i in range(4)])) == "TRACE_TOO_LONG"


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = archive(tmp_path / "a.eval", [("a", "x" * 900), ("b", "x" * 900)])
    monkeypatch.setattr(packed, "MAX_TOTAL_BYTES", 1000)
    assert refusal(path) == "TRACE_TOO_LONG"
    monkeypatch.undo()
    monkeypatch.setattr(packed, "MAX_ENTRY_BYTES", 800)
    assert refusal(path) == "TRACE_TOO_LONG"


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = archive(tmp_path / "bomb.eval", [("a.json", bytes(20 << 20))])
    monkeypatch.setattr(packed, "_check_content", lambda *_: pytest.fail("it was unpacked"))
    assert refusal(path) == "TRACE_UNSAFE_ARCHIVE"


def test_text_that_packs_well_is_no_bomb(tmp_path):
    assert packed.check_zip(archive(tmp_path / "a.eval", [("a.json", bytes(4 << 20))])) == ["a.json"]


@pytest.mark.parametrize("declared", [10, 7999, 8001, 1 << 20])
def test_an_entry_that_lies_about_its_size_is_refused(tmp_path, declared):
    path = archive(tmp_path / "a.eval", [("a.json", bytes(range(250)) * 32)])
    data = path.read_bytes()
    real, said = struct.pack("<I", 8000), struct.pack("<I", declared)
    path.write_bytes(data.replace(real, said))
    assert refusal(path) in ("TRACE_TRUNCATED", "TRACE_UNSAFE_ARCHIVE")
    zstd = zstd_archive(tmp_path / "b.eval", bytes(range(250)) * 32, declared)
    assert refusal(zstd) in ("TRACE_TRUNCATED", "TRACE_UNSAFE_ARCHIVE")


def test_entries_that_overlap_are_refused(tmp_path):
    path = archive(tmp_path / "a.eval", [("a", random.Random(1).randbytes(5000))])
    data = path.read_bytes()
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry, tail = data[start:end], bytearray(data[end:])
    struct.pack_into("<HHI", tail, 8, 3, 3, 3 * len(entry))
    path.write_bytes(data[:start] + entry * 3 + tail)
    assert refusal(path) == "TRACE_UNSAFE_ARCHIVE"


def test_an_encrypted_entry_is_refused(tmp_path):
    path = archive(tmp_path / "a.eval", [("a.json", "{}")])
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert refusal(path) == "TRACE_UNSAFE_ARCHIVE"


@pytest.mark.parametrize("kept", [0, 4, 60, -1, -30])
def test_a_damaged_archive_is_refused(tmp_path, kept):
    path = archive(tmp_path / "a.eval", [("a.json", "x" * 100), ("b.json", "y" * 100)])
    path.write_bytes(path.read_bytes()[:kept])
    assert refusal(path) == "TRACE_TRUNCATED"


def test_a_missing_file_is_named(tmp_path):
    assert refusal(tmp_path / "none.eval") == "TRACE_NO_FILE"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["deflate", "zstd"])
def test_mutated_bytes_are_sound_or_a_typed_error(tmp_path, kind):
    path = tmp_path / "a.eval"
    if kind == "zstd":
        zstd_archive(path, b'{"a": 1}' * 50)
    else:
        archive(path, [("header.json", '{"a": 1}' * 50), ("samples/1_epoch_1.json", "{}")])
    data, chance = path.read_bytes(), random.Random(7)
    for _ in range(400):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path.write_bytes(broken)
        with contextlib.suppress(TraceError):
            packed.check_zip(path)
