"""Words for agreement."""

import pytest

from rightcall.stats.bands import alpha_word, kappa_word


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (-0.1, "poor"), (0.0, "slight"), (0.2, "slight"), (0.21, "fair"), (0.4, "fair"), (0.41, "moderate"),
        (0.605, "moderate"), (0.61, "substantial"), (0.8, "substantial"), (0.81, "almost perfect"), (1, "almost perfect"),
        (None, None),
    ],
)  # fmt: skip
def test_each_kappa_has_landis_and_kochs_word(value, word):
    assert kappa_word(value) == word


@pytest.mark.parametrize(
    ("value", "word"),
    [(0.5, "not reliable"), (0.667, "tentative"), (0.799, "tentative"), (0.8, "reliable"), (None, None)],
)
def test_each_alpha_has_krippendorffs_word(value, word):
    assert alpha_word(value) == word
