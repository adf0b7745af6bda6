"""A judge never looks better for giving no answer: what the figures are with each such label answered wrong.

Whoever cannot be read on the hard cases would otherwise be held against people on the easy ones alone.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rightcall.run.calibration.figures import Paired, deciding_figures
from rightcall.stats.fitness import Silent

if TYPE_CHECKING:
    from rightcall.run.calibration.figures import Scale


def silent_of(found: Paired, *, resamples: int, seed: int) -> Silent | None:
    """The figures that the fitness rests on, with every label that the judge gave no answer to.

    Args:
        found: the labels.
        resamples: draws of the bootstrap.
        seed: where its generator starts.

    Returns:
        `None` where it answered all.
    """
    if not found.unread:
        return None
    silent = [(one, place) for one in found.unread if (place := found.scale.place(one.human)) is not None]
    whole = Paired(
        found.scale, (*found.labels, *(one for one, _ in silent)),
        (*found.pairs, *((wrong(found.scale, place), place) for _, place in silent)), Counter(), {},
    )  # fmt: skip
    agreement, detection = deciding_figures(whole, resamples=resamples, seed=seed)
    return Silent(labels=len(silent), agreement=agreement, detection=detection)


def wrong(scale: Scale, human: int) -> int:
    """The place of the answer that is most wrong: the other end of a scale, PASS for FAIL and FAIL for any other."""
    first, last = scale.places[0], scale.places[-1]
    if scale.is_level:
        return first if human - first >= last - human else last
    others = [place for place in scale.places if place != human]
    worst = [place for place in others if (place in scale.failing) != (human in scale.failing)]
    return (worst or others or [human])[0]
