"""Random schedules of many people on a few items, with a clock that jumps, against a queue in plain Python.

After every step the store must say what the model says; and now and then the queue is thrown away and made again.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from queue_making import LEASE, answer, at, decide, id_of, rank, review, signoff

from rightcall.errors import StoreError
from rightcall.store.records import AnswerRecord, ReviewRecord, short_item
from rightcall.store.store import Store
from rightcall.store.verify import verify
from rightcall.store.waiting import Only

PEOPLE = ("ana", "bo", "cy", "dee", "eli")
UNITS = tuple(f"t-{n}" for n in range(6))
DAY = 86_400


class Thing:
    """An item of the model."""

    def __init__(self, unit: str, created: int) -> None:
        self.unit = unit
        self.created = created
        self.reasons: list[str] = []
        self.answers: list[AnswerRecord] = []
        self.leases: dict[str, float] = {}
        self.skipped: set[str] = set()
        self.ruled = 0
        self.adjudicates = self.is_decided = self.was_reopened = self.is_signed = False

    @property
    def is_critical(self) -> bool:
        return "CRITICAL" in self.reasons

    @property
    def counted(self) -> list[AnswerRecord]:
        return [one for one in self.answers if one.kind == "answer" and not one.extra]

    def slots(self) -> int:
        if self.adjudicates:
            return 1
        return 0 if self.is_decided else self.ruled - len(self.counted)

    def others(self, who: str, now: float) -> int:
        return sum(1 for person, until in self.leases.items() if person != who and until > now)

    def holds(self, who: str, now: float) -> bool:
        return self.leases.get(who, -1) > now

    def has_said(self, who: str) -> bool:
        return any(one.who == who for one in self.answers)

    def state(self, now: float) -> str:
        if self.adjudicates:
            return "adjudication"
        if self.is_decided or self.slots() <= 0:
            return "signoff" if self.is_critical and not self.is_signed else "done"
        return "held" if self.slots() <= self.others("", now) else "waiting"


class Reviewing(RuleBasedStateMachine):
    """People at work on a store and on a model of it."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.store = Store.open(url)
        self.queue = self.store.queue
        self.now = 0
        self.things: dict[str, Thing] = {}
        self.needed = 1
        self.set_rules(1)

    def teardown(self) -> None:
        assert verify(self.store).faults == ()
        self.store.close()

    # ---- the world ----

    @rule(seconds=st.sampled_from([1, 60, int(LEASE / 4), int(LEASE) - 1, int(LEASE), DAY]))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(unit=st.sampled_from(UNITS), reason=st.sampled_from(["CRITICAL", "HIGH", "random", "tie"]))
    def want_a_review(self, unit: str, reason: str) -> None:
        self.store.write([review(unit, reason, created_at=at(self.now).isoformat())])
        thing = self.things.setdefault(unit, Thing(unit, self.now))
        if reason not in thing.reasons:
            thing.reasons.append(reason)
            thing.ruled = self.wanted(thing)

    @rule(needed=st.integers(1, 3))
    def set_rules(self, needed: int) -> None:
        self.needed = needed

        def answers_needed(reviews: list[ReviewRecord]) -> int:
            return needed + any(one.reason == "CRITICAL" for one in reviews)

        self.queue.sync(rank, answers_needed)
        for thing in self.things.values():
            thing.ruled = self.wanted(thing)

    def wanted(self, thing: Thing) -> int:
        return self.needed + thing.is_critical

    @rule()
    def throw_the_queue_away(self) -> None:
        before = self.queue.items(now=at(self.now))
        self.queue.rebuild()
        after = {one.item: one for one in self.queue.items(now=at(self.now))}
        assert after == {one.item: one for one in before}

    # ---- people ----

    @rule(who=st.sampled_from(PEOPLE), adjudicates=st.booleans(), only=st.sampled_from([None, *UNITS]))
    def claim(self, who: str, *, adjudicates: bool, only: str | None) -> None:
        right = self.best(who, adjudicates=adjudicates, only=only)
        chosen = Only() if only is None else Only(item=short_item(id_of(only)))
        found = self.queue.claim(who, now=at(self.now), lease=LEASE, only=chosen, adjudicates=adjudicates)
        assert (None if found is None else found.item) == (None if right is None else id_of(right.unit))
        if right is not None:
            right.leases[who] = max(right.leases.get(who, 0), self.now + LEASE)
            assert found.adjudicates == right.adjudicates

    def best(self, who: str, *, adjudicates: bool, only: str | None) -> Thing | None:
        free = [
            thing
            for thing in self.things.values()
            if not thing.has_said(who)
            and thing.slots() > thing.others(who, self.now)
            and (adjudicates or not thing.adjudicates)
            and only in (None, thing.unit)
        ]
        return min(free, key=lambda thing: self.place(thing, who), default=None)

    def place(self, thing: Thing, who: str) -> tuple[Any, ...]:
        urgency = min({"CRITICAL": 0, "random": 2}.get(reason, 1) for reason in thing.reasons)
        waited = (self.now - thing.created) // DAY
        return (not thing.holds(who, self.now), who in thing.skipped, urgency - waited, id_of(thing.unit))

    @precondition(lambda self: self.things)
    @rule(who=st.sampled_from(PEOPLE), data=st.data())
    def renew(self, who: str, data: st.DataObject) -> None:
        thing = self.any_thing(data)
        lapsed_and_taken = not thing.holds(who, self.now) and thing.slots() <= thing.others(who, self.now)
        if who not in thing.leases or lapsed_and_taken:
            self.refuse(lambda: self.queue.renew(id_of(thing.unit), who, at(self.now), LEASE))
            return
        until = self.queue.renew(id_of(thing.unit), who, at(self.now), LEASE)
        if not thing.holds(who, self.now) or self.now + LEASE - thing.leases[who] >= LEASE / 4:
            thing.leases[who] = self.now + LEASE
        assert until == at(thing.leases[who]).isoformat(timespec="milliseconds")

    @precondition(lambda self: self.things)
    @rule(who=st.sampled_from(PEOPLE), act=st.sampled_from(["released", "skipped"]), data=st.data())
    def let_go(self, who: str, act: str, data: st.DataObject) -> None:
        thing = self.any_thing(data)
        reason = f"reason {self.now} {data.draw(st.integers(0, 10**9))}"
        if who not in thing.leases:
            self.refuse(lambda: self.queue.release(id_of(thing.unit), who, at(self.now), reason, act))
            return
        self.queue.release(id_of(thing.unit), who, at(self.now), reason, act)
        del thing.leases[who]
        thing.skipped |= {who} if act == "skipped" else set()

    @precondition(lambda self: self.things)
    @rule(who=st.sampled_from(PEOPLE), said=st.sampled_from(["PASS", "FAIL"]), decides=st.booleans(), data=st.data())
    def answer(self, who: str, said: str, *, decides: bool, data: st.DataObject) -> None:
        thing = self.any_thing(data)
        kind = "adjudication" if decides else "answer"
        given = answer(thing.unit, who, fields={"verdict": said}, kind=kind)
        if thing.has_said(who) or (decides and not thing.was_reopened):
            same = [one for one in thing.answers if one.who == who and (one.fields, one.kind) == (given.fields, kind)]
            if not same:
                self.refuse(lambda: self.queue.answer(given, decide, at(self.now)))
            return
        late = not self.has_a_say(thing, who, decides=decides)
        done = self.queue.answer(given, decide, at(self.now))
        assert done.extra == late
        thing.leases.pop(who, None)
        thing.answers.append(given if not late else answer(thing.unit, who, fields=given.fields, kind=kind, extra=True))
        if not late:
            self.follow(thing, done, decides=decides)

    def has_a_say(self, thing: Thing, who: str, *, decides: bool) -> bool:
        if decides != thing.adjudicates or thing.slots() <= 0:
            return False
        return thing.holds(who, self.now) or thing.slots() > thing.others(who, self.now)

    def follow(self, thing: Thing, done: Any, *, decides: bool) -> None:
        complete = decides or len(thing.counted) >= thing.ruled
        differs = not decides and len({one.fields["verdict"] for one in thing.counted}) > 1
        assert (done.consensus is not None) == (complete and not differs)
        if complete:
            thing.adjudicates, thing.is_decided = differs, not differs
            thing.was_reopened |= differs
        assert done.adjudicate == thing.adjudicates

    @precondition(lambda self: self.things)
    @rule(data=st.data())
    def sign(self, data: st.DataObject) -> None:
        thing = self.any_thing(data)
        if not thing.is_critical:
            self.refuse(lambda: self.queue.sign(signoff(thing.unit)))
            return
        self.queue.sign(signoff(thing.unit))
        thing.is_signed = True

    @precondition(lambda self: self.things)
    @rule(data=st.data())
    def send_back(self, data: st.DataObject) -> None:
        thing = self.any_thing(data)
        reason = f"reason {self.now} {data.draw(st.integers(0, 10**9))}"
        if thing.state(self.now) != "signoff":
            self.refuse(lambda: self.queue.release(id_of(thing.unit), "dana", at(self.now), reason, "returned"))
            return
        self.queue.release(id_of(thing.unit), "dana", at(self.now), reason, "returned")
        thing.adjudicates = thing.was_reopened = True

    # ---- what must be so ----

    @invariant()
    def the_store_says_what_the_model_says(self) -> None:
        found = {one.unit: one for one in self.queue.items(now=at(self.now))}
        assert found.keys() == self.things.keys()
        for unit, thing in self.things.items():
            one = found[unit]
            live = {who for who, until in thing.leases.items() if until > self.now}
            assert {who for who, _ in one.holders} == live
            assert (one.state, one.adjudicates) == (thing.state(self.now), thing.adjudicates), unit
            assert one.answered == len(thing.counted)
            assert one.extras == sum(given.extra for given in thing.answers)
            assert list(one.answered_by) == list(dict.fromkeys(given.who for given in thing.answers))
            is_open = thing.adjudicates or not thing.is_decided
            assert one.needed == (thing.ruled if is_open else len(thing.counted))

    @invariant()
    def every_answer_that_counts_is_another_persons(self) -> None:
        for thing in self.things.values():
            people = [one.who for one in thing.counted]
            assert len(people) == len(set(people))

    def any_thing(self, data: st.DataObject) -> Thing:
        return self.things[data.draw(st.sampled_from(sorted(self.things)))]

    def refuse(self, work: Any) -> None:
        before = self.store.head()
        with pytest.raises(StoreError):
            work()
        assert self.store.head() == before


def run(places: Any, examples: int, steps: int) -> None:
    """Run that many schedules, each on a store of its own."""

    class Machine(Reviewing):
        def __init__(self) -> None:
            self.home = places()
            super().__init__(self.home.__enter__())

        def teardown(self) -> None:
            super().teardown()
            self.home.__exit__(None, None, None)

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


@contextmanager
def in_a_file() -> Iterator[str]:
    folder = Path(tempfile.mkdtemp())
    yield str(folder / "rightcall.db")
    shutil.rmtree(folder)


@pytest.mark.slow
def test_random_schedules_do_what_the_model_does_in_sqlite():
    run(in_a_file, examples=25, steps=40)


@pytest.mark.slow
def test_random_schedules_do_what_the_model_does_in_postgresql(postgres_server):
    @contextmanager
    def in_a_schema():
        name = postgres_server.new_schema()
        yield postgres_server.url(name)
        postgres_server.execute(f"DROP SCHEMA {name} CASCADE")

    run(in_a_schema, examples=8, steps=40)
