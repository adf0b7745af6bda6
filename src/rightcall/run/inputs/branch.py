"""On which branch, at which commit, a run is made: as CI says it, else as the repository around the settings has it.

Git itself is not asked: a few small files of `.git` say it, and no program of a repository is run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rightcall.run.inputs.opening import redactor_of
from rightcall.run.results.model import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rightcall.settings.load import Loaded

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEADS = "refs/heads/"
_MOST = 4096
"""Bytes of a small file of `.git`; what is longer is none."""
_LINKS = 5
"""How many references may lead to one another."""


def origin_of(environ: Mapping[str, str], folder: Path) -> Origin:
    """Branch and commit, each from the first that says it.

    `RIGHTCALL_BRANCH` and `RIGHTCALL_COMMIT`; then GitHub's and GitLab's variables, in which a request to merge has the
    name of its own branch and not of the one that it is merged into; then the repository in or above `folder`. On a tag
    there is no branch.

    Args:
        environ: the environment.
        folder: where the settings are.
    """
    said = [
        *_named(environ, "RIGHTCALL_BRANCH", "RIGHTCALL_COMMIT"), *_github(environ), *_gitlab(environ),
    ]  # fmt: skip
    branch = next((one.branch for one in said if one.branch), None)
    commit = next((one.commit for one in said if one.commit), None)
    if branch is not None and commit is not None:
        return Origin(branch, commit)
    there = _repository(folder)
    return Origin(branch or there.branch, commit or there.commit)


def source_facts(loaded: Loaded, environ: Mapping[str, str]) -> dict[str, str | None]:
    """The same as the facts of a run hold it, without secrets."""
    found = origin_of(environ, loaded.folder)
    branch = None if found.branch is None else redactor_of(loaded).text(found.branch)
    return {"branch": branch, "commit": found.commit}


# ---- what CI says ----------------------------------------------------------------------------------------------------


def _named(environ: Mapping[str, str], branch: str, commit: str) -> Iterator[Origin]:
    yield Origin(*(_said(environ.get(name, "")) for name in (branch, commit)))


def _said(value: str) -> str | None:
    """A value that a record can hold; one of bytes that are no text says nothing."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value.strip() or None


def _github(environ: Mapping[str, str]) -> Iterator[Origin]:
    name = "GITHUB_HEAD_REF" if environ.get("GITHUB_HEAD_REF") else "GITHUB_REF_NAME"
    if name == "GITHUB_REF_NAME" and environ.get("GITHUB_REF_TYPE") == "tag":
        name = ""
    yield from _named(environ, name, "GITHUB_SHA")


def _gitlab(environ: Mapping[str, str]) -> Iterator[Origin]:
    own = environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME")
    yield from _named(environ, "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME" if own else "CI_COMMIT_BRANCH", "CI_COMMIT_SHA")


# ---- what the repository says ----------------------------------------------------------------------------------------


def _repository(folder: Path) -> Origin:
    """The repository that a folder is in; nothing where there is none, or its files cannot be read."""
    try:
        home = _home(folder.resolve())
        return Origin() if home is None else _head(home)
    except (OSError, ValueError):  # no rights, no text, a name that no file can have
        return Origin()


def _home(folder: Path) -> Path | None:
    """The folder that holds `HEAD`: `.git`, or the one that a file `.git` (of a worktree, a submodule) names."""
    for above in (folder, *folder.parents):
        found = above / ".git"
        if (found / "HEAD").is_file():  # a folder without one is no repository, and git looks further up
            return found
        if found.is_file():
            kind, _, path = _text(found).partition(":")
            return above / path.strip() if kind == "gitdir" else None
    return None


def _head(home: Path) -> Origin:
    said = _text(home / "HEAD")
    if _COMMIT.fullmatch(said):
        return Origin(None, said)
    name = _reference(said)
    if name is None:
        return Origin()
    branch = name.removeprefix(_HEADS) if name.startswith(_HEADS) else None
    return Origin(branch, _commit(home, name))


def _reference(said: str) -> str | None:
    """The name after `ref:`; `None` where it is none, or stands for references that are kept in another form."""
    kind, _, name = said.partition(":")
    name = name.strip()
    if kind != "ref" or not name.startswith("refs/") or ".." in name or name == f"{_HEADS}.invalid":
        return None
    if any(sign < " " or sign == "\x7f" for sign in name):  # git allows no such name
        return None
    return name


def _commit(home: Path, name: str) -> str | None:
    """The commit that a reference stands for; `None` where there is none yet, or it is not to be found."""
    shared = home / _text(home / "commondir") if (home / "commondir").is_file() else home
    for _ in range(_LINKS):
        said = next((_text(place / name) for place in (home, shared) if (place / name).is_file()), None)
        if said is None:
            return _packed(shared / "packed-refs", name)
        if _COMMIT.fullmatch(said):
            return said
        other = _reference(said)
        if other is None:
            return None
        name = other
    return None


def _packed(file: Path, name: str) -> str | None:
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        for line in stream:
            commit, _, found = line.decode("utf-8", "replace").rstrip("\n").partition(" ")
            if found == name and _COMMIT.fullmatch(commit):
                return commit
    return None


def _text(file: Path) -> str:
    with file.open("rb") as stream:
        return stream.read(_MOST).decode().strip()
