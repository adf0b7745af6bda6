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


WRONG = {
    "a result that is none": ("results", 0, 5),
    "figures that are none": ("results", 0, "metrics", []),
    "a text for a figure": ("results", 0, "metrics", {"overall": "high"}),
    "a verdict that nobody gives": ("results", 0, "verdict", "GREAT"),
    "a status that there is not": ("results", 0, "status", "MAYBE"),
    "a status of another type": ("results", 0, "status", []),
    "a case that is a number": ("results", 0, "case_id", 5),
    "a grader that is a number": ("results", 0, "grader", 5),
    "an id that is a number": ("run", "id", 5),
    "a status of the run that is a number": ("run", "status", 5),
    "graders that are a list": ("run", "graders", []),
    "facts that are none": ("run", "graders", {"golden": None}),
    "versions that are a list": ("run", "case_versions", ["abc"]),
    "an item that nobody decided on so": ("run", "criticals", [{"grader": "golden", "unit": "t-1", "state": "gone"}]),
    "a count that is a text": ("summary", "n", "4"),
    "skipped records that are none": ("summary", "skipped", "many"),
    "fewer than no skipped record": ("summary", "skipped", -3),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_whose_parts_are_not_what_they_should_be_is_refused_in_one_line(written, name):
    *way, value = WRONG[name]
    path = written(FOUR, {"graders": {"golden": {}}} if "graders" in way else {}, n=4)
    whole = json.loads(path.read_text())
    part = whole
    for key in way[:-1]:
        part = part[key]
    part[way[-1]] = value
    path.write_text(json.dumps(whole))
    with pytest.raises(ConfigError, match="no results of rightcall: ") as caught:
        read_results(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("figures", [None, {"golden": None}, {"golden": {"n": "4"}}])
def test_the_figures_of_each_grader_are_a_table(written, figures):
    with pytest.raises(ConfigError, match="no results of rightcall: figures of golden"):
        read_results(written(FOUR, {"graders": {"golden": {}}}, graders=figures))


@pytest.mark.parametrize(
    ("run", "status", "message"),
    [
        ({}, "finished", None),
        ({"stopped": None}, "finished", None),
        ({"stopped": {"cause": "budget", "message": "spent"}}, "stopped", "spent"),
        ({"stopped": {"cause": "interrupted", "message": "by hand"}}, "interrupted", "by hand"),
        ({"status": "broken", "message": "no room"}, "broken", "no room"),
    ],
)
def test_a_file_says_whether_its_run_came_to_its_end_however_the_command_writes_it(written, run, status, message):
    found = read_results(written(FOUR, run))
    assert (found.status, found.message) == (status, message)


def test_a_file_holds_what_people_had_signed_when_it_was_written(written):
    said = [
        {"grader": "golden", "unit": "t-2", "state": "confirmed", "signed": "confirmed by ruth: it happened"},
        {"grader": "rubric", "unit": "t-1", "state": "open", "signed": None},
    ]
    found = read_results(written(FOUR, {"criticals": said}))
    assert [row.effective for row in found.rows()] == ["PASS", "FAIL", "FAIL", None]
    assert [row.signed for row in found.rows()] == [None, "confirmed by ruth: it happened", None, None]
    assert (found.knows_signoffs, read_results(written(FOUR)).knows_signoffs) == (True, False)
