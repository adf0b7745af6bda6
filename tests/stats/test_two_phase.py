"""A light judge on all, a strong one on a part: the reference, the formula by hand, and coverage by simulation."""

import json
import random
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import FOLDER, ROWS, needs_reference, untimed

from rightcall.errors import ConfigError
from rightcall.stats.sampling import draw_stratified, probability_of
from rightcall.stats.two_phase import two_phase


def example():
    found = json.loads((FOLDER / "two_judge_example.json").read_text())
    light, doubled = found["light"], iter(found["strong_on_every_5th"])
    return light, [next(doubled) if place % 5 == 0 else None for place in range(len(light))]


@needs_reference
def test_reference_values():
    row = ROWS["R99"]
    light, strong = example()
    for probabilities in (None, [0.2] * 500):
        found = two_phase(light, strong, ["all"] * 500, probabilities)
        assert [found.estimate.estimate, found.standard_error] == pytest.approx(row["expected"], abs=row["tolerance"])
    assert found.naive_light.estimate == pytest.approx(3.752)
    assert (found.strong_only.high - found.strong_only.low) / 2 / 1.984217 == pytest.approx(0.1132, abs=1e-4)
    # The light mean is outside, with its whole interval.
    assert found.naive_light.low > found.estimate.high
    assert (found.estimate.n, found.strata[0].items, found.strata[0].doubled) == (500, 500, 100)


@needs_reference
def test_strata_of_light_scores_do_as_well_as_the_regression():
    light, strong = example()
    found = two_phase(light, strong, [str(score) for score in light])
    assert found.slope is None
    assert found.estimate.estimate == found.strong_only.estimate == pytest.approx(3.277, abs=0.02)
    assert found.standard_error == pytest.approx(0.076, abs=0.003)


def test_these_items_alone_have_a_narrower_interval_than_items_such_as_these():
    light = [float(1 + place % 5) for place in range(60)]
    strong = [light[place] - 0.5 + (place % 7) / 7 if place % 4 == 0 else None for place in range(60)]
    all_of = two_phase(light, strong, ["x"] * 60)
    these = two_phase(light, strong, ["x"] * 60, target="items")
    assert these.estimate.estimate == all_of.estimate.estimate
    assert these.standard_error < all_of.standard_error
    assert these.estimate.method == "two-phase regression, t 0.95, these items only"
    every = two_phase(light, [score - 1 + (place % 3) for place, score in enumerate(light)], ["x"] * 60, target="items")
    assert every.standard_error == 0


def test_two_strata_by_hand():
    """One slope within both strata; means, residuals and variance written out."""
    light = [1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 3.0, 4.0, 5.0, 5.0]
    strong = [1.0, 1.5, 3.0, None, None, None, 2.0, 4.0, 4.5, None]
    strata = ["a"] * 6 + ["b"] * 4
    found = two_phase(light, strong, strata)
    weight = {"a": (6 / 3) ** 2, "b": (4 / 3) ** 2}
    xy = weight["a"] * (-1 * (1 - 11 / 6) + 1 * (3 - 11 / 6)) + weight["b"] * (-1 * (2 - 3.5) + 1 * (4.5 - 3.5))
    xx = weight["a"] * 2 + weight["b"] * 2
    slope = xy / xx
    mean = 0.6 * (11 / 6 + slope * (2.5 - 2)) + 0.4 * (3.5 + slope * (4.25 - 4))
    assert found.slope == pytest.approx(slope)
    assert found.estimate.estimate == pytest.approx(mean)

    def squares(x, y):
        centre_x, centre_y = sum(x) / 3, sum(y) / 3
        return sum((v - centre_y - slope * (u - centre_x)) ** 2 for u, v in zip(x, y, strict=True))

    # s² has 4 degrees of freedom less the slope's one: (n - 1) of each stratum times 3/4.
    parts = [(0.6, 6, squares([1, 2, 3], [1, 1.5, 3])), (0.4, 4, squares([3, 4, 5], [2, 4, 4.5]))]
    draw = sum(w**2 * (1 / 3 - 1 / size) * total / 2 * 4 / 3 for w, size, total in parts)
    centre = 0.6 * 11 / 6 + 0.4 * 3.5
    spread = sum(2 * (y - centre) ** 2 for y in (1, 1.5, 3)) + sum(4 / 3 * (y - centre) ** 2 for y in (2, 4, 4.5))
    assert found.standard_error == pytest.approx(sqrt(draw + spread / 10 * 6 / 5 / 10))


def test_items_weigh_as_they_were_drawn():
    """One stratum, whose hard items were drawn three times as often: the plain mean is too low."""
    light = [3.0] * 40
    strong = [2.0] * 15 + [None] * 5 + [4.0] * 5 + [None] * 15
    plain = two_phase(light, strong, ["x"] * 40)
    weighted = two_phase(light, strong, ["x"] * 40, [0.75] * 20 + [0.25] * 20)
    assert plain.estimate.estimate == pytest.approx(2.5)
    assert weighted.estimate.estimate == pytest.approx(3.0)


def test_small_strata_are_put_together_with_the_nearest():
    light = [1.0] * 10 + [2.0] * 4 + [5.0] * 10
    strong = [1.0, 2.0, 1.0, 1.0] + [None] * 6 + [2.0] + [None] * 3 + [4.0, 5.0, 4.0, 5.0] + [None] * 6
    strata = ["one"] * 10 + ["two"] * 4 + ["five"] * 10
    found = two_phase(light, strong, strata)
    assert found.collapsed == ("two",)
    assert [(stratum.names, stratum.items, stratum.doubled) for stratum in found.strata] == [
        (("five",), 10, 4), (("one", "two"), 14, 5),
    ]  # fmt: skip


def test_a_small_stratum_of_which_all_is_known_stays():
    light = [1.0, 2.0, 3.0, 4.0] * 5 + [5.0]
    strong = [1.0, 2.0, 2.0, 4.0] * 2 + [None] * 12 + [5.0]
    assert two_phase(light, strong, ["x"] * 20 + ["rare"]).collapsed == ()


def test_segments_of_one_trace_are_not_independent():
    dice, light, strong, traces = random.Random(8), [], [], []
    for trace in range(30):
        level = dice.choice([2.0, 3.0, 4.0])
        for _ in range(5):
            light.append(level + dice.choice([0.0, 1.0]))
            strong.append(level + dice.choice([-0.5, 0.0]) if dice.random() < 0.3 else None)
            traces.append(trace)
    plain = two_phase(light, strong, ["x"] * 150)
    clustered = two_phase(light, strong, ["x"] * 150, clusters=traces)
    assert clustered.estimate.estimate == plain.estimate.estimate
    assert clustered.standard_error > 1.3 * plain.standard_error
    assert clustered.estimate.method == "two-phase regression, t 0.95, clustered in 30 cases"
    assert two_phase(light, strong, ["x"] * 150, clusters=range(150)).estimate == plain.estimate


@pytest.mark.parametrize(
    ("strong", "clusters", "reason"),
    [
        ([None] * 6, None, "0 items have a strong score; a correction needs 2"),
        ([1.0, *[None] * 5], None, "1 items have a strong score; a correction needs 2"),
        ([1.0, 2.0, *[None] * 4], ["t"] * 6, "the items of one case have no interval"),
        ([1.0, 1.0, *[None] * 4], None, "the strong scores show no spread; give the scale of the scores"),
    ],
)
def test_too_little_says_so(strong, clusters, reason):
    found = two_phase([3.0] * 6, strong, ["x"] * 6, clusters=clusters)
    assert (found.estimate.low, found.reason, found.estimate.reason) == (None, reason, reason)


def test_nothing_is_undefined_with_a_reason():
    found = two_phase([], [], [], excluded=4)
    assert (found.reason, found.estimate.excluded, found.naive_light.reason) == ("nothing was evaluated", 4, "nothing was evaluated")  # fmt: skip


def test_equal_strong_scores_have_an_interval_that_is_not_a_point():
    light, strong = [5.0, 4.0] * 20, [5.0] * 10 + [None] * 30
    found = two_phase(light, strong, ["x"] * 40, scale=(1, 5))
    unseen = 1 - 0.025 ** (1 / 10)
    assert (found.estimate.estimate, found.estimate.high) == (5, 5)
    assert found.estimate.low == pytest.approx(5 - unseen * 4)
    assert found.estimate.method == "two-phase regression, t 0.95, exact for no residual"


@untimed
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.booleans(), st.sampled_from("ab"), st.integers(0, 6)), max_size=40))  # fmt: skip
def test_any_scores_give_a_mean_in_its_interval_or_a_reason(items):
    light = [float(item[0]) for item in items]
    strong = [float(item[1]) if item[2] else None for item in items]
    for clusters in (None, [item[4] for item in items]):
        for target in ("population", "items"):
            found = two_phase(
                light, strong, [item[3] for item in items], clusters=clusters, target=target, scale=(-50, 50)
            )
            assert (found.estimate.low is None) == (found.reason is not None)
            if found.estimate.low is not None:
                assert found.estimate.low <= found.estimate.estimate <= found.estimate.high
            assert sum(stratum.items for stratum in found.strata) in {0, len(items)}


@untimed
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.sampled_from("ab")), min_size=2, max_size=30), st.randoms(use_true_random=False))  # fmt: skip
def test_with_a_strong_score_everywhere_the_mean_is_that_of_the_strong_scores(items, dice):
    light, strong, strata = ([float(item[0]) for item in items], [float(item[1]) for item in items], [item[2] for item in items])  # fmt: skip
    found = two_phase(light, strong, strata, scale=(1, 5))
    assert found.estimate.estimate == pytest.approx(sum(strong) / len(strong))
    order = list(range(len(items)))
    dice.shuffle(order)
    again = two_phase([light[at] for at in order], [strong[at] for at in order], [strata[at] for at in order], scale=(1, 5))  # fmt: skip
    assert again.estimate.estimate == pytest.approx(found.estimate.estimate)
    assert again.standard_error == pytest.approx(found.standard_error)


@untimed
@given(st.floats(-2, 2), st.floats(0.5, 2))
def test_moving_and_stretching_the_strong_scores_moves_and_stretches_the_mean(shift, factor):
    light = [float(1 + place % 5) for place in range(50)]
    strong = [light[place] + (place % 3) / 3 if place % 3 == 0 or place % 7 == 0 else None for place in range(50)]
    moved = [None if score is None else shift + factor * score for score in strong]
    found, other = two_phase(light, strong, ["x"] * 50), two_phase(light, moved, ["x"] * 50)
    assert other.estimate.estimate == pytest.approx(shift + factor * found.estimate.estimate)
    assert other.standard_error == pytest.approx(factor * found.standard_error)


# ---- coverage ----


def world(dice, traces, per_trace):
    """Segments with the scores of a strong judge and of a light one that is milder and less careful."""
    light, strong, tools, cases = [], [], [], []
    for trace in range(traces):
        level = 3.2 + dice.gauss(0, 0.8)
        for _ in range(dice.randint(*per_trace)):
            tool = dice.choice("abc")
            true = level + {"a": 0.5, "b": 0.0, "c": -0.5}[tool] + dice.gauss(0, 0.7)
            strong.append(float(min(5, max(1, round(true)))))
            light.append(float(min(5, max(1, round(true + 0.6 + dice.gauss(0, 0.6))))))
            tools.append(tool)
            cases.append(trace)
    return light, strong, tools, cases


# The mean strong score of a million segments of such worlds.
TRUTH = 3.1858


@pytest.mark.slow
def test_the_truth_of_the_simulated_worlds_is_as_written():
    _, strong, _, _ = world(random.Random(0), 250_000, (1, 1))
    assert sum(strong) / len(strong) == pytest.approx(TRUTH, abs=0.008)


STRATA = {
    "one": lambda _tool, _score: "all",
    "score": lambda _tool, score: f"{score:g}",
    "tool and score": lambda tool, score: f"{tool} {score:g}",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strata", "traces", "per_trace", "target"),
    [
        ("one", 150, (1, 1), "population"),
        ("score", 150, (1, 1), "population"),
        ("tool and score", 150, (1, 1), "population"),
        ("tool and score", 150, (1, 1), "items"),
        ("score", 60, (2, 6), "population"),
        ("tool and score", 60, (2, 6), "population"),
        ("tool and score", 60, (2, 6), "items"),
    ],
)
def test_the_corrected_interval_covers_where_the_light_mean_is_outside(strata, traces, per_trace, target):
    """500 simulated evaluations, a fifth of each stratum doubled: the light mean is off, the corrected one covers."""
    runs, held, naive = 500, 0, 0
    for run in range(runs):
        light, strong, tools, cases = world(random.Random(f"{strata} {traces} {run}"), traces, per_trace)
        of = [STRATA[strata](tool, score) for tool, score in zip(tools, light, strict=True)]
        units = [(str(place), stratum) for place, stratum in enumerate(of)]
        drawn, chances = draw_stratified(units, 0.2, run, 2), probability_of(units, 0.2, 2)
        found = two_phase(
            light, [score if str(place) in drawn else None for place, score in enumerate(strong)], of,
            [chances[str(place)] for place in range(len(light))], clusters=cases, target=target, scale=(1, 5),
        )  # fmt: skip
        truth = TRUTH if target == "population" else sum(strong) / len(strong)
        held += found.estimate.low <= truth <= found.estimate.high
        naive += found.naive_light.low <= truth <= found.naive_light.high
    assert held / runs >= 0.93
    assert naive / runs <= 0.05


@pytest.mark.slow
def test_without_clusters_the_interval_of_segments_is_too_narrow():
    runs, apart, clustered = 300, 0, 0
    for run in range(runs):
        light, strong, _, cases = world(random.Random(f"narrow {run}"), 40, (4, 8))
        drawn = draw_stratified([(str(place), "all") for place in range(len(light))], 0.3, run)
        doubled = [score if str(place) in drawn else None for place, score in enumerate(strong)]
        for clusters in (None, cases):
            found = two_phase(light, doubled, ["all"] * len(light), clusters=clusters).estimate
            held = found.low <= TRUTH <= found.high
            apart, clustered = apart + (held and clusters is None), clustered + (held and clusters is not None)
    assert apart / runs < 0.9
    assert clustered / runs >= 0.92


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: two_phase([1.0], [], ["x"]),
        lambda: two_phase([1.0], [None], []),
        lambda: two_phase([1.0], [None], ["x"], [0.0]),
        lambda: two_phase([1.0], [None], ["x"], [1.5]),
        lambda: two_phase([1.0], [None], ["x"], clusters=[]),
        lambda: two_phase([float("nan")], [None], ["x"]),
        lambda: two_phase([1.0], [6.0], ["x"], scale=(1, 5)),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"
