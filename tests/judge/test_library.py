"""The shipped prompts: complete, readable by name, and their worked examples are replies that our readers accept."""

import json
import re
from itertools import pairwise

import pytest

from rightcall.case.step import Step
from rightcall.errors import ConfigError, Place
from rightcall.grade.selection import select
from rightcall.judge.ask import ask
from rightcall.judge.contract import Malformed
from rightcall.judge.library import SHIPPED, reply_schema, shipped, source, template
from rightcall.judge.placeholders import BY_GRADER
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.llm.tokens import estimate_tokens
from rightcall.trace.catalog import Catalog
from rightcall.trace.model import Tool
from rightcall.trace.schemas import compile_schema

EXAMPLE = re.compile(r"^(?P<about>.+)\nReply[^:]*: (?P<reply>\{.*\})$", re.MULTILINE)


def examples(name):
    """Every worked example of a prompt: its text and its reply."""
    return [(found["about"], found["reply"]) for found in EXAMPLE.finditer(template(name).system)]


ALL_EXAMPLES = [(name, about, reply) for name in SHIPPED for about, reply in examples(name)]


# ---- by name ----


def test_a_shipped_prompt_is_found_by_its_id():
    assert [one.id for one in shipped()] == list(SHIPPED)
    assert {one.grader for one in shipped()} == set(BY_GRADER)
    assert all(one.file is None for one in shipped())


def test_a_file_is_found_by_its_path_and_read_again_when_it_changes(tmp_path):
    text, _ = source("selection")
    file = tmp_path / "mine.md"
    file.write_text(text.replace("id: selection", "id: mine"), encoding="utf-8")
    assert (template(file).id, template(file).file) == ("mine", str(file))
    assert template("mine.md", tmp_path) == template(file)
    file.write_text(text.replace("id: selection", "id: changed"), encoding="utf-8")
    assert template(str(file)).id == "changed"


def test_a_shipped_id_wins_over_a_file_of_that_name(tmp_path):
    (tmp_path / "rubric").write_text("no prompt", encoding="utf-8")
    assert template("rubric", tmp_path).id == "rubric"
    with pytest.raises(ConfigError, match="front matter"):
        template("./rubric", tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rubrik", "no prompt is called `rubrik`, and as a file: No such file or directory; did you mean `rubric`?"),
        ("xyz.md", "no prompt is called `xyz.md`.*shipped: selection, rubric"),
        ("", "no prompt is called ``.*shipped: "),
        ("a\0b", "null"),
    ],
)
def test_a_prompt_that_is_not_there_is_one_line_with_the_nearest_name(tmp_path, name, message):
    with pytest.raises(ConfigError, match=message):
        template(name, tmp_path)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path):
    (tmp_path / "a.md").write_bytes(b"---\xff")
    with pytest.raises(ConfigError, match="not UTF-8 at byte 3"):
        template("a.md", tmp_path)


def test_the_reply_schema_is_the_templates_own_else_the_graders(tmp_path):
    assert reply_schema(template("rubric")) == REPLY_SCHEMAS["rubric"]
    own = "---\nid: a\nversion: 1\ngrader: mine\nplaceholders: [CONTEXT]\nreply_schema: {type: object, properties: {a: {}}}\n---\n=== case ===\n[CONTEXT]"
    (tmp_path / "a.md").write_text(own, encoding="utf-8")
    assert reply_schema(template("a.md", tmp_path)) == {"type": "object", "properties": {"a": {}}}


# ---- what the shipped prompts say ----


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_prompt_uses_only_what_its_grader_fills_and_names_what_it_uses(name):
    prompt = template(name)
    assert set(prompt.names) <= set(BY_GRADER[prompt.grader])
    # What came back can be read without the catalog; which tool was right cannot be said without it.
    assert ("AVAILABLE_TOOLS" in prompt.placeholders) == (prompt.grader != "interpretation")
    if not name.endswith("_short"):
        assert [one for one in prompt.names if f"- {one}:" not in prompt.system] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_the_constant_part_names_every_key_of_the_reply_and_asks_for_one_object(name):
    prompt = template(name)
    keys = reply_schema(prompt)["properties"]
    assert [key for key in keys if key not in prompt.system] == []
    assert prompt.system.endswith("Reply with exactly one JSON object and no other text.")


@pytest.mark.parametrize("name", [name for name in SHIPPED if name.endswith("_short")])
def test_a_short_prompt_has_at_most_1500_tokens_of_constant_text(name):
    assert estimate_tokens(template(name).system) <= 1500


@pytest.mark.parametrize("name", SHIPPED)
def test_the_constant_part_is_the_same_for_every_case(name):
    prompt = template(name)
    values = [dict.fromkeys(prompt.names, value) for value in ("x", "y")]
    systems = {
        ask(prompt, one, nonce=nonce, reply_schema={}).system
        for one, nonce in zip(values, ("a" * 9, "b" * 9), strict=True)
    }
    assert systems == {prompt.system}


@pytest.mark.parametrize("name", SHIPPED)
def test_no_prompt_speaks_of_a_maker_of_models(name):
    text = source(name)[0].lower()
    assert re.findall(r"gpt|claude|gemini|llama|openai|anthropic|language model", text) == []


# ---- worked examples ----


def test_every_prompt_has_worked_examples():
    counts = {name: len(examples(name)) for name in SHIPPED}
    written = {name: len(re.findall(r'^Reply.*: \{"', source(name)[0], re.MULTILINE)) for name in SHIPPED}
    assert counts == written
    assert counts == {
        "selection": 6, "rubric": 6, "rubric_golden": 7, "preference": 7, "interpretation": 8,
        "selection_short": 3, "rubric_short": 1, "preference_short": 1, "interpretation_short": 1,
    }  # fmt: skip


@pytest.mark.parametrize(("name", "about", "reply"), ALL_EXAMPLES)
def test_the_reply_of_a_worked_example_satisfies_the_schema_and_the_reader(name, about, reply):
    prompt = template(name)
    validator = compile_schema(reply_schema(prompt), Place(name))
    value = json.loads(reply)
    assert [fault.message for fault in validator.iter_errors(value)] == []
    calls = {one["call_id"]: one["tool_name"] for one in value.get("tool_call_evaluations", ())}
    read = read_reply(prompt.grader, reply, "stop", facts={"calls": calls} if prompt.grader == "rubric" else None)
    assert not isinstance(read, Malformed), str(read)
    assert read.noted == ()


SELECTION = [row for row in ALL_EXAMPLES if row[0].startswith("selection")]


@pytest.mark.parametrize(("name", "about", "reply"), SELECTION)
def test_code_gives_each_selection_example_the_grade_that_its_reply_has(name, about, reply):
    value = json.loads(reply)
    offered = re.search(r"Tools: (.*?)\. Selected", about)[1]
    tools = re.findall(r"`?(\w+)`? \(", offered)
    assert tools
    step = Step(id="s", selected=value["selected_tool"], expected=value["expected_tool"])
    found = select(step, Catalog(tuple(Tool(name=tool) for tool in tools)))
    assert (found.grade, found.failure_category) == (value["grade"], value["failure_category"])
    assert list(found.secondary_categories) == value["secondary_categories"]
    for key, word in (("selected_tool", "Selected"), ("expected_tool", "expected")):
        assert re.search(rf"{word} `?{value[key] or 'null'}`?\b", about)


def test_the_selection_prompt_shows_every_category_and_a_pass():
    shown = [json.loads(reply)["failure_category"] for _, reply in examples("selection")]
    assert set(shown) == {None, "wrong_tool", "abstention_error", "over_action", "hallucinated_tool"}


RUBRIC = [row for row in ALL_EXAMPLES if row[0].startswith("rubric")]


@pytest.mark.parametrize("name", ["rubric", "rubric_golden"])
def test_the_rubric_prompts_show_every_level(name):
    found = [level for _, reply in examples(name) for key, level in json.loads(reply).items() if key.endswith("_score")]
    assert set(found) == {1, 2, 3, 4, 5, None}


@pytest.mark.parametrize(("name", "about", "reply"), RUBRIC)
def test_a_rubric_example_evaluates_the_calls_that_it_shows_and_keeps_to_the_prompts_own_rules(name, about, reply):
    value = json.loads(reply)
    evaluated = [(one["call_id"], one["tool_name"]) for one in value["tool_call_evaluations"]]
    if name != "rubric_short":
        assert evaluated == re.findall(r"\b(c\d+) (\w+) \{", about)
    scores = [score for key, score in value.items() if key.endswith("_score") and score is not None]
    severity = ["NONE", "LOW", "MEDIUM", "HIGH", "CRITICAL"].index(value["misuse_severity"])
    assert (severity == 0) == (min(scores) == 5)
    assert min(scores) > 3 or severity >= 2


def test_the_two_rubrics_differ_only_in_what_they_say_of_goldens():
    plain, golden = (template(name).system.splitlines() for name in ("rubric", "rubric_golden"))
    places = [golden.index(line) for line in plain if line]
    assert all(first < second for first, second in pairwise(places))
    added = [line for line in golden if line and line not in plain]
    assert added
    assert all("golden" in line.lower() or line.startswith(("Compare", "- ", "Reply: ")) for line in added)
