"""How far people agree with each other: the ceiling of every judge, by the same figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from rightcall.run.calibration_figures import Scale, agreement, said_plainly
from rightcall.stats.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from rightcall.review.form import FormField
    from rightcall.run.calibration_labels import ItemLabel


class People(Struct, frozen=True, kw_only=True):
    """How far people agree with each other, by the same figures; of items that two answered blind.

    `agreement` is the figure that the judge's fitness rests on, by the name `headline`.
    """

    items: int
    exact: Estimate
    within: Estimate | None
    agreement: Estimate
    headline: Literal["kappa", "alpha"]


def people_of(field: FormField, items: Sequence[ItemLabel], *, resamples: int, seed: int) -> People | None:
    """The ceiling; `None` where no item of these was answered by two people."""
    scale, left = Scale(field), 0
    pairs: list[tuple[int, int]] = []
    cases: list[Hashable] = []
    for one in items:
        if field.name in one.pairs:
            values = map(scale.place, one.pairs[field.name])
            both = [place for place in values if place is not None and place in scale.places]
            if len(both) < len(one.pairs[field.name]):
                left += 1
                continue
            pairs.append((both[0], both[1]))
            cases.append(one.case)
    if not pairs:
        return None
    from rightcall.stats.agreement import percent_agreement, within_one

    made = agreement(
        "alpha ordinal" if scale.is_level else "kappa", pairs, scale.places, cases, resamples=resamples, seed=seed,
        excluded=left,
    )  # fmt: skip
    return People(
        items=len(pairs), exact=percent_agreement(pairs, clusters=cases, excluded=left),
        within=within_one(pairs, clusters=cases, excluded=left) if scale.is_level else None,
        agreement=said_plainly(made, pairs), headline="alpha" if scale.is_level else "kappa",
    )  # fmt: skip
