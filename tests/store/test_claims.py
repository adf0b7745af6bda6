"""Claims: who gets which item, for how long, and what happens when somebody walks away; on both databases."""

import pytest
from queue_making import LEASE, answer, at, decide, id_of, review, ruled
from store_making import RUN

from rightcall.errors import ConfigError, StoreError
from rightcall.store.waiting import Only


@pytest.fixture
def queue(store):
    """Return the queue of a store with three units: one CRITICAL, one of a HIGH severity, one drawn at random."""
    store.write([review("t-0", "random", probability=0.1), review("t-1", "CRITICAL", severity="CRITICAL")])
    store.write([review("t-2", "HIGH", severity="HIGH"), review("t-2", "random", probability=0.1)])
    return ruled(store.queue)


def claim(queue, who="ana", seconds=0.0, **more):
    """Claim an item, and return its unit."""
    found = queue.claim(who, now=at(seconds), lease=LEASE, **more)
    return None if found is None else queue.item(found.item).unit


# ---- who gets what ----


def test_the_most_urgent_item_comes_first(queue):
    assert claim(queue, "ana") == "t-1"
    assert claim(queue, "bo") == "t-1"  # it needs two answers
    assert [claim(queue, who) for who in ("cy", "dee", "eli")] == ["t-2", "t-0", None]


def test_a_claim_says_what_is_held_by_whom_and_until_when(queue):
    found = queue.claim("ana", now=at(), lease=LEASE, client="terminal")
    assert (found.item, found.who, found.until) == (id_of("t-1"), "ana", "2026-11-29T10:10:00.000+00:00")
    assert not found.adjudicates
    ((_, _, event),) = queue.events(item=found.item)
    assert (event.act, event.who, event.until, event.client) == ("claimed", "ana", found.until, "terminal")
    assert (event.run_id, event.at) == (RUN, "2026-11-29T10:00:00.000+00:00")


def test_whoever_holds_an_item_gets_it_again_and_longer(queue):
    first = queue.claim("ana", now=at(), lease=LEASE)
    again = queue.claim("ana", now=at(60), lease=LEASE)
    assert (again.item, again.until) == (first.item, "2026-11-29T10:11:00.000+00:00")
    assert queue.item(first.item, now=at(60)).holders == (("ana", again.until),)


def test_a_claim_is_never_cut_short(queue):
    first = queue.claim("ana", now=at(), lease=LEASE)
    assert queue.claim("ana", now=at(1), lease=1.0).until == first.until


def test_nobody_gets_an_item_that_they_have_answered(queue):
    for unit in ("t-1", "t-2", "t-0"):
        assert claim(queue) == unit
        queue.answer(answer(unit), decide, at())
    assert claim(queue) is None
    assert claim(queue, "bo") == "t-1"


def test_what_a_person_skipped_comes_last_for_that_person_only(queue):
    assert claim(queue) == "t-1"
    queue.release(id_of("t-1"), "ana", at(), "too long", "skipped", "terminal")
    assert [claim(queue, "bo"), claim(queue)] == ["t-1", "t-2"]
    queue.release(id_of("t-2"), "ana", at(1), "too long as well", "skipped")
    assert claim(queue) == "t-0"
    queue.answer(answer("t-0"), decide, at(2))
    assert claim(queue, seconds=3) == "t-1"
    assert queue.item(id_of("t-1")).skipped_by == ("ana",)


@pytest.mark.parametrize(
    ("only", "unit"),
    [
        (Only(reason="random"), "t-2"),
        (Only(reason="HIGH"), "t-2"),
        (Only(reason="CRITICAL"), "t-1"),
        (Only(reason="tie"), None),
        (Only(reason="%"), None),
        (Only(grader="selection"), None),
        (Only(run_id="r9"), None),
        (Only(run_id=RUN, grader="rubric"), "t-1"),
        (Only(item=id_of("t-0")), "t-0"),
        (Only(item=id_of("t-0")[:11]), "t-0"),
        (Only(item=id_of("t-0")[3:9]), "t-0"),
    ],
)
def test_only_what_is_asked_for_is_given(queue, only, unit):
    assert claim(queue, only=only) == unit


@pytest.mark.parametrize(("seconds", "first"), [(-86_401, "new"), (-86_400, "new"), (0, "old")])
def test_each_whole_day_of_waiting_counts_as_one_step(store, seconds, first):
    # The older one is one step less urgent: that is made good by the second day.
    old = review("old", "random", created_at=at(-2 * 86_400).isoformat())
    store.write([old, review("new", "HIGH", created_at=at(0 if seconds else -1).isoformat())])
    queue = ruled(store.queue)
    assert next(item.unit for item in queue.items(now=at(seconds))) == first
    assert claim(queue, seconds=seconds) == first


def test_what_is_equally_urgent_comes_in_the_order_of_hashes(store):
    store.write([review(f"t-{n}") for n in range(20)])
    queue = ruled(store.queue)
    given = [queue.claim(f"p{n}", now=at(), lease=LEASE).item for n in range(20)]
    assert given == sorted(given)
    assert given != [id_of(f"t-{n}") for n in range(20)]


def test_a_person_without_any_of_the_roles_gets_nothing(queue):
    assert claim(queue, reviews=False) is None
    assert claim(queue, reviews=False, adjudicates=True) is None


@pytest.mark.parametrize("who", ["", "  ", "ana ", "a" * 401, "a\0b"])
def test_a_name_that_cannot_be_one_is_refused(queue, who):
    with pytest.raises(ConfigError, match="a person needs a name"):
        queue.claim(who, now=at(), lease=LEASE)


def test_a_moment_without_a_zone_is_refused(queue):
    with pytest.raises(ConfigError, match="names no zone"):
        queue.claim("ana", now=at().replace(tzinfo=None), lease=LEASE)


# ---- leases ----


def test_a_lapsed_claim_frees_its_item_by_itself(queue):
    only = Only(item=id_of("t-0"))
    assert claim(queue, "ana", only=only) == "t-0"
    assert claim(queue, "bo", seconds=LEASE - 0.001, only=only) is None
    assert queue.item(id_of("t-0"), now=at(LEASE - 0.001)).state == "held"
    assert queue.item(id_of("t-0"), now=at(LEASE)).state == "waiting"
    assert claim(queue, "bo", seconds=LEASE, only=only) == "t-0"


def test_only_the_holder_renews(queue):
    claim(queue, "ana", only=Only(item=id_of("t-0")))
    # Asked before anything else: even long after the claim has lapsed, and for an item that is decided.
    for seconds in (0, LEASE + 1):
        with pytest.raises(StoreError, match="bo does not hold this item") as caught:
            queue.renew(id_of("t-0"), "bo", at(seconds), LEASE)
        assert (caught.value.code, caught.value.exit_code) == ("STORE_CONFLICT", 2)
    assert queue.renew(id_of("t-0"), "ana", at(300), LEASE) == "2026-11-29T10:15:00.000+00:00"
    assert claim(queue, "bo", seconds=LEASE + 1, only=Only(item=id_of("t-0"))) is None


def test_a_renewal_that_gains_little_changes_nothing_and_is_not_logged(queue, store):
    first = queue.claim("ana", now=at(), lease=LEASE)
    head = store.head()
    assert queue.renew(first.item, "ana", at(LEASE / 4 - 1), LEASE) == first.until
    assert store.head() == head
    assert queue.renew(first.item, "ana", at(LEASE / 4), LEASE) > first.until
    assert store.head().seq == head.seq + 1


def test_a_lapsed_claim_is_renewed_only_while_its_slot_is_free(queue):
    only = Only(item=id_of("t-0"))
    claim(queue, "ana", only=only)
    assert queue.renew(id_of("t-0"), "ana", at(LEASE + 5), LEASE) == "2026-11-29T10:20:05.000+00:00"
    claim(queue, "bo", seconds=2 * LEASE + 5, only=only)
    with pytest.raises(StoreError, match="the claim of ana has lapsed, and the item was taken since") as caught:
        queue.renew(id_of("t-0"), "ana", at(2 * LEASE + 6), LEASE)
    assert caught.value.code == "STORE_CONFLICT"


def test_what_is_released_can_be_taken_by_anybody(queue):
    only = Only(item=id_of("t-0"))
    claim(queue, "ana", only=only)
    queue.release(id_of("t-0")[:9], "ana", at(1), "lunch", client="web")
    assert claim(queue, "bo", seconds=2, only=only) == "t-0"
    told = [(event.act, event.who, event.reason, event.client) for _, _, event in queue.events(item=id_of("t-0"))]
    assert told == [("claimed", "ana", "", ""), ("released", "ana", "lunch", "web"), ("claimed", "bo", "", "")]


def test_nobody_lets_go_of_what_they_do_not_hold(queue):
    claim(queue, "ana", only=Only(item=id_of("t-0")))
    for act in ("released", "skipped"):
        with pytest.raises(StoreError, match="bo does not hold this item") as caught:
            queue.release(id_of("t-0"), "bo", at(), "why", act)
        assert caught.value.code == "STORE_CONFLICT"


@pytest.mark.parametrize("act", ["skipped", "returned"])
def test_skipping_and_sending_back_want_a_reason(queue, act):
    claim(queue, "ana", only=Only(item=id_of("t-0")))
    with pytest.raises(StoreError, match=f"why is the item {act}"):
        queue.release(id_of("t-0"), "ana", at(), " ", act)
    with pytest.raises(StoreError, match="`lost` is no way to let go"):
        queue.release(id_of("t-0"), "ana", at(), "why", "lost")


def test_what_a_lost_connection_makes_a_writer_do_again_is_harmless(queue, store):
    first = queue.claim("ana", now=at(), lease=LEASE)
    head = store.head()
    assert queue.claim("ana", now=at(), lease=LEASE) == first
    assert store.head() == head
    for _ in range(2):
        queue.release(first.item, "ana", at(1), "lunch")
    assert store.head().seq == head.seq + 1


def test_the_same_things_done_again_at_the_same_moment_are_all_on_record(queue):
    only = Only(item=id_of("t-0"))
    for _ in range(3):
        claim(queue, "ana", only=only)
        queue.release(id_of("t-0"), "ana", at(), "no")
    acts = [event.act for _, _, event in queue.events(item=id_of("t-0"))]
    assert acts == ["claimed", "released"] * 3
    assert queue.item(id_of("t-0"), now=at()).holders == ()
