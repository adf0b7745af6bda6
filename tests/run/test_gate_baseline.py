"""Which run a gate compares with."""

from dataclasses import replace

import msgspec
import pytest
from gate_making import passes, run

from rightcall.errors import ConfigError, StoreError
from rightcall.run.finished.file import read_results
from rightcall.run.gating.baseline import baseline_of, chosen_baseline, is_file
from rightcall.run.gating.branches import SUITS, branch_of, green_run, runs_of, suits
from rightcall.run.results.store import stored_results
from rightcall.store.records import (
    ConsensusRecord,
    GateRecord,
    ReviewRecord,
    RunEvent,
    RunRecord,
    SignoffRecord,
)
from rightcall.store.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s.db") as found:
        yield found


def put(
    store, name, status="finished", grader="golden", cases=("cases.toml",), branch=None, answers=(), graders=("golden",)
):
    facts = {"cases": [{"file": file, "sha256": "x"} for file in cases]}
    if grader == "run":
        facts = {"graders": dict.fromkeys(graders, facts)}
    facts["source"] = {"branch": branch, "commit": None}
    said = [
        GateRecord(
            run_id=name, at=f"2026-11-30T11:00:0{n}Z", asked_by="gate", answer=answer, exit_code=0, rules_sha256=""
        )
        for n, answer in enumerate(answers)
    ]
    records = [RunRecord(id=name, grader=grader, started_at="2026-11-30T10:00:00Z", facts=facts)]
    store.write([*records, RunEvent(run_id=name, at="2026-11-30T10:00:01Z", status=status)])
    for one in said:
        store.write([one])


def previous(store, name, tmp_path):
    found = baseline_of("previous", stored_results(store, name), store, tmp_path)
    return found if isinstance(found, str) else found.name


def test_previous_is_the_last_finished_run_of_the_same_graders_on_the_same_case_files(store, tmp_path):
    put(store, "20261130-1")
    put(store, "20261130-2")
    put(store, "20261130-3", status="broken")
    put(store, "20261130-4", grader="rubric")
    put(store, "20261130-5", cases=("other.toml",))
    put(store, "20261130-6")
    put(store, "20261130-7")
    assert previous(store, "20261130-6", tmp_path) == "20261130-2"
    assert previous(store, "20261130-7", tmp_path) == "20261130-6"
    assert previous(store, "20261130-1", tmp_path).startswith("there is no earlier finished run of this suite")


def record_of(*graders, facts):
    return RunRecord(id="r", grader="run", started_at="", facts={"graders": dict.fromkeys(graders, facts)})


def test_runs_of_several_graders_are_one_suite_if_they_share_one():
    now = run(*passes(3), facts={"golden": {}})
    assert suits(record_of("golden", "rubric", facts={}), now)
    assert suits(RunRecord(id="r", grader="golden", started_at="", facts={}), now)
    assert not suits(record_of("rubric", facts={}), now)


@pytest.mark.parametrize(
    "part", [{"limit": 2}, {"only": "a"}, {"tags": ["smoke"]}, {"sample": 5, "seed": 0}, {"limit": 2, "tags": ["b"]}]
)
def test_a_part_of_the_cases_is_a_baseline_of_the_same_part_alone(part):
    whole, same = (run(*passes(3), facts={"golden": facts}) for facts in ({"seed": 0, "limit": None}, part))
    assert not suits(record_of("golden", facts=part), whole)
    assert suits(record_of("golden", facts=part), same)
    assert suits(record_of("golden", facts={"seed": 3}), same)
    for other in ({"limit": 3}, {"only": "b"}, {"tags": ["b"]}, {"sample": 5, "seed": 1}):
        assert not suits(record_of("golden", facts=other), same)


def test_a_run_with_every_grader_comes_before_a_newer_one_with_some(store, tmp_path):
    put(store, "20261130-1", grader="run", graders=("golden", "rubric"), branch="main", answers=["PASS"])
    put(store, "20261130-2", branch="main", answers=["PASS"])
    put(store, "20261130-3", grader="run", graders=("golden", "rubric"))
    assert of_branch(store, "20261130-3", tmp_path) == previous(store, "20261130-3", tmp_path) == "20261130-1"
    put(store, "20261130-4")
    assert of_branch(store, "20261130-4", tmp_path) == "20261130-2"
    assert previous(store, "20261130-4", tmp_path) == "20261130-3"


def test_the_run_before_a_file_is_none_where_another_run_of_the_store_has_its_id(store, tmp_path):
    put(store, "20261130-1")
    put(store, "20261130-2")
    elsewhere = replace(stored_results(store, "20261130-2"), started_at="2026-11-30T09:00:00Z", store_name=None)
    assert baseline_of("previous", elsewhere, store, tmp_path) == "run 20261130-2 is not in this store"
    here = replace(stored_results(store, "20261130-2"), store_name=None)
    assert baseline_of("previous", here, store, tmp_path).name == "20261130-1"


ABOUT = {"run_id": "20261130-1", "grader": "golden", "unit": "a"}
SIGNOFF = SignoffRecord(
    **ABOUT, item="rv-1", who="ruth", at="x", outcome="confirmed", reason="it did happen", typed="", role="any"
)
AGREED = ConsensusRecord(**ABOUT, item="rv-1", at="x", how="single", fields={"severity": "CRITICAL"})
FOUND = ReviewRecord(**ABOUT, created_at="x", reason="policy_veto", severity="CRITICAL")


@pytest.mark.parametrize(
    ("later", "green"),
    [
        (SIGNOFF, False),
        (AGREED, False),
        (FOUND, False),
        (RunEvent(run_id="20261130-1", at="y", status="finished"), False),
        (msgspec.structs.replace(AGREED, fields={"severity": "LOW"}), True),
        (msgspec.structs.replace(FOUND, severity="HIGH"), True),
        (msgspec.structs.replace(SIGNOFF, run_id="20261130-0"), True),
    ],
)
def test_a_run_is_green_no_more_once_something_is_recorded_that_may_change_the_answer(store, tmp_path, later, green):
    put(store, "20261130-0", branch="fix")
    put(store, "20261130-1", branch="main", answers=["PASS"])
    put(store, "20261130-2")
    store.write([later])
    found = of_branch(store, "20261130-2", tmp_path)
    said = (
        "20261130-1, was PASS, but more was recorded since, such as a sign-off (rightcall gate 20261130-1 asks again)"
    )
    assert found == "20261130-1" if green else found.endswith(said)
    store.write([GateRecord(run_id="20261130-1", at="z", asked_by="gate", answer="PASS", exit_code=0, rules_sha256="")])
    assert of_branch(store, "20261130-2", tmp_path) == "20261130-1"


def test_without_a_record_there_is_no_previous_run(tmp_path):
    assert "no record" in baseline_of("previous", run(*passes(3)), None, tmp_path)


def test_a_run_is_named_by_its_id_and_must_have_finished(store, tmp_path):
    put(store, "20261130-1")
    put(store, "20261130-2", status="interrupted")
    now = run(*passes(3))
    assert baseline_of("20261130-1", now, store, tmp_path).name == "20261130-1"
    assert baseline_of("20261130-2", now, store, tmp_path) == ("the baseline 20261130-2 is interrupted, not finished")
    with pytest.raises(StoreError, match="there is no run"):
        baseline_of("20261130-9", now, store, tmp_path)


def test_a_file_is_one_by_its_name_or_because_it_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_file("gone.json")
    assert not is_file("20261130-1")
    with pytest.raises(ConfigError, match="cannot be read"):
        baseline_of("gone.json", run(*passes(3)), None, tmp_path)
    with pytest.raises(ConfigError, match="there is no baseline `20261130-1`"):
        baseline_of("20261130-1", run(*passes(3)), None, tmp_path)


def test_a_run_is_never_its_own_baseline(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(store, "20261130-1")
    now = stored_results(store, "20261130-1")
    assert baseline_of("20261130-1", now, store, tmp_path) == (
        "the baseline 20261130-1 is this very run: nothing could be worse"
    )
    line = '{"grader": "golden", "status": "EVALUATED", "verdict": "PASS", "case_id": "a", "trace_id": "a"}'
    for name, run_id in (
        ("a.json", '"20261130-1", "started_at": "2026-11-30T10:00:00Z"'),
        ("b.json", "null"),
        ("c.json", '"20261130-1", "started_at": "2026-11-30T09:00:00Z"'),
    ):
        (tmp_path / name).write_text(
            f'{{"run": {{"grader": "golden", "id": {run_id}}}, "summary": {{}}, "results": [{line}]}}'
        )
    assert "this very run" in baseline_of("a.json", now, store, tmp_path)
    alone = read_results(tmp_path / "b.json")
    assert "this very run" in baseline_of("b.json", alone, None, tmp_path)
    for other in ("b.json", "c.json"):
        assert baseline_of(other, now, store, tmp_path).name.endswith(other)


def test_the_run_before_of_a_suite_is_one_on_the_same_case_files(store, tmp_path):
    put(store, "20261130-1", grader="run")
    put(store, "20261130-2", grader="run", cases=("other.toml",))
    put(store, "20261130-3", grader="run")
    assert previous(store, "20261130-3", tmp_path) == "20261130-1"


# ---- branches --------------------------------------------------------------------------------------------------------


def of_branch(store, name, tmp_path, branch="main"):
    found = baseline_of(f"branch:{branch}", stored_results(store, name), store, tmp_path)
    return found if isinstance(found, str) else found.name


def test_the_baseline_of_a_branch_is_its_newest_finished_run_of_the_suite_whose_newest_answer_is_pass(store, tmp_path):
    put(store, "20261130-1", branch="main", answers=["PASS"])
    put(store, "20261130-2", branch="main", answers=["FAIL", "PASS"])
    put(store, "20261130-3", branch="main", answers=["PASS", "WAIT"])
    put(store, "20261130-4", branch="main", status="stopped", answers=["PASS"])
    put(store, "20261130-5", branch="main", cases=("other.toml",), answers=["PASS"])
    put(store, "20261130-6", branch="main", grader="rubric", answers=["PASS"])
    put(store, "20261130-7", branch="fix", answers=["PASS"])
    put(store, "20261130-8", branch="main")
    assert of_branch(store, "20261130-7", tmp_path) == "20261130-2"
    assert of_branch(store, "20261130-2", tmp_path) == "20261130-1"
    assert of_branch(store, "20261130-1", tmp_path) == "20261130-2"
    assert of_branch(store, "20261130-3", tmp_path, "fix") == "20261130-7"
    assert green_run(store, None).run == "20261130-7"
    assert green_run(store, "main").run == "20261130-6"
    assert green_run(store, "main", any_answer=True).run == "20261130-8"


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        ([], "no run of branch `main` is on record; no run on record says its branch"),
        ([{"branch": "trunk"}], "no run of branch `main` is on record; there are runs of trunk"),
        ([{"branch": "mian"}], "no run of branch `main` is on record; did you mean `mian`?"),
        (
            [{"branch": "main", "status": "broken"}],
            "no run of branch `main` on record is finished: there is one, the newest is 20261130-0",
        ),
        (
            [{"branch": "main", "cases": ("other.toml",), "answers": ["PASS"]}],
            f"no other finished run of branch `main` is of this suite: {SUITS}",
        ),
        (
            [{"branch": "main"}, {"branch": "main", "answers": ["PASS", "FAIL"]}],
            "the gates passed no finished run of branch `main`: the newest, 20261130-1, is FAIL",
        ),
        (
            [{"branch": "main"}],
            "the gates passed no finished run of branch `main`: the newest, 20261130-0, was never gated",
        ),
    ],
)
def test_where_a_branch_has_no_green_run_it_is_said_what_was_looked_for(store, tmp_path, runs, why):
    for number, given in enumerate(runs):
        put(store, f"20261130-{number}", **given)
    put(store, "20261130-9")
    assert of_branch(store, "20261130-9", tmp_path) == why


def test_a_run_is_not_the_green_run_of_its_own_branch(store, tmp_path):
    put(store, "20261130-1", branch="main", answers=["PASS"])
    assert of_branch(store, "20261130-1", tmp_path).startswith("no other finished run of branch `main`")


def test_results_of_a_file_are_held_to_a_run_on_the_same_case_files(store, tmp_path):
    put(store, "20261130-1", branch="main", answers=["PASS"])
    put(store, "20261130-2", branch="main", cases=("other.toml",), answers=["PASS"])
    alone = run(*passes(3), facts={"golden": {"cases": [{"file": "cases.toml"}]}}, kept=False)
    assert baseline_of("branch:main", alone, store, tmp_path).name == "20261130-1"
    assert "no record" in baseline_of("branch:main", alone, None, tmp_path)


@pytest.mark.parametrize("name", ["main", "fix/a.json", "näme#1", "a:b", "release-1.2@x", "feature/日本"])
def test_a_branch_may_be_called_whatever_git_allows(store, tmp_path, name):
    put(store, "20261130-1", branch=name, answers=["PASS"])
    put(store, "20261130-2")
    assert branch_of(f"branch:{name}") == branch_of(f"branch: {name} ") == name
    assert of_branch(store, "20261130-2", tmp_path, name) == "20261130-1"
    assert not is_file(f"branch:{name}")
    assert [found.id for found, _ in runs_of(store, name)] == ["20261130-1"]


def test_a_branch_whose_name_holds_a_secret_is_found_by_it(store, tmp_path):
    put(store, "20261130-1", branch="fix/⟦card:1⟧", answers=["PASS"])
    put(store, "20261130-2")
    now, hide = stored_results(store, "20261130-2"), lambda text: text.replace("4242424242424242", "⟦card:1⟧")
    assert baseline_of("branch:fix/4242424242424242", now, store, tmp_path, hide).name == "20261130-1"


def test_branch_alone_names_none(store, tmp_path):
    for name in ("branch:", "branch:  "):
        with pytest.raises(ConfigError, match="`branch:` names no branch; write branch:main"):
            baseline_of(name, run(*passes(3)), store, tmp_path)


def test_what_is_looked_for_may_be_missing_and_what_is_named_may_not(store, tmp_path):
    put(store, "20261130-1")
    now = stored_results(store, "20261130-1")
    for name in ("branch:main", "previous"):
        assert isinstance(chosen_baseline(name, now, store, tmp_path).found, str)
    with pytest.raises(ConfigError, match="is this very run"):
        chosen_baseline("20261130-1", now, store, tmp_path)


def test_a_form_that_was_misspelt_is_named(store, tmp_path):
    now = run(*passes(3))
    for where in (store, None):
        for name, meant in (("brnch:main", "branch:main"), ("Branch:main", "branch:main"), ("previuos", "previous")):
            with pytest.raises(ConfigError, match=f"did you mean `{meant}`"):
                baseline_of(name, now, where, tmp_path)


def test_an_unknown_branch_lists_nothing_and_says_what_there_is(store):
    put(store, "20261130-1", branch="main")
    with pytest.raises(ConfigError, match="no run of branch `mian` is on record; did you mean `main`"):
        runs_of(store, "mian")
