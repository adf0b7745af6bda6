"""Going on with a run: what is refused and why, what is asked again, and what people are shown once."""

from __future__ import annotations

import pytest
from judged_making import Here, agrees, case, results_of, scores, step, trace

from rightcall.errors import ConfigError, StoreError, Unavailable
from rightcall.run.judging.resuming import on_record
from rightcall.run.log.finding import review_items
from rightcall.testing import ScriptedModel

STEPS = 12
TOOLS = '[{"name": "freeze_card", "description": "Freezes."}]'


@pytest.fixture
def here(tmp_path):
    one = Here(tmp_path, 'tools = "tools.json"\n[aliases]\nblock_card = "freeze_card"\n[review]\nrandom = 0.5\n')
    one.write("steps.jsonl", *(step(n) for n in range(STEPS)))
    one.write("tools.json", TOOLS)
    return one


def begun(here: Here, **flags) -> str:
    """Begin a run that stops after five calls, and return its id."""
    judged = here.run(here.selection(budget="5calls", **flags), ScriptedModel(agrees), places=1)
    with judged:
        assert (judged.tally.evaluated, judged.tally.not_asked) == (5, judged.tally.n - 5)
        return judged.run.id


# ---- what is refused -------------------------------------------------------------------------------------------------


def other_steps(here):
    here.write("steps.jsonl", *(step(n, request="something else") for n in range(STEPS)))


def other_catalog(here):
    here.write("tools.json", '[{"name": "freeze_card", "description": "Freezes for a day."}]')


def other_aliases(here):
    here.change('tools = "tools.json"\n[aliases]\nhalt_card = "freeze_card"\n[review]\nrandom = 0.5\n')


def other_policy(here):
    here.change(here.settings + '[policy.classes]\ncancel_card = "destructive"\n')


def other_redaction(here):
    here.change(here.settings + '[redact]\npatterns = ["zebra"]\n')


@pytest.mark.parametrize(
    ("change", "flags", "said"),
    [
        (other_steps, {}, r"other inputs \(.*steps.jsonl\)"),
        (other_catalog, {}, "other tools"),
        (other_aliases, {}, "other aliases"),
        (other_policy, {}, "other policy"),
        (other_redaction, {}, "other redact"),
        (None, {"replicates": 2}, "other replicates"),
        (None, {"sample": 9}, "other sample"),
        (None, {"seed": 4}, "other seed"),
        (None, {"limit": 9, "quorum": 1}, "other limit, quorum"),
    ],
)
def test_a_run_with_other_inputs_is_refused_naming_what_differs(here, change, flags, said):
    run_id = begun(here)
    if change is not None:
        change(here)
    model = ScriptedModel(agrees)
    with pytest.raises(
        ConfigError, match=f"run {run_id} was made with {said}; resume it as it was begun, or begin anew"
    ):
        here.run(here.selection(resume=run_id, **flags), model)
    assert model.requests == []
    with here.opened() as store:
        assert [event.status for event in store.events(run_id)] == ["stopped"]


def test_another_judge_is_refused(here):
    run_id = begun(here)
    here.judges = ("weak",)
    here.change(here.settings)
    with pytest.raises(ConfigError, match="was made with other judges"):
        here.run(here.selection(resume=run_id), ScriptedModel(agrees))


def test_another_grader_is_refused_with_the_command_that_would_do(here):
    run_id = begun(here)
    here.write("traces.jsonl", trace(1))
    with pytest.raises(
        ConfigError, match=f"run {run_id} is a run of `selection`; rightcall selection --resume {run_id}"
    ):
        here.run(here.rubric(resume=run_id), ScriptedModel(scores))


def test_a_run_that_is_not_there_names_the_nearest(here):
    run_id = begun(here)
    with pytest.raises(StoreError, match=f"there is no run `{run_id}0`; did you mean `{run_id}`?"):
        here.selection(resume=f"{run_id}0")


def test_files_count_by_their_content_wherever_they_lie(here):
    run_id = begun(here)
    here.write("moved.jsonl", *(step(n) for n in range(STEPS)))
    judged = here.run(here.selection("moved.jsonl", resume=run_id), ScriptedModel(agrees))
    with judged:
        assert (judged.tally.evaluated, judged.tally.resumed) == (STEPS, 5)


# ---- what is asked again ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use_cache", [True, False])
def test_only_what_has_no_verdict_is_asked(here, use_cache):
    run_id = begun(here)
    model = ScriptedModel(agrees)
    judged = here.run(here.selection(resume=run_id, use_cache=use_cache), model)
    found = results_of(judged)
    assert [one["step_id"] for one in found] == [f"case-{n:04d}" for n in range(STEPS)]
    assert sorted(request.unit for request in model.requests) == [f"case-{n:04d}" for n in range(5, STEPS)]
    with here.opened() as store:
        assert [event.status for event in store.events(run_id)] == ["stopped", "resumed", "finished"]
        assert {verdict.revision for verdict in store.verdicts(run_id)} == {0}


def test_a_transport_fault_is_asked_again_and_gets_a_new_revision_and_no_second_review(here):
    def flaky(request):
        return Unavailable("nobody is there") if request.unit in ("case-0003", "case-0004") else agrees(request)

    judged = here.run(here.selection(), ScriptedModel(flaky))
    first = results_of(judged)
    run_id = judged.run.id
    assert judged.tally.unevaluable == {"JUDGE_UNREACHABLE": 2}
    with here.opened() as store:
        assert [one.item.unit for one in review_items(store, run_id, "unevaluable")] != []
        before = on_record(store, run_id)
        assert before.revisions == {"case-0003": 0, "case-0004": 0}
        assert len(before.settled) == STEPS - 2
    model = ScriptedModel(agrees)
    again = here.run(here.selection(resume=run_id), model)
    second = results_of(again)
    assert sorted(request.unit for request in model.requests) == ["case-0003", "case-0004"]
    assert again.tally.unevaluable == {}
    assert [one for n, one in enumerate(second) if n not in (3, 4)] == [
        one for n, one in enumerate(first) if n not in (3, 4)
    ]
    with here.opened() as store:
        verdicts = {verdict.unit: verdict for verdict in store.verdicts(run_id)}
        assert len(verdicts) == STEPS
        assert {unit for unit, verdict in verdicts.items() if verdict.revision} == {"case-0003", "case-0004"}
        assert store.counts()["verdict"] == STEPS + 2
        # Nothing waits for want of a verdict any more, and nothing waits twice.
        assert review_items(store, run_id, "unevaluable") == []
        waiting = [(one.item.unit, one.item.reason) for one in review_items(store, run_id, None)]
        assert len(waiting) == len(set(waiting))


def test_what_is_still_without_an_answer_waits_once(here):
    def dead(request):
        return Unavailable("nobody is there") if request.unit == "case-0003" else agrees(request)

    judged = here.run(here.selection(), ScriptedModel(dead))
    judged.close()
    for number in (1, 2):
        again = here.run(here.selection(resume=judged.run.id), ScriptedModel(dead))
        again.close()
        assert again.tally.reviews["unevaluable"] == 1
        with here.opened() as store:
            assert store.verdict(judged.run.id, "case-0003").revision == number
            assert len(review_items(store, judged.run.id, "unevaluable")) == 1


def test_what_waits_for_people_is_counted_whether_a_run_was_stopped_or_not(here):
    def doubts(request):
        return agrees(request).replace('"label_challenged": false', '"label_challenged": true').replace(
            '"label_challenge_reason": null', '"label_challenge_reason": "It should have been cancelled."'
        )  # fmt: skip

    whole = here.run(here.selection(), ScriptedModel(doubts))
    whole.close()
    assert whole.tally.reviews["label_challenged"] == STEPS
    assert whole.tally.reviews["random"] > 0
    stopped = here.run(here.selection(budget="5calls", use_cache=False), ScriptedModel(doubts), places=1)
    stopped.close()
    assert stopped.tally.reviews["label_challenged"] == 5
    resumed = here.run(here.selection(resume=stopped.run.id, use_cache=False), ScriptedModel(doubts))
    resumed.close()
    assert resumed.tally.reviews == whole.tally.reviews
    with here.opened() as store:
        one, other = (
            {(item.unit, item.reason, item.probability) for _, item in store.reviews(run_id=run.run.id)}
            for run in (whole, resumed)
        )
    assert one == other


def test_a_critical_misuse_before_the_stop_still_counts_after_it(tmp_path):
    here = Here(tmp_path)
    here.write("traces.jsonl", *(trace(n) for n in range(6)))
    here.write("cases.jsonl", *(case(n) for n in range(6)))

    def terrible(request):
        return scores(request).replace('"NONE"', '"CRITICAL"') if "case-0000" in request.user else scores(request)

    stopped = here.run(here.rubric(cases="cases.jsonl", budget="2calls"), ScriptedModel(terrible), places=1)
    stopped.close()
    assert stopped.tally.reviews["CRITICAL"] == 1
    resumed = here.run(here.rubric(cases="cases.jsonl", resume=stopped.run.id), ScriptedModel(terrible))
    resumed.close()
    assert (resumed.tally.evaluated, resumed.tally.resumed, resumed.tally.reviews["CRITICAL"]) == (6, 2, 1)
