"""Whether the figures in a file of results follow from its results.

A rate that was stored apart from what it was counted from can be wrong without anybody seeing it, so a file whose
figures do not follow from its results is not read at all.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rightcall.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.errors import Place
    from rightcall.run.results.model import GraderResults, Row

_CLOSE = 1e-9
"""How far a rate may be from what its counts give: what is lost when a number is written and read."""


def require_derived(results: GraderResults, place: Place) -> None:
    """Refuse figures that do not follow from the results.

    Counts of results, of those with a verdict, of `PASS` and `FAIL`, the pass rate, and every comparison of two agents
    are counted anew. Figures that a file does not have are not missed.

    Raises:
        ConfigError: naming the figure, what the file says and what its results give.
    """
    summary = results.summary
    counts = _Counts()
    for row in results.rows():
        counts.add(row)
    for name, stored, found in (*_totals(summary, counts), *_comparisons(summary, counts)):
        if stored is not None and abs(stored - found) > _CLOSE:
            raise ConfigError(
                f"`{name}` of {results.grader} is {stored:g}, but its results give {found:g}", place=place,
                hint="figures are derived from results; write the file again",
            )  # fmt: skip


class _Counts:
    """What the results of one grader give."""

    def __init__(self) -> None:
        self.status: Counter[str] = Counter()
        self.verdicts: Counter[str | None] = Counter()
        self.pairs: dict[tuple[str, str], Counter[str]] = {}

    def add(self, row: Row) -> None:
        """Count one result."""
        self.status[row.status] += 1
        if row.status != "EVALUATED":
            return
        self.verdicts[row.verdict] += 1
        if row.grader == "preference":
            value = row.value()
            kind = "inconsistent" if value.get("order_inconsistent") else "partial" if value.get("partial") else "ties"
            agents = (value["agent_a"], value["agent_b"])
            outcome = kind if row.verdict == "TIE" else f"wins_{str(row.verdict).lower()}"
            self.pairs.setdefault(agents, Counter())[outcome] += 1


def _totals(summary: Mapping[str, Any], counts: _Counts) -> Iterator[tuple[str, Any, float]]:
    evaluated, passed = counts.status["EVALUATED"], counts.verdicts["PASS"]
    n = counts.status.total() + int(summary.get("not_asked") or 0)
    yield "n", summary.get("n"), n
    yield "evaluated", summary.get("evaluated"), evaluated
    yield "unevaluable", summary.get("unevaluable"), counts.status["UNEVALUABLE"]
    yield "passed", summary.get("passed"), passed
    yield "failed", summary.get("failed"), counts.verdicts["FAIL"]
    rate = summary.get("pass_rate")
    if isinstance(rate, dict) and evaluated:
        yield "pass_rate", rate.get("estimate"), passed / evaluated


def _comparisons(summary: Mapping[str, Any], counts: _Counts) -> Iterator[tuple[str, Any, float]]:
    """Each comparison of two agents: its counts, and the rate in which a tie is half a win for both."""
    for one in summary.get("comparisons") or ():
        found = counts.pairs.get((one["agent_a"], one["agent_b"]), Counter())
        name = f"{one['agent_b']} against {one['agent_a']}"
        for key in ("wins_a", "wins_b", "ties", "partial", "inconsistent"):
            yield f"{key}, {name}", one.get(key), found[key]
        n = found.total()
        net = one.get("net_win_rate")
        if isinstance(net, dict) and n:
            yield f"net_win_rate, {name}", net.get("estimate"), (found["wins_b"] + (n - _decisive(found)) / 2) / n


def _decisive(found: Counter[str]) -> int:
    return found["wins_a"] + found["wins_b"]
