"""Inspect's packed logs (`.eval`): a zip archive with a header and one entry a sample, read through `inspect-ai`.

The archive is looked through first (`packed.py`), since the library trusts it. Then every sample becomes one record:
the log with this sample alone, as `inspect_log` reads it, so that memory holds one sample at a time. A sample that the
library refuses stays a record without messages that says why.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rightcall.errors import MissingExtraError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.sources.dialect import Container
from rightcall.trace.sources.packed import check_zip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record


def opens(head: bytes, name: str) -> bool:
    """Whether a file is a packed log: a zip archive by its first bytes, `.eval` by its name."""
    return name.endswith(".eval") and head[:4] in (b"PK\x03\x04", b"PK\x05\x06")


def records(path: Path) -> Iterator[Record]:
    """The log once a sample, with that sample alone; once without samples if it has none.

    Raises:
        MissingExtraError: `inspect-ai` is not installed.
        TraceError: the archive is damaged or not safe, or holds no log.
    """
    place = Place(str(path))
    names = check_zip(path)
    if find_spec("inspect_ai") is None:
        raise MissingExtraError(
            "`.eval` logs are read with inspect-ai, which is not installed", place=place,
            hint="pip install 'rightcall[inspect]', or write the log as .json: inspect log convert --to json",
        )  # fmt: skip
    from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries

    where = str(path.resolve())
    header = _ask(place, read_eval_log, where, header_only=True)
    log = _plain(header, {"reductions", "samples"}, place)
    rows = _ask(place, read_eval_log_sample_summaries, where)
    unlisted = sum(name.startswith("samples/") and name.endswith(".json") for name in names) - len(rows)
    if not rows and unlisted <= 0:
        yield {**log, "samples": None}, place
    for index, row in enumerate(rows):
        inside = Place(str(path), None, None, f"$[{index}]")
        try:
            sample = _plain(_ask(inside, read_eval_log_sample, where, row.id, row.epoch), set(), inside)
        except TraceError as error:
            sample = {"id": row.id, "epoch": row.epoch, "messages": [], "error": {"message": error.message}}
        yield {**log, "samples": [sample]}, inside
    if unlisted > 0:
        text = f"{unlisted} samples of the archive are not in its list of samples"
        yield {**log, "samples": [{"messages": [], "error": {"message": text}}]}, place


def _ask(place: Place, question: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What the library answers; whatever it raises on a file is a fault of the file."""
    try:
        return question(*given, **named)
    except Exception as error:  # noqa: BLE001 - a foreign library's boundary: it documents none of its errors
        reason = " ".join(str(error).split())[:200]
        raise TraceError(f"inspect-ai cannot read this log: {type(error).__name__}: {reason}", place=place) from None


def _plain(value: Any, without: set[str], place: Place) -> dict[str, JsonValue]:
    """A vendor's object as JSON values: what it would write, with NaN as null."""
    dumped = _ask(place, value.model_dump, mode="json", exclude_none=True, exclude=without)
    plain: dict[str, JsonValue] = jsontext.decode(_ask(place, jsontext.encode, dumped), place)
    return plain


CONTAINER = Container("inspect_eval", opens, records)
