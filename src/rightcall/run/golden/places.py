"""Where a case is written: file and line, for annotations and SARIF, looked up when a report is made.

A run keeps the names and hashes of the files it read, not the places of its cases. So the files are read once more, and
only where they are still what they were: a line of a file that has changed since would point at something else.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rightcall.errors import Place, RightcallError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Places:
    """Cases and steps by id, read when the first is asked for.

    Args:
        files: (file, SHA-256 of its content, whether it is known to hold cases); a file that holds none is passed over.
    """

    def __init__(self, files: Iterable[tuple[str, str, bool]]) -> None:
        """Keep the names; nothing is read yet."""
        self._files = list(dict.fromkeys(files))
        self._found: dict[str, Place] | None = None
        self._changed: list[str] = []

    def of(self, case_id: str | None) -> Place | None:
        """Where a case is written.

        The file alone where the line is not known, or the run's only file of cases has changed; `None` where nothing
        is known.
        """
        if case_id is None:
            return None
        if self._found is None:
            self._found = dict(self._read())
        place = self._found.get(case_id)
        if place is None and len(self._changed) == 1 and sum(holds for _, _, holds in self._files) == 1:
            return Place(self._changed[0])
        return place

    def _read(self) -> Iterator[tuple[str, Place]]:
        for file, digest, holds_cases in self._files:
            if _digest(file) != digest:
                self._changed += [file] if holds_cases else []
                continue
            for case_id, place in _ids(Path(file), holds_cases=holds_cases):
                yield case_id, Place(file, place.line)


def places_of(facts: Iterable[Mapping[str, Any]]) -> Places:
    """The places of the cases that some graders' facts name, in `cases` (files of cases) and `inputs` (any files)."""
    files: list[tuple[str, str, bool]] = []
    for one in facts:
        for key in ("cases", "inputs"):
            files += [(item["file"], item.get("sha256") or "", key == "cases") for item in one.get(key) or ()]
    known = {file for file, _, holds in files if holds}
    return Places((file, digest, holds) for file, digest, holds in files if digest and (holds or file not in known))


def _digest(file: str) -> str | None:
    from rightcall.run.golden.grading import sha256_of_file

    try:
        return sha256_of_file(Path(file))
    except OSError:
        return None


def _ids(path: Path, *, holds_cases: bool) -> Iterator[tuple[str, Place]]:
    """The ids in a file of cases or steps; nothing for a file that holds neither, which its first record tells."""
    from rightcall.case.load import iter_cases
    from rightcall.case.steps import iter_steps

    found = False
    try:
        for case, place, _ in iter_cases(path, skips=[]):
            found = True
            yield case.id, place
    except RightcallError:
        if found or holds_cases:
            return
    if found:
        return
    try:
        for step, place in iter_steps(path):
            yield step.id, place
    except RightcallError:
        return
