"""The bound that a gate holds against a limit: exact for single cases, and honest where a case gave several results.

* Cases with one result each: the one-sided bound of Clopper and Pearson (Biometrika 26, 1934), which holds at least as
  often as it says.
* Cases with several results, and means of scores: the same formula on the *effective* number of observations, as
  E. L. Korn and B. I. Graubard do it (Survey Methodology 24, 1998, p. 193): the number of results, divided by the
  design effect of the sandwich variance over cases, times (z/t)² for the degrees of freedom of that variance. The beta
  quantiles take numbers that are not whole.
* Where the rarer outcome was seen in few cases that variance knows next to nothing. So the design effect is averaged
  with that of cases which do well or badly as a whole, the first weighing as much as there are cases with the rarer
  outcome, the second as much as one. It is never above the latter. Both are our own additions, on the safe side.

Scores lie on a scale; brought to 0–1 they vary less than outcomes that are 0 or 1 with the same mean, which is what the
design effect measures, and what makes their bound tighter.

With anything unread nothing is estimated: every unread result counts against the rule, and the results of a case count
as one. That bound only falls when a result turns bad, and never rises when one becomes unreadable, so that nothing can
be gained by not being read.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from rightcall.stats.first import first_that
from rightcall.stats.ordinal import Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[Any]


def by_case(
    values: Sequence[float], cases: Sequence[int], scale: Scale = (0.0, 1.0), *, unread: Sequence[int] = (),
    loose: int = 0, unread_as: float = 0.0,
) -> tuple[Numbers, Numbers]:  # fmt: skip
    """Sums of values, brought to 0–1, and their numbers, of each case that has any.

    Args:
        values: of results.
        cases: the number of each one's case, from 0.
        scale: bottom and top of the values.
        unread: of each result that could not be read, the number of its case.
        loose: how many more there are whose case nobody knows. They may all be of one case, so the largest takes them:
            a record that is lost can then not make the results worth more.
        unread_as: what such a result counts as, from 0 to 1.
    """
    import numpy as np

    bottom, top = scale
    of = np.asarray(cases, dtype=np.int64)
    lost = np.asarray(unread, dtype=np.int64)
    most = int(max(of.max(initial=0), lost.max(initial=0))) + 1
    brought = (np.asarray(values, dtype=float) - bottom) / (top - bottom)
    missing = np.bincount(lost, minlength=most)
    sums = np.bincount(of, weights=brought, minlength=most) + unread_as * missing
    sizes = np.bincount(of, minlength=most) + missing.astype(float)
    if loose:
        largest = int(sizes.argmax())
        sums[largest] += unread_as * loose
        sizes[largest] += loose
    return sums[sizes > 0], sizes[sizes > 0]


class Worth(NamedTuple):
    """What results are worth: how many there are, of how many cases, and how many independent ones that makes."""

    n: int
    cases: int
    effective: float


def whole_worth(sizes: Numbers) -> Worth:
    """The worth if the results of a case stand or fall together: N²/Σn² (L. Kish, Survey Sampling, 1965, §8.2)."""
    n = float(sizes.sum())
    return Worth(round(n), len(sizes), n * n / float((sizes * sizes).sum()))


def worth_of(sums: Numbers, sizes: Numbers, confidence: float, *, least: float = 1.0) -> Worth:
    """The worth of results by their sums and numbers over cases (see above).

    Args:
        sums: of each case, the sum of its values from 0 to 1.
        sizes: of each case, how many values.
        confidence: one-sided, of the bound that it is for.
        least: the least design effect: 1 for outcomes, 0 for scores, which vary less than outcomes.
    """
    together = whole_worth(sizes)
    n, cases, _ = together
    if cases < 2:
        return together
    effect = max(least, _design_effect(sums, sizes))
    from scipy.special import stdtrit

    shrunk = n / effect * (NormalDist().inv_cdf(confidence) / float(stdtrit(cases - 1, confidence))) ** 2
    return Worth(n, cases, max(shrunk, together.effective))


def _design_effect(sums: Numbers, sizes: Numbers) -> float:
    n, cases = float(sizes.sum()), len(sizes)
    share = float(sums.sum()) / n
    whole = float((sizes * sizes).sum()) / n
    if not 0 < share < 1:
        return whole
    residuals = sums - share * sizes
    spread = cases / (cases - 1) * float((residuals * residuals).sum()) / (n * share * (1 - share))
    seen = min(int((sums > 0).sum()), int((sums < sizes).sum()))
    return min(whole, (seen * spread + whole) / (seen + 1))


def lower_bound(share: float, effective: float, confidence: float) -> float:
    """Clopper and Pearson's one-sided lower bound of a share of so many observations, which need not be whole."""
    if share <= 0 or effective <= 0:
        return 0.0
    from scipy.special import betaincinv

    good = share * effective
    return float(betaincinv(good, effective - good + 1, 1 - confidence))


def p_value(share: float, effective: float, limit: float) -> float:
    """How likely a share at least as high would be, if the true one were the limit: what Holm's procedure takes."""
    if share <= 0 or effective <= 0:
        return 1.0
    from scipy.special import betainc

    good = share * effective
    return float(betainc(good, effective - good + 1, limit))


def more_without_error(share: float, worth: Worth, limit: float, confidence: float) -> int | None:
    """How many more cases bring the lower bound up to a limit, if nothing is wrong in any of them.

    Each counts as much as the cases that are there. `None` where no number does.
    """
    per_case = worth.effective / worth.cases if worth.cases else 1.0
    good, bad = share * worth.effective, (1 - share) * worth.effective

    def shows(more: int) -> bool:
        n = good + bad + more * per_case
        return n > 0 and lower_bound((good + more * per_case) / n, n, confidence) >= limit

    return _first(shows, limit)


def more_alike(share: float, worth: Worth, limit: float, confidence: float) -> int | None:
    """How many more cases bring the lower bound up to a limit, if they do as those before; `None` if they never do."""
    if share <= limit or not worth.cases:
        return None
    per_case = worth.effective / worth.cases

    def shows(more: int) -> bool:
        return lower_bound(share, worth.effective + more * per_case, confidence) >= limit

    return _first(shows, limit)


def _first(shows: Callable[[int], bool], limit: float) -> int | None:
    if shows(0):
        return 0
    if limit >= 1:
        return None
    return first_that(shows)
