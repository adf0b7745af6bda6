"""A calibration as one HTML file, by the same templates and rules as a run's report; see `report.html.page`."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from rightcall.report.html.page import environment, refuse_small, write_pieces
from rightcall.report.html.room import Room

if TYPE_CHECKING:
    from rightcall.report.calibration.model import CalibrationView


def write_html(view: CalibrationView, stream: IO[bytes], *, limit_bytes: int = 5_000_000) -> None:
    """Write a calibration as one self-contained HTML file.

    Args:
        view: the calibration.
        stream: where to; it gets UTF-8, piece by piece.
        limit_bytes: what the file stays below: a part that finds no room is named in its place.

    Raises:
        ConfigError: a limit below 100,000 bytes.
    """
    refuse_small(limit_bytes)
    room = Room(limit_bytes)
    write_pieces(environment().get_template("calibration.html.j2").generate(view=view, room=room), room, stream)
