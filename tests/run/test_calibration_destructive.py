"""Which labels are about destructive tools: by the policy, the case's own, and the catalog that counts."""

from __future__ import annotations

import msgspec
import pytest
from labels_making import put_run

from rightcall.case.case import Case
from rightcall.case.policy import Policy
from rightcall.run.calibration.destructive import Destructive
from rightcall.run.judging.record import sha256_of
from rightcall.store.records import VerdictRecord
from rightcall.store.store import Store
from rightcall.trace import jsontext
from rightcall.trace.model import Call, Trace

CLOSES = Policy(classes={"close_card": "destructive"})
HINTED = [{"name": "close_card", "parameters": {}, "annotations": {"destructiveHint": True}}]


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s.db") as one:
        yield one


def told(store, policy=None, *, tools=("close_card",), grader="rubric", case=None, own_tools=None, catalog=None,
         aliases=None, **result):  # fmt: skip
    """Whether a trace that called these tools is about a destructive one."""
    kept = jsontext.encode(catalog) if catalog is not None else None
    run = put_run(
        store,
        grader,
        run=f"20261129-{len(store.runs()) + 1}",
        aliases=aliases or {},
        catalog=None if kept is None else sha256_of(kept),
    )
    raw = {} if own_tools is None else {"tools_json": msgspec.Raw(jsontext.encode(own_tools))}
    trace = Trace(id="t", events=tuple(Call(id=f"c{n}", turn=n, tool=tool) for n, tool in enumerate(tools, 1)), **raw)
    bodies = [msgspec.json.encode(trace), *([] if case is None else [msgspec.json.encode(case)])]
    verdict = VerdictRecord(
        run_id=run, grader=grader, unit="t", result="0" * 64, status="EVALUATED", verdict=None, case_id=None,
        trace_id="t", trace=sha256_of(bodies[0]), case=None if case is None else sha256_of(bodies[1]),
    )  # fmt: skip
    store.write([verdict], [*bodies, *([] if kept is None else [kept]), b"{}"])
    return Destructive(store, policy).of(grader, {"aliases": aliases or {}}, verdict, result)


def test_a_policy_that_only_has_classes_counts(store):
    assert told(store, CLOSES) is True
    assert told(store, CLOSES, tools=("get_limit",)) is False


def test_without_a_policy_the_hints_of_the_catalog_count(store):
    assert told(store) is False
    assert told(store, own_tools=HINTED) is True


def test_the_suites_catalog_is_the_one_that_the_run_kept(store):
    assert told(store, catalog=HINTED) is True
    assert told(store, Policy(classes={"close_card": "write"}), catalog=HINTED) is False


def test_a_case_has_a_policy_of_its_own(store):
    assert told(store, case=Case(id="c", policy=CLOSES)) is True
    assert told(store, Policy(classes={"close_card": "write"}), case=Case(id="c", policy=CLOSES)) is False


def test_another_name_of_a_tool_is_that_tool(store):
    assert told(store, CLOSES, tools=("shut_card",), aliases={"shut_card": "close_card"}) is True


def test_a_reading_is_about_the_tool_whose_result_it_is(store):
    both = {"tools": ("get_limit", "close_card"), "grader": "interpretation"}
    assert told(store, CLOSES, **both, tool="get_limit") is False
    assert told(store, CLOSES, **both, tool="close_card") is True
