"""A run as Markdown: text from traces is data, wherever it stands."""

from __future__ import annotations

import re

import pytest

FEED = {"tool": "feed", "arguments": {"tank": 2}}
CASE = {"id": "c", "expect": {"calls": [FEED]}}


def trace(name: str, *calls: dict, case: str = "c") -> dict:
    return {"id": name, "case_id": case, "calls": list(calls)}


def cells(line: str) -> list[str]:
    """The cells of a row of a table."""
    return [cell.strip() for cell in line.split("|")[1:-1]]


def test_counts_table_and_failures(graded, document):
    text = document(graded([CASE], [trace("good", FEED), trace("bad", {"tool": "scan", "arguments": {}})]))
    assert text.startswith("# rightcall: FAIL · no gate was asked\n\n- golden: 1 passed · 1 failed\n\n")
    assert "- 2 results: 1 PASS, 1 FAIL\n- pass rate 0.500" in text.replace("`", "")
    assert "| good | c | 1.00 | 1.00 | – | 1.00 | 1.00 | PASS |\n" in text
    assert "\n```text\n≠ 1 feed tank=2 | 1 scan {}\n    in its place\n```\n" in text
    assert "\n### bad\n" in text
    assert "- `HIGH substituted_call: expected feed, called scan (call 1)`\n" in text
    assert "\n- `tools 0.00 (4) · args – (3) · order – (2) · steps 0.00 (1) → overall 0.00`\n" in text
    assert "### good" not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_differences_stand_under_their_line(graded, document):
    text = document(graded([CASE], [trace("bad", {"tool": "feed", "arguments": {"tank": 3}})]))
    assert "≠ 1 feed tank=2 | 1 feed tank=3\n    $.tank: expected 2, got 3\n```" in text


def test_the_published_formula_shows_its_own_figures(graded, document, screen):
    done = graded([CASE], [trace("bad", {"tool": "scan", "arguments": {}})], '[golden]\nprofile = "article"')
    row = next(line for line in document(done).splitlines() if line.startswith("| bad"))
    assert cells(row) == ["bad", "c", "0.00", "1.00", "0.50", "1.00", "0.50", "FAIL"]
    assert screen(done).splitlines()[1].split() == cells(row)


def test_vetoes_stand_first(graded, document):
    text = document(graded([CASE], [trace("bad", FEED)], '[policy]\nforbidden = ["feed"]'))
    assert "```\n\n- veto: CRITICAL forbidden: feed is forbidden (call 1)\n" in text
    assert "| FAIL (veto) |" in text


def test_of_a_long_run_only_failures_are_shown_and_a_bounded_number(graded, document):
    rows = [trace(f"t{i}", FEED) for i in range(70)] + [trace(f"bad{i}") for i in range(120)]
    text = document(graded([CASE], rows))
    assert "| t5 |" not in text
    assert text.count("\n### ") == 20
    assert text.count("\n| golden | bad") == 80
    assert "… 20 more in the artifact" in text
    assert text.count("\n| bad") == 60
    assert "130 of 190 results are not in this table" in text


HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "![x](https://example.com/x.png)",
    "a | b | c", "**bold** _it_ ~~no~~", "# heading", "- item\n- item", "a\n\n# heading\n\n<b>", "```\n<b>x</b>\n```", "`" * 9, "~~~",
    "&lt;b&gt;", "<!-- x -->", "\\", "a\\|b", "\u202egnp.exe", "\x1b[31mred", "> quote", "http://example.com <a@b.c>", "[x]: https://example.com",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_trace_is_neither_markdown_nor_html(graded, document, text):
    golden = {"tool": text, "arguments": {text: text}}
    made = [{"tool": text, "arguments": {text: [text]}}, {"tool": f"{text}!", "arguments": {}}]
    case, policy = (
        {"id": text, "expect": {"calls": [golden]}},
        f"[policy]\nforbidden = [{text!r}]"
        if text.isascii() and text.isprintable() and "'" not in text and "\\" not in text
        else "",
    )
    out = document(graded([case], [trace(text, *made, case=text)], policy))
    for char in ("\x1b", "\u202e"):
        assert char not in out
    bare = re.sub(r"^(# rightcall: |#{2,3} |> - |- |\|.*\|$|\*\*[A-Z][^*]*\*\*$)", "", outside(out), flags=re.MULTILINE)
    assert not re.search(r"[<>`*_\[\]#~!&\\]", bare)


def outside(out: str) -> str:
    """What stands in no fence and in no code span."""
    kept, closing = [], ""
    for line in out.split("\n"):
        if closing:
            closing = "" if line == closing else closing
        elif opened := re.match("(`{3,})text$", line):
            closing = opened.group(1)
        else:
            kept.append(re.sub(r"(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)", "", line))
    assert not closing  # what opens a fence closes it, and nothing in between can
    return "\n".join(kept)


@pytest.mark.parametrize("text", HOSTILE)
def test_every_row_of_the_table_has_the_same_cells(graded, document, text):
    case = {"id": text, "expect": {"calls": []}}
    out = document(graded([case], [trace(f"{text} {i}", case=text) for i in range(3)]))
    head = out.index("| trace | case | tools ")
    rows = out[head:].split("\n\n", 1)[0].split("\n")
    assert len(rows) == 5
    assert {len(row.split("|")) for row in rows} == {10}
