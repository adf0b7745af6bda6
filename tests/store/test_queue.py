"""Looking at the queue: items by their ids, states and people, and the history of one; on both databases."""

from itertools import pairwise

import pytest
from queue_making import LEASE, START, answer, at, decide, id_of, review, ruled, signoff
from store_making import RUN, verdict

from rightcall.errors import ConfigError, StoreError
from rightcall.store.queue import Queue
from rightcall.store.records import AnswerRecord, ConsensusRecord, ReviewEvent, ReviewRecord, SignoffRecord, short_item
from rightcall.store.waiting import Only, milliseconds, named, prefix_of, read_moment, written


@pytest.fixture
def queue(store):
    """Return the queue of a store in which every state occurs."""
    store.write([review(f"t-{n}", "tie") for n in range(5)])
    store.write([review("t-5", "CRITICAL"), review("s-0", grader="selection", run_id="r2")])
    queue = ruled(store.queue)
    for who in ("ana", "bo"):
        queue.answer(answer("t-5", who), decide, at())
    queue.answer(answer("t-0", "ana"), decide, at())
    queue.imported([answer("t-1", "bo", kind="imported")], at())
    ruled(queue, needed=2)
    queue.answer(answer("t-1", "ana", fields={"verdict": "FAIL"}), decide, at())
    queue.answer(answer("t-2", "ana"), decide, at())
    queue.claim("bo", now=at(), lease=LEASE, only=Only(item=id_of("t-2")))
    queue.claim("cy", now=at(), lease=LEASE, only=Only(item=id_of("t-3")))
    return queue


def test_a_store_has_one_queue(store):
    assert isinstance(store.queue, Queue)
    assert store.queue is store.queue


def test_each_item_is_in_the_state_that_follows_from_what_was_said(queue):
    assert {one.unit: one.state for one in queue.items(now=at())} == {
        "t-0": "done",
        "t-1": "adjudication",
        "t-2": "held",
        "t-3": "waiting",
        "t-4": "waiting",
        "t-5": "signoff",
        "s-0": "waiting",
    }


def test_items_are_found_by_state_by_holder_and_by_what_they_are_about(queue):
    def units(*args, **more):
        return sorted(one.unit for one in queue.items(*args, now=at(), **more))

    assert units(state="waiting") == ["s-0", "t-3", "t-4"]
    assert units(state="adjudication") == ["t-1"]
    assert units(who="bo") == ["t-2"]
    assert units(state="waiting", who="cy") == ["t-3"]
    assert units(who="ana") == []
    assert units(Only(run_id="r2")) == units(Only(grader="selection")) == ["s-0"]
    assert units(Only(reason="CRITICAL")) == ["t-5"]
    assert units(Only(item=id_of("t-4")[:12])) == ["t-4"]


def test_the_most_urgent_stands_first(queue):
    found = queue.items(now=at())
    assert [one.rank for one in found] == [0, 1, 1, 1, 1, 1, 2]
    ties = [one.item for one in found if one.rank == 1]
    assert ties == sorted(ties)


def test_who_holds_an_item_and_until_when_is_said_while_it_is_so(queue):
    assert queue.item(id_of("t-3"), now=at()).holders == (("cy", "2026-11-29T10:10:00.000+00:00"),)
    assert queue.item(id_of("t-3"), now=at(LEASE)).holders == ()


@pytest.mark.parametrize("given", [id_of(), short_item(id_of()), id_of()[3:], id_of()[3:9], id_of()[:8]])
def test_an_item_is_found_by_the_beginning_of_its_id(queue, given):
    assert queue.item(given).item == id_of()


@pytest.mark.parametrize("given", ["rv-", "rv-12", "abc", "RV-1234", "rv-12345x", "", "rv-" + "0" * 65, "t-0"])
def test_what_is_no_beginning_of_an_id_is_refused(queue, given):
    with pytest.raises(StoreError, match="is no review item") as caught:
        queue.item(given)
    assert (caught.value.code, caught.value.exit_code) == ("STORE_INVALID", 2)


def test_an_item_that_is_not_there_is_said(queue):
    with pytest.raises(StoreError, match="there is no review item `rv-00000000`") as caught:
        queue.item("rv-00000000")
    assert caught.value.exit_code == 2


def test_a_beginning_that_several_have_is_said(store):
    store.write([review(f"u-{n}") for n in range(900)])
    ids = sorted(one.item for one in store.queue.items())
    short = next(one[:7] for one, other in pairwise(ids) if one[:7] == other[:7])
    with pytest.raises(StoreError, match=r"several review items begin with .*; give more digits") as caught:
        store.queue.item(short)
    assert caught.value.exit_code == 2


def test_the_history_of_an_item_is_everything_that_was_recorded_about_it_in_order(queue, store):
    queue.claim("cy", now=at(1), lease=LEASE, only=Only(item=id_of("t-1")), adjudicates=True)
    queue.answer(answer("t-1", "cy", kind="adjudication", fields={"verdict": "FAIL"}), decide, at(2))
    found = queue.history(short_item(id_of("t-1")))
    assert [type(record) for _, record in found] == [
        ReviewRecord, AnswerRecord, AnswerRecord, ReviewEvent, ReviewEvent, AnswerRecord, ConsensusRecord,
    ]  # fmt: skip
    numbers = [seq for seq, _ in found]
    assert numbers == sorted(numbers)
    assert {entry.seq for entry in store.log()} >= set(numbers)
    queue.sign(signoff("t-5"))
    assert isinstance(queue.history(id_of("t-5"))[-1][1], SignoffRecord)


def test_the_current_verdict_of_an_item_has_the_digest_that_was_recorded(queue, store):
    assert queue.verdict(id_of("t-0")) is None
    digests = store.write([verdict(0), verdict(0, revision=1, score=0.5)], ["result"])
    seq, digest, found = queue.verdict(id_of("t-0"))
    assert (digest, found.score) == (digests[1], 0.5)
    assert next(store.log(after=seq - 1)).digest == digest


def test_answers_are_found_by_item_run_and_person(queue):
    def units(**where):
        return [one.unit for _, _, one in queue.answers(**where)]

    assert units() == ["t-5", "t-5", "t-0", "t-1", "t-1", "t-2"]
    assert units(who="bo") == ["t-5", "t-1"]
    assert units(item=id_of("t-5"), who="ana") == ["t-5"]
    assert units(run_id="r2") == []
    assert len(list(queue.events(run_id=RUN))) == 3


# ---- the values ----


def test_a_moment_is_written_and_read_in_whole_milliseconds():
    assert written(milliseconds(at(0.0019))) == "2026-11-29T10:00:00.001+00:00"
    assert read_moment(START.isoformat()) == read_moment("2026-11-29T10:00:00Z") == milliseconds(START)
    assert read_moment("2026-11-29T11:00:00+01:00") == milliseconds(START)
    assert read_moment("2026-11-29T10:00:00") is read_moment("soon") is read_moment("") is None
    assert written(milliseconds(at(-(10**9)))) < written(0) or read_moment(written(-1)) == -1


def test_a_name_keeps_its_letters_and_has_no_blanks_around_it():
    assert named("Zoë van Dam") == "Zoë van Dam"
    for wrong in ("ana ", "\tana", "\n"):
        with pytest.raises(ConfigError):
            named(wrong)


def test_a_beginning_of_an_id_is_completed():
    assert prefix_of("12ab") == prefix_of("rv-12ab") == "rv-12ab"
