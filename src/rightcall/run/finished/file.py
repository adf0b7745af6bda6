"""Results from a file that `--json` or `-o` made: the baseline of a gate, or one side of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from rightcall.errors import ConfigError, NoDataError, Place, RightcallError
from rightcall.review.signoffs import SignState
from rightcall.run.finished.live import row_of
from rightcall.run.results.derived import require_derived
from rightcall.run.results.line import line_of
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


class _Said(Struct, frozen=True):
    """What people have done about a CRITICAL item, when the file was written."""

    grader: str
    unit: str
    state: SignState
    signed: str | None = None


class _Stopped(Struct, frozen=True):
    """Why a run ended before its end, as the command of one grader writes it."""

    cause: str = ""
    message: str | None = None


class _Run(Struct, frozen=True):
    """What is read of `run`; the facts of a run of one grader stand there too."""

    id: str | None = None
    grader: str | None = None
    status: str | None = None
    message: str | None = None
    stopped: _Stopped | None = None
    started_at: str | None = None
    graders: dict[str, dict[str, Any]] | None = None
    case_versions: dict[str, str] | None = None
    criticals: list[_Said] | None = None

    def ended(self) -> tuple[str, str | None]:
        """What became of it, and why."""
        if self.stopped is None:
            return self.status or "finished", self.message
        status = "interrupted" if self.stopped.cause == "interrupted" else "stopped"
        return self.status or status, self.message or self.stopped.message


_Number = Annotated[int, msgspec.Meta(ge=0)] | None


class _Counts(Struct, frozen=True):
    """The counts among a grader's figures: what they are is checked before anything is counted anew."""

    n: _Number = None
    evaluated: _Number = None
    unevaluable: _Number = None
    passed: _Number = None
    failed: _Number = None
    skipped: _Number = None
    not_asked: _Number = None


class _Result(Struct, frozen=True):
    """What is read of any result besides the fields of its grader (`Line`)."""

    grader: str | None = None
    status: Literal["EVALUATED", "UNEVALUABLE"] = "EVALUATED"
    reason: str | None = None
    verdict: str | None = None
    metrics: dict[str, bool | int | float | None] = {}


class _File(NamedTuple):
    """What `--json` prints: of one grader, or of a suite, whose facts and figures stand under each grader's name."""

    run: _Run
    facts: dict[str, Any]
    summary: dict[str, Any]
    results: list[msgspec.Raw]


_whole = msgspec.json.Decoder(_Whole)
_table = msgspec.json.Decoder(dict[str, Any])
_run = msgspec.json.Decoder(_Run)
_result = msgspec.json.Decoder(_Result)
_VERDICTS = {"golden": ("PASS", "FAIL", None), "selection": ("PASS", "FAIL", None)}


def read_results(path: Path) -> RunResults:
    """The results in a `.json` file.

    `run.graders` says that it holds several graders; the facts of each stand there, and its figures in
    `summary.graders`. `run.case_versions` (case -> version) is what makes goldens comparable; `run.criticals` is what
    people had signed when it was written.

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
        found = _File(_run.decode(whole.run), _table.decode(whole.run), _table.decode(whole.summary), whole.results)
    except (msgspec.DecodeError, UnicodeDecodeError, RightcallError) as error:
        raise ConfigError(
            f"no results of rightcall: {error}", place=place, hint="write them with -o FILE.json or --json"
        ) from None
    _require_unchanged(whole, place)
    by_grader: dict[str, list[bytes]] = {}
    for number, raw in enumerate(found.results, 1):
        by_grader.setdefault(_name(number, raw, found, place), []).append(bytes(raw))
    if not by_grader:
        raise NoDataError("holds no result", place=place)
    graders = {name: _results(name, lines, found, place) for name, lines in by_grader.items()}
    for one in graders.values():
        require_derived(one, place)
    run = found.run
    status, message = run.ended()
    return RunResults(
        run.id, str(path), status, graders, started_at=run.started_at or "", message=message,
        origin=Origin.of(found.facts), digest=whole.digest, knows_signoffs=run.criticals is not None,
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


def _name(number: int, raw: msgspec.Raw, found: _File, place: Place) -> str:
    """The grader of a result, whose fields are such as everything reads that comes after.

    Raises:
        ConfigError: a result that does not say its grader, or is none of that grader.
    """
    try:
        head = _result.decode(raw)
        name = head.grader or found.run.grader
        if name is None:
            raise ConfigError("a result does not say which grader gave it", place=place)
        line_of(row_of(name, bytes(raw), {}))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _odd(f"result {number}", error, place) from None
    if head.verdict not in _VERDICTS.get(name, (head.verdict,)):
        raise _odd(f"result {number}", f"`{head.verdict}` is no verdict of {name}", place)
    return name


def _odd(what: str, why: object, place: Place) -> ConfigError:
    return ConfigError(
        f"no results of rightcall: {what}: {why}", place=place, hint="write them with -o FILE.json or --json"
    )


def _results(name: str, lines: list[bytes], found: _File, place: Place) -> GraderResults:
    facts, summary = found.facts, _figures(name, found, place)
    if found.run.graders is not None:
        facts = found.run.graders.get(name, {})
    versions = found.run.case_versions or {}
    said = {one.unit: one for one in found.run.criticals or () if one.grader == name}

    def stream() -> Iterator[Row]:
        seen: dict[str, int] = {}
        for line in lines:
            row = row_of(name, line, seen)
            one = said.get(row.unit)
            yield msgspec.structs.replace(
                row, case_version=versions.get(row.case_id or ""), critical=None if one is None else one.state,
                signed=None if one is None else one.signed,
            )  # fmt: skip

    return GraderResults(name, jsontext.decode(jsontext.encode(facts)), summary, stream)


def _figures(name: str, found: _File, place: Place) -> dict[str, Any]:
    """The figures of a grader.

    Raises:
        ConfigError: a count that is none.
    """
    try:
        summary = found.summary
        if found.run.graders is not None:
            summary = msgspec.convert(summary.get("graders", {}), dict[str, dict[str, Any]]).get(name, {})
        msgspec.convert(summary, _Counts)
    except msgspec.ValidationError as error:
        raise _odd(f"figures of {name}", error, place) from None
    return summary
