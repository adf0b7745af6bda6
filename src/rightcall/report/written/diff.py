"""A comparison of two runs as files: JSON for programs, Markdown for people."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import msgspec

from rightcall.report.files import refuse_unwritable, whole_file
from rightcall.report.gate_lines import diff_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rightcall.gate.decision import Diff, Flip, GraderDiff

SUFFIXES = (".json", ".md")
_SHOWN = 200


def refuse_diff(out: Sequence[Path]) -> None:
    """Refuse files that could not be written, before anything is read.

    Raises:
        ConfigError: another suffix, or a folder that does not exist.
    """
    for path in out:
        refuse_unwritable(path, SUFFIXES)


def write_diffs(found: Diff, out: Sequence[Path]) -> None:
    """Write every file, and give none its name before all are complete."""
    with ExitStack() as files:
        for path in out:
            text = markdown(found).encode() if path.suffix == ".md" else msgspec.json.encode(found) + b"\n"
            files.enter_context(whole_file(path)).write(text)


def markdown(found: Diff) -> str:
    """The comparison as Markdown; whatever comes from traces is escaped."""
    parts = [f"# {_plain(found.old)} → {_plain(found.new)}", ""]
    parts += [f"`{name}` is only in one of the two." for name in (*found.only_old, *found.only_new)]
    for one in found.graders:
        parts += _grader(one)
    return "\n".join(parts).rstrip() + "\n"


def _grader(one: GraderDiff) -> list[str]:
    parts = [f"## {_plain(one.grader)}", ""]
    if one.not_comparable:
        parts += [f"**Not comparable:** {_plain('; '.join(one.not_comparable))}", ""]
    if one.flips:
        parts += ["| case | before | now | why |", "| --- | --- | --- | --- |"]
        parts += [_row(flip) for flip in one.flips[:_SHOWN]]
        left = len(one.flips) - _SHOWN
        parts += ["", *([f"… {left} more."] if left > 0 else [])]
    else:
        parts += ["Nothing turned.", ""]
    return [*parts, *(f"* {_plain(line)}" for line in diff_lines(one)), ""]


def _row(flip: Flip) -> str:
    return f"| {' | '.join(map(_plain, (flip.case, flip.old, flip.new, flip.why)))} |"


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    from rightcall.report.plain import visible

    escaped = "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+!|~$" else sign for sign in visible(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
