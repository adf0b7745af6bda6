"""What should have happened: one task with its golden calls and its policy (SPEC §4).

These are the types as written in a file; `rightcall.case.golden` turns the golden into something that can be matched.
`expect = None` is no golden at all, `calls = ()` means that no tool may be called.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from rightcall.case.policy import Policy
from rightcall.trace import jsontext
from rightcall.trace.digest import digest as content_digest

Order = Literal["listed", "partial", "any"]


class _Written(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings that all case types share."""


class GoldenCall(_Written, frozen=True, kw_only=True, rename={"arguments_json": "arguments"}, gc=False):
    """One expected call.

    `arguments_json` absent: any arguments will do; `{}`: exactly none. `label` names the call where its tool's name
    repeats; `after` lists labels (or unambiguous tool names) whose results this call needs. `optional` calls may be
    left out.
    """

    tool: str
    arguments_json: Raw | UnsetType = UNSET
    label: str | None = None
    after: tuple[str, ...] = ()
    optional: bool = False

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The expected arguments as written (literals and matchers); `None` where anything goes."""
        if self.arguments_json is UNSET:
            return None
        value: dict[str, Any] = jsontext.decode(bytes(self.arguments_json))
        return value


class Way(_Written, frozen=True, kw_only=True):
    """One acceptable way: its calls and which order matters (`None`: partial if any call has `after`, else listed)."""

    calls: tuple[GoldenCall, ...]
    order: Order | None = None
    name: str | None = None


class Expect(_Written, frozen=True, kw_only=True):
    """The golden of a case: `calls` with their `order`, or several acceptable `alternatives`, or both."""

    calls: tuple[GoldenCall, ...] | UnsetType = UNSET
    order: Order | None = None
    alternatives: tuple[Way, ...] = ()

    @property
    def ways(self) -> tuple[Way, ...]:
        """Every acceptable way, in the order in which they are listed."""
        own = () if self.calls is UNSET else (Way(calls=self.calls, order=self.order),)
        return own + self.alternatives


class Case(_Written, frozen=True, kw_only=True, rename={"tools_json": "tools"}):
    """One task with what should have happened.

    `tools_json` is the catalog: a list of tools, an MCP `tools/list` answer, or the path of a file with either
    (relative to the case's own file). `policy` adds rules to the suite's.
    """

    id: str
    request: str | None = None
    context: str | dict[str, Any] | None = None
    tools_json: Raw | UnsetType = UNSET
    tags: tuple[str, ...] = ()
    expect: Expect | None = None
    policy: Policy | None = None
    metadata: dict[str, Any] = {}

    @property
    def digest(self) -> str:
        """SHA-256 of the case's canonical JSON: the version of this golden."""
        return content_digest(jsontext.decode(jsontext.encode(self)))
