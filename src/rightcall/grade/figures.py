"""The metrics of SPEC §5.2–5.8, exact: shares are kept as whole numbers (part, whole) until they are shown."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from rightcall.grade import profiles
from rightcall.grade.verdict import Metrics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.case.golden import Golden
    from rightcall.grade.actual import Actual
    from rightcall.grade.alignment import Alignment
    from rightcall.grade.arguments import Score
    from rightcall.grade.order import Order
    from rightcall.grade.profiles import Share

ONE: Share = (1, 1)
ZERO: Share = (0, 1)


class Figures:
    """What one comparison comes to.

    Args:
        golden: the acceptable way.
        actual: the calls that were made.
        aligned: which call is what.
        constraints: which order constraints hold.
        scores: golden index -> argument score of its pair.
    """

    def __init__(
        self, golden: Golden, actual: Actual, aligned: Alignment, constraints: Order, scores: Mapping[int, Score]
    ) -> None:
        """Count what all figures share."""
        self._golden, self._actual, self._aligned = golden, actual, aligned
        self._constraints, self._scores = constraints, scores
        left_out = set(aligned.uncounted)
        self._counted = [name for i, name in enumerate(actual.names) if i not in left_out] if left_out else actual.names
        pairs = aligned.pairs
        self._expected = [call.tool for g, call in enumerate(golden.calls) if g in pairs or not call.optional]
        self.matched = len(pairs)
        self.surplus = len(aligned.surplus) + len(aligned.repeats)
        self.jaccard = self._share(self.matched, len(self._expected) + len(self._counted) - self.matched)
        self.argument_accuracy = self._argument_accuracy()
        self.efficiency = self._efficiency()
        applicable = constraints.applicable
        self.order_score: Share | None = (constraints.satisfied, applicable) if applicable else None
        accuracy = ZERO if self._expected and not self.matched else self.argument_accuracy
        self.overall = profiles.weighted((self.jaccard, accuracy, self.order_score, self.efficiency))

    def _share(self, part: int, whole: int) -> Share:
        """Part / whole, where both sides empty is 1 and exactly one is 0."""
        if whole:
            return part, whole
        return ONE if not self._expected and not self._counted else ZERO

    @property
    def precision(self) -> Share:
        """Matched / actual."""
        return self._share(self.matched, len(self._counted))

    @property
    def recall(self) -> Share:
        """Paired required / required; without a required call 1, or 0 if something is surplus."""
        required = self._golden.required
        if not required:
            return ZERO if self.surplus else ONE
        return required - len(self._aligned.missing), required

    @property
    def jaccard_set(self) -> Share:
        """Common names / all names."""
        expected, counted = set(self._expected), set(self._counted)
        return self._share(len(expected & counted), len(expected | counted))

    def _argument_accuracy(self) -> Share | None:
        """Mean score over the pairs whose golden states arguments."""
        calls = self._golden.calls
        stated = [value for g, value in self._scores.items() if calls[g].raw is not None]
        if not stated:
            return None
        rest = sum([value for value in stated if value != 1], Fraction(0))
        whole = stated.count(1)
        return whole * rest.denominator + rest.numerator, rest.denominator * len(stated)

    @property
    def order_ok(self) -> bool | None:
        """Whether the pairs stand in the listed order; calls of one turn have none among themselves."""
        pairs = self._aligned.pairs
        if not pairs:
            return None
        ordered = sorted(pairs)
        if all([pairs[a] < pairs[b] for a, b in pairwise(ordered)]):
            return True
        return all(
            pairs[a] < pairs[b] or self._actual.same_turn(pairs[a], pairs[b])
            for place, a in enumerate(ordered)
            for b in ordered[place + 1 :]
        )

    def _efficiency(self) -> Share:
        """min(1, golden / actual)."""
        if not self._expected and not self._counted:
            return ONE
        if not self.matched:
            return ZERO
        return min(len(self._expected), len(self._counted)), len(self._counted)

    @property
    def exact_match(self) -> bool:
        """Whether there is nothing to object to."""
        equal = all([value == 1 for value in self._scores.values()])
        return equal and not self._aligned.missing and not self.surplus and not self._constraints.violations

    def metrics(self, overall: Fraction, *, vetoed: bool) -> Metrics:
        """The figures as shown."""
        precision, recall = self.precision, self.recall
        both = precision[0] * recall[1] + recall[0] * precision[1]
        return Metrics(
            matched=self.matched, precision=_float(precision), recall=_float(recall),
            f1=2 * precision[0] * recall[0] / both if both else 0.0, jaccard=_float(self.jaccard),
            jaccard_set=_float(self.jaccard_set), argument_accuracy=_float(self.argument_accuracy),
            arguments_valid=_float(arguments_valid(self._actual)), order_score=_float(self.order_score),
            order_ok=self.order_ok, efficiency=_float(self.efficiency), exact_match=self.exact_match,
            retries=len(self._aligned.retries), calls_failed=self._actual.calls_failed,
            overall=0.0 if vetoed else float(overall), unvetoed_overall=float(overall),
        )  # fmt: skip


def _float(share: Share | None) -> float | None:
    return None if share is None else share[0] / share[1]


def arguments_valid(actual: Actual) -> Share | None:
    """Share of the actual calls whose arguments satisfy their tool's schema.

    `None` without calls or catalog, and where the arguments of a call were not captured: the share is not known.
    """
    if actual.catalog is None or not len(actual) or actual.has_uncaptured:
        return None
    return len(actual) - len(actual.invalid), len(actual)


_PERFECT: dict[tuple[int, bool, bool, int], Metrics] = {}


def perfect(size: int, *, ordered: bool, valid: bool, calls_failed: int) -> Metrics:
    """The figures where every call is as expected; the same object for the same answer."""
    key = (size, ordered, valid, calls_failed)
    if key not in _PERFECT:
        _PERFECT[key] = Metrics(
            matched=size, precision=1.0, recall=1.0, f1=1.0, jaccard=1.0, jaccard_set=1.0,
            argument_accuracy=1.0 if size else None, arguments_valid=1.0 if valid and size else None,
            order_score=1.0 if ordered else None, order_ok=True if size else None, efficiency=1.0, exact_match=True,
            retries=0, calls_failed=calls_failed, overall=1.0, unvetoed_overall=1.0,
        )  # fmt: skip
    return _PERFECT[key]
