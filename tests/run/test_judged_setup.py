"""From settings and flags to a judged run: what is refused before anybody is asked, and what is drawn for people."""

from __future__ import annotations

import re

import pytest
from judged_making import Here, agrees, case, results_of, scores, step, trace

from rightcall.cli.judging import ended
from rightcall.errors import ConfigError
from rightcall.run.graders.setup import Flags, set_up_probe
from rightcall.run.judging.drawing import is_drawn
from rightcall.testing import ScriptedModel

STEPS = 60


@pytest.fixture
def here(tmp_path):
    one = Here(tmp_path)
    one.write("steps.jsonl", *(step(n) for n in range(STEPS)))
    return one


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"replicates": 0}, "--replicates: must be at least 1"),
        ({"jobs": 0}, "--jobs: must be at least 1"),
        ({"sample": 0}, "--sample: must be at least 1"),
        ({"quorum": 2}, "--quorum: a quorum of 2 of 1 judge cannot be reached"),
        ({"quorum": 0}, "--quorum: a quorum of 0 of 1 judge cannot be reached"),
        ({"budget": "much"}, "--budget: `much` is no budget"),
        ({"judge": "stronger"}, "stronger"),
        ({"prompt": "no such prompt"}, "no such prompt"),
    ],
)
def test_a_flag_that_cannot_be_used_is_refused_before_a_store_is_made(here, flags, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        here.selection(**flags)
    assert not here.store.exists()


def test_a_probe_that_is_unknown_is_refused(here):
    for graders, classes, most, said in (
        (("golden",), (), None, "there are no probes for `golden`"),
        (("selection",), ("flattery",), None, "there is no class of probes `flattery`"),
        (("selection",), (), 0, "at least one item a class is needed"),
    ):
        with pytest.raises(ConfigError, match=said):
            set_up_probe(here.loaded(), graders, classes, most, Flags(judge="strong"))


# ---- what people are shown -------------------------------------------------------------------------------------------


def test_one_in_ten_is_drawn_by_hash_with_its_probability_the_same_ones_after_a_stop(here):
    wanted = [f"case-{n:04d}" for n in range(STEPS) if is_drawn("selection", f"case-{n:04d}", 0.1)]
    assert 0 < len(wanted) < STEPS / 3

    def drawn(run_id: str) -> list[tuple[str, float]]:
        with here.opened() as store:
            found = store.reviews(run_id=run_id, reason="random")
            return sorted((review.unit, review.probability) for _, review in found)

    whole = here.run(here.selection(), ScriptedModel(agrees))
    whole.close()
    assert drawn(whole.run.id) == [(unit, 0.1) for unit in wanted]
    stopped = here.run(here.selection(budget="30calls", use_cache=False), ScriptedModel(agrees), places=3)
    stopped.close()
    assert set(drawn(stopped.run.id)) < set(drawn(whole.run.id))
    here.run(here.selection(resume=stopped.run.id, use_cache=False), ScriptedModel(agrees)).close()
    assert drawn(stopped.run.id) == drawn(whole.run.id)


def test_the_share_is_a_setting(here):
    here.change("[review]\nrandom = 1.0\n")
    judged = here.run(here.selection(limit=5), ScriptedModel(agrees))
    judged.close()
    assert judged.tally.reviews["random"] == 5


# ---- exit codes ------------------------------------------------------------------------------------------------------


def test_what_was_not_asked_leaves_with_5_and_says_why(here):
    here.write("steps.jsonl", *(step(n) for n in range(1, 5)))  # all of them right
    setup = here.selection(budget="3calls")
    judged = here.run(setup, ScriptedModel(agrees), places=1)
    judged.close()
    end = ended(judged, 0.98, exit_zero=False)
    said = end.words("done")
    assert end.shown == 5
    assert "1 not asked: the budget of 3 calls is spent; --resume" in said
    assert "only 3 of 4 could be judged (0.750 < 0.98)" in said
    assert "exit 5" in said


# ---- rubric ----------------------------------------------------------------------------------------------------------


def test_traces_are_judged_with_and_without_a_case_and_each_repeat_has_a_name_of_its_own(tmp_path):
    here = Here(tmp_path)
    here.write("traces.jsonl", trace(0), trace(1, case_id="case-9999"), trace(0, trial=2))
    call = {"id": "1", "function": {"name": "freeze_card", "arguments": "{}"}}
    here.write("transcripts.jsonl", {"messages": [{"role": "assistant", "tool_calls": [call]}]}, {"messages": []})
    here.write("cases.jsonl", case(0), case(7))
    judged = here.run(here.rubric("tra*.jsonl", cases="cases.jsonl"), ScriptedModel(scores))
    *found, transcript = results_of(judged)
    assert (transcript["case_id"], transcript["golden_verdict"]) == (None, None)
    assert [(one["trace_id"], one["case_id"], one["golden_verdict"]) for one in found] == [
        ("t-0", "case-0000", "PASS"), ("t-1", "case-9999", None), ("t-0", "case-0000", "PASS")
    ]  # fmt: skip
    with here.opened() as store:
        verdicts = {verdict.unit: verdict for verdict in store.verdicts(judged.run.id)}
        del verdicts[transcript["trace_id"]]
        assert sorted(verdicts) == ["t-0", "t-0 (2)", "t-1"]
        assert all(b"freeze_card" in store.body(verdict.trace) for verdict in verdicts.values())
        assert [unit for unit, verdict in verdicts.items() if verdict.case is None] == ["t-1"]
        assert store.counts()["case"] == 1
        assert {verdict.decided_by for verdict in verdicts.values()} == {"judge"}
        assert {verdict.score for verdict in verdicts.values()} == {4.0}
    assert judged.reports[str(here.folder / "transcripts.jsonl")].skipped == 1


def test_a_code_decided_run_keeps_nothing_where_no_store_was_named(tmp_path):
    here = Here(tmp_path, judges=())
    here.write("steps.jsonl", step(1))
    judged = here.run(here.selection())
    judged.close()
    assert judged.run is None
    assert not here.store.parent.exists()


def test_a_code_decided_run_goes_on_record_where_the_project_keeps_a_store(tmp_path):
    here = Here(tmp_path, 'store = ".rightcall/rightcall.db"\n', judges=())
    here.write("steps.jsonl", *(step(n) for n in range(150)))
    judged = here.run(here.selection())
    found = results_of(judged)
    with here.opened() as store:
        verdicts = list(store.verdicts(judged.run.id))
        assert len(verdicts) == len(found) == 150
        assert {verdict.decided_by for verdict in verdicts} == {"code"}
        assert store.counts()["attempt"] == 0
