"""The lines of one Claude Code session: which are copies, which belong to abandoned branches, and in which order.

A session file is a log: lines are appended as things happen, and `parentUuid` makes a tree of them. A message that was
edited, or a reply that was asked for again, leaves its old branch in the file. Several children alone are no branch:
the lines of one message, the results of parallel calls and attachments hang beside each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rightcall.trace.sources.conversation import mapping, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line of a session, where it stands, and what of it matters for its place among the others."""

    value: _Object
    place: Place
    kind: str
    uuid: str | None
    parent: str | None

    @property
    def path(self) -> str:
        """Where the line stands, as a path."""
        number = f"line {self.place.line}" if self.place.line is not None else None
        return self.place.path or number or "$"

    @property
    def message(self) -> _Object:
        """The API message in it."""
        return mapping(self.value.get("message"))

    @property
    def message_id(self) -> str | None:
        """The id of the API message, which its lines share."""
        return text_or_none(self.message.get("id"))

    def blocks(self, kind: str) -> list[_Object]:
        """The message's blocks of one type."""
        content = self.message.get("content")
        rows = map(mapping, content if isinstance(content, list) else ())
        return [block for block in rows if block.get("type") == kind]

    @property
    def is_prompt(self) -> bool:
        """Whether a person said this (or a program in the person's name), and not a tool."""
        return self.kind == "user" and not self.blocks("tool_result") and self.value.get("isMeta") is not True


def line_of(value: JsonValue, place: Place) -> Line:
    """A record as a line."""
    record = mapping(value)
    parent = text_or_none(record.get("parentUuid")) or text_or_none(record.get("logicalParentUuid"))
    return Line(record, place, str(record.get("type")), text_or_none(record.get("uuid")), parent)


def without_copies(lines: Iterable[Line]) -> tuple[list[Line], list[Line], list[Line]]:
    """The lines, each once; the ones that stand there again; and those that use an id again for something else."""
    seen: dict[str, Line] = {}
    kept: list[Line] = []
    again: list[Line] = []
    differing: list[Line] = []
    for line in lines:
        first = seen.setdefault(line.uuid, line) if line.uuid is not None else line
        if first is line:
            kept.append(line)
        else:
            (again if first.value == line.value else differing).append(line)
    return kept, again, differing


def abandoned(lines: Sequence[Line]) -> set[int]:
    """The positions of lines that belong to a branch which a later one has replaced."""
    by_uuid = {line.uuid: index for index, line in enumerate(lines) if line.uuid is not None}
    children: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        parent = by_uuid.get(line.parent) if line.parent is not None else None
        if parent is not None and parent != index:
            children.setdefault(parent, []).append(index)
    roots: list[int] = []
    for parent, below in children.items():
        ways: dict[str, list[int]] = {}
        for index in below:
            way = _way(lines[parent], lines[index])
            if way is not None:
                ways.setdefault(way, []).append(index)
        for way in sorted(ways, key=lambda way: ways[way][-1])[:-1]:
            roots += ways[way]
    return _below(roots, children)


def _way(parent: Line, child: Line) -> str | None:
    """What a child goes on with: a prompt, or another message of the assistant; `None` for what hangs beside."""
    if child.is_prompt:
        return f"prompt {child.uuid}"
    if child.kind != "assistant" or child.message_id is None or child.message_id == parent.message_id:
        return None
    return f"message {child.message_id}"


def _below(roots: Sequence[int], children: Mapping[int, Sequence[int]]) -> set[int]:
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting += children.get(index, ())
    return found


def in_order(lines: Sequence[Line]) -> list[Line]:
    """The lines as they were written, but a result that stands before its call directly after it."""
    called: dict[str, int] = {}
    for index, line in enumerate(lines):
        for block in line.blocks("tool_use"):
            called.setdefault(str(block.get("id")), index)

    def position(index: int) -> tuple[int, int]:
        after = [called.get(str(block.get("tool_use_id")), -1) for block in lines[index].blocks("tool_result")]
        latest = max(after, default=-1)
        return (latest, 1 + index) if latest > index else (index, 0)

    return [lines[index] for index in sorted(range(len(lines)), key=position)]
