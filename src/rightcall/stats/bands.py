"""Words that are usual for an agreement beyond chance. They are labels for readers: no gate looks at them."""

from __future__ import annotations

from typing import Literal

KappaWord = Literal["poor", "slight", "fair", "moderate", "substantial", "almost perfect"]
AlphaWord = Literal["not reliable", "tentative", "reliable"]

_KAPPA: tuple[tuple[float, KappaWord], ...] = (
    (0.81, "almost perfect"),
    (0.61, "substantial"),
    (0.41, "moderate"),
    (0.21, "fair"),
    (0.0, "slight"),
)


def kappa_word(value: float | None) -> KappaWord | None:
    """Landis and Koch's word for a kappa: from .21 fair, .41 moderate, .61 substantial.

    From .81 it is almost perfect, below 0 poor; `None` has none.

    Source: J. R. Landis and G. G. Koch, Biometrics 33, 1977. A value between two of their bands, such as .605, has the
    lower word.
    """
    if value is None:
        return None
    return next((word for start, word in _KAPPA if value >= start), "poor")


def alpha_word(value: float | None) -> AlphaWord | None:
    """Krippendorff's word for an alpha: from .800 reliable, from .667 good for tentative conclusions; `None` of none.

    Source: K. Krippendorff, Content Analysis, 2004, ch. 11.
    """
    if value is None:
        return None
    if value >= 0.8:
        return "reliable"
    return "tentative" if value >= 0.667 else "not reliable"
