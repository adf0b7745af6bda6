"""`rightcall import`: traces of any known dialect as native JSON Lines."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from rightcall.trace.model import Tool

Listed = Parameter(negative="", show_default=False)

Flag = Parameter(negative="", show_default=False)


def import_(
    sources: Annotated[tuple[str, ...], Listed, Parameter(help="Files, folders or quoted patterns.")] = (),
    *,
    from_: Annotated[str, Parameter(name="--from", help="How they are recorded.")] = "auto",
    tools: Annotated[str | None, Parameter(help="Catalog for traces that have none: a file, or mcp:COMMAND.")] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="Write here instead of to stdout.")] = None,
    strict: Annotated[bool, Flag, Parameter(help="A record that cannot be read stops the import.")] = False,
    keep_secrets: Annotated[bool, Flag, Parameter(help="Do not redact what is written.")] = False,
    yes: Annotated[bool, Flag, Parameter(help="Start the command of mcp:COMMAND without asking.")] = False,
    config: Annotated[Path | None, Parameter(name=["--config", "-c"], help="Settings file.")] = None,
) -> int:
    """Convert recorded traces to rightcall's own format, and say what was lost.

    Secrets are redacted in what is written, with the key of this folder's project, so that equal secrets stay equal;
    `rightcall golden` compares redacted traces with cases redacted by the same key.
    """
    from rightcall.errors import ConfigError, Place
    from rightcall.report.files import whole_file
    from rightcall.report.reading import reading_lines
    from rightcall.run.inputs.importing import keep_key, native_lines
    from rightcall.run.inputs.opening import redactor_of
    from rightcall.run.inputs.plan import expand
    from rightcall.run.inputs.sources import Sources
    from rightcall.settings.load import load_settings

    if out is not None and not out.name.endswith(".jsonl"):
        raise ConfigError(f"traces are written as .jsonl, not as `{out.name}`", place=Place("--out"))
    loaded = load_settings(config, os.environ, {})
    reading = Sources(expand(sources, Path(), "trace"), from_, strict)
    catalog = _catalog(tools, yes=yes) if tools is not None else None
    made = None if keep_secrets else keep_key(loaded.folder / ".rightcall", os.environ)
    hide = redactor_of(loaded)
    lines = native_lines(reading, catalog, None if keep_secrets else hide)
    if out is None:
        for line in lines:
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    else:
        with whole_file(out) as stream:
            for line in lines:
                stream.write(line)
    for text in reading_lines(reading.reports, hide):
        print(text, file=sys.stderr)
    if made is not None:
        print(f"redaction key written to {made}: keep it, and do not share it", file=sys.stderr)
    read = sum(report.read for report in reading.reports.values())
    skipped = sum(report.skipped for report in reading.reports.values())
    print(f"import · {read} traces, {skipped} records skipped · exit {0 if read else 5}", file=sys.stderr)
    return 0 if read else 5


def _catalog(wanted: str, *, yes: bool) -> tuple[Tool, ...]:
    """The tools of a file, or of the MCP server that a command starts, once a person has said yes to it."""
    from rightcall.case.load import load_tools

    if not wanted.startswith("mcp:"):
        return load_tools(wanted)

    import shlex

    from rightcall.errors import ConfigError, Place
    from rightcall.trace.mcp_live import list_tools

    try:
        command = shlex.split(wanted.removeprefix("mcp:"))
    except ValueError as error:
        raise ConfigError(f"the command cannot be read: {error}", place=Place("--tools")) from None
    if not command:
        raise ConfigError("`mcp:` names no command", place=Place("--tools"), hint='--tools "mcp:COMMAND ARGUMENTS"')
    print(f"import · starts the MCP server: {shlex.join(command)}", file=sys.stderr)
    if not yes and not _agreed():
        raise ConfigError("the MCP server was not started", place=Place("--tools"), hint="--yes starts it unasked")
    return list_tools(command)


def _agreed() -> bool:
    """Whether a person at the terminal says yes; without one nobody can."""
    if not sys.stdin.isatty():
        return False
    print("start it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
