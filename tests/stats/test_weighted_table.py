"""Agreement on items that were drawn with unequal chances: with equal ones it is that of the plain figures."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import ConfigError
from rightcall.stats.agreement import cohen, kappa
from rightcall.stats.alpha import krippendorff_alpha
from rightcall.stats.gwet import gwet_ac
from rightcall.stats.weighted_table import weighted_agreement

LABELS = [0, 1, 2, 3, 4]
PAIRS = [(n % 5, min(4, (n * 7 % 11) % 5 if n % 4 == 0 else n % 5)) for n in range(60)]
PLAIN = {
    "kappa": lambda pairs: kappa(pairs, labels=LABELS),
    "kappa linear": lambda pairs: kappa(pairs, weights="linear", labels=LABELS),
    "kappa quadratic": lambda pairs: kappa(pairs, weights="quadratic", labels=LABELS),
    "ac1": lambda pairs: gwet_ac(pairs, labels=LABELS),
    "ac2 quadratic": lambda pairs: gwet_ac(pairs, weights="quadratic", labels=LABELS),
    "alpha nominal": krippendorff_alpha,
    "alpha ordinal": lambda pairs: krippendorff_alpha(pairs, level="ordinal", labels=LABELS),
}
places = st.integers(0, 4)


@pytest.mark.parametrize("figure", PLAIN)
def test_with_equal_chances_it_is_the_plain_figure(figure):
    found, plain = weighted_agreement(PAIRS, [0.1] * 60, 5, figure, resamples=300), PLAIN[figure](PAIRS)
    assert found.estimate == pytest.approx(plain.estimate, abs=1e-12)
    assert found.low == pytest.approx(plain.low, abs=0.06)
    assert found.high == pytest.approx(plain.high, abs=0.06)
    assert found.method.startswith(f"{figure}, weighted by 1/chance, bootstrap 0.95, 60 cases")


@given(st.lists(st.tuples(places, places, st.sampled_from([1, 2, 4])), min_size=2, max_size=30))
@settings(max_examples=60, deadline=None)
def test_an_item_drawn_with_half_the_chance_counts_twice(rows):
    weighted = weighted_agreement([row[:2] for row in rows], [1 / row[2] for row in rows], 5, "kappa", resamples=1)
    spread = [row[:2] for row in rows for _ in range(row[2])]
    plain = cohen(spread, labels=LABELS)
    assert (weighted.estimate is None) == (plain is None)
    assert plain is None or weighted.estimate == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("figure", ["kappa", "alpha ordinal", "alpha nominal"])
def test_one_label_has_a_reason_in_place_of_a_figure(figure):
    found = weighted_agreement([(1, 1)] * 9, [0.5] * 9, 5, figure)
    assert (found.estimate, found.n) == (None, 9)
    assert found.reason.startswith("both gave one and the same label")


def test_nothing_has_no_agreement():
    assert weighted_agreement([], [], 2, "kappa").reason == "nothing was evaluated"


@pytest.mark.parametrize(
    ("pairs", "chances"), [([(0, 5)], [0.1]), ([(0, 1)], [0.0]), ([(0, 1)], [1.5]), ([(0, 1)], [0.1, 0.1])]
)
def test_what_cannot_be_is_refused(pairs, chances):
    with pytest.raises(ConfigError) as caught:
        weighted_agreement(pairs, chances, 5, "kappa")
    assert caught.value.code == "STAT_VALUE_INVALID"
