"""Pairing of golden calls with actual calls: one to one, by tool name, optimal (SPEC §5.1).

Best is, in this order: most pairs, required before optional; the highest sum of argument scores; most pairs scoring 1;
most satisfied constraints; fewest inversions; earliest calls (the actual indices, in golden order, compared as a list).

How: calls of different names never compete, so each name is a group of its own. Within a group the first criteria are
additive: small groups are enumerated, larger ones solved as an assignment problem with whole-number weights. The later
criteria couple the groups, and only choose among assignments that are equally good so far: all combinations are tried
while they are few. Beyond `MAX_COMBINATIONS` the choice among *equally scored* pairings is improved step by step, and
may miss the best order; the first three criteria stay exact (see `docs/design/pairing.md`).
"""

from __future__ import annotations

from itertools import combinations, islice, permutations, product
from math import comb, factorial, lcm, prod
from typing import TYPE_CHECKING

from rightcall.grade import arguments, order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rightcall.case.golden import Golden
    from rightcall.grade.actual import Actual
    from rightcall.grade.arguments import Score

MAX_ENUMERATED = 1_000
"""Most assignments of one group that are tried one by one."""
MAX_COMBINATIONS = 2_000
"""Most combinations of equally good group assignments that are tried."""
MAX_STEPS = 20_000
"""Bound on options times paired calls while choosing among equally scored assignments."""
_EXACT_FLOAT = 2**53

Assignment = "tuple[tuple[int, int], ...]"
"""Pairs (golden index, actual index) of one group."""


class Scores:
    """Argument scores of candidate pairs, each computed once (equal calls share theirs)."""

    def __init__(self, golden: Golden, actual: Actual) -> None:
        """Nothing is computed yet."""
        self._golden, self._actual = golden, actual
        self._known: dict[tuple[int, int], Score] = {}
        self._by_raw: dict[tuple[int, bytes | None], Score] = {}
        self._first_equal: dict[int, int] = {}
        self._by_call: dict[tuple[str, bytes], int] = {}

    def are_equal(self, pairs: Mapping[int, int]) -> None:
        """Note pairs that are known to score 1."""
        for both in pairs.items():
            self._known[both] = arguments.ONE

    def __call__(self, expected: int, index: int) -> Score:
        """Score of a golden call against an actual call, data flow taken as kept."""
        key = (expected, index)
        if key not in self._known:
            raw_key = (self._like(expected), self._actual.raw(index))
            if raw_key not in self._by_raw:
                self._by_raw[raw_key] = arguments.score(self._golden.calls[expected], self._actual, index)
            self._known[key] = self._by_raw[raw_key]
        return self._known[key]

    def _like(self, expected: int) -> int:
        """The first golden call that has the same scores: of the same tool, with the same literal arguments."""
        if expected not in self._first_equal:
            call = self._golden.calls[expected]
            is_shared = call.literal and call.raw is not None
            first = self._by_call.setdefault((call.tool, call.raw or b""), expected) if is_shared else expected
            self._first_equal[expected] = first
        return self._first_equal[expected]


def pair(golden: Golden, actual: Actual, scores: Scores | None = None) -> dict[int, int]:
    """The optimal pairing: golden index -> actual index. `scores` takes the argument scores that were needed."""
    scores = scores or Scores(golden, actual)
    if golden.flows and (coupled := _pair_with_flows(golden, actual, scores)) is not None:
        return coupled
    fixed, left, right = _ends(golden, actual)
    scores.are_equal(fixed)
    open_groups: list[list[tuple[tuple[int, int], ...]]] = []
    for expected, made in _groups(golden, actual, left, right):
        if len(expected) == 1 == len(made):
            fixed[expected[0]] = made[0]
            continue
        options = _best_of_group(golden, actual, scores, expected, made)
        if len(options) == 1:
            fixed.update(options[0])
        else:
            open_groups.append(options)
    return _choose(golden, actual, fixed, open_groups) if open_groups else fixed


def _pair_with_flows(golden: Golden, actual: Actual, scores: Scores) -> dict[int, int] | None:
    """The optimal pairing where a score depends on which call its data comes from: every combination is tried.

    `None` where there are too many: data flow is then taken as kept while pairing, and only counts as a constraint.
    """
    groups = list(_groups(golden, actual, range(len(golden.calls)), range(len(actual))))
    if prod(_count(len(expected), len(made)) for expected, made in groups) > MAX_COMBINATIONS:
        return None
    options = [list(_all_assignments(expected, made)) for expected, made in groups]
    candidates = ({g: a for part in choice for g, a in part} for choice in product(*options))
    return max(candidates, key=lambda pairs: _rank_with_flows(golden, actual, scores, pairs))


def _rank_with_flows(
    golden: Golden, actual: Actual, scores: Scores, pairs: dict[int, int]
) -> tuple[tuple[int, Score, int], tuple[int, int, list[int]]]:
    """Every criterion of a whole pairing, with the scores that it really has."""
    resolve = order.resolver(golden, actual, pairs)
    flowing = {later for later, _ in golden.flows}
    required, ones = 0, 0
    total: Score = 0
    for g, a in pairs.items():
        try:
            value = arguments.score(golden.calls[g], actual, a, resolve) if g in flowing else scores(g, a)
        except order.ResultNotCaptured:
            value = scores(g, a)
        required += not golden.calls[g].optional
        total += value
        ones += value == 1
    return (required, total, ones), _rank(golden, actual, pairs)


def _ends(golden: Golden, actual: Actual) -> tuple[dict[int, int], range, range]:
    """Equal calls at the beginning and at the end of both sides are paired; what is left of either side.

    Sound for plain goldens: exchanging partners towards an equal first pair loses neither score (see `_certain`) nor
    order (a first pair has no inversion), and no earlier call exists. An equal last pair is only taken where no call
    of its tool is left before it on either side, so that nothing could be exchanged.
    """
    first, expected_end, actual_end = 0, len(golden.calls), len(actual)
    if not golden.simple or actual.has_parallel_calls or golden.order == "partial" or _may_use_defaults(golden, actual):
        return {}, range(expected_end), range(actual_end)
    calls, names = golden.calls, actual.names
    fixed: dict[int, int] = {}
    while first < min(expected_end, actual_end) and _equal(golden, actual, first, first):
        fixed[first] = first
        first += 1
    while (
        min(expected_end, actual_end) > first
        and names[actual_end - 1] not in names[first : actual_end - 1]
        and calls[expected_end - 1].tool not in [call.tool for call in calls[first : expected_end - 1]]
        and _equal(golden, actual, expected_end - 1, actual_end - 1)
    ):
        expected_end -= 1
        actual_end -= 1
        fixed[expected_end] = actual_end
    return fixed, range(first, expected_end), range(first, actual_end)


def _equal(golden: Golden, actual: Actual, expected: int, index: int) -> bool:
    call = golden.calls[expected]
    return call.tool == actual.names[index] and call.raw is not None and actual.has(index, call.raw)


def _may_use_defaults(golden: Golden, actual: Actual) -> bool:
    """Whether declared defaults could make unequal texts equal."""
    catalog = actual.catalog
    return catalog is not None and any(catalog.has_defaults.get(call.tool, False) for call in golden.calls)


def _groups(golden: Golden, actual: Actual, left: range, right: range) -> Iterator[tuple[list[int], list[int]]]:
    """Indices of golden and actual calls that share a name, among those that are left."""
    made: dict[str, list[int]] = {}
    for index in right:
        made.setdefault(actual.names[index], []).append(index)
    expected: dict[str, list[int]] = {}
    for index in left:
        if golden.calls[index].tool in made:
            expected.setdefault(golden.calls[index].tool, []).append(index)
    for name, indices in expected.items():
        yield indices, made[name]


def _best_of_group(
    golden: Golden, actual: Actual, scores: Scores, expected: list[int], made: list[int]
) -> list[tuple[tuple[int, int], ...]]:
    """Every assignment of one group that is best by the additive criteria (a few of them where there are many)."""
    certain, expected, made = _certain(golden, actual, expected, made)
    if not expected or not made:
        return [certain]
    if _count(len(expected), len(made)) <= MAX_ENUMERATED:
        rest = _enumerated(golden, scores, expected, made)
    elif len(expected) == 1 or len(made) == 1:
        rest = _single(golden, scores, expected, made)
    else:
        rest = _assigned(golden, actual, scores, expected, made)
    return [tuple(sorted(certain + one)) for one in rest]


def _count(expected: int, made: int) -> int:
    """Number of ways to pair two groups as fully as possible."""
    small, large = sorted((expected, made))
    return comb(large, small) * factorial(small) if large <= 12 else MAX_ENUMERATED + 1


def _certain(
    golden: Golden, actual: Actual, expected: list[int], made: list[int]
) -> tuple[tuple[tuple[int, int], ...], list[int], list[int]]:
    """Pairs that some optimal pairing must hold: equal calls that stand once on either side.

    Sound where every golden of the group states literal arguments and is required, and no schema declares a default:
    the distance 1 - score then obeys the triangle inequality, so exchanging partners towards an equal pair never
    loses (tested by brute force).
    """
    calls = [golden.calls[index] for index in expected]
    if _may_use_defaults(golden, actual):
        return (), expected, made
    if not all(c.literal and c.raw is not None and not c.optional for c in calls):
        return (), expected, made
    by_key: dict[bytes, tuple[list[int], list[int]]] = {}
    for index in expected:
        by_key.setdefault(golden.calls[index].identity, ([], []))[0].append(index)
    for index in made:
        if actual.raw(index) is not None:
            by_key.setdefault(actual.identity(index)[2], ([], []))[1].append(index)
    found = tuple((left[0], right[0]) for left, right in by_key.values() if len(left) == 1 == len(right))
    taken = {a for _, a in found}
    paired = {g for g, _ in found}
    return found, [g for g in expected if g not in paired], [a for a in made if a not in taken]


def _enumerated(
    golden: Golden, scores: Scores, expected: list[int], made: list[int]
) -> list[tuple[tuple[int, int], ...]]:
    """Best assignments by trying all."""
    best: tuple[int, Score, int] | None = None
    found: list[tuple[tuple[int, int], ...]] = []
    for candidate in _all_assignments(expected, made):
        worth = _worth(golden, scores, candidate)
        if best is None or worth > best:
            best, found = worth, [candidate]
        elif worth == best:
            found.append(candidate)
    return found


def _all_assignments(expected: list[int], made: list[int]) -> Iterator[tuple[tuple[int, int], ...]]:
    if len(expected) <= len(made):
        for chosen in permutations(made, len(expected)):
            yield tuple(zip(expected, chosen, strict=True))
    else:
        for subset in combinations(expected, len(made)):
            for chosen in permutations(made):
                yield tuple(zip(subset, chosen, strict=True))


def _worth(golden: Golden, scores: Scores, pairs: Iterable[tuple[int, int]]) -> tuple[int, Score, int]:
    """Additive criteria of an assignment: required pairs, sum of scores, pairs scoring 1."""
    required, ones = 0, 0
    total: Score = 0
    for expected, index in pairs:
        value = scores(expected, index)
        required += not golden.calls[expected].optional
        total += value
        ones += value == 1
    return required, total, ones


def _single(golden: Golden, scores: Scores, expected: list[int], made: list[int]) -> list[tuple[tuple[int, int], ...]]:
    """Best pairs where one side has a single call."""
    worths = {(g, a): _worth(golden, scores, [(g, a)]) for g in expected for a in made}
    best = max(worths.values())
    tied: list[tuple[tuple[int, int], ...]] = [(pair,) for pair, worth in worths.items() if worth == best]
    return tied if len(tied) <= MAX_COMBINATIONS else [*tied[: MAX_COMBINATIONS // 2], *tied[-MAX_COMBINATIONS // 2 :]]


def _assigned(
    golden: Golden, actual: Actual, scores: Scores, expected: list[int], made: list[int]
) -> list[tuple[tuple[int, int], ...]]:
    """One best assignment by whole-number weights, then others as good by exchanging partners."""
    from scipy.optimize import linear_sum_assignment

    made = _promising(scores, expected, made)
    weights = _weights(golden, scores, expected, made)
    rows, columns = linear_sum_assignment(weights, maximize=True)
    start = [(expected[row], made[column]) for row, column in zip(rows, columns, strict=True)]
    return list(islice(_exchanges(scores, _in_order(actual, start), made), _options(len(start))))


def _promising(scores: Scores, expected: list[int], made: list[int]) -> list[int]:
    """Calls that may be in a best assignment: for each golden, as many of its best as there are goldens."""
    if len(made) <= len(expected):
        return made
    kept: set[int] = set()
    for row in expected:
        values = [scores(row, a) for a in made]
        # As whole numbers, since comparing fractions takes long; of equal ones the earlier call comes first.
        scale = lcm(*{value.denominator for value in values})
        worths = [value.numerator * (scale // value.denominator) for value in values]
        best = sorted(range(len(made)), key=worths.__getitem__, reverse=True)
        kept.update(made[place] for place in best[: len(expected)])
    return sorted(kept)


def _weights(golden: Golden, scores: Scores, expected: list[int], made: list[int]) -> list[list[int]]:
    """Whole numbers that order assignments by required pairs, then sum of scores, then pairs scoring 1."""
    values = [[scores(g, a) for a in made] for g in expected]
    size = min(len(expected), len(made))
    scale = lcm(*{value.denominator for row in values for value in row})
    while (size + 1) ** 2 * (size * scale + 1) >= _EXACT_FLOAT // 4:
        scale //= 2
    step = size + 1
    required = step * (size * scale + 1)
    return [
        [(not golden.calls[g].optional) * required + int(value * scale) * step + (value == 1) for value in row]
        for g, row in zip(expected, values, strict=True)
    ]


def _in_order(actual: Actual, pairs: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The same assignment with equal calls dealt out in order, so that no needless inversion is left."""
    by_call: dict[tuple[str, str, bytes], list[int]] = {}
    for position, (_, index) in enumerate(pairs):
        by_call.setdefault(actual.identity(index), []).append(position)
    result = list(pairs)
    for positions in by_call.values():
        goldens = sorted(pairs[position][0] for position in positions)
        indices = sorted(pairs[position][1] for position in positions)
        for position, both in zip(positions, zip(goldens, indices, strict=True), strict=True):
            result[position] = both
    return tuple(sorted(result))


def _exchanges(
    scores: Scores, start: tuple[tuple[int, int], ...], made: Sequence[int]
) -> Iterator[tuple[tuple[int, int], ...]]:
    """The start, then assignments of the same worth that differ in one exchange or one free partner.

    Worth is a sum over pairs, so only the pairs that differ are looked at; which goldens are paired stays as it is.
    """
    yield start
    taken = {a for _, a in start}
    free = [index for index in made if index not in taken]
    for place, (g, a) in enumerate(start):
        for other in free:
            if scores(g, other) == scores(g, a):
                yield (*start[:place], (g, other), *start[place + 1 :])
        for later in range(place + 1, len(start)):
            h, b = start[later]
            if _same_sum((scores(g, a), scores(h, b)), (scores(g, b), scores(h, a))):
                yield (*start[:place], (g, b), *start[place + 1 : later], (h, a), *start[later + 1 :])


def _same_sum(old: tuple[Score, Score], new: tuple[Score, Score]) -> bool:
    """Whether two pairs of scores have the same sum, and as many that are 1."""
    if old[0] == new[0]:
        return old[1] == new[1]
    return sum(old) == sum(new) and old.count(1) == new.count(1)


def _choose(
    golden: Golden, actual: Actual, fixed: Mapping[int, int], groups: list[list[tuple[tuple[int, int], ...]]]
) -> dict[int, int]:
    """Among equally scored assignments: most satisfied constraints, fewest inversions, earliest calls."""
    limit = _options(len(fixed) + sum(len(options[0]) for options in groups))
    if prod(len(options) for options in groups) <= limit:
        candidates = ({**fixed, **dict(sum(choice, ()))} for choice in product(*groups))
        return max(candidates, key=lambda pairs: _rank(golden, actual, pairs))
    chosen = [options[0] for options in groups]
    best = _rank(golden, actual, {**fixed, **dict(sum(chosen, ()))})
    improved, tried = True, 0
    while improved and tried < limit:
        improved = False
        for place, options in enumerate(groups):
            for option in options[: limit // len(groups) + 1]:
                trial = [*chosen[:place], option, *chosen[place + 1 :]]
                rank = _rank(golden, actual, {**fixed, **dict(sum(trial, ()))})
                tried += 1
                if rank > best:
                    chosen, best, improved = trial, rank, True
    return {**fixed, **dict(sum(chosen, ()))}


def _options(size: int) -> int:
    """How many options may be tried for a pairing of this size."""
    return max(20, min(MAX_COMBINATIONS, MAX_STEPS // max(1, size)))


def _rank(golden: Golden, actual: Actual, pairs: dict[int, int]) -> tuple[int, int, list[int]]:
    """The last three criteria, larger is better."""
    try:
        satisfied = order.satisfied(golden, actual, pairs)
    except order.ResultNotCaptured:
        satisfied = 0
    return satisfied, -order.inversions(pairs), [-pairs[index] for index in sorted(pairs)]
