"""From settings to a plan: files found, options exact, every fault named before anything is graded."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from rightcall.errors import CaseError, ConfigError, NoDataError, RightcallError
from rightcall.run.inputs.prepare import folder_of, names_of, prepare, redactor_of
from rightcall.settings.load import load_settings

CASE = {"id": "c", "expect": {"calls": []}}
TRACE = {"id": "t", "case_id": "c", "calls": []}


@pytest.fixture
def suite(write):
    """One passing trace and its case in the folder `own`, with a settings file beside them."""

    def put(settings: str = "") -> Path:
        write("own/cases.jsonl", CASE)
        write("own/traces.jsonl", TRACE)
        return write("own/rightcall.toml", 'traces = "traces.jsonl"\ncases = "cases.jsonl"\n' + settings)

    return put


def test_options_are_those_of_the_settings(suite):
    file = suite('[golden]\nprofile = "strict"\nmin_overall = 0.1\nretries = "surplus"\nsurplus_reads = "free"')
    options = prepare(load_settings(file, {}, {})).options
    assert options.profile == "strict"
    assert options.min_overall == Fraction(1, 10)
    assert options.retries_are_free is False
    assert options.surplus_reads_are_free is True


def test_what_is_not_set_has_its_default(suite):
    plan = prepare(load_settings(suite(), {}, {}))
    assert (plan.options.profile, plan.options.min_overall) == ("balanced", 1)
    assert (plan.jobs, plan.kept_failures, plan.dialect) == (1, 20, "auto")
    assert (plan.only, plan.limit, plan.strict, plan.tools) == (None, None, False, None)


def test_arguments_of_the_run_stand_beside_the_settings(suite):
    plan = prepare(load_settings(suite(), {}, {"limits.jobs": 3}), only="t", limit=4, strict=True)
    assert (plan.only, plan.limit, plan.strict, plan.jobs) == ("t", 4, True, 3)


def test_paths_of_the_file_belong_to_its_folder_and_those_of_flags_to_the_current_one(suite, write):
    file = suite('tools = "tools.json"')
    write("own/tools.json", '[{"name": "of the file"}]')
    write("tools.json", '[{"name": "of the flag"}]')
    assert prepare(load_settings(file, {}, {})).tools[0].name == "of the file"
    assert prepare(load_settings(file, {}, {"tools": "tools.json"})).tools[0].name == "of the flag"
    assert prepare(load_settings(file, {"RIGHTCALL_TOOLS": "tools.json"}, {})).tools[0].name == "of the flag"
    with pytest.raises(NoDataError, match="no case file"):
        prepare(load_settings(file, {}, {"cases": []}))
    loaded = load_settings(file, {}, {"tools": "tools.json"})
    assert (folder_of(loaded, "cases"), folder_of(loaded, "tools")) == (file.parent, Path())


def test_a_setting_may_hold_one_name_or_several():
    assert names_of("a") == ["a"]
    assert names_of(("a", "b")) == ["a", "b"]


def test_a_policy_file_takes_the_place_of_the_policy_of_the_settings(suite, write):
    file = suite('[policy]\nforbidden = ["a"]')
    assert prepare(load_settings(file, {}, {})).policy.forbidden == ("a",)
    policy = write("policy.toml", 'forbidden = ["b"]')
    assert prepare(load_settings(file, {}, {}), policy=policy).policy.forbidden == ("b",)


def test_a_pattern_of_the_policy_that_cannot_be_used_names_its_file(suite, write):
    bad = '[[policy.confirm]]\ntool = "a"\nyes = ["(?=x)"]\n'
    with pytest.raises(ConfigError, match=r"rightcall\.toml:\d+:8 at policy\.confirm\[0\]\.yes\[0\]: "):
        prepare(load_settings(suite(bad), {}, {}))
    with pytest.raises(ConfigError, match=r"p\.toml at \$\.policy\.confirm\[0\]\.yes"):
        prepare(load_settings(suite(), {}, {}), policy=write("p.toml", bad))


@pytest.mark.parametrize(
    ("settings", "run", "said"),
    [
        ("[limits]\njobs = 0", {}, "at limits.jobs: must be at least 1, got 0"),
        ("", {"limit": 0}, "jobs and limit must be at least 1"),
        ("[limits]\nfailures = -1", {}, "at limits.failures: must be at least 0, got -1"),
        ("[limits]\ncoverage = 98", {}, "at limits.coverage: must be from 0 to 1, got 98"),
        ("[limits]\ncoverage = -0.1", {}, "at limits.coverage: must be from 0 to 1, got -0.1"),
        ("[golden]\nmin_overall = 1.1", {}, "at golden.min_overall: must be from 0 to 1, got 1.1"),
        ('[golden]\nprofile = "stict"', {}, "did you mean `strict`?"),
        ('[redact]\npatterns = ["("]', {}, "not valid RE2"),
        ('[redact]\nkeys = [""]', {}, "Redaction needs"),
    ],
)
def test_a_setting_out_of_range(suite, settings, run, said):
    with pytest.raises(ConfigError) as error:
        prepare(load_settings(suite(settings), {}, {}), **run)
    assert said in str(error.value)


def test_an_error_about_a_case_hides_the_secrets_of_the_suite(suite, write):
    file = suite('[redact]\npatterns = ["PRC-[0-9]+"]')
    write(
        "own/cases.jsonl", {"id": "PRC-123 amy@example.com", "expect": {"calls": [{"tool": "a", "after": ["PRC-77"]}]}}
    )
    with pytest.raises(CaseError) as error:
        prepare(load_settings(file, {}, {}))
    for secret in ("PRC-123", "PRC-77", "amy@example.com"):
        assert secret not in str(error.value)
    assert "⟦pattern:" in str(error.value)


def test_the_key_of_the_tags_is_that_of_the_project(suite, tmp_path, monkeypatch):
    file = suite()
    monkeypatch.delenv("RIGHTCALL_REDACTION_KEY")
    (tmp_path / "own" / ".rightcall").mkdir()
    (tmp_path / "own" / ".rightcall" / "redaction.key").write_bytes(b"of the project\n")
    assert redactor_of(load_settings(file, {}, {})).key == b"of the project"
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "of the environment")
    assert redactor_of(load_settings(file, {}, {})).key == b"of the environment"


def test_an_error_of_any_kind_is_one_line(suite, write):
    write("own/tools.json", "[")
    for settings in ('tools = "tools.json"', 'tools = "none\\n.json"', '[golden]\nprofile = "a\\nb"'):
        with pytest.raises(RightcallError) as error:
            prepare(load_settings(suite(settings), {}, {}))
        assert len(str(error.value).splitlines()) == 1
