"""Light judge on all, strong judge on some of the same readings: who is drawn, and whether the light one will do.

The draw is stratified by tool and level of the light score, so that rare tools and rare levels are seen. It depends
on nothing but units, light scores and a seed: a run that was killed goes on with the same draw. In each stratum a
share is drawn, rounded up, and at least `FEWEST` where there are as many; each reading's probability of being drawn
is that of its stratum, n/N, and is in its result.

The light judge is *out* if too many of the doubles disagree: the two scores are more than one level (or 0.2) apart, or
stand on different sides of the limit for review, and the lower bound of that share is above what is tolerated. The
bound, because with few doubles a high share may be chance. It is also out where its newest calibration against people,
by the model that answered and with the same prompt, says that it is not fit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from rightcall.grade.interpretation import Mapping, fidelity
from rightcall.stats.clusters import clustered_share
from rightcall.stats.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Mapping as Models

    from rightcall.grade.interpretation import InterpretationResult

FEWEST = 3
"""Readings of a stratum that are drawn at least: with fewer, `stats.two_phase` puts it together with another one."""

FEW = 30
"""Fewer doubles than this say little about the light judge."""

_APART = 0.2 + 1e-9
"""How far two fidelities may be apart: a level of `fifths`; steps of 0.05 are no exact binary numbers."""


class Reading(Struct, frozen=True, gc=False):
    """What of a result counts in figures and draws. `cluster` is its case, else its trace.

    `model`: the model by which the light judge answered; `None` where that is not known.
    """

    unit: str
    tool: str
    version: str | None
    cluster: str
    score: float
    light: float | None
    strong: float | None
    model: str | None = None


@dataclass(frozen=True)
class TwoPhases:
    """How the strong judge is asked.

    Attributes:
        light, strong: names of the two judges.
        share: of each stratum. seed: of the draw.
        limit: share of doubles that may disagree.
        min_fidelity: the limit for review, on whose sides two scores must not differ.
        mapping: from score to fidelity.
        light_model: by which model the light judge is asked.
        unfit: models by which calibration found the light judge not fit, each with the reason in words.
    """

    light: str
    strong: str
    share: float = 0.2
    seed: int = 0
    limit: float = 0.1
    min_fidelity: float = 0.8
    mapping: Mapping = "fifths"
    light_model: str = ""
    unfit: Models[str, str] = field(default_factory=dict)

    def stratum(self, tool: str, light: float) -> str:
        """The stratum of a reading: its tool and the level of its light score."""
        level = min(5, int(light * 5) + 1) if self.mapping == "direct" else int(light)
        return f"{tool} · light {level}"

    def drawn(self, readings: Iterable[Reading]) -> dict[str, float]:
        """Unit -> probability, for the readings that the strong judge is asked about."""
        from rightcall.stats.sampling import draw_stratified

        return draw_stratified(self._units(readings), self.share, self.seed, FEWEST)

    def probabilities(self, readings: Iterable[Reading]) -> dict[str, float]:
        """Unit -> how likely it was to be drawn, for all that have a light score."""
        from rightcall.stats.sampling import probability_of

        return probability_of(self._units(readings), self.share, FEWEST)

    def _units(self, readings: Iterable[Reading]) -> list[tuple[str, str]]:
        return [(one.unit, self.stratum(one.tool, one.light)) for one in readings if one.light is not None]

    def differ(self, light: float, strong: float) -> bool:
        """Whether two scores are more than one level apart, or on different sides of the limit for review."""
        first, second = fidelity(light, self.mapping), fidelity(strong, self.mapping)
        return self.far_apart(light, strong) or (first < self.min_fidelity) != (second < self.min_fidelity)

    def far_apart(self, light: float, strong: float) -> bool:
        """Whether two scores are more than one level apart, or 0.2 where the score is from 0 to 1."""
        return abs(light - strong) > (_APART if self.mapping == "direct" else 1)

    def disagreement(self, doubles: Sequence[Reading]) -> Estimate:
        """Share of the doubles whose scores differ, clustered by case."""
        counts: dict[str, list[int]] = {}
        for one in doubles:
            assert one.light is not None  # noqa: S101 - a double has both
            assert one.strong is not None  # noqa: S101 - the same
            count = counts.setdefault(one.cluster, [0, 0])
            count[0] += self.differ(one.light, one.strong)
            count[1] += 1
        return clustered_share((differing, n) for differing, n in counts.values())

    def is_out(self, doubles: Sequence[Reading]) -> bool:
        """Whether the light judge will not do."""
        low = self.disagreement(doubles).low
        return low is not None and low > self.limit

    def unfit_words(self, readings: Iterable[Reading]) -> str | None:
        """Why the light judge will not do by its calibration, if one of these readings is by a model that is unfit."""
        if not self.unfit:
            return None
        models = {one.model or self.light_model for one in readings if one.light is not None}
        return next((self.unfit[model] for model in sorted(models) if model in self.unfit), None)


def out_words(phases: TwoPhases, readings: Sequence[Reading], drawn: dict[str, float]) -> str:
    """Why the light judge is out, in words: by its calibration, or since it disagrees with the strong one too often."""
    unfit = phases.unfit_words(readings)
    if unfit is not None:
        return f"light judge `{phases.light}` is out: {unfit}; the strong judge `{phases.strong}` was asked about all"
    share = phases.disagreement(doubles_of(readings, drawn))
    return (
        f"light judge `{phases.light}` is out: it disagrees with `{phases.strong}` on {share.estimate:.3f} "
        f"[{share.low:.3f}, {share.high:.3f}] of {share.n} readings, limit {phases.limit:g}; the strong judge was "
        f"asked about all"
    )


def doubles_of(readings: Iterable[Reading], drawn: dict[str, float]) -> list[Reading]:
    """The drawn readings that have both scores."""
    return [one for one in readings if one.unit in drawn and one.light is not None and one.strong is not None]


def strata(readings: Iterable[Reading], drawn: dict[str, float], phases: TwoPhases) -> list[dict[str, object]]:
    """Each stratum with how many it has, how many were drawn, and the probability."""
    named = [(phases.stratum(one.tool, one.light), one.unit) for one in readings if one.light is not None]
    whole = Counter(name for name, _ in named)
    chosen = Counter(name for name, unit in named if unit in drawn)
    return [
        {"stratum": name, "n": n, "drawn": chosen[name], "probability": chosen[name] / n}
        for name, n in sorted(whole.items())
    ]


def reading_of(result: InterpretationResult) -> Reading | None:
    """What of a result counts; `None` where it has no score."""
    if result.status != "EVALUATED" or result.score is None:
        return None
    return Reading(
        result.step_id, result.tool, result.agent_version, result.case_id or result.trace_id or result.step_id,
        result.score, result.light_score, result.strong_score,
        result.judges[0].model if result.light_score is not None and result.judges else None,
    )  # fmt: skip
