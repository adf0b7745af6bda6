"""Why there is nothing to take, what was done by whom, and how far people agree with each other."""

import pytest
from desk_making import ANSWERS, Clock, desk, opened, put_all, put_item, put_run, run_of

from rightcall.store.waiting import Only

TWO = {"answers": 2}


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path) as found:
        yield found


@pytest.fixture
def clock():
    return Clock()


# ---- nothing to take ----


def test_the_queue_is_empty(store, clock):
    found = desk(store, "ana", clock).empty_reason()
    assert (found.kind, found.words) == ("empty", "Queue is empty: no run has put anything down for review")
    item = put_all(store, "golden")["golden"]
    desk(store, "ana", clock).answer(item, ANSWERS["golden"])
    found = desk(store, "ana", clock).empty_reason()
    assert found.words == "Queue is empty: everything that was put down for review is answered"


def test_what_is_left_waits_for_different_people(store, clock):
    item = put_all(store, "golden")["golden"]
    desk(store, "ana", clock, **TWO).answer(item, ANSWERS["golden"])
    found = desk(store, "ana", clock, **TWO).empty_reason()
    assert (found.kind, found.n) == ("others", 1)
    assert found.words == "Nothing left for you: 1 item waits for a second, different person"


def test_what_is_left_waits_for_somebody_who_decides(store, clock):
    items = put_all(store, "golden", "rubric")
    people = {"ana": ("reviewer",), "bo": ("reviewer",), "cy": ("adjudicator",)}
    rules = {"answers": 2, "people": people}
    desk(store, "ana", clock, **rules).answer(items["golden"], {"grade": "PASS"})
    desk(store, "bo", clock, **rules).answer(items["golden"], {"grade": "FAIL"})
    words = "Nothing left for you: 1 item waits for somebody else to decide between answers"
    only = Only(grader="golden")
    hidden = desk(store, "ana", clock, **rules).empty_reason(only)
    assert (hidden.kind, hidden.n, hidden.words) == ("filtered", 1, f"{words}; your filter hides 1 item")
    desk(store, "ana", clock, **rules).answer(items["rubric"], ANSWERS["rubric"])
    assert desk(store, "ana", clock, **rules).empty_reason(only).words == words
    both = desk(store, "ana", clock, **rules).empty_reason()
    assert both.words == (
        "Nothing left for you: 1 item waits for a second, different person and "
        "1 item waits for somebody else to decide between answers"
    )
    desk(store, "bo", clock, **rules).answer(items["rubric"], ANSWERS["rubric"])
    assert desk(store, "cy", clock, **rules).next().adjudicates


def test_what_is_left_is_held_by_others(store, clock):
    put_all(store, "golden", "rubric")
    desk(store, "sam", clock).next()
    clock.forward(minutes=2)
    desk(store, "lee", clock).next()
    found = desk(store, "ana", clock).empty_reason()
    assert (found.kind, found.n, found.until) == ("held", 2, "2026-11-29T10:15:00.000+00:00")
    assert found.words == "2 items are held by lee, sam; the earliest is free at 10:15 UTC"


@pytest.mark.parametrize("only", [Only(grader="golden"), Only(reason="HIGH"), Only(run_id="x"), Only(item="rv-0000")])
def test_the_filter_hides_what_there_is(store, clock, only):
    put_all(store, "rubric")
    found = desk(store, "ana", clock).empty_reason(only)
    assert (found.kind, found.words) == ("filtered", "Your filter hides 1 item")


# ---- what was done ----


def test_the_queue_is_counted_by_state_and_reason(store, clock):
    put_run(store, run_of("golden"), "golden")
    for unit in "abcde":
        put_item(store, "golden", unit=unit)
    critical = put_item(store, "golden", unit="f", reasons=[("policy_veto", "CRITICAL")])
    rules = {"answers": 1, "answers_critical": 1}
    desk(store, "ana", clock, **rules).answer(critical, ANSWERS["golden"])
    desk(store, "ana", clock, **rules).next()
    found = desk(store, "ana", clock, **rules).stats()
    assert found.states == {"waiting": 4, "held": 1, "adjudication": 0, "signoff": 1, "done": 0}
    assert found.reasons == {"random": 5, "policy_veto": 1}
    assert found.oldest == "2026-11-29T10:00:00.000+00:00"


def test_people_are_listed_with_what_they_did(store, clock):
    items = put_all(store, "golden", "rubric", "tone")
    ana, bo = desk(store, "ana", clock, **TWO), desk(store, "bo", clock, **TWO)
    for grader, seconds in (("golden", 10), ("rubric", 30), ("tone", None)):
        ana.answer(items[grader], ANSWERS[grader], seconds=seconds)
    bo.answer(items["golden"], {"grade": "PASS"}, seconds=99)
    clock.forward(minutes=1)
    ana.amend(items["golden"], {"grade": "PASS"}, note="I was wrong.")
    desk(store, "cy", clock, **TWO).answer(items["golden"], {"grade": "PASS"}, note="asked", seconds=5)
    first, second, third = desk(store, "ana", clock, **TWO).stats().people
    assert (first.who, first.answers, first.amendments, first.median_seconds) == ("ana", 3, 1, 20)
    assert (second.who, second.answers, second.adjudications) == ("bo", 1, 0)
    assert (third.who, third.answers, third.adjudications, third.median_seconds) == ("cy", 0, 1, 5)
    assert first.last_at == "2026-11-29T10:01:00.000+00:00"


# ---- how far people agree ----


def test_two_people_who_answered_the_same_are_compared(store, clock):
    put_run(store, run_of("rubric"), "rubric")
    ana, bo = desk(store, "ana", clock, **TWO), desk(store, "bo", clock, **TWO)
    for number in range(10):
        item = put_item(store, "rubric", unit=f"u{number}")
        level = 1 + number % 5
        said = ANSWERS["rubric"] | {"selection": level, "severity": "LOW" if number % 2 else "NONE"}
        ana.answer(item, said)
        bo.answer(item, said | {"selection": min(5, level + (number == 0)), "sequencing": 1 + 4 * (number > 7)})
    found = {one.field: one for one in ana.stats().agreement}
    assert set(found) == {"selection", "arguments", "sequencing", "abstention", "severity"}
    selection = found["selection"]
    assert (selection.exact.estimate, selection.within.estimate, selection.exact.n) == (0.9, 1.0, 10)
    assert 0.9 < selection.kappa.estimate < 1
    assert found["sequencing"].within.estimate == 0
    assert found["arguments"].exact.estimate == 1
    # Everybody said the same throughout: nobody knows what chance would have done.
    assert (found["arguments"].kappa.estimate, found["arguments"].kappa.reason is None) == (None, False)
    # Not at issue has no place on a scale.
    assert (found["abstention"].kappa.n, found["abstention"].kappa.excluded) == (0, 10)
    assert found["severity"].kappa.estimate == 1


def test_names_without_an_order_are_compared_as_names(store, clock):
    put_run(store, run_of("golden"), "golden")
    for number, pair in enumerate([("PASS", "PASS"), ("FAIL", "FAIL"), ("PASS", "FAIL"), ("FAIL", "FAIL")]):
        item = put_item(store, "golden", unit=f"u{number}")
        for who, grade in zip(("ana", "bo"), pair, strict=True):
            desk(store, who, clock, **TWO).answer(item, {"grade": grade})
    (found,) = desk(store, "ana", clock, **TWO).stats().agreement
    assert (found.grader, found.field, found.exact.estimate, found.within.estimate) == ("golden", "grade", 0.75, 0.75)
    assert found.kappa.estimate == pytest.approx(0.5)


def test_only_blind_answers_of_different_people_are_compared(store, clock):
    item = put_all(store, "golden")["golden"]
    ana = desk(store, "ana", clock)
    ana.answer(item, {"grade": "PASS"})
    clock.forward(minutes=1)
    ana.amend(item, {"grade": "FAIL"}, note="I was wrong.")
    other = put_item(store, "golden", unit="other")
    desk(store, "ana", clock, **TWO).answer(other, {"grade": "PASS"})
    desk(store, "bo", clock, **TWO).answer(other, {}, unsure="it is cut")
    assert ana.stats().agreement == ()
