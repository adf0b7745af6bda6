"""The queue as a projection: it follows from the log, however it was brought there; on both databases."""

import pytest
from queue_making import LEASE, answer, at, decide, id_of, rank, review, ruled, signoff
from sqlalchemy import text
from store_making import RUN, verdict

from rightcall.store.projection import has_reason
from rightcall.store.store import Store
from rightcall.store.tables import PROJECTION
from rightcall.store.verify import verify
from rightcall.store.waiting import Only


@pytest.fixture
def busy(store):
    """Return a queue on which everything happens that can."""
    store.write([review("t-0"), review("t-1", "CRITICAL", severity="CRITICAL"), review("t-1", "tie")])
    store.write([review(f"t-{n}", "HIGH", severity="HIGH") for n in range(2, 8)])
    queue = ruled(store.queue)
    for who in ("ana", "bo"):
        queue.claim(who, now=at(), lease=LEASE, only=Only(item=id_of("t-1")))
        queue.answer(answer("t-1", who), decide, at(1))
    queue.sign(signoff("t-1"))
    queue.claim("ana", now=at(2), lease=LEASE, client="web")
    held = queue.claim("bo", now=at(2), lease=LEASE)
    queue.release(held.item, "bo", at(3), "no time", "skipped")
    queue.claim("bo", now=at(4), lease=LEASE)
    queue.renew(queue.items(who="bo", now=at(5))[0].item, "bo", at(500), LEASE)
    queue.imported([answer("t-0", "zoe", kind="imported", blind=False)], at(5))
    queue.answer(answer("t-0", "ana"), decide, at(6))
    queue.answer(answer("t-0", "bo"), decide, at(7))
    return queue


def tables(store):
    """Return everything that the projection holds."""
    return {
        table.name: sorted(map(tuple, store.database.read(lambda it, t=table: it.execute(t.select()).all())))
        for table in PROJECTION
    }


def test_a_queue_that_was_thrown_away_comes_back_as_it_was(busy, store):
    before, head = tables(store), store.head()
    assert {len(before["queue"]), len(before["leases"])} == {8, 2}
    busy.rebuild()
    assert tables(store) == before
    assert store.head() == head


def test_a_queue_whose_tables_were_emptied_by_hand_comes_back_by_itself(busy, store):
    before = tables(store)
    for table in PROJECTION:
        store.database.write(lambda it, t=table: it.execute(t.delete()))
    assert len(busy.items()) == 8
    assert tables(store) == before


def test_verify_looks_at_the_log_and_not_at_the_queue(busy, store):
    store.database.write(lambda it: it.execute(text("UPDATE queue SET answered = 99")))
    store.database.write(lambda it: it.execute(text("DELETE FROM leases")))
    assert verify(store).faults == ()


def test_what_another_program_recorded_is_in_the_queue_at_once(store, store_url):
    queue = ruled(store.queue)
    assert queue.items() == []
    with Store.open(store_url) as other:
        other.write([review("t-0")])
        assert [one.unit for one in queue.items()] == ["t-0"]
        other.write([answer("t-0")])
    assert queue.item(id_of()).answered == 1


def test_a_log_that_became_shorter_makes_the_queue_anew(sqlite_store):
    sqlite_store.write([review("t-0"), review("t-1")])
    queue = ruled(sqlite_store.queue)
    assert len(queue.items()) == 2

    def cut(connection):
        for table in ("reviews", "log"):
            connection.exec_driver_sql(f"DROP TRIGGER {table}_no_delete")
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE seq = 2")

    sqlite_store.database.write(cut)
    assert [one.unit for one in queue.items()] == ["t-0"]


def test_all_the_reasons_about_a_unit_are_one_item(store):
    store.write([review("t-0", "random", probability=0.1, case_id="c-0", created_at=at(5).isoformat())])
    store.write([review("t-0", "HIGH", severity="HIGH", step_id="s-0", created_at=at(9).isoformat())])
    store.write([review("t-0", "policy_veto", severity="CRITICAL"), review("t-0", run_id="r2")])
    found = ruled(store.queue).item(id_of())
    assert found.reasons == ("random", "HIGH", "policy_veto")
    assert (found.severity, found.is_critical) == ("CRITICAL", True)
    assert (found.probability, found.drawn) == (1.0, 0.1)
    assert (found.run_id, found.grader, found.unit) == (RUN, "rubric", "t-0")
    assert (found.case_id, found.trace_id, found.step_id) == ("c-0", "t-0", "s-0")
    assert found.created_at == "2026-11-29T10:00:05.000+00:00"


def test_an_item_that_was_only_drawn_at_random_has_the_probability_of_that(store):
    store.write([review("t-0", "random", probability=0.25), review("t-1", "tie")])
    first, second = (store.queue.item(id_of(unit)) for unit in ("t-0", "t-1"))
    assert (first.probability, first.drawn) == (0.25, 0.25)
    assert (second.probability, second.drawn) == (1.0, None)


def test_a_time_that_cannot_be_read_is_that_of_the_log(store):
    store.write([review("t-0", created_at="yesterday"), review("t-1", created_at="2026-11-29T10:00:00")])
    written = {entry.at for entry in store.log()}
    assert {one.created_at for one in store.queue.items()} == written


def test_names_that_no_index_can_hold_make_items_like_any_other(store):
    for unit in ("é" * 500, "a\0b", "'; DROP TABLE queue; --", "%_\\"):
        store.write([review(unit)])
        found = ruled(store.queue).item(id_of(unit))
        assert found.unit == unit
        done = store.queue.answer(answer(unit), decide, at())
        assert done.consensus.unit == unit
        assert store.queue.history(found.item)[0][1].unit == unit


# ---- what waits for a verdict ----


def test_what_had_no_verdict_and_got_one_waits_no_longer(store):
    store.write([verdict(0, status="UNEVALUABLE", reason="JUDGE_UNREACHABLE", score=None)], ["result"])
    store.write([review("t-0", "unevaluable")])
    queue = ruled(store.queue)
    assert [one.state for one in queue.items()] == ["waiting"]
    store.write([verdict(0, revision=1)])
    assert queue.items() == []
    assert queue.claim("ana", now=at(), lease=LEASE) is None
    assert queue.item(id_of()).state == "done"
    store.write([verdict(0, revision=2, status="UNEVALUABLE", reason="JUDGE_SCHEMA", score=None)])
    assert [one.state for one in queue.items()] == ["waiting"]


def test_what_waits_for_something_else_too_goes_on_waiting(store):
    store.write([verdict(0, revision=1)], ["result"])
    store.write([review("t-0", "unevaluable"), review("t-0", "random", probability=0.1)])
    (found,) = ruled(store.queue).items()
    assert (found.reasons, found.state, found.probability) == (("random",), "waiting", 0.1)


def test_an_answer_stays_in_sight_when_its_item_waits_no_longer(store):
    store.write([review("t-0", "unevaluable")])
    queue = ruled(store.queue)
    queue.answer(answer(), decide, at())
    store.write([verdict(0)], ["result"])
    assert [(one.state, one.answered) for one in queue.items()] == [("done", 1)]
    assert queue.consensus(id_of()) is not None


# ---- rules ----


def test_without_rules_one_answer_is_enough_and_hashes_order(store):
    store.write([review("t-0", "random"), review("t-1", "CRITICAL")])
    found = store.queue.items(now=at())
    assert [(one.needed, one.rank) for one in found] == [(1, 0), (1, 0)]
    assert [one.item for one in found] == sorted(one.item for one in found)


def test_rules_that_come_later_hold_for_everything_that_is_open(store):
    store.write([review("t-0"), review("t-1", "CRITICAL"), review("t-2")])
    queue = store.queue
    queue.answer(answer("t-2"), decide, at())
    ruled(queue, needed=3)
    assert {one.unit: one.needed for one in queue.items()} == {"t-0": 3, "t-1": 4, "t-2": 1}


def test_rules_of_one_program_hold_for_what_another_without_rules_has_seen(store, store_url):
    queue = ruled(store.queue, needed=2)
    with Store.open(store_url) as other:
        other.write([review("t-0")])
        assert other.queue.item(id_of()).needed == 1
    assert queue.item(id_of()).needed == 2
    queue.sync()
    assert queue.item(id_of()).needed == 2


def test_a_new_reason_is_a_reason_to_ask_the_rules_again(store):
    store.write([review("t-0")])
    queue = ruled(store.queue)
    assert (queue.item(id_of()).needed, queue.item(id_of()).rank) == (1, 2)
    store.write([review("t-0", "CRITICAL")])
    assert (queue.item(id_of()).needed, queue.item(id_of()).rank) == (2, 0)


def test_more_answers_are_asked_for_only_of_what_is_not_decided(store):
    store.write([review("t-0"), review("t-1")])
    queue = ruled(store.queue)
    queue.answer(answer("t-0"), decide, at())
    ruled(queue, needed=2)
    assert {one.unit: (one.state, one.needed) for one in queue.items()} == {"t-0": ("done", 1), "t-1": ("waiting", 2)}


def test_rules_are_asked_once_for_items_that_are_alike(store):
    store.write([review(f"t-{n}", reason) for n in range(30) for reason in ("random", "tie")])
    asked = []

    def needed(reviews):
        asked.append(sorted((one.grader, one.reason, one.severity) for one in reviews))
        return 1

    store.queue.sync(rank, needed)
    store.queue.items()
    assert asked[0] == [("rubric", "random", None), ("rubric", "tie", None)]
    assert len(asked) <= 2


def test_a_reason_is_found_by_its_whole_name():
    assert has_reason("order_inconsistent") == '%["order!_inconsistent",%'
    assert has_reason("100%") == '%["100!%",%'


# ---- one after the other ----


def test_a_queue_of_several_pages_is_whole(store):
    store.write([review(f"t-{n}", *extra) for n in range(450) for extra in ((), ("tie",))])
    queue = ruled(store.queue)
    found = queue.items(now=at())
    assert len({one.item for one in found}) == len(found) == 450
    assert {one.reasons for one in found} == {("random", "tie")}
    before = tables(store)
    queue.rebuild()
    assert tables(store) == before
