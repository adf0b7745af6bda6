"""VCR cassettes: recorded HTTP traffic with a model's endpoint, as YAML or JSON.

Each interaction becomes an exchange `{status, request, response, source, uri}` for the reader of its API: bodies are
unpacked and decoded where they are JSON, and stay text where they are not (a stream of events). The query of the
address, which may hold a key, and all headers are left out.

Read are the cassettes of VCR.py (`interactions`, also with `parsed_body`) and of Ruby's VCR (`http_interactions`). A
cassette is hostile input: anchors and all tags but `!!binary` and `!!str` are refused, plain words are resolved as
JSON's own types only (`no` and a date are texts), packed bodies are unpacked up to a limit.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import math
import re
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rightcall.errors import Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.sources import files
from rightcall.trace.sources.conversation import mapping
from rightcall.trace.sources.dialect import Container

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record

MAX_BODY_BYTES = 64 << 20
"""The most that a packed body is unpacked to."""

_LISTS = ("interactions", "http_interactions")
_NAMES = [[name] for name in _LISTS]
_YAML_HEAD = re.compile(rb"(?m)^(?:http_)?interactions:[ \t]*\r?$")
_JSON_HEAD = re.compile(
    rb'\{\s*(?:"version"\s*:\s*\d+\s*,\s*)?"(?:http_)?interactions"\s*:\s*\[\s*\{\s*"re(?:quest|sponse)"'
)
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?")
_WORDS = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_LONGEST_NUMBER = 4096
_TAG = "tag:yaml.org,2002:"


def opens(head: bytes, name: str) -> bool:
    """Whether a file is a cassette: its first lines open a list of interactions."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    suffix = Path(name.removesuffix(".gz").removesuffix(".zst")).suffix
    if suffix in (".yaml", ".yml"):
        return _YAML_HEAD.search(start) is not None
    return suffix == ".json" and _JSON_HEAD.match(start) is not None


def records(path: Path) -> Iterator[Record]:
    """The exchanges of a cassette.

    Raises:
        TraceError: not YAML or JSON, or something that is refused (see the module's text).
    """
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    found: Iterator[tuple[str, JsonValue, int | None]]
    if name.endswith(".json"):
        document = mapping(jsontext.decode(files.read_document(path), Place(str(path), 1)))
        found = iter([(key, row, None) for key in _LISTS for row in _rows(document.get(key))])
    else:
        found = _yaml_interactions(path)
    for index, (key, interaction, line) in enumerate(found):
        place = Place(str(path), line, None, f"$.{key}[{index}]")
        yield _exchange(mapping(interaction), Path(name).stem), place


def _rows(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


# ---- bodies --------------------------------------------------------------------------------------------------------


def _exchange(interaction: Mapping[str, Any], source: str) -> JsonValue:
    request, response = mapping(interaction.get("request")), mapping(interaction.get("response"))
    status, uri = response.get("status", response.get("status_code")), request.get("uri", request.get("url"))
    return {
        "status": status.get("code") if isinstance(status, dict) else status,
        "request": _body(request),
        "response": _body(response),
        "source": source,
        "uri": uri.partition("?")[0] if isinstance(uri, str) else None,
    }


def _body(side: Mapping[str, Any]) -> JsonValue:
    """The body of a request or a response: its JSON value, else its text; `None` where it cannot be read."""
    if "parsed_body" in side:
        return _plain(side["parsed_body"])
    body = side.get("body", side.get("content"))
    if isinstance(body, dict) and not {"string", "base64_string"} & body.keys():
        return _plain(body)
    data = body
    if isinstance(body, dict):
        data = body.get("string")
        if isinstance(body.get("base64_string"), str):
            data = _unbase64(body["base64_string"])
    if isinstance(data, bytes):
        data = _text(_unpacked(data))
    if not isinstance(data, str):
        return _plain(data)
    try:
        return jsontext.decode(data)
    except TraceError:
        return data


def _plain(value: JsonValue) -> JsonValue:
    """A value of JSON's own types: bytes, which YAML can hold, as text."""
    if isinstance(value, bytes):
        return _text(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _unbase64(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _text(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


def _unpacked(data: bytes) -> bytes | None:
    """A body as it was before it was packed, told by its first bytes; `None` where it is damaged or too large."""
    if data[:2] != b"\x1f\x8b":
        return data
    unpack = zlib.decompressobj(wbits=31)
    try:
        plain = unpack.decompress(data, MAX_BODY_BYTES)
    except zlib.error:
        return None
    return plain if unpack.eof else None


# ---- YAML ----------------------------------------------------------------------------------------------------------


def _yaml_interactions(path: Path) -> Iterator[tuple[str, JsonValue, int | None]]:
    """Each interaction of a YAML cassette as soon as it ends, with its list's name and its line."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    with files.open_bytes(path) as stream:
        try:
            yield from _interactions(YAML(typ="safe", pure=True).parse(_Utf8(stream)), str(path))
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = Place(str(path), mark.line + 1, mark.column + 1) if mark else Place(str(path))
            raise TraceError(f"not valid YAML: {(error.problem or str(error)).splitlines()[0]}", place=place) from None
        except (YAMLError, ValueError) as error:
            raise TraceError(f"not valid YAML: {str(error).splitlines()[0]}", place=Place(str(path))) from None


class _Utf8:
    """A stream of text for the YAML reader, without the guess at its encoding by a byte-order mark."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()

    def read(self, size: int) -> str:
        """Up to about `size` characters; empty at the end."""
        while True:
            data = self._stream.read(size)
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return text


def _interactions(events: Iterator[Any], file: str) -> Iterator[tuple[str, JsonValue, int | None]]:
    builder = _Builder(file)
    for event in events:
        finished = builder.take(event)
        if finished is not None:
            yield finished


class _Builder:
    """Values from YAML events, without recursion; each element of the list of interactions is handed out and let go."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._open: list[tuple[list[Any] | dict[str, Any], list[str]]] = []
        self._line: int | None = None
        self._list: str | None = None

    def take(self, event: Any) -> tuple[str, JsonValue, int | None] | None:
        """Take one event; returns an interaction where it ends one."""
        kind = type(event).__name__
        place = Place(self._file, event.start_mark.line + 1, event.start_mark.column + 1)
        if kind == "AliasEvent" or getattr(event, "anchor", None):
            raise TraceError("an anchor is outside the safe subset of YAML", place=place, hint="write the value out")
        if kind in ("SequenceStartEvent", "MappingStartEvent"):
            self._begin([] if kind == "SequenceStartEvent" else {}, event, place)
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            return self._end()
        elif kind == "ScalarEvent":
            return self._add(_scalar(event, place), place)
        return None

    def _begin(self, value: list[Any] | dict[str, Any], event: Any, place: Place) -> None:
        _refuse_tag(event, place, ("seq", "map"))
        if len(self._open) > jsontext.MAX_DEPTH:
            raise TraceError(
                f"nested more than {jsontext.MAX_DEPTH} levels deep", place=place, code="TRACE_TOO_DEEP",
                hint="flatten the value",
            )  # fmt: skip
        if self._open and isinstance(self._open[-1][0], dict) and not self._open[-1][1]:
            raise TraceError("a key must be a text", place=place)
        if len(self._open) == 1 and isinstance(value, list) and self._open[-1][1][-1:] in _NAMES:
            self._list = self._open[-1][1][0]
        elif len(self._open) == 2 and self._list is not None:
            self._line = place.line
        self._open.append((value, []))

    def _end(self) -> tuple[str, JsonValue, int | None] | None:
        value, _ = self._open.pop()
        if len(self._open) == 1:
            self._list = None
        return self._add(value, Place(self._file))

    def _add(self, value: Any, place: Place) -> tuple[str, JsonValue, int | None] | None:
        if not self._open:
            return None
        inside, keys = self._open[-1]
        if isinstance(inside, list):
            if len(self._open) == 2 and self._list is not None:
                return self._list, value, self._line
            inside.append(value)
        elif keys:
            inside[keys.pop()] = value
        elif isinstance(value, (dict, list, bytes)):
            raise TraceError("a key must be a text", place=place)
        else:
            keys.append(value if isinstance(value, str) else jsontext.encode(value).decode())
        return None


def _scalar(event: Any, place: Place) -> str | bytes | int | float | bool | None:
    _refuse_tag(event, place, ("str", "binary"))
    text: str = event.value
    if str(event.tag or "").endswith("binary"):
        try:
            return base64.b64decode("".join(text.split()), validate=True)
        except (binascii.Error, ValueError):
            raise TraceError("`!!binary` is not base64", place=place) from None
    if event.tag or event.style:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= _LONGEST_NUMBER and _INTEGER.fullmatch(text):
        return int(text)
    number = float(text) if len(text) <= _LONGEST_NUMBER and _FLOAT.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text


def _refuse_tag(event: Any, place: Place, allowed: tuple[str, ...]) -> None:
    tag = str(event.tag or "")
    if tag and tag not in {f"{_TAG}{name}" for name in allowed}:
        raise TraceError(f"tag `{tag}` is outside the safe subset of YAML", place=place, hint="write the value out")


CONTAINER = Container("vcr", opens, records)
