"""Reported cases about people and the store (`part` people: STO-08 and STO-10), on both databases."""

from threading import Barrier, Thread

import pytest
from queue_making import LEASE, answer, at, decide, id_of, review, ruled
from store_making import verdict

from rightcall.errors import StoreError
from rightcall.store.store import Store
from rightcall.store.verify import verify


@pytest.mark.parametrize("claims", [False, True], ids=["at once", "after a claim"])
@pytest.mark.parametrize("fields", [{"verdict": "PASS"}, {"verdict": "FAIL"}], ids=["alike", "differing"])
def test_of_two_people_at_the_same_moment_one_decides_and_the_other_is_kept(store, store_url, reported, claims, fields):
    case = reported["STO-08"]
    wanted, submits = case["minimal_input"]["annotators_per_item"], case["minimal_input"]["submits"]
    store.write([review()])
    ruled(store.queue, wanted)
    at_once, outcomes = Barrier(len(submits)), {}

    def submit(who, seconds, said):
        with Store.open(store_url) as own:
            queue = ruled(own.queue, wanted)
            at_once.wait()
            if claims:
                queue.claim(who, now=at(seconds), lease=LEASE)
            outcomes[who] = queue.answer(answer(who=who, fields=said), decide, at(seconds))

    said = [{"verdict": "PASS"}, fields]
    threads = [
        Thread(target=submit, args=(one["who"], one["t"], words)) for one, words in zip(submits, said, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    # "one becomes the decision; the other … is kept as an extra opinion, never overwritten silently"
    extra = {who: done.extra for who, done in outcomes.items()}
    assert sorted(extra.values()) == [False, True]
    kept = {one.who: one for _, _, one in store.queue.answers(item=id_of())}
    assert kept.keys() == {one["who"] for one in submits}
    decides = next(who for who, late in extra.items() if not late)
    decided = store.queue.consensus(id_of())
    assert (decided.answers, decided.fields) == ((outcomes[decides].digest,), kept[decides].fields)
    assert verify(store).faults == ()


def test_an_answer_points_at_the_verdict_that_the_person_was_asked_about(store, reported):
    case = reported["STO-10"]
    first, second = case["minimal_input"]["judge_calls"]
    run, again = "r1", f"r{case['minimal_input']['reuse_for_run']}"
    (judged,) = store.write([verdict(run_id=run, attempts=(first,))], ["result"])
    store.write([review(run_id=run)])
    queue, item = ruled(store.queue), id_of(run_id=run)
    said = answer(item=item, run_id=run, verdict=queue.verdict(item)[1], fields={"verdict": "FAIL"})
    done = queue.answer(said, decide, at())
    decided = queue.consensus(item)

    # A later run comes to the same unit, and the run itself is gone on with: another judge call, a new revision.
    store.write([verdict(run_id=again, attempts=(second,)), verdict(run_id=run, revision=1, attempts=(second,))])
    store.write([review(run_id=again), review("t-0", "tie", run_id=run)])
    ruled(queue)

    ((_, digest, kept),) = queue.answers(item=item)
    assert (digest, kept) == (done.digest, said)
    assert kept.verdict == judged
    named = next(entry for entry in store.log(kind="verdict") if entry.digest == kept.verdict)
    assert named.run_id == run
    assert case["right_answer"]["human_label_points_to"] == first
    assert queue.consensus(item) == decided
    assert list(queue.answers(item=id_of(run_id=again))) == []
    assert queue.item(id_of(run_id=again)).state == "waiting"
    with pytest.raises(StoreError, match="what is recorded is never changed"):
        store.database.write(lambda it: it.exec_driver_sql("UPDATE answers SET who = who"))
