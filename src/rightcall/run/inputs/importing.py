"""`import`: traces of any dialect as native lines, redacted, with a report of what was lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw

from rightcall.run.inputs.hiding import hidden_trace
from rightcall.trace import jsontext
from rightcall.trace.redact import KEY_FILE, KEY_VARIABLE
from rightcall.trace.sources.native import write_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rightcall.run.inputs.sources import Sources
    from rightcall.trace.model import Tool
    from rightcall.trace.redact import Redactor


def native_lines(sources: Sources, tools: tuple[Tool, ...] | None, hide: Redactor | None) -> Iterator[bytes]:
    """Every trace as a native line.

    Args:
        sources: the files.
        tools: the catalog of traces that have none of their own.
        hide: redacts what is written; `None` keeps everything.
    """
    catalog = Raw(jsontext.encode(tools)) if tools is not None else UNSET
    for trace in sources.traces():
        named = msgspec.structs.replace(trace, tools_json=catalog) if trace.tools_json is UNSET else trace
        yield write_line(named if hide is None else hidden_trace(named, hide))


def keep_key(folder: Path, environ: Mapping[str, str]) -> Path | None:
    """Make the project's redaction key if there is none, so that equal secrets stay equal in later runs.

    Returns:
        The file that was made; `None` if there was a key.
    """
    file = folder / KEY_FILE
    if environ.get(KEY_VARIABLE) or file.exists():
        return None
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(os.urandom(32).hex().encode())
    return file
