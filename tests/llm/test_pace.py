"""The pace of an endpoint, in simulated time: nothing here waits."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import RateLimited
from rightcall.llm.pace import Pace


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


async def settle():
    """Let every task go on as far as it can."""
    for _ in range(50):
        await asyncio.sleep(0)


class Calls:
    """Calls that stay in flight until they are told how they end."""

    def __init__(self, pace, count):
        self.pace = pace
        self.order = []
        self.ends = [asyncio.Event() for _ in range(count)]
        self.limited = set()
        self.tasks = [asyncio.create_task(self._one(number)) for number in range(count)]

    async def _one(self, number):
        async with self.pace.slot() as slot:
            self.order.append(number)
            await self.ends[number].wait()
            if number in self.limited:
                self.pace.limited(slot)
            else:
                self.pace.clean(slot)

    async def finish(self, *numbers):
        for number in numbers:
            self.ends[number].set()
        await settle()

    async def stop(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def test_it_starts_at_twenty_or_at_less_if_that_is_the_most():
    assert (Pace(64).limit, Pace(8).limit, Pace(0).limit) == (20, 8, 1)


def test_no_more_than_the_limit_are_in_flight_and_each_clean_answer_lets_one_more_in():
    async def go():
        calls = Calls(Pace(64), 60)
        await settle()
        assert len(calls.order) == 20
        await calls.finish(*range(20))
        in_flight = calls.pace.in_flight
        await calls.stop()
        return in_flight, calls.pace.limit

    assert asyncio.run(go()) == (40, 40)


def test_it_never_grows_beyond_the_most():
    async def go():
        calls = Calls(Pace(25), 60)
        for number in range(60):
            await calls.finish(number)
        return calls.pace.limit, calls.pace.in_flight

    assert asyncio.run(go()) == (25, 0)


def test_many_limits_within_a_round_trip_shrink_it_once():
    async def go():
        calls = Calls(Pace(64), 20)
        await settle()
        calls.limited = set(range(20))
        await calls.finish(*range(20))
        return calls.pace.limit

    assert asyncio.run(go()) == 16


def test_the_next_round_trip_may_shrink_it_again_but_never_below_one():
    async def go():
        pace = Pace(64, start=2)
        for _ in range(9):
            async with pace.slot() as slot:
                pace.limited(slot)
        return pace.limit

    assert asyncio.run(go()) == 1


def test_answers_to_what_was_sent_before_the_cut_do_not_let_it_grow():
    async def go():
        calls = Calls(Pace(64), 20)
        await settle()
        calls.limited = {0}
        await calls.finish(0)
        await calls.finish(*range(1, 20))
        return calls.pace.limit

    assert asyncio.run(go()) == 16


def test_who_comes_first_is_served_first():
    async def go():
        calls = Calls(Pace(3), 12)
        await settle()
        for number in range(12):
            await calls.finish(number)
        return calls.order

    assert asyncio.run(go()) == list(range(12))


def test_a_pause_holds_back_the_whole_endpoint_until_it_is_over():
    async def go():
        clock = Clock()
        pace = Pace(64, clock=clock, sleep=clock.sleep)
        async with pace.slot() as slot:
            pace.limited(slot, 30.0)
        pace.pause(5.0)
        pace.pause(None)
        times = []
        for _ in range(3):
            async with pace.slot():
                times.append(clock.now)
        return times, clock.slept

    assert asyncio.run(go()) == ([30, 30, 30], [30])


def test_a_pause_that_grows_meanwhile_is_waited_for():
    async def go():
        clock = Clock()
        pace = Pace(64, clock=clock, sleep=clock.sleep)
        pace.pause(1.0)
        waiting = asyncio.create_task(pace.slot().__aenter__())
        pace.pause(4.0)
        await waiting
        return clock.now

    assert asyncio.run(go()) == 4


def test_a_pause_beyond_ones_patience_fails_at_once_for_everybody_in_the_queue():
    async def go():
        clock = Clock()
        pace = Pace(1, clock=clock, sleep=clock.sleep)

        async def call():
            async with pace.slot(patience=60):
                pass

        async with pace.slot() as slot:
            waiting = [asyncio.create_task(call()) for _ in range(3)]
            await settle()
            pace.limited(slot, 3600)
        return await asyncio.gather(*waiting, return_exceptions=True), pace.in_flight, clock.slept

    errors, in_flight, slept = asyncio.run(go())
    assert [(type(error), error.retry_after) for error in errors] == [(RateLimited, 3600)] * 3
    assert (in_flight, slept) == (0, [])


def test_a_call_that_breaks_gives_its_slot_back():
    async def go():
        pace = Pace(1)
        with pytest.raises(ZeroDivisionError):
            async with pace.slot():
                raise ZeroDivisionError
        async with pace.slot():
            return pace.in_flight

    assert asyncio.run(go()) == 1


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_is_cancelled_no_slot_is_lost_and_the_order_is_kept(data):
    count = data.draw(st.integers(1, 12))
    most = data.draw(st.integers(1, 4))
    steps = data.draw(
        st.lists(st.tuples(st.sampled_from(["finish", "limit", "cancel"]), st.integers(0, count - 1)), max_size=20)
    )

    async def go():
        calls = Calls(Pace(most), count)
        for step, number in steps:
            await settle()
            assert calls.pace.in_flight <= most
            if step == "cancel":
                calls.tasks[number].cancel()
            else:
                if step == "limit":
                    calls.limited.add(number)
                calls.ends[number].set()
        for end in calls.ends:
            end.set()
        await asyncio.gather(*calls.tasks, return_exceptions=True)
        assert calls.pace.in_flight == 0
        assert calls.order == sorted(calls.order)
        async with calls.pace.slot():
            pass
        cancelled = {number for step, number in steps if step == "cancel"}
        assert set(calls.order) | cancelled == set(range(count))

    asyncio.run(go())
