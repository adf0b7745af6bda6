"""Where a project's store is, whether there is one, and the key beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rightcall.errors import StoreError
from rightcall.run.inputs.opening import (
    has_store,
    is_url,
    key_folder,
    make_key,
    may_be_there,
    open_store,
    redactor_of,
    store_of,
)
from rightcall.settings.load import load_settings
from rightcall.trace.redact import KEY_FILE


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("RIGHTCALL_REDACTION_KEY", raising=False)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a function that loads the settings of a folder which is not the current one."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "suite").mkdir()

    def load(settings: str = "", **flags):
        file = tmp_path / "suite" / "rightcall.toml"
        file.write_text(settings)
        return load_settings(file, {}, flags)

    return load


@pytest.mark.parametrize(
    ("store", "is_database"),
    [
        ("postgresql://keeper@host/records", True),
        ("postgresql+psycopg://host/records", True),
        ("sqlite:///records.db", True),
        ("records.db", False),
        (".rightcall/rightcall.db", False),
        ("postgresql.db", False),
    ],
)
def test_a_store_is_a_file_or_a_url(store, is_database):
    assert is_url(store) is is_database


def test_the_settings_name_a_file_in_their_own_folder_and_a_flag_in_the_current_one(project, tmp_path):
    assert Path(store_of(project())) == tmp_path / "suite" / ".rightcall" / "rightcall.db"
    assert Path(store_of(project('store = "records.db"\n'))) == tmp_path / "suite" / "records.db"
    assert Path(store_of(project(store="records.db"))) == Path("records.db")
    assert store_of(project(store="postgresql://host/records")) == "postgresql://host/records"


def test_the_key_lies_beside_the_file_or_in_the_folder_of_the_project(project, tmp_path):
    assert key_folder(project()) == tmp_path / "suite" / ".rightcall"
    assert key_folder(project(store="kept/records.db")) == Path("kept")
    assert key_folder(project(store="postgresql://host/records")) == tmp_path / "suite" / ".rightcall"


def test_a_project_keeps_a_store_if_one_was_named_or_is_there(project):
    assert not has_store(project())
    assert not may_be_there(project())
    assert has_store(project('store = "records.db"\n'))
    assert not may_be_there(project('store = "records.db"\n'))
    open_store(project()).close()
    assert has_store(project())
    assert may_be_there(project())
    assert has_store(project(store="postgresql://host/records"))
    assert may_be_there(project(store="postgresql://host/records"))


def test_a_new_store_gets_a_key_which_stays(project):
    loaded = project()
    open_store(loaded).close()
    key = (key_folder(loaded) / KEY_FILE).read_bytes()
    open_store(loaded).close()
    assert (key_folder(loaded) / KEY_FILE).read_bytes() == key
    assert redactor_of(loaded).text("amy@example.com") == redactor_of(project()).text("amy@example.com")


def test_a_store_that_must_be_there_is_not_made(project, tmp_path):
    with pytest.raises(StoreError, match="there is no store here"):
        open_store(project(), create=False)
    assert not (tmp_path / "suite" / ".rightcall").exists()


def test_a_key_that_cannot_be_written_is_one_clear_error(project, tmp_path):
    (tmp_path / "suite" / ".rightcall").write_text("a file where the folder should be")
    with pytest.raises(
        StoreError, match=r"the redaction key cannot be written to .*; make the folder writable, or set"
    ):
        make_key(project())
