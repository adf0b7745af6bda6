"""Which tool was chosen against which should have been: precision, recall and confusion, tool by tool and pooled.

"No tool" is a label like any other, `(none)`. A step counts for the recall of the label that was expected and for the
precision of the one that was selected. Tools that do not exist are pooled under `(hallucinated)`: they stand in the
denominator of the pooled precision, and in no tool's own row.

Every figure is an `Estimate`. Where a case gave several steps, its interval is that of clustered observations
(`rightcall.stats.clusters`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import msgspec
from msgspec import Struct

from rightcall.stats.clusters import Counts, clustered_share, mean_share
from rightcall.stats.intervals import Estimate, undefined, wilson

NONE = "(none)"
"""The label of "no tool"."""

HALLUCINATED = "(hallucinated)"
"""The label of all tools that do not exist."""

CATEGORIES = ("wrong_tool", "abstention_error", "over_action", "hallucinated_tool")
"""The failure categories, in the sequence in which they are shown."""


class Choice(NamedTuple):
    """One step that was evaluated.

    expected, selected: the tools' names; `None` is no tool. category: the failure category, `None` for a correct
    step. cluster: what the step belongs to, its case; `None`: to nothing but itself. destructive: whether either tool
    destroys something.
    """

    expected: str | None
    selected: str | None
    category: str | None = None
    cluster: str | None = None
    destructive: bool = False

    @property
    def labels(self) -> tuple[str, str]:
        """The labels that were expected and selected."""
        expected = NONE if self.expected is None else self.expected
        if self.category == "hallucinated_tool":
            return expected, HALLUCINATED
        return expected, NONE if self.selected is None else self.selected


class ToolFigures(Struct, frozen=True, kw_only=True):
    """One label's figures: `precision` over the steps that selected it, `recall` over those that expected it.

    `f1` is their harmonic mean, 2·correct / (selected + expected); undefined where the label was never expected.
    """

    tool: str
    precision: Estimate
    recall: Estimate
    f1: Estimate


class Pooled(Struct, frozen=True, kw_only=True):
    """Figures over some steps together.

    Attributes:
        steps, calls, expected, correct_calls, errors: how many steps, steps that called a tool, steps that expected
            one, calls of the expected tool, steps that failed. Counts for gates.
        pass_rate: steps that passed, correct abstentions among them.
        precision: correct calls / calls made; calls of tools that do not exist are among them.
        recall: correct calls / steps that expected a call.
    """

    steps: int
    calls: int
    expected: int
    correct_calls: int
    errors: int
    pass_rate: Estimate
    precision: Estimate
    recall: Estimate


class Macro(Struct, frozen=True, kw_only=True):
    """Means over labels, each weighing the same; `left_out` names the labels that have no value, by figure.

    `(none)` is among the labels, `(hallucinated)` is not. `f1` has no interval: a wrong step lowers two labels at
    once, and no formula for that is used here.
    """

    precision: Estimate
    recall: Estimate
    f1: Estimate
    left_out: dict[str, tuple[str, ...]]


class Cell(Struct, frozen=True):
    """One cell of the confusion table: how many steps expected one label and selected the other."""

    expected: str
    selected: str
    n: int


class Classification(Struct, frozen=True, kw_only=True):
    """Everything that is shown about a set of selection steps.

    `coverage` is the share of steps that could be evaluated. `failures` counts the failed steps by category, each
    once, by its first category. `confusion` holds the cells that are not 0. `destructive` is about the steps whose
    expected or selected tool destroys something.
    """

    coverage: Estimate
    overall: Pooled
    destructive: Pooled
    macro: Macro
    tools: tuple[ToolFigures, ...]
    failures: dict[str, int]
    confusion: tuple[Cell, ...]


def classify(choices: Iterable[Choice], *, excluded: int = 0, confidence: float = 0.95) -> Classification:
    """All figures of some steps.

    Args:
        choices: the steps that were evaluated.
        excluded: how many steps were not, for whatever reason.
        confidence: of every interval.
    """
    counted = _Counted(choices)
    last = [label for label in (NONE, HALLUCINATED) if label in counted.labels]
    tools = tuple(
        counted.labels[label].figures(label, excluded, confidence)
        for label in [*sorted(counted.labels.keys() - {NONE, HALLUCINATED}), *last]
    )
    return Classification(
        coverage=wilson(counted.n, counted.n + excluded, confidence=confidence),
        overall=counted.overall.figures(excluded, confidence),
        destructive=counted.destructive.figures(0, confidence),
        macro=counted.macro([figures for figures in tools if figures.tool != HALLUCINATED], confidence),
        tools=tools,
        failures={category: counted.failures[category] for category in CATEGORIES},
        confusion=tuple(Cell(*pair, n) for pair, n in sorted(counted.confusion.items())),
    )


class _Share:
    """A share being counted: successes and observations, cluster by cluster."""

    def __init__(self) -> None:
        self.clusters: dict[Hashable, Counts] = {}

    def add(self, cluster: Hashable, *, success: bool) -> None:
        """Count one observation."""
        successes, n = self.clusters.get(cluster, (0, 0))
        self.clusters[cluster] = (successes + success, n + 1)

    @property
    def totals(self) -> Counts:
        """Successes and observations of all clusters together."""
        return sum(s for s, _ in self.clusters.values()), sum(n for _, n in self.clusters.values())

    def estimate(self, excluded: int, confidence: float) -> Estimate:
        """The share with its interval."""
        return clustered_share(self.clusters.values(), excluded=excluded, confidence=confidence)


class _Pool:
    """Steps counted together."""

    def __init__(self) -> None:
        self.passed, self.precision, self.recall = _Share(), _Share(), _Share()

    def add(self, choice: Choice, cluster: Hashable) -> None:
        """Count one step."""
        correct = choice.category is None
        self.passed.add(cluster, success=correct)
        if choice.selected is not None:
            self.precision.add(cluster, success=correct)
        if choice.expected is not None:
            self.recall.add(cluster, success=correct)

    def figures(self, excluded: int, confidence: float) -> Pooled:
        """What was counted."""
        passed, steps = self.passed.totals
        correct, calls = self.precision.totals
        return Pooled(
            steps=steps, calls=calls, expected=self.recall.totals[1], correct_calls=correct, errors=steps - passed,
            pass_rate=self.passed.estimate(excluded, confidence),
            precision=_or_why(self.precision.estimate(excluded, confidence), "no tool was called"),
            recall=_or_why(self.recall.estimate(excluded, confidence), "no tool was expected"),
        )  # fmt: skip


class _Label:
    """The steps that selected a label, those that expected it, and those that did either."""

    def __init__(self) -> None:
        self.selected, self.expected, self.either = _Share(), _Share(), _Share()

    def figures(self, label: str, excluded: int, confidence: float) -> ToolFigures:
        """One label's row."""
        return ToolFigures(
            tool=label,
            precision=_or_why(self.selected.estimate(excluded, confidence), "never selected"),
            recall=_or_why(self.expected.estimate(excluded, confidence), "never expected"),
            f1=self._f1(excluded, confidence),
        )

    def _f1(self, excluded: int, confidence: float) -> Estimate:
        """F1 = 2J/(1+J), with J the share of correct steps among those that expected or selected the label.

        J is a proportion, and F1 grows with it, so J's bounds become F1's.
        """
        overlap = self.either.estimate(excluded, confidence)
        method = f"{overlap.method}, of the overlap"
        if not self.expected.clusters:
            return undefined(method, "never expected", excluded=excluded)
        return msgspec.structs.replace(
            overlap, estimate=_f1(overlap.estimate), low=_f1(overlap.low), high=_f1(overlap.high), method=method
        )


class _Counted:
    """Steps counted in one pass; as large as the labels that each case has, not as the steps."""

    def __init__(self, choices: Iterable[Choice]) -> None:
        self.n = 0
        self.overall, self.destructive = _Pool(), _Pool()
        self.labels: defaultdict[str, _Label] = defaultdict(_Label)
        self.confusion: Counter[tuple[str, str]] = Counter()
        self.failures: Counter[str] = Counter()
        for choice in choices:
            self._add(choice)

    def _add(self, choice: Choice) -> None:
        self.n += 1
        cluster: Hashable = self.n if choice.cluster is None else choice.cluster
        correct, (expected, selected) = choice.category is None, choice.labels
        self.overall.add(choice, cluster)
        if choice.destructive:
            self.destructive.add(choice, cluster)
        self.labels[expected].expected.add(cluster, success=correct)
        self.labels[selected].selected.add(cluster, success=correct)
        for label in {expected, selected}:
            self.labels[label].either.add(cluster, success=correct)
        self.confusion[expected, selected] += 1
        if choice.category is not None:
            self.failures[choice.category] += 1

    def macro(self, tools: list[ToolFigures], confidence: float) -> Macro:
        """The means over labels."""
        counted = [self.labels[figures.tool] for figures in tools]
        f1 = [figures.f1.estimate for figures in tools if figures.f1.estimate is not None]
        return Macro(
            precision=mean_share([label.selected.clusters for label in counted], confidence=confidence),
            recall=mean_share([label.expected.clusters for label in counted], confidence=confidence),
            f1=_plain_mean(f1, len(tools) - len(f1)),
            left_out={
                name: tuple(figures.tool for figures in tools if getattr(figures, name).estimate is None)
                for name in ("precision", "recall", "f1")
            },
        )


def _f1(overlap: float | None) -> float | None:
    return None if overlap is None else 2 * overlap / (1 + overlap)


def _or_why(estimate: Estimate, reason: str) -> Estimate:
    """The estimate; where it is undefined, with this reason."""
    return msgspec.structs.replace(estimate, reason=reason) if estimate.estimate is None else estimate


def _plain_mean(values: list[float], excluded: int) -> Estimate:
    if not values:
        return undefined("mean", excluded=excluded)
    reason = "labels share their wrong steps, so the mean of their F1 is given without an interval"
    mean = sum(values) / len(values)
    return Estimate(estimate=mean, low=None, high=None, n=len(values), method="mean", excluded=excluded, reason=reason)
