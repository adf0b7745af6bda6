"""The text of a stream: fields, line ends, comments, what is not JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.trace.sources import sse


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("data: 1\n\ndata: 2\n\n", [1, 2]),
        ("data:1\n\ndata:  2", [1, 2]),
        ("event: x\r\ndata: {}\r\n\r\n: waiting\r\n\r\ndata: 3\r\n\r\n", [{}, 3]),
        ("data: 1\r\rdata: 2\r\r", [1, 2]),
        ("data: [1,\ndata: 2]\n\n", [[1, 2]]),
        ("id: 7\nretry: 100\ndata: true\n\ndata: [DONE]\n\n", [True]),
        ("\ufeffdata: 1\n\n", [1]),
        ("\n\n\ndata: 1\n\n\n\n", [1]),
        ('data: "a\u2028b"\n\n', ["a\u2028b"]),
    ],
)
def test_the_data_of_each_event_is_decoded(text, values):
    faults = []
    assert list(sse.events(text, faults)) == values
    assert faults == []


def test_what_is_not_json_is_told_and_left_out():
    faults = []
    assert list(sse.events('data: {\n\ndata: 1\n\ndata: {"a', faults)) == [1]
    assert [fault.split(" cannot")[0] for fault in faults] == ["event 0", "event 2"]
    assert list(sse.events("data: {\n\ndata: 1\n\n")) == [1]


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ("data: 1", True), ("event: x\ndata: 1", True), (": PROCESSING\n\n", True), ("\n\ndata: 1", True), ("id: 1", True),
        ("", False), ("Hello", False), ('{"data:": 1}', False), (None, False), ({"data": 1}, False),
    ],
)  # fmt: skip
def test_a_stream_is_known_by_its_first_field(value, known):
    assert sse.is_stream(value) is known


def test_a_stream_is_done_when_it_says_so():
    assert sse.is_done("data: 1\n\ndata: [DONE]\n\n")
    assert not sse.is_done("data: 1\n\n")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(json_values, max_size=6), st.sampled_from(["\n", "\r\n", "\r"]))
def test_what_was_sent_is_what_is_read(values, end):
    assert list(sse.events("".join(f"data: {json.dumps(value)}{end}{end}" for value in values))) == values


@given(st.text())
def test_any_text_gives_values_or_faults(text):
    assert isinstance(list(sse.events(text, [])), list)
