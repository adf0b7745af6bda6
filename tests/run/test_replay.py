"""A recorded question, asked again: recorded too, and no verdict changes."""

from __future__ import annotations

import json
import shutil

import pytest
from judged_making import Project, case, rubric_replies, said, selection_replies, server, step, trace

from rightcall.run.log.replay import Replayed

STEPS = 4


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return a folder with a run of four steps on record, and the server that was asked."""
    folder = tmp_path_factory.mktemp("recorded")
    with server(selection_replies(STEPS), plan=None, latency=0.0) as served:
        made = Project(folder, served.base_url)
        made.write("steps.jsonl", *(step(n) for n in range(STEPS)))
        assert made.finish().json["summary"]["evaluated"] == STEPS
        yield folder, served, served.answers


@pytest.fixture
def project(recorded, tmp_path, monkeypatch):
    """Return a copy of that project, and its server as if nobody had asked it yet."""
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
    folder, served, answers = recorded
    served.reset()
    served.change(answers=answers, plan=None)
    return Project(shutil.copytree(folder, tmp_path / "project"), served.base_url), served


def replayed(project: Project, entry: str, *more: str) -> tuple[int, dict]:
    config = ("--config", str(project.folder / "rightcall.toml"), "--store", project.url)
    code, out = said("log", "replay", entry, "--json", *config, *more)
    return code, json.loads(out) if out else {}


def entry_of(project: Project, unit: str) -> tuple[int, str]:
    with project.opened() as store:
        return next((seq, digest) for seq, digest, one in store.attempts(unit=unit) if one.purpose == "question")


def test_the_same_answer_is_the_same_and_changes_nothing(project):
    project, served = project
    seq, digest = entry_of(project, "case-0001")
    before = project.seen(project.run_id())
    asked = served.stats()["requests"]
    code, found = replayed(project, str(seq))
    assert (code, found["status"], found["same"]) == (0, "ok", True)
    assert found["then"] == found["now"]
    assert (found["then_model"], found["now_model"]) == ("faulty-model", "faulty-model")
    assert served.stats()["requests"] == asked + 2  # and the probe
    after = project.seen(project.run_id())
    assert after.verdicts == before.verdicts
    assert after.all_verdicts == STEPS
    assert after.events == before.events
    again, probe = [one for one in after.attempts if one not in before.attempts][::-1]
    assert (again.purpose, again.unit, again.key, again.status) == ("replay", "case-0001", "", "ok")
    assert probe.purpose == "probe"
    with project.opened() as store:
        old = store.attempt(digest)[2]
        assert (again.system, again.user) == (old.system, old.user)
        assert store.attempt(found["seq"])[2] == again
    assert project.is_intact()


def test_a_replay_is_no_answer_that_a_later_run_counts(project):
    project, served = project
    seq, _ = entry_of(project, "case-0001")
    served.change(answers=lambda _asked: selection_replies(1)["case-0000"])
    assert replayed(project, str(seq))[1]["same"] is False
    asked = served.stats()["requests"]
    ended = project.finish()
    assert served.stats()["requests"] == asked
    assert [one["judge_grade"] for one in ended.json["results"]] == ["FAIL", "PASS", "PASS", "PASS"]
    run_id = project.run_id()
    resumed = project.finish("--resume", run_id)
    assert resumed.json["results"] == ended.json["results"]


def test_another_answer_is_shown_beside_the_first(project):
    project, served = project
    served.change(answers=lambda _asked: selection_replies(1)["case-0000"])
    code, found = replayed(project, entry_of(project, "case-0002")[1][:10])
    assert (code, found["same"]) == (0, False)
    assert (found["then"]["grade"], found["now"]["grade"]) == ("PASS", "FAIL")


@pytest.mark.parametrize(
    ("kind", "status"), [("malformed", "JUDGE_NOT_JSON"), ("unauthorized", "JUDGE_AUTH"), ("refusal", "JUDGE_REFUSAL")]
)
def test_no_readable_answer_is_no_same_answer_and_leaves_with_5(project, kind, status):
    project, served = project
    served.change(plan=lambda asked: kind if asked.identity.startswith("case-") else None)
    code, found = replayed(project, str(entry_of(project, "case-0003")[0]))
    assert (code, found["status"], found["same"], found["now"]) == (5, status, False, None)
    assert found["message"]
    assert found["then"]["grade"] == "PASS"


def test_a_rubric_is_replayed_too(tmp_path):
    with server(rubric_replies(1), plan=None, latency=0.0) as served:
        project = Project(tmp_path, served.base_url, arguments=("rubric", "traces.jsonl", "--cases", "cases.jsonl"))
        project.write("traces.jsonl", trace(0))
        project.write("cases.jsonl", case(0))
        project.finish()
        code, found = replayed(project, str(entry_of(project, "t-0")[0]))
        assert (code, found["same"]) == (0, True)


def test_what_cannot_be_replayed_is_refused(project):
    project, served = project
    with project.opened() as store:
        probe = next(seq for seq, _, one in store.attempts() if one.purpose == "probe")
    asked = served.stats()["requests"]
    question = str(entry_of(project, "case-0000")[0])
    assert replayed(project, str(probe)) == (2, {})
    assert replayed(project, "999999") == (2, {})
    assert replayed(project, question, "--judge", "nobody") == (2, {})
    assert replayed(project, question, "--judge", "none") == (2, {})
    assert replayed(project, question, "--judge", "strong,strong2") == (2, {})
    assert served.stats()["requests"] == asked


def test_the_fields_of_a_replay_are_stable():
    names = ("seq", "status", "then_model", "now_model", "then", "now", "same", "message")
    assert Replayed.__struct_fields__ == names
