"""`calibrate`: how far a judge agrees with people, and whether that is enough to decide without them (SPEC §8).

For each judge, by one model and one prompt, and each field of a grader: the figures of `calibration.figures` on blind
labels that were drawn at random, the same figures among people, what stated confidence is worth, and one of `FIT`,
`NOT_FIT` and `INSUFFICIENT`. With fewer than 30 labels only the table is given: figures of so few say nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from rightcall.review.forms import stored_form
from rightcall.run.calibration.confidence import Confidence, Targets, confidence_of
from rightcall.run.calibration.figures import Figures, Stratum, figures_of, paired, strata_of
from rightcall.run.calibration.fitness import OPTIONAL, deciding
from rightcall.run.calibration.people import People, people_of
from rightcall.run.calibration.rates import Rates, rates_of
from rightcall.run.calibration.reading import gather, judged_fields
from rightcall.run.calibration.silence import silent_of
from rightcall.stats.fitness import ESTIMATE_FROM, Bar, Fitness, fitness
from rightcall.stats.intervals import Estimate, undefined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.case.policy import Policy
    from rightcall.review.form import FormField
    from rightcall.run.calibration.figures import Paired
    from rightcall.run.calibration.reading import Gathered, Group, Wanted
    from rightcall.settings.model import CalibrateTable
    from rightcall.store.records import CalibrationRecord
    from rightcall.store.store import Store

Verdict = Literal["FIT", "NOT_FIT", "INSUFFICIENT"]

TOO_FEW = f"fewer than {ESTIMATE_FROM} labels: the table only"
RESAMPLES = 2000
EXIT = {"NOT_FIT": 1, "INSUFFICIENT": 3, "FIT": 0}


class Prompt(Struct, frozen=True, kw_only=True):
    """A prompt: its hash, and what it is called."""

    sha256: str
    id: str = ""
    version: str = ""


class Calibration(Struct, frozen=True, kw_only=True):
    """One judge, by one model and one prompt, in one field of one grader.

    Attributes:
        grader, judge, model, prompt, field, kind: whose. `kind`: `level` or `choice`.
        is_current: whether the judge answered so in the newest run that has labels.
        decides: whether the judge's fitness rests on this field.
        runs: where the labels come from. labels: how many people and judge both answered; cases: of how many cases.
        left_out: why others are not among them: the judge gave no value, people differ, not at issue.
        unequal: the chances with which labels were drawn, lowest first, where they differ.
        figures: `None` with fewer than 30 labels; then only `classes` and `counts` are given.
        classes, counts: the table: one row for each answer of people, one column for each of the judge.
        people: the agreement among people; `None` where no item was answered by two.
        fitness: the answer. used_before: how many earlier calibrations of this prompt used some of these test labels.
        strata: groups, the worst first.
        confidence: what stated confidence is worth; `None` where the judge states none.
        rates: how often the judge's answers change, and its rate of FAIL beside the corrected one.
        answers: digests of the people's answers that it rests on.
        id: of the record, once it is saved.
    """

    grader: str
    judge: str
    model: str
    prompt: Prompt
    field: str
    kind: Literal["level", "choice"]
    is_current: bool
    decides: bool
    runs: tuple[str, ...]
    labels: int
    cases: int
    left_out: dict[str, int]
    unequal: tuple[float, ...]
    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    figures: Figures | None
    people: People | None
    fitness: Fitness
    used_before: int
    strata: tuple[Stratum, ...]
    confidence: Confidence | None
    rates: Rates
    answers: tuple[str, ...]
    id: str | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the judge is fit to decide in this field."""
        return self.fitness.verdict


class CalibrationReport(Struct, frozen=True, kw_only=True):
    """Everything that was asked for.

    Attributes:
        split, seed, test_share: which labels, and how they were told apart.
        calibrations: by grader, judge and field; those of older models and prompts come last.
        not_counted: grader -> reason -> how many answers are on record and are not counted in any figure.
        other_split: grader -> labels of the other part.
        judges: every judge of whom something labelled was heard, whatever was asked for.
        fields: grader -> the fields that its judges answer too.
        verdict: of all current ones whose field decides, the worst; `None` without a label.
        warnings: what must be known besides.
    """

    split: str
    seed: int
    test_share: float
    calibrations: tuple[Calibration, ...]
    not_counted: dict[str, dict[str, int]]
    other_split: dict[str, int]
    judges: tuple[str, ...]
    fields: dict[str, tuple[str, ...]]
    verdict: Verdict | None
    warnings: tuple[str, ...] = ()


def calibrate(
    store: Store, wanted: Wanted, table: CalibrateTable, *, policy: Policy | None = None, resamples: int = RESAMPLES
) -> CalibrationReport:
    """Compare judges with people.

    Args:
        store: the record.
        wanted: which judge, grader, field, runs and part of the labels.
        table: what a judge must reach.
        policy: the suite's, which says what tools are destructive.
        resamples: draws of every bootstrap.

    Raises:
        StoreError: a run that is asked for is not there, or the record cannot be read.
    """
    gathered = gather(store, wanted, policy)
    maker = _Maker(store, wanted, table, gathered, resamples)
    found = [made for group in gathered.groups.values() if (made := maker.calibration(group)) is not None]
    found = _with_roles(found, gathered.started)
    found.sort(key=_place)
    asked = [one.verdict for one in found if one.is_current and one.decides] or [one.verdict for one in found]
    return CalibrationReport(
        split=wanted.split, seed=wanted.seed, test_share=wanted.test_share, calibrations=tuple(found),
        not_counted={grader: dict(counts) for grader, counts in gathered.left_out.items() if counts},
        other_split=dict(gathered.other_split), judges=tuple(sorted(gathered.judges)),
        fields={grader: judged_fields(form) for grader, form in gathered.forms.items()},
        verdict=min(asked, key=("NOT_FIT", "INSUFFICIENT", "FIT").index, default=None),
        warnings=tuple(_warnings(found)),
    )  # fmt: skip


def bar_for(field: FormField, table: CalibrateTable, *, has_fail: bool) -> Bar:
    """What a judge must reach in a field: a scale is held to alpha and to no detection."""
    level = field.kind == "level"
    return Bar(
        agreement=table.agreement_scores if level else table.agreement,
        detection=table.detection if has_fail and not level else None, ceiling=table.ceiling, labels=table.labels,
        per_class=table.per_class,
    )  # fmt: skip


class _Maker:
    """Makes calibrations of groups of labels."""

    def __init__(self, store: Store, wanted: Wanted, table: CalibrateTable, gathered: Gathered, resamples: int) -> None:
        self.store, self.wanted, self.table, self.gathered = store, wanted, table, gathered
        self.targets = Targets(
            error=table.max_error, destructive=table.max_error_destructive, resamples=resamples, seed=table.seed
        )
        self._earlier: dict[str, list[CalibrationRecord]] = {}

    def calibration(self, group: Group) -> Calibration | None:
        """The calibration of a group; `None` where people said nothing in this field."""
        key, form = group.key, stored_form(self.gathered.forms[group.key.grader])
        field = form.field(key.field)
        if field is None or not group.labels:
            return None
        found = paired(field, sorted(group.labels, key=lambda one: one.item))
        many = len(found.labels) >= ESTIMATE_FROM
        draws = {"resamples": self.targets.resamples, "seed": self.targets.seed}
        figures = figures_of(found, **draws) if many else None
        people = people_of(field, group.items, group.beside, **draws) if many else None
        answers = tuple(sorted({digest for one in found.labels for digest in one.answers}))
        owner = (key.grader, key.judge, key.field, key.use.model, key.use.prompt)
        name, version = self.gathered.prompts.get(key.use.prompt, ("", ""))
        left = found.excluded + Counter({"people differ": group.differing} if group.differing else {})
        return Calibration(
            grader=key.grader, judge=key.judge, model=key.use.model, field=key.field,
            prompt=Prompt(sha256=key.use.prompt, id=name, version=version),
            kind="level" if found.scale.is_level else "choice", is_current=True, decides=True,
            runs=tuple(sorted(group.runs)), labels=len(found.labels), cases=len(set(found.cases)),
            left_out=dict(left.most_common()), unequal=tuple(sorted(set(found.chances))) if found.weighted else (),
            classes=tuple(map(found.scale.name, range(len(field.choices)))), counts=_table(found), figures=figures,
            people=people, fitness=self._fitness(field, found, figures, people),
            used_before=self._used_before(group, answers), strata=strata_of(found) if many else (),
            confidence=confidence_of(found, key.grader, owner, self.targets) if many and group.stated else None,
            rates=rates_of(self.store, group, found, figures, newest=self._newest(group)), answers=answers,
        )  # fmt: skip

    def _newest(self, group: Group) -> str:
        return max(group.runs, key=lambda run: (self.gathered.started.get(run, ""), run))

    def _fitness(self, field: FormField, found: Paired, figures: Figures | None, people: People | None) -> Fitness:
        counts = found.scale.classes([human for _, human in found.pairs]) or {"any": 0}
        bar = bar_for(field, self.table, has_fail=bool(found.scale.failing))
        if figures is None:
            few = undefined("none", TOO_FEW, n=len(found.labels))
            return fitness(counts, few, detection=few, people=few, bar=bar)
        return fitness(
            counts, figures.agreement, detection=figures.detection, people=_ceiling(people),
            beside=None if people is None else people.judge, bar=bar,
            silent=silent_of(found, resamples=self.targets.resamples, seed=self.targets.seed),
        )  # fmt: skip

    def _used_before(self, group: Group, answers: Sequence[str]) -> int:
        """How many earlier calibrations of the same prompt used some of these answers as test labels."""
        if self.wanted.split == "dev":
            return 0
        key = group.key
        if key.grader not in self._earlier:
            known = self.store.calibrations(grader=key.grader)
            self._earlier[key.grader] = [one for _, _, one in known if one.split != "dev"]
        mine = set(answers)
        return len({
            one.at for one in self._earlier[key.grader]
            if (one.prompt_sha256, one.field) == (key.use.prompt, key.field) and not mine.isdisjoint(one.answers)
        })  # fmt: skip


def _ceiling(people: People | None) -> Estimate | None:
    """The agreement among people, where enough items were answered by two to hold a judge against it."""
    if people is None or people.items >= ESTIMATE_FROM:
        return None if people is None else people.agreement
    reason = f"two people answered only {people.items} of these items, {ESTIMATE_FROM} are needed"
    return undefined(people.agreement.method, reason, n=people.items)


def _table(found: Paired) -> tuple[tuple[int, ...], ...]:
    shown = range(len(found.scale.field.choices))
    return tuple(tuple(found.table.get((judge, human), 0) for judge in shown) for human in shown)


def _place(one: Calibration) -> tuple[bool, str, str, bool, str, str, str]:
    """What is current first, then what decides."""
    return (
        not one.is_current, one.grader, one.judge, not one.decides, one.model, one.prompt.sha256, one.field
    )  # fmt: skip


def _with_roles(found: list[Calibration], started: dict[str, str]) -> list[Calibration]:
    """Which calibrations are of the newest run of a judge, and which fields decide."""
    from msgspec.structs import replace

    def began(one: Calibration) -> tuple[str, str]:
        return max((started.get(run, ""), run) for run in one.runs)

    newest: dict[tuple[str, str], tuple[str, str]] = {}
    labels: dict[tuple[str, str], dict[str, int]] = {}
    for one in found:
        key = (one.grader, one.judge)
        newest[key] = max(newest.get(key, ("", "")), began(one))
        counts = labels.setdefault(key, {})
        counts[one.field] = max(counts.get(one.field, 0), one.labels)
    return [
        replace(
            one, is_current=began(one) == newest[one.grader, one.judge],
            decides=one.field in deciding(one.grader, labels[one.grader, one.judge]),
        )
        for one in found
    ]  # fmt: skip


def _warnings(found: Sequence[Calibration]) -> list[str]:
    said: dict[str, None] = {}
    for one in found:
        whom = f"{one.judge} · {one.grader} · {one.field}"
        for words in _warnings_of(one):
            said[f"{whom}: {words}"] = None
    return list(said)


def _warnings_of(one: Calibration) -> Iterator[str]:
    if one.used_before:
        times = "once" if one.used_before == 1 else f"{one.used_before} times"
        yield f"these test labels were used before: {times}; a prompt that was tuned on them looks better than it is"
    if one.unequal:
        chances = ", ".join(f"{chance:g}" for chance in one.unequal)
        yield f"labels were drawn with unequal chances ({chances}): figures are weighted by 1/chance, counts are not"
    if not one.decides and one.field in OPTIONAL:
        yield f"at issue in {one.labels} labels only, so the judge's fitness does not rest on it"
