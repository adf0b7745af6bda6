"""Records and bodies as the bytes that are stored, and back: identity, compression, and the columns that queries need.

A record is stored as its canonical JSON, so its digest is simply the SHA-256 of the stored bytes (unpacked). Nothing
is stored that cannot be read back: a record is decoded once before it is written, since it can never be mended.

A column holds the value of the record's field of the same name, as text that every database can hold and index: a
text of more than 400 bytes or with a NUL in it stands there as `sha256:` and its hash. Columns only find records; what
is read back is always the record itself.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeVar

import msgspec
import zstandard
from msgspec import Struct

from rightcall.errors import StoreError
from rightcall.store.records import (
    AnswerRecord,
    AttemptRecord,
    CalibrationRecord,
    CaseRecord,
    ConsensusRecord,
    GateRecord,
    Record,
    ReviewEvent,
    ReviewRecord,
    RunEvent,
    RunRecord,
    SignoffRecord,
    TraceRecord,
    VerdictRecord,
)
from rightcall.trace.digest import canonical

Codec = Literal["plain", "zstd"]
Column = str | int | None

TYPES: dict[str, type[Record]] = {
    "run": RunRecord,
    "run_event": RunEvent,
    "trace": TraceRecord,
    "case": CaseRecord,
    "attempt": AttemptRecord,
    "verdict": VerdictRecord,
    "review": ReviewRecord,
    "answer": AnswerRecord,
    "consensus": ConsensusRecord,
    "signoff": SignoffRecord,
    "review_event": ReviewEvent,
    "calibration": CalibrationRecord,
    "gate": GateRecord,
}
"""The kinds of records, by the name that the log gives them."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "run": ("id", "grader"),
    "run_event": ("run_id", "status"),
    "trace": ("id", "case_id", "body"),
    "case": ("id", "body"),
    "attempt": (*("run_id", "grader", "unit", "judge", "key", "status", "case_id", "trace_id", "purpose", "attempt"),),
    "verdict": ("run_id", "grader", "unit", "revision", "status", "case_id", "trace_id"),
    "review": ("run_id", "grader", "unit", "reason", "case_id"),
    "answer": ("item", "run_id", "grader", "unit", "who", "kind"),
    "consensus": ("item", "run_id", "grader", "unit"),
    "signoff": ("item", "run_id", "grader", "unit", "who", "outcome"),
    "review_event": ("item", "run_id", "act", "who"),
    "calibration": ("grader", "judge", "field", "model", "prompt_sha256", "verdict"),
    "gate": ("run_id", "asked_by", "answer"),
}
"""The fields of each kind that are columns too."""

UNIQUE: dict[str, tuple[str, ...]] = {"run": ("id",), "verdict": ("run_id", "unit", "revision", "grader")}
"""What no two different records of a kind may have in common."""

_BODIES: dict[str, tuple[str, ...]] = {
    "trace": ("body",),
    "case": ("body",),
    "attempt": ("system", "user", "reply"),
    "verdict": ("result", "trace", "trace_b", "case"),
    "calibration": ("report",),
}
_LEVEL = 3
_LONGEST_TEXT = 400
_NUMBERS = 2**31
_KINDS: dict[type[Struct], str] = {kind: name for name, kind in TYPES.items()}
_DECODERS: dict[str, msgspec.json.Decoder[Record]] = {name: msgspec.json.Decoder(kind) for name, kind in TYPES.items()}

R = TypeVar("R", bound=Struct)


class PackedRecord(Struct, frozen=True):
    """A record ready to be stored: its kind, identity, bytes, and columns."""

    kind: str
    digest: str
    codec: Codec
    data: bytes
    columns: dict[str, Column]

    @property
    def run_id(self) -> str | None:
        """The run that it belongs to, as a column; `None` for traces, cases and calibrations."""
        found = self.columns.get("id" if self.kind == "run" else "run_id")
        return None if found is None else str(found)


class PackedBody(Struct, frozen=True):
    """A body ready to be stored; `size` is that of the unpacked bytes."""

    sha256: str
    codec: Codec
    size: int
    data: bytes


# ---- records ----


def pack(records: Iterable[Record]) -> list[PackedRecord]:
    """Records as they are stored.

    Raises:
        StoreError: `STORE_INVALID`: a record holds what is no JSON value (NaN, half of a surrogate pair), or what its
            own type does not allow.
    """
    return squeeze(map(checked, records))


class Checked(Struct, frozen=True):
    """A record that can be stored, not compressed yet: its kind, identity, canonical JSON, and columns."""

    kind: str
    digest: str
    plain: bytes
    columns: dict[str, Column]


def checked(record: Record) -> Checked:
    """A record as canonical JSON, read back once.

    Raises:
        StoreError: as `pack`.
    """
    kind = _KINDS[type(record)]
    try:
        plain = canonical(msgspec.to_builtins(record))
        _DECODERS[kind].decode(plain)
        columns = columns_of(record)
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(
            f"{_called(kind)} cannot be recorded: {error}", code="STORE_INVALID", hint="correct what made it"
        ) from None
    return Checked(kind, hashlib.sha256(plain).hexdigest(), plain, columns)


def squeeze(records: Iterable[Checked]) -> list[PackedRecord]:
    """The records as they are stored, compressed all together."""
    records = list(records)
    packed = _squeezed([record.plain for record in records])
    return [
        PackedRecord(record.kind, record.digest, codec, data, record.columns)
        for record, (codec, data) in zip(records, packed, strict=True)
    ]


def digest_of(record: Record) -> str:
    """A record's identity: SHA-256 of its canonical JSON."""
    return hashlib.sha256(canonical(msgspec.to_builtins(record))).hexdigest()


def columns_of(record: Record) -> dict[str, Column]:
    """The columns of a record."""
    return {name: column(getattr(record, name)) for name in COLUMNS[_KINDS[type(record)]]}


def column(value: Column) -> Column:
    """A value as it stands in a column (see the module's first lines). Queries compare with this.

    Raises:
        ValueError: a number that is negative or has more than 31 bits.
    """
    if isinstance(value, int) and not 0 <= value < _NUMBERS:
        raise ValueError(f"{value} is out of range")
    if not isinstance(value, str) or (value.isascii() and len(value) <= _LONGEST_TEXT and "\0" not in value):
        return value
    raw = value.encode("utf-8", "surrogatepass")
    fits = len(raw) <= _LONGEST_TEXT and b"\0" not in raw and raw == value.encode("utf-8", "replace")
    return value if fits else "sha256:" + hashlib.sha256(raw).hexdigest()


def unpack(kind: type[R], codec: str, data: bytes) -> R:
    """The record that was stored as these bytes.

    Raises:
        StoreError: `STORE_INVALID`: the bytes are not such a record.
    """
    name = _KINDS[kind]
    try:
        record = _DECODERS[name].decode(plain_bytes(codec, data))
    except ValueError as error:
        raise StoreError(
            f"{_called(name)} in the store cannot be read: {error}",
            code="STORE_INVALID", hint="verify the log; restore the store from a backup",
        ) from None  # fmt: skip
    assert isinstance(record, kind)  # noqa: S101 - the decoder of that kind made it
    return record


def bodies_named(record: Record) -> list[str]:
    """The bodies that a record names, each as often as it does."""
    names = (getattr(record, name) for name in _BODIES.get(_KINDS[type(record)], ()))
    return [name for name in names if name]


def _called(kind: str) -> str:
    words = kind.replace("_", " ")
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words} record"


# ---- bodies ----


def hashed(bodies: Iterable[bytes | str]) -> dict[str, bytes]:
    """Bodies by the SHA-256 of their bytes; a text counts as its UTF-8 form.

    Raises:
        StoreError: `STORE_INVALID`: a text with half of a surrogate pair.
    """
    try:
        raw = [body.encode() if isinstance(body, str) else bytes(body) for body in bodies]
    except UnicodeEncodeError as error:
        raise StoreError(
            f"a text cannot be recorded: {error}", code="STORE_INVALID", hint="correct what made it"
        ) from None
    return {hashlib.sha256(data).hexdigest(): data for data in raw}


def pack_bodies(bodies: dict[str, bytes]) -> list[PackedBody]:
    """Bodies as they are stored: compressed where that is smaller."""
    packed = _squeezed(list(bodies.values()))
    return [
        PackedBody(sha256, codec, len(data), stored)
        for (sha256, data), (codec, stored) in zip(bodies.items(), packed, strict=True)
    ]


def _squeezed(plain: list[bytes]) -> list[tuple[Codec, bytes]]:
    """Each text compressed, where that is smaller.

    All in one call: each call gives way to other threads, and waits until one of them gives way again.
    """
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    full: list[bytes | bytearray | memoryview] = [data for data in plain if data]
    found: Iterator[Any] = iter(compressor.multi_compress_to_buffer(full) if full else ())
    packed = [bytes(next(found)) if data else data for data in plain]
    return [
        ("zstd", small) if len(small) < len(data) else ("plain", data)
        for data, small in zip(plain, packed, strict=True)
    ]


def plain_bytes(codec: str, data: bytes, size: int | None = None) -> bytes:
    """Stored bytes, unpacked.

    Args:
        codec: `zstd` or `plain`.
        data: what is stored.
        size: how long the result must be, if that is known: nothing that claims to be longer is unpacked.

    Raises:
        ValueError: they cannot be unpacked, or have another length.
    """
    if not isinstance(data, bytes):
        # SQLite keeps a text in a column of bytes, if somebody puts it there.
        raise ValueError("no bytes")  # noqa: TRY004 - the caller asks whether the stored bytes are right
    if codec == "plain":
        plain = data
    elif codec == "zstd":
        plain = _unzipped(data, size)
    else:
        raise ValueError(f"`{codec}` is no way of packing")
    if size is not None and len(plain) != size:
        raise ValueError(f"{len(plain)} bytes in place of {size}")
    return plain


def _unzipped(data: bytes, size: int | None) -> bytes:
    try:
        claimed = zstandard.frame_content_size(data)
        if size is not None and claimed != size:
            raise ValueError(f"{claimed} bytes in place of {size}")
        return _decompressor().decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


class _Own(threading.local):
    """What each thread has for itself."""

    decompressor: zstandard.ZstdDecompressor | None = None


_own = _Own()


def _decompressor() -> zstandard.ZstdDecompressor:
    """This thread's decompressor: making one takes longer than unpacking a record, and no two threads may share one."""
    if _own.decompressor is None:
        _own.decompressor = zstandard.ZstdDecompressor()
    return _own.decompressor
