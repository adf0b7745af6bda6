"""Which graders a suite runs, and that everything is settled before anything is asked or written."""

from __future__ import annotations

from pathlib import Path

import pytest
from suite_making import ALL, Desk

from rightcall.errors import ConfigError, NoDataError, ProviderError, RightcallError
from rightcall.run.graders.setup import Flags
from rightcall.run.suite.run import run_suite
from rightcall.run.suite.setup import graders_of
from rightcall.settings.load import load_settings


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


def chosen(folder: Path, text: str, *named: str, environ: dict[str, str] | None = None) -> list[str]:
    (folder / "own.toml").write_text(text)
    return graders_of(load_settings(folder / "own.toml", environ or {}, {}), named)


# ---- which graders ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('cases = "c.toml"', ["golden", "selection"]),
        ('cases = "c.toml"\n[rubric]\njudge = "openai:m"', ["golden", "selection", "rubric"]),
        ('cases = "c.toml"\n[interpretation]', ["golden", "selection", "interpretation"]),
        ("[rubric]\n[interpretation]", ["rubric", "interpretation"]),
        ("[selection]", ["selection"]),
        ('[preference.agents]\na = "a.jsonl"\nb = "b.jsonl"', ["preference"]),
        ('cases = "c.toml"\n[preference]\nby = "golden"', ["golden", "selection"]),
        ('cases = "c.toml"\n[golden]\nprofile = "strict"', ["golden", "selection"]),
        ('cases = "c.toml"\ngraders = ["rubric", "golden"]', ["golden", "rubric"]),
    ],
)
def test_by_default_code_decides_where_there_are_cases_and_every_written_table_is_run(tmp_path, text, expected):
    assert chosen(tmp_path, text) == expected


def test_the_environment_can_write_a_table_too(tmp_path):
    assert chosen(tmp_path, "", environ={"RIGHTCALL_RUBRIC__JUDGE": "openai:m"}) == ["rubric"]


def test_what_the_command_line_names_counts_and_runs_in_dependency_order(tmp_path):
    text = 'graders = ["golden"]\ncases = "c.toml"'
    assert chosen(tmp_path, text, "preference", "selection", "preference") == ["selection", "preference"]


def test_an_unknown_grader_is_named_with_the_nearest(tmp_path):
    with pytest.raises(ConfigError, match="there is no grader `rubrik`; did you mean `rubric`"):
        chosen(tmp_path, "", "rubrik")


def test_a_suite_without_any_grader_says_what_would_make_one(tmp_path):
    with pytest.raises(ConfigError, match="no grader to run: the settings name no cases"):
        chosen(tmp_path, 'traces = "t.jsonl"')


def test_an_unknown_grader_in_the_settings_is_a_fault_of_the_file(tmp_path):
    with pytest.raises(ConfigError, match=r"own\.toml:1"):
        chosen(tmp_path, 'graders = ["goldn"]')


# ---- what they need --------------------------------------------------------------------------------------------------


def test_the_card_desk_has_all_five_and_their_files_belong_to_the_settings_folder(desk):
    suite = desk.suite()
    assert [part.grader for part in suite.parts] == ALL
    read = {path.name for path in suite.inputs}
    assert read == {"traces.jsonl", "next.jsonl", "cases.toml"}
    assert all(path.is_file() for path in suite.inputs)


def test_one_budget_holds_for_all_graders_together(desk):
    setups = desk.suite(budget="12calls").judged
    assert {id(setup.asking.budget) for setup in setups} == {id(setups[0].asking.budget)}
    assert setups[0].asking.budget.limit == 12


def test_the_cases_stand_in_the_facts_of_every_grader(desk):
    suite = desk.suite()
    suite.ready()
    facts = suite.facts()
    assert facts["order"] == ALL
    shas = {name: [one["sha256"] for one in facts["graders"][name]["cases"]] for name in ALL}
    assert len({tuple(known) for known in shas.values()}) == 1
    assert all(len(known) == 1 for known in shas.values())


def refused(desk: Desk, error: type[RightcallError], words: str, *graders: str, **more) -> RightcallError:
    """Run what must be refused; nothing of it may be on record."""
    with pytest.raises(error, match=words) as caught:
        run_suite(desk.suite(*graders, **more))
    if Path(desk.store).exists():
        with desk.opened() as store:
            assert store.counts().get("run", 0) == 0
    return caught.value


def test_a_grader_that_needs_a_judge_and_has_none_is_exit_5_and_named(desk):
    error = refused(desk, ProviderError, "`rubric` needs a judge, and none was found: --judge none", judge="none")
    assert (error.exit_code, error.code) == (5, "JUDGE_AUTH")


def test_a_missing_credential_is_exit_5_before_anything_is_on_record(desk):
    settings = {"judges__far__model": "m", "judges__far__api_key_env": "NO_SUCH_KEY"}
    error = refused(desk, ProviderError, "NO_SUCH_KEY", judge="far", settings=settings)
    assert error.exit_code == 5


def test_an_empty_input_is_exit_5_before_anything_is_on_record(desk, tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    error = refused(
        desk, NoDataError, "the file is empty", "golden", "rubric", settings={"traces": str(tmp_path / "empty.jsonl")}
    )
    assert error.exit_code == 5


def test_one_grader_with_nothing_to_judge_is_named_and_no_other_one_begins(desk, tmp_path):
    silent = '{"id": "t", "case_id": "thanks", "calls": []}\n'
    (tmp_path / "silent.jsonl").write_text(silent)
    settings = {"traces": str(tmp_path / "silent.jsonl")}
    error = refused(desk, NoDataError, "interpretation: nothing to judge", "golden", "interpretation",
                    settings=settings)  # fmt: skip
    assert error.exit_code == 5


@pytest.mark.parametrize("graders", [("golden",), ("selection",), ("rubric",), ("interpretation",)])
def test_a_filter_that_selects_nothing_is_exit_2(desk, graders):
    error = refused(desk, ConfigError, "has the id `nobody`", *graders, only="nobody")
    assert error.exit_code == 2


def test_a_pattern_that_matches_nothing_is_exit_2(desk):
    error = refused(desk, ConfigError, "no file matches", settings={"traces": "none-*.jsonl"})
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"prompt": "rubric"}, "a prompt is one grader's"),
        ({"only": "lost"}, "`preference` compares cases, not single traces"),
        ({"settings": {"preference__agents": {"v7": "traces.jsonl"}}}, "two are needed"),
        ({"resume": "20261130-9"}, "there is no store|there is no run"),
    ],
)
def test_flags_that_cannot_be_meant_for_all_graders_are_refused(desk, more, words):
    refused(desk, RightcallError, words, **more)


def test_two_agents_are_enough_and_the_settings_name_them_for_the_command_preference_too(desk):
    from rightcall.run.preference.setup import PairFlags, set_up_preference

    setup = set_up_preference(desk.loaded(), Flags(judge="desk"), PairFlags())
    assert [side.name for side in setup.work.pairing.sides] == ["v7", "v8"]


def test_an_own_prompt_gives_the_grader_its_name(desk, tmp_path):
    prompt = tmp_path / "tone.md"
    prompt.write_text(
        "---\nid: tone\nversion: 1\ngrader: courtesy\nplaceholders: [AGENT_TOOL_CALLS]\n"
        'reply_schema: {"type": "object", "properties": {"warm": {"type": "boolean"}}, "required": ["warm"]}\n'
        "---\nYou judge the tone.\n=== case ===\n[AGENT_TOOL_CALLS]\n"
    )
    settings = {"rubric__prompt": str(prompt), "rubric__prompt_golden": str(prompt)}
    suite = desk.suite("golden", "rubric", settings=settings)
    assert [part.grader for part in suite.parts] == ["golden", "courtesy"]
    done = run_suite(suite)
    done.close()
    assert desk.verdicts(done.run.id) == {"golden": 10, "courtesy": 10}
    again = desk.suite(settings=settings, resume=done.run.id)
    assert [part.grader for part in again.parts] == ["golden", "courtesy"]
