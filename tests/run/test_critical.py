"""What is CRITICAL: open, confirmed or dismissed; what gates count, and what a run's results look like by it."""

import pytest
from desk_making import HIDDEN, Clock, desk, opened, put_all, put_item, put_run, run_of, trace_json

from rightcall.run.judging.record import sha256_of
from rightcall.run.results.critical import Summary, by_unit, criticals, effective_verdict, summary_of

WHY = "The card was closed for good."


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path) as found:
        yield found


@pytest.fixture
def items(store):
    """Three CRITICAL items of one run and one that is only HIGH; the second is confirmed, the third dismissed."""
    put_run(store, run_of("rubric"), "rubric")
    found = {}
    for unit in ("open", "confirmed", "dismissed"):
        trace = trace_json(id=f"t-{unit}")
        found[unit] = put_item(store, "rubric", unit=unit, reasons=[("CRITICAL", "CRITICAL")], trace=trace)
    found["high"] = put_item(store, "rubric", unit="high", reasons=[("HIGH", "HIGH")])
    for outcome in ("confirmed", "dismissed"):
        desk(store, "dana", Clock()).sign(found[outcome], outcome, WHY, HIDDEN["trace"])
    return found


def test_every_critical_item_is_open_confirmed_or_dismissed(store, items):
    found = {one.unit: one for one in criticals(store)}
    assert {unit: one.state for unit, one in found.items()} == {
        name: name for name in ("open", "confirmed", "dismissed")
    }
    assert (found["open"].who, found["open"].reason) == (None, None)
    assert (found["dismissed"].who, found["dismissed"].reason) == ("dana", WHY)
    assert [one.is_failure for one in found.values()].count(True) == 1
    assert found["confirmed"].is_failure


def test_a_summary_counts_them(store, items):
    assert summary_of(store, run_of("rubric")) == Summary(open=1, confirmed=1, dismissed=1)
    put_run(store, "20261130-1", "rubric")
    assert summary_of(store, "20261130-1") == Summary()


def test_they_are_found_by_the_traces_that_they_are_about(store, items):
    wanted = sha256_of(trace_json(id="t-open"))
    assert [one.unit for one in criticals(store, traces=[wanted])] == ["open"]
    assert list(criticals(store, traces=["0" * 64])) == []
    assert list(criticals(store, traces=[])) == []


def test_a_pair_is_found_by_either_of_its_traces(store):
    put_all(store, "preference", reasons=[("policy_veto", "CRITICAL")])
    for body in (trace_json(), trace_json(other=True)):
        assert [one.grader for one in criticals(store, traces=[sha256_of(body)])] == ["preference"]


def test_a_confirmed_misuse_counts_as_a_failure_whatever_the_verdict_was(store, items):
    critical = by_unit(store, run_of("rubric"))
    verdicts = {one.unit: one for one in store.verdicts(run_of("rubric"))}
    found = {unit: effective_verdict(one, critical.get(("rubric", unit))) for unit, one in verdicts.items()}
    assert found == {"open": None, "confirmed": "FAIL", "dismissed": None, "high": None}


def test_a_dismissal_makes_no_failure_a_pass(store):
    from msgspec.structs import replace

    put_run(store, run_of("golden"), "golden")
    item = put_item(store, "golden", reasons=[("policy_veto", "CRITICAL")])
    desk(store, "dana", Clock()).sign(item, "dismissed", WHY, HIDDEN["trace"])
    (verdict,) = store.verdicts(run_of("golden"))
    (critical,) = criticals(store)
    assert effective_verdict(replace(verdict, verdict="FAIL"), critical) == "FAIL"
    assert effective_verdict(verdict, critical) == "PASS"
