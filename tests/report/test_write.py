"""A run as files: whole or not at all, and without what must not leave or play tricks."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import stat
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_making import ended_writers

from rightcall.errors import ConfigError
from rightcall.grade.verdict import Metrics
from rightcall.report.files import refuse_unwritable, whole_file
from rightcall.report.formats.rows_csv import COLUMNS
from rightcall.report.formats.writing import SUFFIXES, write_all

FEED = {"tool": "feed", "arguments": {"tank": 2}}
CASE = {"id": "c", "expect": {"calls": [FEED]}}


def trace(name: str, *calls: dict, case: str = "c", **fields: Any) -> dict:
    return {"id": name, "case_id": case, "calls": list(calls), **fields}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# ---- which writer ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_suffix_says_the_format(tmp_path, suffix):
    assert refuse_unwritable(tmp_path / f"a.b{suffix}", SUFFIXES) == suffix


def test_results_are_written_by_who_has_them_and_reports_from_the_view(tmp_path):
    path = tmp_path / "r.jsonl"
    write_all([path], None, {".jsonl": lambda stream: stream.write(b"{}\n")})
    assert path.read_bytes() == b"{}\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("r.pdf", "--out: no format is known for `r.pdf`; use one of .json, .jsonl, .csv, .md"),
        ("json", "no format is known for `json`"),
        ("nowhere/r.json", "nowhere` does not exist; make it first"),
        ("folder.json", "folder.json` is a folder; name a file"),
        ("x" * 300 + ".json", "cannot write: File name too long"),
    ],
)
def test_a_file_that_cannot_be_written_is_told_at_once(tmp_path, name, said):
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(ConfigError) as error:
        refuse_unwritable(tmp_path / name, SUFFIXES)
    assert said in str(error.value)


# ---- whole or not at all ---------------------------------------------------------------------------------------------


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "r.json"
    with whole_file(path) as stream:
        stream.write(b"a")
        assert not path.exists()
    assert path.read_bytes() == b"a"
    assert [child.name for child in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError, SystemExit])
def test_a_file_that_is_not_completed_leaves_the_old_one(tmp_path, kind):
    path = tmp_path / "r.json"
    path.write_bytes(b"old")

    def cut_short() -> None:
        with whole_file(path) as stream:
            stream.write(b"new")
            raise kind

    with pytest.raises(kind):
        cut_short()
    assert path.read_bytes() == b"old"
    assert [child.name for child in tmp_path.iterdir()] == ["r.json"]


def test_a_full_disk_is_one_line(tmp_path):
    with (
        pytest.raises(ConfigError, match=r"r\.json: cannot write: No space left on device"),
        whole_file(tmp_path / "r.json"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_gone_is_one_line(tmp_path):
    with (
        pytest.raises(ConfigError, match="cannot write: No such file or directory"),
        whole_file(tmp_path / "x" / "r.json"),
    ):
        raise AssertionError("nothing is to be written")


def test_a_file_has_the_rights_of_any_other_file(tmp_path):
    old = os.umask(0o027)
    try:
        with whole_file(tmp_path / "r.json"):
            pass
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o640


def test_the_longest_name_that_a_file_can_have(tmp_path):
    path = tmp_path / ("x" * 250 + ".json")
    with whole_file(path) as stream:
        stream.write(b"a")
    assert path.read_bytes() == b"a"


# ---- JSON ------------------------------------------------------------------------------------------------------------


def test_json_is_one_object_and_jsonl_its_results(graded, written):
    done = graded([CASE], [trace("t", FEED), trace("u")])
    value = json.loads(written(done, ".json"))
    assert list(value) == ["run", "summary", "results", "digest"]
    assert [json.loads(line) for line in written(done, ".jsonl").splitlines()] == value["results"]
    assert [result["trace_id"] for result in value["results"]] == ["t", "u"]
    assert list(value["results"][0]["metrics"]) == list(Metrics.__struct_fields__)


def test_writing_twice_writes_the_same(graded, written):
    done = graded([CASE], [trace("t", FEED), trace("u")])
    for suffix in SUFFIXES:
        assert written(done, suffix) == written(done, suffix)


@pytest.mark.parametrize("number", [2**53, 2**53 + 1, -(2**53) - 1, 2**63, 2**64 + 1, 10**40, -(10**40)])
def test_integers_keep_every_digit(graded, written, number):
    done = graded(
        [{"id": "c", "expect": {"calls": [{"tool": "a", "arguments": {"n": number}}]}}],
        [trace("t", {"tool": "a", "arguments": {"n": number + 1}})],
    )
    for suffix in (".json", ".jsonl"):
        text = written(done, suffix)
        assert f'"expected":{number},"actual":{number + 1}' in text
    assert f"expected {number}, got {number + 1}" in written(done, ".md")


def test_json_holds_hostile_text_exactly_and_without_control_characters(graded, written):
    name = 'a\x1b[31m\x00\u202e"\\</script>\u2028' + "x" * 9000
    done = graded([{"id": "c", "expect": {"calls": []}}], [trace(name, {"tool": name, "arguments": {name: name}})])
    for suffix in (".json", ".jsonl"):
        text = written(done, suffix)
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)
        result = json.loads(text)["results"][0] if suffix == ".json" else json.loads(text)
        assert result["trace_id"] == name
        assert result["findings"][0]["actual"] == name


def test_undefined_is_null(graded, written):
    result = json.loads(written(graded([{"id": "c"}], [trace("t")]), ".jsonl"))
    assert (result["verdict"], result["alternative"], result["article"], result["completed"]) == (
        None,
        None,
        None,
        None,
    )
    assert set(result["metrics"].values()) == {None}


# ---- CSV -------------------------------------------------------------------------------------------------------------


def test_a_row_has_identity_verdict_metrics_and_kinds(graded, written):
    done = graded(
        [CASE],
        [trace("t", FEED, trial=2, completed=True), trace("u", {"tool": "scan", "arguments": {}})],
        '[policy]\nforbidden = ["scan"]',
    )
    first, second = rows(written(done, ".csv"))
    assert tuple(first)[: len(COLUMNS)] == COLUMNS
    assert {"profile", "status", "reason", "policy_only", "completed", "calls", *Metrics.__struct_fields__} <= set(
        first
    )
    assert (first["trial"], first["completed"], first["policy_only"], first["reason"]) == ("2", "true", "false", "")
    assert (first["overall"], first["exact_match"], first["order_score"], first["matched"]) == ("1.0", "true", "", "1")
    assert (second["verdict"], second["vetoes"], second["completed"]) == ("FAIL", "forbidden", "")
    assert "policy_violation" in second["findings"].split()


def test_figures_are_not_rounded(graded, written):
    golden = [FEED, {"tool": "scan", "arguments": {}}, {"tool": "drain", "arguments": {}}]
    done = graded([{"id": "c", "expect": {"calls": golden}}], [trace("t", FEED)])
    (row,) = rows(written(done, ".csv"))
    (result,) = (json.loads(line) for line in done.results())
    assert float(row["jaccard"]) == result["metrics"]["jaccard"] == 1 / 3
    assert float(row["score"]) == result["metrics"]["overall"]
    assert row["article.overall_score"] == repr(result["article"]["overall_score"])


def test_a_table_of_csv_ends_its_lines_as_the_format_says(graded, written):
    text = written(graded([CASE], [trace("t", FEED)]), ".csv")
    assert text.count("\r\n") == 2
    assert "\n" not in text.replace("\r\n", "")


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "=cmd|' /C calc'!A0", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20A1", "\ufeff=1", "\u200b=1"]
)  # fmt: skip
def test_no_cell_starts_a_formula(graded, written, cell):
    done = graded([{"id": cell, "expect": {"calls": []}}], [trace(cell, case=cell)])
    row = rows(written(done, ".csv"))[0]
    for name in ("trace_id", "case_id"):
        assert row[name].lstrip()[:1] not in ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "")
        assert row[name].lstrip()[0] in "'\\"


@pytest.mark.parametrize("name", ['a"b,c', "a\nb", "a\r\nb", "x" * 40_000, ";", "日本語", "'quoted'"])
def test_any_text_is_one_cell(graded, written, name):
    read = rows(written(graded([{"id": "c", "expect": {"calls": []}}], [trace(name)]), ".csv"))
    assert len(read) == 1
    assert read[0]["trace_id"] == name.replace("\r", "\\u000d").replace("\n", "\\u000a")


def test_hidden_characters_are_written_out(graded, written):
    text = written(graded([{"id": "c", "expect": {"calls": []}}], [trace("a\x1b[31m\u202e\u200bb")]), ".csv")
    assert "a\\u001b[31m\\u202e\\u200bb" in text


# ---- what must not leave ---------------------------------------------------------------------------------------------

SHAPED = ("4111 1111 1111 1111", "amy@example.com", "sk-test1234567890abcdefABCDEF", "PRC-4711")
NAMED = "hunter2-very-secret"
PATTERN = '[redact]\npatterns = ["PRC-[0-9]+"]\n'


def squeezed(text: str) -> str:
    """The text without what a table puts between the parts of a long word."""
    return re.sub(r"[\s'\\]|\x1b\[[0-9;]*m", "", text)


@st.composite
def _planted(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments with a secret: as a value, in a key, in a list, under the name or the label of a secret."""
    shaped = draw(st.sampled_from(SHAPED))
    choices: list[dict[str, Any]] = [
        {"note": f"see {shaped}, please"}, {f"to {shaped}": 1}, {"list": [1, [shaped]]}, {"deep": {"a": {"b": shaped}}},
        {"password": NAMED}, {"auth": {"accessToken": [NAMED, 7]}}, {"headers": [{"name": "Cookie", "value": NAMED}]},
        {"text": f'{{"api_key": "{NAMED}"}}'}, {"line": f"token={NAMED}"}, {"user's secret": {"x": NAMED}},
        {"n": 4111111111111111},
    ]  # fmt: skip
    return draw(st.sampled_from(choices))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    golden=_planted(), made=_planted(), other=_planted(), where=st.sampled_from(SHAPED), tool=st.sampled_from(["send", *SHAPED]),
    status=st.sampled_from(["ok", "text", "missing"]), profile=st.sampled_from(["balanced", "article", "strict"]),
    schema=st.booleans(), forbidden=st.booleans(),
)  # fmt: skip
def test_no_secret_leaves_by_any_writer(
    graded, everywhere, golden, made, other, where, tool, status, profile, schema, forbidden
):
    given_by = {"ok": {"arguments": made}, "text": {"arguments": json.dumps(made)}, "missing": {}}[status]
    calls = [
        {"tool": tool, **given_by, "error": where},
        {"tool": "send", "arguments": other, "result": {"r": where, "password": NAMED}},
    ]
    case = {
        "id": f"case {where}", "request": f"mail {where}", "context": {"password": NAMED}, "metadata": {"m": where},
        "expect": {"calls": [{"tool": tool, "arguments": golden}, {"tool": f"other {where}", "arguments": golden}]},
    }  # fmt: skip
    if schema:
        case["tools"] = [
            {"name": name, "parameters": {"type": "object", "additionalProperties": {"type": "null"}}}
            for name in {tool, "send"}
        ]
    run = {
        "id": f"trace {where}", "case_id": f"case {where}", "request": where, "calls": calls, "metadata": {"k": where, "token": NAMED},
    }  # fmt: skip
    # Settings refuse what looks like a key, so that one is never a rule.
    rule = f'[policy]\nforbidden = ["{tool}"]\n' if forbidden and not tool.startswith("sk-") else ""
    done = graded([case], [run], f'[golden]\nprofile = "{profile}"\n{PATTERN}{rule}')
    for place, text in everywhere(done).items():
        plain = squeezed(text)
        for part in ("41111111", "amy@", "sk-test", "PRC-47", "hunter2"):
            assert part not in plain, place
    assert done.tally.failed == 1


@pytest.mark.parametrize("suffix", sorted({*SUFFIXES} - {".sarif"}))  # a file of findings about safety alone
def test_equal_secrets_have_equal_tags_in_every_file(graded, written, suffix):
    card = {"tool": "pay", "arguments": {"card": SHAPED[0], "x": 1}}
    done = graded(
        [{"id": "c amy@example.com", "expect": {"calls": [card]}}],
        [trace("t amy@example.com", {"tool": "pay", "arguments": {"card": SHAPED[0]}}, case="c amy@example.com")],
    )
    tags = set(re.findall(r"⟦email:\w+⟧", written(done, suffix)))
    assert len(tags) == 1


def test_a_large_run_is_written_line_by_line(graded, tmp_path, monkeypatch):
    """No writer but that of people asks for more than one result at a time."""
    done = graded([CASE], [trace(f"t{i}", FEED) for i in range(300)])
    taken: list[int] = []

    class Sink(io.BytesIO):
        def write(self, data: Any) -> int:
            taken.append(len(data))
            return super().write(data)

    for suffix in (".json", ".jsonl", ".csv"):
        taken.clear()
        ended_writers(done)[suffix](Sink())
        assert max(taken) < 20_000


def test_the_formats_are_those_of_the_documents():
    assert set(SUFFIXES) == {".json", ".jsonl", ".csv", ".md", ".html", ".junit.xml", ".sarif"}
