"""What a judge said against what people said: the table, and how well each answer is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import sqrt

import msgspec
from msgspec import Struct

from rightcall.stats.clusters import Counts, clustered_share
from rightcall.stats.intervals import Estimate, invalid
from rightcall.stats.resampling import Clusters, cases_of


class ClassFigures(Struct, frozen=True, kw_only=True):
    """How well the judge finds one answer of people.

    Attributes:
        label: the answer.
        sensitivity: share of the items that people gave it to, to which the judge gave it too (recall). For FAIL: how
            many faults the judge catches.
        specificity: share of the other items to which the judge did not give it either.
        precision: share of the items that the judge gave it to, to which people gave it too.
        f1: harmonic mean of precision and sensitivity, by the bounds of the overlap.
    """

    label: Hashable
    sensitivity: Estimate
    specificity: Estimate
    precision: Estimate
    f1: Estimate


class Confusion(Struct, frozen=True, kw_only=True):
    """How often each answer of people met each answer of the judge.

    Attributes:
        labels: the answers, in their sequence.
        counts: one row for each answer of people, one column for each of the judge.
        n: all items.
        excluded: items without an answer of either.
        prevalence: share of items that people gave each label to, in the sequence of labels.
        classes: figures of each label.
        correlation: Matthews' correlation of two labels (phi); `None` with more or fewer labels, or where one of the
            two gave one label throughout.
    """

    labels: tuple[Hashable, ...]
    counts: tuple[tuple[int, ...], ...]
    n: int
    excluded: int
    prevalence: tuple[Estimate, ...]
    classes: tuple[ClassFigures, ...]
    correlation: float | None

    def of(self, label: Hashable) -> ClassFigures:
        """The figures of a label.

        Raises:
            ConfigError: `STAT_VALUE_INVALID` for a label that is none.
        """
        found = next((figures for figures in self.classes if figures.label == label), None)
        if found is None:
            raise invalid(f"{label!r} is not a label", f"labels: {', '.join(map(str, self.labels))}")
        return found


def confusion(
    pairs: Sequence[tuple[Hashable, Hashable]],
    labels: Sequence[Hashable],
    *,
    clusters: Clusters = None,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Confusion:
    """The table of a judge against people, with Wilson's intervals, clustered by case (see `clustered_share`).

    A share of nothing is undefined: nobody gave the label, or everybody did. F1 = 2J/(1+J), with J the share of items
    that both gave the label to among those that either did; F1 grows with J, so J's bounds become F1's.

    Args:
        pairs: of each item, the judge's answer and people's.
        labels: all answers that could have been given, in their sequence.
        clusters: the case of each item.
        confidence: of the intervals.
        excluded: how many items lack an answer of either.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for an answer that is no label.
    """
    known = tuple(dict.fromkeys(labels))
    strange = next((answer for pair in pairs for answer in pair if answer not in known), None)
    if strange is not None:
        raise invalid(f"{strange!r} is not a label", f"labels: {', '.join(map(str, known))}")
    seen, cases = Counter(pairs), cases_of(len(pairs), clusters)
    counts = tuple(tuple(seen[judge, human] for judge in known) for human in known)
    shares = _Shares(pairs, cases, confidence, excluded)
    return Confusion(
        labels=known,
        counts=counts,
        n=len(pairs),
        excluded=excluded,
        prevalence=tuple(shares.of([human == label for _, human in pairs]) for label in known),
        classes=tuple(shares.figures(label) for label in known),
        correlation=_correlation(counts),
    )


class _Shares:
    """Shares of items, clustered by case."""

    def __init__(
        self, pairs: Sequence[tuple[Hashable, Hashable]], cases: Sequence[Hashable], confidence: float, excluded: int
    ) -> None:
        self.pairs, self.cases, self.confidence, self.excluded = pairs, cases, confidence, excluded

    def of(self, hits: Sequence[bool | None], nothing: str | None = None) -> Estimate:
        """Share of `True` among the items that are not `None`."""
        found: dict[Hashable, Counts] = {}
        for hit, case in zip(hits, self.cases, strict=True):
            if hit is not None:
                successes, n = found.get(case, (0, 0))
                found[case] = (successes + hit, n + 1)
        share = clustered_share(found.values(), excluded=self.excluded, confidence=self.confidence)
        if share.estimate is None and nothing and self.pairs:
            return msgspec.structs.replace(share, reason=nothing)
        return share

    def figures(self, label: Hashable) -> ClassFigures:
        """How well one label is found."""
        told = [(judge == label, human == label) for judge, human in self.pairs]
        overlap = self.of([judge and human if judge or human else None for judge, human in told], "never given")
        return ClassFigures(
            label=label,
            sensitivity=self.of([judge if human else None for judge, human in told], "people never gave it"),
            specificity=self.of([None if human else not judge for judge, human in told], "people gave it throughout"),
            precision=self.of([human if judge else None for judge, human in told], "the judge never gave it"),
            f1=msgspec.structs.replace(
                overlap, estimate=_f1(overlap.estimate), low=_f1(overlap.low), high=_f1(overlap.high),
                method=f"{overlap.method}, of the overlap",
            ),
        )  # fmt: skip


def _f1(overlap: float | None) -> float | None:
    return None if overlap is None else 2 * overlap / (1 + overlap)


def _correlation(counts: tuple[tuple[int, ...], ...]) -> float | None:
    """Matthews' correlation of a table of two labels (B. W. Matthews, Biochimica et Biophysica Acta 405, 1975)."""
    if len(counts) != 2:
        return None
    (a, b), (c, d) = counts
    scale = (a + b) * (c + d) * (a + c) * (b + d)
    return (a * d - b * c) / sqrt(scale) if scale else None
