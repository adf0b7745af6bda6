"""A run as one JSON object: as its graders' own `--json` prints it, and read back without loss."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "run"))

from suite_making import ALL, VERDICTS, Desk

from rightcall.errors import ConfigError
from rightcall.report.judged import summary as judged_summary
from rightcall.report.summary import summary as golden_summary
from rightcall.report.written.suite_json import write_results_json, write_results_jsonl
from rightcall.run.finished.file import read_results
from rightcall.run.golden.grading import Graded
from rightcall.run.results.store import stored_results
from rightcall.run.suite.run import run_suite


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Return the card desk, a run of all its graders, and each one's figures as its own command prints them."""
    desk = Desk(tmp_path_factory.mktemp("desk"))
    with run_suite(desk.suite()) as done:
        figures = {
            name: (golden_summary if isinstance(one, Graded) else judged_summary)(one)
            for name, one in done.graders.items()
        }
    return desk, done, json.loads(json.dumps(figures))


def written(desk: Desk, run_id: str) -> bytes:
    stream = io.BytesIO()
    with desk.opened() as store:
        write_results_json(stored_results(store, run_id), None, stream, log_head="abc")
    return stream.getvalue()


def test_it_has_the_facts_and_figures_of_every_grader_and_every_result_with_its_grader(ran):
    desk, done, _ = ran
    value = json.loads(written(desk, done.run.id))
    run = value["run"]
    assert (run["id"], run["grader"], run["status"], run["log_head"]) == (done.run.id, "run", "finished", "abc")
    assert list(run["graders"]) == list(value["summary"]["graders"]) == ALL
    assert run["graders"]["rubric"]["judges"][0]["name"] == "desk"
    counts = {name: sum(one["grader"] == name for one in value["results"]) for name in ALL}
    assert counts == VERDICTS
    assert value["summary"]["gate"] is None
    assert len(run["case_versions"]) == 10


@pytest.mark.parametrize("grader", ALL)
def test_the_figures_of_a_stored_run_are_those_that_the_grader_prints(ran, grader):
    desk, done, figures = ran
    summary = json.loads(written(desk, done.run.id))["summary"]["graders"][grader]
    assert {name: summary[name] for name in figures[grader]} == figures[grader]


def test_it_is_read_back_as_the_same_run(ran, tmp_path):
    desk, done, _ = ran
    file = tmp_path / "run.json"
    file.write_bytes(written(desk, done.run.id))
    found = read_results(file)
    assert (found.id, found.status, found.started_at) == (done.run.id, "finished", done.run.started_at)
    with desk.opened() as store:
        stored = stored_results(store, done.run.id)
        assert list(found.graders) == list(stored.graders) == ALL
        for name in ALL:
            rows, others = list(found.graders[name].rows()), list(stored.graders[name].rows())
            assert [(one.unit, one.status, one.verdict, one.line) for one in rows] == [
                (one.unit, one.status, one.verdict, one.line) for one in others
            ]
            assert found.graders[name].facts == stored.graders[name].facts
            if name != "selection":
                assert [one.case_version for one in rows] == [one.case_version for one in others]


def test_a_run_of_one_grader_is_written_in_the_same_form(ran, tmp_path):
    from rightcall.run.graders.setup import Flags, set_up_rubric

    desk, _, figures = ran
    with set_up_rubric(desk.loaded(), Flags(judge="desk")).run() as one:
        run_id = one.run.id
    file = tmp_path / "rubric.json"
    file.write_bytes(written(desk, run_id))
    found = read_results(file)
    assert list(found.graders) == ["rubric"]
    assert found.graders["rubric"].summary["scores"] == figures["rubric"]["scores"]


def test_a_figure_that_was_changed_by_hand_is_refused_when_it_is_read(ran, tmp_path):
    desk, done, _ = ran
    value = json.loads(written(desk, done.run.id))
    value["summary"]["graders"]["golden"]["passed"] = 9
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(value))
    with pytest.raises(ConfigError, match="was changed after it was written"):
        read_results(file)
    del value["digest"]  # whoever takes the digest out as well still meets the results themselves
    file.write_text(json.dumps(value))
    with pytest.raises(ConfigError, match="`passed` of golden is 9, but its results give 4"):
        read_results(file)


def test_lines_are_the_results_alone(ran):
    desk, done, _ = ran
    stream = io.BytesIO()
    with desk.opened() as store:
        write_results_jsonl(stored_results(store, done.run.id), stream)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert len(lines) == sum(VERDICTS.values())
    assert {one["grader"] for one in lines} == set(ALL)
