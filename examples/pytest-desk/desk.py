"""The desk's tools, and an agent of a few rules that stands for one with a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Tool = Callable[..., dict[str, object]]


def freeze_card(card_ending: str) -> dict[str, object]:
    """Block a card for the time being."""
    return {"card_ending": card_ending, "status": "frozen"}


def close_card(card_ending: str) -> dict[str, object]:
    """Close a card for good."""
    return {"card_ending": card_ending, "status": "closed"}


def get_limit(card_ending: str) -> dict[str, object]:
    """Say how much can still be spent."""
    return {"card_ending": card_ending, "left": 210}


def answer(request: str, freeze: Tool, close: Tool, limit: Tool) -> str:
    """Answer a request with the tools that it is given."""
    card = next(iter(re.findall(r"\b\d{4}\b", request)), "")
    if "for good" in request:
        close(card_ending=card)
        return f"Card {card} is closed."
    said = []
    if "block" in request.lower():
        freeze(card_ending=card)
        said.append(f"Card {card} is blocked.")
    if "left" in request:
        said.append(f"You can spend {limit(card_ending=card)['left']} more.")
    return " ".join(said) or "You are welcome."
