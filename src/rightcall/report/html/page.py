"""A report as one HTML file: no network, no reference to anything outside, readable without JavaScript.

Templates get views and only write them down; whatever comes from traces is inert text (`html_text.inert`). The file is
written piece by piece and never above its limit, see `html.room` and `html.pages`.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import IO, TYPE_CHECKING

from rightcall.errors import ConfigError
from rightcall.report.calibration import words
from rightcall.report.html import charts, curves
from rightcall.report.html.diff import SIGNS, Fold, shown_lines
from rightcall.report.html.numbers import exact, number, p_value, shown, whole
from rightcall.report.html.pages import Pages, failures_of
from rightcall.report.html.room import Room
from rightcall.report.html.text import inert, label
from rightcall.report.view.verdict_words import (
    BROKEN,
    INTERRUPTED,
    NO_DATA,
    answer_of,
    causes_beside,
    listed_words,
    taken,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jinja2 import Environment

    from rightcall.report.view.model import ReportView

LEAST_BYTES = 100_000
"""A smaller file could not hold the figures of a run."""

WRITE_BYTES = 1 << 16

ANSWERS = {
    "PASS": ("✓", "PASS", "pass"),
    "FAIL": ("✗", "FAIL", "fail"),
    "INCONCLUSIVE": ("◐", "INCONCLUSIVE", "doubt"),
    "NOT_COMPARABLE": ("≁", "NOT COMPARABLE", "doubt"),
    "WAIT": ("◷", "WAIT", "wait"),
    "FIT": ("✓", "FIT", "pass"),
    "NOT_FIT": ("✗", "NOT FIT", "fail"),
    "INSUFFICIENT": ("◐", "INSUFFICIENT", "doubt"),
    "UNKNOWN": ("?", "UNKNOWN", "doubt"),
    NO_DATA: ("∅", "NO DATA", "doubt"),
    BROKEN: ("!", "BROKEN", "doubt"),
    INTERRUPTED: ("!", "INTERRUPTED", "doubt"),
}
"""Sign, words and style of every answer: none is said by colour alone."""

OUTCOMES = {
    "passed": ("✓", "passed", "pass"),
    "failed": ("✗", "failed", "fail"),
    "error": ("!", "no verdict", "doubt"),
    "waiting": ("◷", "waiting", "wait"),
    "aside": ("·", "not to be judged", "none"),
    "unread": ("∅", "no result", "doubt"),
}


def write_html(view: ReportView, stream: IO[bytes], *, limit_bytes: int = 5_000_000) -> None:
    """Write a report as one self-contained HTML file.

    Args:
        view: the report; its failures are read twice, as a stream.
        stream: where to; it gets UTF-8, piece by piece.
        limit_bytes: what the file never exceeds. Failures that find no room are counted by kind, and the file says
            that the others have them.

    Raises:
        ConfigError: a limit below 100,000 bytes, which could not hold the figures.
    """
    refuse_small(limit_bytes)
    env = environment()
    room, failures = Room(limit_bytes), failures_of(view)
    pages = Pages(view, failures, room, env.get_template("cases.html.j2").module)
    pieces = env.get_template("report.html.j2").generate(view=view, room=room, failures=failures, pages=pages)
    write_pieces(pieces, room, stream)


def refuse_small(limit_bytes: int) -> None:
    """Refuse a limit that could not hold the figures (`ConfigError`)."""
    if limit_bytes < LEAST_BYTES:
        raise ConfigError(
            f"an HTML report cannot be kept below {limit_bytes:,} bytes", hint=f"allow at least {LEAST_BYTES:,}"
        )


def write_pieces(pieces: Iterable[str], room: Room, stream: IO[bytes]) -> None:
    """Write what a template generates, some of it at a time, and count it."""
    waiting = bytearray()
    for piece in pieces:
        waiting += room.written(piece.encode())
        if len(waiting) >= WRITE_BYTES:
            stream.write(bytes(waiting))
            waiting.clear()
    stream.write(bytes(waiting))


@cache
def environment() -> Environment:
    """The templates with what they may use: every page of rightcall is made from these."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    env = Environment(
        loader=PackageLoader("rightcall.report.html", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    style, script = (_asset(name) for name in ("report.css", "report.js"))
    env.filters.update(
        text=inert, label=label, number=number, exact=exact, whole=whole, p_value=p_value, shown=shown,
        shown_lines=shown_lines,
    )  # fmt: skip
    env.globals.update(
        answers=ANSWERS, outcomes=OUTCOMES, signs=SIGNS, charts=charts, curves=curves, calibration=words,
        answer_of=answer_of, causes_beside=causes_beside, taken=taken, listed_words=listed_words,
        is_fold=lambda line: isinstance(line, Fold),
        style=Markup(style), script=Markup(script), policy=_policy(style, script),  # noqa: S704 (our own files)
    )  # fmt: skip
    return env


def _asset(name: str) -> str:
    return (files("rightcall.report.html") / "templates" / name).read_text("utf-8").replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    """The Content-Security-Policy: nothing but this style and this script, by their hashes."""
    hashed = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    rules = ("default-src 'none'", f"style-src 'sha256-{hashed[0]}'", f"script-src 'sha256-{hashed[1]}'")
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])
