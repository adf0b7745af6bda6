"""Runs of the card desk on record, bundles of them, and hands that change these."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from desk_suite import DESK, copy_desk

from rightcall.cli.exits import guarded
from rightcall.cli.main import app
from rightcall.report.bundle.writing import Made, _seal, write_bundle
from rightcall.run.bundle.check import BundleVerification, check_bundle
from rightcall.run.bundle.parts import MANIFEST, SUMS, Manifest
from rightcall.settings.load import load_settings
from rightcall.store.chain import GENESIS, entry_hash
from rightcall.store.store import Store

REASON = "The card was closed for good; a freeze was asked for."


def make_runs(folder: Path, store: str, *commands: str) -> None:
    """Run commands on the card desk, copied into the folder, which must be the current one."""
    if not (folder / "examples").exists():
        copy_desk(folder)
    for command in commands:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = guarded(app, [*command.split(), "-c", DESK, "--store", store, "--quiet"])
        assert code in (0, 1, 3, 4), said.getvalue()


def sign(store: Store, run_id: str) -> None:
    """Confirm the one CRITICAL item of a run, by name, after somebody has answered it."""
    from datetime import UTC, datetime

    from rightcall.run.people.signing import sign_item
    from rightcall.store.records import AnswerRecord

    item, _ = next(iter(store.queue.criticals(run_id, None)))
    now = datetime(2026, 11, 29, 12, tzinfo=UTC)
    answer = AnswerRecord(
        item=item.item, run_id=item.run_id, grader=item.grader, unit=item.unit, who="ana", at=now.isoformat(),
        kind="imported", fields={"severity": "CRITICAL"}, note="=closed",
    )  # fmt: skip
    store.queue.imported([answer], now)
    sign_item(store, item, "dana", {}, "confirmed", REASON, item.trace_id or "", at=now.isoformat(), client="test")


def exported(store: str, run_id: str, out: Path) -> Made:
    """Export a bundle with the settings of the card desk."""
    loaded = load_settings(Path(DESK), {}, {"store": store})
    with Store.open(store) as opened:
        return write_bundle(opened, loaded, run_id, out)


def run_ids(store: str) -> dict[str, str]:
    """Grader -> the newest of its runs."""
    with Store.open(store) as opened:
        return {run.grader: run.id for run, _ in reversed(opened.runs())}


def files_of(folder: Path) -> dict[str, bytes]:
    """Path -> content of every file."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def reseal(folder: Path, **changed: Any) -> None:
    """Make all hashes of the files anew, as somebody who forges would."""
    old = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    for name in (MANIFEST, SUMS):
        (folder / name).unlink()
    _seal(msgspec.structs.replace(old, **changed), folder)


def lines(path: Path) -> list[bytes]:
    """The lines of a file without their ends."""
    return path.read_bytes().splitlines()


def put_lines(path: Path, rows: list[bytes]) -> None:
    """Write lines."""
    path.write_bytes(b"".join(row + b"\n" for row in rows))


def rechain(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change log entries and compute the whole chain anew, as somebody who forges would."""
    previous, rows = GENESIS, []
    for line in lines(folder / "log.jsonl"):
        entry = json.loads(line)
        change(entry)
        entry["previous"] = previous
        entry["hash"] = previous = entry_hash(
            previous, entry["seq"], entry["at"], entry["kind"], entry["run_id"], entry["digest"]
        )
        rows.append(msgspec.json.encode(entry))
    put_lines(folder / "log.jsonl", rows)
    manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    reseal(folder, log=msgspec.structs.replace(manifest.log, head=previous))


def sha(data: bytes) -> str:
    """SHA-256 as hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def told(found: BundleVerification) -> list[str]:
    """Every fault as one line."""
    return [str(fault) for fault in found.faults]


def check(folder: Path, head: str | None = None) -> list[str]:
    """The faults of a bundle."""
    return told(check_bundle(folder, head))


def zipped(target: Path, content: dict[str, bytes]) -> Path:
    """Write a zip file of our own making."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return target
