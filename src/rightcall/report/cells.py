"""Lines and tables of figures in the terminal: columns, numbers, intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.report.plain import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType
    from rich.table import Table


def line_of(text: str, style: str = "") -> RenderableType:
    """A line of text in which nothing is markup and nothing hidden; an indented one goes on where it began."""
    from rich.padding import Padding
    from rich.text import Text

    words = text.lstrip(" ")
    shown = Text(visible(words), style)
    indent = len(text) - len(words)
    return Padding(shown, (0, 0, 0, indent), expand=False) if indent else shown


def packed(parts: Sequence[str], room: int, between: str = " · ") -> str:
    """Parts in as few lines as they take; a line ends between two of them, so that no number is torn from its name."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}{between}{part}"
        lines = [*lines[:-1], longer] if len(longer) <= room else [*lines, part]
    return "\n".join(lines)


def figures_table(*columns: str, first: str = "", widest: int | None = None) -> Table:
    """A table without lines: names on the left, figures on the right. Where it is narrow, names go on below.

    Args:
        columns: the heads of the figures.
        first: the head of the names.
        widest: columns that a name may take; a longer one goes on below.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    # The only column that may wrap, so that a narrow terminal takes from it and never cuts a figure.
    table.add_column(first, overflow="fold", min_width=min(8, widest or 8), max_width=widest)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def number(value: float | None, digits: int) -> str:
    """A figure; one that is below 1 is never shown as 1."""
    if value is None:
        return "–"
    rounded = f"{value:.{digits}f}"
    return f"<{rounded}" if value < 1 and float(rounded) == 1 else rounded


def between(estimate: Mapping[str, Any], digits: int) -> str:
    """An interval, or `–` where there is none."""
    if estimate["low"] is None or estimate["high"] is None:
        return "–"
    return f"{estimate['low']:.{digits}f} – {estimate['high']:.{digits}f}"


def in_brackets(estimate: Mapping[str, Any], digits: int) -> str:
    """`0.68 [0.59, 0.76]`, the figure alone, or why there is none."""
    if estimate["estimate"] is None:
        return str(estimate["reason"] or "undefined")
    value = number(estimate["estimate"], digits)
    if estimate["low"] is None or estimate["high"] is None:
        return value
    return f"{value} [{estimate['low']:.{digits}f}, {estimate['high']:.{digits}f}]"
