"""Where steps come from: files, or traces with goldens; what gives no step is named; which tools are new."""

from __future__ import annotations

import pytest
from judged_making import Here, agrees, case, results_of, step, trace

from rightcall.errors import CaseError, ConfigError, TraceError
from rightcall.run.judging.run import short_summary
from rightcall.testing import ScriptedModel


@pytest.fixture
def here(tmp_path):
    return Here(tmp_path, judges=())


# ---- written ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        ({}, ["case-0000", "case-0001", "case-0002", "case-0003"]),
        ({"limit": 3}, ["case-0000", "case-0001", "case-0002"]),
        ({"only": "case-0003"}, ["case-0003"]),
        ({"only": "case-0003", "limit": 1}, ["case-0003"]),
        ({"limit": 9}, ["case-0000", "case-0001", "case-0002", "case-0003"]),
    ],
)
def test_steps_come_from_all_files_in_order_as_far_as_asked(here, flags, wanted):
    here.write("a.jsonl", step(0), step(1))
    here.write("b.jsonl", step(2), step(3))
    found = results_of(here.run(here.selection("*.jsonl", **flags)))
    assert [one["step_id"] for one in found] == wanted


@pytest.mark.parametrize("files", [("a.jsonl", "b.jsonl"), ("a.jsonl",)])
def test_a_step_id_that_stands_twice_is_refused_with_both_places(here, files):
    here.write("a.jsonl", step(0), *([step(0)] if len(files) == 1 else []))
    if len(files) == 2:
        here.write("b.jsonl", step(0))
    with pytest.raises(CaseError) as caught:
        here.run(here.selection("*.jsonl"))
    assert caught.value.code == "CASE_DUPLICATE_ID"
    assert "also at" in caught.value.message
    assert "a.jsonl" in caught.value.message


def test_a_file_that_is_not_there_is_named(here):
    with pytest.raises(ConfigError, match=r"nothing\.jsonl: cannot be read: No such file or directory; check the path"):
        here.selection("nothing.jsonl")


# ---- derived ---------------------------------------------------------------------------------------------------------


CHAT = {
    "messages": [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "feed", "arguments": "{}"}}]}]
}
EMPTY = {"messages": []}


def test_what_gives_no_step_is_unevaluable_with_its_reason_and_lowers_coverage(here):
    here.write("traces.jsonl", trace(0), trace(1, case_id="case-9999"), trace(2, case_id=None), trace(3), trace(3))
    here.write("transcripts.jsonl", CHAT, EMPTY)
    here.write("cases.jsonl", case(0), case(3, expect=None), case(4), case(5))
    judged = here.run(here.selection("tra*.jsonl", "cases.jsonl"))
    found = results_of(judged)
    chat = found.pop(5)
    assert (chat["status"], chat["reason"]) == ("UNEVALUABLE", "nothing_expected")
    assert [(one["step_id"], one["status"], one["reason"]) for one in found] == [
        ("t-0#g0", "EVALUATED", None),
        ("t-1", "UNEVALUABLE", "no_case"),
        ("t-2", "UNEVALUABLE", "nothing_expected"),
        ("t-3", "UNEVALUABLE", "nothing_expected"),
        ("t-3", "UNEVALUABLE", "nothing_expected"),
        ("case-0004", "UNEVALUABLE", "no_trace"),
        ("case-0005", "UNEVALUABLE", "no_trace"),
    ]
    summary = short_summary(judged)
    assert (summary["n"], summary["evaluated"], summary["unevaluable"], summary["skipped"]) == (8, 1, 7, 1)
    assert summary["coverage"] == 1 / 9
    assert summary["unevaluable_by_reason"] == {"no_case": 1, "no_trace": 2, "nothing_expected": 4}


def test_what_gives_no_step_is_on_record_each_under_a_name_of_its_own(tmp_path):
    here = Here(tmp_path)
    here.write("traces.jsonl", trace(0), trace(1, case_id="case-9999"), trace(1, case_id="case-9999"))
    here.write("cases.jsonl", case(0), case(1, id="t-1"))
    judged = here.run(here.selection("traces.jsonl", "cases.jsonl"), ScriptedModel(agrees_with_derived))
    judged.close()
    with here.opened() as store:
        units = sorted(verdict.unit for verdict in store.verdicts(judged.run.id))
        assert units == ["t-0#g0", "t-1 (no step)", "t-1 (no step, 2)", "t-1 (no step, 3)"]
        waiting = {review.unit for _, review in store.reviews(reason="unevaluable")}
        assert waiting == set(units) - {"t-0#g0"}


def agrees_with_derived(request):
    return (
        agrees(request)
        .replace('"FAIL"', '"PASS"')
        .replace("cancel_card", "freeze_card")
        .replace('"wrong_tool"', "null")
    )


def test_a_trace_that_cannot_be_read_stops_a_strict_run(here):
    here.write("traces.jsonl", CHAT, EMPTY)
    here.write("cases.jsonl", case(0), case(1))
    with pytest.raises(TraceError, match="without --strict it is skipped and counted"):
        here.run(here.selection("traces.jsonl", "cases.jsonl", strict=True))


@pytest.mark.parametrize(("flags", "wanted"), [({"limit": 2}, ["t-0#g0", "t-1#g0"]), ({"only": "t-2"}, ["t-2#g0"])])
def test_a_part_of_the_traces_misses_no_case(here, flags, wanted):
    here.write("traces.jsonl", *(trace(n) for n in range(4)))
    here.write("cases.jsonl", *(case(n) for n in range(6)))
    found = results_of(here.run(here.selection("traces.jsonl", "cases.jsonl", **flags)))
    assert [one["step_id"] for one in found] == wanted


# ---- new tools -------------------------------------------------------------------------------------------------------

NEW = {"name": "limit_card", "description": "Limits a card."}


def test_tools_that_the_last_run_did_not_know_get_the_larger_share(tmp_path):
    here = Here(tmp_path, "[review]\nrandom = 0.0\nrandom_new_tools = 1.0\n")
    old = [step(n) for n in range(1, 4)]
    tools = [*old[0]["tools"], NEW]
    new = [step(n, tools=tools, selected="limit_card", expected="limit_card") for n in range(6, 9)]

    def says(request):
        if "case-0006" < request.unit <= "case-0009" or request.unit == "case-0006":
            return agrees_with_derived(request).replace("freeze_card", "limit_card")
        return agrees(request)

    def drawn() -> list[tuple[str, float]]:
        setup = here.selection()
        judged = here.run(setup, ScriptedModel(says))
        judged.close()
        with here.opened() as store:
            found = store.reviews(run_id=judged.run.id, reason="random")
            return sorted((review.unit, review.probability) for _, review in found)

    here.write("steps.jsonl", *old)
    assert drawn() == []
    here.write("steps.jsonl", *old, *new)
    assert drawn() == [("case-0006", 1.0), ("case-0007", 1.0), ("case-0008", 1.0)]
    # They are not new any more.
    assert drawn() == []


def test_a_run_that_goes_on_keeps_the_tools_that_were_new_when_it_began(tmp_path):
    here = Here(tmp_path, "[review]\nrandom = 0.0\nrandom_new_tools = 1.0\n")
    here.write("steps.jsonl", step(1))
    here.run(here.selection(), ScriptedModel(agrees)).close()
    tools = [*step(1)["tools"], NEW]
    here.write(
        "steps.jsonl", *(step(n, tools=tools, selected="limit_card", expected="limit_card") for n in range(6, 10))
    )

    def says(request):
        return agrees_with_derived(request).replace("freeze_card", "limit_card")

    stopped = here.run(here.selection(budget="2calls"), ScriptedModel(says), places=1)
    stopped.close()
    resumed = here.run(here.selection(resume=stopped.run.id), ScriptedModel(says))
    resumed.close()
    assert resumed.tally.reviews["random"] == 4
