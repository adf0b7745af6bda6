"""Files that are written together stay together, or are gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from rightcall.run.starting.disk import undone


def make(folder: Path, *, fails: bool) -> None:
    with undone() as own:
        for name in ("a/b/one", "a/two", "three"):
            own(folder / name)
            (folder / name).write_text("x")
        if fails:
            raise KeyboardInterrupt


def test_what_was_made_is_gone_if_something_fails_and_what_was_there_is_not(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/mine").write_text("y")
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, fails=True)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["a", "a/mine"]


def make_beside_others(folder: Path) -> None:
    with undone() as own:
        own(folder / "new/one")
        (folder / "new/two").write_text("of somebody else")
        raise KeyboardInterrupt


def test_a_folder_into_which_somebody_else_wrote_stays(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        make_beside_others(tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["new", "two"]


def test_without_a_failure_everything_stays(tmp_path):
    make(tmp_path, fails=False)
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == 3
