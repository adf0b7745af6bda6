"""The desk over real runs, on both databases, and blindness over whatever traces and verdicts there are."""

from __future__ import annotations

import json

import msgspec
import pytest
from desk_making import ANSWERS, HIDDEN, Clock, desk, opened, put_all, put_item, put_run, result_for, run_of
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_making import Here, case, said, scores, trace
from judging_making import Suite, a_judge, results, run_with, scripted
from judging_making import trace as one_trace
from pair_making import Contest, always, pairs_of, traces
from reading_making import prepared, reading
from reading_making import says as reading_says
from test_own import PROMPT, says

from rightcall.grade.interpretation import UnsupportedValue
from rightcall.grade.preference import OrderVerdict, Reconciled
from rightcall.grade.rubric import RubricMetrics
from rightcall.grade.verdict import Finding, Veto
from rightcall.run.people.reviewing import desk_of
from rightcall.settings.load import load_settings
from rightcall.store.store import Store
from rightcall.store.verify import verify
from rightcall.store.waiting import Only
from rightcall.testing import ScriptedModel

KEY = "a fixed key for tests"

# ---- whatever there is -----------------------------------------------------------------------------------------------

TOKENS = {name: f"zqr-{name}-4" for name in ("finding", "veto", "order", "unsupported", "stratum", "suspicion", "left")}
WORDS = st.sampled_from(list(TOKENS.values()))
SEVERITIES = st.sampled_from(["CRITICAL", "HIGH", "MEDIUM"])
FINDINGS = st.lists(
    st.builds(lambda text: Finding(kind="wrong_argument", severity="HIGH", message=text, path=text, actual=text), WORDS)
)
VETOES = st.lists(st.builds(lambda text: Veto(rule=text, severity="CRITICAL", message=text), WORDS), max_size=2)
ODD_SCORES = st.sampled_from([0.123456, 0.987654])
CHANGES = {
    "golden": st.fixed_dictionaries({"findings": FINDINGS.map(tuple), "vetoes": VETOES.map(tuple)}),
    "selection": st.fixed_dictionaries({"suspicions": st.lists(WORDS).map(tuple), "left_out": st.lists(WORDS).map(tuple)}),
    "rubric": st.fixed_dictionaries({
        "findings": FINDINGS.map(tuple), "misuse_severity": SEVERITIES, "suspicions": st.lists(WORDS).map(tuple),
        "metrics": st.builds(lambda mean: RubricMetrics(tool_selection_score=2, overall_score=mean), ODD_SCORES),
    }),
    "preference": st.fixed_dictionaries({
        "confidence": ODD_SCORES, "verdict": st.sampled_from(["A", "B", "TIE"]),
        "orders": st.builds(
            lambda text, sure: (OrderVerdict(judge=text, order="ab", letter="A", winner="B", confidence=sure),),
            WORDS, ODD_SCORES,
        ),
        "reconciled": st.builds(lambda text, sure: (Reconciled(judge=text, winner="B", confidence=sure),), WORDS, ODD_SCORES),
    }),
    "interpretation": st.fixed_dictionaries({
        "interpretation_fidelity_score": ODD_SCORES, "stratum": WORDS, "scored_by": WORDS,
        "unsupported_values": st.builds(lambda text: (UnsupportedValue(value=text, kind="number", where=0),), WORDS),
    }),
    "tone": st.fixed_dictionaries({"reply": st.fixed_dictionaries({"polite": st.booleans(), "why": WORDS})}),
}  # fmt: skip
REASONS = st.lists(
    st.sampled_from([("random", None), ("HIGH", "HIGH"), ("low_confidence", None), ("low_fidelity", None), ("CRITICAL", "CRITICAL")]),
    min_size=1, unique=True,
)  # fmt: skip


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("shared")) as store:
        for grader in CHANGES:
            put_run(store, run_of(grader), grader)
        yield store


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_whatever_the_verdict_and_the_reasons_nothing_of_them_is_seen(shared_store, data):
    grader = data.draw(st.sampled_from(list(CHANGES)))
    result = result_for(grader, **data.draw(CHANGES[grader]))
    number = sum(1 for _ in shared_store.queue.items(Only(grader=grader)))
    reasons = data.draw(REASONS)
    item = put_item(shared_store, grader, unit=f"zqu-{number}-unit", result=result, reasons=reasons)
    found = desk(shared_store, "zqp-ana", Clock()).open(item)
    # The form is the same for every item, and has words such as HIGH of its own.
    told = msgspec.structs.replace(found, form=None)
    text = f"{told!r}\n{msgspec.json.encode(told).decode()}"
    hidden = [*HIDDEN.values(), *TOKENS.values(), f"zqu-{number}-unit", "0.123456", "0.987654", run_of(grader)]
    hidden += ["zqp-ana", *(name for name, _ in reasons)]
    assert [token for token in hidden if token in text] == []
    # The same picture, whatever was said about it.
    plain = put_item(shared_store, grader, unit=f"zqu-{number}-plain")
    other = desk(shared_store, "zqp-ana", Clock()).open(plain).view
    if grader != "preference":  # the sides of a pair belong to its item
        assert msgspec.structs.replace(other, item=item) == found.view


# ---- real runs -------------------------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", KEY)
    return Here(tmp_path, 'store = ".rightcall/rightcall.db"\ntools = "tools.json"\n', judges=())


def test_a_run_of_golden_is_reviewed_without_its_golden_and_with_the_suites_tools(here):
    bare = {
        name: value
        for name, value in trace(2, calls=[{"tool": "cancel_card", "arguments": {}}]).items()
        if name != "tools"
    }
    here.write("traces.jsonl", bare | {"agent": {"name": "zq-agent", "model": "zq-model-1"}})
    here.write("cases.jsonl", case(2, policy={"forbidden": ["cancel_card"]}))
    (here.folder / "tools.json").write_text(json.dumps([{"name": "cancel_card"}, {"name": "freeze_card"}]))
    files = (str(here.folder / "traces.jsonl"), "--cases", str(here.folder / "cases.jsonl"))
    said("golden", *files, "--config", str(here.folder / "rightcall.toml"), "--json")
    with here.opened() as store:
        ana = desk_of(load_settings(here.folder / "rightcall.toml", {}, {}), store, "ana")
        found = ana.next()
        assert [tool["name"] for tool in found.view.tools] == ["cancel_card", "freeze_card"]
        text = msgspec.json.encode(found).decode()
        # What was expected, what came of it, who acted and which run it was: none of it is there.
        assert [one for one in ("forbidden", "veto", "zq-", '"t-2"', '"card"', '"golden":') if one in text] == []
        shown = ana.answer(found.item, {"grade": "FAIL"})
        assert (shown.verdict, shown.words) == ({"grade": "FAIL"}, "you and the verdict agree on grade")
        assert (shown.needed, shown.state) == (2, "waiting")
    # Another catalog under the same name is not what the run saw; what it saw is kept with it.
    (here.folder / "tools.json").write_text(json.dumps([{"name": "other"}]))
    with here.opened() as store:
        bo = desk_of(load_settings(here.folder / "rightcall.toml", {}, {}), store, "bo")
        assert [tool["name"] for tool in bo.next().view.tools] == ["cancel_card", "freeze_card"]


def test_a_run_of_rubric_is_reviewed_blind(tmp_path, monkeypatch):
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", KEY)
    here = Here(tmp_path, "[review]\nrandom = 1.0\n")
    here.write("traces.jsonl", *(trace(number) for number in range(3)))
    with here.run(here.rubric(), ScriptedModel(scores)) as run:
        run_id = run.run.id
    with here.opened() as store:
        ana = desk_of(load_settings(tmp_path / "rightcall.toml", {}, {}), store, "ana")
        units = []
        while (found := ana.next(Only(run_id=run_id))) is not None:
            assert [
                one
                for one in ("strong", "scripted", run_id, "score")
                if one in msgspec.json.encode(found.view).decode()
            ] == []
            shown = ana.answer(found.item, ANSWERS["rubric"] | {"selection": 4})
            assert shown.judge["selection"] == 4
            assert shown.judges[0].startswith("strong")
            units.append(shown.item)
        assert len(units) == 3
        assert verify(store).intact


def test_a_run_of_ones_own_grader_is_answered_in_the_fields_of_its_schema(tmp_path):
    (tmp_path / "tone.md").write_text(PROMPT, "utf-8")
    suite = Suite(tmp_path, judges=scripted("strong"))
    settings_file = tmp_path / "rightcall.toml"
    settings_file.write_text(settings_file.read_text().replace("random = 0", "random = 1.0"))
    run = run_with(suite.rubric([one_trace()], prompt=str(tmp_path / "tone.md")), a_judge([says()]))
    results(run)
    (path,) = tmp_path.rglob("rightcall.db")
    with Store.open(path) as store:
        ana = desk(store, "ana", Clock())
        found = ana.next()
        assert [(one.name, one.kind, one.optional) for one in found.form.fields] == [
            ("polite", "choice", False), ("warmth", "level", False), ("why", "text", True), ("tone", "choice", True),
        ]  # fmt: skip
        shown = ana.answer(found.item, {"polite": True, "warmth": 5})
        assert (shown.agreement.same, shown.agreement.close) == (("polite",), ("warmth",))


@pytest.mark.slow
def test_a_run_of_preference_is_reviewed_side_by_side(tmp_path):
    contest = Contest(tmp_path)
    files = []
    for name, status in (("prod", "frozen"), ("cand", "closed")):
        calls = [{"tool": "freeze_card", "arguments": {"card": 7}, "result": {"status": status}}]
        files.append(contest.write(f"{name}.jsonl", *traces(name, 3, calls=calls)))
    pairs_of(contest.run(contest.setup(*files), always("A")))
    with contest.opened() as store:
        ana = desk(store, "ana", Clock())
        winners = []
        while (found := ana.next(Only(reason="order_inconsistent"))) is not None:
            text = msgspec.json.encode(found).decode()
            assert [one for one in ("prod", "cand", "inconsistent") if one in text] == []
            assert found.view.left != found.view.right
            shown = ana.answer(found.item, ANSWERS["preference"])
            assert shown.agents == {"A": "prod", "B": "cand"}
            # The judge's letters hang on the order, so that it has no winner of its own.
            assert shown.judge == {"overall": "TIE", "both_critical": False}
            winners.append(shown.fields["overall"])
        assert len(winners) == 3
        assert set(winners) <= {"A", "B"}


def test_a_run_of_interpretation_is_reviewed_one_reading_at_a_time(tmp_path):
    here = Here(tmp_path, judges=("light",))
    here.write("traces.jsonl", *(reading(number) for number in range(2)))
    with here.run(prepared(here), ScriptedModel(lambda _: reading_says(2))):
        pass
    with here.opened() as store:
        ana = desk(store, "ana", Clock())
        seen = set()
        while (found := ana.next(Only(reason="low_fidelity"))) is not None:
            assert found.view.missing == ()
            assert found.view.reading.stated
            assert "low_fidelity" not in msgspec.json.encode(found).decode()
            shown = ana.answer(found.item, ANSWERS["interpretation"])
            assert (shown.judge["score"], shown.agreement.apart[0]) == (2, "score")
            seen.add(msgspec.json.encode(found.view.reading.call))
        assert len(seen) == 2


# ---- both databases --------------------------------------------------------------------------------------------------


def test_the_whole_way_of_an_item_on_both_databases(store_url):
    rules = {"answers": 2, "answers_critical": 2}
    clock = Clock()
    with Store.open(store_url) as store:
        item = put_all(store, "rubric", reasons=[("CRITICAL", "CRITICAL"), ("random", None)])["rubric"]
        for who, level in (("ana", 1), ("bo", 5)):
            assert desk(store, who, clock, **rules).next().item == item
            desk(store, who, clock, **rules).answer(item, ANSWERS["rubric"] | {"selection": level})
        third = desk(store, "cy", clock, **rules)
        assert third.next().view.differing == ("selection",)
        assert third.answer(item, ANSWERS["rubric"]).state == "signoff"
        desk(store, "dana", clock, **rules).sign(item, "dismissed", "It was a test account.", HIDDEN["trace"])
        assert store.queue.item(item).state == "done"
        found = desk(store, "ana", clock, **rules).stats()
        assert found.states["done"] == 1
        assert verify(store).intact
