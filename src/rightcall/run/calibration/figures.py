"""The figures of a judge beside people in one field: table, agreement, what it catches, where it is worst.

Every figure rests on labels that both answered, is clustered by case, and is weighted by 1/chance where the labels
were drawn with unequal chances. Levels are compared by their places, the worst first, so a bias above 0 is mildness.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from rightcall.stats.intervals import Estimate, undefined

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from rightcall.review.form import FormField
    from rightcall.run.calibration.labels import Label
    from rightcall.stats.weighted_table import Figure

HOLLOW = 10
"""A group of fewer labels is shown as one that says little."""

NOT_AT_ISSUE = "–"
ONE_LABEL = "one label only"


class Rate(Struct, frozen=True, kw_only=True):
    """How well the judge finds one answer of people; see `stats.confusion.ClassFigures`."""

    label: str
    prevalence: Estimate
    recall: Estimate
    precision: Estimate
    f1: Estimate


class Stratum(Struct, frozen=True, kw_only=True):
    """A group of labels. `agreement`: share that the judge answers like people; `hollow`: fewer than 10 labels.

    `detection` is the share of human FAILs in it that the judge catches; `None` where the field has no FAIL.
    """

    by: str
    group: str
    labels: int
    agreement: Estimate
    detection: Estimate | None
    hollow: bool


class Figures(Struct, frozen=True, kw_only=True):
    """How a judge's answers compare with people's.

    Attributes:
        classes: the answers, as they are shown; of levels the worst first.
        counts: one row for each answer of people, one column for each of the judge.
        exact, within: share of equal answers; of those at most one level apart (levels only).
        bias, error: mean of judge minus people in levels, and of its size (levels only).
        kappa, kappa_linear, kappa_quadratic: Cohen's; the weighted ones for levels only.
        alpha, alpha_level: Krippendorff's, and on what level of measurement.
        ac, ac_name: Gwet's AC1, or AC2 with quadratic weights for levels.
        spearman, kendall: rank correlations (levels only).
        detection, clearance: share of human FAILs that the judge fails, and of the others that it does not; of levels,
            FAIL stands for the worse half of the scale. `None` where there is no FAIL.
        failing: what counts as FAIL.
        rates: of each class.
        headline: which figure the fitness rests on, `kappa` or `alpha`.
        weighted: whether labels weigh by 1/chance.
    """

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    exact: Estimate
    within: Estimate | None
    bias: Estimate | None
    error: Estimate | None
    kappa: Estimate
    kappa_linear: Estimate | None
    kappa_quadratic: Estimate | None
    alpha: Estimate
    alpha_level: Literal["nominal", "ordinal"]
    ac: Estimate
    ac_name: Literal["AC1", "AC2"]
    spearman: Estimate | None
    kendall: Estimate | None
    detection: Estimate | None
    clearance: Estimate | None
    failing: tuple[str, ...]
    rates: tuple[Rate, ...]
    headline: Literal["kappa", "alpha"]
    weighted: bool

    @property
    def agreement(self) -> Estimate:
        """The figure that the fitness rests on."""
        return self.kappa if self.headline == "kappa" else self.alpha


@dataclass(frozen=True)
class Scale:
    """The values of a field as places, in their sequence."""

    field: FormField

    @property
    def is_level(self) -> bool:
        """Whether its values are steps of a scale."""
        return self.field.kind == "level"

    @property
    def places(self) -> tuple[int, ...]:
        """The places that figures are made of: all, or on a scale those of its steps."""
        choices = enumerate(self.field.choices)
        return tuple(place for place, choice in choices if not (self.is_level and choice is None))

    def place(self, value: Any) -> int | None:
        """The place of a value; `None` for one that the field does not have."""
        choices = enumerate(self.field.choices)
        return next((place for place, one in choices if type(one) is type(value) and one == value), None)

    def name(self, place: int) -> str:
        """A value as it is shown."""
        value = self.field.choices[place]
        if value is None:
            return NOT_AT_ISSUE if self.is_level else "null"
        return str(value).lower() if isinstance(value, bool) else str(value)

    @property
    def failing(self) -> tuple[int, ...]:
        """The places that count as FAIL: the worse half of a scale; `fail` where there is a `pass`; else none."""
        if self.is_level:
            return self.places[: (len(self.places) + 1) // 2]
        names = {place: self.name(place).casefold() for place in self.places}
        if "pass" not in names.values():
            return ()
        return tuple(place for place, name in names.items() if name == "fail")

    def classes(self, humans: Sequence[int]) -> dict[str, int]:
        """How often people gave each answer that counts as a class of its own: of a scale, each half."""
        counts = Counter(humans)
        if not self.is_level:
            return {self.name(place): counts[place] for place in self.places}
        worse = self.failing
        better = [place for place in self.places if place not in worse]
        return {
            self._span(part): sum(counts[place] for place in part) for part in (worse, better) if part
        }  # fmt: skip

    def _span(self, part: Sequence[int]) -> str:
        first, last = self.name(part[0]), self.name(part[-1])
        return first if first == last else f"{first} to {last}"


@dataclass(frozen=True)
class Paired:
    """Labels that people and judge both answered with a value of the field.

    Attributes:
        scale: the field. labels: the labels. pairs: (judge, people) as places.
        excluded: how many labels are not among them. unread: those to which the judge gave no value of the field.
        table: counts over all values, *not at issue* too.
    """

    scale: Scale
    labels: tuple[Label, ...]
    pairs: tuple[tuple[int, int], ...]
    excluded: Counter[str]
    table: dict[tuple[int, int], int]
    unread: tuple[Label, ...] = ()

    @property
    def cases(self) -> list[Hashable]:
        """The case of each label."""
        return [one.case for one in self.labels]

    @property
    def chances(self) -> list[float]:
        """How likely each label was to be drawn."""
        return [one.probability for one in self.labels]

    @property
    def weighted(self) -> bool:
        """Whether the labels were drawn with unequal chances."""
        return len(set(self.chances)) > 1


def paired(field: FormField, labels: Sequence[Label]) -> Paired:
    """The labels that can be compared, and why the others cannot."""
    scale, kept, pairs = Scale(field), [], []
    unread: list[Label] = []
    excluded: Counter[str] = Counter()
    table: Counter[tuple[int, int]] = Counter()
    for one in labels:
        human, judge = scale.place(one.human), None if one.unread is not None else scale.place(one.judge)
        if one.unread is not None:
            excluded[f"judge: {one.unread}"] += 1
        elif human is None or judge is None:
            excluded["a value that the form does not have"] += 1
        else:
            table[judge, human] += 1
            if human in scale.places and judge in scale.places:
                kept.append(one)
                pairs.append((judge, human))
            else:
                excluded["not at issue"] += 1
        if judge is None and human in scale.places:
            unread.append(one)
    return Paired(scale, tuple(kept), tuple(pairs), excluded, dict(table), tuple(unread))


def figures_of(found: Paired, *, resamples: int, seed: int) -> Figures:
    """All figures of the labels that can be compared."""
    make = _Maker(found, resamples, seed)
    scale, level = found.scale, found.scale.is_level
    shown = range(len(scale.field.choices))
    return Figures(
        classes=tuple(map(scale.name, shown)),
        counts=tuple(tuple(found.table.get((judge, human), 0) for judge in shown) for human in shown),
        exact=make.share([judge == human for judge, human in found.pairs]),
        within=make.share([abs(judge - human) <= 1 for judge, human in found.pairs]) if level else None,
        bias=make.mean([judge - human for judge, human in found.pairs], signed=True) if level else None,
        error=make.mean([abs(judge - human) for judge, human in found.pairs], signed=False) if level else None,
        kappa=make.agreement("kappa"),
        kappa_linear=make.agreement("kappa linear") if level else None,
        kappa_quadratic=make.agreement("kappa quadratic") if level else None,
        alpha=make.agreement("alpha ordinal" if level else "alpha nominal"),
        alpha_level="ordinal" if level else "nominal",
        ac=make.agreement("ac2 quadratic" if level else "ac1"), ac_name="AC2" if level else "AC1",
        spearman=make.correlation("spearman") if level else None,
        kendall=make.correlation("kendall") if level else None,
        detection=make.rate(caught=True) if scale.failing else None,
        clearance=make.rate(caught=False) if scale.failing else None,
        failing=tuple(map(scale.name, scale.failing)),
        rates=tuple(map(make.class_rates, scale.places)), headline="alpha" if level else "kappa",
        weighted=found.weighted,
    )  # fmt: skip


def deciding_figures(found: Paired, *, resamples: int, seed: int) -> tuple[Estimate, Estimate | None]:
    """Those that the fitness rests on: agreement beyond chance, and the share of human FAILs that are caught."""
    make, scale = _Maker(found, resamples, seed), found.scale
    agreed = make.agreement("alpha ordinal" if scale.is_level else "kappa")
    return agreed, make.rate(caught=True) if scale.failing else None


class _Maker:
    """Makes figures of one set of labels, weighted where their chances differ."""

    def __init__(self, found: Paired, resamples: int, seed: int) -> None:
        self.found, self.resamples, self.seed = found, resamples, seed
        self.pairs, self.cases, self.excluded = found.pairs, found.cases, found.excluded.total()
        self.failing = set(found.scale.failing)

    def share(self, hits: Sequence[bool], of: Sequence[bool] | None = None, nothing: str | None = None) -> Estimate:
        """Share of hits among the labels, or among those that `of` names."""
        kept = [place for place in range(len(hits)) if of is None or of[place]]
        cases = [self.cases[place] for place in kept]
        if not kept:
            return undefined("wilson 0.95", nothing or "there are no labels", excluded=self.excluded)
        if self.found.weighted:
            from rightcall.stats.weighting import weighted_mean

            values = [float(hits[place]) for place in kept]
            chances = [self.found.chances[place] for place in kept]
            return weighted_mean(values, chances, clusters=cases, scale=(0, 1), excluded=self.excluded).estimate
        from rightcall.stats.clusters import clustered_share

        counts: dict[Hashable, tuple[int, int]] = {}
        for place, case in zip(kept, cases, strict=True):
            hit, n = counts.get(case, (0, 0))
            counts[case] = (hit + hits[place], n + 1)
        return clustered_share(counts.values(), excluded=self.excluded)

    def mean(self, values: Sequence[float], *, signed: bool) -> Estimate:
        """Mean of differences in levels."""
        width = float(len(self.found.scale.places) - 1)
        scale = (-width if signed else 0.0, width)
        if not values or not width:
            return undefined("t 0.95", "there are no labels", excluded=self.excluded)
        if self.found.weighted:
            from rightcall.stats.weighting import weighted_mean

            return weighted_mean(
                list(values), self.found.chances, clusters=self.cases, scale=scale, excluded=self.excluded
            ).estimate
        from rightcall.stats.ordinal import mean_score

        return mean_score(list(values), self.cases, scale=scale, excluded=self.excluded)

    def agreement(self, figure: Figure) -> Estimate:
        """Kappa, alpha or AC of judge and people."""
        if self.found.weighted:
            from rightcall.stats.weighted_table import weighted_agreement

            made = weighted_agreement(
                self.pairs, self.found.chances, len(self.found.scale.places), figure, clusters=self.cases,
                resamples=self.resamples, seed=self.seed, excluded=self.excluded,
            )  # fmt: skip
        else:
            made = agreement(
                figure, self.pairs, self.found.scale.places, self.cases, excluded=self.excluded,
                resamples=self.resamples, seed=self.seed,
            )  # fmt: skip
        return said_plainly(made, self.pairs)

    def correlation(self, name: Literal["spearman", "kendall"]) -> Estimate:
        """A rank correlation; it knows no weights."""
        from rightcall.stats import correlation

        if self.found.weighted:
            return undefined(name, "labels drawn with unequal chances have none", excluded=self.excluded)
        make: Callable[..., Estimate] = getattr(correlation, name)
        pairs = [(float(judge), float(human)) for judge, human in self.pairs]
        return make(pairs, clusters=self.cases, resamples=self.resamples, seed=self.seed, excluded=self.excluded)

    def rate(self, *, caught: bool) -> Estimate:
        """Share of human FAILs that the judge fails too, or of the others that it does not fail."""
        nothing = f"people called no label {'FAIL' if caught else 'anything but FAIL'}"
        return self.share(
            [(judge in self.failing) == caught for judge, _ in self.pairs],
            [(human in self.failing) == caught for _, human in self.pairs], nothing,
        )  # fmt: skip

    def class_rates(self, place: int) -> Rate:
        """How well the judge finds one answer of people."""
        name = self.found.scale.name(place)
        by_judge, by_people = ([pair[side] == place for pair in self.pairs] for side in (0, 1))
        both = [one and other for one, other in zip(by_judge, by_people, strict=True)]
        either = [one or other for one, other in zip(by_judge, by_people, strict=True)]
        overlap = self.share(both, either, f"nobody answered {name}")
        return Rate(
            label=name, prevalence=self.share(by_people),
            recall=self.share(by_judge, by_people, f"people never answered {name}"),
            precision=self.share(by_people, by_judge, f"the judge never answered {name}"),
            # 2J/(1+J) of the overlap J, which grows with it.
            f1=replace(
                overlap, method=f"{overlap.method}, of the overlap",
                **{name: None if value is None else 2 * value / (1 + value)
                   for name, value in (("estimate", overlap.estimate), ("low", overlap.low), ("high", overlap.high))},
            ),
        )  # fmt: skip


def agreement(
    figure: Figure, pairs: Sequence[tuple[int, int]], places: Sequence[int], cases: Sequence[Hashable], *,
    resamples: int, seed: int, excluded: int = 0,
) -> Estimate:  # fmt: skip
    """Kappa, alpha or AC of two raters by its name, on places of labels."""
    from rightcall.stats.agreement import kappa
    from rightcall.stats.alpha import krippendorff_alpha
    from rightcall.stats.gwet import gwet_ac

    name, _, how = figure.partition(" ")
    common: dict[str, Any] = {
        "clusters": list(cases), "resamples": resamples, "seed": seed, "excluded": excluded, "labels": list(places),
    }  # fmt: skip
    if name == "alpha":
        return krippendorff_alpha(pairs, level="ordinal" if how == "ordinal" else "nominal", **common)
    make: Callable[..., Estimate] = kappa if name == "kappa" else gwet_ac
    return make(pairs, weights=how or None, **common)


def said_plainly(found: Estimate, pairs: Sequence[tuple[int, int]]) -> Estimate:
    """An agreement that is undefined since all answers are one label says so in these words first."""
    if found.estimate is None and pairs and len({place for pair in pairs for place in pair}) == 1:
        return replace(found, reason=f"{ONE_LABEL}: {found.reason}")
    return found


# ---- where it is worst ----


def strata_of(found: Paired) -> tuple[Stratum, ...]:
    """The groups of the labels, those first in which the judge agrees least; see `Label.strata`. One group is none."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(found.labels):
        for by, group in one.strata.items():
            groups.setdefault((by, group), []).append(place)
    several = {by for by, n in Counter(by for by, _ in groups).items() if n > 1}
    made = [_stratum(found, by, group, places) for (by, group), places in groups.items() if by in several]
    return tuple(sorted(made, key=lambda one: (one.agreement.estimate or 0.0, -one.labels, one.by, one.group)))


def _stratum(found: Paired, by: str, group: str, places: Sequence[int]) -> Stratum:
    part = Paired(
        found.scale, tuple(found.labels[place] for place in places), tuple(found.pairs[place] for place in places),
        Counter(), {},
    )  # fmt: skip
    make = _Maker(part, 1, 0)
    return Stratum(
        by=by, group=group, labels=len(places), agreement=make.share([judge == human for judge, human in part.pairs]),
        detection=make.rate(caught=True) if found.scale.failing else None, hollow=len(places) < HOLLOW,
    )  # fmt: skip
