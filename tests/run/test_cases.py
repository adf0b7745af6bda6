"""The cases of a suite, found by id, in bounded memory."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from hashlib import sha256
from pathlib import Path

import pytest

from rightcall.errors import CaseError, ConfigError, NoDataError, RunError
from rightcall.run.inputs.cases import READY, CaseIndex, Ready, open_cases
from rightcall.run.inputs.catalogs import Catalogs


def opened(*paths: Path) -> CaseIndex:
    return open_cases(list(paths), {}, Catalogs())


def golden(case_id: str, *tools: str) -> dict[str, object]:
    return {"id": case_id, "expect": {"calls": [{"tool": tool} for tool in tools]}}


def replace(path: Path, text: str) -> None:
    """Change a file in place, at a time that differs from its own."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))


def test_cases_are_found_by_id_in_the_order_of_the_files(write):
    index = opened(write("b.jsonl", golden("b1"), golden("b2")), write("a.jsonl", golden("a1")))
    assert list(index) == ["b1", "b2", "a1"]
    assert len(index) == 3
    assert "b2" in index
    assert "b3" not in index
    assert str(index.place("b2")).endswith("b.jsonl:2")
    assert index.case("a1").id == "a1"
    index.close()


def test_a_trace_without_a_case_id_joins_only_where_there_is_one_case(write):
    one = write("one.jsonl", golden("c"))
    assert opened(one).only() == "c"
    assert opened(one, write("two.jsonl", golden("d"))).only() is None


def test_cases_of_a_plain_jsonl_file_are_read_again_and_the_others_kept(write):
    plain = opened(write("c.jsonl", "", golden("c", "first"), golden("d", "second")))
    assert all(entry.case is None for entry in plain.entries.values())
    assert [call.tool for call in plain.case("d").expect.calls] == ["second"]
    assert [call.tool for call in plain.case("c").expect.calls] == ["first"]
    plain.close()
    for name, data in (("c.json", json.dumps([golden("c")]).encode()), ("c.toml", b'id = "c"\nexpect = {calls = []}')):
        kept = opened(write(name, data))
        assert kept.entries["c"].case is not None
    packed = opened(write("c.jsonl.gz", gzip.compress(json.dumps(golden("c")).encode())))
    assert packed.case("c").id == "c"


def test_a_byte_order_mark_does_not_shift_the_places(write):
    index = opened(write("c.jsonl", b"\xef\xbb\xbf" + json.dumps(golden("c")).encode() + b"\r\n"))
    assert index.case("c").id == "c"
    index.close()


def test_the_index_travels_without_its_open_files(write):
    index = opened(write("c.jsonl", golden("c", "a")))
    index.case("c")
    copy = pickle.loads(pickle.dumps(index))
    assert copy.case("c") == index.case("c")
    assert (copy.files, copy.marks) == (index.files, index.marks)
    copy.close()
    index.close()


def test_each_file_is_named_with_its_sha256(write):
    path = write("c.jsonl", golden("c"))
    assert opened(path).files == [(str(path), sha256(path.read_bytes()).hexdigest())]


# ---- a file that changes while it is used ----------------------------------------------------------------------------


@pytest.mark.parametrize("read_before", [True, False], ids=["open", "not yet open"])
@pytest.mark.parametrize(
    "text",
    [
        '{"id": "c", "expect": {"calls": [{"tool": "b"}]}}\n',  # as long as before, and another golden
        '{"id": "d", "expect": {"calls": [{"tool": "a"}]}}\n',  # another case
        '{"id": "c"',  # cut short
        "",
    ],
    ids=["another golden", "another case", "cut short", "empty"],
)
def test_a_case_file_that_changed_during_the_run_stops_it(write, text, read_before):
    path = write("c.jsonl", golden("c", "a"))
    index = opened(path)
    if read_before:
        index.case("c")
    replace(path, text)
    with pytest.raises(RunError, match=r"c\.jsonl: the file changed during the run; run again \[RUN_BROKEN\]"):
        index.case("c")
    index.close()


def test_a_case_file_that_is_gone_stops_the_run(write):
    path = write("c.jsonl", golden("c"))
    index = opened(path)
    path.unlink()
    with pytest.raises(RunError, match="the file changed during the run"):
        index.case("c")


def test_a_file_that_is_replaced_as_a_whole_is_still_the_old_one_while_it_is_open(write):
    path = write("c.jsonl", golden("c", "a"))
    index = opened(path)
    index.case("c")
    write("new.jsonl", golden("c", "b")).replace(path)
    assert index.case("c").expect.calls[0].tool == "a"
    index.close()


# ---- faults, before anything is graded -------------------------------------------------------------------------------


def test_no_file_at_all():
    with pytest.raises(NoDataError, match="no case file; name one with --cases"):
        opened()


def test_an_id_that_stands_in_two_files_names_both(write):
    with pytest.raises(CaseError) as error:
        opened(write("a.jsonl", golden("c")), write("b.jsonl", golden("d"), golden("c")))
    assert "b.jsonl:2: case id `c` stands twice (also at " in str(error.value)
    assert "a.jsonl:1)" in str(error.value)
    assert error.value.code == "CASE_DUPLICATE_ID"


def test_the_same_case_again_in_one_file_is_taken_once(write):
    assert list(opened(write("c.jsonl", golden("c"), golden("c")))) == ["c"]


@pytest.mark.parametrize(
    ("case", "kind", "said"),
    [
        ({"id": "c", "expect": {"calls": [{"tool": "a", "after": ["b"]}]}}, CaseError, "`b`"),
        ({"id": "c", "expect": {"calls": [{"tool": "a", "arguments": {"x": {"matches": "("}}}]}}, CaseError, "("),
        ({"id": "c", "tools": [{"name": "a"}, {"name": "a"}], "expect": {"calls": []}}, ConfigError, "defined twice"),
        ({"id": "c", "tools": "nowhere.json", "expect": {"calls": []}}, ConfigError, "nowhere.json"),
    ],
)
def test_a_faulty_case_is_found_when_the_suite_is_opened(write, case, kind, said):
    with pytest.raises(kind) as error:
        opened(write("c.jsonl", golden("fine"), case))
    assert said in str(error.value)
    assert "c.jsonl:2" in str(error.value)


def test_a_catalog_by_path_belongs_to_the_folder_of_its_case(write):
    write("inner/tools.json", json.dumps([{"name": "a"}]))
    index = opened(write("inner/c.jsonl", {"id": "c", "tools": "tools.json", "expect": {"calls": []}}))
    assert b'"a"' in bytes(index.case("c").tools_json)
    index.close()


def test_only_the_last_compiled_cases_are_kept():
    ready = Ready()
    for number in range(READY + 10):
        ready.keep(str(number), number)
    assert len(ready) == READY
    assert "9" not in ready
    assert str(READY + 9) in ready
