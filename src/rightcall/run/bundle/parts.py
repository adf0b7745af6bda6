"""What a bundle is made of: the names of its files, and its manifest. See docs/bundle.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

FORMAT = 1
"""The form of bundles that this code writes and reads."""

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
LOG = "log.jsonl"
RESULTS = "results.jsonl"
TRACES = "traces.jsonl"
CASES = "suite/cases.jsonl"
STEPS = "suite/steps.jsonl"
PROMPTS = "prompts/index.json"
GATE = "gate.json"

LINES = (RESULTS, TRACES, CASES, STEPS)
"""Files of which each line is one body: its SHA-256, without the line feed, is the name by which records call it."""

RECORDS = "records/"
"""Where the records lie: one file a kind, one record a line, in the order of the log."""

LONGEST_LINE = 1 << 28

_NAME = re.compile(r"(?:[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*/){0,3}[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*")
_LONGEST_NAME = 240
_BODY = re.compile(r"bodies/([0-9a-f]{2})/([0-9a-f]{64})")


def is_name(path: str) -> bool:
    """Whether a path can be that of a file in a bundle: relative, plain, going nowhere but down."""
    return len(path) <= _LONGEST_NAME and _NAME.fullmatch(path) is not None


_KNOWN = re.compile(
    r"README\.txt|report\.(?:md|html)|gate\.json|judges\.json|suite/(?:settings|policy)\.json|"
    r"suite/catalog(?:-[0-9]+)?\.json|prompts/[^/]+"
)


def is_known(path: str, kinds: Iterable[str]) -> bool:
    """Whether a bundle has such a file at all, with records of these kinds."""
    if path in (MANIFEST, SUMS, LOG, *LINES) or body_of(path) is not None or _KNOWN.fullmatch(path):
        return True
    return any(path == records_file(kind) for kind in kinds)


def records_file(kind: str) -> str:
    """The file of the records of one kind."""
    return f"{RECORDS}{kind}.jsonl"


def body_file(sha256: str) -> str:
    """The file of a body that is no line of another file."""
    return f"bodies/{sha256[:2]}/{sha256}"


def body_of(path: str) -> str | None:
    """The body that a file must hold by its name; `None` for other files."""
    found = _BODY.fullmatch(path)
    return found[2] if found and found[1] == found[2][:2] else None


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a bundle: its path, the SHA-256 of its bytes, and how many these are."""

    path: str
    sha256: str
    size: int


class LogPart(Struct, frozen=True, forbid_unknown_fields=True):
    """The log as it stood: how many entries, and the hash of the last one."""

    entries: int
    head: str


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a bundle says about itself.

    Attributes:
        format: see `FORMAT`. rightcall: the version that made it.
        run, graders, status: the run, as it stood. finished: whether it was.
        store: what it was made from: `sqlite` or `postgresql`.
        log: the log of that store.
        notes: what must be known before anything is read.
        files: every other file but `SHA256SUMS`, by path.
    """

    format: int
    rightcall: str
    run: str
    graders: tuple[str, ...]
    status: str
    finished: bool
    store: str
    log: LogPart
    notes: tuple[str, ...] = ()
    files: tuple[File, ...] = ()


class PromptPart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One prompt that was used.

    `sha256` is the hash of the canonical JSON of `{"text", "reply_schema", "fences"}`, where `text` is the content of
    `file`; `fences` is what every judge is told about the fences. Without `file` the text is not known, and `why` says
    why; what was asked stands in the bodies all the same.
    """

    id: str
    version: str
    sha256: str
    file: str | None = None
    reply_schema: dict[str, Any] | None = None
    fences: str = ""
    why: str | None = None


def catalogs_of(facts: dict[str, Any]) -> list[str]:
    """The bodies of the catalogs that a run used, by its facts."""
    graders = facts.get("graders")
    inner = graders.values() if isinstance(graders, dict) else ()
    parts = [facts, *(part for part in inner if isinstance(part, dict))]
    return list(dict.fromkeys(name for part in parts if isinstance(name := part.get("catalog"), str)))


def catalog_file(at: int) -> str:
    """The file of a run's catalog; of several ones, they are numbered from 1."""
    return "suite/catalog.json" if at == 0 else f"suite/catalog-{at + 1}.json"


def render_sums(files: list[File]) -> bytes:
    """`SHA256SUMS`, as `sha256sum -c` reads it: the hash of every file but this one, by path."""
    return "".join(f"{one.sha256}  {one.path}\n" for one in sorted(files, key=lambda one: one.path)).encode()
