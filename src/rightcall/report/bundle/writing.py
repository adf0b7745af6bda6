"""A run as a bundle: everything that an auditor needs to follow it, checkable without the store (docs/bundle.md)."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rightcall.errors import ConfigError, Place, StoreError
from rightcall.report.bundle.readme import readme
from rightcall.report.bundle.suite import cleaner_of, pretty, write_prompts, write_suite
from rightcall.run.bundle.parts import FORMAT, MANIFEST, SUMS, File, LogPart, Manifest, render_sums

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.gate.decision import GateReport
    from rightcall.run.bundle.check import BundleVerification
    from rightcall.run.bundle.records import Kept
    from rightcall.run.results.model import RunResults
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store

ZIP = ".zip"
_MOMENT = (1980, 1, 1, 0, 0, 0)
_PLAIN = 0o100644 << 16
_UNIX = 3


class Made(Struct, frozen=True, kw_only=True):
    """A bundle that was written: where, of what, and what its check found."""

    path: str
    manifest: Manifest
    found: BundleVerification


def refuse_target(out: Path) -> None:
    """Refuse a bundle that could not be written, before anything is read.

    Raises:
        ConfigError: there is something already, or no folder for it.
    """
    try:
        is_there = _is_there(out)
        has_folder = out.parent.is_dir()
    except (OSError, ValueError) as error:  # a name that no file can have
        raise ConfigError(f"cannot write: {error}", place=Place("--out")) from None
    if is_there:
        raise ConfigError(
            "is there already; a bundle overwrites nothing", place=Place(str(out)), hint="name a new folder or .zip"
        )
    if not has_folder:
        raise ConfigError(f"the folder `{out.parent}` does not exist", place=Place("--out"), hint="make it first")


def _is_there(path: Path) -> bool:
    """Whether there is anything of this name, a link to nowhere among it."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def write_bundle(store: Store, loaded: Loaded, run_id: str, out: Path, *, gated: bool = True) -> Made:
    """Write a run on record as a bundle: a folder, or one `.zip` file; whole, or not at all.

    The same store and settings give the same bytes. What was written is checked before it gets its name.

    Args:
        store: the record.
        loaded: the settings, for the gates, the policy and the report.
        run_id: the run.
        out: a new folder, or a new file that ends in `.zip`.
        gated: whether the gates are asked.

    Raises:
        ConfigError: it cannot be written, or a gate cannot be used.
        StoreError: there is no such run, or its record is not what was written.
    """
    refuse_target(out)
    try:
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name[:50]}.") as scratch:
            folder = Path(scratch) / "bundle"
            folder.mkdir()
            manifest = _write(store, loaded, run_id, folder, gated=gated)
            found = _checked(folder, store, manifest)
            _publish(folder, out)
    except OSError as error:
        raise ConfigError(f"cannot write: {error.strerror or error}", place=Place(str(out))) from None
    return Made(path=str(out), manifest=manifest, found=replace(found, bundle=str(out)))


def _checked(folder: Path, store: Store, manifest: Manifest) -> BundleVerification:
    from rightcall.run.bundle.check import check_bundle

    found = check_bundle(folder, manifest.log.head)
    if not found.intact:
        raise StoreError(
            f"the record is not what was written: {found.faults[0]}", code="STORE_INVALID", place=Place(store.name),
            hint="look closer with rightcall log verify; nothing was exported",
        )  # fmt: skip
    return found


# ---- content ----


def _write(store: Store, loaded: Loaded, run_id: str, folder: Path, *, gated: bool) -> Manifest:
    from rightcall.run.bundle.records import write_record
    from rightcall.run.results.store import stored_results

    results = stored_results(store, run_id)
    kept = write_record(store, run_id, _judges(results), folder)
    cleaner = cleaner_of(loaded, os.environ)
    notes = [
        *_unfinished(results),
        *write_suite(loaded, results, cleaner, folder),
        *write_prompts(kept.prompts, loaded, cleaner, folder),
        *(() if gated else ("the gates were not asked: there is no gate.json",)),
    ]
    notes += _write_reports(store, loaded, results, folder, gated=gated)
    manifest = _manifest(store, results, kept, notes)
    (folder / "README.txt").write_text(readme(manifest), "utf-8", newline="\n")
    return _seal(manifest, folder)


def _judges(results: RunResults) -> Iterator[str]:
    from rightcall.run.results.judge_use import judges_of

    for part in results.graders.values():
        yield from (str(one["name"]) for one in judges_of(part.facts))


def _unfinished(results: RunResults) -> Iterator[str]:
    if results.status != "finished":
        said = f" ({results.message})" if results.message else ""
        yield f"the run is not finished: {results.status}{said}"


def _write_reports(store: Store, loaded: Loaded, results: RunResults, folder: Path, *, gated: bool) -> list[str]:
    """What is made from the run to be read: gates, judges, reports; what must be known about it."""
    from rightcall.report.calibration.runs import with_calibrations
    from rightcall.report.formats.writing import write_reports
    from rightcall.report.view.building import view_of
    from rightcall.run.calibration.fitness import fitness_of
    from rightcall.run.gating.gates import gate_results

    gate = gate_results(results, loaded, store) if gated else None
    fitness = fitness_of(store, results)
    if gate is not None:
        (folder / "gate.json").write_bytes(pretty(msgspec.to_builtins(gate)))
    (folder / "judges.json").write_bytes(pretty([msgspec.to_builtins(fitness[key]) for key in sorted(fitness)]))
    # Where the store lies is nobody's business who has this copy only.
    view = view_of(dataclasses.replace(results, store_name=None), loaded, gate=gate)
    write_reports(with_calibrations(view, store, results), [folder / "report.md", folder / "report.html"])
    return [] if gate is None else list(_other_answer(store, results, gate))


def _other_answer(store: Store, results: RunResults, gate: GateReport) -> Iterator[str]:
    """That the gates say now something else than when they were last asked on record."""
    from rightcall.store.gate_answers import newest_answer

    before = newest_answer(store.database, results.id or "")
    if before is not None and before.answer != gate.answer:
        said = f"the newest answer on record, of {before.at}, is {before.answer}"
        yield f"gate.json says {gate.answer}, as the gates answered when this bundle was made; {said}"


def _manifest(store: Store, results: RunResults, kept: Kept, notes: list[str]) -> Manifest:
    return Manifest(
        format=FORMAT, rightcall=version("rightcall"), run=results.id or "", graders=tuple(results.graders),
        status=results.status, finished=results.status == "finished",
        store="sqlite" if store.database.is_sqlite else "postgresql",
        log=LogPart(kept.head.seq, kept.head.hash), notes=tuple(notes),
    )  # fmt: skip


def _seal(manifest: Manifest, folder: Path) -> Manifest:
    """Write the manifest and the sums, over all that is there."""
    files = [_file(folder, path) for path in _files(folder)]
    manifest = replace(manifest, files=tuple(files))
    (folder / MANIFEST).write_bytes(pretty(msgspec.to_builtins(manifest)))
    (folder / SUMS).write_bytes(render_sums([*files, _file(folder, MANIFEST)]))
    return manifest


def _files(folder: Path) -> list[str]:
    found = (Path(above, name) for above, _, names in os.walk(folder) for name in names)
    return sorted(path.relative_to(folder).as_posix() for path in found)


def _file(folder: Path, path: str) -> File:
    from hashlib import file_digest

    with (folder / path).open("rb") as stream:
        return File(path, file_digest(stream, "sha256").hexdigest(), (folder / path).stat().st_size)


# ---- under its name ----


def _publish(folder: Path, out: Path) -> None:
    """Give a finished bundle its name, in one step."""
    if not out.name.endswith(ZIP):
        mask = os.umask(0)
        os.umask(mask)
        folder.chmod(0o777 & ~mask)
        refuse_target(out)
        folder.rename(out)
        return
    packed = folder.with_name("bundle.zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in _files(folder):
            _pack(archive, folder / path, path)
    refuse_target(out)
    packed.rename(out)


def _pack(archive: zipfile.ZipFile, file: Path, path: str) -> None:
    """Add one file, with nothing in its head that differs from one day or machine to the next."""
    info = zipfile.ZipInfo(path, _MOMENT)
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, _UNIX, _PLAIN
    info.file_size = file.stat().st_size
    with file.open("rb") as source, archive.open(info, "w") as target:
        shutil.copyfileobj(source, target, 1 << 20)
