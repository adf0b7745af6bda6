"""A first suite on disk: everything that is not there yet, or nothing."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING

from rightcall.errors import ConfigError, Place
from rightcall.run.inputs.importing import keep_key
from rightcall.run.inputs.linting import lint_suite
from rightcall.run.inputs.opening import redactor_of
from rightcall.run.starting.first import first_suite
from rightcall.settings.load import load_settings
from rightcall.trace.redact import KEY_FILE, KEY_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rightcall.run.inputs.sources import Sources

_IN_MEMORY = 16_000_000
"""Bytes of copied traces that are kept in memory until they are written."""

SUITE = ("rightcall.toml", "cases.jsonl", "tools.json", "traces.jsonl")
"""What a suite is made of: where one of these is there, there is a suite already."""


def begin_suite(
    folder: Path, sources: Sources, accepted: list[str] | None, environ: Mapping[str, str], *, gitlab: bool = False
) -> tuple[list[Path], list[Path], list[str]]:
    """Sketch a suite from traces and write it; if anything fails, whatever was made is gone again.

    Args:
        folder: where it goes.
        sources: the traces.
        accepted: ids of the traces that a person accepts as right; `None` for all of them.
        environ: the environment.
        gitlab: whether there is a pipeline of GitLab too.

    Returns:
        The files that were written, those that were there and are left as they are, and what a person should know.

    Raises:
        ConfigError: there is a suite already, or a name that settings cannot hold.
        NoDataError, TraceError: see `first_suite`.
        OSError: a file or folder that cannot be written.
    """
    existing = [name for name in SUITE if (folder / name).exists()]
    if existing:
        raise ConfigError(
            f"{', '.join(existing)} is there already", place=Place(str(folder)), hint="use another folder"
        )
    written: list[Path] = []
    left: list[Path] = []
    with undone() as own, SpooledTemporaryFile(_IN_MEMORY) as lines:
        key = folder / ".rightcall" / KEY_FILE
        if not environ.get(KEY_VARIABLE) and not key.exists():
            own(key)
            keep_key(key.parent, environ)
        hide = redactor_of(load_settings(None, environ, {}, folder))
        names = [os.path.relpath(path, folder) for path in sources.paths]
        start = first_suite(sources, accepted, hide, names, lines, gitlab=gitlab)
        files: dict[str, IO[bytes]] = {name: BytesIO(text.encode("utf-8")) for name, text in start.files.items()}
        if start.copies:
            lines.seek(0)
            files["traces.jsonl"] = lines
        for name, content in files.items():
            path = folder / name
            if path.exists():
                left.append(path)
                continue
            own(path)
            _write(path, content)
            written.append(path)
        load_settings(folder / "rightcall.toml", {}, {})
        notes = [*start.notes, *_lint(folder), *_misplaced(folder)]
    return written, left, notes


def _lint(folder: Path) -> list[str]:
    """What `lint` would object to, in a line."""
    _, found = lint_suite(folder / "rightcall.toml", {}, {}, None)
    errors = sum(item.severity == "error" for item in found)
    what = "an error" if errors == 1 else f"{errors} errors"
    return [f"rightcall lint finds {what} in it: correct these goldens, or accept other traces"] if errors else []


def _misplaced(folder: Path) -> list[str]:
    """That the workflow lies where nobody looks for it: in a folder inside a repository."""
    here = folder.resolve()
    root = next((parent for parent in (here, *here.parents) if (parent / ".git").exists()), here)
    if root == here:
        return []
    inside = here.relative_to(root).as_posix()
    return [f"workflows are looked for at the root of the repository: move .github there, and run it in {inside}"]


def _write(path: Path, content: IO[bytes]) -> None:
    with path.open("xb") as stream:
        copyfileobj(content, stream)


@contextmanager
def undone() -> Iterator[Callable[[Path], None]]:
    """Take back every file and folder that was made inside this block, if it fails.

    Yields:
        A function that makes the folder of a file, and notes that the file, which is not there yet, is ours.
    """
    files: list[Path] = []
    folders: list[Path] = []

    def own(path: Path) -> None:
        for parent in reversed([parent for parent in path.parents if not parent.exists()]):
            parent.mkdir()
            folders.append(parent)
        files.append(path)

    try:
        yield own
    except BaseException:
        for path in files:
            path.unlink(missing_ok=True)
        for folder in reversed(folders):
            with suppress(OSError):  # somebody else has put something into it
                folder.rmdir()
        raise
