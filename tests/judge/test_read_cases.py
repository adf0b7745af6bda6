"""The judges' replies among the cases from public bug reports, with their exact answers and their `must` lines.

What a case says of the run as a whole (its log, its retry, its aggregates) is tested where runs are.
"""

import json

import pytest

from rightcall.judge.contract import Malformed
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.judge.reminder import reminder

IDS = [
    "JOU-01", "JOU-03", "JOU-04", "JOU-05", "JOU-06", "JOU-09", "JOU-10", "JOU-12", "JOU-14", "JOU-15", "JOU-17", "JOU-18",
    "JOU-19", "JOU-20", "JOU-22", "JOU-23", "JOU-25", "JOU-26", "JOU-27", "JOU-29", "JOU-31", "SEC-01", "SEC-03",
]  # fmt: skip


@pytest.fixture(scope="module")
def rows(shared_data):
    file = shared_data / "cases" / "cases.jsonl"
    if not file.is_file():
        pytest.skip(f"needs ../{shared_data.name}/cases/cases.jsonl, which is not part of the repository")
    found = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {row["id"]: row for row in found if row["part"] == "judges" and row["minimal_input"]["shape"] == "J"}


def is_malformed(result):
    return isinstance(result, Malformed)  # neither PASS nor FAIL, neither a score nor a tie


MUST = {
    "no default score of any kind": is_malformed,
    "no score 0": is_malformed,
    "not PASS": is_malformed,
    "not TIE": is_malformed,
    "the case is neither PASS nor FAIL in precision/recall": is_malformed,
    "the message shows the code point U+200B": lambda result: "U+200B" in str(result),
    "mean of the four is 4.5": lambda result: "mean of the four is 4.5" in str(result),
    # How large the limit was, and the larger one of the retry, are known to whoever asked.
    "message names the output token limit and the tokens used": lambda result: "output token limit" in str(result),
}
OF_THE_RUN = {"the raw text is logged", "retry uses a larger limit"}


def read(row):
    given = row["minimal_input"]
    return read_reply(given["schema"], given["raw_text"], given.get("finish_reason"))


def test_every_reply_among_the_cases_is_tested_here(rows):
    assert sorted(rows) == IDS


@pytest.mark.parametrize("case_id", IDS)
def test_a_reported_reply_is_read_as_its_right_answer_says(rows, case_id):
    row = rows[case_id]
    answer, result = row["right_answer"], read(row)
    if answer["outcome"] == "ACCEPT":
        assert not is_malformed(result), str(result)
        assert {key: result.values()[key] for key in answer["values"]} == answer["values"]
        return
    assert is_malformed(result), result
    assert result.code == answer["error_class"]
    assert result.problems
    if "at" in answer:
        assert answer["at"] in [problem.path for problem in result.problems]


@pytest.mark.parametrize("case_id", IDS)
def test_every_must_line_that_a_reader_can_show_holds(rows, case_id):
    row = rows[case_id]
    result = read(row)
    for line in row["right_answer"].get("must", []):
        assert line in OF_THE_RUN or MUST[line](result), line


@pytest.mark.parametrize("case_id", IDS)
def test_the_retry_of_a_malformed_reply_names_its_error(rows, case_id):
    result = read(rows[case_id])
    if is_malformed(result):
        text = reminder(result, REPLY_SCHEMAS[rows[case_id]["minimal_input"]["schema"]])
        assert all(problem.message in text for problem in result.problems)
