"""`rightcall export preferences`: compared pairs as training data."""

from __future__ import annotations

import json

import pytest
from export_making import RUN, TOOLS, Desk, by_code, careful, hasty, judged, rows_in

from rightcall.store.records import RunRecord
from rightcall.store.store import Store

ON = ("--store", "desk.db")


@pytest.fixture
def desk(rightcall, tmp_path):
    """Return a store with six pairs, of which four may be used."""
    with Store.open(tmp_path / "desk.db") as store:
        desk = Desk(store)
        results = [
            judged("p-0"),
            judged("p-1", "B", 0.8),
            by_code("p-2"),
            judged("p-3", "TIE"),
            judged("p-4", "A", 0.5),
            judged("p-5"),
        ]
        for number, result in enumerate(results):
            desk.pair(result, careful(number), hasty(number))
        desk.review("p-3", "tie")
        desk.flush()
        yield desk


def export(rightcall, *tokens):
    return rightcall("export", "preferences", *tokens, *ON)


def test_rows_are_written_and_what_is_left_out_is_counted(rightcall, desk, tmp_path):
    said = export(rightcall, "-o", "dpo.jsonl")
    assert (said.code, said.out) == (0, "")
    assert said.err.splitlines() == [
        "dpo.jsonl: 4 rows",
        "6 pairs: 4 exported, 2 left out",
        "  1  low_confidence: the judge is not sure enough (--min-confidence)",
        "  1  tie: a tie",
    ]
    rows = rows_in(tmp_path / "dpo.jsonl")
    assert [(row["pair"], row["decided_by"], row["weight"], row["confidence"], row["run_id"]) for row in rows] == [
        ("p-0", "judge", 0.9, 0.9, RUN), ("p-1", "judge", 0.8, 0.8, RUN), ("p-2", "code", 1.0, 1.0, RUN), ("p-5", "judge", 0.9, 0.9, RUN),
    ]  # fmt: skip
    assert [len(row["chosen"]) for row in rows] == [5, 3, 5, 5]
    with Store.open(tmp_path / "desk.db") as store:
        assert {row["verdict"] for row in rows} <= {entry.digest for entry in store.log(kind="verdict")}


def test_json_tells_everything_and_prints_nothing_else(rightcall, desk, tmp_path):
    said = export(rightcall, "--json", "-o", "dpo.jsonl", "--test-share", "0.25", "--seed", "3", "--run", RUN)
    assert (said.code, said.err) == (0, "")
    assert said.json["export"] == {
        "runs": [RUN], "files": {"train": "dpo.train.jsonl", "test": "dpo.test.jsonl"}, "format": "trl",
        "level": "whole", "plain": False, "arguments": "object", "prompts": "same", "test_share": 0.25, "seed": 3,
        "rules": {"min_confidence": 0.7, "with_second_judge": False, "with_one_order": False},
    }  # fmt: skip
    assert said.json["summary"] == {
        "pairs": 6, "exported": 4, "left_out": {"low_confidence": 1, "tie": 1}, "rows": {"train": 3, "test": 1},
        "rows_left_out": {}, "notes": [],
    }  # fmt: skip
    assert [len(rows_in(tmp_path / f"dpo.{side}.jsonl")) for side in ("train", "test")] == [3, 1]
    assert not (tmp_path / "dpo.jsonl").exists()


def test_without_a_file_rows_go_to_stdout(rightcall, desk):
    said = export(rightcall, "--plain")
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [list(row) for row in rows] == [["prompt", "chosen", "rejected", "tools"]] * 4
    assert said.err.startswith("6 pairs: 4 exported")


def test_the_other_formats(rightcall, desk, tmp_path):
    assert export(rightcall, "--format", "openai", "-o", "a.jsonl").code == 0
    assert [list(row) for row in rows_in(tmp_path / "a.jsonl")] == [
        ["input", "preferred_output", "non_preferred_output"]
    ] * 4
    said = export(rightcall, "--format", "openai", "--level", "whole", "-o", "a.jsonl", "--json")
    assert (said.code, said.json["summary"]["left_out"]["more_than_one_message"]) == (5, 4)
    assert export(rightcall, "--format", "kto", "--level", "step", "-o", "k.jsonl").code == 0
    assert [row["label"] for row in rows_in(tmp_path / "k.jsonl")] == [True, False] * 4
    said = export(rightcall, "--arguments", "text", "--level", "step", "-o", "t.jsonl")
    assert rows_in(tmp_path / "t.jsonl")[0]["chosen"][0]["tool_calls"][0]["function"]["arguments"] == '{"code":"AB00"}'


def test_the_limits_come_from_the_settings_and_the_flags(rightcall, desk, write):
    write("rightcall.toml", 'version = 1\nstore = "desk.db"\n[preference]\nmin_confidence = 0.85\n')
    assert (
        rightcall("export", "preferences", "-o", "a.jsonl", "--json").json["summary"]["left_out"]["low_confidence"] == 2
    )
    said = rightcall("export", "preferences", "-o", "a.jsonl", "--json", "--min-confidence", "0.5")
    assert said.json["summary"]["left_out"] == {"tie": 1}


def test_a_held_out_task_is_left_out(rightcall, desk, write):
    write("held.jsonl", {"id": "p-0", "request": "Something."}, {"id": "other", "request": "please cancel AB05."})
    said = export(rightcall, "-o", "a.jsonl", "--held-out", "held.jsonl", "--json")
    assert said.json["summary"]["left_out"]["held_out"] == 2


def test_the_catalog_of_a_flag_is_for_traces_without_one(rightcall, tmp_path, write):
    from msgspec import UNSET

    with Store.open(tmp_path / "desk.db") as store:
        desk = Desk(store)
        desk.pair(judged("p-0"), careful(0, tools_json=UNSET), hasty(0, tools_json=UNSET))
        desk.flush()
    write("tools.json", json.dumps(TOOLS))
    export(rightcall, "-o", "a.jsonl")
    assert rows_in(tmp_path / "a.jsonl")[0]["tools"] is None
    export(rightcall, "-o", "a.jsonl", "--tools", "tools.json")
    assert len(json.loads(rows_in(tmp_path / "a.jsonl")[0]["tools"])) == 2


def test_the_catalog_that_a_run_kept_counts_before_the_one_of_a_flag_which_is_said(rightcall, tmp_path, write):
    for name, tool in (("old", "cancel_card"), ("new", "freeze_card")):
        call = {"tool": tool, "arguments": {"card": 7}, "result": "done"}
        write(f"{name}.jsonl", {"id": name, "case_id": "c", "request": "Freeze it.", "calls": [call]})
    write("tools.json", json.dumps([{"name": "freeze_card"}, {"name": "cancel_card"}]))
    write("policy.toml", 'forbidden = ["cancel_card"]')
    compared = ("preference", "old.jsonl", "new.jsonl", "--judge", "none", "--policy", "policy.toml")
    assert rightcall(*compared, "--tools", "tools.json", *ON).code == 0
    plain = export(rightcall, "-o", "a.jsonl", "--json")
    assert plain.json["summary"]["notes"] == []
    same = export(rightcall, "-o", "b.jsonl", "--json", "--tools", "tools.json")
    assert same.json["summary"]["notes"] == []
    write("later.json", json.dumps([{"name": "freeze_card"}]))
    other = export(rightcall, "-o", "c.jsonl", "--json", "--tools", "later.json")
    (note,) = other.json["summary"]["notes"]
    assert note.endswith("kept another catalog than the one that is named now: the run's counts")
    assert len({(tmp_path / f"{name}.jsonl").read_bytes() for name in "abc"}) == 1
    assert len(json.loads(rows_in(tmp_path / "c.jsonl")[0]["tools"])) == 2


def test_an_open_critical_stops_everything_with_4(rightcall, desk, tmp_path):
    desk.review("p-1", "CRITICAL", severity="CRITICAL")
    desk.flush()
    said = export(rightcall, "-o", "dpo.jsonl")
    assert (said.code, said.out) == (4, "")
    assert "1 CRITICAL item waits for a sign-off: rv-" in said.err
    assert said.err.splitlines()[-1] == "exit 4"
    assert list(tmp_path.glob("*.jsonl")) == []
    desk.sign("p-1", "confirmed")
    said = export(rightcall, "-o", "dpo.jsonl", "--json")
    assert (said.code, said.json["summary"]["left_out"]["critical_confirmed"]) == (0, 1)


def test_where_nothing_can_be_exported_nothing_is_written(rightcall, desk, tmp_path):
    said = export(rightcall, "-o", "dpo.jsonl", "--min-confidence", "1", "--held-out", "p2.jsonl")
    assert said.code == 2
    (tmp_path / "p2.jsonl").write_text('{"id": "p-2", "request": "x"}\n')
    said = export(rightcall, "-o", "dpo.jsonl", "--min-confidence", "1", "--held-out", "p2.jsonl")
    assert (said.code, said.err.splitlines()[-2:]) == (5, ["nothing to export: nothing was written", "exit 5"])
    assert not (tmp_path / "dpo.jsonl").exists()


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("-o", "dpo.csv"), "no format is known for `dpo.csv`"),
        (("-o", "none/dpo.jsonl"), "the folder `none` does not exist"),
        (("--json",), "where do the rows go?"),
        (("--test-share", "0.1"), "where do the rows go?"),
        (("-o", "a.jsonl", "--test-share", "1"), "`1` is no share"),
        (("-o", "a.jsonl", "--min-confidence", "1.5"), "`1.5` is no share"),
        (("-o", "a.jsonl", "--run", "20261129-9"), "there is no run `20261129-9`"),
        (("-o", "a.jsonl", "--run", "20261129-7"), "run `20261129-7` is one of `rubric`"),
        (("-o", "a.jsonl", "--format", "dpo"), "--format"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(rightcall, desk, tmp_path, tokens, message):
    desk.store.write([RunRecord(id="20261129-7", grader="rubric", started_at="2026-11-29")])
    said = export(rightcall, *tokens)
    assert said.code == 2
    assert message in said.err
    assert list(tmp_path.glob("*.jsonl")) == []


def test_a_project_without_a_store_has_nothing_to_export(rightcall):
    assert rightcall("export", "preferences", "-o", "a.jsonl", "--store", "none.db").code == 5
