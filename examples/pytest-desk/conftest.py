"""How pytest calls the desk's agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import answer, close_card, freeze_card, get_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from rightcall.plugin import Agent


@pytest.fixture
def rightcall_entry() -> Callable[[str, Agent], str]:
    """Call the agent with tools that record."""

    def entry(request: str, recorder: Agent) -> str:
        return answer(request, recorder.tool(freeze_card), recorder.tool(close_card), recorder.tool(get_limit))

    return entry
