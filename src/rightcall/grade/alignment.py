"""Golden and actual calls side by side: what is paired, missing, surplus, a retry, or stands in another's place.

The pairs that stand in order are anchors. Between two anchors, missing golden calls and surplus actual calls stand at
the same place: taken in order, one of each is a *substitution*. A repeat of an earlier call substitutes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rightcall.grade.order import monotone_core
from rightcall.grade.verdict import Row

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rightcall.case.golden import Golden
    from rightcall.grade.actual import Actual


@dataclass(slots=True)
class Alignment:
    """The parts of a comparison, by index.

    Attributes:
        pairs: golden index -> actual index.
        missing: required golden calls without a partner.
        retries: repeats after a failure.
        free: surplus calls of class `read` that the suite exempts.
        repeats: surplus calls identical to an earlier call; charged retries are among them or among `surplus`.
        surplus: the other surplus calls.
        uncounted: calls that are left out of the actual length.
        substituted: golden index -> the surplus call in its place (members of `missing` and `surplus`).
        rows: everything line by line.
    """

    pairs: Mapping[int, int]
    missing: list[int] = field(default_factory=list)
    retries: list[int] = field(default_factory=list)
    free: list[int] = field(default_factory=list)
    repeats: list[int] = field(default_factory=list)
    surplus: list[int] = field(default_factory=list)
    uncounted: list[int] = field(default_factory=list)
    substituted: dict[int, int] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()


def align(
    golden: Golden, actual: Actual, pairs: Mapping[int, int], *, reads: Collection[int], retries_are_free: bool
) -> Alignment:
    """Sort every call of both sides into its part. `reads` are the calls that cost nothing if they are surplus."""
    found = Alignment(pairs)
    found.missing = [g for g, call in enumerate(golden.calls) if g not in pairs and not call.optional]
    paired = set(pairs.values())
    unpaired = [index for index in range(len(actual)) if index not in paired]
    if unpaired:
        retries, repeats = _repeats(actual, paired, unpaired)
        found.retries = sorted(retries)
        found.free = [a for a in unpaired if a not in retries and a in reads]
        left_out = {*found.free, *(found.retries if retries_are_free else ())}
        found.uncounted = sorted(left_out)
        found.repeats = [a for a in unpaired if a not in left_out and a in repeats]
        found.surplus = [a for a in unpaired if a not in left_out and a not in repeats]
    found.rows = tuple(_rows(golden, actual, found))
    return found


def _repeats(actual: Actual, paired: set[int], unpaired: list[int]) -> tuple[set[int], set[int]]:
    """Among unpaired calls: the retries (SPEC §5.3), and the calls identical to an earlier one."""
    names = {actual.names[index] for index in unpaired}
    named: dict[str, list[int]] = {}
    for index, name in enumerate(actual.names):
        if name in names:
            named.setdefault(name, []).append(index)
    same: dict[tuple[str, str, bytes], list[int]] = {}
    for indices in named.values():
        for index in indices if len(indices) > 1 else ():
            same.setdefault(actual.identity(index), []).append(index)
    retries: set[int] = set()
    repeats: set[int] = set()
    for indices in same.values():
        for place, index in enumerate(indices):
            if index in paired:
                continue
            after_failure = place > 0 and actual.failed(indices[place - 1])
            is_last = place + 1 == len(indices)
            before_success = actual.failed(index) and not is_last and indices[place + 1] in paired
            if after_failure or before_success:
                retries.add(index)
            if place:
                repeats.add(index)
    return retries, repeats


def _rows(golden: Golden, actual: Actual, found: Alignment) -> list[Row]:
    anchors = sorted(monotone_core(found.pairs))
    rows: list[Row] = []
    gone_by = set(found.pairs.values())
    states = _states(found)
    golden_at = actual_at = 0
    surplus = set(found.surplus) - set(found.retries)
    for anchor in [*anchors, None]:
        golden_end = len(golden.calls) if anchor is None else anchor
        actual_end = len(actual) if anchor is None else found.pairs[anchor]
        if golden_at < golden_end or actual_at < actual_end:
            between = [a for a in range(actual_at, actual_end) if a not in gone_by]
            rows += _gap(golden, found, states, range(golden_at, golden_end), between, surplus)
        if anchor is not None:
            rows.append(Row("matched", anchor, actual_end))
            golden_at, actual_at = anchor + 1, actual_end + 1
    return rows


def _states(found: Alignment) -> dict[int, str]:
    states = dict.fromkeys(found.repeats, "surplus") | dict.fromkeys(found.surplus, "surplus")
    return states | dict.fromkeys(found.retries, "retry") | dict.fromkeys(found.free, "free")


def _gap(
    golden: Golden, found: Alignment, states: Mapping[int, str], goldens: range, between: list[int], surplus: set[int]
) -> list[Row]:
    """Rows between two anchors; pairs that cross another pair are shown at their golden's place."""
    stand_ins = iter([a for a in between if a in surplus])
    rows: list[Row] = []
    taken: set[int] = set()
    for g in goldens:
        if g in found.pairs:
            rows.append(Row("matched", g, found.pairs[g]))
        elif golden.calls[g].optional:
            rows.append(Row("optional", g, None))
        elif (stand_in := next(stand_ins, None)) is None:
            rows.append(Row("missing", g, None))
        else:
            found.substituted[g] = stand_in
            taken.add(stand_in)
            rows.append(Row("substituted", g, stand_in))
    return rows + [Row(states[a], None, a) for a in between if a not in taken]  # type: ignore[arg-type]
