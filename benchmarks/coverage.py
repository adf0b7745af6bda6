"""How often each interval holds the true value, by simulation, against what it claims.

    python benchmarks/coverage.py [--runs 1.0] [--only TEXT]

Data are drawn from a known truth again and again, from a generator with a fixed seed for each row, and each time it is
seen whether the interval holds the truth. `at least` intervals claim never to hold it less often than they say; the
others claim to be about right, here: at most 2.5 points below. Rows that claim `nothing` are known to be short; they
show by how much. A row misses its claim where it is below by more than
three standard errors of the simulation, and the script then ends with 1. Draws without an interval are told in a column
of their own and left out of the coverage. `--runs 5` is five times as many draws.
"""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from math import exp, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rightcall.stats.agreement import kappa
from rightcall.stats.alpha import krippendorff_alpha
from rightcall.stats.bounds import lower_bound, worth_of
from rightcall.stats.bradley_terry import Game, bradley_terry
from rightcall.stats.calibration import brier, calibration_line
from rightcall.stats.clusters import clustered_share, mean_share
from rightcall.stats.correlation import kendall, spearman
from rightcall.stats.discrimination import aurc, auroc
from rightcall.stats.gwet import gwet_ac
from rightcall.stats.intervals import Estimate, clopper_pearson, wilson
from rightcall.stats.labelled import ppi, ppi_plus_plus, stratified_mean
from rightcall.stats.ordinal import mean_score
from rightcall.stats.paired import newcombe, paired_scores, tango
from rightcall.stats.pairwise import net_win_rate
from rightcall.stats.prevalence import Interval, rogan_gladen
from rightcall.stats.repeats import flip_rate, pass_hat_k
from rightcall.stats.routing import routing_threshold
from rightcall.stats.sequential import confidence_sequence
from rightcall.stats.two_phase import two_phase
from rightcall.stats.weighted_table import weighted_agreement
from rightcall.stats.weighting import weighted_mean

Dice = np.random.Generator
Bounds = tuple[float | None, float | None]
Draw = Callable[[Dice], Bounds]

SLACK = 0.025
"""How far below its confidence an interval that claims to be about right may be."""

SHOWN = 500
"""How many resamples the bootstraps make here; more change the coverage by less than the simulation can see."""


class Row(NamedTuple):
    """One line of the table: interval, setting, true value, what is claimed, how many draws, and one draw."""

    name: str
    setting: str
    truth: float
    runs: int
    draw: Draw
    at_least: bool = False
    claims: bool = True
    confidence: float = 0.95


def bounds(found: Estimate) -> Bounds:
    """The interval of a figure."""
    return found.low, found.high


def flat(values: NDArray[np.float64]) -> list[float]:
    """Plain numbers."""
    return [float(value) for value in values]


# ---- proportions ----


def proportions() -> Iterator[Row]:
    """Wilson, Clopper-Pearson and the confidence sequence."""
    for p, n in ((0.5, 30), (0.8, 50), (0.95, 100), (0.98, 200)):
        setting = f"p {p}, n {n}"
        yield Row("wilson", setting, p, 4000, lambda d, p=p, n=n: bounds(wilson(int(d.binomial(n, p)), n)))  # type: ignore[misc]
        yield Row(
            "clopper-pearson", setting, p, 4000,
            lambda d, p=p, n=n: bounds(clopper_pearson(int(d.binomial(n, p)), n)), at_least=True,  # type: ignore[misc]
        )  # fmt: skip
        yield Row(
            "clopper-pearson lower", setting, p, 4000,
            lambda d, p=p, n=n: bounds(clopper_pearson(int(d.binomial(n, p)), n, sided="lower")), at_least=True,  # type: ignore[misc]
        )  # fmt: skip
    yield Row("confidence sequence", "p 0.55, looked at after each of 200", 0.55, 200, _sequence, at_least=True)


def _sequence(dice: Dice) -> Bounds:
    """The part that all looks have in common: it holds the truth only if each of them does."""
    low, high, wins = 0.0, 1.0, 0
    for n, won in enumerate(dice.random(200) < 0.55, start=1):
        wins += int(won)
        found = confidence_sequence(wins, n - wins)
        low, high = max(low, found.low or 0.0), min(high, found.high or 1.0)
    return low, high


# ---- clusters ----


def clusters() -> Iterator[Row]:
    """Shares and means of cases that rise and fall together; repeats."""
    for cases, within in ((20, 5), (50, 4)):
        for p in (0.4, 0.9):

            def draw(dice: Dice, cases: int = cases, within: int = within, p: float = p) -> Bounds:
                return bounds(
                    clustered_share([(int(dice.binomial(within, q)), within) for q in _levels(dice, cases, p)])
                )

            yield Row("clustered share", f"p {p}, {cases} cases of {within}, rho 1/3", p, 1500, draw)
            yield Row("gate bound", f"p {p}, {cases} cases of {within}, rho 1/3", p, 1500,
                      lambda d, c=cases, w=within, p=p: _gate(d, c, w, p), at_least=True)  # type: ignore[misc]  # fmt: skip
    yield Row(
        "gate bound", "p 0.97, 60 cases of 3, rho 1/3", 0.97, 1500, lambda d: _gate(d, 60, 3, 0.97), at_least=True
    )
    yield Row("mean of shares", "3 tools over 40 cases", 0.8, 800, _shares)
    yield Row("mean score (t)", "levels 1 to 5, n 30", 3.5, 2000, lambda d: bounds(mean_score(_scores(d, 30))))
    yield Row("mean score (t)", "clustered, 25 cases of 4", 3.5, 1500, _clustered_score)
    yield Row("pass^2", "40 cases of 4 trials", _pass_two(), 1500, _passes)
    yield Row("flip rate", "40 cases of 4 trials", 2 * (0.6 - _pass_two()), 1500, _flipped)


def _levels(dice: Dice, cases: int, p: float) -> list[float]:
    """The share of each case: beta with mean p, so that two trials of a case correlate by 1/3."""
    return flat(dice.beta(2 * p, 2 * (1 - p), size=cases))


def _gate(dice: Dice, cases: int, within: int, p: float) -> Bounds:
    """The one-sided bound that a gate holds against a limit."""
    sums = np.array([float(dice.binomial(within, q)) for q in _levels(dice, cases, p)])
    sizes = np.full(cases, float(within))
    worth = worth_of(sums, sizes, 0.95)
    return lower_bound(float(sums.sum() / sizes.sum()), worth.effective, 0.95), 1.0


def _shares(dice: Dice) -> Bounds:
    tools: list[dict[Hashable, tuple[int, int]]] = [{}, {}, {}]
    for case in range(40):
        level = dice.normal(0, 0.1)
        for tool, p in zip(tools, (0.7, 0.8, 0.9), strict=True):
            tool[case] = (int(dice.binomial(2, min(1.0, max(0.0, p + (level if abs(level) < 0.1 else 0.0))))), 2)
    return bounds(mean_share(tools))


LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)
SHARES = (0.05, 0.15, 0.25, 0.35, 0.20)


def _scores(dice: Dice, n: int) -> list[float]:
    return flat(dice.choice(LEVELS, size=n, p=SHARES))


def _clustered_score(dice: Dice) -> Bounds:
    base = np.repeat(dice.choice([-0.5, 0.5], size=25), 4)
    values = flat(3.5 + base + dice.choice([-1.0, 0.0, 1.0], size=100))
    return bounds(mean_score(values, [place // 4 for place in range(100)]))


def _pass_two() -> float:
    """E[q²] of the beta with mean 0.6 and total 2."""
    return 0.6**2 + 0.6 * 0.4 / 3


def _passes(dice: Dice) -> Bounds:
    return bounds(pass_hat_k([(int(dice.binomial(4, q)), 4) for q in _levels(dice, 40, 0.6)], 2))


def _flipped(dice: Dice) -> Bounds:
    return bounds(flip_rate([[bool(held) for held in dice.random(4) < q] for q in _levels(dice, 40, 0.6)]))


# ---- agreement ----

BINARY = np.array([[0.25, 0.06], [0.09, 0.60]])
ORDINAL = np.array(
    [
        [0.08, 0.03, 0.01, 0.00, 0.00],
        [0.02, 0.10, 0.04, 0.01, 0.00],
        [0.01, 0.03, 0.14, 0.05, 0.01],
        [0.00, 0.01, 0.05, 0.15, 0.06],
        [0.00, 0.00, 0.01, 0.06, 0.13],
    ]
)


def _pairs(dice: Dice, joint: NDArray[np.float64], n: int) -> list[tuple[int, int]]:
    cells = dice.choice(joint.size, size=n, p=joint.ravel())
    return [(int(cell) // len(joint), int(cell) % len(joint)) for cell in cells]


def _cohen(joint: NDArray[np.float64], power: int) -> float:
    place = np.arange(len(joint))
    apart = np.abs(place[:, None] - place[None, :]) ** power if power else (place[:, None] != place[None, :])
    return float(1 - (apart * joint).sum() / (apart * np.outer(joint.sum(1), joint.sum(0))).sum())


def _alpha(joint: NDArray[np.float64]) -> float:
    pooled = (joint.sum(0) + joint.sum(1)) / 2
    return float(1 - (1 - np.trace(joint)) / (1 - (pooled**2).sum()))


def _gwet(joint: NDArray[np.float64]) -> float:
    pooled = (joint.sum(0) + joint.sum(1)) / 2
    chance = float((pooled * (1 - pooled)).sum() / (len(joint) - 1))
    return (float(np.trace(joint)) - chance) / (1 - chance)


def _rho(joint: NDArray[np.float64]) -> float:
    x, y = (np.cumsum(margin) - margin / 2 for margin in (joint.sum(1), joint.sum(0)))
    x, y = x - 0.5, y - 0.5
    spread = sqrt(float((joint.sum(1) * x**2).sum() * (joint.sum(0) * y**2).sum()))
    return float(x @ joint @ y) / spread


def _tau(joint: NDArray[np.float64]) -> float:
    size, same = len(joint), 0.0
    for i in range(size):
        for j in range(size):
            same += joint[i, j] * (joint[:i, :j].sum() + joint[i + 1 :, j + 1 :].sum())
            same -= joint[i, j] * (joint[:i, j + 1 :].sum() + joint[i + 1 :, :j].sum())
    untied = [1 - float((joint.sum(axis) ** 2).sum()) for axis in (0, 1)]
    return same / sqrt(untied[0] * untied[1])


def agreement() -> Iterator[Row]:
    """Two raters: kappa, alpha, AC1, rank correlations; all by the bootstrap."""
    labels, runs = range(5), 400
    for n in (50, 100, 200):
        yield Row(
            "kappa (bootstrap)", f"2 labels, n {n}", _cohen(BINARY, 0), runs,
            lambda d, n=n: bounds(kappa(_pairs(d, BINARY, n), resamples=SHOWN)),  # type: ignore[misc]
        )  # fmt: skip
    yield Row(
        "kappa quadratic (bootstrap)", "levels 1 to 5, n 100", _cohen(ORDINAL, 2), runs,
        lambda d: bounds(kappa(_pairs(d, ORDINAL, 100), weights="quadratic", labels=labels, resamples=SHOWN)),
    )  # fmt: skip
    yield Row(
        "alpha nominal (bootstrap)", "2 raters, n 100", _alpha(BINARY), runs,
        lambda d: bounds(krippendorff_alpha(_pairs(d, BINARY, 100), resamples=SHOWN)),
    )  # fmt: skip
    yield Row(
        "AC1 (bootstrap)", "2 raters, n 100", _gwet(BINARY), runs,
        lambda d: bounds(gwet_ac(_pairs(d, BINARY, 100), labels=(0, 1), resamples=SHOWN)),
    )  # fmt: skip
    yield Row("weighted kappa (bootstrap)", "doubtful certain, others 1 in 4, n ~200", _cohen(BINARY, 0), runs // 2,
              _weighted_kappa)  # fmt: skip
    yield Row("spearman (bootstrap)", "levels 1 to 5, n 100", _rho(ORDINAL), runs // 2,
              lambda d: bounds(spearman(_pairs(d, ORDINAL, 100), resamples=SHOWN)))  # fmt: skip
    yield Row("kendall tau-b (bootstrap)", "levels 1 to 5, n 100", _tau(ORDINAL), runs // 2,
              lambda d: bounds(kendall(_pairs(d, ORDINAL, 100), resamples=SHOWN)))  # fmt: skip


# ---- comparisons ----


def _weighted_kappa(dice: Dice) -> Bounds:
    """Of 480 items a third is drawn for certain and the others one time in four: doubtful ones, judge says 0."""
    items = _pairs(dice, BINARY, 480)
    chances = [1.0 if first == 0 else 0.25 for first, _ in items]
    drawn = [(pair, chance) for pair, chance in zip(items, chances, strict=True) if dice.random() < chance]
    return bounds(
        weighted_agreement([pair for pair, _ in drawn], [chance for _, chance in drawn], 2, "kappa", resamples=SHOWN)
    )


def comparisons() -> Iterator[Row]:
    """Two agents: differences of shares and scores, and win rates."""
    for p, q, n in ((0.9, 0.8, 50), (0.95, 0.93, 100), (0.6, 0.5, 30)):
        yield Row(
            "newcombe", f"{p} against {q}, n {n} each", p - q, 3000,
            lambda d, p=p, q=q, n=n: bounds(newcombe((int(d.binomial(n, p)), n), (int(d.binomial(n, q)), n))),  # type: ignore[misc]
        )  # fmt: skip
    for gained, lost, n in ((0.1, 0.05, 50), (0.1, 0.05, 200), (0.02, 0.02, 100)):

        def draw(dice: Dice, gained: float = gained, lost: float = lost, n: int = n) -> Bounds:
            b, c, _ = dice.multinomial(n, [gained, lost, 1 - gained - lost])
            return bounds(tango(int(b), int(c), n))

        yield Row("tango", f"gained {gained}, lost {lost}, n {n}", gained - lost, 800, draw)
    yield Row("paired scores (bootstrap)", "40 cases of 3", 0.0, 500, _paired)
    yield Row("net win rate (bootstrap)", "win .4 tie .3 loss .3, n 60", 0.55, 500, _net)
    yield Row("bradley-terry", "3 agents, 40 games a pair", 0.8, 300, _ranked)


def _paired(dice: Dice) -> Bounds:
    hard = np.repeat(dice.uniform(0.3, 0.7, size=40), 3)
    apart = np.repeat(dice.uniform(-0.1, 0.1, size=40), 3)
    new, old = (flat(hard + side * apart + dice.uniform(-0.1, 0.1, size=120)) for side in (1, -1))
    cases = [place // 3 for place in range(120)]
    return bounds(paired_scores(list(zip(new, old, strict=True)), clusters=cases, resamples=SHOWN))


def _net(dice: Dice) -> Bounds:
    return bounds(net_win_rate(flat(dice.choice([1.0, 0.5, 0.0], size=60, p=[0.4, 0.3, 0.3])), resamples=SHOWN))


def _ranked(dice: Dice) -> Bounds:
    ability = {"a": 0.8, "b": 0.0, "c": -0.5}
    games = []
    for first, second in (("a", "b"), ("a", "c"), ("b", "c")):
        chance = 1 / (1 + exp(ability[second] - ability[first]))
        games += [Game(first, second, "first" if won else "second") for won in dice.random(40) < chance]
    return bounds(bradley_terry(games).difference("a", "b"))


# ---- estimates from a labelled part ----


def labelled() -> Iterator[Row]:
    """Two-phase, prediction-powered, stratified and weighted means, and corrected shares."""
    yield Row("two-phase", "300 items, 60 doubled, regression", 3.0, 400, _two_phase)
    yield Row("two-phase", "300 items, 60 doubled, 3 strata, 60 traces", 3.0, 300, _two_phase_clustered)
    yield Row("ppi", "60 labels, 300 others", 3.0, 1500, lambda d: bounds(ppi(*_predicted(d))))
    yield Row("ppi++", "60 labels, 300 others", 3.0, 1500, lambda d: bounds(ppi_plus_plus(*_predicted(d))))
    yield Row("stratified mean", "800 and 200 items, 40 labels each", 0.0, 1500, _stratified)
    yield Row("weighted share", "doubtful cases certain, others 1 in 10", 0.86, 1500, _weighted)
    yield Row("weighted mean", "levels 1 to 5, chances .1 to 1", 3.5, 1500, _weighted_levels)
    kinds: Sequence[Interval] = ("delta", "adjusted", "bootstrap")
    for share, se, sp, n in ((0.8, 0.9, 0.85, 100), (0.9, 0.95, 0.8, 30)):
        for kind in kinds:

            def draw(
                dice: Dice, kind: Interval = kind, share: float = share, se: float = se, sp: float = sp, n: int = n
            ) -> Bounds:
                judged = int(dice.binomial(1000, share * se + (1 - share) * (1 - sp)))
                caught, cleared = int(dice.binomial(n, se)), int(dice.binomial(n, sp))
                found = rogan_gladen((judged, 1000), (caught, n), (cleared, n), interval=kind, resamples=SHOWN)
                return bounds(found.estimate)

            setting = f"share {share}, Se {se}, Sp {sp}, {n} labels a class"
            yield Row(f"rogan-gladen {kind}", setting, share, 2000, draw, claims=kind == "adjusted" or n >= 100)


def _two_phase(dice: Dice) -> Bounds:
    light = dice.normal(3.5, 1, size=300)
    strong = light - 0.5 + dice.normal(0, 0.5, size=300)
    drawn = set(dice.permutation(300)[:60].tolist())
    given = [float(score) if place in drawn else None for place, score in enumerate(strong)]
    return bounds(two_phase(flat(light), given, ["all"] * 300).estimate)


def _two_phase_clustered(dice: Dice) -> Bounds:
    level = np.repeat(dice.choice([2.0, 3.0, 4.0], size=60), 5)
    light = level + dice.choice([0.0, 1.0], size=300)
    strong = level + dice.normal(0, 0.4, size=300)
    strata, given = ["low" if at < 3 else "middle" if at < 4 else "high" for at in light], [None] * 300
    found: list[float | None] = [*given]
    for name in ("low", "middle", "high"):
        places = [place for place, stratum in enumerate(strata) if stratum == name]
        for place in dice.permutation(places)[: max(3, len(places) // 5)]:
            found[int(place)] = float(strong[place])
    return bounds(two_phase(flat(light), found, strata, clusters=[place // 5 for place in range(300)]).estimate)


def _predicted(dice: Dice) -> tuple[list[float], list[float], list[float]]:
    true = dice.normal(3, 1, size=360)
    said = true + dice.normal(0.4, 0.6, size=360)
    return flat(true[:60]), flat(said[:60]), flat(said[60:])


def _stratified(dice: Dice) -> Bounds:
    """The mean of these items is known; the interval is moved by it."""
    strata = [dice.normal(1, 1, size=800), dice.normal(3, 2, size=200)]
    mean = float(np.concatenate(strata).mean())
    found = stratified_mean([(len(items), flat(dice.permutation(items)[:40])) for items in strata])
    return (found.low or 0.0) - mean, (found.high or 0.0) - mean


def _weighted(dice: Dice) -> Bounds:
    doubtful = dice.random(400) < 0.2
    right = dice.random(400) < np.where(doubtful, 0.5, 0.95)
    chance = np.where(doubtful, 1.0, 0.1)
    drawn = dice.random(400) < chance
    return bounds(weighted_mean(flat(right[drawn].astype(float)), flat(chance[drawn]), scale=(0, 1)).estimate)


def _weighted_levels(dice: Dice) -> Bounds:
    """Low levels are the likelier to be labelled."""
    levels = dice.choice(LEVELS, size=300, p=SHARES)
    chance = 0.1 + 0.9 * (5 - levels) / 4
    drawn = dice.random(300) < chance
    return bounds(weighted_mean(flat(levels[drawn]), flat(chance[drawn]), scale=(1, 5)).estimate)


# ---- confidence ----


def confidences() -> Iterator[Row]:
    """Stated confidences: how well they sort and what they are worth."""
    yield Row("auroc", "n 100, shift 1", 0.7602499, 1500, lambda d: bounds(auroc(*_stated(d, 100))))
    yield Row("auroc", "30 cases of 3, shift 1", 0.7602499, 1000, _clustered_auroc)
    yield Row("aurc (bootstrap)", "n 200, 4 confidences", _true_aurc(), 300, _aurc)
    yield Row("brier", "n 100, perfect judge", 0.1875 - 0.03 / 4, 1000, lambda d: bounds(brier(*_perfect(d, 100))))
    for n in (60, 200):
        yield Row("calibration slope", f"n {n}, perfect judge", 1.0, 800,
                  lambda d, n=n: bounds(calibration_line(*_perfect(d, n)).slope))  # type: ignore[misc]  # fmt: skip
    yield Row("routing, target 5 %", "n 600, error .20 - .19 confidence", 0.0, 600, _routed)
    yield Row("routing, target 5 %", "n 600, error .06 at any confidence", 0.0, 600, lambda d: _flat_risk(d, 0.06))
    yield Row("routing, target 5 %", "n 600, error .0501 at any confidence", 0.0, 600,
              lambda d: _flat_risk(d, 0.0501), claims=False)  # fmt: skip


def _stated(dice: Dice, n: int) -> tuple[list[float], list[bool]]:
    right = dice.random(n) < 0.7
    return flat(1 / (1 + np.exp(-(dice.normal(size=n) + right)))), [bool(held) for held in right]


def _clustered_auroc(dice: Dice) -> Bounds:
    """Within a case, answers share half of their noise; pairs of two cases, nearly all, are as without clusters."""
    right = dice.random(90) < 0.7
    noise = np.repeat(dice.normal(size=30), 3) * sqrt(0.5) + dice.normal(size=90) * sqrt(0.5)
    stated = flat(1 / (1 + np.exp(-(noise + right))))
    return bounds(auroc(stated, [bool(held) for held in right], clusters=[place // 3 for place in range(90)]))


STEPS = (0.6, 0.7, 0.8, 0.9)


def _true_aurc() -> float:
    """The mean risk of a long series: the curve over confidences that are stated equally often."""
    coverage = np.linspace(0, 1, 400_001)[1:]
    # Among equal confidences the wrong answers come first, so the risk rises and falls within each quarter.
    wrong, total = np.zeros_like(coverage), 0.0
    for index, said in enumerate(reversed(STEPS)):
        inside = np.clip(coverage - index / 4, 0, 0.25)
        wrong += np.minimum(inside, 0.25 * (1 - said))
        total += 0.25
    return float((wrong / coverage).mean()) / total


def _aurc(dice: Dice) -> Bounds:
    stated = dice.choice(STEPS, size=200)
    return bounds(aurc(flat(stated), [bool(held) for held in dice.random(200) < stated], resamples=SHOWN))


def _perfect(dice: Dice, n: int) -> tuple[list[float], list[bool]]:
    """Confidences from .6 to .9, each right as often as it says; the mean of p(1-p) is .75 x .25 - .3²/12."""
    stated = dice.uniform(0.6, 0.9, size=n)
    return flat(stated), [bool(held) for held in dice.random(n) < stated]


def _routed(dice: Dice) -> Bounds:
    """An interval that holds 0 where the error among all answers that would be accepted is within the target."""
    stated = np.round(dice.random(600), 2)
    right = dice.random(600) >= 0.20 - 0.19 * stated
    found = routing_threshold(flat(stated), [bool(held) for held in right]).threshold
    # Without a threshold nothing is accepted, and nothing that is accepted is wrong.
    return (0.0 if found is None or 0.20 - 0.19 * (found + 1) / 2 <= 0.05 else 1.0), 2.0


def _flat_risk(dice: Dice, error: float) -> Bounds:
    """No threshold is good enough, whatever is found."""
    right = [bool(held) for held in dice.random(600) >= error]
    found = routing_threshold(flat(np.round(dice.random(600), 2)), right).threshold
    return (0.0 if found is None else 1.0), 2.0


# ---- the table ----


def measured(row: Row, times: float) -> tuple[float, int, int]:
    """Coverage among draws with an interval, how many those are, and how many draws were made."""
    dice = np.random.default_rng(zlib.crc32(f"{row.name}|{row.setting}".encode()))
    runs, held, known = max(50, round(row.runs * times)), 0, 0
    for _ in range(runs):
        low, high = row.draw(dice)
        if low is not None and high is not None:
            known += 1
            held += low - 1e-12 <= row.truth <= high + 1e-12
    return (held / known if known else 0.0), known, runs


def is_missed(row: Row, coverage: float, known: int) -> bool:
    """Is the coverage below what is claimed, by more than the simulation can be off?"""
    claim = row.confidence - (0.0 if row.at_least else SLACK)
    return row.claims and known > 0 and coverage < claim - 3 * sqrt(row.confidence * (1 - row.confidence) / known)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=float, default=1.0)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    start, missed = time.perf_counter(), 0
    print(f"{'interval':28s} {'setting':46s} {'claim':>14s} {'covers':>7s} {'± sim':>6s} {'none':>6s} {'draws':>6s}")
    for rows in (proportions, clusters, agreement, comparisons, labelled, confidences):
        for row in rows():
            if arguments.only not in row.name:
                continue
            coverage, known, runs = measured(row, arguments.runs)
            below = is_missed(row, coverage, known)
            missed += below
            claim = f"{'at least' if row.at_least else 'about'} {row.confidence:g}" if row.claims else "nothing"
            off = 1.96 * sqrt(coverage * (1 - coverage) / known) if known else 0.0
            print(
                f"{row.name:28s} {row.setting:46s} {claim:>14s} {coverage:7.3f} {off:6.3f} {1 - known / runs:6.1%} "
                f"{runs:6d}{'  BELOW' if below else ''}",
                flush=True,
            )
    print(f"{missed} below their claim, {time.perf_counter() - start:.0f} s")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
