"""`preference` as a judged run: pairs in, comparisons out; code decides what it can, judges the rest.

A pair goes through the same stages in this order: data quality, code, judges, a second judge, people. A judge is asked
about a pair in both orders, or in one that is drawn by the run's seed and the pair, whatever the pair's content.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from rightcall.errors import NoDataError, Place, TraceError
from rightcall.grade.pair_facts import code_verdict, quality_of
from rightcall.grade.preference import PreferenceResult
from rightcall.judge.pair_views import preference_values, show_the_same, size_of
from rightcall.run.graders.selection import prompt_facts
from rightcall.run.inputs.hiding import hidden, hidden_case, hidden_trace
from rightcall.run.judging.items import Concluded, Item, Query
from rightcall.run.judging.questions import Unasked
from rightcall.run.judging.subject import Subject
from rightcall.run.preference.figures import Evidence, PreferenceAggregate
from rightcall.run.preference.verdict import Rules, Shown, conclude, hear_first
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rightcall.case.case import Case
    from rightcall.grade.preference import Order
    from rightcall.run.calibration.recalibrating import Recalibrating
    from rightcall.run.graders.rubric import Joined
    from rightcall.run.judging.attempt import Outcome
    from rightcall.run.judging.questions import Prompter
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.run.preference.pairing import Pair, Pairing
    from rightcall.run.preference.verdict import Asked
    from rightcall.trace.model import Trace
    from rightcall.trace.sources.dialect import ReadingReport


@dataclass
class PreferenceWork:
    """The pairs of one run.

    Attributes:
        pairing: where pairs come from.
        prompter: the prompt; `None` if no judge is asked.
        cleaner: takes secrets out of what a judge sees and of what is kept.
        judges: who is asked first, by name. second: who is asked where those do not settle a pair.
        quorum: how many of the first must have answered.
        recalibrating: what stated confidence is worth; `None`: it counts as it is stated.
        agents: models of the agents that were seen, for a warning.
        lacking: what was missing for a question, with the number of pairs.
    """

    pairing: Pairing
    prompter: Prompter | None
    cleaner: Cleaner
    judges: tuple[str, ...] = ()
    second: str | None = None
    rules: Rules = field(default_factory=Rules)
    quorum: int = 1
    recalibrating: Recalibrating | None = None
    review_share: float = 0.1
    more_facts: dict[str, Any] = field(default_factory=dict)
    reports: dict[str, ReadingReport] = field(default_factory=dict)
    agents: set[str] = field(default_factory=set)
    lacking: Counter[str] = field(default_factory=Counter)
    grader: str = "preference"
    result_type: type[Any] = PreferenceResult
    _evidence: Evidence = field(init=False)

    def __post_init__(self) -> None:
        """No evidence yet."""
        self._evidence = Evidence(self.rules.stop_early)

    def aggregate(self) -> PreferenceAggregate:
        """An empty aggregate of the items that were begun last; what early stopping rests on is counted with it."""
        names = tuple(self.cleaner.redactor.text(side.name) for side in self.pairing.sides)
        return PreferenceAggregate(
            agents=names, second=self.second, evidence=self._evidence, seed=self.rules.seed,
            min_confidence=self.rules.min_confidence, protocol=self.rules.protocol, alone=self.pairing.alone,
            names=tuple(side.name for side in self.pairing.sides),
        )  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """What is compared, how, by which prompt."""
        prompts = [] if self.prompter is None else [prompt_facts(self.prompter.prompt)]
        return {
            **self.more_facts, **self.rules.facts(), "agents": [side.name for side in self.pairing.sides],
            "second_judge": self.second, "prompts": prompts,
            **({} if self.recalibrating is None else self.recalibrating.facts()),
        }  # fmt: skip

    def notes(self) -> list[str]:
        """What became of no pair, and of no question, in words."""
        unasked = [
            f"nothing was asked about {number} pair{'s' * (number > 1)}: {what}"
            for what, number in self.lacking.items()
        ]
        return [*self.pairing.notes(), *unasked, *(self.recalibrating.notes() if self.recalibrating else ())]

    def second_at_most(self, items: int) -> int:
        """At most how many questions to the second judge follow: as if none of the pairs were settled before."""
        return items * (2 if self.rules.protocol == "both" else 1) if self.second is not None else 0

    def items(self) -> Iterator[Item]:
        """Every pair as an item; under early stopping in a random sequence, for which its guarantee is made.

        Raises:
            NoDataError: no two agents have a case in common.
        """
        self._evidence = Evidence(self.rules.stop_early)
        self.lacking.clear()
        pairs: Iterator[Pair] | list[Pair] = self.pairing.pairs()
        if self.rules.stop_early is not None:
            pairs = sorted(pairs, key=lambda pair: _drawn(self.rules.seed, "sequence", pair.id))
        seen: Counter[str] = Counter()
        for number, pair in enumerate(pairs):
            seen[pair.id] += 1
            unit = pair.id if seen[pair.id] == 1 else f"{pair.id} ({seen[pair.id]})"
            self._evidence.expect(number, self.cleaner.redactor.text(unit), is_first=pair.is_first)
            yield self._item(pair, unit)
        if not seen and self.pairing.left:
            raise NoDataError(
                f"no case has traces of two agents: {self.pairing.only_here()}",
                hint="pairs are joined by the id of their case",
            )  # fmt: skip

    # ---- one pair ----

    def _item(self, pair: Pair, unit: str) -> Item:
        for trace in (pair.a[0], pair.b[0]):
            if trace.agent is not None and trace.agent.model:
                self.agents.add(trace.agent.model)
        shown = self._shown(pair, unit)
        ids: dict[str, Any] = {"case_id": shown.blank.case_id, "trace_id": shown.a.id}
        asked: Asked = ()
        unasked = None
        if self._evidence.has_stopped(shown.blank.agent_a, shown.blank.agent_b):
            shown = shown.stopped()
        elif self._is_asked(shown):
            asked = self._asked(shown, ids)
            unasked = next((one for one in asked if isinstance(one, Unasked)), None)
        if unasked is not None and unasked.reason == "missing_input":
            self.lacking[unasked.message] += 1
        subjects = [] if unasked else [one for one in asked if isinstance(one, Subject)]
        return Item(
            unit=shown.unit, queries=tuple(Query(subject, self.judges) for subject in subjects),
            conclude=self._concluder(shown, subjects, unasked), more=self._more(shown, subjects),
            trace=jsontext.encode(shown.a), trace_b=jsontext.encode(shown.b), trace_b_id=shown.b.id,
            case=None if shown.case is None else jsontext.encode(shown.case), **ids,
        )  # fmt: skip

    def _shown(self, pair: Pair, unit: str) -> Shown:
        """The pair without secrets, and what code knows of it."""
        hide = self.cleaner.redactor
        case = pair.a[1] or pair.b[1]
        a, b = self._hidden(pair.a), self._hidden(pair.b)
        golden = (hidden(pair.a[3], hide, pair.a[0], pair.a[1]), hidden(pair.b[3], hide, pair.b[0], pair.b[1]))
        safe_case = None if case is None else hidden_case(case, hide)
        try:
            values = preference_values(a, b, safe_case, (pair.a[2], pair.b[2]))
        except TraceError as error:
            where = pair.a[4]
            place = Place(where.file, where.line, None, f"pair {unit}")
            raise TraceError(error.message, code=error.code, place=place, hint=error.hint) from None
        lost = [f"{name}: {what}" for name, one in ((pair.agent_a, pair.a[0]), (pair.agent_b, pair.b[0]))
                for what in quality_of(one)]  # fmt: skip
        code = None
        if not lost:
            same = show_the_same(values["TRACE_A"], values["TRACE_B"])
            code = code_verdict(*golden, are_same=same, by_golden=self.rules.by_golden)
        blank = PreferenceResult(
            pair=hide.text(unit), case_id=hide.text(pair.case_id), trace_id=a.id, trace_b_id=b.id,
            agent_a=hide.text(pair.agent_a), agent_b=hide.text(pair.agent_b), trial=pair.trial,
            protocol=self.rules.protocol, category=_category(safe_case), quality=tuple(map(hide.text, lost)),
            size_a=size_of(values["TRACE_A"]), size_b=size_of(values["TRACE_B"]),
            code_reason=None if code is None else code[1], code_verdict=None if code is None else code[0],
        )  # fmt: skip
        return Shown(
            unit=hide.text(unit), blank=blank, a=a, b=b, case=safe_case, catalogs=(pair.a[2], pair.b[2]),
            golden=golden, code=code,
        )  # fmt: skip

    def _hidden(self, joined: Joined) -> Trace:
        trace, place = joined[0], joined[4]
        try:
            return hidden_trace(trace, self.cleaner.redactor)
        except TraceError as error:
            where = Place(place.file, place.line, None, f"trace {trace.id}")
            raise TraceError(error.message, code=error.code, place=where, hint=error.hint) from None

    def _is_asked(self, shown: Shown) -> bool:
        """Whether anybody is asked about a pair."""
        if self.prompter is None or shown.blank.quality:
            return False
        return shown.code is None or self.rules.cross_check

    def _asked(self, shown: Shown, ids: dict[str, Any]) -> Asked:
        return tuple(self._subject(shown, order, ids) for order in self._orders(shown))

    def _orders(self, shown: Shown) -> Sequence[Order]:
        """Whose trace stands first: in each question about the pair."""
        if shown.code is not None and shown.code[1] == "identical":
            return ("ab",)  # the other order would be the same question
        if self.rules.protocol == "both":
            return ("ab", "ba")
        return (drawn_order(self.rules.seed, shown.unit),)

    def _subject(self, shown: Shown, order: Order, ids: dict[str, Any]) -> Subject | Unasked:
        assert self.prompter is not None  # noqa: S101 - only asked where there is a judge
        first, second, catalogs = shown.a, shown.b, shown.catalogs
        if order == "ba":
            first, second, catalogs = second, first, catalogs[::-1]
        question, values = self.prompter.question(preference_values(first, second, shown.case, catalogs))
        if isinstance(question, Unasked):
            return question
        return Subject(
            grader=self.grader, unit=shown.unit, question=question, values=values, read=self.prompter.reader(),
            order=order, positions={"A": first.id, "B": second.id}, **ids,
        )  # fmt: skip

    def _more(self, shown: Shown, subjects: Sequence[Subject]) -> Callable[[Sequence[Outcome]], Sequence[Query]]:
        """The second judge, where the first ones do not settle a pair that code does not decide."""
        second = self.second

        def more(outcomes: Sequence[Outcome]) -> Sequence[Query]:
            if second is None or shown.code is not None or any(one.judge == second for one in outcomes):
                return ()
            heard = hear_first(self, shown, outcomes)
            if heard.is_unread or heard.is_settled(self.rules.min_confidence):
                return ()
            return tuple(Query(subject, (second,)) for subject in subjects)

        return more

    def _concluder(
        self, shown: Shown, subjects: Sequence[Subject], unasked: Unasked | None
    ) -> Callable[[Sequence[Outcome]], Concluded]:
        return lambda outcomes: conclude(self, shown, subjects, unasked, outcomes)


def drawn_order(seed: int, unit: str) -> Order:
    """Whose trace stands first where only one order is asked: by a hash of the seed and the pair's id."""
    return "ba" if _drawn(seed, "order", unit)[0] & 1 else "ab"


def _drawn(seed: int, what: str, unit: str) -> bytes:
    return blake2b(f"{seed}\0{what}\0{unit}".encode(), digest_size=16).digest()


def _category(case: Case | None) -> str | None:
    """A case's group: what its metadata call `category`, else its first tag."""
    if case is None:
        return None
    named = case.metadata.get("category")
    return named if isinstance(named, str) and named else next(iter(case.tags), None)
