"""Selection steps from files: both names written, catalogs in place, ids unique, faults with their line."""

import gzip
import json

import pytest
import zstandard
from msgspec import UNSET

from rightcall.case.steps import iter_steps, load_steps
from rightcall.errors import CaseError, ConfigError, NoDataError
from rightcall.trace import jsontext

ONE = '{"id": "s1", "request": "Freeze it.", "selected": "freeze", "expected": "freeze"}'
NONE = '{"id": "s2", "selected": null, "expected": null}'
TOOLS = [{"name": "freeze", "description": "Freeze a card.", "parameters": {"type": "object"}}]


def written(tmp_path, text, name="steps.jsonl"):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(path, kind=CaseError):
    with pytest.raises(kind) as caught:
        list(iter_steps(path))
    return caught.value


def decoded(step):
    return jsontext.decode(bytes(step.tools_json))


# ---- formats ----


PACKS = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
SAME = [
    ("s.jsonl", f"\ufeff{ONE}\r\n\r\n{NONE}"),
    ("s.json", f"[{ONE}, {NONE}]"),
    ("s.json", f'{{"steps": [{ONE}, {NONE}]}}'),
    ("s.json", f'{{"cases": [{ONE}, {NONE}]}}'),
    ("s.yaml", "- {id: s1, request: Freeze it., selected: freeze, expected: freeze}\n- id: s2\n  selected: null\n  expected: ~\n"),
    ("s.yml", "step:\n- {id: s1, request: Freeze it., selected: freeze, expected: freeze}\n- {id: s2, selected: , expected: }\n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), SAME)
@pytest.mark.parametrize("pack", PACKS)
def test_steps_mean_the_same_in_every_format_packed_or_not(tmp_path, name, text, pack):
    path = written(tmp_path, PACKS[pack](text.encode()), name + pack)
    first, second = load_steps(path)
    assert (first.id, first.request, first.selected, first.expected) == ("s1", "Freeze it.", "freeze", "freeze")
    assert (second.id, second.request, second.selected, second.expected) == ("s2", None, None, None)
    assert second.tools_json is UNSET


@pytest.mark.parametrize(
    "text",
    [
        'id = "s1"\nselected = "freeze"\nexpected = "cancel"\n',
        '[[step]]\nid = "s1"\nselected = "freeze"\nexpected = "cancel"\n',
        '[[case]]\nid = "s1"\nselected = "freeze"\nexpected = "cancel"\n',
    ],
)
def test_toml_holds_one_step_or_tables_of_them(tmp_path, text):
    ((step, place),) = iter_steps(written(tmp_path, text, "s.toml"))
    assert (step.id, step.selected, step.expected) == ("s1", "freeze", "cancel")
    assert place.line == text[: text.index("s1")].count("\n") + 1


def test_a_json_file_of_one_object_is_one_step(tmp_path):
    ((step, place),) = iter_steps(written(tmp_path, ONE, "s.json"))
    assert (step.id, place.path) == ("s1", "$")


def test_lines_have_their_numbers(tmp_path):
    assert [place.line for _, place in iter_steps(written(tmp_path, f"\n{ONE}\n\n{NONE}\n"))] == [2, 4]


@pytest.mark.parametrize("name", ["s.jsonl", "s.json", "s.yaml", "s.toml"])
@pytest.mark.parametrize("text", ["", " \n\n"])
def test_an_empty_file_is_no_data(tmp_path, name, text):
    assert refusal(written(tmp_path, text, name), NoDataError).exit_code == 5


def test_an_empty_list_is_no_data(tmp_path):
    assert "no step in this file" in str(refusal(written(tmp_path, "[]", "s.json"), NoDataError))


def test_a_missing_file_and_a_strange_suffix_are_refused(tmp_path):
    assert refusal(tmp_path / "gone.jsonl").code == "CASE_NO_FILE"
    error = refusal(written(tmp_path, ONE, "s.txt"))
    assert "not read from `.txt`" in error.message
    assert ".jsonl" in error.hint


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [("s.jsonl", f"{ONE}\n{{", 2), ("s.json", "[\n{", 2), ("s.toml", "id =\n", 1), ("s.yaml", "id: [\n", 2)],
)
def test_text_that_cannot_be_read_is_refused_with_its_line(tmp_path, name, text, line):
    error = refusal(written(tmp_path, text, name))
    assert (error.code, error.place.line) == ("CASE_INVALID", line)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("s.yaml", "id: !!python/name:os.system x", "tag"),
        ("s.yaml", "- &a {id: s1}\n- *a\n", "anchor"),
        ("s.yaml", "id: s1\nselected: a\nexpected: a\ncontext: {x: .nan}\n", "NaN"),
        ("s.toml", b"id = '\xff'", "UTF-8"),
        ("s.json", "[" * 300 + "]" * 300, "deep"),
        ("s.jsonl", '{"id": "s1", "context": ' + "[" * 300 + "]" * 300 + "}", "deep"),
    ],
)
def test_hostile_text_is_refused_in_one_line(tmp_path, name, text, said):
    error = str(refusal(written(tmp_path, text, name)))
    assert said in error
    assert "\n" not in error


# ---- what a step must say ----


@pytest.mark.parametrize("name", ["selected", "expected"])
def test_leaving_a_name_out_is_an_error_and_null_is_not(tmp_path, name):
    step = {"id": "s", "selected": None, "expected": None}
    assert load_steps(written(tmp_path, json.dumps(step)))[0].selected is None
    del step[name]
    error = refusal(written(tmp_path, f"{ONE}\n{json.dumps(step)}"))
    assert (error.code, error.place.line, error.place.path) == ("CASE_INVALID", 2, f"$.{name}")
    assert f"field `{name}` is missing" in error.message
    assert "null for no tool" in error.hint


@pytest.mark.parametrize("text", ["none", "None", "", "  ", "null", "(none)"])
@pytest.mark.parametrize("name", ["selected", "expected"])
def test_a_text_that_means_no_tool_is_refused_with_what_to_write(tmp_path, name, text):
    step = {"id": "s", "selected": "freeze", "expected": "freeze", name: text}
    error = refusal(written(tmp_path, json.dumps(step)))
    assert (error.place.line, error.place.path) == (1, f"$.{name}")
    assert error.hint == "write null for no tool"


def test_toml_without_null_is_told_what_to_do(tmp_path):
    absent = refusal(written(tmp_path, 'id = "s"\nselected = "freeze"\n', "s.toml"))
    text = refusal(written(tmp_path, 'id = "s"\nselected = "freeze"\nexpected = "none"\n', "s.toml"))
    assert text.place.line == 3
    for error in (absent, text):
        assert "TOML has no null: write this step in JSON or YAML" in error.hint


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("s.jsonl", f'{ONE}\n{{"id": "s", "selected": "a", "expeted": "a"}}', 2),
        ("s.yaml", "- id: s1\n  selected: a\n  expected: a\n- id: s2\n  selected: a\n  expeted: a\n", 6),
        ("s.toml", 'id = "s"\nselected = "a"\nexpeted = "a"\n', 3),
    ],
)
def test_an_unknown_field_is_refused_with_its_line_and_the_nearest_name(tmp_path, name, text, line):
    error = refusal(written(tmp_path, text, name))
    assert (error.code, error.place.line) == ("CASE_UNKNOWN_FIELD", line)
    assert "`expeted`" in error.message
    assert error.hint == "did you mean `expected`?"


def test_a_wrong_type_is_refused_with_its_path(tmp_path):
    error = refusal(written(tmp_path, '[{"id": "s", "selected": 4, "expected": null}]', "s.json"))
    assert (error.code, error.place.path) == ("CASE_INVALID", "$[0].selected")
    assert refusal(written(tmp_path, '["x"]', "s.json")).place.path == "$[0]"


@pytest.mark.parametrize(
    ("name", "text", "first", "second"),
    [
        ("s.jsonl", f"{ONE}\n{NONE}\n{ONE}", ":1", 3),
        ("s.json", f"[{ONE}, {ONE}]", "", None),
    ],
)
def test_an_id_that_stands_twice_is_refused_with_both_places(tmp_path, name, text, first, second):
    path = written(tmp_path, text, name)
    error = refusal(path)
    assert (error.code, error.place.line) == ("CASE_DUPLICATE_ID", second)
    assert f"also at {path}{first})" in error.message


# ---- catalogs ----


def test_tools_may_be_a_path_from_the_steps_own_folder(tmp_path):
    written(tmp_path, json.dumps(TOOLS), "suite/tools/cards.json")
    lines = [json.dumps({"id": f"s{n}", "selected": "freeze", "expected": None, "tools": "tools/cards.json"}) for n in (1, 2)]  # fmt: skip
    steps = load_steps(written(tmp_path, "\n".join(lines), "suite/steps.jsonl"))
    assert [decoded(step) for step in steps] == [TOOLS, TOOLS]


@pytest.mark.parametrize(
    "tools", [TOOLS, {"tools": TOOLS}, {"jsonrpc": "2.0", "id": 1, "result": {"tools": TOOLS}}, []]
)
def test_tools_may_be_inline_or_an_mcp_answer(tmp_path, tools):
    (step,) = load_steps(
        written(tmp_path, json.dumps({"id": "s", "selected": "freeze", "expected": None, "tools": tools}))
    )
    assert decoded(step) == tools


def test_tools_of_null_are_not_known(tmp_path):
    (step,) = load_steps(written(tmp_path, '{"id": "s", "selected": "a", "expected": null, "tools": null}'))
    assert decoded(step) is None


@pytest.mark.parametrize(
    ("tools", "code"),
    [([{"nme": "x"}], "CONFIG_TOOL_INVALID"), (TOOLS * 2, "CONFIG_DUPLICATE_TOOL"), (7, "CONFIG_TOOL_INVALID")],
)
def test_a_catalog_that_is_none_is_refused_with_its_line(tmp_path, tools, code):
    text = json.dumps({"id": "s", "selected": "freeze", "expected": None, "tools": tools})
    error = refusal(written(tmp_path, f"{ONE}\n{text}"), ConfigError)
    assert (error.code, error.place.line) == (code, 2)
    assert error.place.path.startswith("$.tools")


def test_a_catalog_with_a_number_out_of_range_is_refused_with_its_line(tmp_path):
    tools = '[{"name": "x", "parameters": {"maximum": 1e999}}]'
    text = f'{{"id": "s", "selected": null, "expected": null, "tools": {tools}}}'
    error = refusal(written(tmp_path, f"{ONE}\n{text}"), ConfigError)
    assert (error.code, error.place.line) == ("CONFIG_TOOL_INVALID", 2)


def test_a_catalog_file_that_is_missing_is_refused_with_the_step_that_names_it(tmp_path):
    text = json.dumps({"id": "s", "selected": "freeze", "expected": None, "tools": "gone.json"})
    error = refusal(written(tmp_path, f"{ONE}\n{text}"), ConfigError)
    assert "gone.json" in str(error.place)
    assert "steps.jsonl:2" in error.message


def test_what_a_step_says_of_its_origin_is_kept(tmp_path):
    text = {"id": "t#g0", "selected": "a", "expected": "a", "trace_id": "t", "case_id": "c", "call_index": 0,
            "golden_index": 0, "tags": ["x"], "metadata": {"any": 1}, "context": {"history": []}}  # fmt: skip
    (step,) = load_steps(written(tmp_path, json.dumps(text)))
    assert {name: getattr(step, name) for name in text if name != "tags"} == {
        k: v for k, v in text.items() if k != "tags"
    }
    assert step.tags == ("x",)


def test_steps_are_read_one_by_one(tmp_path):
    steps = iter_steps(written(tmp_path, f"{ONE}\n{{"))
    assert next(steps)[0].id == "s1"
    with pytest.raises(CaseError):
        next(steps)
