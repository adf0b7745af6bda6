"""The gate on real recordings: one agent of τ²-bench airline against another, by the same goldens."""

import pytest

from rightcall.cli.exits import guarded
from rightcall.cli.main import app

pytestmark = pytest.mark.slow

OLD, NEW = "azure-gpt-4o_airline_1trial.json", "claude-sonnet-4-5_airline_1trial.json"


def test_two_agents_on_the_same_tasks_are_compared_case_by_case(shared_data, tmp_path, monkeypatch, capfd):
    import msgspec

    monkeypatch.chdir(tmp_path)
    folder = shared_data / "data/tau2_bench"
    for file in (OLD, NEW):
        guarded(app, ["golden", str(folder / file), "--cases", str(folder / OLD), "--store", "s.db", "-q"])
    (tmp_path / "rightcall.toml").write_text(
        'store = "s.db"\n[gates]\n"golden.pass_rate" = { min = 0.9 }\nregressions = { against = "previous" }\n'
        '"golden.recall" = { min = 0.5 }\n'
    )
    capfd.readouterr()
    code = guarded(app, ["gate", "--json"])
    report = msgspec.json.decode(capfd.readouterr().out)
    answers = {one["name"]: one["answer"] for one in report["decisions"]}
    assert (code, report["answer"]) == (1, "FAIL")
    assert answers["golden.pass_rate"] == "FAIL"
    assert answers["golden.recall"] == "PASS"
    assert answers["golden.regressions"] == "INCONCLUSIVE"
    (part,) = report["diff"]["graders"]
    assert part["not_comparable"] == []
    assert part["shared"] == 50
    assert part["both_passed"] + part["both_failed"] + part["gained"] + part["lost"] == 50
    assert part["difference"]["method"] == "tango 0.95"
