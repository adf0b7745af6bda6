"""A judged run from its first question to its figures: order, samples, stops, and what it keeps in memory."""

from __future__ import annotations

import asyncio
import json
import random
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from judged_making import Here, agrees, results_of, step
from judging_making import a_judge

from rightcall.errors import CaseError, ConfigError, NoDataError, Unavailable
from rightcall.grade.selection import SelectionResult
from rightcall.run.judging.asking import UNREACHABLE_IN_A_ROW, Terms
from rightcall.run.judging.budget import Budget
from rightcall.run.judging.drawing import is_drawn, sampled
from rightcall.run.judging.items import Concluded, Item
from rightcall.run.judging.run import Asking, judge_all, short_summary
from rightcall.run.judging.secrets import Cleaner
from rightcall.store.store import Store
from rightcall.testing import ScriptedModel
from rightcall.trace.redact import Redactor

CLEANER = Cleaner(Redactor(key=b"a key for tests"))


@pytest.fixture
def here(tmp_path):
    return Here(tmp_path)


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [one["step_id"] for one in found]


# ---- order, samples --------------------------------------------------------------------------------------------------


def test_results_come_in_input_order_whatever_order_they_were_concluded_in(here):
    here.write("steps.jsonl", *(step(n) for n in range(24)))
    answered = []

    async def slow(request):
        await asyncio.sleep(random.Random(request.unit).random() / 50)
        answered.append(request.unit)
        return agrees(request)

    found = results_of(here.run(here.selection(), ScriptedModel(slow)))
    wanted = [f"case-{n:04d}" for n in range(24)]
    assert ids(found) == wanted
    assert answered != wanted
    assert sorted(answered) == wanted


@pytest.mark.parametrize("judges", [("strong",), ()])
def test_a_sample_is_the_same_for_the_same_seed_in_any_order_of_the_steps(tmp_path, judges):
    here = Here(tmp_path, judges=judges)

    def drawn(seed: int, steps: list[int]) -> list[str]:
        here.write("steps.jsonl", *(step(n) for n in steps))
        models = [ScriptedModel(agrees)] * len(judges)
        return ids(results_of(here.run(here.selection(sample=7, seed=seed), *models)))

    first = drawn(3, list(range(40)))
    assert len(first) == 7
    assert first == sorted(first)
    assert drawn(3, list(range(40))) == first
    assert drawn(4, list(range(40))) != first
    assert drawn(3, list(reversed(range(40)))) == first[::-1]


def test_a_sample_larger_than_the_whole_is_the_whole(here):
    items = [Item(unit=str(n), queries=(), conclude=lambda _: None) for n in range(5)]
    assert list(sampled(iter(items), 9, 0)) == items
    assert list(sampled(iter(items), None, 0)) == items


def test_a_random_review_is_drawn_by_hash_with_its_share():
    drawn = [n for n in range(20_000) if is_drawn("selection", f"unit {n}", 0.1)]
    assert 1_880 < len(drawn) < 2_120  # a binomial of 20,000 at 0.1, three standard deviations each way
    assert [n for n in range(20_000) if is_drawn("selection", f"unit {n}", 0.1)] == drawn
    assert set(drawn) < {n for n in range(20_000) if is_drawn("selection", f"unit {n}", 0.5)}
    assert not any(is_drawn("selection", f"unit {n}", 0.0) for n in range(100))
    assert all(is_drawn("selection", f"unit {n}", 1.0) for n in range(100))


# ---- judges and replicates on record ---------------------------------------------------------------------------------


def test_every_judge_and_replicate_is_on_record_and_the_verdict_names_them_all(tmp_path):
    here = Here(tmp_path, judges=("strong", "weak"))
    here.write("steps.jsonl", *(step(n) for n in range(3)))
    judged = here.run(here.selection(replicates=2), ScriptedModel(agrees), ScriptedModel(agrees))
    found = results_of(judged)
    asked = [("strong", 0), ("strong", 1), ("weak", 0), ("weak", 1)]
    with here.opened() as store:
        for result, verdict in zip(found, sorted(store.verdicts(judged.run.id), key=lambda one: one.unit), strict=True):
            attempts = [store.attempt(digest)[2] for digest in verdict.attempts]
            assert [(one.judge, one.replicate) for one in attempts] == asked
            assert [(one["judge"], one["replicate"]) for one in result["judges"]] == asked
            assert [digest for one in result["judges"] for digest in one["attempts"]] == list(verdict.attempts)
            assert json.loads(store.body(verdict.result)) == result
        assert len({one.key for _, _, one in store.attempts()}) == 6  # two judges at one model: the same questions
        assert store.counts()["attempt"] == 12


# ---- stops -----------------------------------------------------------------------------------------------------------


def test_what_a_run_stopped_before_is_counted_and_lowers_its_coverage(here):
    here.write("steps.jsonl", *(step(n) for n in range(20)))
    judged = here.run(here.selection(budget="6calls"), ScriptedModel(agrees), places=2)
    found = results_of(judged)
    assert judged.stop is not None
    assert judged.stop.cause == "budget"
    assert (len(found), judged.tally.evaluated, judged.tally.not_asked, judged.tally.n) == (6, 6, 14, 20)
    assert short_summary(judged)["coverage"] == 6 / 20
    with here.opened() as store:
        last = list(store.events(judged.run.id))[-1]
    assert (last.status, last.summary["not_asked"], last.summary["n"]) == ("stopped", 14, 20)


def test_a_judge_that_is_not_there_stops_the_run(here):
    here.write("steps.jsonl", *(step(n) for n in range(200)))

    def dead(_request):
        return Unavailable("nobody is there")

    judge = a_judge(ScriptedModel(dead), retries=0)
    setup = here.selection()
    with Store.open(here.store) as store:
        judged = judge_all(setup.work, [judge], setup.asking, setup.cleaner, store)
        found = results_of(judged)
        assert judged.stop.cause == "unreachable"
        assert UNREACHABLE_IN_A_ROW <= len(found) <= UNREACHABLE_IN_A_ROW + judge.spec.max_concurrency * 3 // 2
        assert {one["reason"] for one in found} == {"JUDGE_UNREACHABLE"}
        assert judged.tally.not_asked == 200 - len(found)
        assert [one.status for one in store.events(judged.run.id)] == ["stopped"]
    assert judge.door.client.is_closed


def test_a_run_that_breaks_is_on_record_as_broken(here):
    here.write("steps.jsonl", step(1), step(2))
    here.write("more.jsonl", step(2))
    setup = here.selection("*.jsonl")
    with pytest.raises(CaseError, match="step `case-0002` stands also at"):
        here.run(setup, ScriptedModel(agrees))
    with here.opened() as store:
        ((run, event),) = store.runs()
        assert event.status == "broken"
        assert "stands also at" in event.message
        assert len(list(store.verdicts(run.id))) <= 2


def test_a_duplicate_in_what_a_stopped_run_did_not_reach_breaks_it_too(here):
    here.write("steps.jsonl", *(step(n) for n in range(9)))
    here.write("tail.jsonl", step(2))
    with pytest.raises(CaseError, match="stands also at"):
        here.run(here.selection("*.jsonl", budget="1calls"), ScriptedModel(agrees), places=1)
    with here.opened() as store:
        assert [event.status for _, event in store.runs()] == ["broken"]


class Fixed:
    """A grader's side with items of a fixed size that nobody is asked about."""

    grader = "selection"
    result_type = SelectionResult

    def __init__(self, number: int, size: int = 10_000) -> None:
        self.number, self.size = number, size
        self.reports: dict[str, Any] = {}

    def facts(self) -> dict[str, Any]:
        return {"number": self.number}

    def aggregate(self) -> Any:
        return self

    def add(self, result: Any) -> None:
        pass

    def summary(self) -> dict[str, Any]:
        return {}

    def items(self) -> Iterator[Item]:
        for n in range(self.number):
            yield Item(unit=f"u{n}", queries=(), conclude=self.concluded(n), case=b"%d" % n * self.size)

    def concluded(self, n: int) -> Any:
        text = f"{n:<{self.size}}"
        return lambda _: Concluded(SelectionResult(step_id=f"u{n}", status="EVALUATED", justification=text), "code")


def test_nothing_is_judged_without_a_place_to_keep_it():
    judge = a_judge(ScriptedModel(agrees))
    with pytest.raises(ConfigError, match="a judge is only asked where its answers can be kept; name a --store"):
        judge_all(Fixed(1), [judge], Asking(Terms(), Budget()), CLEANER, None)
    assert judge.door.client.is_closed


def test_nothing_to_judge_is_an_error_that_leaves_no_run_behind(tmp_path):
    with pytest.raises(NoDataError, match="nothing to judge in these files"):
        judge_all(Fixed(0), [], Asking(Terms(), Budget()), CLEANER, None)
    with Store.open(tmp_path / "rightcall.db") as store:
        with pytest.raises(NoDataError):
            judge_all(Fixed(0), [], Asking(Terms(), Budget()), CLEANER, store)
        assert store.runs() == []


# ---- what it costs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keeps", [False, True])
def test_memory_does_not_grow_with_the_results(tmp_path, keeps):
    number, size = 4_000, 4_000
    with Store.open(tmp_path / "rightcall.db") as store:
        where = store if keeps else None
        asking = Asking(Terms(), Budget())
        judge_all(Fixed(3), [], asking, CLEANER, where).close()
        tracemalloc.start()
        judged = judge_all(Fixed(number, size), [], asking, CLEANER, where)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        with judged:
            assert sum(1 for _ in judged.results()) == number
    # 16 MB of results and as much of cases, of which only those that are just being written are in memory.
    assert peak < number * size / 2


def test_going_on_with_a_run_does_not_load_its_results(tmp_path):
    number, size = 4_000, 4_000
    with Store.open(tmp_path / "rightcall.db") as store:
        with judge_all(Fixed(number, size), [], Asking(Terms(), Budget()), CLEANER, store) as first:
            run_id = first.run.id
        tracemalloc.start()
        judged = judge_all(Fixed(number, size), [], Asking(Terms(), Budget(), resume=run_id), CLEANER, store)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        with judged:
            assert judged.tally.resumed == number
            assert sum(1 for _ in judged.results()) == number
        assert store.counts()["verdict"] == number
    assert peak < number * size / 2


def test_conclusions_that_ask_nobody_are_committed_together(tmp_path, monkeypatch):
    commits = []
    with Store.open(tmp_path / "rightcall.db") as store:
        write = store.write_packed
        monkeypatch.setattr(store, "write_packed", lambda *given: commits.append(1) or write(*given))
        judge_all(Fixed(640, 10), [], Asking(Terms(), Budget()), CLEANER, store).close()
        assert store.counts()["verdict"] == 640
    assert len(commits) <= 640 / 4


def test_progress_is_told_for_every_conclusion(here):
    here.write("steps.jsonl", *(step(n) for n in range(5)), {"id": "case-0005", "selected": "a", "expected": "b"})
    seen = []
    setup = here.selection(judge="none")
    judge_all(setup.work, [], setup.asking, setup.cleaner, None, lambda done, bad: seen.append((done, bad))).close()
    assert [done for done, _ in seen] == [1, 2, 3, 4, 5, 6]
