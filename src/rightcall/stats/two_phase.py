"""A cheap judge on all items and a good one on a random part: the mean that the good one would have given.

The mean of the light judge's scores is off by as much as the light judge is, and its interval does not know. The
strong judge's mean over its own part is right on average and wide. Two-phase estimation (double sampling; W. G.
Cochran, Sampling Techniques, 1977, ch. 12) uses both: the strong scores tell how the two judges differ, the light ones
tell what kind of items there are. It corrects the mean, never a single score, and towards the strong judge, not
towards people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import isfinite, sqrt
from typing import Literal

import msgspec
from msgspec import Struct

from rightcall.stats.intervals import NOTHING, Estimate, in_cases, invalid, undefined
from rightcall.stats.labelled import ppi, ppi_plus_plus, stratified_error, stratified_mean

__all__ = ["Stratum", "TwoPhase", "ppi", "ppi_plus_plus", "stratified_error", "stratified_mean", "two_phase"]

Target = Literal["population", "items"]

FEW = 3
"""A stratum with fewer doubled items than this, of more, is put together with another."""


class Stratum(Struct, frozen=True, kw_only=True):
    """One stratum as it was used: the names put together in it, its items, and how many of them both judges scored."""

    names: tuple[str, ...]
    items: int
    doubled: int


class TwoPhase(Struct, frozen=True, kw_only=True):
    """What the light judge on all and the strong judge on a part say about the strong judge's mean.

    Attributes:
        estimate: the corrected mean; `n` counts all items.
        naive_light: the mean of the light scores, for comparison only.
        strong_only: the mean of the strong scores, weighted as they were drawn, without the light ones.
        slope: by how much a strong score rises with a light one, within strata; `None` where that is not known.
        standard_error: of `estimate`.
        strata: as they were used.
        collapsed: the names of strata that had too few doubled items to stand alone.
        reason: why there is no corrected mean, or no interval.
    """

    estimate: Estimate
    naive_light: Estimate
    strong_only: Estimate
    slope: float | None
    standard_error: float | None
    strata: tuple[Stratum, ...]
    collapsed: tuple[str, ...]
    reason: str | None


def two_phase(
    light: Sequence[float],
    strong: Sequence[float | None],
    strata: Sequence[str],
    probabilities: Sequence[float] | None = None,
    *,
    clusters: Sequence[Hashable] | None = None,
    target: Target = "population",
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
    excluded: int = 0,
) -> TwoPhase:
    """The strong judge's mean over all items, from its scores of some.

    * Estimate: Σ W_h (ȳ_h + b (X̄_h - x̄_h)), with W_h = N_h/N, ȳ_h and x̄_h the means of both judges' scores over the
      doubled items of stratum h, X̄_h that of all light scores in it, and one slope b for all strata, least squares
      within them, each stratum weighing (W_h/n_h)². With one stratum that is the regression estimator of double
      sampling. Within a stratum of one light score it is the stratum's strong mean.
    * Variance, without clusters: Σ W_h² s²_h (1/n_h - 1/N_h) for the draw, s²_h the variance of the residuals y - b x
      in the stratum (n_h - 1 degrees of freedom less a share of the slope's one), and S²_y/N for the items being
      a sample themselves.
    * With clusters, such as the trace of a segment: the sandwich C/(C-1) Σ (Σ u)² / N² over clusters, with
      u = predicted - estimate + residual / probability (the last for doubled items only, and corrected for degrees of
      freedom as s²_h). It is right whether single items or whole clusters were drawn. The wider of both is taken.
    * Interval: Student's, with n - H - 1 degrees of freedom of the doubled items, or C - 1 if that is fewer.

    Strata with fewer than 3 doubled items (but more items than that) are put together with the one whose mean light
    score is nearest, until none is left; probabilities then keep items at the weight at which they were drawn.

    An item that was drawn and for which the strong judge gave no score is taken like one of its stratum that was not
    drawn: that is right only if such failures have nothing to do with the score, so count them beside it. An item that
    the strong judge scored for another reason than the draw, because it looked doubtful, is not a random one: leave
    its strong score out, unless all items of that kind are scored and are a stratum of their own.

    If all residuals are 0, nothing is known about how far the judges can differ, and an interval of the draw would
    have no width. With a `scale` it is then widened by what a share 1 - e^(1/n) of items, unseen with the error e =
    (1 - confidence)/2, could change at most; without one there is no interval.

    Args:
        light: the light judge's score of every item.
        strong: the strong judge's score of the items drawn, `None` for the others.
        strata: the stratum of every item. What a stratum is made of (tool, light score) must be known before the draw.
        probabilities: with which each item was drawn; `None`: equal within each stratum.
        clusters: what each item belongs to.
        target: `population`: items such as these, of which these are a sample. `items`: these and no others; the
            interval is narrower.
        scale: bottom and top of the scores; intervals are cut to it.
        confidence: of the intervals.
        excluded: how many items the light judge could not score.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for sequences of different lengths, a score that is no number or not on the
            scale, or a probability not above 0 and up to 1.
    """
    _check(light, strong, strata, probabilities, clusters, scale)
    cases = range(len(light)) if clusters is None else clusters
    asked = _Asked(light, strong, cases, scale, target, confidence, excluded)
    method = f"two-phase regression, t {confidence:g}" + ("" if target == "population" else ", these items only")
    doubled = sum(score is not None for score in strong)
    if doubled < 2:
        reason = NOTHING if not light else f"{doubled} items have a strong score; a correction needs 2"
        none = undefined(method, reason, n=len(light), excluded=excluded)
        return TwoPhase(estimate=none, naive_light=asked.light_mean(), strong_only=none, slope=None,
                        standard_error=None, strata=(), collapsed=(), reason=reason)  # fmt: skip
    groups, collapsed = _collapsed(light, strong, strata)
    weights = _weights(groups, strong, probabilities)
    slope = _slope(groups, light, strong, weights)
    corrected, error = asked.estimate(groups, weights, slope, method)
    alone, _ = asked.estimate(groups, weights, None, f"stratified mean of strong scores, t {confidence:g}")
    return TwoPhase(
        estimate=corrected,
        naive_light=asked.light_mean(),
        strong_only=alone,
        slope=slope,
        standard_error=error,
        strata=tuple(
            Stratum(names=group.names, items=len(group.items), doubled=len(group.doubled)) for group in groups
        ),
        collapsed=collapsed,
        reason=corrected.reason,
    )


def _check(
    light: Sequence[float],
    strong: Sequence[float | None],
    strata: Sequence[str],
    probabilities: Sequence[float] | None,
    clusters: Sequence[Hashable] | None,
    scale: tuple[float, float] | None,
) -> None:
    for what, given in (
        ("strong", strong),
        ("strata", strata),
        ("probabilities", probabilities),
        ("clusters", clusters),
    ):
        if given is not None and len(given) != len(light):
            raise invalid(f"{what}: {len(given)} do not belong to {len(light)} items")
    bottom, top = scale or (float("-inf"), float("inf"))
    for score in [*light, *(score for score in strong if score is not None)]:
        if not (isfinite(score) and bottom <= score <= top):
            raise invalid(
                f"{score} is not a score", None if scale is None else f"scores lie from {bottom:g} to {top:g}"
            )
    strange = next((p for p in probabilities or () if not 0 < p <= 1), None)
    if strange is not None:
        raise invalid(f"no mean can be corrected with a probability of {strange:g}", "above 0 and up to 1")


class _Group(Struct, frozen=True, kw_only=True):
    """A stratum in use: names, the places of its items and of its doubled ones, and its mean light score."""

    names: tuple[str, ...]
    items: tuple[int, ...]
    doubled: tuple[int, ...]
    mean: float


def _collapsed(
    light: Sequence[float], strong: Sequence[float | None], strata: Sequence[str]
) -> tuple[list[_Group], tuple[str, ...]]:
    """The strata, small ones put together, and the names of the small ones."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(strata):
        places[name].append(place)
    groups = [_group((name,), items, light, strong) for name, items in sorted(places.items())]
    small: list[str] = []
    while len(groups) > 1:
        least = min(groups, key=lambda group: (not _too_few(group), len(group.doubled), group.names))
        if not _too_few(least):
            break
        others = [group for group in groups if group is not least]
        nearest = min(others, key=lambda group: (abs(group.mean - least.mean), group.names))
        small.extend(name for name in least.names if name not in small)
        together = _group((*nearest.names, *least.names), [*nearest.items, *least.items], light, strong)
        groups = [together if group is nearest else group for group in others]
    return groups, tuple(sorted(small))


def _group(
    names: Sequence[str], items: Sequence[int], light: Sequence[float], strong: Sequence[float | None]
) -> _Group:
    doubled = tuple(place for place in items if strong[place] is not None)
    mean = sum(light[place] for place in items) / len(items)
    return _Group(names=tuple(names), items=tuple(items), doubled=doubled, mean=mean)


def _too_few(group: _Group) -> bool:
    return len(group.doubled) < min(FEW, len(group.items))


def _weights(
    groups: Sequence[_Group], strong: Sequence[float | None], probabilities: Sequence[float] | None
) -> list[float]:
    """How many items each doubled one stands for; they add up to the items of each stratum."""
    found = [0.0] * len(strong)
    for group in groups:
        raw = {place: 1.0 if probabilities is None else 1 / probabilities[place] for place in group.doubled}
        total = sum(raw.values())
        for place, weight in raw.items():
            found[place] = weight * len(group.items) / total
    return found


def _slope(
    groups: Sequence[_Group], light: Sequence[float], strong: Sequence[float | None], weights: Sequence[float]
) -> float | None:
    """The slope within strata; `None` where the light scores do not vary within any, or no freedom is left for it."""
    xy = xx = 0.0
    for group in groups:
        # Without this, the rounding of the mean of equal scores would pass for a spread.
        if len({light[place] for place in group.doubled}) < 2:
            continue
        x, y = _centre(group, light, weights), _centre(group, strong, weights)
        for place in group.doubled:
            across = (light[place] - x) * weights[place] ** 2
            xy, xx = xy + across * ((strong[place] or 0.0) - y), xx + across * (light[place] - x)
    freedom = sum(len(group.doubled) for group in groups) - len(groups) - 1
    return xy / xx if xx > 0 and freedom > 0 else None


def _centre(group: _Group, values: Sequence[float | None], weights: Sequence[float]) -> float:
    """The weighted mean over the doubled items."""
    return sum(weights[place] * (values[place] or 0.0) for place in group.doubled) / len(group.items)


class _Asked:
    """The scores and how their mean is wanted."""

    def __init__(
        self,
        light: Sequence[float],
        strong: Sequence[float | None],
        cases: Sequence[Hashable],
        scale: tuple[float, float] | None,
        target: Target,
        confidence: float,
        excluded: int,
    ) -> None:
        self.light, self.cases, self.scale, self.target = light, cases, scale, target
        self.strong = [score or 0.0 for score in strong]
        self.confidence, self.excluded, self.n = confidence, excluded, len(light)

    def light_mean(self) -> Estimate:
        """The mean of the light scores, as if they were right."""
        method = f"t {self.confidence:g}"
        if not self.n:
            return undefined(method, NOTHING, excluded=self.excluded)
        mean = sum(self.light) / self.n
        parts = [score - mean for score in self.light]
        size = len(set(self.cases))
        if size < 2:
            return self._shown(mean, None, 0, method, "one case has no interval")
        plain = sum(part**2 for part in parts) / (self.n - 1) / self.n
        error = sqrt(max(plain, self._sandwich(parts)))
        return self._shown(mean, error or None, size - 1, method, None if error else "all scores are equal")

    def _sandwich(self, parts: Sequence[float]) -> float:
        """C/(C-1) Σ (Σ parts)² / N² over clusters."""
        sums: defaultdict[Hashable, float] = defaultdict(float)
        for case, part in zip(self.cases, parts, strict=True):
            sums[case] += part
        size = len(sums)
        return size / (size - 1) * sum(total**2 for total in sums.values()) / self.n**2 if size > 1 else 0.0

    def estimate(
        self, groups: Sequence[_Group], weights: Sequence[float], slope: float | None, method: str
    ) -> tuple[Estimate, float | None]:
        """The mean with this slope (`None`: 0), and its standard error."""
        b = slope or 0.0
        predicted, rest = [0.0] * self.n, [0.0] * self.n
        for group in groups:
            base = _centre(group, self.strong, weights) - b * _centre(group, self.light, weights)
            for place in group.items:
                predicted[place] = base + b * self.light[place]
            for place in group.doubled:
                rest[place] = self.strong[place] - predicted[place]
        mean = sum(predicted) / self.n
        doubled = [place for group in groups for place in group.doubled]
        freedom = len(doubled) - len(groups) - (slope is not None)
        if freedom < 1:
            return self._shown(mean, None, 0, method, "too few doubled items for an interval"), None
        size = len(set(self.cases))
        if size < 2:
            return self._shown(mean, None, 0, method, "the items of one case have no interval"), None
        error = sqrt(self._variance(groups, weights, mean, predicted, rest, freedom))
        seen = max(abs(rest[place]) for place in doubled) > 1e-12 or len(doubled) == self.n
        if size < self.n:
            method += in_cases(size)
        return self._with_unseen(mean, error, min(freedom, size - 1), len(doubled), method, seen=seen), error

    def _variance(
        self,
        groups: Sequence[_Group],
        weights: Sequence[float],
        mean: float,
        predicted: Sequence[float],
        rest: Sequence[float],
        freedom: int,
    ) -> float:
        """The variance of the mean: of the draw, and of the items where they are a sample."""
        lost = sum(len(group.doubled) for group in groups) - len(groups)
        draw, grown, inside = 0.0, [0.0] * self.n, [0.0] * self.n
        for group in groups:
            n, size = len(group.doubled), len(group.items)
            # Residuals from means and a slope that were fitted to them are too small; the slope's degree of freedom is
            # shared among strata by their doubled items.
            growth = n / max(n - 1, 1) * lost / freedom
            for place in group.doubled:
                grown[place] = weights[place] * rest[place] * sqrt(growth)
                inside[place] = grown[place] * sqrt(1 - n / size)
            draw += sum(inside[place] ** 2 for place in group.doubled) / self.n**2
        if self.target == "items":
            return max(draw, self._sandwich(inside))
        whole = [value - mean + left for value, left in zip(predicted, grown, strict=True)]
        clustered = self._sandwich(whole) if len(set(self.cases)) < self.n else 0.0
        return max(draw + self._spread(groups, weights) / self.n, clustered)

    def _spread(self, groups: Sequence[_Group], weights: Sequence[float]) -> float:
        """The variance of the strong scores over all items, from the doubled ones."""
        doubled = [place for group in groups for place in group.doubled]
        centre = sum(weights[place] * self.strong[place] for place in doubled) / self.n
        squares = sum(weights[place] * (self.strong[place] - centre) ** 2 for place in doubled) / self.n
        return squares * len(doubled) / (len(doubled) - 1)

    def _with_unseen(
        self, mean: float, error: float, freedom: int, doubled: int, method: str, *, seen: bool
    ) -> Estimate:
        """The estimate; where no residual was seen, widened by what may not have been seen."""
        if seen:
            return self._shown(mean, error, freedom, method)
        if self.scale is None:
            return self._shown(mean, None, 0, method, "the strong scores show no spread; give the scale of the scores")
        share = 1 - ((1 - self.confidence) / 2) ** (1 / doubled)
        bottom, top = self.scale
        plain = self._shown(mean, error, freedom, method + ", exact for no residual")
        low, high = plain.low or 0.0, plain.high or 0.0
        return msgspec.structs.replace(plain, low=low - share * (low - bottom), high=high + share * (top - high))

    def _shown(
        self, mean: float, error: float | None, freedom: int, method: str, reason: str | None = None
    ) -> Estimate:
        """A mean with Student's interval, cut to the scale."""
        low = high = None
        if error is not None:
            from scipy.special import stdtrit

            half = float(stdtrit(freedom, 0.5 + self.confidence / 2)) * error
            bottom, top = self.scale or (float("-inf"), float("inf"))
            low, high = max(bottom, mean - half), min(top, mean + half)
        return Estimate(
            estimate=mean, low=low, high=high, n=self.n, method=method, excluded=self.excluded, reason=reason
        )
