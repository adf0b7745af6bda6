"""Binary OTLP files as records in OTLP/JSON: what exporters and the collector write when they are asked for protobuf.

A file is one message (`TracesData`, `ExportTraceServiceRequest`, `LogsData`, `ExportLogsServiceRequest`), or a run of
messages with their length before each (four bytes, as the collector's file exporter writes them). Its name must say
that it is one, since its bytes alone are no proof. The messages are read by the library `opentelemetry-proto`, which is
the extra `otlp`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rightcall.errors import MissingExtraError, NoDataError, Place, TraceError
from rightcall.trace.sources import files
from rightcall.trace.sources.dialect import Container

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rightcall.trace.sources.dialect import Record

_NAME = re.compile(r"\.(?:binpb|otlp|pb|proto|protobuf)(?:\.gz|\.zst)?$", re.IGNORECASE)
_FIRST_FIELD = 0x0A


def opens(head: bytes, name: str) -> bool:
    """Whether the name says that a file is protobuf and its bytes begin as OTLP does, with or without a length."""
    if not _NAME.search(name) or not head:
        return False
    return head[0] == _FIRST_FIELD or (len(head) > 4 and head[0] < 0x10 and head[4] == _FIRST_FIELD)


def records(path: Path) -> Iterator[Record]:
    """The messages of a file, each as the OTLP/JSON that it stands for.

    Raises:
        MissingExtraError: `opentelemetry-proto` is not installed.
        TraceError: the bytes are no such message.
        NoDataError: the file is empty.
    """
    reader = _Reader(path)
    data = files.read_document(path)
    if not data:
        raise NoDataError("the file is empty: nothing to grade", place=Place(str(path)))
    if data[0] == _FIRST_FIELD:
        yield reader.record(data), Place(str(path))
        return
    for index, message in enumerate(_messages(data, path)):
        yield reader.record(message), Place(str(path), None, None, f"$[{index}]")


def _messages(data: bytes, path: Path) -> Iterator[bytes]:
    """The messages of a file that has the length of each before it."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        message = data[at + 4 : at + 4 + size]
        if len(data) - at < 4 or len(message) < size:
            raise TraceError(
                "the last message is cut short", place=Place(str(path)), code="TRACE_TRUNCATED",
                hint="fetch the file again",
            )  # fmt: skip
        yield message
        at += 4 + size


class _Reader:
    """Decodes messages with the library, which is loaded when the first such file is opened."""

    def __init__(self, path: Path) -> None:
        try:
            from google.protobuf import json_format, message
            from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
            from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
        except ImportError:
            raise MissingExtraError(
                "binary OTLP needs the library opentelemetry-proto", place=Place(str(path)),
                hint='install it with `pip install "rightcall[otlp]"`, or export OTLP/JSON',
            ) from None  # fmt: skip
        self._path = path
        self._kinds: tuple[Any, ...] = (TracesData, LogsData)
        self._faults = (message.DecodeError, json_format.Error, UnicodeDecodeError, RecursionError, ValueError)
        self._to_dict = json_format.MessageToDict

    def record(self, data: bytes) -> dict[str, Any]:
        """One message as OTLP/JSON: spans, or log records, whose ids are in other fields."""
        for kind in self._kinds:
            try:
                message = kind()
                message.ParseFromString(data)
                if _has_ids(message):
                    found: dict[str, Any] = self._to_dict(message)
                    return found
            except self._faults:
                continue
        raise TraceError(
            "not a message of OTLP with spans or log records", place=Place(str(self._path)),
            hint="export traces or logs, uncompressed or as .gz or .zst",
        )  # fmt: skip


def _has_ids(message: Any) -> bool:
    """Whether every span, or at least one log record, has the ids that its kind must have; a wrong kind has none."""
    if hasattr(message, "resource_spans"):
        spans = [s for group in message.resource_spans for scope in group.scope_spans for s in scope.spans]
        return bool(spans) and all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in spans)
    logs = [log for group in message.resource_logs for scope in group.scope_logs for log in scope.log_records]
    return any(len(log.trace_id) in (0, 16) and (log.time_unix_nano or log.observed_time_unix_nano) for log in logs)


CONTAINER = Container("otlp_protobuf", opens, records)
