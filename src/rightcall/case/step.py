"""One step: which tool was chosen at one moment, and which should have been (SPEC §4, `selection`)."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from rightcall.trace import jsontext
from rightcall.trace.digest import digest as content_digest


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"tools_json": "tools"}):
    """A `selection` case. `selected` and `expected` are tool names; `None` (written `null`) is *no tool*.

    `context` holds what the agent knew at that moment: text, or an object (system prompt, earlier turns and results,
    state). `tools_json` is the catalog, as in a case. A step that was derived from a trace says from where:
    `trace_id`, `case_id`, `call_index` (among the agent's own calls), `golden_index`.
    """

    id: str
    selected: str | None
    expected: str | None
    request: str | None = None
    context: str | dict[str, Any] | None = None
    tools_json: Raw | UnsetType = UNSET
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    trace_id: str | None = None
    case_id: str | None = None
    call_index: int | None = None
    golden_index: int | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the step's canonical JSON."""
        return content_digest(jsontext.decode(jsontext.encode(self)))
