"""From the record to what a person may see: which verdict, which catalog, and what is missing."""

import json

import pytest
from desk_making import HIDDEN, Clock, desk, opened, put_all, put_item, run_of, trace_json

from rightcall.errors import StoreError
from rightcall.review.forms import FORMS
from rightcall.run.golden.grading import sha256_of_file
from rightcall.run.people.blinding import Suite, suite_of, unit_of, verdict_at, view_of
from rightcall.settings.load import load_settings
from rightcall.store.records import RunRecord, VerdictRecord
from rightcall.trace.catalog import Catalog
from rightcall.trace.model import Tool

SUITE = Suite(Catalog((Tool(name="suite_tool"),)), "5" * 64)


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path) as found:
        yield found


def names(view):
    return None if view.tools is None else [tool["name"] for tool in view.tools]


def bare() -> bytes:
    """Return a trace without a catalog of its own."""
    whole = json.loads(trace_json())
    del whole["tools"]
    return json.dumps(whole).encode()


def with_facts(store, facts):
    """Record a run of `rubric` with these facts and one item without a catalog; its unit and verdict."""
    store.write([RunRecord(id="20261128-1", grader="rubric", started_at="2026-11-28T10:00:00Z", facts=facts)])
    item = put_item(store, "rubric", run="20261128-1", trace=bare())
    unit = unit_of(store.queue.item(item))
    return unit, verdict_at(store, unit)


def test_a_traces_own_catalog_counts_before_the_suites(store):
    item = put_all(store, "rubric")["rubric"]
    unit = unit_of(store.queue.item(item))
    assert names(view_of(store, unit, verdict_at(store, unit), "ana", FORMS["rubric"], SUITE)) == ["open_door"]


def test_the_suites_catalog_is_shown_if_it_is_the_one_that_the_run_used(store):
    unit, verdict = with_facts(store, {"tools": {"file": "tools.json", "sha256": SUITE.sha256}})
    assert names(view_of(store, unit, verdict, "ana", FORMS["rubric"], SUITE)) == ["suite_tool"]
    assert names(view_of(store, unit, verdict, "ana", FORMS["rubric"], None)) is None


@pytest.mark.parametrize("facts", [{}, {"tools": None}, {"tools": {"file": "tools.json", "sha256": "6" * 64}}])
def test_another_catalog_is_not_shown_in_its_place(store, facts):
    unit, verdict = with_facts(store, facts)
    assert names(view_of(store, unit, verdict, "ana", FORMS["rubric"], SUITE)) is None


def test_the_catalog_of_the_settings_is_redacted_and_known_by_its_hash(tmp_path, monkeypatch):
    secret = "sk-" + "aB3" * 16
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "open_door", "description": f"Uses {secret}."}]))
    (tmp_path / "rightcall.toml").write_text('tools = "tools.json"\n')
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
    found = suite_of(load_settings(tmp_path / "rightcall.toml", {}, {}))
    assert found.sha256 == sha256_of_file(tools)
    assert [tool.name for tool in found.catalog.tools] == ["open_door"]
    assert secret not in found.catalog.tools[0].description
    (tmp_path / "rightcall.toml").write_text("")
    assert suite_of(load_settings(tmp_path / "rightcall.toml", {}, {})) is None


def test_the_verdict_of_a_moment_is_the_one_that_stood_then(store):
    item = put_all(store, "rubric")["rubric"]
    unit, moments = unit_of(store.queue.item(item)), [store.head().seq]
    for revision in (1, 2):
        put_item(store, "rubric", revision=revision, reasons=())
        moments.append(store.head().seq)
    assert [verdict_at(store, unit, moment).revision for moment in moments] == [0, 1, 2]
    assert verdict_at(store, unit).revision == 2
    assert verdict_at(store, unit, 1) is None


@pytest.mark.parametrize(
    ("grader", "gone", "missing"),
    [
        ("rubric", "trace", "trace"), ("golden", "trace", "trace"), ("interpretation", "trace", "trace"),
        ("preference", "trace_b", "second trace"), ("selection", "case", "step"),
    ],
)  # fmt: skip
def test_what_is_not_on_record_is_said_to_be_missing(store, grader, gone, missing):
    put_all(store, grader)
    verdict = store.verdict(run_of(grader), HIDDEN["unit"], grader)
    lone = VerdictRecord(**{**{n: getattr(verdict, n) for n in verdict.__struct_fields__}, gone: None, "unit": "lone"})
    unit = unit_of(desk(store, "ana", Clock()).store.queue.items()[0])
    assert view_of(store, unit, lone, "ana", FORMS[grader], None).missing == (missing,)
    assert view_of(store, unit, None, "ana", FORMS[grader], None).missing == ("verdict",)


def test_a_body_that_is_none_is_a_fault_of_the_store(store):
    put_all(store, "rubric")
    verdict = store.verdict(run_of("rubric"), HIDDEN["unit"], "rubric")
    from msgspec.structs import replace

    from rightcall.run.judging.record import sha256_of

    store.write([], [b'{"no": "trace"}'])
    broken = replace(verdict, trace=sha256_of(b'{"no": "trace"}'))
    unit = unit_of(store.queue.items()[0])
    with pytest.raises(StoreError, match="the trace on record cannot be read"):
        view_of(store, unit, broken, "ana", FORMS["rubric"], None)


def test_arguments_stay_as_they_were_recorded(store):
    trace = json.loads(trace_json())
    trace["events"][2]["arguments"] = {"n": 12345678901234567890123}
    item_run = put_all(store, "rubric", trace=json.dumps(trace).encode())["rubric"]
    view = desk(store, "ana", Clock()).open(item_run).view
    assert view.events[2]["arguments"] == {"n": 12345678901234567890123}
