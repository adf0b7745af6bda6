"""The one form of a run as a file for programs: `run`, `summary`, `results` (SPEC §9), and the digest over them."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import msgspec

from rightcall.run.results.sealing import Seal

if TYPE_CHECKING:
    from collections.abc import Iterable


def write_sealed(stream: IO[bytes], run: Any, summary: Any, lines: Iterable[bytes]) -> None:
    """Write a run as one JSON object, as a stream.

    Args:
        stream: where to.
        run: what was judged, how, by whom.
        summary: its figures.
        lines: every result as JSON, one line each.
    """
    head, figures = msgspec.json.encode(run), msgspec.json.encode(summary)
    seal = Seal(head, figures)
    stream.write(b'{"run":' + head + b',"summary":' + figures + b',"results":[')
    for index, line in enumerate(lines):
        seal.add(line)
        stream.write(b",\n" + line if index else b"\n" + line)
    stream.write(b'\n],"digest":' + msgspec.json.encode(seal.digest()) + b"}\n")
