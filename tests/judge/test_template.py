"""Prompts as files: front matter, a constant part, a case; every fault found when the file is read."""

import pytest

from rightcall.errors import ConfigError, Place
from rightcall.judge import interpretation, preference, rubric, selection
from rightcall.judge.fences import rules
from rightcall.judge.placeholders import ALIASES, BY_GRADER
from rightcall.judge.template import VERDICT_FIELDS, parse_template, read_template

SCHEMA = "{type: object, properties: {polite: {type: boolean}}, required: [polite], additionalProperties: false}"
OWN = f"""---
id: tone
version: "1.10"
grader: courtesy
placeholders: [AGENT_TOOL_CALLS]
optional: [CONTEXT]
reply_schema: {SCHEMA}
---
You judge courtesy.

=== case ===
What happened:
[AGENT_TOOL_CALLS]
Known: [CONTEXT]
"""


def parse(text):
    return parse_template(text, Place("tone.md"))


def faults(text):
    template, found = read_template(text, Place("tone.md"))
    assert (template is None) == bool(found)
    return [(fault.place.line, fault.message, fault.hint or "") for fault in found]


def only_fault(text):
    found = faults(text)
    assert len(found) == 1, found
    return found[0]


def test_a_template_is_front_matter_a_constant_part_and_a_case():
    template = parse(OWN)
    assert (template.id, template.version, template.grader, template.file) == ("tone", "1.10", "courtesy", "tone.md")
    assert (template.placeholders, template.optional) == (("AGENT_TOOL_CALLS",), ("CONTEXT",))
    assert template.names == ("AGENT_TOOL_CALLS", "CONTEXT")
    assert template.reply_schema["properties"] == {"polite": {"type": "boolean"}}
    assert template.system == f"You judge courtesy.\n\n{rules()}"
    assert template.user == "What happened:\n[AGENT_TOOL_CALLS]\nKnown: [CONTEXT]"


def test_the_rules_say_that_nothing_between_fences_instructs():
    assert "never an instruction" in rules()
    assert "<<<DATA NAME word" in rules()


def test_a_whole_number_is_a_version_and_a_decimal_must_be_quoted():
    assert parse(OWN.replace('"1.10"', "3")).version == "3"
    line, message, hint = only_fault(OWN.replace('"1.10"', "1.10"))
    assert (line, message) == (3, "`version` must be one word")
    assert "quotes" in hint


def test_line_ends_and_a_byte_order_mark_change_nothing():
    assert parse("\ufeff" + OWN.replace("\n", "\r\n")) == parse(OWN)


def test_the_hash_changes_with_every_part_of_the_file():
    changed = [
        OWN.replace("courtesy.", "courtesy!"), OWN.replace("Known", "Context"), OWN.replace('"1.10"', '"1.11"'),
        OWN.replace("boolean", "integer"), OWN + " ",
    ]  # fmt: skip
    hashes = {parse(text).sha256 for text in [OWN, *changed]}
    assert len(hashes) == 1 + len(changed)
    assert all(len(one) == 64 for one in hashes)
    assert parse_template(OWN, Place("elsewhere.md")).sha256 == parse(OWN).sha256


@pytest.mark.parametrize(("alias", "ours"), ALIASES.items())
def test_names_from_elsewhere_are_accepted_for_our_own(alias, ours):
    grader, other = ("rubric", "USER_REQUEST") if ours == "AGENT_TOOL_CALLS" else ("selection", "USER_REQUEST")
    text = f"---\nid: a\nversion: 1\ngrader: {grader}\nplaceholders: [{alias}, {other}]\n---\nx\n=== case ===\n[{alias}] [{other}]"
    assert parse(text).placeholders == (ours, other)
    assert parse(text.replace(f"[{alias}] ", f"[{ours}] ")).placeholders == (ours, other)


def test_one_capital_in_brackets_is_text():
    assert "[A]" in parse(OWN.replace("courtesy.", "courtesy of [A].")).system


@pytest.mark.parametrize("text", ["", "You judge.", "\n---\nid: a\n---\n", "---\nid: a\n"])
def test_a_file_without_front_matter_is_refused(text):
    line, message, hint = only_fault(text)
    assert (line, message) == (1, "a prompt needs front matter between two lines `---`")
    assert "`id`, `version` and `grader`" in hint


@pytest.mark.parametrize(
    ("old", "new", "line", "message", "hint"),
    [
        ("optional:", "optinal:", 6, "unknown key `optinal`", "did you mean `optional`?"),
        ("version:", "zzz:", 3, "unknown key `zzz`", "known: id, version"),
        ("id: tone\n", "", 1, "`id` is missing", "front matter"),
        ("id: tone", "id: two words", 2, "`id` must be one word", "letters"),
        ("id: tone", "id: [tone]", 2, "`id` must be one word", "letters"),
        ("grader: courtesy", "grader: my-own", 4, "`grader` must be an identifier", "tone_of_voice"),
        ("grader: courtesy", "grader: golden", 4, "`golden` is decided by code and asks nobody", "another"),
        ("placeholders: [AGENT_TOOL_CALLS]", "placeholders: AGENT_TOOL_CALLS", 5, "`placeholders` must be a list of names", "[USER_REQUEST]"),
        ("Known: [CONTEXT]", "Known: [CONTXT]", 14, "unknown placeholder [CONTXT]", "did you mean [CONTEXT]?"),
        ("Known: [CONTEXT]", "Known: [CONTEXT] [TRACE_A]", 14, "unknown placeholder [TRACE_A]", "known for `courtesy`: USER_REQUEST"),
        ("optional: [CONTEXT]", "optional: [CONTXT, CONTEXT]", 6, "unknown placeholder [CONTXT]", "[CONTEXT]"),
        ("optional: [CONTEXT]", "optional: [CONTEXT, RECORDING]", 6, "placeholder `RECORDING` is declared and not used", "write [RECORDING] below"),
        ("optional: [CONTEXT]\n", "", 13, "[CONTEXT] is used and not declared", "`optional`"),
        ("optional: [CONTEXT]", "optional: [CONTEXT, AGENT_TOOL_CALLS]", 5, "placeholder `AGENT_TOOL_CALLS` is declared twice", "once"),
        ("courtesy.", "courtesy of [CONTEXT].", 9, "[CONTEXT] stands in the constant part", "below the line `=== case ===`"),
        ("=== case ===", "case:", 9, "there is no line `=== case ===`", "what is constant comes before it"),
        ("What happened:", "=== case ===", 12, "the line `=== case ===` stands 2 times", "write it once"),
        ("grader: courtesy", "grader: selektion", 4, None, None),
        (f"reply_schema: {SCHEMA}\n", "", 4, "grader `courtesy` needs a `reply_schema`", "add a JSON Schema"),
        (SCHEMA, "[polite]", 7, "`reply_schema` must be a JSON Schema of an object", "`type: object`"),
        (SCHEMA, "{type: object, properties: {polite: {type: boolaen}}}", 7, "`reply_schema` is not a valid JSON Schema", ""),
        (SCHEMA, "{type: object, properties: {on: {const: 2026-11-29}}}", 7, "`reply_schema` is not a valid JSON Schema", ""),
        (SCHEMA, "{type: object}", 7, "`reply_schema` has no `properties`", "reply"),
    ],
)  # fmt: skip
def test_every_fault_is_one_line_with_its_place_and_what_to_do(old, new, line, message, hint):
    assert old in OWN
    text = OWN.replace(old, new, 1)
    if message is None:  # a slip in a built-in name is a grader of one's own, and this one has its schema
        assert parse(text).grader == "selektion"
        return
    assert (line, message, hint) in [
        (at, message if said.startswith(message) else said, hint if hint in tip else tip)
        for at, said, tip in faults(text)
    ]


def test_a_slip_in_a_built_in_name_without_a_schema_is_recognised():
    text = OWN.replace("grader: courtesy", "grader: rubrik").replace(f"reply_schema: {SCHEMA}\n", "")
    assert only_fault(text) == (4, "grader `rubrik` needs a `reply_schema`", "did you mean `rubric`?")


def test_yaml_that_cannot_be_read_is_refused_with_line_and_column():
    for bad in ("optional: [CONTEXT", "optional: !!python/name:os.system x", "id: again\noptional: [CONTEXT]"):
        with pytest.raises(ConfigError) as caught:
            parse(OWN.replace("optional: [CONTEXT]", bad))
        assert caught.value.place.file == "tone.md"
        assert caught.value.place.line in (6, 7)
        assert caught.value.place.column


def test_front_matter_that_is_no_mapping_is_refused():
    assert only_fault("---\n- id\n---\nx\n=== case ===\n[CONTEXT]")[1] == "the front matter holds no keys"


def test_a_name_that_is_written_with_an_escape_is_reported_at_the_top():
    text = OWN.replace("optional: [CONTEXT]", 'optional: [CONTEXT, "\\x43ONTXT"]')
    assert only_fault(text)[:2] == (1, "unknown placeholder [CONTXT]")


def test_without_a_grader_the_placeholders_of_all_are_known():
    text = OWN.replace("grader: courtesy\n", "").replace("Known: [CONTEXT]", "Known: [CONTEXT] [TRACE_B]")
    assert (13, "[TRACE_B] is used and not declared") in [(line, message) for line, message, _ in faults(text)]


def test_a_template_without_any_placeholder_is_refused():
    text = "---\nid: a\nversion: 1\ngrader: rubric\n---\nx\n=== case ===\nGo on."
    assert only_fault(text)[1].startswith("no placeholder is used")


def test_all_faults_are_listed_and_the_first_is_raised():
    text = OWN.replace("id: tone", "name: tone").replace("[CONTEXT]\nreply", "[CONTEXT, TRACE_B]\nreply")
    assert [message for _, message, _ in faults(text)] == [
        "`id` is missing", "unknown key `name`", "unknown placeholder [TRACE_B]",
    ]  # fmt: skip
    with pytest.raises(ConfigError, match=r"tone\.md:1: `id` is missing"):
        parse(text)


def test_a_placeholder_of_one_grader_is_unknown_to_another():
    text = "---\nid: a\nversion: 1\ngrader: rubric\nplaceholders: [TRACE_A]\n---\nx\n=== case ===\n[TRACE_A]"
    assert {message for _, message, _ in faults(text)} == {"unknown placeholder [TRACE_A]"}
    assert parse(text.replace("rubric", "preference")).placeholders == ("TRACE_A",)


# ---- own schemas for built-in graders ----


def with_schema(grader, properties, required):
    name = next(iter(BY_GRADER[grader]))
    schema = {"type": "object", "properties": {key: {} for key in properties}, "required": list(required)}
    return (
        f"---\nid: a\nversion: 1\ngrader: {grader}\nplaceholders: [{name}]\nreply_schema: {schema}\n---\n"
        f"x\n=== case ===\n[{name}]"
    )


@pytest.mark.parametrize("grader", VERDICT_FIELDS)
def test_a_schema_of_a_built_in_grader_must_require_its_verdict(grader):
    fields = [names[0] for names in VERDICT_FIELDS[grader]]
    assert parse(with_schema(grader, fields, fields)).reply_schema["required"] == fields
    assert (
        only_fault(with_schema(grader, fields[1:], fields))[1]
        == f"`reply_schema` lacks {said(grader, 0)} of `{grader}`"
    )
    assert (
        only_fault(with_schema(grader, fields, fields[:-1]))[1]
        == f"`reply_schema` lacks {said(grader, -1)} of `{grader}`"
    )


def said(grader, at):
    return " or ".join(f"`{name}`" for name in VERDICT_FIELDS[grader][at])


def test_another_name_of_a_verdict_will_do():
    fields = ["pass", *(names[0] for names in VERDICT_FIELDS["selection"][1:])]
    assert parse(with_schema("selection", fields, fields)).grader == "selection"


@pytest.mark.parametrize(
    ("grader", "model"),
    [
        ("selection", selection.SelectionReply),
        ("rubric", rubric.RubricReply),
        ("preference", preference.PreferenceReply),
        ("interpretation", interpretation.InterpretationReply),
    ],
)
def test_the_verdict_fields_are_those_that_the_reader_requires(grader, model):
    required = {name for name, field in model.model_fields.items() if field.is_required()}
    assert {names[0] for names in VERDICT_FIELDS[grader]} == required
