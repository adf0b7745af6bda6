"""Which files a name, a folder or a pattern means."""

from __future__ import annotations

from pathlib import Path

import pytest

from rightcall.errors import ConfigError, NoDataError
from rightcall.run.inputs.plan import expand


def names(paths: list[Path], folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in paths]


@pytest.fixture
def folder(write, tmp_path):
    for name in ("b.jsonl", "a.jsonl", "deep/c.jsonl", "deep/deeper/d.jsonl", "deep/.hidden"):
        write(name, "{}")
    return tmp_path


def test_files_stand_in_the_order_in_which_they_are_named(folder):
    assert names(expand(["b.jsonl", "a.jsonl"], folder, "trace"), folder) == ["b.jsonl", "a.jsonl"]


def test_a_file_that_is_named_twice_is_read_once(folder):
    assert names(expand(["a.jsonl", "*.jsonl", "./a.jsonl"], folder, "trace"), folder) == ["a.jsonl", "b.jsonl"]


def test_a_folder_means_its_own_files_by_name_without_hidden_ones(folder):
    assert names(expand(["deep"], folder, "trace"), folder) == ["deep/c.jsonl"]


def test_a_pattern_means_what_it_matches_by_name(folder):
    assert names(expand(["*.jsonl"], folder, "trace"), folder) == ["a.jsonl", "b.jsonl"]
    assert names(expand(["**/*.jsonl"], folder, "trace"), folder) == [
        "a.jsonl", "b.jsonl", "deep/c.jsonl", "deep/deeper/d.jsonl",
    ]  # fmt: skip


def test_a_pattern_may_be_absolute(folder):
    assert names(expand([f"{folder}/deep/*.jsonl"], Path(), "trace"), folder) == ["deep/c.jsonl"]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(write, tmp_path):
    write("run[1].jsonl", "{}")
    write("run1.jsonl", "{}")
    assert names(expand(["run[1].jsonl"], tmp_path, "trace"), tmp_path) == ["run[1].jsonl"]


def test_brackets_in_the_path_of_the_folder_are_no_pattern(write, tmp_path):
    write("copy [2]/a.jsonl", "{}")
    folder = tmp_path / "copy [2]"
    assert names(expand(["*.jsonl"], folder, "trace"), folder) == ["a.jsonl"]


def test_a_file_that_is_missing_is_left_to_the_reader(folder):
    assert names(expand(["nowhere.jsonl"], folder, "trace"), folder) == ["nowhere.jsonl"]


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (["*.csv"], ConfigError, "no file matches `*.csv`; check the pattern of the trace"),
        ([], NoDataError, "no trace file; name one: a trace file, a folder, or a pattern"),
        (["empty"], NoDataError, "the folder `empty` holds no file; check the path of the trace"),
        (["x" * 5000], ConfigError, f"`{'x' * 79}…`: File name too long; check the path of the trace"),
        (["a\0b"], ConfigError, "no name holds a null character"),
    ],
)
def test_a_name_that_means_no_file(tmp_path, given, kind, said):
    (tmp_path / "empty").mkdir()
    with pytest.raises(kind) as error:
        expand(given, tmp_path, "trace")
    assert said in str(error.value)


def test_a_folder_that_must_not_be_read(folder, monkeypatch):
    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(ConfigError, match="`deep`: Permission denied; check the path of the case"):
        expand(["deep"], folder, "case")
