"""What a bundle says, against itself: the log, the records, the bodies, the results, the figures, the prompts."""

from __future__ import annotations

from hashlib import sha256
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Struct

from rightcall.errors import StoreError
from rightcall.run.bundle.figures import Tally, compare_figures
from rightcall.run.bundle.files import lines_of
from rightcall.run.bundle.parts import (
    LINES,
    LOG,
    MANIFEST,
    PROMPTS,
    RESULTS,
    PromptPart,
    body_file,
    body_of,
    catalog_file,
    catalogs_of,
    is_known,
    records_file,
)
from rightcall.run.results.facts import graders_in
from rightcall.store.chain import Links, LogEntry
from rightcall.store.packing import COLUMNS, TYPES, bodies_named, column, columns_of, unpack
from rightcall.store.records import (
    AnswerRecord,
    AttemptRecord,
    CaseRecord,
    GateRecord,
    RunEvent,
    RunRecord,
    SignoffRecord,
    TraceRecord,
    VerdictRecord,
    item_of,
)
from rightcall.trace.digest import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.run.bundle.files import Told
    from rightcall.run.bundle.opening import Bundle
    from rightcall.run.bundle.parts import Manifest
    from rightcall.store.packing import Column
    from rightcall.store.records import Record


def check_content(
    bundle: Bundle, manifest: Manifest, told: Told, hashes: dict[str, str], expected_head: str | None
) -> dict[str, Any]:
    """Check everything that the records say; the counts of a `BundleVerification`.

    Args:
        bundle: the open bundle.
        manifest: what it says about itself.
        told: where faults go.
        hashes: path -> SHA-256 of its files.
        expected_head: see `check_bundle`.
    """
    return _Content(bundle, manifest, told, hashes).check(expected_head)


class _Standing(NamedTuple):
    """The verdict of a unit that counts: where its record is, its result, and what it says of that."""

    line: int
    revision: int
    result: str
    status: str
    reason: str | None
    verdict: str | None


class _Head(Struct, frozen=True):
    """What every result says about itself."""

    grader: str
    status: str
    reason: str | None = None
    verdict: str | None = None


_entry = msgspec.json.Decoder(LogEntry)
_head = msgspec.json.Decoder(_Head)
_prompts = msgspec.json.Decoder(list[PromptPart])
_Place = tuple[str, int]


class _Content:
    """One check, from the log to the prompts.

    What it keeps in memory is one name, of 64 characters, for each record and each body, and where it is: so words that
    many records share are kept once.
    """

    def __init__(self, bundle: Bundle, manifest: Manifest, told: Told, hashes: dict[str, str]) -> None:
        self._bundle, self._manifest, self._told, self._hashes = bundle, manifest, told, hashes
        self._run_id = column(manifest.run)
        self._known: dict[str, dict[str, int]] = {kind: {} for kind in TYPES}
        self._of_others: dict[str, Column] = {}
        self._named: dict[str, _Place] = {}
        self._rests: dict[str, _Place] = {}
        self._standing: dict[tuple[str, str], _Standing] = {}
        self._bodies_of: dict[type[Record], set[str]] = {TraceRecord: set(), CaseRecord: set()}
        self._about: list[tuple[_Place, tuple[str, str], str]] = []
        self._prompts: dict[str, _Place] = {}
        self._judges: set[str] = set()
        self._run: RunRecord | None = None
        self._event: RunEvent | None = None
        self._gate: GateRecord | None = None

    def check(self, expected_head: str | None) -> dict[str, Any]:
        for path in self._bundle.sizes:
            if not is_known(path, TYPES):
                self._told.add("is no file of a bundle", path)
        for kind in TYPES:
            self._read_records(kind)
        links = self._follow(expected_head)
        self._check_manifest(links)
        self._check_people_and_attempts()
        bodies = self._check_bodies()
        tally = self._check_results()
        figures = self._check_figures(tally)
        unknown = self._check_prompts()
        return {
            "entries": links.entries, "head": links.head, "bodies": bodies, "results": tally.n, "figures": figures,
            "records": {kind: len(known) for kind, known in self._known.items() if known},
            "answers": len(self._known["answer"]), "signoffs": len(self._known["signoff"]),
            "gates": len(self._known["gate"]), "gate": None if self._gate is None else self._gate.answer,
            "prompts": len(self._prompts), "prompts_unknown": unknown, "judges": len(self._judges),
        }  # fmt: skip

    # ---- records ----

    def _read_records(self, kind: str) -> None:
        """Hash and read every record of a kind, and note what it names."""
        path = records_file(kind)
        for number, line in lines_of(self._bundle, path, self._told):
            try:
                record = unpack(TYPES[kind], "plain", line)
            except (StoreError, RecursionError):
                self._told.add(f"is no {kind} record", path, number)
                continue
            name = sha256(line).hexdigest()
            if name in self._known[kind]:
                self._told.add("is there twice", path, number)
            self._known[kind][name] = number
            run_id = columns_of(record).get("id" if kind == "run" else "run_id")
            if run_id != self._usual_run(kind):
                self._of_others[name] = run_id
            self._note(record, (path, number))

    def _usual_run(self, kind: str) -> Column:
        """The run that a record of this kind names, unless it was changed: this one, or none."""
        return self._run_id if kind == "run" or "run_id" in COLUMNS[kind] else None

    def _note(self, record: Record, at: _Place) -> None:
        if isinstance(record, (TraceRecord, CaseRecord)):
            self._bodies_of[type(record)].add(record.body)
            return
        for sha in bodies_named(record):
            self._named.setdefault(sha, at)
        if isinstance(record, VerdictRecord):
            self._note_verdict(record, at)
        elif isinstance(record, AttemptRecord):
            self._judges.add(record.judge)
            if record.prompt_sha256:
                self._prompts.setdefault(record.prompt_sha256, at)
        elif isinstance(record, (AnswerRecord, SignoffRecord)):
            self._about.append((at, (record.grader, record.unit), record.item))
        elif isinstance(record, RunRecord):
            self._run = record
        elif isinstance(record, RunEvent):
            self._event = record
        elif isinstance(record, GateRecord):
            self._gate = record

    def _note_verdict(self, record: VerdictRecord, at: _Place) -> None:
        for attempt in record.attempts:
            self._rests.setdefault(attempt, at)
        # Records of traces and cases were read before: they belong to no run, so the log alone does not miss them.
        about = (("trace", record.trace), ("trace", record.trace_b), ("case", record.case))
        for kind, name in about:
            if name is not None and name not in self._bodies_of[TYPES[kind]]:
                self._told.add(f"is about the {kind} {name}, of which there is no record", *at)
        key = (intern(record.grader), record.unit)
        before = self._standing.get(key)
        if before is None or before.revision < record.revision:
            self._standing[key] = _Standing(
                at[1], record.revision, record.result, intern(record.status),
                record.reason and intern(record.reason), record.verdict and intern(record.verdict),
            )  # fmt: skip

    # ---- the log ----

    def _follow(self, expected_head: str | None) -> Links:
        """Follow the chain, and find the record of each entry of the run."""
        links = Links(expected_head)
        encode = msgspec.json.Encoder().encode
        last = dict.fromkeys(TYPES, 0)
        met: dict[str, int] = dict.fromkeys(TYPES, 0)
        for number, line in lines_of(self._bundle, LOG, self._told):
            try:
                entry = _entry.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                self._told.add("is no log entry", LOG, number)
                continue
            if encode(entry) != line:
                self._told.add(f"entry {entry.seq} is written in another way", LOG, number)
            for message in links.faults(entry):
                self._told.add(f"entry {entry.seq} {message}", LOG, number)
            at = self._record_of(entry, number)
            if at is not None:
                met[entry.kind] += 1
                if at <= last[entry.kind]:
                    self._told.add("is not where the log has it", records_file(entry.kind), at)
                last[entry.kind] = at
        for message in links.end():
            self._told.add(message, LOG)
        self._tell_unlogged(met)
        return links

    def _record_of(self, entry: LogEntry, number: int) -> int | None:
        """The line of an entry's record; `None` where there is none, which only other runs' may lack."""
        if entry.kind not in TYPES:
            self._told.add(f"entry {entry.seq} logs a `{entry.kind}`, which is no kind of record", LOG, number)
            return None
        at = self._known[entry.kind].get(entry.digest)
        if at is None:
            if entry.run_id is not None and entry.run_id == self._run_id:
                file = records_file(entry.kind)
                self._told.add(f"the record {entry.digest} of log entry {entry.seq} is missing, or was changed", file)
            return None
        if self._of_others.get(entry.digest, self._usual_run(entry.kind)) != entry.run_id:
            self._told.add(f"entry {entry.seq} logs another run than its {entry.kind} record names", LOG, number)
        return at

    def _tell_unlogged(self, met: dict[str, int]) -> None:
        """Records that no entry names: looked for only where some are left over."""
        kinds = [kind for kind, known in self._known.items() if met[kind] < len(known)]
        if not kinds:
            return
        logged: set[str] = set()
        for _, line in lines_of(self._bundle, LOG, self._told):
            try:
                logged.add(_entry.decode(line).digest)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
        for kind in kinds:
            for name, number in self._known[kind].items():
                if name not in logged:
                    self._told.add("was changed or added: no entry of the log names it", records_file(kind), number)

    def _check_manifest(self, links: Links) -> None:
        said = self._manifest
        if (said.log.entries, said.log.head) != (links.entries, links.head.hash):
            self._told.add(f"names another end of the log than entry {links.head.seq}", MANIFEST)
        if self._run is None or column(self._run.id) != self._run_id:
            self._told.add(f"names run {said.run}, whose record is not there", MANIFEST)
        elif graders_in(self._run) != said.graders:
            self._told.add("names other graders than the run has", MANIFEST)
        if status_of(self._event) != said.status or said.finished != (said.status == "finished"):
            self._told.add(f"says `{said.status}`; by its last event the run is `{status_of(self._event)}`", MANIFEST)

    def _check_people_and_attempts(self) -> None:
        for name, (file, number) in self._rests.items():
            if name not in self._known["attempt"]:
                self._told.add(f"rests on the attempt {name}, which is missing", file, number)
        for (file, number), (grader, unit), item in self._about:
            if (grader, unit) not in self._standing or item_of(self._manifest.run, grader, unit) != item:
                self._told.add("is about something that the run has no verdict on", file, number)

    # ---- bodies ----

    def _check_bodies(self) -> int:
        """Each body that is named is there, and each that is there is named."""
        order = {name: at for at, name in enumerate(self._named)}
        there, others = bytearray(len(order)), set[str]()
        last: dict[str, int] = {}
        for name, path, number in self._bodies():
            at = order.get(name)
            if at is None:
                others.add(name)
                self._told.add("was changed or added: no record names it", path, number)
                continue
            there[at] = True
            if number is not None and path != RESULTS:
                if at <= last.get(path, -1):
                    self._told.add("is there twice, or not where the verdicts first name it", path, number)
                last[path] = at
        for at, name in enumerate([] if self._run is None else catalogs_of(self._run.facts)):
            if self._hashes.get(catalog_file(at)) != name:
                self._told.add(f"is not the catalog {name} that the run names", catalog_file(at))
            if name not in order:
                others.add(name)
            else:
                there[order[name]] = True
        for (name, (file, number)), is_there in zip(self._named.items(), there, strict=True):
            if not is_there:
                self._told.add(f"names the body {name}, which is missing: {body_file(name)}", file, number)
        return sum(there) + len(others)

    def _bodies(self) -> Iterator[tuple[str, str, int | None]]:
        """The hash of each body, with its file and the line in it."""
        for path in LINES:
            for number, line in lines_of(self._bundle, path, self._told):
                yield sha256(line).hexdigest(), path, number
        for path, name in self._hashes.items():
            if path.startswith("bodies/"):
                yield name if body_of(path) == name else "", path, None

    # ---- results ----

    def _check_results(self) -> Tally:
        """The results that stand, one by one, against the verdicts in their order."""
        tally = Tally()
        verdicts = sorted(self._standing.items(), key=lambda one: one[1].line)
        found = lines_of(self._bundle, RESULTS, self._told)
        for at, ((grader, unit), standing) in enumerate(verdicts, 1):
            number, line = next(found, (0, b""))
            if not number:
                self._told.add(f"ends before the result of `{unit}` ({grader}), and {len(verdicts) - at} more", RESULTS)
                return tally
            if sha256(line).hexdigest() != standing.result:
                self._told.add(f"is not the result of `{unit}` that the {grader} verdict names", RESULTS, number)
                continue
            self._check_result(line, number, grader, standing)
            tally.add(grader, standing.status, standing.reason, standing.verdict)
        for number, _ in found:
            self._told.add("is the result of no verdict", RESULTS, number)
        return tally

    def _check_result(self, line: bytes, number: int, grader: str, standing: _Standing) -> None:
        try:
            said = _head.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._told.add("is no result", RESULTS, number)
            return
        mine = (said.grader, said.status, said.reason, said.verdict)
        if mine != (grader, standing.status, standing.reason, standing.verdict):
            self._told.add("says something else than its verdict", RESULTS, number)

    def _check_figures(self, tally: Tally) -> int:
        if self._run is None or self._event is None or self._event.status != "finished":
            return 0
        wrong, compared = compare_figures(self._run, self._event.summary, tally)
        for message in wrong:
            self._told.add(message, records_file("run_event"))
        return compared

    # ---- prompts ----

    def _check_prompts(self) -> int:
        """The prompts that attempts name, and the hash of each text; how many have no text."""
        listed: list[PromptPart] = []
        if PROMPTS in self._hashes:
            try:
                with self._bundle.open(PROMPTS) as stream:
                    listed = _prompts.decode(stream.read())
            except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self._told.add("is no list of prompts", PROMPTS)
                return 0
        known = {one.sha256 for one in listed}
        for name, (file, number) in self._prompts.items():
            if name not in known:
                self._told.add(f"names the prompt {name}, which {PROMPTS} does not", file, number)
        for one in listed:
            if one.file is not None:
                self._check_prompt(one, one.file)
        return sum(one.file is None for one in listed)

    def _check_prompt(self, prompt: PromptPart, path: str) -> None:
        if path not in self._hashes:
            self._told.add(f"is missing; {PROMPTS} names it", path)
            return
        try:
            with self._bundle.open(path) as stream:
                text = stream.read().decode()
            found = digest({"text": text, "reply_schema": prompt.reply_schema, "fences": prompt.fences})
        except (OSError, ValueError, RecursionError):
            self._told.add("is no text of a prompt", path)
            return
        if found != prompt.sha256:
            self._told.add("is not the text that the attempts name by its hash", path)


def status_of(event: RunEvent | None) -> str:
    """What became of a run, by its last event."""
    if event is None or event.status == "resumed":
        return "running"
    return event.status
