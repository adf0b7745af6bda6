"""The figures of `interpretation`: fidelity in all, by tool and by agent version; flags; what two judges show together.

*Fidelity* is the mean over readings, with an interval clustered by case (a trace without a case is one). With a light
and a strong judge it is the two-phase estimate: the light scores of all, corrected by the doubles. It estimates what
the strong judge would say about all readings, not what people would say. Once the strong judge has read everything,
it is the plain mean of its scores. `light` beside it is the light judge's own mean, uncorrected.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.grade.interpretation import Mapping, fidelity, lowest
from rightcall.run.interpretation.sampling import FEW, Reading, TwoPhases, doubles_of, reading_of, strata
from rightcall.stats.clusters import clustered_share
from rightcall.stats.ordinal import LEVELS, mean_score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rightcall.grade.interpretation import InterpretationResult
    from rightcall.stats.intervals import Estimate
    from rightcall.trace.segments import Segment

TO_WHOM = "calibrated to the strong judge, not to people"
_LISTED = 200
"""How many calls without a reading are listed."""

NO_VERSION = "(not recorded)"


class Skipped(Struct, frozen=True):
    """A call without a reading, and why: `no_result` (not captured) or `no_reading` (nothing followed)."""

    step_id: str
    tool: str
    reason: str


def nothing_to_judge(segment: Segment) -> str | None:
    """Why a segment has no reading to judge; `None` if it has."""
    if segment.status == "no_result":
        return "no_result"
    return "no_reading" if segment.status == "implicit" and segment.next_action is None else None


@dataclass
class InterpretationAggregate:
    """The figures of `interpretation` (SPEC §7.4).

    Attributes:
        mapping, min_fidelity, phases: as the run has them.
        skips: the calls without a reading, which the run lists.
    """

    mapping: Mapping
    min_fidelity: float
    phases: TwoPhases | None
    skips: Sequence[Skipped]
    readings: list[Reading] = field(default_factory=list)
    excluded: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    flags: dict[str, Counter[str]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    actions: list[tuple[float, str]] = field(default_factory=list)
    with_values: int = 0
    unexplained: int = 0
    _chances: dict[str, float] = field(default_factory=dict)

    def add(self, result: InterpretationResult) -> None:
        """Count one result."""
        one = reading_of(result)
        if one is None:
            self.excluded[result.tool, result.agent_version] += 1
            return
        self.readings.append(one)
        self.statuses[result.reading] += 1
        self.levels[f"{one.score:g}"] += 1
        kinds = [flag["kind"] for flag in result.misinterpretation_flags or ()]
        self.flags.setdefault(one.tool, Counter()).update(kinds)
        self.with_values += bool(result.unsupported_values)
        self.unexplained += any(not value.also_in for value in result.unsupported_values)
        if result.action_score is not None:
            self.actions.append((float(result.action_score), one.cluster))

    def summary(self) -> dict[str, Any]:
        """Fidelity in all and by tool and version, flags, levels, what was skipped, how the two judges agree."""
        drawn = {} if self.phases is None else self.phases.drawn(self.readings)
        self._chances = {} if self.phases is None else self.phases.probabilities(self.readings)
        actions = [score for score, _ in self.actions]
        return {
            "mapping": self.mapping,
            **self._means(self.readings, drawn, self.excluded.total()),
            "by_tool": self._by("tool", drawn, lambda one: one.tool),
            "by_version": self._by("version", drawn, lambda one: one.version or NO_VERSION),
            "flags": dict(self._kinds().most_common()),
            "levels": dict(sorted(self.levels.items())),
            "readings": dict(sorted(self.statuses.items())),
            "below_limit": {"limit": self.min_fidelity, "share": _plain(self._below())},
            "unsupported_values": {"readings": self.with_values, "unexplained": self.unexplained},
            "action_score": _plain(
                mean_score(
                    actions, [cluster for _, cluster in self.actions],
                    excluded=self.excluded.total() + len(self.readings) - len(actions),
                )
            ),
            "without_reading": {
                "n": len(self.skips),
                "by_reason": dict(sorted(Counter(one.reason for one in self.skips).items())),
                "listed": msgspec.to_builtins(self.skips[:_LISTED]),
            },
            "two_judges": None if self.phases is None else two_judges(self.phases, self.readings, drawn),
        }  # fmt: skip

    def _kinds(self) -> Counter[str]:
        return sum(self.flags.values(), Counter())

    def _by(self, name: str, drawn: dict[str, float], key: Callable[[Reading], str]) -> list[dict[str, Any]]:
        """A row for each tool or version, most readings first."""
        groups: dict[str, list[Reading]] = {}
        for one in self.readings:
            groups.setdefault(key(one), []).append(one)
        left: Counter[str] = Counter()
        for (tool, version), n in self.excluded.items():
            left[tool if name == "tool" else version or NO_VERSION] += n
        for only in left.keys() - groups.keys():
            groups[only] = []
        rows = []
        for value, group in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0])):
            row = {name: value, "n": len(group), **self._means(group, drawn, left[value])}
            if name == "tool":
                row["flags"] = self.flags.get(value, Counter()).total()
            rows.append(row)
        return rows

    def _means(self, group: Sequence[Reading], drawn: dict[str, float], excluded: int) -> dict[str, Any]:
        """The fidelity of some readings, how it was made, and the light judge's own mean if there are two."""
        plain = self._mean(group, [one.score for one in group], excluded)
        if self.phases is None:
            return {"fidelity": _plain(plain), "estimator": "mean", "light": None, "doubles": None}
        light = [one.light for one in group if one.light is not None]
        found = {
            "light": _plain(self._mean([one for one in group if one.light is not None], light, excluded)),
            "doubles": len(doubles_of(group, drawn)),
        }
        if group and all(one.strong is not None for one in group):
            return {"fidelity": _plain(plain), "estimator": "strong_all", **found}
        return {"fidelity": _plain(self._corrected(group, drawn, excluded)), "estimator": "two_phase", **found}

    def _mean(self, group: Sequence[Reading], scores: Sequence[float], excluded: int) -> Estimate:
        values = [fidelity(score, self.mapping) for score in scores]
        scale = (lowest(self.mapping), 1.0)
        return mean_score(values, [one.cluster for one in group], scale=scale, excluded=excluded)

    def _corrected(self, group: Sequence[Reading], drawn: dict[str, float], excluded: int) -> Estimate:
        """The two-phase estimate; a reading that was asked about beyond the draw counts as not asked."""
        from rightcall.stats.two_phase import two_phase

        phases = self.phases
        assert phases is not None  # noqa: S101 - only called where there are two judges
        rows = [(one, one.light) for one in group if one.light is not None]
        return two_phase(
            [fidelity(light, self.mapping) for _, light in rows],
            [
                fidelity(one.strong, self.mapping) if one.strong is not None and one.unit in drawn else None
                for one, _ in rows
            ],
            [phases.stratum(one.tool, light) for one, light in rows],
            [self._chances[one.unit] for one, _ in rows],
            clusters=[one.cluster for one, _ in rows], scale=(lowest(self.mapping), 1.0), excluded=excluded,
        ).estimate  # fmt: skip

    def _below(self) -> Estimate:
        """Share of readings below the limit for review, by the scores that stand; not corrected."""
        counts: dict[str, list[int]] = {}
        for one in self.readings:
            count = counts.setdefault(one.cluster, [0, 0])
            count[0] += fidelity(one.score, self.mapping) < self.min_fidelity
            count[1] += 1
        return clustered_share(((low, n) for low, n in counts.values()), excluded=self.excluded.total())


def two_judges(phases: TwoPhases, readings: Sequence[Reading], drawn: dict[str, float]) -> dict[str, Any]:
    """What the doubles show about the light judge: agreement, leniency, whether it will do."""
    from rightcall.stats.agreement import kappa, mean_difference, within_one

    doubles = doubles_of(readings, drawn)
    pairs = [(one.light, one.strong) for one in doubles if one.light is not None and one.strong is not None]
    fidelities = [(fidelity(a, phases.mapping), fidelity(b, phases.mapping)) for a, b in pairs]
    cases = [one.cluster for one in doubles]
    unfit = phases.unfit_words(readings)
    levels, scale = phases.mapping != "direct", (lowest(phases.mapping), 1.0)
    return {
        "light": phases.light,
        "strong": phases.strong,
        "to_whom": TO_WHOM,
        "share": phases.share,
        "seed": phases.seed,
        "drawn": len(drawn),
        "doubles": len(doubles),
        "few": len(doubles) < FEW,
        "kappa": _plain(kappa(pairs, weights="quadratic", labels=LEVELS, clusters=cases)) if levels else None,
        "within_one": _plain(within_one(pairs, clusters=cases)) if levels else None,
        "light_is_lenient_by": _plain(mean_difference(fidelities, clusters=cases, scale=scale)),
        "disagreement": _plain(phases.disagreement(doubles)),
        "limit": phases.limit,
        "light_is_out": phases.is_out(doubles) or unfit is not None,
        **({} if unfit is None else {"light_unfit": unfit}),
        "strata": strata(readings, drawn, phases),
    }


def _plain(estimate: Estimate) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(estimate)
    return found
