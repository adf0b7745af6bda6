"""What gates said is found again by run, on both databases; the newest one is the one that stands."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_making import RUN, gate_answer

from rightcall.store.gate_answers import gate_answers, newest_answer, newest_answers, overtaken
from rightcall.store.records import RunEvent
from rightcall.store.store import Store
from rightcall.store.verify import verify


@pytest.fixture
def store(store_url):
    with Store.open(store_url) as found:
        yield found


def test_the_newest_answer_of_each_run_stands_and_all_are_kept_in_order(store):
    said = [gate_answer(answer="FAIL"), gate_answer(run_id="other"), gate_answer(answer="WAIT", at="2020")]
    digests = [store.write([one])[0] for one in said]
    assert [(digest, one) for _, digest, one in gate_answers(store.database)] == list(zip(digests, said, strict=True))
    assert [one.answer for _, _, one in gate_answers(store.database, RUN)] == ["FAIL", "WAIT"]
    assert newest_answer(store.database, RUN) == said[2]
    assert newest_answers(store.database, ["other", RUN, "none"]) == {"other": said[1], RUN: said[2]}
    assert newest_answer(store.database, "none") is None
    assert newest_answers(store.database, []) == {}


def test_the_same_answer_twice_is_one_record(store):
    assert store.write([gate_answer()]) == store.write([gate_answer()])
    assert store.counts()["gate"] == 1
    assert verify(store).intact


def test_many_runs_are_looked_up_at_once(store):
    store.write([gate_answer(run_id=f"r{n}", at=str(n)) for n in range(500)])
    found = newest_answers(store.database, (f"r{n}" for n in range(600)))
    assert {name: one.at for name, one in found.items()} == {f"r{n}": str(n) for n in range(500)}


def test_a_run_is_overtaken_by_what_was_recorded_after_its_newest_answer(store):
    runs = [f"r{n}" for n in range(300)]
    store.write([RunEvent(run_id=name, at="0", status="finished") for name in runs])
    store.write([gate_answer(run_id=name) for name in runs])
    assert overtaken(store.database, [*runs, "none"]) == set()
    store.write([RunEvent(run_id=name, at="1", status="resumed") for name in ("r3", "r299", "none")])
    assert overtaken(store.database, [*runs, "none"]) == {"r3", "r299"}
    store.write([gate_answer(run_id="r3", at="2")])
    assert overtaken(store.database, runs) == {"r299"}
    assert overtaken(store.database, []) == set()


ANSWERS = st.sampled_from(["PASS", "FAIL", "INCONCLUSIVE", "NOT_COMPARABLE", "WAIT"])


@given(said=st.lists(st.tuples(st.sampled_from("abc"), ANSWERS, st.integers(0, 3)), max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
def test_whatever_was_said_the_last_that_was_new_stands(tmp_path_factory, said):
    last, seen = {}, set()
    with Store.open(tmp_path_factory.mktemp("said") / "s.db") as store:
        for run_id, answer, at in said:
            store.write([gate_answer(run_id=run_id, answer=answer, at=str(at))])
            if (run_id, answer, at) not in seen:
                last[run_id] = answer
            seen.add((run_id, answer, at))
        assert {name: one.answer for name, one in newest_answers(store.database, "abc").items()} == last
