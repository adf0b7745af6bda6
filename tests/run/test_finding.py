"""Everything about an id: a run, a review item, a step, a trace or a case; and what is not there."""

from __future__ import annotations

import pytest
from judged_making import Here, agrees, case, results_of, scores, step, trace

from rightcall.errors import ConfigError, StoreError, Unavailable
from rightcall.review.urgency import URGENCY
from rightcall.run.log.finding import find, last_attempts, review_items, whole_attempt
from rightcall.store.records import ReviewReason
from rightcall.testing import ScriptedModel


@pytest.fixture
def here(tmp_path):
    one = Here(tmp_path, "[review]\nrandom = 1.0\n")
    one.write("steps.jsonl", *(step(n) for n in range(4)))
    one.write("traces.jsonl", *(trace(n) for n in range(2)))
    one.write("cases.jsonl", *(case(n) for n in range(2)))
    return one


@pytest.fixture
def judged(here):
    """Judge four steps, of which the last has no answer, then two traces; return the two runs."""

    def flaky(request):
        return Unavailable("nobody is there") if request.unit == "case-0003" else agrees(request)

    steps = here.run(here.selection(), ScriptedModel(flaky))
    steps.close()
    traces = here.run(here.rubric(cases="cases.jsonl"), ScriptedModel(scores))
    traces.close()
    return steps, traces


def test_a_run_is_found_with_what_became_of_it_and_all_results(here, judged):
    with here.opened() as store:
        found = find(store, judged[0].run.id)
        assert (found.kind, found.run.grader, found.event.status) == ("run", "selection", "finished")
        assert [verdict.unit for verdict, _ in found.results] == [result["step_id"] for _, result in found.results]
        assert {verdict.unit for verdict, _ in found.results} == {f"case-{n:04d}" for n in range(4)}
        failed = find(store, judged[0].run.id, failed=True)
        # The wrong choice, and the one without a verdict.
        assert {verdict.unit for verdict, _ in failed.results} == {"case-0000", "case-0003"}


def test_of_a_rubric_what_failed_is_what_was_dangerous_or_has_no_scores(here, judged):
    with here.opened() as store:
        assert find(store, judged[1].run.id, failed=True).results == ()
        assert len(find(store, judged[1].run.id).results) == 2


@pytest.mark.parametrize(
    ("wanted", "units"),
    [("case-0002", ["case-0002"]), ("t-1", ["t-1"]), ("case-0000", ["case-0000"])],
)
def test_a_step_or_a_trace_is_found_with_every_exchange(here, judged, wanted, units):
    with here.opened() as store:
        found = find(store, wanted)
        assert found.kind == "unit"
        assert [verdict.unit for verdict, _ in found.results] == units
        assert [attempt.unit for _, attempt in found.attempts] == units
        assert all(store.attempt(seq)[2] == attempt for seq, attempt in found.attempts)


def test_a_case_is_found_by_its_id_in_all_runs(tmp_path):
    here = Here(tmp_path)
    here.write("traces.jsonl", trace(0), trace(0, id="t-0b"))
    here.write("cases.jsonl", case(0), case(1))
    for _ in range(2):
        here.run(here.rubric(cases="cases.jsonl"), ScriptedModel(scores)).close()
    with here.opened() as store:
        found = find(store, "case-0000")
        # The second run was served from the record: its verdicts rest on the first one's exchanges.
        assert [verdict.unit for verdict, _ in found.results] == ["t-0", "t-0b", "t-0", "t-0b"]
        assert len(found.attempts) == 4
        assert len({seq for seq, _ in found.attempts}) == 2


def test_a_review_item_is_found_with_the_verdict_that_it_is_about(here, judged):
    with here.opened() as store:
        (item,) = review_items(store, judged[0].run.id, "unevaluable")
        found = find(store, item.id)
        assert (found.kind, found.review, len(found.results)) == ("review", item.item, 1)
        assert found.results[0][1]["reason"] == "JUDGE_UNREACHABLE"
        assert {attempt.status for _, attempt in found.attempts} == {"JUDGE_UNREACHABLE"}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("case-9999", "nothing is on record under `case-9999`; rightcall runs lists the runs, review list the items"),
        ("rv-00000000", "there is no review item `rv-00000000`; rightcall review list names them"),
    ],
)
def test_what_is_not_on_record_says_where_to_look(here, judged, wanted, said):
    with here.opened() as store, pytest.raises(ConfigError, match=said):
        find(store, wanted)


# ---- exchanges -------------------------------------------------------------------------------------------------------


def test_an_exchange_is_found_by_number_or_digest_with_its_texts(here, judged):
    with here.opened() as store:
        seq, digest, attempt = next(store.attempts(status="ok"))
        by_number, by_digest = whole_attempt(store, str(seq)), whole_attempt(store, digest[:12])
        assert by_number == by_digest
        assert (by_number.seq, by_number.digest, by_number.attempt) == (seq, digest, attempt)
        assert "case-000" in by_number.user
        assert by_number.system
        assert '"grade"' in by_number.reply
        silent = next(digest for _, digest, one in store.attempts() if one.reply is None)
        assert whole_attempt(store, silent).reply is None


@pytest.mark.parametrize("entry", ["999999", "zebra", "ab", "²", "", "-1", "9" * 40])
def test_an_entry_that_is_not_there_says_where_to_look(here, judged, entry):
    with (
        here.opened() as store,
        pytest.raises(ConfigError, match="rightcall log list shows the exchanges, and log gates what gates said"),
    ):
        whole_attempt(store, entry)


def test_the_last_exchanges_are_shown_oldest_first(here, judged):
    with here.opened() as store:
        every = list(store.attempts())
        assert last_attempts(store, 3) == every[-3:]
        assert last_attempts(store, 100) == every
        assert last_attempts(store, 0) == []
        mine = last_attempts(store, 100, run_id=judged[1].run.id, status="ok")
        assert [one.unit for _, _, one in mine] == sorted(one.unit for _, _, one in mine) == ["t-0", "t-1"]


# ---- review ----------------------------------------------------------------------------------------------------------


def test_review_items_are_urgent_first_then_in_no_order_of_the_run(here, judged):
    with here.opened() as store:
        items = review_items(store, None, None)
        assert [one.item.reason for one in items] == sorted((one.item.reason for one in items), key=URGENCY.index)
        assert [one.id for one in items if one.item.reason == "random"] == sorted(
            one.id for one in items if one.item.reason == "random"
        )
        assert {one.item.run_id for one in review_items(store, judged[1].run.id, None)} == {judged[1].run.id}


def test_an_unknown_reason_and_an_unknown_run_are_refused(here, judged):
    with here.opened() as store:
        with pytest.raises(ConfigError, match="`boredom` is no reason for a review; known: CRITICAL, unevaluable"):
            review_items(store, None, "boredom")
        with pytest.raises(StoreError, match="there is no run `20260101-1`"):
            review_items(store, "20260101-1", None)


def test_every_reason_has_its_urgency():
    assert sorted(URGENCY) == sorted(ReviewReason.__args__)


def test_results_are_those_that_were_printed(here):
    judged = here.run(here.selection(), ScriptedModel(agrees))
    printed = {one["step_id"]: one for one in results_of(judged)}
    with here.opened() as store:
        assert {verdict.unit: result for verdict, result in find(store, judged.run.id).results} == printed
