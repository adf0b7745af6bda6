"""Traces of two or more agents joined into pairs: by the id of their case, and never by position.

Within a case, the traces of two agents are paired by the number of their trial. Where the numbers are not there, are
not the same, or stand twice, one trace of each is taken by its content's digest, which follows no order, and the
ambiguity is reported. What has no counterpart is counted and named. All traces are held in memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from rightcall.errors import Place, TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rightcall.run.graders.rubric import Joined

NAMED = 5
"""How many cases a note names."""


@dataclass(frozen=True)
class Side:
    """One agent: what people call it, and its traces with their cases."""

    name: str
    joined: Callable[[], Iterator[Joined]]


@dataclass(frozen=True)
class Pair:
    """Two traces of one case.

    Attributes:
        id: the case, with the trial where the case gives several pairs.
        agent_a, agent_b: whose traces they are. a, b: the traces with what belongs to them.
        trial: the number that both carry, if they do.
        is_first: whether it is the first pair of its case and agents.
    """

    id: str
    case_id: str
    agent_a: str
    agent_b: str
    a: Joined
    b: Joined
    trial: int | None = None
    is_first: bool = True


@dataclass
class Left:
    """What became of no pair: traces without a counterpart, by agent; cases whose trials could not be told apart."""

    alone: dict[str, list[str]] = field(default_factory=dict)
    ambiguous: list[str] = field(default_factory=list)


@dataclass
class Pairing:
    """Every pair of agents with every pair of their traces.

    Attributes:
        sides: the agents, in the order in which they were named: of two, the earlier is A.
        only: only pairs of this case. limit: at most so many pairs.
        left: (agent A, agent B) -> what became of no pair, filled by `pairs`.
        nameless: agent -> traces without a case id; `twice`: agent -> traces that are there twice.
    """

    sides: Sequence[Side]
    only: str | None = None
    limit: int | None = None
    left: dict[tuple[str, str], Left] = field(default_factory=dict)
    nameless: Counter[str] = field(default_factory=Counter)
    twice: Counter[str] = field(default_factory=Counter)

    def pairs(self) -> Iterator[Pair]:
        """All pairs, case by case in the order in which the cases first appear.

        Raises:
            TraceError: a file whose traces name no case; whatever stops the reading.
        """
        self.left.clear()
        self.nameless.clear()
        self.twice.clear()
        found = {side.name: self._by_case(side) for side in self.sides}
        cases = dict.fromkeys(case_id for by_case in found.values() for case_id in by_case)
        number = 0
        for case_id in cases:
            if self.only is not None and case_id != self.only:
                continue
            for one, other in combinations(self.sides, 2):
                for pair in self._of_case(case_id, one.name, other.name, found):
                    if self.limit is not None and number >= self.limit:
                        return
                    number += 1
                    yield pair

    def _by_case(self, side: Side) -> dict[str, list[Joined]]:
        """One agent's traces by case; the same trace twice counts once."""
        found: dict[str, list[Joined]] = {}
        seen: set[str] = set()
        named: Counter[str] = Counter()
        whole: Counter[str] = Counter()
        for joined in side.joined():
            trace, case, *_, place = joined
            case_id = trace.case_id if trace.case_id is not None else case.id if case is not None else None
            whole[place.file or ""] += 1
            if case_id is None:
                self.nameless[side.name] += 1
                continue
            named[place.file or ""] += 1
            if (digest := trace.digest) in seen:
                self.twice[side.name] += 1
                continue
            seen.add(digest)
            found.setdefault(case_id, []).append(joined)
        for file, number in whole.items():
            if not named[file]:
                raise TraceError(
                    f"none of the {number} traces of `{side.name}` says which case it belongs to",
                    code="TRACE_NO_CASE", place=Place(file or None),
                    hint="pairs are joined by the id of their case, never by position: give each trace its `case_id`",
                )  # fmt: skip
        return found

    def _of_case(self, case_id: str, a: str, b: str, found: dict[str, dict[str, list[Joined]]]) -> Iterator[Pair]:
        left = self.left.setdefault((a, b), Left())
        ours, theirs = found[a].get(case_id, []), found[b].get(case_id, [])
        matched, is_clear = match(ours, theirs)
        for name, traces in ((a, ours), (b, theirs)):
            left.alone.setdefault(name, []).extend([case_id] * (len(traces) - len(matched)))
        if not is_clear:
            left.ambiguous.append(case_id)
        agents = "" if len(self.sides) == 2 else f" {a}:{b}"
        for number, (one, other) in enumerate(matched):
            trial = one[0].trial if one[0].trial == other[0].trial else None
            which = f"#{trial}" if len(matched) > 1 else ""
            yield Pair(f"{case_id}{which}{agents}", case_id, a, b, one, other, trial, is_first=number == 0)

    def notes(self) -> list[str]:
        """What became of no pair, in words."""
        lines = [
            f"{name}: {_counted(n, 'trace')} without a case id: in no pair" for name, n in sorted(self.nameless.items())
        ]
        lines += [f"{name}: {_counted(n, 'trace')} there twice: counted once" for name, n in sorted(self.twice.items())]
        for (a, b), left in self.left.items():
            for name, other in ((a, b), (b, a)):
                cases = left.alone.get(name, [])
                if cases:
                    lines.append(f"{name}: {_counted(len(cases), 'trace')} without a counterpart of {other}: "
                                 f"{_listed(cases)}")  # fmt: skip
            if left.ambiguous:
                lines.append(
                    f"{a}, {b}: trials of {_counted(len(left.ambiguous), 'case')} have no numbers in common, one pair "
                    f"was taken of each: {_listed(left.ambiguous)}"
                )
        return lines

    def only_here(self) -> str:
        """Of which cases each agent alone has traces, in words."""
        alone = {name: cases for left in self.left.values() for name, cases in left.alone.items() if cases}
        return "; ".join(f"{name} has {_listed(cases)}" for name, cases in alone.items())

    def alone(self, a: str, b: str) -> int:
        """Cases that only one of the two agents has a trace of, and traces beyond those that were paired."""
        left = self.left.get((a, b), Left())
        return sum(map(len, left.alone.values()))


def match(ours: Sequence[Joined], theirs: Sequence[Joined]) -> tuple[list[tuple[Joined, Joined]], bool]:
    """The pairs that the traces of one case give, and whether it is clear which belong together.

    One trace each is a pair. Several are paired by the number of their trial; where that is impossible, one pair is
    made of the traces whose digests are smallest.
    """
    if not ours or not theirs:
        return [], True
    if len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])], True
    left, right = _by_trial(ours), _by_trial(theirs)
    if left is not None and right is not None and left.keys() & right.keys():
        return [(joined, right[trial]) for trial, joined in left.items() if trial in right], True
    return [(min(ours, key=_digest), min(theirs, key=_digest))], False


def _by_trial(traces: Sequence[Joined]) -> dict[int, Joined] | None:
    """The traces by the number of their trial; `None` where one has none, or two have the same."""
    found = {joined[0].trial: joined for joined in traces if joined[0].trial is not None}
    return found if len(found) == len(traces) else None


def _digest(joined: Joined) -> str:
    return joined[0].digest


def _listed(cases: Sequence[str]) -> str:
    unlike = list(dict.fromkeys(cases))
    more = f" and {len(unlike) - NAMED} more" if len(unlike) > NAMED else ""
    return f"{', '.join(unlike[:NAMED])}{more}"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
