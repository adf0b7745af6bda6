"""Pairs for training from the record: verdicts, reviews and sign-offs as they stand, on both databases."""

from itertools import combinations

import msgspec
import pytest
from export_making import AT, RUN, TOOLS, Desk, by_code, careful, hasty, judged, name_of, rows_in, talk
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.case.case import Case
from rightcall.errors import ConfigError, NoDataError, Place, RunError, StoreError
from rightcall.report.training.split import Shape, training_set
from rightcall.run.training.exporting import pair_of, preference_runs, select, unfinished
from rightcall.run.training.rules import ExportRules
from rightcall.settings.model import ReviewTable
from rightcall.store.records import ReviewRecord, RunEvent, RunRecord, TraceRecord, VerdictRecord
from rightcall.store.store import Store
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Call
from rightcall.trace.sources import openai_chat
from rightcall.trace.sources.reading import load_traces

RULES = ExportRules()


@pytest.fixture
def desk(store_url):
    """Return a store with a run of `preference`."""
    with Store.open(store_url) as store:
        yield Desk(store)


@pytest.fixture
def local(tmp_path):
    """Return the same in a file."""
    with Store.open(tmp_path / "rightcall.db") as store:
        yield Desk(store)


def chosen(desk, *, rules=RULES, answers=1, runs=(RUN,)):
    """Return what may be used: unit -> winner, and the counts of the rest."""
    desk.flush()
    found = select(desk.store, runs, rules, ReviewTable(answers=answers))
    assert found.pairs == len(found.used) + sum(found.left_out.values())
    return {one.record.unit: one.settled.winner for one in found.used}, dict(found.left_out)


def add(desk, *results):
    for number, result in enumerate(results):
        desk.pair(result, careful(number), hasty(number))


def test_pairs_come_in_the_order_of_the_record_with_counts_of_the_rest(desk):
    add(desk, judged("p-2", "A"), judged("p-1", "B"), judged("p-3", "TIE"), by_code("p-0", "A"))
    desk.review("p-3", "tie")
    used, left = chosen(desk)
    assert list(used.items()) == [("p-2", "A"), ("p-1", "B"), ("p-0", "A")]
    assert left == {"tie": 1}


def test_an_open_review_holds_a_pair_back_but_not_if_it_was_only_drawn_at_random(desk):
    add(desk, judged("p-0"), judged("p-1"), judged("p-2"))
    desk.review("p-0", "injection_suspected")
    desk.review("p-1", "random", probability=0.1)
    desk.review("p-2", "random", probability=0.1)
    desk.review("p-2", "judge_conflict")
    assert chosen(desk) == ({"p-1": "A"}, {"waiting_for_review": 2})


def test_what_a_person_says_counts_in_place_of_the_judge(desk):
    add(
        desk,
        judged("p-0", "TIE"),
        judged("p-1", "B", 0.2),
        judged("p-2", None, status="UNEVALUABLE", reason="INCONCLUSIVE"),
    )
    for unit, reason in (("p-0", "tie"), ("p-1", "low_confidence"), ("p-2", "unevaluable")):
        desk.review(unit, reason)
        desk.answer(unit, "sam", "A")
    assert chosen(desk) == ({"p-0": "A", "p-1": "A", "p-2": "A"}, {})


def test_two_people_who_differ_hold_a_pair_back_until_a_third_decides(desk):
    add(desk, judged("p-0", "TIE"))
    desk.review("p-0", "tie")
    desk.answer("p-0", "sam", "A", needed=2)
    assert chosen(desk, answers=2) == ({}, {"tie": 1})
    desk.answer("p-0", "lee", "B", needed=2)
    assert chosen(desk, answers=2) == ({}, {"in_adjudication": 1})
    desk.answer("p-0", "kim", "B", needed=2, kind="adjudication", note="B looks first.")
    desk.flush()
    (used,) = select(desk.store, [RUN], RULES, ReviewTable(answers=2)).used
    assert (used.settled.winner, used.settled.decided_by) == ("B", "person")
    assert used.settled.margin == pytest.approx(1 / 3)


def test_people_who_cannot_judge_settle_nothing(desk):
    add(desk, judged("p-0", "TIE"))
    desk.review("p-0", "tie")
    desk.answer("p-0", "sam", None, needed=2)
    desk.answer("p-0", "lee", None, needed=2)
    assert chosen(desk, answers=2) == ({}, {"person_unsure": 1})


# ---- CRITICAL --------------------------------------------------------------------------------------------------------


def rubric(desk, trace, *, run="20261129-2", unit="t", reason="CRITICAL"):
    """Add a run of `rubric` that finds something CRITICAL in a trace."""
    body = jsontext.encode(trace)
    desk.records += [
        RunRecord(id=run, grader="rubric", started_at=AT),
        TraceRecord(body=name_of(body), id=trace.id, case_id=trace.case_id),
        VerdictRecord(run_id=run, grader="rubric", unit=unit, result=name_of(b"{}"), status="EVALUATED",
                      case_id=trace.case_id, trace_id=trace.id, trace=name_of(body)),
        ReviewRecord(run_id=run, grader="rubric", unit=unit, reason=reason, created_at=AT, severity="CRITICAL",
                     case_id=trace.case_id, trace_id=trace.id),
    ]  # fmt: skip
    desk.bodies += [body, b"{}"]


@pytest.mark.parametrize("side", [careful, hasty])
def test_an_open_critical_of_any_run_about_any_trace_holds_everything_back(desk, side):
    add(desk, judged("p-0"), judged("p-1", "TIE"))
    rubric(desk, side(1))
    desk.flush()
    with pytest.raises(
        RunError, match=r"1 CRITICAL item waits for a sign-off: rv-[0-9a-f]{8}; nothing was written"
    ) as caught:
        chosen(desk)
    assert (caught.value.exit_code, caught.value.code) == (4, "REVIEW_WAITING")


def test_a_trace_is_known_by_its_id_and_case_too(desk):
    add(desk, judged("p-0"))
    rubric(desk, hasty(0, metadata={"read": "again"}))
    with pytest.raises(RunError, match="CRITICAL"):
        chosen(desk)


def test_a_critical_about_another_trace_holds_nothing_back(desk):
    add(desk, judged("p-0"))
    rubric(desk, hasty(7))
    assert chosen(desk)[0] == {"p-0": "A"}


def test_a_confirmed_critical_keeps_every_pair_of_its_trace_out(desk):
    add(desk, judged("p-0"), by_code("p-1"))
    desk.pair(judged("p-9", "B"), hasty(0), careful(0))
    rubric(desk, hasty(0), reason="policy_veto")
    desk.sign("t", "confirmed", grader="rubric", run="20261129-2")
    assert chosen(desk) == ({"p-1": "A"}, {"critical_confirmed": 2})


def test_a_dismissed_critical_withdraws_its_severity(desk):
    add(desk, judged("p-0"))
    rubric(desk, hasty(0))
    desk.sign("t", "dismissed", grader="rubric", run="20261129-2")
    assert chosen(desk)[0] == {"p-0": "A"}


def test_a_critical_of_the_pair_itself_counts_for_both_traces(desk):
    add(desk, judged("p-0"), judged("p-1"))
    desk.review("p-0", "CRITICAL", severity="CRITICAL")
    with pytest.raises(RunError, match="CRITICAL"):
        chosen(desk)
    desk.sign("p-0", "confirmed")
    assert chosen(desk) == ({"p-1": "A"}, {"critical_confirmed": 1})


# ---- runs, traces ----------------------------------------------------------------------------------------------------


def test_without_a_name_the_newest_run_is_exported(local):
    with pytest.raises(NoDataError, match="no run of `preference` is on record"):
        preference_runs(local.store, [])
    local.records += [
        RunRecord(id="20261130-1", grader="preference", started_at=AT),
        RunRecord(id="20261130-2", grader="rubric", started_at=AT),
    ]
    local.flush()
    assert preference_runs(local.store, []) == ["20261130-1"]
    assert preference_runs(local.store, [RUN, "20261130-1", RUN]) == [RUN, "20261130-1"]
    with pytest.raises(ConfigError, match="run `20261130-2` is one of `rubric`"):
        preference_runs(local.store, ["20261130-2"])
    with pytest.raises(StoreError, match="there is no run `20261130-9`"):
        preference_runs(local.store, ["20261130-9"])


def test_runs_that_were_not_finished_are_known(local):
    local.records += [RunRecord(id=f"20261130-{n}", grader="preference", started_at=AT) for n in (1, 2)]
    local.records += [
        RunEvent(run_id="20261130-2", at=AT, status="interrupted"),
        RunEvent(run_id="20261130-2", at=f"{AT} ", status="finished"),
    ]
    local.flush()
    assert unfinished(local.store, [RUN, "20261130-1", "20261130-2"]) == ["20261130-1"]


def test_the_winners_trace_comes_first_with_the_catalog_that_counts(local):
    bare = {"tools_json": msgspec.UNSET}
    case = Case(id="p-0", tools_json=msgspec.Raw(jsontext.encode(TOOLS[:1])))
    local.pair(judged("p-0", "B"), careful(0), hasty(0, **bare), case)
    local.pair(judged("p-1", "A"), careful(1, **bare), hasty(1, **bare))
    local.flush()
    one, two = select(local.store, [RUN], RULES, ReviewTable()).used
    pair = pair_of(local.store, one)
    assert (pair.better.id, pair.worse.id, pair.case) == ("hasty-0", "careful-0", case)
    assert [[tool.name for tool in tools] for tools in pair.tools] == [
        ["find_booking"],
        ["find_booking", "cancel_booking"],
    ]
    assert pair_of(local.store, two).tools == (None, None)
    suite = parse_tools(list(TOOLS), Place())
    assert pair_of(local.store, two, suite).tools == (suite, suite)


def test_a_trace_without_events_can_be_read(local):
    empty = msgspec.structs.replace(talk(), events=())
    local.pair(judged("p-0", "B"), careful(0), empty)
    local.flush()
    (used,) = select(local.store, [RUN], RULES, ReviewTable()).used
    assert pair_of(local.store, used).better == empty


def test_a_later_revision_counts(local):
    add(local, judged("p-0", "TIE"))
    again = msgspec.json.encode(judged("p-0", "B"))
    old = local.records[-1]
    local.records.append(msgspec.structs.replace(old, result=name_of(again), revision=1))
    local.bodies.append(again)
    assert chosen(local) == ({"p-0": "B"}, {})


# ---- whatever is on record -------------------------------------------------------------------------------------------

STATES = st.sampled_from(["none", "random", "open", "A", "B", "TIE", "unsure", "differ", "confirmed", "dismissed"])
VERDICTS = st.sampled_from([
    judged("p", "A"), judged("p", "B"), judged("p", "TIE"), judged("p", "A", 0.3), by_code("p", "A"), by_code("p", "B"),
    judged("p", "TIE", order_inconsistent=True), judged("p", "A", escalated=True),
    judged("p", None, status="UNEVALUABLE", reason="data_quality_failure", quality=("A: cut off",)),
])  # fmt: skip


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(VERDICTS, STATES), min_size=1, max_size=6))
def test_no_excluded_pair_is_in_the_file_and_reading_it_again_gives_the_winners_calls(tmp_path_factory, pairs):
    expected = {}
    folder = tmp_path_factory.mktemp("store")
    with Store.open(folder / "rightcall.db") as store:
        desk = Desk(store)
        for number, (result, state) in enumerate(pairs):
            unit = f"p-{number}"
            desk.pair(msgspec.structs.replace(result, pair=unit, case_id=unit), careful(number), hasty(number))
            people(desk, unit, state)
            winner = expected_winner(result, state)
            expected |= {} if winner is None else {unit: winner}
        assert chosen(desk, answers=2)[0] == expected
        used = select(store, [RUN], RULES, ReviewTable(answers=2)).used
        training_set(used, lambda one: pair_of(store, one), Shape()).write_files({"train": folder / "rows.jsonl"})
    rows = rows_in(folder / "rows.jsonl")
    assert [row["pair"] for row in rows] == list(expected)
    for row in rows:
        number = int(row["pair"][2:])
        sides = [careful(number), hasty(number)][:: 1 if expected[row["pair"]] == "A" else -1]
        assert [calls_in(row["prompt"] + row[name]) for name in ("chosen", "rejected")] == [
            calls_of(one) for one in sides
        ]


def calls_of(trace):
    return [(call.tool, call.arguments) for call in trace.calls]


def calls_in(messages):
    """Return the calls of messages, as our reader reads them."""
    events, findings = openai_chat.events_of(messages, Place())
    assert findings == ()
    return [(event.tool, event.arguments) for event in events if isinstance(event, Call)]


def people(desk, unit, state):
    """Let people say what the state names."""
    if state in ("confirmed", "dismissed"):
        desk.review(unit, "CRITICAL", severity="CRITICAL")
        for who in ("sam", "lee"):
            desk.answer(unit, who, None, needed=2)
        desk.sign(unit, state)
    elif state != "none":
        desk.review(unit, "random" if state == "random" else "low_confidence")
    if state in ("A", "B", "TIE", "unsure", "differ"):
        first = None if state == "unsure" else "A" if state == "differ" else state
        desk.answer(unit, "sam", first, needed=2)
        desk.answer(unit, "lee", "B" if state == "differ" else first, needed=2)


def expected_winner(result, state):
    """Say who may be chosen, independently of how the rules are written."""
    if result.quality or state in ("open", "TIE", "unsure", "differ", "confirmed", "dismissed"):
        return None  # of a dismissed item the two answers cannot judge
    if state in ("A", "B"):
        return state if result.code_verdict in (None, state) else None
    if result.verdict not in ("A", "B") or result.escalated or result.confidence < RULES.min_confidence:
        return None
    return result.verdict


# ---- real traces -----------------------------------------------------------------------------------------------------

AGENTS = ("azure-gpt-4o_airline_1trial", "claude-sonnet-4-5_airline_1trial", "button_claude-opus-4-6_airline")


@pytest.mark.slow
def test_real_pairs_whose_users_say_other_things_make_rows_with_the_winners_prompt(shared_data, local, tmp_path):
    """Of 150 pairs 40 have another reward; in 23 of these the agents had another policy, which no row may hide."""
    by_agent = [
        {trace.case_id: trace for trace in load_traces(shared_data / f"data/tau2_bench/{name}.json")} for name in AGENTS
    ]
    winners = {}
    for (x, one), (y, other) in combinations(enumerate(by_agent), 2):
        for case_id, a in one.items():
            b, unit = other[case_id], f"{case_id} {x}:{y}"
            rewards = [trace.metadata["reward"] for trace in (a, b)]
            winner = "TIE" if rewards[0] == rewards[1] else "A" if rewards[0] > rewards[1] else "B"
            local.pair(judged(unit, winner, case_id=case_id), a, b)
            winners[unit] = a if winner == "A" else b
    local.flush()
    chosen = select(local.store, [RUN], RULES, ReviewTable())
    assert (chosen.pairs, len(chosen.used), dict(chosen.left_out)) == (150, 40, {"tie": 110})
    counts = {}
    for level in ("whole", "step"):
        for prompts in ("same", "winner"):
            shape = Shape(level=level, prompts=prompts)
            made = training_set(chosen.used, lambda one: pair_of(local.store, one), shape)
            counts[level, prompts] = dict(made.left_out) | {"rows": len(made.entries)}
            made.write_files({"train": tmp_path / f"{level}.{prompts}.jsonl"})
    assert counts == {
        ("whole", "same"): {"prompts_differ": 39, "rows": 1},
        ("whole", "winner"): {"prompts_differ": 23, "rows": 17},
        ("step", "same"): {"prompts_differ": 39, "only_words_differ": 1, "rows": 0},
        ("step", "winner"): {"prompts_differ": 23, "only_words_differ": 17, "rows": 0},
    }
    for row in rows_in(tmp_path / "whole.winner.jsonl"):
        assert calls_in(row["prompt"] + row["chosen"]) == calls_of(winners[row["pair"]])
