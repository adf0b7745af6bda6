"""Cases from files: packed or not, catalogs loaded, ids checked, benchmarks' own files recognised."""

import gzip
import json

import pytest
import zstandard

from rightcall.case.load import iter_cases, load_cases, load_tools
from rightcall.errors import CaseError, ConfigError, NoDataError
from rightcall.trace.model import Tool

TOOL = {"name": "freeze", "description": "Freeze a card.", "parameters": {"type": "object"}}
BFCL = '{"id": "simple_0", "ground_truth": [{"add": {"a": [1, 2], "b": ["", 3]}}]}\n'


def written(tmp_path, text, name="cases.jsonl"):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(path, kind=CaseError):
    with pytest.raises(kind) as caught:
        load_cases(path)
    return caught.value


# ---- files ----

PACKS = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.jsonl", '{"id": "a"}\n{"id": "b"}\n'),
        ("c.jsonl", '\ufeff{"id": "a"}\r\n\r\n{"id": "b"}'),
        ("c.json", '[{"id": "a"}, {"id": "b"}]'),
        ("c.toml", '[[case]]\nid = "a"\n[[case]]\nid = "b"\n'),
        ("c.yaml", "\ufeff- id: a\n- id: b\n"),
    ],
)
@pytest.mark.parametrize("pack", PACKS)
def test_a_file_is_read_by_its_suffix_packed_or_not(tmp_path, name, text, pack):
    path = written(tmp_path, PACKS[pack](text.encode()), name + pack)
    assert [case.id for case in load_cases(path)] == [case.id for case in load_cases(str(path))] == ["a", "b"]


def test_lines_have_their_numbers_and_their_place_in_the_file(tmp_path):
    data = '\ufeff{"id": "é"}\r\n\n  {"id": "b"} \n'.encode()
    path = written(tmp_path, data)
    found = list(iter_cases(path))
    assert [place.line for _, place, _ in found] == [1, 3]
    for case, _, where in found:
        assert json.loads(data[where.offset : where.offset + where.size])["id"] == case.id


@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "c.toml", "c.yaml", "c"])
@pytest.mark.parametrize("text", ["", " \n\n", "\ufeff"])
def test_an_empty_file_is_no_data_and_exits_5(tmp_path, name, text):
    error = refusal(written(tmp_path, text, name), NoDataError)
    assert (error.exit_code, error.code) == (5, "NO_DATA")


@pytest.mark.parametrize(
    ("name", "text"), [("c.json", "[]"), ("c.toml", "# c\n"), ("c.yaml", "# c\n"), ("c.yaml", "[]")]
)
def test_a_file_without_a_case_is_no_data(tmp_path, name, text):
    assert "no case in this file" in refusal(written(tmp_path, text, name), NoDataError).message


@pytest.mark.parametrize("name", ["none.jsonl", "none.toml", "none.jsonl.gz"])
def test_a_missing_file_is_an_error(tmp_path, name):
    error = refusal(tmp_path / name)
    assert (error.code, error.message, error.exit_code) == ("CASE_NO_FILE", "no such file", 2)


def test_a_truncated_packed_file_is_an_error(tmp_path):
    data = gzip.compress(b"".join(b'{"id": "c%d"}\n' % n for n in range(2_000)))
    assert refusal(written(tmp_path, data[:-12], "c.jsonl.gz")).code == "TRACE_TRUNCATED"


def test_a_bad_line_stops_the_reading_with_its_place(tmp_path):
    error = refusal(written(tmp_path, '{"id": "a"}\n\n{"id": "b", "expct": {}}\n'))
    assert (error.code, error.place.line, error.place.path) == ("CASE_UNKNOWN_FIELD", 3, "$.expct")


@pytest.mark.parametrize("text", ['{"id": "a"}\n{"id": \n', '{"id": "a", "metadata": {"x": NaN}}\n'])
def test_a_line_that_is_not_json_is_an_error(tmp_path, text):
    assert "not valid JSON" in refusal(written(tmp_path, text)).message


# ---- ids ----


def test_an_id_that_stands_twice_with_other_content_is_an_error_with_both_places(tmp_path):
    error = refusal(written(tmp_path, '{"id": "a"}\n{"id": "b"}\n{"id": "a", "request": "x"}\n'))
    assert (error.code, error.place.line) == ("CASE_DUPLICATE_ID", 3)
    assert ":1)" in error.message


def test_a_case_that_is_repeated_as_it_stands_is_one_case(tmp_path):
    line = '{"id": "a", "expect": {"calls": [{"tool": "t", "arguments": {"x": 1}}]}}\n'
    assert len(load_cases(written(tmp_path, line * 3 + '{"id": "b"}\n'))) == 2


# ---- catalogs ----


@pytest.mark.parametrize("catalog", [[TOOL], {"tools": [TOOL]}, {"result": {"tools": [{**TOOL, "inputSchema": {}}]}}])
def test_a_catalog_that_is_named_by_its_path_is_loaded_from_the_cases_folder(tmp_path, catalog):
    written(tmp_path, json.dumps(catalog), "suite/tools/cards.json")
    path = written(tmp_path, '{"id": "a", "tools": "tools/cards.json"}\n', "suite/cases.jsonl")
    ((case, _, _),) = iter_cases(path)
    assert [tool["name"] for tool in json.loads(bytes(case.tools_json))] == ["freeze"]


def test_an_inline_catalog_stays_as_it_is(tmp_path):
    (case,) = load_cases(written(tmp_path, json.dumps({"id": "a", "tools": [TOOL]})))
    assert json.loads(bytes(case.tools_json)) == [TOOL]


def test_a_catalog_that_is_not_there_says_who_named_it(tmp_path):
    path = written(tmp_path, '{"id": "a", "tools": "none.json"}\n')
    error = refusal(path, ConfigError)
    assert (error.code, error.place.file) == ("CONFIG_TOOL_INVALID", str(tmp_path / "none.json"))
    assert f"(named at {path}:1)" in error.message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{oops", "CONFIG_TOOL_INVALID"),
        ("7", "CONFIG_TOOL_INVALID"),
        ('[{"description": "no name"}]', "CONFIG_TOOL_INVALID"),
        ('[{"name": "a"}, {"name": "a"}]', "CONFIG_DUPLICATE_TOOL"),
        ("[" * 300 + "]" * 300, "CONFIG_TOOL_INVALID"),
    ],
)
def test_a_faulty_catalog_is_a_configuration_error(tmp_path, text, code):
    with pytest.raises(ConfigError) as caught:
        load_tools(written(tmp_path, text, "tools.json"))
    assert (caught.value.code, caught.value.exit_code) == (code, 2)
    assert caught.value.place.file.endswith("tools.json")


def test_a_catalog_file_may_be_packed(tmp_path):
    path = written(tmp_path, gzip.compress(json.dumps([TOOL]).encode()), "tools.json.gz")
    assert load_tools(path) == (Tool(name="freeze", description="Freeze a card.", parameters={"type": "object"}),)


# ---- benchmarks' own files ----


@pytest.mark.parametrize(
    ("name", "text"), [("a.jsonl", BFCL), ("a.json", BFCL), ("a.json", f"[{BFCL}]"), ("a.jsonl", BFCL * 2)]
)
def test_possible_answers_are_recognised(tmp_path, name, text):
    (case,) = load_cases(written(tmp_path, text, name))
    (call,) = case.expect.calls
    assert (case.id, call.tool) == ("simple_0", "add")
    assert call.arguments == {"a": {"any_of": [1, 2]}, "b": {"any_of": [3], "optional": True}}


POSITIONAL = '{"id": "multi_turn_0", "ground_truth": [["add(1, b=2)"]]}\n'


def test_positional_arguments_take_their_names_from_the_catalog(tmp_path):
    tools = (Tool(name="add", parameters={"properties": {"a": {}, "b": {}}}),)
    ((case, _, _),) = iter_cases(written(tmp_path, POSITIONAL), tools)
    assert case.expect.calls[0].arguments == {"a": 1, "b": 2}


def test_a_record_without_a_readable_case_is_an_error_or_counted(tmp_path):
    path = written(tmp_path, POSITIONAL + BFCL)
    assert "positional argument" in refusal(path).message
    skips = []
    assert [case.id for case, _, _ in iter_cases(path, skips=skips)] == ["simple_0"]
    assert [skip.place.line for skip in skips] == [1]


def test_a_case_of_ours_that_holds_the_word_is_no_benchmark(tmp_path):
    path = written(tmp_path, '{"id": "a", "request": "ground_truth", "metadata": {"ground_truth": []}}\n')
    assert load_cases(path)[0].request == "ground_truth"
