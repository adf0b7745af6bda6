"""What training data must not hold: the tasks of a held-out set, from a file of cases, traces or training rows.

A task is known by its case id, and by what the user says before the agent's first answer (see `chat.task_key`). Both
are redacted as what is on record is, so that equal tasks stay equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rightcall.case.load import load_cases
from rightcall.errors import NoDataError, Place, RightcallError, TraceError
from rightcall.trace import jsontext
from rightcall.trace.chat import Chat, asked_in, chat_of, task_key
from rightcall.trace.sources import files
from rightcall.trace.sources.reading import open_traces, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from rightcall.trace.jsontext import JsonValue


@dataclass
class HeldOut:
    """The tasks of held-out files: ids of cases, keys of what is asked; `tasks` counts what was read."""

    case_ids: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    tasks: int = 0

    def add(self, case_id: str | None, said: Iterable[Iterable[str]], hide: Callable[[str], str]) -> None:
        """One more task, with everything that is taken for its request."""
        self.tasks += 1
        if case_id is not None:
            self.case_ids.add(hide(case_id))
        self.keys |= {key for texts in said if (key := task_key(map(hide, texts))) is not None}

    def holds(self, case_id: str | None, keys: Iterable[str | None]) -> bool:
        """Whether a task is one of these."""
        return case_id in self.case_ids or not self.keys.isdisjoint(key for key in keys if key is not None)


def read_held_out(paths: Iterable[Path], hide: Callable[[str], str]) -> HeldOut:
    """The tasks of some files.

    Args:
        paths: files of training rows (`trl`, `kto`, `openai`), of traces in any dialect, or of cases.
        hide: takes secrets out of a text as the store does.

    Raises:
        TraceError, NoDataError: a file that is none of these, or holds nothing.
    """
    found = HeldOut()
    for path in paths:
        before = found.tasks
        for case_id, said in _tasks(path):
            found.add(case_id, said, hide)
        if found.tasks == before:
            raise NoDataError("no task in this file", place=Place(str(path)), hint="name cases, traces or rows")
    return found


_Task = tuple[str | None, list[list[str]]]


def _tasks(path: Path) -> list[_Task]:
    first = _first_line(path)
    if isinstance(first, dict) and ("input" in first or "prompt" in first):
        return list(_of_rows(path))
    found: list[_Task] = []
    try:  # a benchmark's file holds both cases and traces
        found += [(case.id, [[case.request or ""]]) for case in load_cases(path)]
    except RightcallError:
        return list(_of_traces(path))
    try:
        return found + list(_of_traces(path))
    except RightcallError:
        return found


def _of_traces(path: Path) -> Iterator[_Task]:
    for trace in read(open_traces(path)):
        chat = chat_of(trace)
        yield trace.case_id, [[trace.request or ""], asked_in(chat) if isinstance(chat, Chat) else []]


def _first_line(path: Path) -> JsonValue:
    """The value of the first line, if that is JSON."""
    try:
        with files.open_bytes(path) as stream:
            return next((jsontext.decode(line) for line in stream if line.strip()), None)
    except TraceError:
        return None


def _of_rows(path: Path) -> Iterator[_Task]:
    with files.open_bytes(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                row = jsontext.decode(line, Place(str(path), number))
                if not isinstance(row, dict):
                    raise TraceError("a row is an object", place=Place(str(path), number))
                case_id = row.get("case_id")
                yield case_id if isinstance(case_id, str) else None, [_asked(row)]


def _asked(row: dict[str, Any]) -> list[str]:
    """What the user says before the first answer to it."""
    given = row.get("input")
    prompt = given.get("messages") if isinstance(given, dict) else row.get("prompt")
    if isinstance(prompt, str):
        return [prompt]
    said: list[str] = []
    for message in prompt if isinstance(prompt, list) else []:
        role, content = (message.get("role"), message.get("content")) if isinstance(message, dict) else (None, None)
        if role == "assistant" and said:
            break
        if role == "user" and isinstance(content, str):
            said.append(content)
    return said
