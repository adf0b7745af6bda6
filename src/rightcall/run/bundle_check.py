"""Proves that a bundle is what was exported: without a store, a network or settings, in bounded memory.

What is checked, in this order, so that the first fault is told first:

* the files: each is in `SHA256SUMS` and in the manifest with the hash and size that it has, and there is no other;
* the log: its numbers, hashes and links (`rightcall.store.chain`), up to the head that the manifest names;
* the records: each is the one that a log entry names, in the order of the log, and none of the run's is missing;
* the bodies: each that a record names is there, each has the hash that is its name, and there is no other;
* the verdicts: the attempts that they rest on are there, `results.jsonl` holds the results that stand, in their order,
  and these say what the verdicts say;
* the figures: the counts of the run's last event are those of the results;
* the prompts: each that an attempt names is there, and its text has the hash that the attempts have;
* people: each answer and sign-off is about an item of the run.

Reports, gates and settings are only held against their hashes. Whoever makes all hashes anew can change them, and can
make a whole chain anew; a head that was kept elsewhere (`expected_head`) proves the contrary for everything recorded.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.errors import StoreError
from rightcall.run.bundle_opening import open_bundle
from rightcall.run.bundle_parts import (
    FORMAT,
    LONGEST_LINE,
    MANIFEST,
    SUMS,
    File,
    Manifest,
    body_of,
    is_name,
    render_sums,
)
from rightcall.store.chain import Head

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rightcall.run.bundle_opening import Bundle

MOST_FAULTS = 1000
"""How many faults are told one by one."""

_CHUNK = 1 << 20
_LARGEST_LIST = 1 << 30


class BundleFault(Struct, frozen=True):
    """One thing that is not as it was exported: the file, and in it the line, or the log entry, where that is known."""

    file: str | None
    line: int | None
    message: str

    def __str__(self) -> str:
        """One line."""
        where = self.file or "bundle"
        return f"{where}{'' if self.line is None else f' line {self.line}'}: {self.message}"


class BundleVerification(Struct, frozen=True, kw_only=True):
    """What `check_bundle` found.

    Attributes:
        bundle: as it was given. run, graders, status, finished, rightcall: what the manifest says; empty without one.
        faults: what is not as it was exported; empty if the bundle is intact. untold: how many more there are.
        files, size: how many files and bytes were hashed.
        entries, head: the log.
        records: kind -> how many were checked against it. bodies: how many were checked.
        results: how many results stand. figures: how many counts of the run were found again in them.
        answers, signoffs: how many of them are in the chain. prompts, judges: how many different ones.
        prompts_unknown: of how many prompts the text is not there.
        notes: of the manifest. digest: SHA-256 of `SHA256SUMS`: kept elsewhere, it proves that no file is another.
    """

    bundle: str
    run: str = ""
    graders: tuple[str, ...] = ()
    status: str = ""
    finished: bool = False
    rightcall: str = ""
    faults: tuple[BundleFault, ...] = ()
    untold: int = 0
    files: int = 0
    size: int = 0
    entries: int = 0
    head: Head = Head()
    records: dict[str, int] = {}
    bodies: int = 0
    results: int = 0
    figures: int = 0
    answers: int = 0
    signoffs: int = 0
    prompts: int = 0
    prompts_unknown: int = 0
    judges: int = 0
    notes: tuple[str, ...] = ()
    digest: str = ""

    @property
    def intact(self) -> bool:
        """Whether everything is as it was exported."""
        return not self.faults


def check_bundle(path: Path, expected_head: str | None = None) -> BundleVerification:
    """Check a bundle: a folder, or a zip file, which is unpacked nowhere.

    Args:
        path: the bundle.
        expected_head: hash of a log entry that was the last one once. It must be in the chain.

    Raises:
        ConfigError: there is no bundle. StoreError: it is none that rightcall can have made, or a newer one made it.
    """
    from rightcall.run.bundle_chain import check_content

    with open_bundle(path) as bundle:
        told = Told()
        files = Files(bundle, told)
        manifest = files.check()
        found: dict[str, Any] = {}
        if manifest is not None:
            found = check_content(bundle, manifest, told, files.hashes, expected_head)
    about: dict[str, Any] = {}
    if manifest is not None:
        about = {name: getattr(manifest, name) for name in _ABOUT}
    return BundleVerification(
        bundle=bundle.name, faults=tuple(told.faults), untold=told.untold, files=len(files.hashes), size=files.size,
        digest=files.hashes.get(SUMS, ""), **about, **found,
    )  # fmt: skip


_ABOUT = ("run", "graders", "status", "finished", "rightcall", "notes")


class Told:
    """Faults as they are found: so many in words, the rest as a number."""

    def __init__(self) -> None:
        """Nothing is wrong yet."""
        self.faults: list[BundleFault] = []
        self.untold = 0

    def add(self, message: str, file: str | None = None, line: int | None = None) -> None:
        """Tell one more."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(BundleFault(file, line, message))
        else:
            self.untold += 1


class Files:
    """The files of a bundle against `SHA256SUMS` and the manifest.

    Attributes:
        hashes: path -> SHA-256, of every file that could be read. size: bytes of all of them.
    """

    def __init__(self, bundle: Bundle, told: Told) -> None:
        """Read nothing yet."""
        self._bundle, self._told = bundle, told
        self.hashes: dict[str, str] = {}
        self.size = 0

    def check(self) -> Manifest | None:
        """Hash every file; the manifest, if it can be read.

        Raises:
            StoreError: a newer rightcall made it.
        """
        for path in sorted(self._bundle.sizes):
            self._hash(path)
        sums = self._sums()
        if sums is not None:
            self._compare(sums)
        manifest = self._manifest()
        if manifest is not None:
            self._compare_manifest(manifest)
        return manifest

    def _hash(self, path: str) -> None:
        digest = sha256()
        try:
            with self._bundle.open(path) as stream:
                while chunk := stream.read(_CHUNK):
                    digest.update(chunk)
                    self.size += len(chunk)
        except OSError as error:
            self._told.add(f"cannot be read: {error.strerror or error}", path)
            return
        self.hashes[path] = digest.hexdigest()

    def _whole(self, path: str) -> bytes | None:
        """A small file as it is; `None`, and a fault, where it is missing or can be no such file."""
        if path not in self._bundle.sizes:
            self._told.add("is missing", path)
            return None
        if path not in self.hashes:
            return None
        if self._bundle.sizes[path] > _LARGEST_LIST:
            self._told.add("is too large", path)
            return None
        with self._bundle.open(path) as stream:
            return stream.read()

    def _sums(self) -> dict[str, str] | None:
        text = self._whole(SUMS)
        if text is None:
            return None
        found: list[File] = []
        for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
            digest, gap, path = line[:64], line[64:66], line[66:]
            if gap != "  " or not is_name(path) or set(digest) - set("0123456789abcdef"):
                self._told.add("is no hash with a path", SUMS, number)
                return None
            found.append(File(path, digest, 0))
        if render_sums(found) != text or len({one.path for one in found}) < len(found):
            self._told.add("was changed: its lines are not in the order of their paths, or are there twice", SUMS)
            return None
        return {one.path: one.sha256 for one in found}

    def _compare(self, sums: dict[str, str]) -> None:
        """Every file against the hash that it must have."""
        for path in sorted({*sums, *self._bundle.sizes} - {SUMS}):
            if path not in self._bundle.sizes:
                self._told.add(f"is missing; {SUMS} names it", path)
            elif path not in sums:
                self._told.add(f"was added: {SUMS} does not name it", path)
            elif self.hashes.get(path, sums[path]) != sums[path]:
                self._told.add(f"was changed: {SUMS} has another hash of it", path)
            elif (body := body_of(path)) is not None and self.hashes.get(path, body) != body:
                self._told.add("was changed: its hash is not its name", path)
        if SUMS in sums:
            self._told.add("names itself", SUMS)

    def _manifest(self) -> Manifest | None:
        text = self._whole(MANIFEST)
        if text is None:
            return None
        try:
            newer = msgspec.json.decode(text, type=_Format).format
            if newer != FORMAT:
                raise StoreError(
                    f"the bundle has format {newer}; this rightcall reads {FORMAT}", code="STORE_INVALID",
                    hint="check it with the rightcall that made it",
                )  # fmt: skip
            return msgspec.json.decode(text, type=Manifest)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._told.add(f"was changed: {' '.join(str(error).split())}", MANIFEST)
            return None

    def _compare_manifest(self, manifest: Manifest) -> None:
        listed = {one.path: one for one in manifest.files}
        there = self._bundle.sizes.keys() - {MANIFEST, SUMS}
        if len(listed) < len(manifest.files):
            self._told.add("names a file twice", MANIFEST)
        for path in sorted(there - listed.keys()):
            self._told.add(f"was added: {MANIFEST} does not name it", path)
        for path in sorted(listed.keys() - there):
            self._told.add(f"is missing; {MANIFEST} names it", path)
        for path in sorted(listed.keys() & there):
            if (listed[path].sha256, listed[path].size) != (
                self.hashes.get(path, listed[path].sha256), self._bundle.sizes[path],
            ):  # fmt: skip
                self._told.add(f"was changed: {MANIFEST} has another hash or size of it", path)


class _Format(Struct, frozen=True):
    format: int


def lines_of(bundle: Bundle, path: str, told: Told) -> Iterator[tuple[int, bytes]]:
    """The lines of a file by number, without their line feeds; nothing where there is no such file."""
    if path not in bundle.sizes:
        return
    number = 0
    try:
        with bundle.open(path) as stream:
            while line := stream.readline(LONGEST_LINE):
                number += 1
                if not line.endswith(b"\n"):
                    told.add("is too long, or has no end", path, number)
                    return
                yield number, line[:-1]
    except OSError:
        return  # told when it was hashed
