"""From a stated confidence to a probability: the map, how it is made, and how it is tested honestly.

A map is data: it can be written down with the judge that it belongs to, and used by later runs. Its worth must be
measured on answers that it was not made from; `cross_fitted` gives each answer the probability of a map made without
its case.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from rightcall.stats.calibration import Clusters, all_log_odds, check_stated, log_odds
from rightcall.stats.intervals import NOTHING, invalid
from rightcall.stats.logistic import chance, fit_logistic

Kind = Literal["platt", "isotonic"]

ISOTONIC_FROM = 500
"""From so many cases on a map may take any rising shape; below, two numbers are all that can be known."""


class Platt(Struct, frozen=True, kw_only=True, tag_field="kind", tag="platt"):
    """log-odds(correct) = intercept + slope log-odds(stated). `edge`: see `log_odds`."""

    slope: float
    intercept: float
    edge: float | None = None

    def probability(self, stated: float) -> float | None:
        """What the stated confidence is worth; `None` for 0 and 1 where no edge was given."""
        check_stated([stated], [True])
        x = log_odds(stated, self.edge)
        return None if x is None else chance(self.intercept + self.slope * x)


class Isotonic(Struct, frozen=True, kw_only=True, tag_field="kind", tag="isotonic"):
    """A rising line through points: stated confidences, ascending, and what each is worth."""

    stated: tuple[float, ...]
    worth: tuple[float, ...]

    def __post_init__(self) -> None:
        rises = all(a < b for a, b in pairwise(self.stated)) and all(a <= b for a, b in pairwise(self.worth))
        if not self.stated or len(self.stated) != len(self.worth) or not rises:
            raise invalid("a rising map has points, with the confidences and what they are worth in ascending order")

    def probability(self, stated: float) -> float | None:
        """What the stated confidence is worth: on the line between two points, beyond the ends as at the end."""
        check_stated([stated], [True])
        at = bisect_left(self.stated, stated)
        if at == 0 or at == len(self.stated):
            return self.worth[min(at, len(self.stated) - 1)]
        left, right = self.stated[at - 1], self.stated[at]
        step = self.worth[at] - self.worth[at - 1]
        return self.worth[at] if stated == right else self.worth[at - 1] + step * (stated - left) / (right - left)


class Recalibration(Struct, frozen=True, kw_only=True):
    """A map made from checked answers. `map` is `None` where none can be made, for the `reason`."""

    map: Platt | Isotonic | None
    n: int
    excluded: int
    reason: str | None


def suited_kind(cases: int) -> Kind:
    """Which map so many checked cases can carry."""
    return "isotonic" if cases >= ISOTONIC_FROM else "platt"


def fit_recalibration(
    stated: Sequence[float],
    correct: Sequence[bool],
    *,
    kind: Kind | None = None,
    clusters: Clusters = None,
    edge: float | None = None,
    excluded: int = 0,
) -> Recalibration:
    """The map from stated confidence to the probability of being correct.

    * `platt`: a line through log-odds by unpenalised maximum likelihood (J. C. Platt, 1999, on log-odds instead of
      scores and without his smoothed targets). There is none where all answers are alike, where the confidences
      separate right from wrong, where a confidence of 0 or 1 has no log-odds (see `log_odds` for the edge), or where
      the slope is not above 0: the surer answers are not the better ones, and no map can help.
    * `isotonic`: the rising function nearest in squares to the outcomes, by pooling adjacent violators (M. Ayer and
      others, The Annals of Mathematical Statistics 26, 1955; B. Zadrozny and C. Elkan, KDD 2002). Answers with equal
      confidences are pooled first. Its ends can be 0 or 1, which is what was seen there and not a certainty.

    Args:
        stated: the confidences.
        correct: whether each answer was.
        kind: of the map; `None`: isotonic from 500 cases on, else Platt's.
        clusters: the case of each answer, to count cases.
        edge: for Platt's map.
        excluded: how many answers could not be used.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a confidence outside 0 to 1, an edge not between 0 and 1/2, or sequences
            that do not belong together.
    """
    check_stated(stated, correct, clusters)
    cases = len(stated) if clusters is None else len(set(clusters))
    found: Platt | Isotonic | str = NOTHING
    if stated:
        found = _platt(stated, correct, edge) if (kind or suited_kind(cases)) == "platt" else isotonic(stated, correct)
    reason = found if isinstance(found, str) else None
    return Recalibration(map=None if isinstance(found, str) else found, n=len(stated), excluded=excluded, reason=reason)


def _platt(stated: Sequence[float], correct: Sequence[bool], edge: float | None) -> Platt | str:
    x = all_log_odds(stated, edge)
    fit = x if isinstance(x, str) else fit_logistic(x, correct)
    if isinstance(fit, str):
        return fit
    if fit.slope <= 0:
        return f"the surer answers are not the better ones (slope {fit.slope:.3g})"
    return Platt(slope=fit.slope, intercept=fit.intercept, edge=edge)


def isotonic(stated: Sequence[float], correct: Sequence[bool]) -> Isotonic:
    """The isotonic map (see `fit_recalibration`), with only the points that it needs.

    Raises:
        ConfigError: as `fit_recalibration`, and without an answer.
    """
    check_stated(stated, correct)
    if not stated:
        raise invalid("no map can be made from no answer")
    counts: dict[float, tuple[int, int]] = {}
    for said, held in zip(stated, correct, strict=True):
        right, n = counts.get(said, (0, 0))
        counts[said] = (right + bool(held), n + 1)
    # Each block: its first and last confidence, correct answers, answers.
    blocks: list[tuple[float, float, int, int]] = []
    for said in sorted(counts):
        block = (said, said, *counts[said])
        while blocks and blocks[-1][2] * block[3] >= block[2] * blocks[-1][3]:
            first, _, right, n = blocks.pop()
            block = (first, block[1], right + block[2], n + block[3])
        blocks.append(block)
    points = [(at, right / n) for first, last, right, n in blocks for at in dict.fromkeys((first, last))]
    return Isotonic(stated=tuple(at for at, _ in points), worth=tuple(worth for _, worth in points))


def cross_fitted(
    stated: Sequence[float],
    correct: Sequence[bool],
    *,
    kind: Kind | None = None,
    clusters: Clusters = None,
    edge: float | None = None,
    folds: int = 5,
    seed: int = 0,
) -> list[float | None]:
    """Of each answer, the probability by a map made from the other folds; `None` where those carry none.

    Whole cases are dealt to folds in the order of digests of the seed and the case's name (without clusters, the place
    of the answer), so that the folds are even and the same everywhere. The kind is chosen once, for all cases together.

    Raises:
        ConfigError: as `fit_recalibration`, or for fewer than 2 folds, or fewer cases than folds.
    """
    check_stated(stated, correct, clusters)
    cases: Sequence[Hashable] = range(len(stated)) if clusters is None else clusters
    dealt = _dealt(cases, folds, seed)
    kind = kind or suited_kind(len(dealt))
    found: list[float | None] = [None] * len(stated)
    for fold in range(folds):
        others = [place for place, case in enumerate(cases) if dealt[case] != fold]
        made = fit_recalibration([stated[p] for p in others], [correct[p] for p in others], kind=kind, edge=edge).map
        if made is not None:
            for place, case in enumerate(cases):
                if dealt[case] == fold:
                    found[place] = made.probability(stated[place])
    return found


def _dealt(cases: Sequence[Hashable], folds: int, seed: int) -> dict[Hashable, int]:
    """The fold of each case."""
    names = list(dict.fromkeys(cases))
    if not 2 <= folds <= len(names):
        raise invalid(f"{len(names)} cases cannot be dealt to {folds} folds", "at least 2 folds, and a case for each")

    def key(case: Hashable) -> tuple[bytes, str]:
        text = f"{seed} {case!r}"
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), text

    return {case: index % folds for index, case in enumerate(sorted(names, key=key))}
