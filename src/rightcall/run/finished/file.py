"""Results from a file that `--json` or `-o` made: the baseline of a gate, or one side of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.errors import ConfigError, NoDataError, Place, RightcallError
from rightcall.run.finished.live import row_of
from rightcall.run.results.derived import require_derived
from rightcall.run.results.model import GraderResults, Origin, Row, RunResults
from rightcall.run.results.sealing import Seal
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class _Whole(Struct, frozen=True):
    """A file as its digest sees it: every part as it stands there."""

    run: msgspec.Raw
    summary: msgspec.Raw
    results: list[msgspec.Raw]
    digest: str | None = None


class _File(Struct, frozen=True):
    """What `--json` prints: of one grader, or of a suite, whose facts and figures stand under each grader's name."""

    run: dict[str, Any]
    summary: dict[str, Any]
    results: list[msgspec.Raw]


class _Grader(Struct, frozen=True):
    grader: str


_whole = msgspec.json.Decoder(_Whole)
_table = msgspec.json.Decoder(dict[str, Any])
_grader = msgspec.json.Decoder(_Grader)


def read_results(path: Path) -> RunResults:
    """The results in a `.json` file.

    `run.graders` says that it holds several graders; the facts of each stand there, and its figures in
    `summary.graders`. `run.case_versions` (case -> version) is what makes goldens comparable.

    A file that carries a digest must be as it was written; one without is read, and its notes say so.

    Raises:
        ConfigError: no such file, no results of rightcall in it, a file that was changed after it was written, or
            figures that do not follow from the results.
        NoDataError: it holds no result.
    """
    place = Place(str(path))
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", place=place, hint="check the path") from None
    if not text.strip():
        raise NoDataError("is empty", place=place)
    try:
        whole = _whole.decode(text)
        found = _File(_table.decode(whole.run), _table.decode(whole.summary), whole.results)
    except (msgspec.DecodeError, UnicodeDecodeError, RightcallError) as error:
        raise ConfigError(
            f"no results of rightcall: {error}", place=place, hint="write them with -o FILE.json or --json"
        ) from None
    _require_unchanged(whole, place)
    by_grader: dict[str, list[bytes]] = {}
    for raw in found.results:
        by_grader.setdefault(_name(raw, found, place), []).append(bytes(raw))
    if not by_grader:
        raise NoDataError("holds no result", place=place)
    graders = {name: _results(name, lines, found) for name, lines in by_grader.items()}
    for one in graders.values():
        require_derived(one, place)
    return RunResults(
        found.run.get("id"), str(path), found.run.get("status") or "finished", graders,
        started_at=found.run.get("started_at") or "", origin=Origin.of(found.run), digest=whole.digest,
        notes=() if whole.digest else (f"{path} carries no digest: whether it was changed cannot be seen",),
    )  # fmt: skip


def _require_unchanged(whole: _Whole, place: Place) -> None:
    """Refuse a file whose parts are not those of its digest.

    Raises:
        ConfigError: it was changed, be it only in how it is laid out.
    """
    if whole.digest is None:
        return
    seal = Seal(memoryview(whole.run), memoryview(whole.summary))
    for raw in whole.results:
        seal.add(memoryview(raw))
    if seal.digest() != whole.digest:
        raise ConfigError(
            "was changed after it was written: its digest is of other content", place=place,
            hint="write it again with -o, and keep it as it is: pretty-printing and sorting change it too",
        )  # fmt: skip


def _name(raw: msgspec.Raw, found: _File, place: Place) -> str:
    try:
        return _grader.decode(raw).grader
    except msgspec.DecodeError:
        name = found.run.get("grader")
        if isinstance(name, str):
            return name
        raise ConfigError("a result does not say which grader gave it", place=place) from None


def _results(name: str, lines: list[bytes], found: _File) -> GraderResults:
    facts, summary = found.run, found.summary
    if isinstance(facts.get("graders"), dict):
        facts = facts["graders"].get(name, {})
        summary = summary.get("graders", {}).get(name, {})
    versions: dict[str, str] = found.run.get("case_versions") or {}

    def stream() -> Iterator[Row]:
        seen: dict[str, int] = {}
        for line in lines:
            row = row_of(name, line, seen)
            yield msgspec.structs.replace(row, case_version=versions.get(row.case_id or ""))

    return GraderResults(name, jsontext.decode(jsontext.encode(facts)), summary, stream)
