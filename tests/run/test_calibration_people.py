"""The ceiling: people with each other, and the judge with each of them on the same items."""

import random

from hypothesis import given
from hypothesis import strategies as st

from rightcall.review.forms import form_of
from rightcall.run.calibration.labels import ItemLabel
from rightcall.run.calibration.people import people_of
from rightcall.stats.agreement import cohen
from rightcall.stats.fitness import fitness
from rightcall.stats.intervals import wilson

GRADE = form_of("selection").field("grade")


def item(number, first, second):
    agreed = {"grade": first} if first == second else {}
    return ItemLabel(
        item=f"i{number}", run="r", grader="selection", case=f"c{number}", fields=agreed,
        differing=() if agreed else ("grade",), pairs={"grade": (first, second)}, answers=(), verdict=None,
        probability=1.0,
    )  # fmt: skip


def people(answers, judge, **draws):
    items = [item(number, *pair) for number, pair in enumerate(answers)]
    beside = {f"i{number}": said for number, said in enumerate(judge) if said is not None}
    return people_of(GRADE, items, beside, resamples=draws.get("resamples", 50), seed=0)


WORDS = st.sampled_from(["PASS", "FAIL"])


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=2, max_size=40))
def test_the_judge_is_compared_with_each_person_on_every_item_that_two_answered(rows):
    found = people([row[:2] for row in rows], [row[2] for row in rows])
    pairs = [(judge, person) for first, second, judge in rows for person in (first, second)]
    assert found.items == len(rows)
    assert found.agreement.estimate == cohen([row[:2] for row in rows])
    assert found.judge.estimate == cohen(pairs)


def test_a_judge_that_repeats_one_person_is_as_close_to_people_as_people_are():
    dice = random.Random(3)
    rows = [(dice.choice(["PASS", "FAIL"]), dice.choice(["PASS", "FAIL"])) for _ in range(60)]
    found = people(rows, [first for first, _ in rows])
    assert found.judge.estimate > found.agreement.estimate


def test_hard_items_count_against_the_judge_too():
    # People agree on sixty easy items and differ on forty hard ones; the judge knows the easy ones and guesses the rest.
    dice = random.Random(5)
    easy = [(word, word) for word in ("PASS", "FAIL") * 30]
    hard = [("PASS", "FAIL") if dice.random() < 0.5 else ("FAIL", "PASS") for _ in range(40)]
    judge = [word for word, _ in easy] + [dice.choice(["PASS", "FAIL"]) for _ in hard]
    found = people([*easy, *hard], judge)
    on_the_easy = cohen([(said, word) for said, (word, _) in zip(judge, easy, strict=False)])
    assert on_the_easy == 1.0
    assert found.judge.estimate < 0.7
    counts = {"PASS": 50, "FAIL": 50}
    held = fitness(counts, wilson(98, 100), detection=wilson(50, 50), people=found.agreement, beside=found.judge)
    (ceiling,) = [one for one in held.conditions if one.name == "ceiling"]
    assert ceiling.value == found.judge


def test_items_that_the_judge_did_not_answer_are_left_out_for_it_alone():
    found = people([("PASS", "PASS"), ("FAIL", "PASS"), ("FAIL", "FAIL")], ["PASS", None, "FAIL"])
    assert (found.agreement.n, found.judge.n, found.judge.excluded) == (3, 4, 1)
    silent = people([("PASS", "PASS"), ("FAIL", "PASS")], [None, None])
    assert silent.judge.estimate is None
    assert silent.judge.reason == "the judge gave no value for these items"
