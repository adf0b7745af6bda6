"""Profiles: what a verdict is made of (SPEC §5.9).

`balanced` and `strict` are rightcall's own. `article` is a published formula, kept for comparison: set Jaccard, pooled
presence of required keys, order all or half, efficiency, 4 : 3 : 2 : 1, no veto. The rest are the modes of other
tools, for those who move: names and arguments are compared by rightcall's own equality, and `overall` is 1 or 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal, get_args

from rightcall.grade.verdict import Article

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.case.golden import Golden
    from rightcall.grade.actual import Actual
    from rightcall.grade.alignment import Alignment
    from rightcall.grade.arguments import Score
    from rightcall.grade.order import Order

Profile = Literal[
    "balanced", "strict", "article",
    "exact", "in_order", "any_order", "unordered", "subset", "superset", "single_tool", "bfcl",
]  # fmt: skip
PROFILES: tuple[str, ...] = get_args(Profile)
OWN = ("balanced", "strict")
WEIGHTS = (4, 3, 2, 1)
"""Weights of jaccard, argument accuracy, order and efficiency."""


Share = tuple[int, int]
"""An exact share as (part, whole) in whole numbers; the whole is never 0."""


def weighted(parts: tuple[Share | None, ...]) -> Fraction:
    """Mean of the four parts weighted 4 : 3 : 2 : 1 over those that apply, exact."""
    part, whole, weights = 0, 1, 0
    for weight, share in zip(WEIGHTS, parts, strict=True):
        if share is not None:
            part = part * share[1] + weight * share[0] * whole
            whole *= share[1]
            weights += weight
    return Fraction(part, whole * weights)


_ALL_AS_EXPECTED = Article(
    precision_score=1.0, argument_accuracy=1.0, sequence_score=1.0, efficiency_score=1.0, overall_score=1.0,
    feedback="as expected",
)  # fmt: skip


_NOTHING_CALLED = Article(
    precision_score=0.0, argument_accuracy=1.0, sequence_score=1.0, efficiency_score=0.0, overall_score=0.5,
    feedback="as expected",
)  # fmt: skip


def perfect_article(size: int) -> Article:
    """The published formula's figures where the calls are the golden's, one by one, with valid arguments.

    Without any call it scores nothing for tools and steps: 0.3 + 0.2.
    """
    return _ALL_AS_EXPECTED if size else _NOTHING_CALLED


def article(golden: Golden, actual: Actual) -> tuple[Article, Fraction]:
    """The published formula's figures and its exact overall score.

    Set Jaccard over names (0 if both are empty); pooled share of schema-required keys present over all actual calls
    (1 if nothing is required); 1 if the agent's names, filtered to golden names, equal the golden list, else 0.5;
    min(1, golden / actual), 0 if the golden is empty.
    """
    expected = [call.tool for call in golden.calls]
    wanted, made = set(expected), set(actual.names)
    union = len(wanted | made)
    precision = (len(wanted & made), union) if union else (0, 1)
    present, required = _required_keys(actual)
    keys = (present, required) if required else (1, 1)
    in_sequence = [name for name in actual.names if name in wanted] == expected
    sequence = (1, 1) if in_sequence else (1, 2)
    steps = (min(len(expected), max(1, len(actual))), max(1, len(actual))) if expected else (0, 1)
    overall = weighted((precision, keys, sequence, steps))
    if overall == 1:
        return _ALL_AS_EXPECTED, overall
    figures = Article(
        precision_score=precision[0] / precision[1], argument_accuracy=keys[0] / keys[1],
        sequence_score=sequence[0] / sequence[1], efficiency_score=steps[0] / steps[1], overall_score=float(overall),
        feedback=_feedback(wanted, made, keys, steps, in_sequence=in_sequence),
    )  # fmt: skip
    return figures, overall


def _required_keys(actual: Actual) -> tuple[int, int]:
    """(required keys that are present, required keys) over all actual calls."""
    if actual.catalog is None:
        return 0, 0
    present = total = 0
    for index in range(len(actual)):
        required = actual.catalog.required(actual.tool_name(index))
        if required:
            found = actual.value(index) or {}
            total += len(required)
            present += sum(key in found for key in required)
    return present, total


def _feedback(wanted: set[str], made: set[str], keys: Share, steps: Share, *, in_sequence: bool) -> str:
    parts = []
    if wanted - made:
        parts.append(f"not called: {', '.join(sorted(wanted - made))}")
    if made - wanted:
        parts.append(f"not expected: {', '.join(sorted(made - wanted))}")
    if keys[0] < keys[1]:
        parts.append(f"required arguments present: {keys[0]} of {keys[1]}")
    if not in_sequence:
        parts.append("the order differs from the golden")
    if steps[0] < steps[1]:
        parts.append("more calls than the golden" if wanted else "no call was expected")
    return "; ".join(parts) or "as expected"


LISTED = ("strict", "exact", "in_order")
"""Profiles under which the listed order counts, whatever the case says."""
UNORDERED = ("any_order", "unordered", "subset", "superset", "single_tool", "bfcl")
"""Profiles under which no order counts."""
_ALLOW_MORE = ("in_order", "any_order", "superset")


def holds(
    profile: str, golden: Golden, actual: Actual, aligned: Alignment, constraints: Order, scores: Mapping[int, Score]
) -> bool:
    """Whether the condition of a compatibility profile holds. Retries are calls like any other here."""
    if profile == "single_tool":
        return golden.calls[0].tool in actual.names
    optional = profile in _ALLOW_MORE
    if any(score != 1 and not (optional and golden.calls[g].optional) for g, score in scores.items()):
        return False
    if constraints.violations or (aligned.missing and profile != "subset"):
        return False
    return profile in _ALLOW_MORE or not (aligned.surplus or aligned.repeats)
