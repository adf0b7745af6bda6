"""The figures of `preference`, added up as results come in, and the evidence on which early stopping rests.

Of two agents A is the one that was named first. All comparisons are of B against A: a candidate is named after what it
is to replace. One pair is one observation of its case; what rests on several pairs of a case is clustered by case.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.grade.reconcile import is_vote, majority
from rightcall.run.preference import panels
from rightcall.run.preference.panels import Agents, Row, tally_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rightcall.grade.preference import PreferenceResult
    from rightcall.run.preference.panels import Letter

NO_CATEGORY = "(none)"


@dataclass
class Evidence:
    """The evidence for early stopping: wins and losses in a sequence that was fixed before anybody was asked.

    A comparison has stopped once the e-value of its first so many pairs, all of them concluded, has reached 1/alpha.
    Only the first pair of each case counts, since its trials are not independent; each comparison has its own alpha.

    Attributes:
        alpha: the error that may be made; `None`: nothing stops.
        stopped: comparison -> wins of A, wins of B and e-value when it stopped.
    """

    alpha: float | None = None
    stopped: dict[Agents, tuple[int, int, float]] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _next: int = 0
    _came: dict[int, tuple[Agents, str] | None] = field(default_factory=dict)
    _wins: dict[Agents, Counter[str]] = field(default_factory=dict)

    def expect(self, number: int, unit: str, *, is_first: bool) -> None:
        """Take note of a pair's place in the sequence."""
        if self.alpha is None:
            return
        if is_first:
            self._numbers[unit] = number
        else:
            self._came[number] = None
            self._advance()

    def has_stopped(self, a: str, b: str) -> bool:
        """Whether the comparison of two agents is settled."""
        return (a, b) in self.stopped

    def add(self, result: PreferenceResult) -> None:
        """Count a result, once everything before it in the sequence is concluded."""
        number = self._numbers.pop(result.pair, None)
        if self.alpha is None or number is None:
            return
        self._came[number] = ((result.agent_a, result.agent_b), result.verdict or "")
        self._advance()

    def _advance(self) -> None:
        while self._next in self._came:
            came = self._came.pop(self._next)
            self._next += 1
            if came is not None and came[1] in ("A", "B") and came[0] not in self.stopped:
                self._count(*came)

    def _count(self, agents: Agents, winner: str) -> None:
        wins = self._wins.setdefault(agents, Counter())
        wins[winner] += 1
        value = panels.evidence(wins["B"], wins["A"])
        if self.alpha is not None and value * self.alpha >= 1:
            self.stopped[agents] = (wins["A"], wins["B"], value)


@dataclass
class PreferenceAggregate:
    """The figures of one run.

    Attributes:
        agents: the agents, as they are shown; `names`: as they are known to `alone`.
        alone: how many traces of two agents have no counterpart.
        second: the judge that is asked where the first ones do not settle a pair.
        min_confidence, protocol, seed: of the run.
    """

    agents: tuple[str, ...]
    names: tuple[str, ...]
    alone: Callable[[str, str], int]
    evidence: Evidence = field(default_factory=Evidence)
    second: str | None = None
    min_confidence: float = 0.7
    protocol: str = "both"
    seed: int = 0
    rows: dict[Agents, list[Row]] = field(default_factory=dict)
    letters: dict[str, list[Letter]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    quality: Counter[str] = field(default_factory=Counter)
    _made: tuple[int, dict[str, Any]] | None = None

    def add(self, result: PreferenceResult) -> None:
        """Count one result."""
        self.evidence.add(result)
        self.rows.setdefault((result.agent_a, result.agent_b), []).append(_row(result))
        for one in result.orders:
            letter = panels.Letter(result.pair, one.order, one.replicate, one.letter)
            self.letters.setdefault(one.judge, []).append(letter)
        self.quality.update(_quality_kind(result, what) for what in result.quality)
        self.counts["n"] += 1
        self.counts["conflicts"] += result.conflict
        self.counts["asked"] += result.escalated
        self.counts["settled"] += result.settled_by is not None
        self.counts["opposite"] += result.escalated and self._is_opposed(result)
        is_judged = result.status == "EVALUATED" and result.decided_by != "code"
        self.counts["judged"] += is_judged
        self.counts["unsure"] += is_judged and (result.sure or 0.0) < self.min_confidence

    def _is_opposed(self, result: PreferenceResult) -> bool:
        """Whether the second judge prefers the agent that the first ones, taken together, do not."""
        first = majority([one for one in result.reconciled if one.judge != self.second and is_vote(one)])
        second = {one.winner for one in result.reconciled if one.judge == self.second}
        return first is not None and {first.winner, *second} == {"A", "B"}

    def summary(self) -> dict[str, Any]:
        """Every comparison, the panels of each judge, and the ranking of three or more agents."""
        if self._made is None or self._made[0] != self.counts["n"]:
            self._made = (self.counts["n"], self._summary())
        return self._made[1]

    def _summary(self) -> dict[str, Any]:
        known = dict(zip(self.agents, self.names, strict=True))
        comparisons = [
            self._comparison((a, b), self.alone(known[a], known[b])) for a, b in combinations(self.agents, 2)
        ]
        single = self.protocol == "random"
        position = {judge: panels.position(letters, single=single) for judge, letters in sorted(self.letters.items())}
        return {
            "agents": list(self.agents),
            "protocol": self.protocol,
            "comparisons": comparisons,
            "position": position,
            "biased": [judge for judge, panel in position.items() if panel["biased"]],
            "agreement": panels.agreement(
                [row for rows in self.rows.values() for row in rows], self.second, seed=self.seed
            ),
            "confidence": {"below": self.counts["unsure"], "limit": self.min_confidence, "n": self.counts["judged"]},
            "second_judge": None if self.second is None else self._second(),
            "conflicts_with_code": self.counts["conflicts"],
            "quality": _most_first(self.quality),
            "ranking": panels.ranking(self.rows) if len(self.agents) > 2 else None,
        }

    def _second(self) -> dict[str, Any]:
        asked, settled = self.counts["asked"], self.counts["settled"]
        return {
            "judge": self.second, "asked": asked, "settled": settled, "to_people": asked - settled,
            "against_the_first": self.counts["opposite"],
        }  # fmt: skip

    def _comparison(self, agents: Agents, alone: int) -> dict[str, Any]:
        """One agent against another: everything, and apart from it what judges alone decided."""
        rows = self.rows.get(agents, [])
        open_rows = [row for row in rows if row.outcome not in ("A", "B", "TIE")]
        by_code = Counter(f"{row.by_code}" for row in rows if row.by_code)
        reasons = Counter(row.outcome for row in open_rows)
        found = {
            "agent_a": agents[0],
            "agent_b": agents[1],
            "pairs": len(rows),
            "without_counterpart": alone,
            **tally_of(rows),
            "inconclusive": reasons["INCONCLUSIVE"],
            "without_verdict": _most_first(reasons),
            "by_code": {**tally_of([row for row in rows if row.by_code]), "reasons": dict(sorted(by_code.items()))},
            "comparison": panels.comparison(rows, agents, excluded=len(open_rows)),
            "judged": panels.comparison([row for row in rows if not row.by_code], agents, excluded=len(open_rows)),
            "net_win_rate": panels.net(rows, seed=self.seed, excluded=len(open_rows)),
            "categories": _categories(rows),
            "length": panels.length([row for row in rows if not row.by_code]),
        }
        stopped = self.evidence.stopped.get(agents)
        return {**found, "stopped_early": None if stopped is None else self._stop(agents, *stopped)}

    def _stop(self, agents: Agents, wins_a: int, wins_b: int, value: float) -> dict[str, Any]:
        alpha = self.evidence.alpha or 0.05
        better, worse = (agents[1], agents[0]) if wins_b > wins_a else agents
        return {
            "alpha": alpha, "e_value": value, "wins_a": wins_a, "wins_b": wins_b,
            "share_b": panels.sequence(wins_b, wins_a, alpha), "words": f"{better} is better than {worse}",
        }  # fmt: skip


def _row(result: PreferenceResult) -> Row:
    kind = "order_inconsistent" if result.order_inconsistent else "partial" if result.partial else None
    is_code = result.status == "EVALUATED" and result.decided_by == "code"
    return Row(
        pair=result.pair, case=result.case_id or result.pair, category=result.category or NO_CATEGORY,
        outcome=result.verdict or result.reason or "unknown", kind=kind,
        by_code=result.code_reason if is_code else None,
        sizes=((result.size_a.characters, result.size_b.characters), (result.size_a.calls, result.size_b.calls)),
        winners=tuple((one.judge, one.winner) for one in result.reconciled if one.winner is not None),
    )  # fmt: skip


def _most_first(counts: Counter[str]) -> dict[str, int]:
    """The largest first, and equal ones by name, whatever came in first."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _quality_kind(result: PreferenceResult, what: str) -> str:
    """Whose trace cannot be compared, and why in a word or two."""
    names = sorted((result.agent_a, result.agent_b), key=len, reverse=True)
    agent = next((name for name in names if what.startswith(f"{name}: ")), "")
    kind = what.removeprefix(f"{agent}: ").partition(":")[0]
    return f"{agent}: {kind}" if agent else kind


def _categories(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Outcomes by category, the largest first; empty where no case has one."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.category, []).append(row)
    if set(groups) <= {NO_CATEGORY}:
        return []
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return [
        {
            "category": name, "n": len(own), **(tally := tally_of(own)),
            "win_rate": msgspec.to_builtins(panels.rate(tally["wins_b"], tally["wins_a"])),
        }
        for name, own in ordered
    ]  # fmt: skip
