"""Records out of documents that people write: where each stands, and what JSON cannot say."""

import pytest

from rightcall.case.step import Step
from rightcall.case.written import Written, documents, place_of, read_record, unpacked_name
from rightcall.errors import CaseError, Place


def found(text, file, tables=("step",)):
    return [(record.data, record.place) for record in documents(text.encode(), file, tables)]


@pytest.mark.parametrize(
    ("file", "text", "lines"),
    [
        ("f.yaml", "- id: a\n- id: b\n", [1, 2]),
        ("f.yaml.gz", "- id: a\n- id: b\n", [1, 2]),
        ("f.toml", '[[step]]\nid = "a"\n\n[[step]]\nid = "b"\n', [2, 5]),
        ("f.json", '[{"id": "a"},\n {"id": "b"}]', [None, None]),
    ],
)
def test_each_record_has_its_text_its_path_and_its_line(file, text, lines):
    assert found(text, file) == [
        (b'{"id":"a"}', Place(file, lines[0], None, "$[0]")),
        (b'{"id":"b"}', Place(file, lines[1], None, "$[1]")),
    ]


def test_an_id_that_is_written_twice_has_no_line():
    assert [place.line for _, place in found("- id: a\n- id: a\n", "f.yaml")] == [None, None]


def test_a_key_holds_the_records_only_if_it_stands_alone():
    assert len(found('{"step": [{"id": "a"}, {"id": "b"}]}', "f.json")) == 2
    ((data, _),) = found('{"step": [1], "id": "a"}', "f.json")
    assert data == b'{"step":[1],"id":"a"}'
    ((data, _),) = found('{"other": [1]}', "f.json")
    assert data == b'{"other":[1]}'
    ((data, _),) = found('{"step": {"id": "a"}}', "f.json")
    assert data == b'{"step":{"id":"a"}}'


@pytest.mark.parametrize(
    ("file", "text"), [("f.json", "null"), ("f.json", "{}"), ("f.toml", "# none\n"), ("f.json", "[]")]
)
def test_a_document_without_anything_holds_no_record(file, text):
    assert found(text, file) == []


def test_dates_become_their_text():
    assert found("id = 2026-11-29\nat = 2026-11-29T10:00:00Z\n", "f.toml")[0][0] == (
        b'{"id":"2026-11-29","at":"2026-11-29T10:00:00Z"}'
    )


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("f.toml", "x = nan\n", "NaN and infinity"),
        ("f.toml", "x = [1.0, {y = -inf}]\n", "NaN and infinity"),
        ("f.yaml", "{null: 1}\n", "not a JSON value"),
        ("f.toml", "x = " + "[" * 3000, "nested too deep"),
    ],
)
def test_what_json_cannot_say_is_refused(file, text, said):
    with pytest.raises(CaseError, match=said):
        found(text, file)


def test_text_with_half_a_character_is_refused_with_its_place():
    with pytest.raises(CaseError) as caught:
        read_record(Step, Written(b'{"id": "\\ud800", "selected": null, "expected": null}', Place("f.jsonl", 3)))
    assert (caught.value.code, caught.value.place.line) == ("CASE_INVALID", 3)


def test_every_fault_of_a_record_is_said_at_once():
    with pytest.raises(CaseError) as caught:
        read_record(Step, Written(b'{"id": 4, "selected": null}', Place("f.jsonl", 3)))
    assert caught.value.place.line == 3
    for part in ("$.id", "expected"):
        assert part in str(caught.value)


def test_a_place_is_the_line_of_the_key_where_that_is_one_place():
    record = Written(b"{}", Place("f.yaml", 1, None, "$[0]"), "- id: a\n  selected: none\n")
    assert place_of(record, "$[0].selected") == Place("f.yaml", 2, None, "$[0].selected")
    twice = record._replace(source="- id: a\n  selected: x\n- id: b\n  selected: y\n")
    assert place_of(twice, "$[0].selected").line == 1
    assert place_of(Written(b"{}", Place("f.jsonl", 9)), "$.selected").line == 9


def test_the_suffix_of_a_packing_is_no_format():
    assert [unpacked_name(name) for name in ("a.json.gz", "a.jsonl.zst", "a.toml")] == ["a.json", "a.jsonl", "a.toml"]
