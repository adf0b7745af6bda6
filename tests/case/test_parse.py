"""Cases from text: one meaning in four formats, every fault with its place, nothing unsafe read."""

import json

import pytest

from rightcall.case.parse import line_of, load_yaml, parse_cases, read_case
from rightcall.errors import CaseError, Place

TOML = """\
id = "lost-wallet"
request = "I lost my wallet"
tags = ["cards"]

[expect]
order = "partial"

[[expect.calls]]
tool = "freeze"
arguments = { card = "4242", n = 9007199254740993, x = 4.0 }

[[expect.calls]]
tool = "move"
label = "move"
arguments = { address = { similar = "123 Maple St", as = "address" } }

[[expect.calls]]
tool = "issue"
after = ["move"]

[policy]
forbidden = ["cancel"]
"""
YAML = """\
# the same
id: lost-wallet
request: I lost my wallet
tags: [cards]
expect:
  order: partial
  calls:
    - tool: freeze
      arguments: {card: "4242", n: 9007199254740993, x: 4.0}
    - tool: move
      label: move
      arguments:
        address: {similar: 123 Maple St, as: address}
    - {tool: issue, after: [move]}
policy:
  forbidden: [cancel]
"""
JSON = json.dumps(
    {
        "id": "lost-wallet",
        "request": "I lost my wallet",
        "tags": ["cards"],
        "expect": {
            "order": "partial",
            "calls": [
                {"tool": "freeze", "arguments": {"card": "4242", "n": 9007199254740993, "x": 4.0}},
                {
                    "tool": "move",
                    "label": "move",
                    "arguments": {"address": {"similar": "123 Maple St", "as": "address"}},
                },
                {"tool": "issue", "after": ["move"]},
            ],
        },
        "policy": {"forbidden": ["cancel"]},
    }
)


def parse(text, file):
    data = text.encode() if isinstance(text, str) else text
    return list(parse_cases(data, file))


def only(text, file):
    ((case, _),) = parse(text, file)
    return case


def refusal(text, file):
    with pytest.raises(CaseError) as caught:
        parse(text, file)
    assert caught.value.place.file == file
    assert "\n" not in str(caught.value)
    return caught.value


# ---- one meaning ----


def test_a_case_means_the_same_in_every_format():
    digests = {
        only(TOML, "c.toml").digest,
        only(YAML, "c.yaml").digest,
        only(YAML, "c.yml").digest,
        only(JSON, "c.jsonl").digest,
        only(JSON, "c.json").digest,
        only(JSON, "cases").digest,
        only(json.dumps(json.loads(JSON), indent=2), "c.json").digest,
    }
    assert len(digests) == 1


@pytest.mark.parametrize(("text", "file"), [(TOML, "c.toml"), (YAML, "c.yaml"), (JSON, "c.jsonl")])
@pytest.mark.parametrize("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_a_mark_at_the_start_and_windows_line_ends_do_not_matter(text, file, change):
    changed = change(text).encode()
    if file.endswith(".jsonl"):
        changed = changed.removeprefix(b"\xef\xbb\xbf")  # whoever opens the file drops it
    assert only(changed, file) == only(text, file)


def test_the_first_key_of_a_matcher_stays_the_first():
    for text, file in ((TOML, "c.toml"), (YAML, "c.yaml"), (JSON, "c.json")):
        assert list(only(text, file).expect.calls[1].arguments["address"]) == ["similar", "as"]


def test_big_integers_are_exact_in_every_format():
    for text, file in ((TOML, "c.toml"), (YAML, "c.yaml"), (JSON, "c.jsonl")):
        assert only(text, file).expect.calls[0].arguments["n"] == 9007199254740993


# ---- several cases ----


@pytest.mark.parametrize(
    ("text", "file", "places"),
    [
        ('{"id": "a"}\n\n{"id": "b"}\r\n', "c.jsonl", [(1, None), (3, None)]),
        ('[{"id": "a"}, {"id": "b"}]', "c.json", [(None, "$[0]"), (None, "$[1]")]),
        ('{"cases": [{"id": "a"}, {"id": "b"}]}', "c.json", [(None, "$[0]"), (None, "$[1]")]),
        ('[[case]]\nid = "a"\n[[case]]\nid = "b"\n', "c.toml", [(2, "$[0]"), (4, "$[1]")]),
        ("- id: a\n- id: b\n", "c.yaml", [(1, "$[0]"), (2, "$[1]")]),
        ("cases:\n  - id: a\n  - {id: b}\n", "c.yaml", [(2, "$[0]"), (3, "$[1]")]),
        ("id: a\n---\nid: 'b'\n", "c.yaml", [(1, "$[0]"), (3, "$[1]")]),
    ],
)
def test_a_file_may_hold_several_cases_each_with_its_place(text, file, places):
    found = parse(text, file)
    assert [case.id for case, _ in found] == ["a", "b"]
    assert [(place.line, place.path) for _, place in found] == places


def test_the_line_of_an_id_is_found_however_it_is_written():
    text = '- {id: \'a b\', tags: [x]}\n- id: b # the second\n- {request: r, "id": "c"}\n-\n  id:   d\n'
    assert [place.line for _, place in parse(text, "c.yaml")] == [1, 2, 3, 5]


def test_an_id_that_is_written_twice_has_no_line():
    ((_, first), (_, second)) = parse("- id: a\n- id: a\n", "c.yaml")
    assert (first.line, second.line) == (None, None)


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("", "c.jsonl"),
        ("\n\n", "c.jsonl"),
        ("[]", "c.json"),
        ("# c\n", "c.toml"),
        ("# c\n", "c.yaml"),
        ("[]", "c.yaml"),
    ],
)
def test_a_file_may_hold_none(text, file):
    assert parse(text, file) == []


# ---- unknown fields ----


@pytest.mark.parametrize(
    ("text", "file", "line", "path", "hint"),
    [
        ('{"id": "a"}\n{"id": "b", "expct": {}}\n', "c.jsonl", 2, "$.expct", "did you mean `expect`?"),
        ('[{"id": "b", "expct": {}}]', "c.json", None, "$[0].expct", "did you mean `expect`?"),
        (TOML.replace("request =", "reqest ="), "c.toml", 2, "$.reqest", "did you mean `request`?"),
        (TOML.replace("after =", "aftre ="), "c.toml", 19, "$.expect.calls[2].aftre", "did you mean `after`?"),
        (TOML.replace("[policy]", "[polciy]"), "c.toml", 21, "$.polciy", "did you mean `policy`?"),
        (TOML.replace("[expect]", "[expect]\nordr = 1"), "c.toml", 6, "$.expect.ordr", "did you mean `order`?"),
        ("[[case]]\nid = 'a'\nexpect = {cals = []}\n", "c.toml", 3, "$[0].expect.cals", "did you mean `calls`?"),
        (YAML.replace("label:", "labl:"), "c.yaml", 11, "$.expect.calls[1].labl", "did you mean `label`?"),
        ("- id: a\n- id: b\n  tgas: []\n", "c.yaml", 3, "$[1].tgas", "did you mean `tags`?"),
    ],
)
def test_an_unknown_field_is_an_error_with_line_and_nearest_name(text, file, line, path, hint):
    error = refusal(text, file)
    assert (error.code, error.exit_code) == ("CASE_UNKNOWN_FIELD", 2)
    assert (error.place.line, error.place.path, error.hint) == (line, path, hint)


def test_anything_goes_under_metadata():
    assert only('{"id": "a", "metadata": {"x": {"y": [1]}}}', "c.jsonl").metadata == {"x": {"y": [1]}}


@pytest.mark.parametrize(
    ("text", "text_of_error"),
    [
        ("{}", "field `id` is missing"),
        ('{"id": 7}', "valid string"),
        ('{"id": "a", "expect": {"calls": [{}]}}', "field `tool` is missing"),
        ('{"id": "a", "expect": {"calls": [], "order": "strict"}}', "'listed', 'partial' or 'any'"),
        ("7", "an object is needed here"),
        ('{"id": "a", "tags": "x"}', "list"),
    ],
)
def test_other_faults_are_told_too(text, text_of_error):
    error = refusal(text, "c.jsonl")
    assert error.code == "CASE_INVALID"
    assert text_of_error in error.message


def test_every_fault_of_a_case_is_told_at_once():
    error = refusal('{"idd": "a", "expct": 1, "tags": 7}', "c.jsonl")
    assert "(and 3 more: " in error.message


# ---- syntax ----


@pytest.mark.parametrize(
    ("text", "file", "line", "column"),
    [
        ('{"id": "a"}\n{"id": }\n', "c.jsonl", 2, 8),
        ('[\n {"id": "a"},\n {"id": ]', "c.json", 3, 9),
        ('id = "a"\nrequest = \n', "c.toml", 2, 11),
        ('id = "a"\nid = "b"\n', "c.toml", 2, 9),
        ("id: a\n  request: b\n", "c.yaml", 2, 10),
        ('id: a\nrequest: "b\n', "c.yaml", 3, 1),
        ("id: a\nid: b\n", "c.yaml", 2, 1),
        ("id: a\n\tx: 1\n", "c.yaml", 2, 1),
        ("id: \x01\n", "c.yaml", None, None),
    ],
)
def test_a_syntax_error_names_line_and_column(text, file, line, column):
    error = refusal(text, file)
    assert error.code == "CASE_INVALID"
    assert (error.place.line, error.place.column) == (line, column)
    assert error.message.startswith("not valid ")


@pytest.mark.parametrize("file", ["c.jsonl", "c.json", "c.toml", "c.yaml"])
def test_bytes_that_are_not_utf_8_are_one_clear_error(file):
    text = b'id = "\xff"\n' if file == "c.toml" else b'{"id": "\xff"}\n'
    assert refusal(text, file).code == "CASE_INVALID"


# ---- numbers that are none, and depth ----


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ('{"id": "a", "metadata": {"x": NaN}}', "c.jsonl"),
        ('{"id": "a", "metadata": {"x": Infinity}}', "c.json"),
        ('id = "a"\n[[expect.calls]]\ntool = "t"\narguments = { x = nan }\n', "c.toml"),
        ('id = "a"\nmetadata = { x = [-inf] }\n', "c.toml"),
        ("id: a\nmetadata: {x: .nan}\n", "c.yaml"),
        ("id: a\nexpect: {calls: [{tool: t, arguments: {x: {approx: .inf, abs_tol: 1}}}]}\n", "c.yaml"),
    ],
)
def test_nan_and_infinity_are_refused_and_never_become_null(text, file):
    error = refusal(text, file)
    assert error.code == "CASE_INVALID"
    assert "NaN" in error.message or "Infinity" in error.message


@pytest.mark.parametrize("depth", [300, pytest.param(3_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("text", "file"),
    [
        ('{"id": "a", "metadata": {"x": %s}}', "c.jsonl"),
        ('[{"id": "a", "metadata": {"x": %s}}]', "c.json"),
        ('id = "a"\nmetadata = { x = %s }\n', "c.toml"),
        ("id: a\nmetadata: {x: %s}\n", "c.yaml"),
    ],
)
def test_too_deep_is_one_clear_error_in_every_format(text, file, depth):
    assert refusal(text % ("[" * depth + "]" * depth), file).code == "TRACE_TOO_DEEP"


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ('{"id": "a", "metadata": {"x": %s}}', "c.jsonl"),
        ('{"id": "a", "metadata": {"x": %s}}', "c.json"),
        ('id = "a"\nmetadata = { x = %s }\n', "c.toml"),
        ("id: a\nmetadata: {x: %s}\n", "c.yaml"),
    ],
)
def test_the_limit_of_depth_is_the_same_in_every_format(text, file):
    assert only(text % ("[" * 254 + "]" * 254), file).id == "a"
    assert refusal(text % ("[" * 255 + "]" * 255), file).code == "TRACE_TOO_DEEP"


# ---- the safe subset of YAML ----


@pytest.mark.parametrize(
    ("text", "what", "line", "column"),
    [
        ("id: !!python/object/apply:os.system [echo]\n", "tag `tag:yaml.org,2002:python/object/apply:os.system`", 1, 5),
        ("id: a\nrequest: !secret b\n", "tag `!secret`", 2, 10),
        ("id: a\nmetadata: {n: !!float 1}\n", "tag `tag:yaml.org,2002:float`", 2, 15),
        ("id: &name a\n", "anchor or alias `name`", 1, 5),
        ("id: a\nrequest: *name\n", "anchor or alias `name`", 2, 10),
        ("a: &a [x]\nb: &b [*a, *a, *a]\n", "anchor or alias `a`", 1, 4),
    ],
)
def test_tags_anchors_and_aliases_are_refused(text, what, line, column):
    error = refusal(text, "c.yaml")
    assert what in error.message
    assert "outside the safe subset" in error.message
    assert (error.place.line, error.place.column) == (line, column)


@pytest.mark.parametrize("word", ["no", "yes", "on", "off", "NO", "1_0_0x", "1.2.3"])
def test_a_word_stays_a_text(word):
    assert load_yaml(f"word: {word}", "c.yaml") == {"word": word}


def test_yaml_values_are_those_of_yaml_1_2():
    text = "{t: true, n: null, e: , i: 0o17, f: 1e3, d: '2026-12-05', q: '4'}"
    assert load_yaml(text, "c.yaml") == {
        "t": True,
        "n": None,
        "e": None,
        "i": 15,
        "f": 1000,
        "d": "2026-12-05",
        "q": "4",
    }


@pytest.mark.parametrize(
    ("text", "file"), [('id = "a"\nrequest = 2026-12-05\n', "c.toml"), ("id: a\nrequest: 2026-12-05\n", "c.yaml")]
)
def test_a_bare_date_is_read_as_its_text(text, file):
    assert only(text, file).request == "2026-12-05"


@pytest.mark.parametrize("row", ["id: 7", "7", "null"])
def test_a_yaml_row_that_is_no_case_is_told_with_its_place(row):
    assert refusal(f"- {row}\n", "c.yaml").place.path.startswith("$[0]")


@pytest.mark.parametrize("key", ["null", "[1]"])
def test_a_key_that_is_no_text_is_refused(key):
    assert "not a JSON value" in refusal(f"id: a\nmetadata:\n  ? {key}\n  : 1\n", "c.yaml").message


# ---- finding lines ----


@pytest.mark.parametrize(
    ("source", "key", "line"),
    [
        ("a = 1\nb = 2\n", "b", 2),
        ("a: 1\nb:\n  c: 2\n", "c", 3),
        ("x = { b = 1 }\n", "b", 1),
        ('"b" = 1\n', "b", 1),
        ("[a.b]\n", "b", 1),
        ("[[b]]\n", "b", 1),
        ("b = 1\nb = 2\n", "b", None),
        ("ab = 1\n", "b", None),
        ("", "b", None),
        ("a.b+c = 1\n", "a.b+c", 1),
    ],
)
def test_the_line_of_a_key_is_known_where_it_is_written_once(source, key, line):
    assert line_of(source, key) == line


def test_one_case_can_be_read_by_itself():
    assert read_case(b'{"id": "a"}', Place("f", 2)).id == "a"
    with pytest.raises(CaseError) as caught:
        read_case(b'{"id": "a", "rquest": ""}', Place("f", None, None, "$[4]"), "id = 'a'\nrquest = ''\n")
    assert caught.value.place == Place("f", 2, None, "$[4].rquest")
