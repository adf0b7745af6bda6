"""`rightcall diff` on the command line."""

import json

import pytest


@pytest.fixture
def two(rightcall, write):
    """Run a suite twice; in the second run one case turned bad, one good, and one is new."""
    write("cases.jsonl", *(
        {"id": f"tank-{n}", "expect": {"calls": [{"tool": "feed", "arguments": {"tank": n}}]}} for n in range(4)
    ))  # fmt: skip
    for name, tanks in (("old.jsonl", {0: 0, 1: 1, 2: 7}), ("new.jsonl", {0: 0, 1: 8, 2: 2, 3: 3})):
        write(name, *({"id": f"{name[:3]}-{n}", "case_id": f"tank-{n}",
                       "calls": [{"tool": "feed", "arguments": {"tank": tank}}]} for n, tank in tanks.items()))  # fmt: skip
    write("rightcall.toml", 'cases = "cases.jsonl"\nstore = "s.db"')
    found = [rightcall("golden", name, "-q", "-o", f"{name[:3]}.json") for name in ("old.jsonl", "new.jsonl")]
    return [one.err.split()[1] for one in found]


def test_what_turned_comes_first_and_it_leaves_with_0(rightcall, two):
    found = rightcall("diff", *two)
    assert found.code == 0
    lines = [line.strip() for line in found.out.splitlines()]
    assert lines[0] == f"{two[0]} → {two[1]}"
    assert lines[3].startswith("golden  tank-1 PASS → FAIL: feed: tank is wrong")
    assert lines[4].startswith("golden  tank-2 FAIL → PASS")
    assert "PASS → PASS 1 · PASS → FAIL 1" in lines
    assert "exact McNemar p = 1" in lines
    assert "without a verdict in one of them: 1 case: tank-3" in lines


def test_files_and_runs_can_be_mixed(rightcall, two):
    by_file, mixed = (
        rightcall("diff", "old.json", "new.json", "--json"),
        rightcall("diff", two[0], "new.json", "--json"),
    )
    assert by_file.json["graders"][0]["lost"] == mixed.json["graders"][0]["lost"] == 1
    assert by_file.json["graders"][0]["flips"][0]["case"] == "tank-1"


def test_previous_is_the_run_before_the_later_one(rightcall, two):
    assert rightcall("diff", "previous", two[1], "--json").json == rightcall("diff", *two, "--json").json
    first = rightcall("diff", "previous", two[0])
    assert (first.code, first.out) == (2, "")
    assert "previous: there is no earlier finished run" in first.err


def test_it_is_written_as_json_and_markdown(rightcall, two, tmp_path):
    assert rightcall("diff", *two, "-o", "d.json", "-o", "d.md").code == 0
    assert json.loads((tmp_path / "d.json").read_bytes())["old"] == two[0]
    assert "| tank-1 | PASS | FAIL |" in (tmp_path / "d.md").read_text()


def test_another_policy_is_said_before_the_figures(rightcall, write, two):
    write("policy.toml", 'forbidden = ["drain"]')
    newest = rightcall("golden", "new.jsonl", "--policy", "policy.toml", "-q").err.split()[1]
    found = rightcall("diff", two[0], newest)
    assert found.code == 0
    assert "NOT COMPARABLE: policy differs" in found.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("one", "two"), "there is no run `one`"),
        (("old.json", "gone.json"), "gone.json: cannot be read"),
        (("old.json",), "new"),
        (("old.json", "new.json", "-o", "d.html"), "no format is known for `d.html`"),
        (("old.json", "new.json", "-o", "gone/d.md"), "the folder `gone` does not exist"),
        (("old.json", "previous"), "`previous` is the run before the later one, so it cannot be that one"),
        (("previous", "old.json"), "there is no record in which an earlier run could be found"),
    ],
)
def test_bad_input_is_one_clear_line(rightcall, two, given, said):
    found = rightcall("diff", *given)
    assert found.code == 2
    assert said in found.err
    assert found.out == ""


def test_nothing_in_common_is_said(rightcall, write, two):
    write("steps.jsonl", {"id": "s", "tools": [{"name": "feed"}], "selected": "feed", "expected": "feed"})
    write("rightcall.toml", 'store = "s.db"')
    steps = rightcall("selection", "steps.jsonl", "-q").err.split()[1]
    found = rightcall("diff", two[0], steps)
    assert found.code == 0
    assert "the two have no grader in common" in found.out
