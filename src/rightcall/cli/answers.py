"""An answer that comes in one piece: by flags, in a file, or on stdin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import ConfigError, Place
from rightcall.review.form import read_typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.review.form import Form

_STDIN = Path("-")


class Given(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer as `rightcall review answer` reads it: `seconds` is how long it took, where that is known."""

    fields: dict[str, Any] = {}
    note: str = ""
    evidence: tuple[str, ...] = ()
    unsure: str | None = None
    seconds: float | None = None


def given(
    form: Form, fields: Sequence[str], note: str, evidence: Sequence[str], unsure: str | None, file: Path | None
) -> Given:  # fmt: skip
    """The answer, from where it is: flags, else the file, else stdin.

    Args:
        form: whose fields `name=value` are read by.
        fields: flags of that kind.
        note: the flag.
        evidence: the flags.
        unsure: the flag.
        file: a JSON file; `-` is stdin.

    Raises:
        ConfigError: there is none, there are two, or it cannot be read.
    """
    is_by_flags = bool(fields or note or evidence or unsure is not None)
    if is_by_flags and file is not None:
        raise ConfigError("an answer is given by flags or in a file, not both", place=Place("--file"))
    if is_by_flags:
        return Given(
            fields=read_typed(form, _pairs(fields), unsure=unsure, note=note), note=note, evidence=tuple(evidence),
            unsure=unsure,
        )  # fmt: skip
    if file is None and sys.stdin.isatty():
        raise ConfigError("there is no answer", hint="--field name=value, --file FILE, or JSON on stdin")
    return _read(_STDIN if file is None else file)


def _pairs(fields: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in fields:
        name, sign, value = text.partition("=")
        if not sign:
            raise ConfigError(f"`{text}` is no name=value", place=Place("--field"))
        if name.strip() in found:
            raise ConfigError(f"`{name.strip()}` is given twice", place=Place("--field"))
        found[name.strip()] = value
    return found


def _read(file: Path) -> Given:
    name = "stdin" if file == _STDIN else str(file)
    try:
        data = sys.stdin.buffer.read() if file == _STDIN else file.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read: {error.strerror}", place=Place(name)) from None
    try:
        return msgspec.json.decode(data, type=Given)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = '{"fields": {…}, "note": "…", "evidence": [], "unsure": null}'
        raise ConfigError(f"this is no answer: {error}", place=Place(name), hint=hint) from None
