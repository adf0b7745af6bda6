"""The files of a bundle against the two lists of their hashes, and their lines one by one."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from rightcall.errors import StoreError
from rightcall.run.bundle.parts import (
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.run.bundle.opening import Bundle

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
