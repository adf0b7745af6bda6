"""Agents on one scale: references, other ways to the same numbers, and games that do not connect."""

import random
from itertools import combinations
from math import exp, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import ROWS, needs_reference, untimed

from rightcall.errors import ConfigError
from rightcall.stats.bradley_terry import Game, bradley_terry, elo

NAMES = "abcd"
GAMES = st.lists(
    st.tuples(st.permutations(NAMES).map(lambda names: tuple(names[:2])), st.sampled_from(["first", "second", "tie"])).map(
        lambda drawn: Game(*drawn[0], drawn[1])
    ),
    min_size=1, max_size=30,
)  # fmt: skip
TURNED = {"first": "second", "second": "first", "tie": "tie"}


def abilities(ranking):
    return {standing.name: standing.ability.estimate for standing in ranking.standings}


def ranks(ranking):
    return {standing.name: (standing.rank.low, standing.rank.estimate, standing.rank.high) for standing in ranking.standings}  # fmt: skip


def baseball():
    row = ROWS["R74"]
    teams, wins = row["input"]["items"], row["input"]["wins_matrix"]
    return teams, [Game(teams[i], teams[j], "first") for i in range(7) for j in range(7) for _ in range(int(wins[i][j]))]  # fmt: skip


def davidson_games():
    games = []
    for first, second, wins, losses, ties in ROWS["R76"]["input"]["i,j,win_i,win_j,ties"]:
        for result, n in (("first", wins), ("second", losses), ("tie", ties)):
            games += [Game(str(first), str(second), result)] * n
    return games


@needs_reference
def test_reference_abilities_and_errors():
    teams, games = baseball()
    found = bradley_terry(games, reference="Baltimore")
    by_name = {standing.name: standing.ability for standing in found.standings}
    assert [by_name[team].estimate for team in teams] == pytest.approx(ROWS["R74"]["expected"], abs=ROWS["R74"]["tolerance"])  # fmt: skip
    errors = [(by_name[team].high - by_name[team].low) / 2 / 1.9599639845 for team in teams[:-1]]
    assert errors == pytest.approx(ROWS["R75"]["expected"], abs=ROWS["R75"]["tolerance"])
    assert (by_name["Baltimore"].low, by_name["Baltimore"].reason) == (None, "the reference is 0")
    assert (found.regularised, found.log_tie.reason) == (False, "no ties in the model")
    assert ranks(found)["Milwaukee"] == (1, 1, 5)


@needs_reference
def test_reference_values_of_the_model_with_ties():
    row = ROWS["R76"]
    found = bradley_terry(davidson_games(), reference="2")
    values = abilities(found)
    assert [values["0"], values["1"], found.log_tie.estimate] == pytest.approx(row["expected"], abs=row["tolerance"])


@needs_reference
def test_reference_ratings_of_elo():
    row = ROWS["R77"]
    games = [
        Game(one, other, {1: "first", 0.5: "tie", 0: "second"}[score]) for one, other, score in row["input"]["games"]
    ]
    found = elo(games, k=row["parameters"]["K"])
    assert [found[name] for name in ("m1", "m2", "m3")] == pytest.approx(row["expected"], abs=row["tolerance"])
    assert elo(games[::-1]) != pytest.approx(found)


@needs_reference
def test_the_errors_with_ties_are_those_of_the_likelihood():
    """Against numeric second derivatives at the maximum of the likelihood as Davidson wrote it."""
    import numpy as np

    games = davidson_games()

    def likelihood(at):
        theta, total = (at[0], at[1], 0.0), 0.0
        for game in games:
            one, other = exp(theta[int(game.first)]), exp(theta[int(game.second)])
            tie = exp(at[2]) * sqrt(one * other)
            total += log({"first": one, "second": other, "tie": tie}[game.result] / (one + other + tie))
        return total

    found = bradley_terry(games, reference="2")
    values = abilities(found)
    best, step = np.array([values["0"], values["1"], found.log_tie.estimate]), 1e-3
    unit = np.eye(3) * step
    hessian = np.array([[
        (likelihood(best + u + v) - likelihood(best + u - v) - likelihood(best - u + v) + likelihood(best - u - v)) / 4 / step**2
        for v in unit] for u in unit])  # fmt: skip
    errors = np.sqrt(np.diag(np.linalg.inv(-hessian)))
    shown = {standing.name: standing.ability for standing in found.standings}
    assert [(x.high - x.low) / 2 / 1.9599639845 for x in (shown["0"], shown["1"], found.log_tie)] == pytest.approx(list(errors), rel=1e-3)  # fmt: skip


def test_two_agents_have_the_log_odds_of_their_games():
    games = [Game("a", "b", "first")] * 30 + [Game("b", "a", "first")] * 15
    found = bradley_terry(games)
    assert found.difference("a", "b").estimate == pytest.approx(log(2))
    assert found.probability("a", "b").estimate == pytest.approx(2 / 3)
    half = found.difference("a", "b").high - log(2)
    assert half == pytest.approx(1.959964 * sqrt(1 / 30 + 1 / 15), rel=1e-5)
    assert found.difference("a", "b").n == 45


def test_a_tie_as_half_a_win_says_so():
    games = [Game("a", "b", "first")] * 8 + [Game("a", "b", "second")] * 2 + [Game("a", "b", "tie")] * 10
    half, left_out = bradley_terry(games, ties="half"), bradley_terry(games, ties="drop")
    assert half.difference("a", "b").estimate == pytest.approx(log(13 / 7))
    assert left_out.difference("a", "b").estimate == pytest.approx(log(4))
    assert "a tie is half a win" in half.method
    assert bradley_terry(games).difference("a", "b").estimate == pytest.approx(log(4))


@untimed
@given(GAMES, st.randoms(use_true_random=False))
def test_neither_sequence_nor_side_matters(games, dice):
    turned = [Game(game.second, game.first, TURNED[game.result]) if dice.random() < 0.5 else game for game in games]
    dice.shuffle(turned)
    found, again = bradley_terry(games), bradley_terry(turned)
    assert abilities(found) == pytest.approx(abilities(again), abs=1e-6)
    assert ranks(found) == ranks(again)
    assert found.regularised == again.regularised


@untimed
@given(GAMES)
def test_every_figure_is_finite_and_lies_in_its_interval(games):
    found = bradley_terry(games)
    size = len(found.standings)
    assert sum(abilities(found).values()) == pytest.approx(0, abs=1e-8)
    for standing in found.standings:
        assert standing.ability.low <= standing.ability.estimate <= standing.ability.high
        assert 1 <= standing.rank.low <= standing.rank.estimate <= standing.rank.high <= size
        assert standing.wins + standing.losses + standing.ties == standing.rank.n
    for one, other in combinations(found.names, 2):
        there, back = found.difference(one, other), found.difference(other, one)
        assert there.low == pytest.approx(-back.high)
        assert 0 <= found.probability(one, other).low <= found.probability(one, other).high <= 1


@untimed
@given(GAMES)
def test_reversing_every_result_reverses_the_ranking(games):
    found = bradley_terry(games)
    back = bradley_terry([game._replace(result=TURNED[game.result]) for game in games])
    assert abilities(back) == pytest.approx({name: -value for name, value in abilities(found).items()}, abs=1e-6)


def test_an_agent_that_never_lost_makes_pseudo_wins_and_says_so():
    found = bradley_terry([Game("a", "b", "first")] * 9 + [Game("b", "c", "first"), Game("c", "b", "first")])
    assert found.regularised
    assert found.reason == "no wins lead from b to a, so that abilities would be infinite"
    assert found.method.endswith("0.1 pseudo-wins")
    assert found.standings[0].name == "a"


def test_two_groups_that_never_met_are_not_ranked_against_each_other_surely():
    games = [Game("a", "b", "first"), Game("b", "a", "first"), Game("c", "d", "first"), Game("d", "c", "first")] * 20
    found = bradley_terry(games)
    assert found.regularised
    assert found.reason == "no wins lead from a to c, so that abilities would be infinite"
    assert all(rank == (1, 1, 4) for rank in ranks(found).values())


def test_wins_that_go_round_connect():
    found = bradley_terry([Game("a", "b", "first"), Game("b", "c", "first"), Game("c", "a", "first")])
    assert not found.regularised
    assert abilities(found) == pytest.approx({"a": 0, "b": 0, "c": 0}, abs=1e-9)
    assert ranks(found) == {"a": (1, 1, 3), "b": (1, 1, 3), "c": (1, 1, 3)}


def test_games_of_one_case_are_not_independent():
    dice, games = random.Random(4), []
    for case in range(40):
        result = "first" if dice.random() < 0.6 else "second"
        games += [Game("a", "b", result, case)] * 5
    clustered, plain = bradley_terry(games), bradley_terry([game._replace(cluster=None) for game in games])
    assert clustered.difference("a", "b").estimate == plain.difference("a", "b").estimate
    wide, narrow = clustered.difference("a", "b"), plain.difference("a", "b")
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(sqrt(5), rel=0.03)
    assert "clustered in 40 cases" in clustered.method


def test_each_game_a_case_of_its_own_is_not_clustered():
    games = [Game("a", "b", "first", number) for number in range(5)] + [Game("a", "b", "second", 7)]
    assert bradley_terry(games) == bradley_terry([game._replace(cluster=None) for game in games])


def test_games_of_one_single_case_have_no_interval():
    found = bradley_terry([Game("a", "b", "first", 1), Game("a", "b", "first", 1), Game("a", "b", "second", 1)])
    ability = found.standings[0].ability
    assert (ability.low, ability.reason) == (None, "the games of one case have no interval")
    assert found.probability("a", "b").reason == ability.reason
    assert ranks(found) == {"a": (1, 1, 2), "b": (1, 2, 2)}


@pytest.mark.slow
def test_intervals_of_abilities_and_ranks_cover_as_they_say():
    true = {"a": 0.6, "b": 0.2, "c": 0.0, "d": -0.8}
    dice, runs, held, ranked = random.Random(9), 300, 0, 0
    for _ in range(runs):
        games = []
        for one, other in list(combinations(true, 2)) * 30:
            draws = {
                "first": exp(true[one]),
                "second": exp(true[other]),
                "tie": 0.5 * exp((true[one] + true[other]) / 2),
            }
            games.append(Game(one, other, dice.choices(list(draws), list(draws.values()))[0]))
        found = bradley_terry(games)
        gap = found.difference("a", "d")
        held += gap.low <= 1.4 <= gap.high
        low, _, high = ranks(found)["b"]
        ranked += low <= 2 <= high
    assert held / runs >= 0.91  # 0.95, less three standard errors of 300 runs
    assert ranked / runs >= 0.91


@pytest.mark.parametrize(("games", "reason"), [([], "no games"), ([Game("a", "b", "tie")], "all games are ties, which are left out")])  # fmt: skip
def test_no_games_have_no_ranking(games, reason):
    found = bradley_terry(games, ties="drop")
    assert (found.standings, found.reason, found.log_tie.reason) == ((), reason, reason)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: bradley_terry([Game("a", "a", "tie")]),
        lambda: bradley_terry([Game("a", "b", "A")]),
        lambda: bradley_terry([Game("a", "b", "tie")], reference="c"),
        lambda: bradley_terry([Game("a", "b", "tie")]).difference("a", "c"),
    ],
)
def test_games_that_cannot_be_are_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"
