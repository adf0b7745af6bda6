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

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.run.bundle.chain import check_content
from rightcall.run.bundle.files import BundleFault, Files, Told
from rightcall.run.bundle.opening import open_bundle
from rightcall.run.bundle.parts import GATE, SUMS
from rightcall.store.chain import Head

if TYPE_CHECKING:
    from pathlib import Path

    from rightcall.run.bundle.opening import Bundle

__all__ = ["BundleFault", "BundleVerification", "check_bundle"]


class BundleVerification(Struct, frozen=True, kw_only=True):
    """What `check_bundle` found.

    Attributes:
        bundle: as it was given. run, graders, status, finished, rightcall: what the manifest says; empty without one.
        faults: what is not as it was exported; empty if the bundle is intact. untold: how many more there are.
        files, size: how many files and bytes were hashed.
        entries, head: the log.
        records: kind -> how many were checked against it. bodies: how many were checked.
        results: how many results stand. figures: how many counts of the run were found again in them.
        answers, signoffs: how many of them are in the chain. gates: how many answers of gates are; gate: the newest.
        gate_file: the answer in `gate.json`, which was asked when the bundle was made; `None` without one.
        prompts, judges: how many different ones.
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
    gates: int = 0
    gate: str | None = None
    gate_file: str | None = None
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
    with open_bundle(path) as bundle:
        told = Told()
        files = Files(bundle, told)
        manifest = files.check()
        found: dict[str, Any] = {}
        if manifest is not None:
            found = check_content(bundle, manifest, told, files.hashes, expected_head)
            found["gate_file"] = _gate_file(bundle, told)
    about: dict[str, Any] = {}
    if manifest is not None:
        about = {name: getattr(manifest, name) for name in _ABOUT}
    return BundleVerification(
        bundle=bundle.name, faults=tuple(told.faults), untold=told.untold, files=len(files.hashes), size=files.size,
        digest=files.hashes.get(SUMS, ""), **about, **found,
    )  # fmt: skip


class _Answer(Struct, frozen=True):
    answer: str


def _gate_file(bundle: Bundle, told: Told) -> str | None:
    """The answer in `gate.json`."""
    if GATE not in bundle.sizes:
        return None
    try:
        with bundle.open(GATE) as stream:
            return msgspec.json.decode(stream.read(), type=_Answer).answer
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        told.add("is no answer of a gate", GATE)
        return None


_ABOUT = ("run", "graders", "status", "finished", "rightcall", "notes")
