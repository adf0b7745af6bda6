"""The suite's catalog stays with the run that used it."""

from __future__ import annotations

import json

import pytest
from judged_making import Here, agrees, step

from rightcall.run.golden.grading import run as grade
from rightcall.run.golden.keeping import kept
from rightcall.run.inputs.catalog_record import kept_catalog
from rightcall.run.inputs.prepare import prepare
from rightcall.settings.load import load_settings
from rightcall.store.store import Store
from rightcall.testing import ScriptedModel

SECRET = "sk-" + "a1B2c3D4" * 5
TOOLS = [
    {"name": "feed", "description": f"Feeds a tank. Key: {SECRET}", "parameters": {"type": "object"}},
    {"name": "drain", "description": "Empties a tank."},
]


@pytest.fixture
def here(tmp_path):
    here = Here(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    return here


def test_a_judged_run_keeps_the_catalog_of_its_suite_without_secrets(here):
    here.write("steps.jsonl", step(1))
    settings = here.folder / "rightcall.toml"
    settings.write_text('tools = "tools.json"\n' + settings.read_text())
    judged = here.run(here.selection(), ScriptedModel(agrees))
    judged.close()
    (here.folder / "tools.json").write_text("[]")  # what becomes of the file is of no account
    with here.opened() as store:
        catalog = kept_catalog(store, judged.run.id)
        assert [tool.name for tool in catalog.tools] == ["feed", "drain"]
        assert catalog.tools[0].parameters == {"type": "object"}
        assert SECRET not in str(catalog.tools)


def test_a_run_without_a_catalog_names_none(here):
    here.write("steps.jsonl", step(1))
    judged = here.run(here.selection(), ScriptedModel(agrees))
    judged.close()
    with here.opened() as store:
        assert kept_catalog(store, judged.run.id) is None


def test_golden_keeps_it_too(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS[1:]))
    (tmp_path / "traces.jsonl").write_text('{"id": "t", "case_id": "c", "calls": []}\n')
    (tmp_path / "cases.json").write_text('{"id": "c", "expect": {"calls": []}}')
    file = tmp_path / "rightcall.toml"
    file.write_text('traces = "traces.jsonl"\ncases = "cases.json"\ntools = "tools.json"\nstore = "record.db"\n')
    loaded = load_settings(file, {}, {})
    graded, run_id = kept(prepare(loaded), loaded, lambda plan, record: grade(plan, None, record))
    graded.spool.close()
    with Store.open(tmp_path / "record.db") as store:
        assert [tool.name for tool in kept_catalog(store, run_id).tools] == ["drain"]
