"""Selection steps from files: which tool was chosen, and which should have been (SPEC §4).

JSON Lines, JSON, TOML or YAML, read with the same care as cases. `selected` and `expected` must be written: `null` is
*no tool*, and leaving one out could mean anything. TOML cannot write `null`, so a step without a tool is written in
one of the others.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, Raw
from msgspec.structs import replace

from rightcall.case.load import load_tools
from rightcall.case.step import Step
from rightcall.case.written import Written, documents, place_of, read_record, unpacked_name
from rightcall.errors import CaseError, ConfigError, NoDataError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.sources import files

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (".jsonl", ".json", ".toml", ".yaml", ".yml")
TABLES = ("step", "steps", "case", "cases")
_NO_NAME = ("", "none", "null", "(none)")


def iter_steps(path: str | Path) -> Iterator[tuple[Step, Place]]:
    """Every step of a file with its place; catalogs loaded and checked, ids unique.

    A step's `tools` is a catalog, an MCP `tools/list` answer, or the path of a file with either, from the steps' own
    folder. Files may be packed (`.gz`, `.zst`).

    Raises:
        CaseError: a step that cannot be read, an id that stands twice.
        ConfigError: a catalog that cannot be used.
        NoDataError: the file holds no step.
    """
    where = Path(path)
    seen: dict[str, int | None] = {}
    catalogs = _Catalogs(where.parent)
    for record in _records(where):
        step = _read(record)
        if step.id in seen:
            raise CaseError(
                f"step id `{step.id}` stands twice (also at {Place(record.place.file, seen[step.id])})",
                code="CASE_DUPLICATE_ID", place=record.place, hint="give each step an id of its own",
            )  # fmt: skip
        seen[step.id] = record.place.line
        yield catalogs.loaded(step, record.place), record.place
    if not seen:
        raise NoDataError("no step in this file", place=Place(str(where)), hint="write at least one step")


def load_steps(path: str | Path) -> list[Step]:
    """Every step of a file; see `iter_steps`."""
    return [step for step, _ in iter_steps(path)]


def _records(path: Path) -> Iterator[Written]:
    name = unpacked_name(str(path))
    if not name.endswith(SUFFIXES):
        raise CaseError(
            f"steps are not read from `{Path(name).suffix or path.name}`", place=Place(str(path)),
            hint=f"name it {', '.join(SUFFIXES)}",
        )  # fmt: skip
    try:
        if name.endswith(".jsonl"):
            yield from _lines(path)
        elif (data := files.read_document(path)).strip():
            yield from documents(data, str(path), TABLES)
    except TraceError as error:
        code = "CASE_NO_FILE" if error.code == "TRACE_NO_FILE" else error.code
        raise CaseError(error.message, code=code, place=error.place, hint=error.hint) from None


def _lines(path: Path) -> Iterator[Written]:
    with files.open_bytes(path) as stream:
        for block in files.blocks(stream, path):
            for number, line in files.lines(block):
                yield Written(line, Place(str(path), number))


def _read(record: Written) -> Step:
    try:
        step = read_record(Step, record)
    except CaseError as error:
        absent = [name for name in ("selected", "expected") if error.message.startswith(f"field `{name}` is missing")]
        if absent:
            error.hint = f"write the tool's name, or null for no tool{_no_null(record)}"
        raise
    for name, tool in (("selected", step.selected), ("expected", step.expected)):
        if tool is not None and tool.strip().lower() in _NO_NAME:
            raise CaseError(
                f'`{name}` is the text "{tool}", which is no tool\'s name',
                place=place_of(record, f"{record.place.path or '$'}.{name}"),
                hint=f"write null for no tool{_no_null(record)}",
            )
    return step


def _no_null(record: Written) -> str:
    """What to do where the format has no `null`."""
    is_toml = unpacked_name(record.place.file or "").endswith(".toml")
    return " (TOML has no null: write this step in JSON or YAML)" if is_toml else ""


class _Catalogs:
    """Catalogs of steps: files are read once, equal ones are checked once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Raw] = {}
        self._last = b"null"

    def loaded(self, step: Step, place: Place) -> Step:
        """The step with its catalog in place and found to be one."""
        if step.tools_json is UNSET or bytes(step.tools_json) == self._last:
            return step
        data = bytes(step.tools_json)
        if data[:1] == b'"':
            return replace(step, tools_json=self._file(jsontext.decode(data, place), place))
        try:
            parse_tools(jsontext.decode(data, place), Place(place.file, place.line, None, f"{place.path or '$'}.tools"))
        except TraceError as error:
            raise ConfigError(error.message, place=error.place, hint=error.hint, code="CONFIG_TOOL_INVALID") from None
        self._last = data
        return step

    def _file(self, name: str, place: Place) -> Raw:
        if name not in self._files:
            self._files[name] = Raw(jsontext.encode(load_tools(self._folder / name, place)))
        return self._files[name]
