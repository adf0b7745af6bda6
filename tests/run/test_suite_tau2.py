"""Two agents on the 50 airline tasks of τ²-bench, goldens from the tasks: one run of all that code decides."""

from __future__ import annotations

from collections import Counter

import pytest

from rightcall.run.graders.setup import Flags
from rightcall.run.results.store import stored_results
from rightcall.run.suite.run import run_suite
from rightcall.run.suite.setup import set_up_suite
from rightcall.settings.load import load_settings
from rightcall.store.store import Store
from rightcall.trace.sources.reading import load_traces

pytestmark = pytest.mark.slow

GPT, SONNET = "azure-gpt-4o_airline_1trial.json", "claude-sonnet-4-5_airline_1trial.json"


@pytest.fixture(scope="module")
def ran(shared_data, tmp_path_factory):
    """Return the record, and a run of `golden`, `selection` and `preference` over both agents' traces."""
    folder, data = tmp_path_factory.mktemp("tau"), shared_data / "data/tau2_bench"
    (folder / "rightcall.toml").write_text(
        f'traces = "{data / GPT}"\ncases = "{data / GPT}"\n[preference]\njudge = "none"\nby = "golden"\n'
        f'agents = {{ gpt = "{data / GPT}", sonnet = "{data / SONNET}" }}\n'
    )
    loaded = load_settings(folder / "rightcall.toml", {}, {})
    with run_suite(set_up_suite(loaded, Flags())) as done, Store.open(folder / ".rightcall/rightcall.db") as store:
        yield store, done, data


def test_code_decides_what_it_can_and_everything_is_on_record(ran):
    store, done, data = ran
    assert list(done.graders) == ["golden", "selection", "preference"]
    counts = Counter(one.grader for one in store.verdicts(done.run.id))
    traces = load_traces(data / GPT)
    assert (counts["golden"], counts["preference"]) == (len(traces), 50) == (50, 50)
    assert counts["selection"] == done.graders["selection"].tally.n > 200
    assert store.counts().get("attempt", 0) == 0
    assert done.graders["golden"].tally.coverage == 1.0


def test_a_pair_is_decided_where_one_golden_passes_and_the_other_fails(ran):
    store, done, _ = ran
    verdicts = Counter(one.verdict for one in store.find_verdicts(run_id=done.run.id, grader="preference"))
    figures = done.graders["preference"].aggregate.summary()["comparisons"][0]
    assert (figures["wins_a"], figures["wins_b"]) == (verdicts["A"], verdicts["B"])
    passed = {one.case_id for one in store.find_verdicts(run_id=done.run.id, grader="golden") if one.verdict == "PASS"}
    won = {one.case_id for one in store.find_verdicts(run_id=done.run.id, grader="preference") if one.verdict == "A"}
    assert won <= passed


def test_the_stored_run_gives_every_result_with_its_case_version(ran):
    store, done, _ = ran
    results = stored_results(store, done.run.id)
    golden = list(results.graders["golden"].rows())
    assert len({one.case_version for one in golden}) == 50
    assert None not in {one.case_version for one in golden}
