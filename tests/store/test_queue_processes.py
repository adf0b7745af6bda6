"""Several reviewers in processes of their own on one store: nobody is in another's way, and no end of one costs anything."""

import json
import signal
import subprocess
from datetime import datetime

import pytest
from queue_making import answer, at, id_of, rank, review, ruled
from store_making import end, start_python

from rightcall.store.records import AnswerRecord, ConsensusRecord, ReviewEvent
from rightcall.store.store import Store
from rightcall.store.verify import verify

NEEDED = {"random": 1, "tie": 2, "HIGH": 3}
REVIEW = """
import time
from datetime import UTC, datetime
from rightcall.store.store import Store
from queue_making import answer, decide, rank
url, who, lease, hang_after = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
needed = {"random": 1, "tie": 2, "HIGH": 3}
with Store.open(url) as store:
    queue, given = store.queue, 0
    queue.sync(rank, lambda reviews: needed[reviews[0].reason])
    if len(sys.argv) > 5:
        print("ready", flush=True)
        sys.stdin.readline()
    while any(one.state != "done" for one in queue.items()):
        claim = queue.claim(who, now=datetime.now(UTC), lease=lease, client="test")
        if given == hang_after:
            print("holds", claim.item, flush=True)
            time.sleep(600)
        while claim is not None:
            unit = queue.item(claim.item).unit
            queue.answer(answer(unit, who, at=datetime.now(UTC).isoformat()), decide, datetime.now(UTC))
            given += 1
            claim = None
            if given != hang_after:
                claim = queue.claim(who, now=datetime.now(UTC), lease=lease, client="test")
        time.sleep(0.05)
    print(given)
"""


def fill(url, number):
    """Make a store with that many items, of which a third each needs one, two and three answers."""
    reasons = [list(NEEDED)[n % 3] for n in range(number)]
    with Store.open(url) as store:
        store.write([review(f"t-{n}", reason) for n, reason in enumerate(reasons)])
    return {id_of(f"t-{n}"): NEEDED[reason] for n, reason in enumerate(reasons)}


def start(url, who, lease, hang_after=-1):
    return start_python(REVIEW, url, who, str(lease), str(hang_after))


def check_answers(store, needed):
    """Every item has exactly its answers, by different people, and one consensus that rests on them."""
    given, decided = {}, {}
    for item in needed:
        for _, record in store.queue.history(item):
            if isinstance(record, AnswerRecord) and not record.extra:
                given.setdefault(item, []).append(record.who)
            elif isinstance(record, ConsensusRecord):
                decided.setdefault(item, []).append(len(record.answers))
    assert {item: len(people) for item, people in given.items()} == needed
    assert all(len(set(people)) == len(people) for people in given.values())
    assert decided == {item: [number] for item, number in needed.items()}
    assert {one.state for one in store.queue.items()} == {"done"}
    assert verify(store).faults == ()


def check_claims(store, needed):
    """At no claim were more slots promised than the item had; read from the log, in which everything is in order."""
    told = [(seq, event) for seq, _, event in store.queue.events()]
    told += [(seq, one) for seq, _, one in store.queue.answers()]
    answered, held = dict.fromkeys(needed, 0), {item: {} for item in needed}
    for _, one in sorted(told, key=lambda pair: pair[0]):
        leases = held[one.item]
        if isinstance(one, AnswerRecord):
            leases.pop(one.who, None)
            answered[one.item] += not one.extra
        elif isinstance(one, ReviewEvent) and one.act == "claimed":
            leases[one.who] = datetime.fromisoformat(one.until)
            # The clock is read before the lock is taken, so a claim may be written a little after its time.
            moment = datetime.fromisoformat(one.at)
            live = sum(until > moment for until in leases.values())
            assert answered[one.item] + live <= needed[one.item]


@pytest.mark.slow
def test_eight_people_answer_160_items_and_each_item_has_exactly_its_answers(store_url):
    needed = fill(store_url, 160)
    people = [start_python(REVIEW, store_url, f"p{n}", "600", "-1", "wait", stdin=subprocess.PIPE) for n in range(8)]
    assert [person.stdout.readline() for person in people] == ["ready\n"] * 8
    for person in people:
        person.stdin.write("go\n")
        person.stdin.flush()
    given = [int(end(person)) for person in people]
    assert sum(given) == sum(needed.values()) == 319
    assert sum(map(bool, given)) >= 3  # whom a database lets in first is its own affair; an item needs three people
    with Store.open(store_url, create=False) as store:
        check_answers(store, needed)
        check_claims(store, needed)
        assert not any(one.extra for _, _, one in store.queue.answers())


@pytest.mark.slow
def test_what_killed_people_held_comes_back_when_their_claims_lapse(store_url):
    needed = fill(store_url, 60)
    lease = 5.0
    doomed = [start(store_url, f"doomed-{n}", lease, hang_after=n) for n in range(3)]
    held = [person.stdout.readline().split()[1] for person in doomed]
    others = [start(store_url, f"p{n}", lease) for n in range(3)]
    for person in doomed:
        person.send_signal(signal.SIGKILL)
        person.communicate()
    for person in others:
        end(person)
    with Store.open(store_url, create=False) as store:
        check_answers(store, needed)
        for number, item in enumerate(held):
            claimed = [event.who for _, _, event in store.queue.events(item=item)]
            answered = [one.who for _, _, one in store.queue.answers(item=item)]
            assert f"doomed-{number}" in set(claimed) - set(answered)
        store.queue.sync(rank, lambda reviews: NEEDED[reviews[0].reason])
        before = store.queue.items()
        store.queue.rebuild()
        assert store.queue.items() == before


ANSWER_AND_DIE = """
import json, os, signal
from sqlalchemy import event
from rightcall.store.store import Store
from queue_making import LEASE, answer, at, decide, id_of, ruled
from rightcall.store.waiting import Only
url, number = sys.argv[1], int(sys.argv[2])
ends = []
for last in range(1, number + 1):
    child = os.fork()
    if child:
        ends.append(os.waitpid(child, 0)[1])
        continue
    with Store.open(url) as store:
        queue, unit = ruled(store.queue, 2), f"t-{last}"
        queue.items()
        queue.claim("bo", now=at(1), lease=LEASE, only=Only(item=id_of(unit)))
        seen = [0]
        def die(*_):
            seen[0] += 1
            if seen[0] == last:
                os.kill(os.getpid(), signal.SIGKILL)
        event.listen(store.database._engine, "after_cursor_execute", die)
        queue.answer(answer(unit, "bo"), decide, at(2))
    os._exit(0)
print(json.dumps(ends))
"""
STATEMENTS = 40


@pytest.mark.slow
def test_an_answer_whose_writer_is_killed_at_any_statement_is_there_with_all_that_follows_or_not_at_all(store_url):
    with Store.open(store_url) as store:
        store.write([review(f"t-{n}") for n in range(1, STATEMENTS + 1)])
        store.write([answer(f"t-{n}", "ana") for n in range(1, STATEMENTS + 1)])
    ends = json.loads(end(start_python(ANSWER_AND_DIE, store_url, str(STATEMENTS))))
    assert set(ends) == {0, signal.SIGKILL}
    with Store.open(store_url, create=False) as store:
        assert verify(store).faults == ()
        queue = ruled(store.queue, 2)
        for number, status in enumerate(ends, start=1):
            found = queue.item(id_of(f"t-{number}"), now=at(2))
            is_there = found.answered == 2
            assert is_there or status == signal.SIGKILL
            assert (queue.consensus(found.item) is not None) == is_there
            assert dict(found.holders).keys() == (set() if is_there else {"bo"})
            assert found.state == ("done" if is_there else "held")
        before = queue.items(now=at(2))
        assert {one.answered for one in before} == {1, 2}
        queue.rebuild()
        assert queue.items(now=at(2)) == before
