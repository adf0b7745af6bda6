"""Several graders under one run id: each counts as by its own command, and what is on record is never done twice."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from suite_making import ALL, VERDICTS, Desk

from rightcall.errors import ConfigError, StoreError, TraceError
from rightcall.report.judged import summary as judged_summary
from rightcall.report.summary import summary as golden_summary
from rightcall.run.golden.grading import Graded
from rightcall.run.judging.run import kept_summary
from rightcall.run.results.facts import graders_in
from rightcall.run.results.store import stored_results
from rightcall.run.suite.run import run_suite


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


@pytest.fixture
def kept(tmp_path, store_url):
    """Return the card desk with a store of each kind."""
    return Desk(tmp_path, store_url)


# ---- one run ---------------------------------------------------------------------------------------------------------


def test_all_graders_write_under_one_id_each_by_its_own_name(kept):
    done = kept.run()
    assert (done.status, done.not_run, list(done.graders)) == ("finished", (), ALL)
    assert kept.verdicts(done.run.id) == VERDICTS
    with kept.opened() as store:
        run, event = store.runs()[0]
        assert (len(store.runs()), run.grader, event.status) == (1, "run", "finished")
        assert graders_in(run) == tuple(ALL)
        assert set(event.summary["graders"]) == set(ALL)
        attempts = Counter(attempt.grader for _, _, attempt in store.attempts(run_id=run.id))
        assert attempts.keys() == set(ALL) - {"golden"}
        reviewed = {review.grader for _, review in store.reviews(run_id=run.id)}
        assert reviewed == set(ALL)


def test_two_graders_may_say_something_about_the_same_unit(desk):
    done = desk.run("golden", "rubric", "preference")
    with desk.opened() as store:
        found = {one.grader: one.verdict for one in store.find_verdicts(run_id=done.run.id, unit="stolen")}
    assert found == {"golden": "FAIL", "rubric": None, "preference": "B"}


@pytest.mark.parametrize("grader", ALL)
def test_a_grader_gives_the_figures_that_it_gives_alone(desk, grader):
    """The figures of `--json`, but for what differs from run to run: how many answers were on record."""
    with run_suite(desk.suite()) as together, run_suite(desk.suite(grader)) as alone:
        one, other = together.graders[grader], alone.graders[grader]
        assert list(one.results()) == list(other.results()) or grader != "golden"
        summary = golden_summary if isinstance(one, Graded) else judged_summary
        assert rounded(summary(one)) == rounded(summary(other))


def rounded(value):
    """A logistic fit depends on the order of arrival in its last digits."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return list(map(rounded, value))
    return round(value, 9) if isinstance(value, float) else value


def test_the_stored_run_has_its_graders_in_the_order_in_which_they_ran(desk):
    done = desk.run()
    with desk.opened() as store:
        results = stored_results(store, done.run.id)
        assert list(results.graders) == ALL
        assert {name: len(list(one.rows())) for name, one in results.graders.items()} == VERDICTS
        assert results.graders["golden"].summary["passed"] == 4


def test_the_strong_judge_of_interpretation_has_its_stage_within_a_suite(desk):
    settings = {"interpretation__strong_judge": "second", "interpretation__strong_share": 1.0}
    done = desk.run("golden", "interpretation", settings=settings)
    with desk.opened() as store:
        by = Counter(one.judge for _, _, one in store.attempts(run_id=done.run.id))
        revisions = Counter(one.revision for one in store.find_verdicts(run_id=done.run.id, grader="interpretation"))
    assert by["second"] == 9
    assert revisions == {1: 9}
    before = desk.counts()
    again = desk.run(settings=settings, resume=done.run.id)
    assert desk.counts() == before
    assert kept_summary(again.graders["interpretation"])["own"] == kept_summary(done.graders["interpretation"])["own"]


# ---- going on --------------------------------------------------------------------------------------------------------


def test_a_finished_run_that_is_resumed_asks_nothing_and_writes_nothing_but_its_end(kept):
    done = kept.run()
    before, said = kept.counts(), kept.results(done.run.id)
    again = kept.run(resume=done.run.id)
    assert again.run.id == done.run.id
    assert kept.counts() == before
    assert kept.results(done.run.id) == said
    with kept.opened() as store:
        assert [event.status for event in store.events(done.run.id)] == ["finished", "resumed", "finished"]
    for name in ALL[1:]:
        assert again.graders[name].tally.resumed == VERDICTS[name]


@pytest.mark.parametrize("calls", [8, 26, 40])
def test_a_budget_that_is_spent_stops_the_whole_run_and_resuming_does_the_rest(desk, calls):
    whole = desk.results(desk.run().run.id)
    asked = desk.counts()["attempt"]
    done = desk.run(budget=f"{calls}calls")
    assert (done.status, done.stop.cause) == ("stopped", "budget")
    assert [*done.graders, *done.not_run] == ALL
    assert desk.counts()["attempt"] - asked <= calls
    with desk.opened() as store:
        event = list(store.events(done.run.id))[-1]
        assert event.status == "stopped"
        assert set(event.summary["graders"]) == set(done.graders)
    again = desk.run(resume=done.run.id)
    assert again.status == "finished"
    assert desk.results(done.run.id) == whole
    assert desk.counts()["attempt"] == 2 * asked
    with desk.opened() as store:
        items = [(one.grader, one.unit, one.reason) for _, one in store.reviews(run_id=done.run.id)]
    assert len(items) == len(set(items))


@pytest.mark.parametrize("moment", [0, 12, 25, 44])
def test_an_interrupt_at_any_moment_is_on_record_and_resuming_does_the_rest(desk, moment):
    whole = desk.results(desk.run().run.id)
    seen = 0

    def progress(_grader, _done, _bad):
        nonlocal seen
        seen += 1
        if seen > moment:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_suite(desk.suite(), progress)
    with desk.opened() as store:
        run, event = store.runs()[0]
        assert (event.status, "--resume goes on" in event.message) == ("interrupted", True)
    again = desk.run(resume=run.id)
    assert again.status == "finished"
    assert desk.results(run.id) == whole
    with desk.opened() as store:
        items = [(one.grader, one.unit, one.reason) for _, one in store.reviews(run_id=run.id)]
    assert len(items) == len(set(items))


def test_a_run_goes_on_with_its_own_graders_unless_others_are_named(desk):
    done = desk.run("golden", "selection")
    again = desk.run(resume=done.run.id)
    assert list(again.graders) == ["golden", "selection"]
    with pytest.raises(ConfigError, match=r"was made with other graders \(golden, selection\)"):
        desk.run("golden", resume=done.run.id)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"golden__profile": "strict"}, "other golden, profile of `golden`"),
        ({"rubric__prompt": "rubric_golden"}, "other prompts of `rubric`"),
        ({"preference__orders": "random"}, "other protocol.* of `preference`"),
        ({"traces": "examples/card-desk/next.jsonl"}, r"other inputs .* of `golden`"),
    ],
)
def test_a_run_goes_on_only_as_it_began_and_the_grader_that_differs_is_named(desk, monkeypatch, settings, words):
    done = desk.run()
    before = desk.counts()
    monkeypatch.chdir(desk.folder)
    with pytest.raises(ConfigError, match=words):
        desk.run(settings=settings, resume=done.run.id)
    assert desk.counts() == before


def test_a_run_of_one_grader_is_resumed_by_its_own_command_and_a_suite_by_run(desk):
    from rightcall.run.graders.setup import Flags, set_up_rubric

    with set_up_rubric(desk.loaded(), Flags(judge="desk")).run() as one:
        pass
    with pytest.raises(ConfigError, match=f"is a run of `rubric`; rightcall rubric --resume {one.run.id}"):
        desk.run(resume=one.run.id)
    done = desk.run("rubric")
    with pytest.raises(ConfigError, match=f"of several graders; rightcall run --resume {done.run.id}"):
        set_up_rubric(desk.loaded(), Flags(judge="desk", resume=done.run.id)).run()


def test_tools_that_are_new_since_the_last_suite_are_noted_and_kept_when_it_goes_on(desk):
    desk.run("golden", "selection")
    file = desk.folder / "examples/card-desk/tools.json"
    tools = json.loads(file.read_text())
    file.write_text(json.dumps([*tools, {"name": "brand_new", "description": "It is new."}]))
    done = desk.run("golden", "selection")
    assert done.run.facts["graders"]["selection"]["new_tools"] == ["brand_new"]
    assert desk.run(resume=done.run.id).graders["selection"].facts["new_tools"] == ["brand_new"]


# ---- what breaks -----------------------------------------------------------------------------------------------------


def test_what_breaks_a_grader_ends_the_whole_run_as_broken_and_nothing_after_it_is_asked(desk):
    file = desk.folder / "examples/card-desk/traces.jsonl"
    file.write_text(file.read_text() + '{"id": "stray", "calls": []}\n')
    with pytest.raises(TraceError, match="has no case_id"):
        desk.run()
    with desk.opened() as store:
        _, event = store.runs()[0]
        assert (event.status, event.summary) == ("broken", {"graders": {}})
        assert re.search("no case_id", event.message)
        assert store.counts().get("attempt", 0) == 0


def test_a_golden_result_that_is_not_the_one_on_record_is_never_counted_in_silence(desk):
    import msgspec

    from rightcall.run.judging.clock import now
    from rightcall.run.judging.record import sha256_of
    from rightcall.store.records import VerdictRecord

    suite = desk.suite("golden")
    suite.ready()
    line = msgspec.json.encode({"trace_id": "lost", "verdict": "FAIL"})
    with desk.opened() if (desk.folder / "desk.db").exists() else _new(desk) as store:
        run = store.new_run("run", "20261130", now(), suite.facts())
        store.write([VerdictRecord(run_id=run.id, grader="golden", unit="lost", result=sha256_of(line),
                                   status="EVALUATED", verdict="FAIL")], [line])  # fmt: skip
    with pytest.raises(StoreError, match="says something else about `lost`") as caught:
        desk.run(resume=run.id)
    assert caught.value.code == "STORE_CONFLICT"


def _new(desk):
    from rightcall.store.store import Store

    return Store.open(desk.store)


# ---- any way of stopping ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    graders=st.lists(st.sampled_from(ALL), min_size=1, unique=True),
    budgets=st.lists(st.integers(1, 25), max_size=3),
)
def test_however_a_run_is_stopped_it_comes_to_what_an_undisturbed_one_comes_to(tmp_path_factory, graders, budgets):
    desk = Desk(tmp_path_factory.mktemp("any"))
    whole = desk.results(desk.run(*graders).run.id)
    asked = desk.counts()["attempt"]
    resume = None
    for budget in budgets:
        done = desk.run(*graders, budget=f"{budget}calls", resume=resume)
        resume = done.run.id
    done = desk.run(*graders, resume=resume)
    assert done.status == "finished"
    assert desk.results(done.run.id) == whole
    assert desk.counts()["attempt"] == 2 * asked
    assert desk.counts()["run"] == 2
