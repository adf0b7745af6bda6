"""How far people agree with each other: the ceiling of every judge, by the same figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from rightcall.run.calibration.figures import Scale, agreement, said_plainly
from rightcall.stats.intervals import Estimate, undefined

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from rightcall.review.form import FormField
    from rightcall.run.calibration.labels import ItemLabel
    from rightcall.stats.weighted_table import Figure


class People(Struct, frozen=True, kw_only=True):
    """How far people agree with each other, by the same figures; of items that two answered blind.

    `agreement` is the figure that the judge's fitness rests on, by the name `headline`. `judge` is the same figure of
    the judge with each of these people, on the same items: what is held against it. On the items alone on which people
    agree, which are the easy ones, a judge would look better than any person.
    """

    items: int
    judge: Estimate
    exact: Estimate
    within: Estimate | None
    agreement: Estimate
    headline: Literal["kappa", "alpha"]


def people_of(
    field: FormField, items: Sequence[ItemLabel], beside: Mapping[str, Any], *, resamples: int, seed: int
) -> People | None:
    """The ceiling; `None` where no item of these was answered by two people.

    Args:
        field: which field.
        items: what people said.
        beside: item -> what the judge said about it; an item that it did not answer is left out for the judge.
        resamples: draws of the bootstraps.
        seed: where their generator starts.
    """
    scale, left = Scale(field), 0
    pairs: list[tuple[int, int]] = []
    cases: list[Hashable] = []
    judged: list[tuple[int, int]] = []
    of: list[Hashable] = []
    for one in items:
        if field.name in one.pairs:
            values = map(scale.place, one.pairs[field.name])
            both = [place for place in values if place is not None and place in scale.places]
            if len(both) < len(one.pairs[field.name]):
                left += 1
                continue
            pairs.append((both[0], both[1]))
            cases.append(one.case)
            said = scale.place(beside[one.item]) if one.item in beside else None
            if said is not None and said in scale.places:
                judged += [(said, both[0]), (said, both[1])]
                of += [one.case, one.case]
    if not pairs:
        return None
    from rightcall.stats.agreement import percent_agreement, within_one

    name: Figure = "alpha ordinal" if scale.is_level else "kappa"
    made = agreement(name, pairs, scale.places, cases, resamples=resamples, seed=seed, excluded=left)
    other = undefined(name, "the judge gave no value for these items", excluded=len(pairs))
    if judged:
        silent = len(pairs) - len(judged) // 2
        other = agreement(name, judged, scale.places, of, resamples=resamples, seed=seed, excluded=silent)
    return People(
        items=len(pairs), judge=said_plainly(other, judged),
        exact=percent_agreement(pairs, clusters=cases, excluded=left),
        within=within_one(pairs, clusters=cases, excluded=left) if scale.is_level else None,
        agreement=said_plainly(made, pairs), headline="alpha" if scale.is_level else "kappa",
    )  # fmt: skip
