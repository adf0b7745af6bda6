"""What gates say goes on record: by `run`, by `gate`; who asked, what was compared with; and where it is seen again."""

from __future__ import annotations

import pytest

from rightcall.store.gate_answers import gate_answers, newest_answer
from rightcall.store.store import Store
from rightcall.store.verify import verify

COMMIT = "8c1e4f2" + "0" * 33


@pytest.fixture
def tanks(write):
    """Write a suite of six cases whose traces are right, and a file in which the last trace is wrong."""
    write("cases.jsonl", *(
        {"id": f"tank-{n}", "expect": {"calls": [{"tool": "feed", "arguments": {"tank": n}}]}} for n in range(6)
    ))  # fmt: skip
    for name, last in (("traces.jsonl", 5), ("worse.jsonl", 9)):
        write(name, *(
            {"id": f"t-{n}", "case_id": f"tank-{n}",
             "calls": [{"tool": "feed", "arguments": {"tank": last if n == 5 else n}}]} for n in range(6)
        ))  # fmt: skip

    def rules(text=""):
        lines = ['traces = "traces.jsonl"', 'cases = "cases.jsonl"', 'store = "s.db"', 'graders = ["golden"]']
        write("rightcall.toml", "\n".join([*lines, "[gates]", text]))

    rules('"golden.pass_rate" = { min = 0.2 }')
    return rules


@pytest.fixture
def on(monkeypatch):
    """Let CI say another branch from here on."""

    def say(branch, commit=COMMIT):
        monkeypatch.setenv("RIGHTCALL_BRANCH", branch)
        monkeypatch.setenv("RIGHTCALL_COMMIT", commit)

    return say


def answers(run_id=None):
    with Store.open("s.db", create=False) as store:
        return [one for _, _, one in gate_answers(store.database, run_id)]


def begun(said):
    """Return the id of the run that a command began."""
    return said.err.split("run ", 1)[1].split()[0]


def test_run_and_gate_put_their_answer_on_record_with_all_that_it_rests_on(rightcall, tanks):
    run_id = begun(rightcall("run", "-q"))
    found = rightcall("gate", "--json").json
    first, second = answers(run_id)
    assert (first.asked_by, second.asked_by) == ("run", "gate")
    assert (second.answer, second.exit_code, list(second.causes)) == ("PASS", 0, found["causes"])
    assert list(second.decisions) == found["decisions"]
    assert first.rules_sha256 == second.rules_sha256
    with Store.open("s.db") as store:
        assert newest_answer(store.database, run_id) == second
        assert verify(store).intact


def test_other_rules_have_another_digest_and_the_same_ones_written_otherwise_do_not(rightcall, tanks):
    rightcall("run", "-q")
    tanks("[gates.golden]\npass_rate = { min = 0.2 }")
    rightcall("gate", "-q")
    tanks('"golden.pass_rate" = { min = 0.6 }')
    rightcall("gate", "-q")
    one, same, other = (each.rules_sha256 for each in answers())
    assert one == same != other


def test_a_file_a_part_of_a_run_and_a_run_without_gates_put_nothing_on_record(rightcall, tanks):
    rightcall("run", "-q", "--no-gate", "-o", "run.json")
    assert rightcall("gate", "run.json", "-q").code == 0
    assert rightcall("gate", "--case", "tank-1", "-q").code in (0, 3)
    assert rightcall("gate", "--grader", "golden", "-q").code == 0
    assert answers() == []


def test_the_log_head_that_run_tells_covers_the_answer_of_its_gates(rightcall, tanks):
    head = rightcall("run", "--json").json["run"]["log_head"]
    with Store.open("s.db") as store:
        assert store.head().hash == head
        assert [entry.kind for entry in store.log()][-1] == "gate"


def test_an_answer_that_cannot_be_kept_stands_and_is_one_line(rightcall, tanks, monkeypatch):
    from rightcall.errors import StoreError

    rightcall("run", "-q")

    def refuse(*_):
        raise StoreError("the disk is full", code="STORE_FULL")

    monkeypatch.setattr(Store, "write", refuse)
    found = rightcall("gate", "-q")
    assert (found.code, found.out) == (0, "")
    first, second = found.err.splitlines()
    assert first == "the gate's answer is not on record: the disk is full [STORE_FULL]"
    assert second.startswith("gate ")
    assert len(answers()) == 1


def test_a_suite_that_python_runs_keeps_the_answer_too_and_warns_where_it_cannot(rightcall, tanks, monkeypatch):
    from rightcall.errors import StoreError
    from rightcall.report.given.suite import finish_suite

    assert finish_suite("rightcall.toml").gate.answer == "PASS"
    assert [one.asked_by for one in answers()] == ["run"]
    write = Store.write

    def refuse(self, records, bodies=()):
        if any(type(one).__name__ == "GateRecord" for one in records):
            raise StoreError("the disk is full", code="STORE_FULL")
        return write(self, records, bodies)

    monkeypatch.setattr(Store, "write", refuse)
    with pytest.warns(RuntimeWarning, match="the gate's answer is not on record: the disk is full"):
        assert finish_suite("rightcall.toml").gate.answer == "PASS"


def test_an_answer_holds_no_secret_and_its_numbers_stay(rightcall, write, tanks):
    secret = "4242 4242 4242 4242"
    tanks(f'"golden.pass_rate" = {{ min = 0.2 }}\nregressions = {{ against = "{secret}.json" }}')
    rightcall("golden", "-q", "-o", f"{secret}.json", "--store", "other.db")
    rightcall("golden", "worse.jsonl", "-q")
    rightcall("gate", "-q")
    (one,) = answers()
    assert "4242" not in repr(one)
    (rate,) = (each["value"]["estimate"] for each in one.decisions if each["name"] == "golden.pass_rate")
    assert rate == 5 / 6


# ---- where it is seen ------------------------------------------------------------------------------------------------


def test_runs_have_a_column_for_the_gate_and_are_chosen_by_branch(rightcall, tanks, on):
    on("main")
    green = begun(rightcall("run", "-q"))
    on("fix")
    tanks('"golden.pass_rate" = { min = 0.99 }')
    red = begun(rightcall("run", "worse.jsonl", "-q"))
    rightcall("golden", "-q")
    lines = rightcall("runs").out.splitlines()
    assert max(map(len, lines)) <= 80
    shown = [" ".join(line.split()) for line in lines[1::2]]
    assert [line.split(" finished ")[1] for line in shown] == ["– code alone", "✗ FAIL code alone", "✓ PASS code alone"]
    assert "fix@8c1e4f2 · golden pass rate 0.833" in " ".join(lines[4].split())
    only = rightcall("runs", "--branch", "main", "--json").json["runs"]
    assert [(one["id"], one["gate"]["answer"], one["gate"]["asked_by"]) for one in only] == [(green, "PASS", "run")]
    assert [one["id"] for one in rightcall("runs", "--branch", "fix", "--json", "--limit", "1").json["runs"]] != [red]
    said = rightcall("runs", "--branch", "mian")
    assert (said.code, "did you mean `main`?" in said.err) == (2, True)


def test_a_run_is_shown_with_its_branch_and_what_its_gates_last_said(rightcall, tanks, on):
    on("main")
    run_id = begun(rightcall("golden", "worse.jsonl", "-q"))
    assert "no gate was asked about this run" in rightcall("show", run_id).out
    tanks('"golden.pass_rate" = { min = 0.99 }')
    rightcall("gate", "-q")
    said = rightcall("show", run_id).out
    assert f"made on branch main at {COMMIT}" in said
    assert "gate ✗ FAIL · asked by `gate` on " in said
    assert "golden.pass_rate: FAIL, 0.833 is below 0.99" in said
    assert rightcall("show", run_id, "--json").json["gate"]["answer"] == "FAIL"


def test_the_log_lists_every_answer_with_what_was_compared_with(rightcall, tanks, on):
    on("main")
    first = begun(rightcall("run", "-q"))
    on("fix")
    second = begun(rightcall("run", "worse.jsonl", "-q", "--baseline", "branch:main"))
    lines = [" ".join(line.split()) for line in rightcall("log", "gates").out.splitlines()]
    assert lines[0] == "entry when run asked by gate rules"
    assert f"against branch:main, {first} (main@8c1e4f2)" in lines
    found = rightcall("log", "gates", "--run", second, "--json").json["gates"]
    (baseline,) = found[0]["gate"]["baselines"]
    assert (baseline["asked"], baseline["run"], baseline["branch"]) == ("branch:main", first, "main")
    assert rightcall("log", "gates", "--run", "20200101-1").code == 2
    assert len(rightcall("log", "gates", "--limit", "1", "--json").json["gates"]) == 1
    assert "1 gate" in rightcall("log", "verify").out.replace("2 gate", "1 gate")


# ---- baselines by branch ---------------------------------------------------------------------------------------------


def test_a_rule_against_a_branch_is_held_to_its_newest_green_run(rightcall, tanks, on):
    rule = '"golden.pass_rate" = { min = 0.2 }\nregressions = { against = "branch:main", margin = 0.5 }'
    tanks('"golden.pass_rate" = { min = 0.2 }')
    on("main")
    green = begun(rightcall("run", "-q"))
    tanks('"golden.pass_rate" = { min = 0.99 }')
    rightcall("run", "worse.jsonl", "-q")  # red
    tanks(rule)
    on("fix")
    found = rightcall("run", "worse.jsonl", "--json").json["summary"]["gate"]
    assert (found["baseline"], [one["asked"] for one in found["baselines"]]) == (green, ["branch:main"])
    assert found["baselines"][0]["commit"] == COMMIT
    assert found["diff"]["graders"][0]["lost"] == 1


@pytest.mark.parametrize("where", ["rule", "flag", "previous"])
def test_where_there_is_no_green_run_yet_it_is_inconclusive_and_the_reports_are_written(rightcall, tanks, on, where):
    name = "previous" if where == "previous" else "branch:main"
    if where == "rule":
        tanks(f'"golden.pass_rate" = {{ min = 0.2 }}\nregressions = {{ against = "{name}" }}')
    given = () if where == "rule" else ("--baseline", name)
    on("fix")
    said = rightcall("run", "-q", "-o", "run.json", *given)
    assert said.code == 3
    why = "no earlier finished run" if where == "previous" else "no run of branch `main` is on record"
    assert why in said.err
    assert rightcall("gate", "run.json", "-q").code in (0, 3)
    (one,) = answers()
    (baseline,) = one.baselines
    assert (baseline["asked"], baseline["name"], why in baseline["why"]) == (name, None, True)


def test_a_run_whose_gates_failed_later_is_no_baseline_any_more(rightcall, tanks, on):
    on("main")
    rightcall("run", "worse.jsonl", "-q")
    tanks('"golden.pass_rate" = { min = 0.99 }')
    assert rightcall("gate", "-q").code == 1
    on("fix")
    rightcall("run", "-q")
    said = rightcall("gate", "-q", "--baseline", "branch:main")
    assert said.code == 3
    assert "is FAIL" in said.err


def test_two_runs_are_compared_by_branch_on_either_side(rightcall, tanks, on):
    on("main")
    green = begun(rightcall("run", "-q"))
    on("fix")
    now = begun(rightcall("run", "worse.jsonl", "-q"))
    for sides in (("branch:main", now), ("branch:main", "branch:fix"), (green, "branch:fix")):
        found = rightcall("diff", *sides, "--json").json
        assert (found["old"], found["new"]) == (green, now)
    for sides in (("branch:mian", now), (now, "branch:")):
        assert rightcall("diff", *sides).code == 2


@pytest.mark.parametrize(("name", "said"), [("branch:", "write branch:main"), ("brnch:x", "did you mean `branch:x`?")])
def test_a_baseline_that_cannot_be_is_refused_before_anything_is_run(rightcall, tanks, name, said):
    found = rightcall("run", "--baseline", name, "--store", "s.db")
    assert found.code in (2, 5)
    rightcall("golden", "-q")
    found = rightcall("run", "--baseline", name)
    assert (found.code, said in found.err) == (2, True)
    assert len(rightcall("runs", "--json").json["runs"]) == 1


def test_a_rule_that_names_no_branch_is_an_error_with_its_line(rightcall, tanks):
    tanks('regressions = { against = "branch:" }')
    found = rightcall("gate")
    assert found.code == 2
    assert "rightcall.toml:6" in found.err
    assert "`branch:` names no branch" in found.err


def test_a_run_goes_on_on_another_branch_and_stays_on_the_first(rightcall, tanks, on):
    on("main")
    run_id = begun(rightcall("run", "-q"))
    on("fix", "f" * 40)
    assert rightcall("run", "--resume", run_id, "-q").code == 0
    (one,) = rightcall("runs", "--json").json["runs"]
    assert one["facts"]["source"] == {"branch": "main", "commit": COMMIT}


def test_a_run_of_one_grader_goes_on_on_another_branch_too(rightcall, tanks, on):
    on("main")
    rightcall("golden", "-q")
    run_id = begun(rightcall("selection", "--judge", "none", "-q"))
    on("fix")
    found = rightcall("selection", "--judge", "none", "--resume", run_id, "--json")
    assert found.json["run"]["source"] == {"branch": "main", "commit": COMMIT}


def test_results_say_their_branch_whatever_wrote_them(rightcall, tanks, on):
    on("main")
    for command in (("golden",), ("selection", "--judge", "none"), ("run",)):
        found = rightcall(*command, "--json").json["run"]
        assert found["source"] == {"branch": "main", "commit": COMMIT}, command


def test_the_doctor_says_whether_a_branch_has_a_green_run(rightcall, tanks, on):
    tanks('regressions = { against = "branch:main" }')
    on("fix")
    rightcall("golden", "-q")
    assert "branch:main: no run of branch `main` is on record; there are runs of fix" in " ".join(
        rightcall("doctor").out.split()
    )
    on("main")
    tanks()
    green = begun(rightcall("run", "-q"))
    tanks('regressions = { against = "branch:main" }')
    assert f"branch:main: run {green}" in rightcall("doctor").out


def test_an_answer_is_shown_in_full_by_its_entry_or_its_digest(rightcall, tanks):
    rightcall("run", "-q")
    tanks('"golden.pass_rate" = { max = 0.5, on = "point" }')
    assert rightcall("gate", "-q").code == 1
    number, other = (one["seq"] for one in rightcall("log", "gates", "--json").json["gates"])
    entry = rightcall("log", "show", str(other), "--json").json
    assert (entry["seq"], entry["gate"]["answer"]) == (other, "FAIL")
    for asked in (str(other), entry["digest"][:12]):
        shown = rightcall("log", "show", asked)
        assert shown.code == 0
        assert "gate ✗ FAIL · asked by `gate` on" in shown.out
        assert "golden.pass_rate" in shown.out
    assert "gate ✓ PASS · asked by `run` on" in rightcall("log", "show", str(number)).out
    assert rightcall("log", "show", "1").code == 2  # an entry of another kind
