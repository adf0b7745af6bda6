"""A judge that answers from a file: recorded replies, for demos, offline runs and tests.

One JSON object a line::

    {"grader": "selection", "unit": "lost-wallet#1", "replies": ["…", {"text": "…", "finish": "length"}]}

`replies` holds what is answered at each attempt: the question, then its content retry. A line is found by
`input_sha256`, else by `unit` with or without `grader`, `replicate` and `order` (of a pair: whose trace stands first,
`ab` or `ba`); where several lines fit, the one that says most.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.errors import ConfigError, Place, Rejected, TraceError
from rightcall.llm.client import Answer, Finish, Request
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.llm.spec import JudgeSpec

NOT_RECORDED = "JUDGE_NOT_RECORDED"


class RecordedReply(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One reply with what is known about it."""

    text: str
    finish: Finish = "stop"
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class RecordedLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the file."""

    replies: list[str | RecordedReply]
    grader: str | None = None
    unit: str | None = None
    input_sha256: str | None = None
    replicate: int | None = None
    order: str | None = None


_Key = tuple[str | None, str | None, str | None, int | None, str | None]


class RecordedClient:
    """Answers from a file.

    Args:
        spec: the judge; `file` is the file of replies.
        environ: not used.

    Raises:
        ConfigError: no file, a line that is none (with file and line), or two lines for the same question.
    """

    def __init__(self, spec: JudgeSpec, environ: Mapping[str, str] | None = None) -> None:
        """Read the file."""
        del environ
        if not spec.file:
            raise ConfigError("a judge of provider `recorded` needs a `file`", hint='write file = "answers.jsonl"')
        self._spec = spec
        self._file = spec.file
        self._lines = _load(Path(spec.file))

    async def ask(self, request: Request) -> Answer:
        """Give the recorded reply (see `Client`)."""
        wanted = (
            (request.input_sha256 or None, None),
            (request.unit or None, None),
            (request.grader or None, None),
            (request.replicate, None),
            (request.order or None, None),
        )
        for key in product(*wanted):
            found = self._lines.get(key)
            if found is not None:
                return self._reply(found, request)
        raise self._missing(request, "no reply is recorded")

    async def close(self) -> None:
        """Nothing stays open."""

    def _reply(self, found: tuple[int, RecordedLine], request: Request) -> Answer:
        number, line = found
        if request.attempt >= len(line.replies):
            raise self._missing(request, f"line {number} has no reply to attempt {request.attempt}")
        reply = line.replies[request.attempt]
        if isinstance(reply, str):
            return Answer(text=reply, model=self._spec.model or None)
        return Answer(
            text=reply.text, finish=reply.finish, model=reply.model or self._spec.model or None,
            input_tokens=reply.input_tokens, output_tokens=reply.output_tokens,
        )  # fmt: skip

    def _missing(self, request: Request, what: str) -> Rejected:
        asked = f"grader `{request.grader}`, unit `{request.unit}`, replicate {request.replicate}"
        asked += f", order `{request.order}`" if request.order else ""
        return Rejected(
            f"{what} for {asked}", code=NOT_RECORDED, place=Place(self._file),
            hint="record it, or ask a judge that is not `recorded`",
        )  # fmt: skip


def _load(file: Path) -> dict[_Key, tuple[int, RecordedLine]]:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigError(error.strerror or str(error), place=Place(str(file)), hint="check the path") from None
    found: dict[_Key, tuple[int, RecordedLine]] = {}
    for number, text in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not text.strip():
            continue
        place = Place(str(file), number)
        line = _line(text, place)
        key = (line.input_sha256, line.unit, line.grader, line.replicate, line.order)
        if key in found:
            raise ConfigError(f"the same question as in line {found[key][0]}", place=place, hint="remove one of them")
        found[key] = (number, line)
    if not found:
        raise ConfigError("the file holds no reply", place=Place(str(file)))
    return found


def _line(text: bytes, place: Place) -> RecordedLine:
    try:
        value: Any = jsontext.decode(text, place)
        line = msgspec.convert(value, RecordedLine)
    except TraceError as error:
        raise ConfigError(error.message, place=error.place, hint="one JSON object a line") from None
    except msgspec.ValidationError as error:
        raise ConfigError(f"not a recorded reply: {error}", place=place, hint="see the page on endpoints") from None
    if line.input_sha256 is None and line.unit is None:
        raise ConfigError("neither `input_sha256` nor `unit`: no question is named", place=place)
    if not line.replies:
        raise ConfigError("`replies` is empty", place=place)
    return line
