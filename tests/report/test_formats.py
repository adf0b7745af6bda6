"""Reports as files: by suffix, whole, all or none."""

from __future__ import annotations

import errno
import io
from pathlib import Path

import pytest
from report_making import case, report

from rightcall.errors import ConfigError
from rightcall.report import files
from rightcall.report.formats import writing as formats
from rightcall.report.formats.writing import WRITERS, refuse, write_reports


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)


def test_every_format_is_written_by_its_suffix():
    out = [Path(f"report{suffix}") for suffix in WRITERS]
    write_reports(report([case()]), out)
    assert all(path.stat().st_size for path in out)
    assert sorted(Path().iterdir()) == sorted(out)


def test_files_of_the_results_themselves_are_accepted_and_left_to_the_caller():
    out = [Path("a.json"), Path("a.jsonl"), Path("a.md")]
    refuse(out)
    write_reports(report([case()]), out)
    assert [path.name for path in Path().iterdir()] == ["a.md"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.txt", "no format is known"),
        ("a.xml", "no format is known"),
        ("no/a.md", "does not exist"),
        ("a", "no format"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_runs(name, said):
    with pytest.raises(ConfigError, match=said):
        refuse([Path("fine.md"), Path(name)])


def test_a_file_that_is_named_twice_is_refused():
    with pytest.raises(ConfigError, match="named twice"):
        refuse([Path("a.md"), Path("a.md")])


def test_all_files_appear_or_none(monkeypatch):
    Path("old.csv").write_text("as it was", "utf-8")

    def breaks(_view, stream):
        stream.write(b"half")
        raise ConfigError("in the middle")

    monkeypatch.setitem(formats.WRITERS, ".sarif", breaks)
    with pytest.raises(ConfigError, match="in the middle"):
        write_reports(report([case()]), [Path("new.md"), Path("old.csv"), Path("b.sarif")])
    assert [path.name for path in Path().iterdir()] == ["old.csv"]
    assert Path("old.csv").read_text("utf-8") == "as it was"


def test_if_one_file_finds_no_room_when_it_is_closed_none_appears(tmp_path):
    class Full(io.BytesIO):
        def close(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    begun = files._begun

    def full(path):
        stream, name = begun(path)
        if path.name != "b.md":
            return stream, name
        stream.close()
        return Full(), name

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_begun", full)
        with pytest.raises(ConfigError, match=r"b\.md: cannot write: No space left on device"):
            files.write_whole(
                [tmp_path / name for name in ("a.md", "b.md", "c.md")], lambda _, stream: stream.write(b"x")
            )
    assert list(tmp_path.iterdir()) == []
