"""From names to judges at their doors: who is asked, at which pace, and what is said about them."""

import pytest
from judging_making import Suite

from rightcall.errors import ConfigError, MissingExtraError, Rejected
from rightcall.llm.spec import JudgeSpec
from rightcall.run.judging.judges import Panel, at_the_door, cleaner_of, family_of, names_of, panel_of, relatives
from rightcall.settings.load import load_settings
from rightcall.trace.redact import Redactor

LOCAL = 'model = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'


@pytest.fixture(autouse=True)
def _nobody_in_the_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "OLLAMA_HOST", "RIGHTCALL_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)


def loaded(tmp_path, judges=""):
    Suite(tmp_path, judges)
    return load_settings(tmp_path / "rightcall.toml", {}, {})


def spec(**more):
    return JudgeSpec(**{"model": "m", "base_url": "http://127.0.0.1:9/v1", **more})


def test_judges_are_found_by_their_names(tmp_path):
    settings = loaded(tmp_path, f"[judges.strong]\n{LOCAL}[judges.fast]\n{LOCAL}")
    assert list(panel_of(settings, "strong,fast").specs) == ["strong", "fast"]
    assert panel_of(settings, "none") == Panel()


def test_files_of_a_configured_judge_belong_to_the_folder_of_the_settings(tmp_path):
    settings = loaded(tmp_path, '[judges.r]\nprovider = "recorded"\nfile = "said.jsonl"\nca_bundle = "/etc/ca.pem"\n')
    spec = panel_of(settings, "r").specs["r"]
    assert (spec.file, spec.ca_bundle) == (str(tmp_path / "said.jsonl"), "/etc/ca.pem")
    assert panel_of(settings, "recorded:said.jsonl").specs["recorded:said.jsonl"].file == "said.jsonl"


def test_nobody_to_ask_is_a_reason_and_no_error(tmp_path):
    panel = panel_of(loaded(tmp_path), "auto")
    assert (panel.specs, "no judge is configured" in panel.skipped) == ({}, True)


def test_an_unknown_judge_is_an_error(tmp_path):
    with pytest.raises(ConfigError) as caught:
        panel_of(loaded(tmp_path, f"[judges.strong]\n{LOCAL}"), "strnog")
    assert "did you mean `strong`?" in str(caught.value)


def test_judges_at_one_endpoint_share_one_pace_and_others_do_not():
    other = "http://127.0.0.1:8/v1"
    panel = Panel({"a": spec(), "b": spec(model="n"), "c": spec(base_url=other), "d": spec(provider="ollama")})
    a, b, c, d = (judge.door.pace for judge in at_the_door(panel))
    assert a is b
    assert len({id(pace) for pace in (a, c, d)}) == 3


def test_the_pace_of_an_endpoint_is_what_the_judge_and_the_run_allow():
    assert at_the_door(Panel({"a": spec(max_concurrency=9)}))[0].door.pace.most == 9
    assert at_the_door(Panel({"a": spec(max_concurrency=9)}), jobs=4)[0].door.pace.most == 4
    assert at_the_door(Panel({"a": spec(max_concurrency=9)}), jobs=40)[0].door.pace.most == 9


def test_offline_those_that_would_be_asked_over_the_network_are_not(tmp_path):
    file = tmp_path / "replies.jsonl"
    file.write_text('{"unit": "u-1", "replies": ["PASS"]}\n')
    panel = Panel({"a": spec(), "b": JudgeSpec(provider="recorded", file=str(file))})
    assert [judge.offline for judge in at_the_door(panel, offline=True)] == [True, False]
    assert [judge.offline for judge in at_the_door(panel)] == [False, False]


def test_offline_no_credential_is_needed():
    panel = Panel({"a": JudgeSpec(model="m", base_url="https://api.vendor.example/v1")})
    assert at_the_door(panel, offline=True)[0].offline
    with pytest.raises(Rejected) as caught:
        at_the_door(panel)
    assert caught.value.code == "JUDGE_AUTH"


def test_a_judge_that_cannot_be_used_is_an_error_before_anybody_is_asked():
    with pytest.raises((ConfigError, MissingExtraError)):
        at_the_door(Panel({"a": JudgeSpec(provider="scripted", model="m")}))


def test_the_keys_of_the_judges_are_taken_out_of_everything(monkeypatch):
    monkeypatch.setenv("TEAM_KEY", "correct-horse")
    cleaner = cleaner_of(Redactor(key=b"k"), Panel({"a": spec(api_key_env="TEAM_KEY")}))
    assert "correct-horse" not in cleaner.text("correct-horse")


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-opus-4", "claude"),
        ("vendor/Qwen3-4B", "qwen"),
        ("GPT-5-mini", "gpt"),
        ("o3-mini", "o3"),
        ("my-own", None),
        ("", None),
        (None, None),
    ],
)
def test_a_family_is_told_by_the_name(model, family):
    assert family_of(model) == family


def test_a_judge_of_the_agents_family_is_warned_of():
    panel = Panel({"a": spec(model="claude-opus-4"), "b": spec(model="gpt-5"), "c": spec(model="own", family="claude")})
    warned = relatives(panel, ["vendor/claude-sonnet-4", None, "unknown-model"])
    assert [line.split("`")[1] for line in warned] == ["a", "c"]
    assert relatives(panel, [None, "unknown-model"]) == []


def test_judges_are_named_with_their_models():
    judges = at_the_door(Panel({"a": spec(), "b": spec(model="n")}))
    assert names_of(judges) == "a = m, b = n"
    assert names_of([]) == "none"
