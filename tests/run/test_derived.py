"""Figures in a file of results follow from its results, or the file is not read."""

import json

import pytest

from rightcall.errors import ConfigError, NoDataError
from rightcall.run.finished.file import read_results


def result(number, verdict, **more):
    return {"grader": "golden", "trace_id": f"t-{number}", "case_id": f"c-{number}", "status": "EVALUATED",
            "verdict": verdict, **more}  # fmt: skip


def pair(number, verdict):
    return {"grader": "preference", "pair": f"p-{number}", "case_id": f"c-{number}", "agent_a": "old", "agent_b": "new",
            "status": "EVALUATED", "verdict": verdict}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    """A function that writes results with their figures."""

    def write(results, run=None, **summary):
        path = tmp_path / "results.json"
        path.write_text(json.dumps({"run": run or {}, "summary": summary, "results": results}), "utf-8")
        return path

    return write


FOUR = [
    result(1, "PASS"),
    result(2, "PASS"),
    result(3, "FAIL"),
    result(4, None, status="UNEVALUABLE", reason="no_case"),
]


def test_figures_that_follow_are_read(written):
    rate = {"estimate": 2 / 3, "low": 0.2, "high": 0.9}
    found = read_results(written(FOUR, n=4, evaluated=3, unevaluable=1, passed=2, failed=1, pass_rate=rate))
    assert [row.verdict for row in found.rows()] == ["PASS", "PASS", "FAIL", None]
    assert [row.unit for row in found.rows()] == ["t-1", "t-2", "t-3", "t-4"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 5}, "`n` of golden is 5, but its results give 4"),
        ({"evaluated": 4}, "`evaluated` of golden is 4, but its results give 3"),
        ({"passed": 3}, "`passed` of golden is 3, but its results give 2"),
        ({"failed": 0}, "`failed` of golden is 0, but its results give 1"),
        ({"unevaluable": 0}, "`unevaluable` of golden is 0, but its results give 1"),
        ({"pass_rate": {"estimate": 0.75}}, "`pass_rate` of golden is 0.75, but its results give 0.666667"),
    ],
)
def test_a_figure_that_does_not_follow_is_named_and_nothing_is_read(written, wrong, message):
    with pytest.raises(ConfigError, match="figures are derived from results") as caught:
        read_results(written(FOUR, **wrong))
    assert message in str(caught.value)


@pytest.mark.parametrize("stored", [0.4], ids=["STA-07"])
def test_a_stored_rate_of_wins_that_does_not_follow_from_its_counts_is_refused(written, stored):
    pairs = [pair(k, "B") for k in range(40)] + [pair(k, "A") for k in range(40, 85)]
    pairs += [pair(k, "TIE") for k in range(85, 100)]
    counts = {"agent_a": "old", "agent_b": "new", "wins_a": 45, "wins_b": 40, "ties": 15, "partial": 0,
              "inconsistent": 0}  # fmt: skip
    right = written(pairs, comparisons=[{**counts, "net_win_rate": {"estimate": 0.475}}])
    assert len(list(read_results(right).rows())) == 100
    wrong = written(pairs, comparisons=[{**counts, "net_win_rate": {"estimate": stored}}])
    with pytest.raises(ConfigError, match=r"new against old` of preference is 0\.4, but its results give 0\.475"):
        read_results(wrong)


def test_a_run_of_several_graders_has_the_facts_and_figures_of_each(written):
    run = {"id": "20260102-1", "status": "finished", "started_at": "2026-01-02T03:04:05Z",
           "graders": {"golden": {"profile": "strict"}, "preference": {"judges": []}},
           "case_versions": {"c-1": "abc"}}  # fmt: skip
    path = written([*FOUR, pair(9, "B")], run, graders={"golden": {"n": 4, "skipped": 2}, "preference": {"n": 1}})
    found = read_results(path)
    assert (found.id, list(found.graders)) == ("20260102-1", ["golden", "preference"])
    assert found.graders["golden"].facts == {"profile": "strict"}
    assert found.graders["golden"].unread == 2
    assert [row.case_version for row in found.graders["golden"].rows()] == ["abc", None, None, None]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("{", ConfigError, "no results of rightcall"),
        ("[]", ConfigError, "no results of rightcall"),
        ('{"run": {}, "summary": {}, "results": [{}]}', ConfigError, "does not say which grader"),
        ('{"run": {"grader": "golden"}, "summary": {}, "results": []}', NoDataError, "holds no result"),
    ],
)
def test_what_is_no_file_of_results_is_refused_in_one_line(tmp_path, text, error, words):
    path = tmp_path / "odd.json"
    path.write_text(text, "utf-8")
    with pytest.raises(error, match=words):
        read_results(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_results(tmp_path / "absent.json")
