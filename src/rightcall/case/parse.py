"""Cases from text: JSON Lines, JSON, TOML, YAML or CSV, all through one door.

YAML is the safe subset of YAML 1.2: no tags, no anchors, no duplicate keys (`no` is a text).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.case.case import Case
from rightcall.case.sources.csv_cases import csv_cases
from rightcall.case.written import Written, documents, line_of, load_yaml, read_record, toml_fault
from rightcall.errors import CaseError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SUFFIXES", "line_of", "load_yaml", "parse_cases", "read_case", "toml_fault"]
SUFFIXES = (".jsonl", ".json", ".toml", ".yaml", ".yml", ".csv")


def read_case(data: bytes, place: Place, source: str = "") -> Case:
    """Read one case from its JSON text.

    Args:
        data: one JSON object.
        place: where it was written.
        source: the text of a TOML or YAML file that the JSON was made from, to find the line of a fault.

    Raises:
        CaseError: every fault, with JSON path, line where it can be found, and the nearest valid name.
    """
    return read_record(Case, Written(data, place, source))


def parse_cases(data: bytes, file: str) -> Iterator[tuple[Case, Place]]:
    """Every case of a file with the place where it stands. The format follows the file's suffix.

    Raises:
        CaseError: the text cannot be read, or a case in it cannot.
    """
    suffix = "." + file.rsplit(".", 1)[-1].lower() if "." in file else ""
    if suffix == ".csv":
        yield from csv_cases(data, file)
    elif suffix in (".json", ".toml", ".yaml", ".yml"):
        for record in documents(data, file, ("case", "cases")):
            yield read_record(Case, record), record.place
    elif suffix and suffix not in SUFFIXES:
        raise CaseError(
            f"cases are not read from `{suffix}`", place=Place(file),
            hint=f"name it {', '.join(SUFFIXES)}",
        )  # fmt: skip
    else:
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.strip():
                place = Place(file, number)
                yield read_case(line, place), place
