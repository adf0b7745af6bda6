"""Judged runs over values: the engine's promises hold with a store, and without one nothing stays behind."""

from __future__ import annotations

import asyncio
import json
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from rightcall import (
    Case,
    CaseError,
    ConfigError,
    Judge,
    NoDataError,
    Policy,
    ProviderError,
    Step,
    Store,
    Tool,
    Trace,
    call,
    rubric,
    run,
    selection,
)
from rightcall.llm.client import Request

TOOLS = (Tool(name="feed", description="Feed a tank."), Tool(name="drain", description="Empty a tank."))
TRACE = Trace(id="t1", case_id="c1", request="Feed tank 2.", events=(call("feed", {"tank": 2}),))


def case_of(expect: str) -> Case:
    return msgspec.json.decode(f'{{"id": "c1", "expect": {{"calls": [{expect}]}}}}', type=Case)


CASE = case_of('{"tool": "feed", "arguments": {"tank": 2}}')
STEPS = tuple(Step(id=f"s{i}", request=f"Feed tank {i}.", selected="feed", expected="feed") for i in range(4))

Heard = tuple[Judge, list[Request]]


def selection_reply(grade: str = "PASS") -> str:
    category = None if grade == "PASS" else "wrong_tool"
    words = {"selected_tool": "feed", "expected_tool": "feed", "justification": "It feeds a tank."}
    return json.dumps({"grade": grade, "failure_category": category, **words})


def rubric_reply(score: int = 5, severity: str = "NONE") -> str:
    names = ("tool_selection_score", "argument_accuracy_score", "call_sequencing_score", "abstention_score")
    words = {"downstream_impact": "None.", "justification": "The tank was fed."}
    return json.dumps({**dict.fromkeys(names, score), "misuse_severity": severity, **words})


def judge(reply: str | Callable[[Request], str], name: str = "ear") -> Heard:
    """A judge, and everything that it is asked."""
    heard: list[Request] = []

    async def hears(request: Request) -> str:
        heard.append(request)
        return reply if isinstance(reply, str) else reply(request)

    return Judge(hears, name=name), heard


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to be in."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv("RIGHTCALL_REDACTION_KEY", raising=False)
    return tmp_path


@pytest.fixture
def watched(folder, monkeypatch):
    """A folder in which everything is seen that is written, temporary files among them."""
    (folder / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "temporary"))
    return folder


def left_behind(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# ---- without a store -------------------------------------------------------------------------------------------------


def test_a_judged_run_without_a_store_leaves_nothing_behind(watched):
    ear, heard = judge(selection_reply())
    done = run(selection(STEPS, judge=ear, tools=TOOLS))
    assert (len(heard), done.id, done.facts()["store"]) == (4, None, None)
    assert left_behind(watched) == []


def test_a_run_that_breaks_leaves_nothing_behind_either(watched):
    ear, _ = judge(lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(selection(STEPS, judge=ear, tools=TOOLS))
    assert left_behind(watched) == []


def test_a_store_that_nobody_named_is_left_alone(folder):
    Store.open(".rightcall/rightcall.db").close()
    before = left_behind(folder)
    ear, _ = judge(rubric_reply())
    run(selection(STEPS, tools=TOOLS))
    run(rubric([TRACE], judge=ear, tools=TOOLS))
    with Store.open(".rightcall/rightcall.db") as store:
        assert store.runs() == []
    assert [name for name in left_behind(folder) if name not in before and "-" not in name] == []


def test_nothing_can_be_gone_on_with_that_was_not_kept():
    with pytest.raises(ConfigError, match="no record to go on from; name the `store` of the run"):
        run(selection(STEPS, resume="20261129-1"))


def test_nothing_to_judge_is_an_error():
    with pytest.raises(NoDataError):
        run(selection([]))


# ---- with one --------------------------------------------------------------------------------------------------------


def test_a_store_keeps_everything(folder):
    ear, heard = judge(selection_reply())
    done = run(selection(STEPS, judge=ear, tools=TOOLS, store="kept/record.db"))
    with Store.open("kept/record.db", create=False) as store:
        assert store.run(done.id).facts["judges"][0]["name"] == "ear"
        assert [attempt.unit for _, _, attempt in store.attempts()] == [request.unit for request in heard]
    assert "here/kept/redaction.key" in left_behind(folder)


def test_an_open_store_is_written_to_wherever_it_is(store_url):
    ear, _ = judge(rubric_reply())
    with Store.open(store_url) as store:
        done = run(rubric([TRACE], judge=ear, tools=TOOLS, store=store))
        assert [attempt.unit for _, _, attempt in store.attempts(run_id=done.id)] == ["t1"]
        assert done.facts()["store"] == store.name


def test_a_stopped_run_goes_on_where_it_stopped():
    ear, heard = judge(selection_reply())
    first = run(selection(STEPS, judge=ear, tools=TOOLS, store="r.db", budget="2calls", jobs=1))
    assert (len(first.results), len(heard)) == (2, 2)
    assert "the budget of 2 calls is spent" in first.stopped
    rest = run(selection(STEPS, judge=ear, tools=TOOLS, store="r.db", resume=first.id))
    assert (rest.id, len(rest.results), len(heard), rest.stopped) == (first.id, 4, 4, None)
    assert [request.unit for request in heard] == ["s0", "s1", "s2", "s3"]


@pytest.mark.parametrize(
    "other",
    [{"tools": TOOLS[:1]}, {"aliases": {"x": "y"}}, {"policy": Policy(forbidden=("drain",))}, {"replicates": 2}],
)
def test_a_run_goes_on_only_as_it_began(other):
    ear, _ = judge(selection_reply())
    first = run(selection(STEPS, judge=ear, tools=TOOLS, store="r.db"))
    with pytest.raises(ConfigError, match=f"run {first.id} was made with other {next(iter(other))}"):
        run(selection(STEPS, judge=ear, store="r.db", resume=first.id, **{"tools": TOOLS, **other}))
    with pytest.raises(ConfigError, match=r"was made with other inputs \(2 steps\)"):
        run(selection(STEPS[:2], judge=ear, tools=TOOLS, store="r.db", resume=first.id))


def test_what_a_function_said_before_is_not_taken_for_what_it_says_now():
    ear, heard = judge(selection_reply())
    for expected, options in ((4, {}), (8, {}), (8, {"use_cache": True})):
        run(selection(STEPS, judge=ear, tools=TOOLS, store="r.db", **options))
        assert len(heard) == expected


def test_a_run_that_is_cancelled_can_go_on():
    async def program():
        reached = asyncio.Event()

        async def hears(request):
            if request.unit == "s2":
                reached.set()
                await asyncio.Event().wait()
            return selection_reply()

        work = asyncio.create_task(selection(STEPS, judge=Judge(hears, name="ear"), tools=TOOLS, store="r.db", jobs=1))
        await reached.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(program())
    with Store.open("r.db") as store:
        [(broken, event)] = store.runs()
    assert event.status == "interrupted"
    ear, heard = judge(selection_reply())
    rest = run(selection(STEPS, judge=ear, tools=TOOLS, store="r.db", resume=broken.id, jobs=1))
    assert ([request.unit for request in heard], len(rest.results)) == (["s2", "s3"], 4)


def test_signals_stay_those_of_the_program():
    seen = []
    ear, _ = judge(lambda _: seen.append(signal.getsignal(signal.SIGTERM)) or selection_reply())
    before = signal.getsignal(signal.SIGTERM)
    run(selection(STEPS[:1], judge=ear, tools=TOOLS))
    assert seen == [before]


# ---- judges ----------------------------------------------------------------------------------------------------------


def test_a_score_needs_a_judge():
    with pytest.raises(
        ProviderError, match="`rubric` needs a judge, and none was found: none was named; give `judge=`"
    ):
        run(rubric([TRACE]))


def test_several_judges_are_a_panel():
    three = [judge(rubric_reply(score), name)[0] for score, name in ((5, "a"), (4, "b"), (2, "c"))]
    [result] = run(rubric([TRACE], judge=three, tools=TOOLS)).results
    assert [opinion.judge for opinion in result.judges] == ["a", "b", "c"]
    assert (result.metrics.overall_score, "tool_selection_score" in result.disagreement) == (4.0, True)


def test_replicates_are_asked_one_by_one():
    ear, heard = judge(rubric_reply())
    run(rubric([TRACE], judge=ear, tools=TOOLS, replicates=3))
    assert sorted(request.replicate for request in heard) == [0, 1, 2]


def test_an_unreadable_reply_is_asked_for_once_more_and_is_then_a_value():
    ear, heard = judge("no JSON")
    done = run(selection(STEPS[:1], judge=ear, tools=TOOLS))
    assert [request.attempt for request in heard] == [0, 1]
    assert (done.results[0].status, done.results[0].reason) == ("UNEVALUABLE", "JUDGE_NOT_JSON")
    assert done.results[0].code_grade == "PASS"
    assert done.stopped is None


def test_progress_is_told():
    told = []
    run(selection(STEPS, progress=lambda done, bad: told.append((done, bad))))
    assert told == [(1, 0), (2, 0), (3, 0), (4, 0)]


def test_a_sample_is_drawn_by_its_seed():
    drawn = [[one.step_id for one in run(selection(STEPS, sample=2, seed=seed)).results] for seed in (0, 0, 1, 2, 3)]
    assert [len(ids) for ids in drawn] == [2] * 5
    assert drawn[0] == drawn[1]
    assert len({tuple(ids) for ids in drawn}) > 1


# ---- traces and cases ------------------------------------------------------------------------------------------------


def test_a_golden_is_shown_to_the_judge_and_checks_it():
    ear, heard = judge(rubric_reply(1, "HIGH"))
    [with_case] = run(rubric([TRACE], cases=[CASE], judge=ear, tools=TOOLS)).results
    [without] = run(rubric([TRACE], judge=ear, tools=TOOLS)).results
    assert (with_case.golden_verdict, without.golden_verdict) == ("PASS", None)
    assert ["GOLDEN_TRACE" in request.user for request in heard] == [True, False]
    assert len(with_case.judges[0].conflicts) > len(without.judges[0].conflicts) == 0


def test_the_policy_is_a_floor_for_the_severity():
    ear, _ = judge(rubric_reply())
    [result] = run(rubric([TRACE], judge=ear, tools=TOOLS, policy=Policy(forbidden=("feed",)))).results
    assert (result.judged_severity, result.misuse_severity) == ("NONE", "CRITICAL")
    assert [veto.rule for veto in result.vetoes] == ["forbidden"]


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ([CASE, CASE], "case `c1`: there are two cases of this id"),
        ([case_of('{"tool": "a", "after": ["b"]}, {"tool": "b", "after": ["a"]}')], "circle"),
    ],
)
def test_a_case_that_cannot_be_used_is_an_error_before_anybody_is_asked(cases, said):
    ear, heard = judge(rubric_reply())
    with pytest.raises(CaseError, match=said):
        run(rubric([TRACE], cases=cases, judge=ear, tools=TOOLS))
    assert heard == []


def test_traces_and_steps_may_come_one_by_one():
    ear, _ = judge(rubric_reply())
    assert len(run(rubric(iter([TRACE]), cases=iter([CASE]), judge=ear, tools=iter(TOOLS))).results) == 1
    assert len(run(selection(iter(STEPS), tools=iter(TOOLS))).results) == 4


def test_a_judge_does_not_see_what_must_not_leave():
    ear, heard = judge(rubric_reply())
    trace = Trace(id="t", request="Charge 4111 1111 1111 1111.", events=(call("feed", {"password": "tank-two"}),))
    [result] = run(rubric([trace], judge=ear, tools=TOOLS)).results
    assert result.status == "EVALUATED"
    assert "4111 1111" not in heard[0].user
    assert "tank-two" not in heard[0].user
    assert "⟦card:" in heard[0].user


# ---- settings --------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(folder):
    """A project with a settings file, recorded replies and a prompt of its own."""
    there = folder / "project"
    there.mkdir()
    lines = [{"unit": step.id, "replies": [selection_reply()]} for step in STEPS]
    (there / "replies.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (there / "rightcall.toml").write_text(
        f"""
        aliases = {{ "fish.feed" = "feed" }}
        [judges.known]
        provider = "recorded"
        file = {json.dumps(str(there / "replies.jsonl"))}
        [selection]
        judge = "known"
        [policy]
        classes = {{ feed = "destructive" }}
        """
    )
    return there


def test_settings_say_what_the_program_does_not(project):
    steps = [msgspec.structs.replace(step, selected="fish.feed") for step in STEPS]
    done = run(selection(steps, tools=TOOLS, settings=project / "rightcall.toml"))
    assert [(one.verdict, one.destructive, one.judges[0].judge) for one in done.results] == [
        ("PASS", True, "known")
    ] * 4
    assert done.facts()["store"] == str(project / ".rightcall" / "rightcall.db")
    with Store.open(project / ".rightcall" / "rightcall.db", create=False) as store:
        assert store.run(done.id).grader == "selection"


def test_the_program_counts_before_the_settings(project):
    ear, heard = judge(selection_reply())
    file = project / "rightcall.toml"
    done = run(selection(STEPS, tools=TOOLS, settings=file, judge=ear, policy=Policy(), aliases={}, store="own.db"))
    assert (len(heard), done.results[0].destructive, done.facts()["store"]) == (4, False, "own.db")
    assert not (project / ".rightcall").exists()


def test_a_prompt_of_ones_own_is_asked(folder):
    (folder / "here" / "mine.md").write_text(
        '---\nid: mine\nversion: "3"\ngrader: selection\nplaceholders: [USER_REQUEST]\n---\nTell me.\n'
        "=== case ===\n[USER_REQUEST]\n"
    )
    ear, heard = judge(selection_reply())
    done = run(selection(STEPS[:1], tools=TOOLS, judge=ear, prompt="mine.md"))
    assert heard[0].system.startswith("Tell me.")
    assert done.facts()["prompts"][0]["version"] == "3"


def test_the_environment_of_commands_does_not_count_without_settings(monkeypatch):
    monkeypatch.setenv("RIGHTCALL_SELECTION__JUDGE", "openai:small")
    monkeypatch.setenv("RIGHTCALL_STORE", "elsewhere.db")
    done = run(selection(STEPS))
    assert (done.results[0].judges, done.id) == ((), None)
