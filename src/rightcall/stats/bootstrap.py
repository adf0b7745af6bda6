"""The percentile bootstrap over clusters: what a figure would have been with other cases of the same kind.

Cases are drawn with replacement, each with all that is counted in it. The draws come from a generator that starts at
an explicit seed, so that the same data and seed give the same bounds; seed and number of draws belong to the method's
name, which stands in every record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rightcall.stats.intervals import invalid

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_CELLS = 1_000_000
"""How many numbers one block of draws may hold."""


def resampled(
    table: Sequence[Sequence[float]], figure: Callable[[Numbers], Numbers], *, resamples: int = 2000, seed: int = 0
) -> list[float]:
    """The figure of each resample, sorted; those that have none (not a number) are left out.

    Formula: B. Efron, The Annals of Statistics 7, 1979; whole clusters are drawn as in A. C. Davison and D. V. Hinkley,
    Bootstrap Methods and their Application, 1997, §3.8.

    Args:
        table: one row for each cluster: the sums that the figure is made of. The result does not depend on the
            sequence of rows.
        figure: from an array of (draws, columns) with the sums of each draw to one value for each draw.
        resamples: how many draws.
        seed: where the generator starts.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for no rows or no draws.
    """
    import numpy as np

    if not table or resamples < 1:
        raise invalid("a bootstrap needs cases to draw from and at least one draw")
    rows = np.array(sorted(tuple(row) for row in table), dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.concatenate([figure(weights @ rows) for weights in _weights(len(rows), resamples, seed)])
    return [float(value) for value in np.sort(found[np.isfinite(found)])]


def _weights(clusters: int, resamples: int, seed: int) -> Iterator[Numbers]:
    """How often each cluster is in each draw, in blocks of (draws, clusters)."""
    import numpy as np

    dice = np.random.default_rng(seed)
    block = max(1, _CELLS // clusters)
    for start in range(0, resamples, block):
        draws = min(block, resamples - start)
        drawn = dice.integers(clusters, size=(draws, clusters)) + np.arange(draws)[:, None] * clusters
        yield np.bincount(drawn.ravel(), minlength=draws * clusters).reshape(draws, clusters).astype(float)


def percentiles(values: Sequence[float], confidence: float) -> tuple[float, float]:
    """The bounds that leave half of the error outside on either side, of sorted values."""
    import numpy as np

    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def bootstrap_method(confidence: float, clusters: int, resamples: int, seed: int) -> str:
    """The name under which such an interval is recorded."""
    return f"bootstrap {confidence:g}, {clusters} cases, {resamples} draws, seed {seed}"
