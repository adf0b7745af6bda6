"""What is new in a history that every request repeats (trap: cumulative histories count a call many times).

Each request to a model holds everything said before. Read one after another, a request's history either goes on where
an earlier one ended, or is a new conversation (of another agent), or was cut by the program: then it is taken up again
after the last thing in it that this trace's own models are known to have said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_Node = dict["Hashable", "_Node"]


class Histories:
    """Everything that the requests of one trace have held so far, as a tree of keys; linear in what is read."""

    def __init__(self) -> None:
        self._root: _Node = {}
        self._here = self._root
        self._made: dict[Hashable, _Node] = {}

    def request(self, keys: Sequence[Hashable]) -> int:
        """How many keys of a request's history are known from earlier ones; the rest is known from now on."""
        node, known = self._follow(self._root, keys, 0)
        last = next((index for index in reversed(range(known, len(keys))) if keys[index] in self._made), None)
        if last is not None:
            node, known = self._follow(self._made[keys[last]], keys, last + 1)
        self._here = node
        for key in keys[known:]:
            self._here = self._here.setdefault(key, {})
        return known

    def reply(self, keys: Sequence[Hashable]) -> None:
        """What the model answered to the last request: its own words and calls, by which a history is recognised."""
        for key in keys:
            self._here = self._here.setdefault(key, {})
            self._made[key] = self._here

    @staticmethod
    def _follow(node: _Node, keys: Sequence[Hashable], start: int) -> tuple[_Node, int]:
        index = start
        while index < len(keys) and keys[index] in node:
            node = node[keys[index]]
            index += 1
        return node, index
