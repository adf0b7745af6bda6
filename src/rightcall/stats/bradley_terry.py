"""Many agents on one scale, from pairs of them: Bradley and Terry's model, with Davidson's for ties.

An agent has an ability; the log-odds that it beats another is the difference of the two abilities. Only differences
have a meaning, so abilities are shown against their mean, or against one agent. `elo` is for display alone: it depends
on the sequence of games.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from math import inf, log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct

from rightcall.stats.intervals import Estimate, in_cases, invalid, undefined
from rightcall.stats.logistic import chance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

Result = Literal["first", "second", "tie"]
Ties = Literal["davidson", "half", "drop"]

PSEUDO = 0.1
"""Wins each way that are added between every two agents where the wins do not connect them."""


class Game(NamedTuple):
    """One verdict on two agents. cluster: the case it belongs to, if one case gives several; `None`: to itself."""

    first: str
    second: str
    result: Result
    cluster: Hashable = None


class Standing(Struct, frozen=True, kw_only=True):
    """One agent: its games, its ability in log-odds, and its rank (1 is best) as an interval."""

    name: str
    wins: int
    losses: int
    ties: int
    ability: Estimate
    rank: Estimate


class Ranking(Struct, frozen=True, kw_only=True):
    """Agents on one scale, best first.

    Attributes:
        standings: one for each agent.
        reference: the agent whose ability is 0; `None`: the mean of all is.
        log_tie: the logarithm of Davidson's tie parameter: how many times as likely as either win a tie is at equal
            abilities.
        regularised: wins were added because the games do not connect the agents; see `reason`.
        method: model and errors.
        reason: why wins were added, or why there is no ranking.
        names, abilities, covariances: what `difference` and `probability` use: each agent's ability, and matrices of
            covariances, of which each contrast takes the wider.
    """

    standings: tuple[Standing, ...]
    reference: str | None
    log_tie: Estimate
    regularised: bool
    method: str
    reason: str | None
    names: tuple[str, ...]
    abilities: tuple[float, ...]
    covariances: tuple[tuple[tuple[float, ...], ...], ...]

    def difference(self, first: str, second: str, *, confidence: float = 0.95) -> Estimate:
        """How much abler the first is, in log-odds (Wald). Error: `STAT_VALUE_INVALID` for a name."""
        one, other = self._index(first), self._index(second)
        weights = [(index == one) - (index == other) for index in range(len(self.names))]
        games = sum(standing.wins + standing.losses + standing.ties for standing in self.standings) // 2
        value = self.abilities[one] - self.abilities[other]
        return _wald(value, _error(self.covariances, weights), games, self.method, confidence)

    def probability(self, first: str, second: str, *, confidence: float = 0.95) -> Estimate:
        """How often the first beats the second, ties left out. Error: `STAT_VALUE_INVALID` for a name."""
        found = self.difference(first, second, confidence=confidence)
        value, low, high = (None if at is None else chance(at) for at in (found.estimate, found.low, found.high))
        return Estimate(estimate=value, low=low, high=high, n=found.n, method=found.method, reason=found.reason)

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise invalid(f"no agent {name!r} is ranked", f"agents: {', '.join(self.names)}")
        return self.names.index(name)


def bradley_terry(
    games: Iterable[Game], *, ties: Ties = "davidson", reference: str | None = None, confidence: float = 0.95
) -> Ranking:
    """Rank agents by maximum likelihood.

    * P(i beats j) = π_i / (π_i + π_j) with log π the ability (R. A. Bradley and M. E. Terry, Biometrika 39, 1952).
    * `davidson`: the weights of win, loss and tie are π_i, π_j and t√(π_i π_j) (R. R. Davidson, JASA 65, 1970).
      `half`: a tie is half a win for each; a common shortcut, so the method says so. `drop`: ties are left out.
    * Errors come from the information matrix. Where cases give several games, the sandwich over cases,
      C/(C-1) Σ (scores of a case)², is computed as well, and each contrast takes the wider of both.
    * A finite maximum needs wins that lead from every agent to every other. Where they do not, 0.1 wins each way are
      added between every two agents, and `regularised` and `reason` say so.
    * Games of one single case have no intervals, and a rank that may be any.
    * Rank: 1 + how many are abler. Its interval: best 1 + how many are surely abler, worst the number of agents less
      how many it is surely abler than; "surely" by a Wald interval of the difference, with the error split over the
      other agents (Bonferroni), so that each agent's interval holds its rank as often as it says.

    Neither the sequence of games nor which agent stands first changes anything.

    Args:
        games: the verdicts.
        ties: how ties enter.
        reference: whose ability is 0; `None`: the mean is.
        confidence: of every interval.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a game of an agent against itself, or a reference that played none.
    """
    played = list(games)
    names = _names(played, reference)
    counted = _Counted(played, names, ties)
    if not counted.games:
        return _nothing(played, reference, ties)
    reason = counted.unconnected()
    fit = _Fit(counted, ties, regularised=reason is not None)
    method = f"{_NAMES[ties]}, wald {confidence:g}" + (in_cases(fit.clusters) if fit.clusters else "")
    if reason:
        method += f", {PSEUDO:g} pseudo-wins"
    return Ranking(
        standings=_standings(counted, fit, method, reference, confidence),
        reference=reference,
        log_tie=fit.log_tie(method, confidence),
        regularised=reason is not None,
        method=method,
        reason=reason,
        names=tuple(names),
        abilities=fit.abilities,
        covariances=fit.covariances,
    )


_NAMES = {"davidson": "bradley-terry-davidson", "half": "bradley-terry, a tie is half a win", "drop": "bradley-terry"}


def _names(games: Sequence[Game], reference: str | None) -> list[str]:
    for game in games:
        if game.first == game.second:
            raise invalid(f"{game.first!r} cannot play against itself")
        if game.result not in {"first", "second", "tie"}:
            raise invalid(f"{game.result!r} is not a result", "results: first, second, tie")
    names = sorted({name for game in games for name in (game.first, game.second)})
    if reference is not None and reference not in names:
        raise invalid(f"the reference {reference!r} played no game")
    return names


def _nothing(games: Sequence[Game], reference: str | None, ties: Ties) -> Ranking:
    reason = "all games are ties, which are left out" if games else "no games"
    return Ranking(
        standings=(), reference=reference, log_tie=undefined(_NAMES[ties], reason), regularised=False,
        method=_NAMES[ties], reason=reason, names=(), abilities=(), covariances=(),
    )  # fmt: skip


class _Counted:
    """Games by pair of agents: how many the first won, the second won, and neither."""

    def __init__(self, games: Sequence[Game], names: Sequence[str], ties: Ties) -> None:
        self.names = names
        self.at = {name: index for index, name in enumerate(names)}
        kept = [game for game in games if ties != "drop" or game.result != "tie"]
        self.games = [self._sorted(game) for game in kept]
        self.cells = Counter((first, second, result) for first, second, result, _ in self.games)
        self.tied = sum(n for (_, _, result), n in self.cells.items() if result == "tie")
        # A tie that is half a win for each connects both ways.
        self.ties_connect = ties == "half"

    def _sorted(self, game: Game) -> tuple[int, int, Result, Hashable]:
        first, second = self.at[game.first], self.at[game.second]
        if first < second:
            return first, second, game.result, game.cluster
        turned: dict[Result, Result] = {"first": "second", "second": "first", "tie": "tie"}
        return second, first, turned[game.result], game.cluster

    def unconnected(self) -> str | None:
        """Why the wins do not lead from every agent to every other; `None` if they do."""
        beaten: list[set[int]] = [set() for _ in self.names]
        for first, second, result in self.cells:
            if result == "first" or (result == "tie" and self.ties_connect):
                beaten[first].add(second)
            if result == "second" or (result == "tie" and self.ties_connect):
                beaten[second].add(first)
        beats = [{one for one, others in enumerate(beaten) if index in others} for index in range(len(self.names))]
        for graph, what in ((beaten, "no wins lead from {} to {}"), (beats, "no wins lead from {1} to {0}")):
            missing = sorted(set(range(len(self.names))) - _reached(graph))
            if missing:
                return what.format(self.names[0], self.names[missing[0]]) + ", so that abilities would be infinite"
        return None


def _reached(graph: Sequence[set[int]]) -> set[int]:
    """What can be reached from the first."""
    found, edge = {0}, [0]
    while edge:
        new = graph[edge.pop()] - found
        found |= new
        edge.extend(new)
    return found


class _Fit:
    """The maximum of the likelihood, by Newton's method, and its covariances.

    Parameters are the abilities (the last agent's stays 0) and, with Davidson's ties, log t. Each game is a choice
    among outcomes whose log weights are linear in them, so the likelihood is concave.
    """

    def __init__(self, counted: _Counted, ties: Ties, *, regularised: bool) -> None:
        import numpy as np

        self.size, self.games = len(counted.names), len(counted.games)
        self.with_ties = ties == "davidson" and counted.tied > 0
        self.half = ties == "half"
        cells = _cells(counted, half=self.half, regularised=regularised)
        beta = np.zeros(self.size - 1 + self.with_ties)
        beta, information = self._climb(cells, beta)
        plain = np.linalg.inv(information)
        self.clusters, sandwich = self._sandwich(counted, beta, plain)
        # Games of a single case say nothing about other cases: no covariance, and so no intervals.
        matrices = [] if self.clusters == 1 else [plain] if sandwich is None else [plain, sandwich]
        self.tie = float(beta[-1]) if self.with_ties else None
        self.tie_error = sqrt(max(float(matrix[-1, -1]) for matrix in matrices)) if matrices else None
        self.abilities = (*(float(value) for value in beta[: self.size - 1]), 0.0)
        self.covariances = tuple(self._full(matrix) for matrix in matrices)

    def _features(self, first: int, second: int) -> Numbers:
        """One row for each outcome (first, second, tie): what its log weight is made of."""
        import numpy as np

        rows = np.zeros((3 if self.with_ties else 2, self.size - 1 + self.with_ties))
        for outcome, agent in ((0, first), (1, second)):
            if agent < self.size - 1:
                rows[outcome, agent] = 1.0
        if self.with_ties:
            rows[2] = (rows[0] + rows[1]) / 2
            rows[2, -1] = 1.0
        return rows

    def _climb(self, cells: dict[tuple[int, int], list[float]], beta: Numbers) -> tuple[Numbers, Numbers]:
        import numpy as np

        for _ in range(200):
            gradient, information = np.zeros_like(beta), np.zeros((len(beta), len(beta)))
            for (first, second), counts in cells.items():
                rows = self._features(first, second)
                chances, observed = self._chances(rows, beta), np.array(counts[: len(rows)])
                gradient += rows.T @ (observed - observed.sum() * chances)
                centred = rows - chances @ rows
                information += observed.sum() * (centred.T * chances) @ centred
            step = np.linalg.solve(information, gradient)
            longest = float(np.abs(step).max())
            beta = beta + step / max(1.0, longest)
            if longest < 1e-10:
                break
        return beta, information

    def _chances(self, rows: Numbers, beta: Numbers) -> Numbers:
        from scipy.special import softmax

        chances: Numbers = softmax(rows @ beta)
        return chances

    def _sandwich(self, counted: _Counted, beta: Numbers, plain: Numbers) -> tuple[int, Numbers | None]:
        """How many cases there are and the covariance over them; 0 and `None` where each game is its own case."""
        import numpy as np

        scores: dict[Hashable, Numbers] = {}
        for number, (first, second, result, cluster) in enumerate(counted.games):
            rows = self._features(first, second)
            weights = np.array(_outcome(result, half=self.half)[: len(rows)])
            key = ("its own", number) if cluster is None else ("case", cluster)
            scores[key] = scores.get(key, np.zeros_like(beta)) + rows.T @ (weights - self._chances(rows, beta))
        size = len(scores)
        if size in {1, len(counted.games)}:
            return int(size < len(counted.games)), None
        meat = sum(np.outer(score, score) for score in scores.values()) * size / (size - 1)
        return size, plain @ meat @ plain

    def _full(self, matrix: Numbers) -> tuple[tuple[float, ...], ...]:
        """The covariance of the abilities, with the agent whose ability stays 0."""
        last = self.size - 1
        rows = [(*(float(value) for value in matrix[index, :last]), 0.0) for index in range(last)]
        return (*rows, (0.0,) * self.size)

    def log_tie(self, method: str, confidence: float) -> Estimate:
        """The logarithm of Davidson's tie parameter."""
        if self.tie is None:
            return undefined(method, "no ties in the model", n=self.games)
        return _wald(self.tie, self.tie_error, self.games, method, confidence)


def _outcome(result: Result, *, half: bool) -> list[float]:
    """What a game counts for: first, second, tie."""
    if result == "tie":
        return [0.5, 0.5, 0.0] if half else [0.0, 0.0, 1.0]
    return [1.0, 0.0, 0.0] if result == "first" else [0.0, 1.0, 0.0]


def _cells(counted: _Counted, *, half: bool, regularised: bool) -> dict[tuple[int, int], list[float]]:
    """Wins of the first, of the second, and ties, of each two agents that met."""
    cells: dict[tuple[int, int], list[float]] = {}
    if regularised:
        cells = {pair: [PSEUDO, PSEUDO, 0.0] for pair in combinations(range(len(counted.names)), 2)}
    for (first, second, result), n in sorted(counted.cells.items()):
        counts = cells.setdefault((first, second), [0.0, 0.0, 0.0])
        for outcome, weight in enumerate(_outcome(result, half=half)):
            counts[outcome] += n * weight
    return cells


def _error(covariances: Sequence[Sequence[Sequence[float]]], weights: Sequence[float]) -> float | None:
    """The standard error of a contrast, by the wider covariance; `None` without one."""
    if not covariances:
        return None
    used = [(index, weight) for index, weight in enumerate(weights) if weight]
    return sqrt(max(0.0, *(sum(u * v * matrix[i][j] for i, u in used for j, v in used) for matrix in covariances)))


def _wald(value: float, error: float | None, n: int, method: str, confidence: float) -> Estimate:
    if error is None:
        reason = "the games of one case have no interval"
        return Estimate(estimate=value, low=None, high=None, n=n, method=method, reason=reason)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    return Estimate(estimate=value, low=value - half, high=value + half, n=n, method=method)


def _standings(
    counted: _Counted, fit: _Fit, method: str, reference: str | None, confidence: float
) -> tuple[Standing, ...]:
    size, names = fit.size, counted.names
    records = [Counter[str]() for _ in names]
    for (first, second, result), n in counted.cells.items():
        for agent, won in ((first, "first"), (second, "second")):
            records[agent]["ties" if result == "tie" else "wins" if result == won else "losses"] += n
    origin = [1 / size] * size if reference is None else [float(name == reference) for name in names]
    zero = sum(weight * value for weight, value in zip(origin, fit.abilities, strict=True))
    found = []
    for index, name in enumerate(names):
        played = sum(records[index].values())
        weights = [float(index == other) - origin[other] for other in range(size)]
        ability = _wald(fit.abilities[index] - zero, _error(fit.covariances, weights), played, method, confidence)
        if name == reference:
            ability = Estimate(estimate=0.0, low=None, high=None, n=played, method=method, reason="the reference is 0")
        found.append(Standing(
            name=name, wins=records[index]["wins"], losses=records[index]["losses"], ties=records[index]["ties"],
            ability=ability, rank=_rank(index, fit, played, confidence),
        ))  # fmt: skip
    return tuple(sorted(found, key=lambda standing: -(standing.ability.estimate or 0.0)))


def _rank(index: int, fit: _Fit, n: int, confidence: float) -> Estimate:
    others = [other for other in range(fit.size) if other != index]
    z = NormalDist().inv_cdf(1 - (1 - confidence) / 2 / len(others))
    ahead = behind = above = 0
    for other in others:
        gap = fit.abilities[other] - fit.abilities[index]
        weights = [float(at == other) - float(at == index) for at in range(fit.size)]
        error = _error(fit.covariances, weights)
        sure = inf if error is None else z * error
        ahead, behind = ahead + (gap > sure), behind + (-gap > sure)
        # Equal up to what Newton's method leaves.
        above += gap > 1e-8
    method = f"pairwise wald {confidence:g}, bonferroni"
    return Estimate(estimate=1.0 + above, low=1.0 + ahead, high=float(fit.size - behind), n=n, method=method)


def elo(games: Iterable[Game], k: float = 32, start: float = 1000) -> dict[str, float]:
    """Elo ratings after the games, one by one. For display: another sequence of the same games gives others.

    Formula: r += k (score - 1 / (1 + 10^((opponent's r - r)/400))), score 1, 1/2 or 0 (A. E. Elo, The Rating of
    Chessplayers, 1978).
    """
    ratings: dict[str, float] = {}
    for game in games:
        first, second = ratings.setdefault(game.first, start), ratings.setdefault(game.second, start)
        score = {"first": 1.0, "tie": 0.5, "second": 0.0}[game.result]
        moved = k * (score - chance((first - second) * log(10) / 400))
        ratings[game.first], ratings[game.second] = first + moved, second - moved
    return ratings
