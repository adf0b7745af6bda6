"""Cassettes: both shapes, bodies however they are packed, what YAML may hold, limits, real files."""

import base64
import gzip
import json
import random

import pytest
import zstandard
from ruamel.yaml import YAML

from rightcall.errors import RightcallError, TraceError
from rightcall.trace.sources import openai_chat, openai_responses, reading, vcr
from rightcall.trace.sources.containers import container_of
from rightcall.trace.sources.dialect import ReadingReport

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Go"}]}
REPLY = {
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "dim", "arguments": "{}"}}],
            }
        }
    ]
}

PLAIN = """\
interactions:
- request:
    headers:
      authorization: [secret]
    method: POST
    parsed_body:
      messages:
      - {role: user, content: "no"}
    uri: https://models.example/v1/chat/completions?key=secret
  response:
    body:
      string: |+
        data: {"choices": []}

        data: [DONE]

    status:
      code: 200
      message: OK
- request: {body: '', method: GET, uri: https://models.example/v1/x}
  response:
    body: {string: '{"a": 12345678901234567890123, "b": "12e45"}'}
    status: {code: 404}
version: 1
"""


def written(tmp_path, text, name="t.yaml"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def records(tmp_path, text, name="t.yaml"):
    return [value for value, _ in vcr.records(written(tmp_path, text, name))]


def body(tmp_path, yaml):
    (value,) = records(tmp_path, f"interactions:\n- response:\n    {yaml}\n")
    return value["response"]


def refusal(tmp_path, text, name="t.yaml"):
    with pytest.raises(TraceError) as caught:
        records(tmp_path, text, name)
    return caught.value


def test_each_interaction_is_an_exchange_with_its_place(tmp_path):
    path = written(tmp_path, PLAIN)
    found = list(vcr.records(path))
    assert [value for value, _ in found] == [
        {
            "status": 200, "request": {"messages": [{"role": "user", "content": "no"}]},
            "response": 'data: {"choices": []}\n\ndata: [DONE]\n\n', "source": "t",
            "uri": "https://models.example/v1/chat/completions",
        },
        {
            "status": 404, "request": "", "response": {"a": 12345678901234567890123, "b": "12e45"}, "source": "t",
            "uri": "https://models.example/v1/x",
        },
    ]  # fmt: skip
    assert [(place.line, place.path) for _, place in found] == [(2, "$.interactions[0]"), (20, "$.interactions[1]")]
    assert "secret" not in json.dumps([value for value, _ in found])


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_packing_and_line_ends_do_not_matter(tmp_path, pack, end):
    suffix = {gzip.compress: ".gz", zstandard.compress: ".zst"}.get(pack, "")
    name = f"t.yaml{suffix}"
    assert records(tmp_path, pack(PLAIN.replace("\n", end).encode()), name) == records(tmp_path, PLAIN)


def test_a_file_is_read_by_the_reader_of_its_api(tmp_path):
    other = {
        "request": {"uri": "https://models.example/v1/files"},
        "response": {"parsed_body": {"id": "f"}, "status": {"code": 200}},
    }
    asked = {"request": {"parsed_body": ASKED}, "response": {"parsed_body": REPLY, "status": {"code": 200}}}
    path = written(tmp_path, json.dumps({"version": 1, "interactions": [other, asked]}), "t.json")
    opened = reading.open_traces(path)
    report = ReadingReport()
    (trace,) = reading.read(opened, report)
    assert (opened.container, opened.dialect) == (vcr.CONTAINER, openai_chat.DIALECT)
    assert ([call.tool for call in trace.calls], report.skipped) == (["dim"], 1)
    assert trace.id == "t.interactions[1]"


def test_ruby_cassettes_are_read(tmp_path):
    packed = base64.b64encode(json.dumps(REPLY).encode()).decode()
    text = f"""\
---
http_interactions:
- request:
    method: post
    uri: https://models.example/v1/chat/completions
    body:
      encoding: UTF-8
      string: '{json.dumps(ASKED)}'
  response:
    status: {{code: 200, message: OK}}
    body: {{encoding: ASCII-8BIT, base64_string: "{packed}"}}
  recorded_at: Sat, 28 Nov 2026 10:00:00 GMT
recorded_with: VCR 6.3.1
"""
    assert container_of(text.encode(), "t.yml") is vcr.CONTAINER
    assert [(value["request"], value["response"]) for value in records(tmp_path, text)] == [(ASKED, REPLY)]


def b64(data):
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("yaml", "value"),
    [
        ("body: {string: hello}", "hello"),
        ("body: hello", "hello"),
        ('content: \'{"a": 1}\'', {"a": 1}),
        ("body: {string: !!binary " + b64(b'{"a": 1}') + "}", {"a": 1}),
        ("body: {string: !!binary " + b64(gzip.compress(b'{"a": 1}', mtime=0)) + "}", {"a": 1}),
        ("body: {string: !!binary " + b64(gzip.compress(b'{"a": 1}', mtime=0)[:-9]) + "}", None),
        ("body: {string: !!binary " + b64(b"\x1f\x8bxx") + "}", None),
        ("body: {string: !!binary " + b64(b"\xff\xfe") + "}", None),
        ("body: {base64_string: '***'}", None),
        ("body: {a: 1}", {"a": 1}),
        ("body: null", None),
        ("status: 3", None),
        ("parsed_body: {a: [1, -2, 1.5, 1.0e+3, true, null, ~, '1', no, 2026-11-29, 12e45, .inf, 0x1f, 1_000]}",
         {"a": [1, -2, 1.5, 1000.0, True, None, None, "1", "no", "2026-11-29", "12e45", ".inf", "0x1f", "1_000"]}),
        ("parsed_body: {a: !!str 1, 2: !!binary aGk=}", {"a": "1", "2": "hi"}),
        ("parsed_body: 1.0e999", "1.0e999"),
    ],
)  # fmt: skip
def test_a_body_is_json_or_text_whatever_it_is_packed_in(tmp_path, yaml, value):
    assert body(tmp_path, yaml) == value


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(vcr, "MAX_BODY_BYTES", 1000)
    assert body(tmp_path, "body: {string: !!binary " + b64(gzip.compress(b"0" * 1_000_000)) + "}") is None


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("interactions:\n- request: &a {b: 1}\n", "TRACE_MALFORMED", "an anchor"),
        ("interactions:\n- request: *a\n", "TRACE_MALFORMED", "an anchor"),
        ("interactions:\n- !!python/object:os.system {}\n", "TRACE_MALFORMED", "tag `tag:yaml.org,2002:python"),
        ("interactions:\n- !x 1\n", "TRACE_MALFORMED", "tag `!x`"),
        ("interactions:\n- !!binary '*'\n", "TRACE_MALFORMED", "not base64"),
        ("interactions:\n- " + "[" * 400 + "]" * 400 + "\n", "TRACE_TOO_DEEP", "256 levels"),
        ("interactions:\n- [1\n", "TRACE_MALFORMED", "not valid YAML"),
        ("interactions:\n- a: 1\n b: 2\n", "TRACE_MALFORMED", "not valid YAML"),
        ("interactions:\n- ? [1]\n  : 2\n", "TRACE_MALFORMED", "a key must be a text"),
        (b"interactions:\n- \xff\n", "TRACE_MALFORMED", "not valid YAML"),
        (b"interactions:\n- \x00\n", "TRACE_MALFORMED", "not valid YAML"),
    ],
)
def test_what_is_refused(tmp_path, text, code, message):
    error = refusal(tmp_path, text)
    assert error.code == code
    assert message in error.message


def test_a_cassette_without_interactions_is_empty(tmp_path):
    with pytest.raises(RightcallError, match="empty"):
        reading.load_traces(written(tmp_path, "interactions:\nversion: 1\n"))


@pytest.mark.parametrize(
    ("head", "name", "known"),
    [
        (b"interactions:\n- request:", "a.yaml", True),
        (b"---\nhttp_interactions:\r\n- request:", "a.yml.gz", True),
        (b"version: 1\ninteractions:\n", "a.yaml.zst", True),
        (b'{"version": 1, "interactions": [{"request": {', "a.json", True),
        (b'{\n "http_interactions": [\n {"response"', "a.json", True),
        (b"  interactions:\n", "a.yaml", True),
        (b"a:\n  interactions:\n", "a.yaml", False),
        (b"interactions: none\n", "a.yaml", False),
        (b"interactions:\n", "a.txt", False),
        (b'{"interactions": [{"id": 1', "a.json", False),
        (b'{"id": "a", "calls": []}', "a.json", False),
    ],
)
def test_a_cassette_is_known_by_its_head(head, name, known):
    assert vcr.opens(head, name) is known


def test_broken_entries_are_exchanges_that_a_reader_skips(tmp_path):
    (nothing, _, half) = records(tmp_path, "interactions:\n- 3\n- [1]\n- request: x\n  response: {status: 500}\n")
    assert nothing == {"status": None, "request": None, "response": None, "source": "t", "uri": None}
    assert half["status"] == 500


# ---- files ----


def plain(side):
    """A body as another reader of YAML gives it."""
    if "parsed_body" in side:
        return side["parsed_body"]
    text = side["body"]["string"] if isinstance(side.get("body"), dict) else side.get("body")
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


@pytest.mark.slow
def test_real_cassettes_are_read_as_another_reader_of_yaml_reads_them(shared_data):
    count = 0
    for path in sorted((shared_data / "data").glob("openai_*/cassettes/*.yaml")):
        interactions = YAML(typ="safe", pure=True).load(path)["interactions"]
        for (value, _), row in zip(vcr.records(path), interactions, strict=True):
            assert value["request"] == plain(row["request"]), path
            assert value["response"] == plain(row["response"]), path
            count += 1
    assert count == 46 + 72


@pytest.mark.slow
def test_real_cassettes_are_counted_right(shared_data):
    # 45 of the 46 interactions of openai_chat, and 51 of the 72 of openai_responses, are in exchanges.jsonl too.
    totals = {}
    for folder in ("openai_chat", "openai_responses"):
        calls = read = skipped = 0
        for path in sorted((shared_data / "data" / folder / "cassettes").glob("*.yaml")):
            if "multiple_agent" in path.name:
                continue  # begins with another API
            report = ReadingReport()
            calls += sum(len(trace.calls) for trace in reading.read(reading.open_traces(path), report))
            read, skipped = read + report.read, skipped + report.skipped
        totals[folder] = (read, skipped, calls)
    assert totals == {"openai_chat": (40, 2, 23), "openai_responses": (60, 12, 26)}


def test_a_real_cassette_that_begins_with_other_traffic_is_read(shared_data):
    path = next((shared_data / "data/openai_responses/cassettes").glob("*file_search_tool_stream.yaml"))
    opened = reading.open_traces(path)
    assert opened.dialect is openai_responses.DIALECT
    report = ReadingReport()
    (trace,) = reading.read(opened, report)
    assert ([event.tool for event in trace.events if hasattr(event, "tool")], report.skipped) == (["file_search"], 5)


@pytest.mark.slow
def test_mutated_bytes_give_exchanges_or_typed_errors(tmp_path):
    chance = random.Random(3)
    for _ in range(300):
        data = bytearray(PLAIN.encode())
        for _ in range(chance.randrange(1, 8)):
            place = chance.randrange(len(data))
            data[place : place + chance.randrange(0, 3)] = bytes(
                chance.choices(b'{}[]":,&*!|>-?#%@`\\\n \t\xff\x00a', k=chance.randrange(0, 3))
            )
        try:
            records(tmp_path, bytes(data))
        except RightcallError:
            continue
