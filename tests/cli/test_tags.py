"""`--tag`: a run of the cases of a group, by every grader; what is not of it is in no figure."""

from __future__ import annotations

import json

import pytest
from desk_suite import DESK, copy_desk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

GOLDEN = ("golden", "-c", DESK, "--json")
TAGS = {
    "lost": ["cards"], "stolen": ["cards", "theft"], "thanks": ["talk"], "fee": ["money"], "allowance": ["money", "talk"],
}  # fmt: skip


@pytest.fixture
def tagged(tmp_path):
    """The card desk, whose first cases have tags; the others have none."""
    copy_desk(tmp_path)
    cases = tmp_path / DESK.replace("rightcall.toml", "cases.toml")
    text = cases.read_text()
    for case, tags in TAGS.items():
        text = text.replace(f'id = "{case}"\n', f'id = "{case}"\ntags = {json.dumps(tags)}\n')
    cases.write_text(text)


def flags(*tags):
    return tuple(part for tag in tags for part in ("--tag", tag))


def of(*tags):
    return {case for case, own in TAGS.items() if set(own) & set(tags)}


def cases_of(said):
    return {one["case_id"] for one in said.json["results"]}


# ---- which cases -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["cards", "theft", "talk", "money"]), min_size=1, max_size=3))
def test_the_results_are_those_of_the_whole_run_about_cases_with_any_of_the_tags(rightcall, tagged, tags):
    whole, part = rightcall(*GOLDEN), rightcall(*GOLDEN, *flags(*tags))
    assert part.json["results"] == [one for one in whole.json["results"] if one["case_id"] in of(*tags)]
    assert part.json["run"]["tags"] == list(tags)
    assert part.json["summary"]["n"] == part.json["summary"]["evaluated"] == len(of(*tags))
    assert whole.json["run"]["tags"] is None


def test_reports_and_gates_say_that_they_are_about_a_part(rightcall, tagged, tmp_path):
    note = "a part of the suite: only cases with the tag cards or talk"
    said = rightcall(
        "golden", "-c", DESK, "--store", "s.db", *flags("cards", "talk", "cards"), "-o", "r.md", "-o", "r.html"
    )
    assert said.out.splitlines()[0] == note
    assert (tmp_path / "r.md").read_text().count(note) == 1
    assert note in (tmp_path / "r.html").read_text()
    assert note in rightcall("gate", "-c", DESK, "--store", "s.db", "-o", "g.md").out
    text = (tmp_path / "g.md").read_text()
    assert (text.count(note), "| tags | cards, talk, cards |" in text) == (1, True)
    assert "part of the suite" not in rightcall("golden", "-c", DESK).out


def test_several_processes_take_the_same_part(rightcall, tagged):
    one, two = (rightcall(*GOLDEN, *flags("cards", "money"), "-j", jobs).json for jobs in ("1", "2"))
    assert one == two


@pytest.mark.parametrize(
    "command",
    [
        ("golden",),
        ("selection", "examples/card-desk/traces.jsonl"),
        ("rubric", "--judge", "desk"),
        ("interpretation", "--judge", "desk"),
    ],
)
def test_every_grader_of_traces_takes_it(rightcall, tagged, command):
    said = rightcall(*command, "-c", DESK, "--store", "s.db", "--json", *flags("money", "theft"))
    assert said.code in (0, 1, 3, 4), said.err
    assert cases_of(said) <= of("money", "theft")
    assert "stolen" in cases_of(said)


def test_pairs_are_those_of_such_cases(rightcall, tagged):
    said = rightcall("preference", "-c", DESK, "--judge", "none", "--store", "s.db", "--json", *flags("cards", "money"))
    assert said.code in (0, 3), said.err
    assert cases_of(said) <= of("cards", "money")


def test_steps_have_tags_of_their_own(rightcall, write):
    tools = [{"name": "feed", "description": "Feeds."}]
    write("steps.jsonl", *(
        {"id": f"s{n}", "request": "Feed", "tools": tools, "selected": "feed", "expected": "feed", "tags": tags}
        for n, tags in enumerate([["a"], ["b"], ["a", "c"], []])
    ))  # fmt: skip
    said = rightcall("selection", "steps.jsonl", "--judge", "none", "--json", *flags("c", "b"))
    assert [one["step_id"] for one in said.json["results"]] == ["s1", "s2"]
    assert rightcall("selection", "steps.jsonl", "--judge", "none", *flags("d")).code == 2


def test_with_trace_and_limit_both_must_hold(rightcall, tagged):
    assert cases_of(rightcall(*GOLDEN, *flags("cards"), "--limit", "1")) == {"lost"}
    trace = next(one["trace_id"] for one in rightcall(*GOLDEN).json["results"] if one["case_id"] == "stolen")
    assert cases_of(rightcall(*GOLDEN, *flags("cards"), "--trace", trace)) == {"stolen"}
    said = rightcall(*GOLDEN, *flags("money"), "--trace", trace)
    assert (said.code, f"no trace has the id `{trace}` and a case with the tag `money`" in said.err) == (2, True)


def test_a_case_with_the_tag_and_without_a_trace_lowers_the_coverage(rightcall, write):
    write("cases.jsonl", *({"id": n, "tags": [n], "expect": {"calls": []}} for n in ("a", "b", "c")))
    write("traces.jsonl", {"id": "t", "case_id": "a", "calls": []})
    go = ("golden", "traces.jsonl", "--cases", "cases.jsonl", "--json")
    found = rightcall(*go, *flags("a", "b")).json["results"]
    assert [(one["case_id"], one["reason"]) for one in found] == [("a", None), ("b", "no_trace")]


def test_traces_without_a_case_are_left_out(rightcall, write):
    write("cases.jsonl", *({"id": n, "tags": ["x"], "expect": {"calls": []}} for n in ("a", "b")))
    write("traces.jsonl", {"id": "t", "case_id": "a", "calls": []}, {"id": "u", "calls": []},
          {"id": "v", "case_id": "none", "calls": []})  # fmt: skip
    said = rightcall("golden", "traces.jsonl", "--cases", "cases.jsonl", "--json", *flags("x"))
    assert [one["trace_id"] for one in said.json["results"]] == ["t", None]


# ---- nothing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["golden", "selection", "rubric --judge desk", "run", "preference --judge none"])
@pytest.mark.parametrize("more", [(), ("--tag", "cards")])
def test_a_tag_that_no_case_has_is_refused_with_the_nearest(rightcall, tagged, tmp_path, command, more):
    said = rightcall(*command.split(), "-c", DESK, "--store", "new.db", *more, "--tag", "theif")
    assert (said.code, said.out) == (2, "")
    assert "--tag: no case has the tag `theif`; did you mean `theft`?" in said.err
    assert not (tmp_path / "new.db").exists()


def test_without_a_likely_one_the_tags_that_there_are_are_named(rightcall, tagged):
    assert "no case has the tag `xyz`; there are cards, money, talk, theft" in rightcall(*GOLDEN, *flags("xyz")).err


@pytest.mark.parametrize("command", ["golden", "run --grader golden", "rubric --judge desk", "selection"])
def test_a_tag_of_cases_that_have_no_trace_selects_nothing(rightcall, tagged, tmp_path, command):
    with (tmp_path / DESK.replace("rightcall.toml", "cases.toml")).open("a") as file:
        file.write('\n[[case]]\nid = "new"\ntags = ["new"]\nrequest = "x"\n[case.expect]\ncalls = []\n')
    said = rightcall(*command.split(), "-c", DESK, "--store", "new.db", *flags("new"))
    assert said.code == (3 if command == "selection" else 2), said.err
    if command != "selection":  # which names the case as one without a trace
        assert "tag `new`" in said.err


# ---- on record -------------------------------------------------------------------------------------------------------


def test_a_run_goes_on_only_with_its_tags(rightcall, tagged):
    go = ("rubric", "-c", DESK, "--judge", "desk", "--store", "s.db", "--quiet")
    began = rightcall(*go, *flags("cards", "money"), "--budget", "1calls")
    run = began.err.split("run ")[1].split()[0]
    other = rightcall(*go, *flags("cards"), "--resume", run)
    assert (other.code, "was made with other tags" in other.err) == (2, True)
    assert "was made with other tags" in rightcall(*go, "--resume", run).err
    assert "exit 5" not in rightcall(*go, *flags("cards", "money"), "--resume", run).err


def test_the_previous_run_is_one_of_the_same_tags_or_of_the_whole_suite_and_others_are_compared_on_shared_cases(
    rightcall, tagged
):
    go = ("golden", "-c", DESK, "--store", "s.db", "--quiet")
    place = ("-c", DESK, "--store", "s.db")
    rightcall(*go)
    rightcall(*go, *flags("cards"))
    against = rightcall("gate", "--baseline", "previous", *place, "--json").json["baselines"]
    assert [one["run"] for one in against] == [rightcall("runs", *place, "--json").json["runs"][1]["id"]]
    rightcall(*go, *flags("money"))
    rightcall(*go, *flags("cards"))
    newest, _, before, whole = (one["id"] for one in rightcall("runs", *place, "--json").json["runs"])
    against = rightcall("gate", "--baseline", "previous", *place, "--json").json["baselines"]
    assert [one["run"] for one in against] == [before]
    (found,) = rightcall("diff", whole, newest, *place, "--json").json["graders"]
    assert (found["shared"], len(found["missing_cases"]), found["new_cases"]) == (2, 8, [])
