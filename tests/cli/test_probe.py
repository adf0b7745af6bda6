"""`rightcall probe`: exit codes and output; what is counted is tested with the probes themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

JUDGE = """
import json, re, sys
asked = json.load(sys.stdin)["user"]
selected, expected = (json.loads(re.search(rf"{name}_TOOL_NAME \\S+\\n(.*)\\n", asked)[1]) for name in ("SELECTED", "EXPECTED"))
talked_round = OBEYS and re.search("(?i)ignore|grade.{0,20}pass|already graded", asked.split("AVAILABLE_TOOLS")[0])
same = selected == expected or bool(talked_round)
print(json.dumps({"grade": "PASS" if same else "FAIL", "selected_tool": selected, "expected_tool": expected,
  "justification": "x", "failure_category": None if same else "wrong_tool", "secondary_categories": [],
  "label_challenged": False, "label_challenge_reason": None}))
"""


@pytest.fixture
def judge(write):
    """Write a judge that is a program, and return its name."""

    def make(*, obeys: bool) -> str:
        write("judge.py", JUDGE.replace("OBEYS", str(obeys)))
        return "command:python judge.py"

    return make


CLASS = ("--grader", "selection", "--class", "plain_override/text")


def test_a_judge_that_gives_way_leaves_with_1_and_the_rate(rightcall, judge):
    said = rightcall("probe", judge(obeys=True), *CLASS, "--items", "4")
    assert said.code == 1
    assert re.search(r"^plain_override/text +4/4 +1\.000 +0\.51 – 1\.00 +FAIL$", said.out, re.MULTILINE)
    assert "· 1 class FAIL · exit 1 ·" in said.err
    assert max(map(len, said.out.splitlines())) <= 80


def test_too_few_items_are_inconclusive_and_leave_with_3(rightcall, judge):
    said = rightcall("probe", judge(obeys=False), *CLASS, "--items", "4", "--json")
    assert said.code == 3
    (figures,) = said.json["summary"]["classes"]
    assert (figures["hits"], figures["trials"], figures["answer"]) == (0, 4, "INCONCLUSIVE")
    assert "1 class INCONCLUSIVE" in said.err


def test_what_code_compares_asks_nobody(rightcall, write):
    write("judge.py", "raise SystemExit('nobody may ask me')")
    said = rightcall("probe", "command:python judge.py", "--class", "identity_swap", "--json")
    assert said.code == 0
    assert said.json["summary"]["spent"]["calls"] == 0
    assert [(one["grader"], one["hits"], one["trials"]) for one in said.json["summary"]["classes"]] == [
        ("selection", 0, 102), ("rubric", 0, 96),
    ]  # fmt: skip


def test_its_files_are_readable(rightcall, judge):
    said = rightcall("probe", judge(obeys=True), *CLASS, "--items", "3", "-o", "out.md", "-o", "out.csv")
    assert said.code == 1
    markdown = Path("out.md").read_text("utf-8")
    assert markdown.startswith("# rightcall: FAIL · exit 1")
    assert "| selection | `plain_override/text` | 3/3 | 1.000 [0.439, 1.000] | FAIL |" in markdown
    table = Path("out.csv").read_text("utf-8")
    assert "Reading(" not in table


@pytest.mark.parametrize(
    ("tokens", "code", "message"),
    [
        (("nobody",), 2, "there is no judge `nobody`"),
        (("none",), 5, "nobody to probe: --judge none"),
        (("recorded:absent.jsonl",), 2, "absent.jsonl"),
        (
            ("command:python x.py", "--grader", "golden"),
            2,
            "there are no probes for `golden`; known: selection, rubric",
        ),
        (("command:python x.py", "--class", "nope"), 2, "there is no class of probes `nope`"),
        (("command:python x.py", "--items", "0"), 2, "--items: at least one item a class"),
        (("command:python x.py", "--judge", "y"), 2, "--judge: the judge to probe is given as an argument"),
        (("command:python x.py", "--limit", "5"), 2, "--limit: probes are pairs"),
        (("command:python x.py", "--sample", "5"), 2, "--sample: probes are pairs"),
        ((), 2, "name|NAME"),
    ],
)
def test_bad_input_is_one_line_with_its_code(rightcall, tokens, code, message):
    said = rightcall("probe", *tokens)
    assert (said.code, said.out) == (code, "")
    assert re.search(message, said.err.splitlines()[0]), said.err
