"""How long control charts run until they raise an alarm: on average, for standardised normal values.

With no shift that is the time between false alarms, with one the delay until it is noticed. Real values are not quite
normal and a baseline is not quite known, so that real charts alarm somewhat more often.
"""

from __future__ import annotations

from math import isfinite

from rightcall.stats.drift import check_cusum, ewma_limit
from rightcall.stats.intervals import invalid

NODES = 96
"""Points of the quadrature; the run lengths of usual charts are then right to six digits and more."""


def cusum_run_length(shift: float = 0.0, *, slack: float = 0.5, limit: float = 5.0) -> float:
    """The average run length of a two-sided `cusum` chart whose values have moved by `shift` deviations.

    Formula: of one side, L(u) = 1 + L(0) Φ(slack - u - shift) + ∫₀^limit L(x) φ(x + slack - u - shift) dx at u = 0
    (E. S. Page, Biometrika 41, 1954), by Gauss-Legendre quadrature; both sides together, 1/L = 1/L₊ + 1/L₋, which is
    exact, as one side is at 0 when the other first passes the limit (K. W. Kemp, Journal of the Royal Statistical
    Society B 23, 1961).

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a shift that is no number, or settings that `cusum` refuses.
    """
    check_cusum(slack, limit)
    _check(shift)
    return 1 / (1 / _one_sided(shift, slack, limit) + 1 / _one_sided(-shift, slack, limit))


def _check(shift: float) -> None:
    if not isfinite(shift):
        raise invalid(f"values cannot have moved by {shift}")


def _one_sided(shift: float, slack: float, limit: float) -> float:
    import numpy as np
    from scipy.special import ndtr

    points, weights = np.polynomial.legendre.leggauss(NODES)
    at, weights = limit * (points + 1) / 2, limit * weights / 2
    # The unknowns are L at 0, where the distribution has an atom, and at the points.
    start = np.concatenate([[0.0], at])
    reach = slack - start[:, None] - shift
    step = at[None, :] + reach
    kernel = np.hstack([ndtr(reach), weights * np.exp(-(step**2) / 2) / np.sqrt(2 * np.pi)])
    return float(np.linalg.solve(np.eye(NODES + 1) - kernel, np.ones(NODES + 1))[0])


def ewma_run_length(shift: float = 0.0, *, weight: float = 0.2, width: float = 2.962) -> float:
    """The average run length of an `ewma` chart whose values have moved by `shift` deviations.

    Formula: L(u) = 1 + ∫ L(x) φ((x - (1 - weight) u) / weight - shift) dx / weight between the limits, at u = 0
    (S. V. Crowder, Technometrics 29, 1987), by Gauss-Legendre quadrature.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a shift that is no number, or settings that `ewma` refuses.
    """
    limit = ewma_limit(weight, width)
    _check(shift)
    import numpy as np

    points, weights = np.polynomial.legendre.leggauss(NODES)
    at, weights = limit * points, limit * weights / (weight * np.sqrt(2 * np.pi))
    # The first row starts at 0, the others at the points where L is unknown.
    start = np.concatenate([[0.0], at])[:, None]
    kernel = weights * np.exp(-(((at - (1 - weight) * start) / weight - shift) ** 2) / 2)
    inside = np.linalg.solve(np.eye(NODES) - kernel[1:], np.ones(NODES))
    return float(1 + kernel[0] @ inside)
