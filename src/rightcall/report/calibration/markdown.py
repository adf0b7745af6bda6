"""A calibration as a Markdown document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rightcall.report.calibration.parts import closing, overview, parts_of
from rightcall.report.plain import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.report.calibration.model import CalibrationView
    from rightcall.report.calibration.parts import Grid, Part


def markdown(view: CalibrationView) -> str:
    """The whole report as one document."""
    return "\n\n".join(["# Calibration", *_blocks(view)]) + "\n"


def _blocks(view: CalibrationView) -> Iterator[str]:
    yield from _part(overview(view), "##")
    for one in view.fields:
        for place, part in enumerate(parts_of(one)):
            yield from _part(part, "##" if not place else "###")
        if one.id is not None:
            yield f"Saved as `{one.id}`."
    said = list(closing(view))
    if said:
        yield "## Besides"
        yield "\n".join(f"- {_escaped(line)}" for line in said)


def _part(part: Part, level: str) -> Iterator[str]:
    if part.title is not None:
        yield f"{level} {_escaped(part.title)}"
    if part.grid is not None:
        yield _pipes(part.grid)
    if part.lines:
        yield "\n".join(f"- {_escaped(line)}" for line in part.lines)


def _pipes(grid: Grid) -> str:
    rows = [grid.heads, ("---",) + ("--:" if grid.numeric else "---",) * (len(grid.heads) - 1)]
    lines = ["| " + " | ".join(rows[1] if row is rows[1] else map(_escaped, row)) + " |" for row in rows]
    return "\n".join([*lines, *("| " + " | ".join(map(_escaped, row)) + " |" for row in grid.rows)])


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]()<>#|!~&])", r"\\\1", visible(text))
