"""The calls that were really made, seen by the grader: names resolved, values decoded once and only when needed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from rightcall.trace import jsontext
from rightcall.trace.jsontext import nfc_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.catalog import Catalog
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Call, Trace


class Actual:
    """The agent's calls of one trace, with what the grader asks about them.

    Args:
        trace: the trace.
        aliases: other name -> canonical name.
        catalog: the tools that the agent could see, if known.
    """

    def __init__(self, trace: Trace, aliases: Mapping[str, str], catalog: Catalog | None) -> None:
        """Take the calls; nothing is decoded yet."""
        self.calls: tuple[Call, ...] = trace.calls
        self.names = [call.tool for call in self.calls]
        if aliases:
            self.names = [aliases.get(name, name) for name in self.names]
        self.catalog = catalog
        # The arguments' JSON texts; `None` where their status is not `ok`.
        self.raws: list[bytes | None] = [
            bytes(call.arguments_json) if call.arguments_status == "ok" else None  # type: ignore[arg-type]
            for call in self.calls
        ]
        self._values: dict[int, Mapping[str, JsonValue] | None] = {}
        self._keys: dict[int, tuple[str, str, bytes]] = {}
        self._equal: dict[tuple[int, bytes], bool] = {}

    def __len__(self) -> int:
        """How many calls were made."""
        return len(self.calls)

    def raw(self, index: int) -> bytes | None:
        """The arguments' JSON text of a call; `None` unless their status is `ok`."""
        return self.raws[index]

    def has(self, index: int, expected: bytes) -> bool:
        """Whether the arguments equal a literal JSON text; equal bytes need no parsing."""
        raw = self.raws[index]
        if raw == expected:
            return True
        if raw is None:
            return False
        key = (index, expected)
        if key not in self._equal:
            self._equal[key] = jsontext.same_json(raw, expected)
        return self._equal[key]

    @cached_property
    def has_parallel_calls(self) -> bool:
        """Whether any two calls belong to one assistant message."""
        turns = [call.turn for call in self.calls if call.turn is not None]
        return len(set(turns)) < len(turns)

    def value(self, index: int) -> Mapping[str, JsonValue] | None:
        """The arguments with keys in NFC; `None` unless their status is `ok`."""
        if index not in self._values:
            value = self.calls[index].arguments
            self._values[index] = None if value is None else nfc_keys(value)
        return self._values[index]

    def identity(self, index: int) -> tuple[str, str, bytes]:
        """A key that two calls share exactly when they are the same call: tool and arguments."""
        if index not in self._keys:
            call, raw = self.calls[index], self.raw(index)
            if raw is not None:
                text = jsontext.identity(raw)
            elif call.arguments_status == "not_captured":
                text = str(index).encode()  # nobody knows what it was, so it is like no other
            else:
                text = (call.arguments_raw or "").encode()
            self._keys[index] = (self.names[index], call.arguments_status, text)
        return self._keys[index]

    def is_known(self, index: int) -> bool | None:
        """Whether the called tool is in the catalog; `None` without a catalog."""
        if self.catalog is None:
            return None
        return self.calls[index].tool in self.catalog or self.names[index] in self.catalog

    def tool_name(self, index: int) -> str:
        """The name under which the catalog knows the called tool."""
        raw = self.calls[index].tool
        return raw if self.catalog is not None and raw in self.catalog else self.names[index]

    def same_turn(self, first: int, second: int) -> bool:
        """Whether two calls belong to one assistant message, so that neither could see the other's result."""
        turn = self.calls[first].turn
        return turn is not None and turn == self.calls[second].turn

    def failed(self, index: int) -> bool:
        """Whether the call is *known* to have failed."""
        result = self.calls[index].result
        return result is not None and result.is_error is True

    @property
    def calls_failed(self) -> int:
        """How many calls are known to have failed."""
        return len([call for call in self.calls if call.result is not None and call.result.is_error is True])

    @cached_property
    def invalid(self) -> list[int]:
        """The calls whose arguments do not satisfy their tool's schema; an unknown tool is invalid."""
        return [index for index in range(len(self.calls)) if self._is_valid(index) is False]

    @property
    def has_uncaptured(self) -> bool:
        """Whether the arguments of any call were not captured."""
        return any(call.arguments_status == "not_captured" for call in self.calls)

    def _is_valid(self, index: int) -> bool | None:
        if self.catalog is None or not self.is_known(index):
            return False
        if self.calls[index].arguments_status == "not_captured":
            return None
        value, validator = self.value(index), self.catalog.validator(self.tool_name(index))
        return value is not None and (validator is None or validator.is_valid(value))
