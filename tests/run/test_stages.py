"""Questions that follow from answers, questions in several orders, and stages that ask again about what has a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from judging_making import a_judge, a_subject, selection_says
from msgspec import Struct

from rightcall.grade.opinion import Opinion
from rightcall.run.judging.asking import Terms
from rightcall.run.judging.attempt import Outcome
from rightcall.run.judging.budget import Budget, parse_budget
from rightcall.run.judging.items import Concluded, Item, Query, ToReview
from rightcall.run.judging.run import Asking, Judged, judge_all
from rightcall.run.judging.secrets import Cleaner
from rightcall.store.store import Store
from rightcall.store.verify import verify
from rightcall.testing import ScriptedModel
from rightcall.trace.redact import Redactor

CLEANER = Cleaner(Redactor(key=b"a key for tests"))


class Answer(Struct, frozen=True, kw_only=True):
    """Who has answered about a unit, in which order; made for these tests."""

    unit: str
    grader: str = "selection"
    status: Literal["EVALUATED", "UNEVALUABLE"] = "EVALUATED"
    reason: str | None = None
    verdict: str | None = None
    said: tuple[str, ...] = ()
    judges: tuple[Opinion, ...] = ()


@dataclass
class Count:
    """How many results there are, and how many answers they hold."""

    results: int = 0
    answers: int = 0

    def add(self, result: Answer) -> None:
        self.results += 1
        self.answers += len(result.said)

    def summary(self) -> dict[str, Any]:
        return {"results": self.results, "answers": self.answers}


def named(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    return tuple(f"{one.judge} {one.order}".strip() if one.reply else f"{one.judge} failed" for one in outcomes)


@dataclass
class Toy:
    """So many units, about each of which a judge is asked in two orders, and another one if `doubts` says so."""

    units: int
    doubts: Callable[[str], bool] = lambda _unit: False
    grader: str = "selection"
    reports: dict[str, Any] = field(default_factory=dict)
    result_type: type[Any] = Answer

    def aggregate(self) -> Count:
        return Count()

    def facts(self) -> dict[str, Any]:
        return {}

    def query(self, unit: str, judge: str, order: str) -> Query:
        places = {"A": order[:1], "B": order[1:]} if order else None
        subject = a_subject(unit, input_sha256=f"{unit} {order}", user=f"{unit} {order}")
        return Query(type(subject)(**{**vars(subject), "order": order, "positions": places}), (judge,))

    def items(self) -> Iterator[Item]:
        for number in range(self.units):
            unit = f"u-{number:02d}"
            first = tuple(self.query(unit, "first", order) for order in ("ab", "ba"))

            def more(outcomes: Sequence[Outcome], unit: str = unit) -> Sequence[Query]:
                if len(outcomes) > 2 or not self.doubts(unit):
                    return ()
                return [self.query(unit, "second", "ab")]

            yield Item(unit=unit, queries=first, more=more, conclude=self.concluded(unit))

    def concluded(self, unit: str) -> Callable[[Sequence[Outcome]], Concluded]:
        return lambda outcomes: Concluded(Answer(unit=unit, said=named(outcomes)), "judge", (ToReview("random"),))


@dataclass
class Staged(Toy):
    """The first judge is asked about all, the second one, in a later stage, about every third."""

    stages: int = 0

    def items(self) -> Iterator[Item]:
        for number in range(self.units):
            unit = f"u-{number:02d}"
            yield Item(unit=unit, queries=(self.query(unit, "first", ""),), conclude=self.concluded(unit))

    def stage(self, results: Callable[[], Iterator[Answer]]) -> Iterator[Item] | None:
        left = [
            (place, one.unit)
            for place, one in enumerate(results())
            if place % 3 == 0 and not any(said.startswith("second") for said in one.said)
        ]
        self.stages += 1
        return iter([self.again(place, unit) for place, unit in left]) if left else None

    def again(self, place: int, unit: str) -> Item:
        def conclude(outcomes: Sequence[Outcome]) -> Concluded:
            said = ("first", *named(outcomes))
            return Concluded(Answer(unit=unit, said=said), "judge", (ToReview("random"), ToReview("tie")))

        return Item(unit=unit, queries=(self.query(unit, "second", ""),), conclude=conclude, place=place)


def run(
    work: Toy, store: Store, *, budget: str | None = None, resume: str | None = None
) -> tuple[Judged, Counter[str]]:
    """The run, and who was asked what how often."""
    asked: Counter[str] = Counter()

    def says(name: str) -> ScriptedModel:
        def answer(request: Any) -> str:
            asked[f"{name}: {request.user.strip()}"] += 1
            return selection_says()

        return ScriptedModel(answer)

    judges = [a_judge(says(name), name) for name in ("first", "second")]
    limit = Budget() if budget is None else parse_budget(budget)
    terms = Terms(jobs=4, use_cache=False)
    return judge_all(work, judges, Asking(terms, limit, resume=resume), CLEANER, store), asked


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "rightcall.db") as opened:
        yield opened


def said(judged: Judged) -> list[tuple[str, ...]]:
    with judged:
        return [one.said for one in judged.decoded()]


def id_of(judged: Judged) -> str:
    assert judged.run is not None
    return judged.run.id


def test_an_item_is_asked_in_every_order_and_the_record_says_what_stood_where(store):
    judged, asked = run(Toy(2), store)
    assert said(judged) == [("first ab", "first ba")] * 2
    assert set(asked.values()) == {1}
    places = [(one.user, one.positions) for _, _, one in store.attempts()]
    shown = {store.body(user).decode(): where for user, where in places}
    assert shown["u-00 ab"] == {"A": "a", "B": "b"}
    assert shown["u-00 ba"] == {"A": "b", "B": "a"}


def test_another_judge_is_asked_only_where_the_answers_call_for_it(store):
    judged, asked = run(Toy(4, doubts=lambda unit: unit in ("u-01", "u-03")), store)
    assert said(judged) == [
        ("first ab", "first ba"), ("first ab", "first ba", "second ab"),
        ("first ab", "first ba"), ("first ab", "first ba", "second ab"),
    ]  # fmt: skip
    assert sorted(one for one in asked if one.startswith("second")) == ["second: u-01 ab", "second: u-03 ab"]


def test_a_later_stage_replaces_results_by_their_next_revision_and_everything_is_counted_anew(store):
    work = Staged(7)
    judged, asked = run(work, store)
    assert said(judged) == [("first", "second") if n % 3 == 0 else ("first",) for n in range(7)]
    assert judged.aggregate == Count(results=7, answers=10)
    assert (judged.tally.n, judged.tally.evaluated, judged.tally.not_asked) == (7, 7, 0)
    assert sum(asked.values()) == 10
    found = {one.unit: one for one in store.verdicts(id_of(judged))}
    assert {unit: one.revision for unit, one in found.items()} == {f"u-{n:02d}": int(n % 3 == 0) for n in range(7)}
    assert [len(found[f"u-{n:02d}"].attempts) for n in range(7)] == [2, 1, 1, 2, 1, 1, 2]
    assert list(store.events(id_of(judged)))[-1].summary["own"] == {"results": 7, "answers": 10}
    assert verify(store).faults == ()


def test_what_waits_for_a_person_already_is_not_put_down_a_second_time(store):
    judged, _ = run(Staged(4), store)
    judged.close()
    reasons = Counter((one.unit, one.reason) for _, one in store.reviews())
    assert set(reasons.values()) == {1}
    assert judged.tally.reviews == {"random": 4, "tie": 2}


@pytest.mark.parametrize("calls", range(1, 12))
def test_a_run_that_stopped_in_any_stage_goes_on_and_asks_nothing_twice(store, calls):
    first, asked = run(Staged(7), store, budget=f"{calls}calls")
    first.close()
    again, asked_again = run(Staged(7), store, resume=id_of(first))
    assert said(again) == [("first", "second") if n % 3 == 0 else ("first",) for n in range(7)]
    assert (again.aggregate, again.tally.n) == (Count(results=7, answers=10), 7)
    assert set((asked + asked_again).values()) == {1}
    assert verify(store).faults == ()
