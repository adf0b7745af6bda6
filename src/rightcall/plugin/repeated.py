"""Tests that were tried several times: pass^k, with its interval, and which of them are flaky."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.report.judged import share
from rightcall.report.plain import visible
from rightcall.stats.repeats import pass_hat_k

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.plugin.heard import Heard
    from rightcall.stats.intervals import Estimate


class Repeated(msgspec.Struct, frozen=True, kw_only=True):
    """One test that was repeated.

    Attributes:
        test: its node id without the trial.
        repeats: how often it was to run. trials: how often it passed or failed. passed: how often it passed.
        pass_hat: pass^1, pass^2 … up to `repeats`.
    """

    test: str
    repeats: int
    trials: int
    passed: int
    pass_hat: tuple[Estimate, ...]

    @property
    def is_flaky(self) -> bool:
        """Whether its trials differ."""
        return 0 < self.passed < self.trials


def repeats_of(tests: Sequence[Heard]) -> list[Repeated]:
    """Every test that was repeated, by name. A trial without an answer is in no figure."""
    by_base: dict[str, list[Heard]] = defaultdict(list)
    for one in tests:
        if one.planned.repeats > 1 and one.outcomes:
            by_base[one.planned.base].append(one)
    return [_repeated(base, found) for base, found in sorted(by_base.items())]


def _repeated(base: str, found: Sequence[Heard]) -> Repeated:
    answers = [one.trial for one in found if one.trial is not None]
    counts, most = (sum(answers), len(answers)), max(one.planned.repeats for one in found)
    return Repeated(
        test=base, repeats=most, trials=counts[1], passed=counts[0],
        pass_hat=tuple(pass_hat_k([counts], k) for k in range(1, most + 1)),
    )  # fmt: skip


def overall(found: Sequence[Repeated]) -> list[Estimate]:
    """pass^k over all repeated tests; a test with fewer trials than k is left out of it, and counted."""
    counts = [(one.passed, one.trials) for one in found]
    return [pass_hat_k(counts, k) for k in range(1, max((one.repeats for one in found), default=0) + 1)]


def repeats_words(found: Sequence[Repeated]) -> list[str]:
    """The figures, a line each."""
    if not found:
        return []
    lines = ["repeats: pass^k is how often k trials of a test all pass"]
    for one in found:
        lacking = f", {one.repeats - one.trials} without an answer" if one.trials < one.repeats else ""
        mark = "  FLAKY" if one.is_flaky else ""
        lines.append(f"  {visible(one.test)}: {one.passed} of {one.trials} passed{lacking}{mark}")
        lines += [f"    pass^{k} {share(estimate)}" for k, estimate in enumerate(one.pass_hat, 1)]
    if len(found) > 1:
        lines.append(f"  all {len(found)} repeated tests, {sum(one.is_flaky for one in found)} of them flaky")
        lines += [f"    pass^{k} {share(estimate)} n={estimate.n}" for k, estimate in enumerate(overall(found), 1)]
    return lines


def repeats_facts(found: Sequence[Repeated]) -> dict[str, Any]:
    """The same for a run's facts."""
    if not found:
        return {}
    return {"repeats": msgspec.to_builtins(found), "pass_hat": msgspec.to_builtins(overall(found))}


def repeats_rows(found: Sequence[Repeated]) -> list[tuple[str, str]]:
    """The same for a report: name and value."""
    rows = [(f"pass^{k} of repeated tests", f"{share(one)} n={one.n}") for k, one in enumerate(overall(found), 1)]
    flaky = [visible(one.test) for one in found if one.is_flaky]
    return [*rows, *([("flaky tests", ", ".join(flaky))] if flaky else [])]
