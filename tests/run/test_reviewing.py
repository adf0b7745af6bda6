"""A person at work: blind until the answer is committed, then shown what may stand beside it; nothing moves an answer."""

import io
import json

import msgspec
import pytest
from desk_making import ANSWERS, GRADERS, HIDDEN, Clock, desk, opened, put_all, put_item, put_run, result_for, run_of
from rich.console import Console

from rightcall.errors import ConfigError, StoreError
from rightcall.report.review.screen import print_item
from rightcall.review.blind import AdjudicationItem
from rightcall.review.sides import sides_of
from rightcall.run.people.blinding import unit_of, verdict_at
from rightcall.store.packing import digest_of
from rightcall.store.records import ConsensusRecord, item_of
from rightcall.store.waiting import Only

TWO = {"answers": 2, "answers_critical": 2}


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path) as found:
        yield found


@pytest.fixture
def clock():
    return Clock()


def read_off(found) -> str:
    """Everything that can be read off what a person is handed: object, JSON, screen."""
    console = Console(width=100, file=io.StringIO())
    print_item(console, found.view)
    screen = console.file.getvalue()
    return "\n".join([repr(found), msgspec.json.encode(found).decode(), screen])


def records_of(store, item):
    return [one for _, _, one in store.queue.answers(item=item)]


# ---- before the answer -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grader", GRADERS)
def test_what_is_handed_out_holds_nothing_of_what_must_stay_hidden(store, clock, grader):
    reasons = [("CRITICAL", "CRITICAL"), ("judge_conflict", None), ("random", None)]
    item = put_all(store, grader, reasons=reasons)[grader]
    desk(store, "zqp-somebody", clock, **TWO).next()
    for found in (desk(store, "zqp-ana", clock, **TWO).next(), desk(store, "zqp-ana", clock, **TWO).open(item)):
        text = read_off(found)
        hidden = [*HIDDEN.values(), "zqp-somebody", run_of(grader), "judge_conflict", "random", "0.65", "0.4,"]
        assert [token for token in hidden if token in text] == []
        assert found.item == item
        assert found.until == "2026-11-29T10:15:00.000+00:00"


@pytest.mark.parametrize("grader", GRADERS)
def test_whoever_decides_between_answers_sees_them_without_names(store, clock, grader):
    item = put_all(store, grader)[grader]
    first, second = (desk(store, f"zqp-{name}-5", clock, **TWO) for name in ("ana", "bo"))
    first.answer(item, ANSWERS[grader], note="zqn-first", seconds=77.25)
    clock.forward(minutes=3)
    second.answer(item, {}, unsure="zqn-second")
    found = desk(store, "zqp-cy-5", clock, **TWO).next()
    assert isinstance(found.view, AdjudicationItem)
    text = read_off(found)
    told = [*HIDDEN.values(), "zqp-ana-5", "zqp-bo-5", "zqp-cy-5", run_of(grader), "77.25", "10:03"]
    assert [token for token in told if token in text] == []
    assert {one.note or one.unsure for one in found.view.answers} == {"zqn-first", "zqn-second"}
    assert found.view.differing == ("unsure",)


def test_nothing_is_read_but_the_one_unit(store, clock, monkeypatch):
    put_run(store, run_of("rubric"), "rubric")
    for number in range(30):
        put_item(store, "rubric", unit=f"unit-{number}")
    read, body = [], store.body
    monkeypatch.setattr(store, "body", lambda sha: read.append(sha) or body(sha))
    monkeypatch.setattr(store, "verdicts", None)
    desk(store, "ana", clock).next()
    assert len(read) == 2  # the trace and the case


def test_a_unit_without_anything_on_record_can_only_be_called_unjudgeable(store, clock):
    put_run(store, run_of("golden"), "golden")
    item = put_item(store, "golden")
    found = desk(store, "ana", clock).open(item)
    assert found.view.missing == ()
    from rightcall.store.records import ReviewRecord

    lone = ReviewRecord(
        run_id=run_of("golden"), grader="golden", unit="no verdict", reason="unevaluable", created_at="2026-11-29T10:00Z"
    )  # fmt: skip
    store.write([lone])
    view = desk(store, "ana", clock).open(item_of(lone.run_id, "golden", "no verdict")).view
    assert (view.missing, view.events) == (("verdict",), None)


# ---- the answer, and what is shown then ------------------------------------------------------------------------------


@pytest.mark.parametrize("grader", GRADERS)
def test_an_answer_is_recorded_as_it_was_given_with_all_that_calibration_needs(store, clock, grader):
    item = put_all(store, grader, reasons=[("random", None), ("HIGH", "HIGH")])[grader]
    ana = desk(store, "ana", clock)
    ana.next()
    shown = ana.answer(item[:9], ANSWERS[grader], note="seen twice", evidence=["c1", "$.open"], seconds=48)
    (record,) = records_of(store, item)
    assert (record.who, record.kind, record.blind, record.extra, record.client) == (
        "ana",
        "answer",
        True,
        False,
        "test",
    )
    assert (record.note, record.evidence, record.seconds) == ("seen twice", ("c1", "$.open"), 48)
    assert (record.probability, set(record.reasons)) == (1.0, {"random", "HIGH"})
    assert record.verdict == digest_of(verdict_at(store, unit_of(store.queue.item(item))))
    assert shown.digest == digest_of(record)
    if grader != "preference":
        assert record.fields == ANSWERS[grader]
        assert record.seed is None
    assert store.queue.item(item).state == "done"


def test_a_pair_stands_on_record_by_agent_with_the_seed_of_its_sides(store, clock):
    item = put_all(store, "preference")["preference"]
    seen = set()
    for name in ("ana", "bo", "cy", "di", "eve", "flo"):
        person = desk(store, name, clock, answers=6)
        left = person.next().view.left
        person.answer(item, ANSWERS["preference"])
        record = records_of(store, item)[-1]
        # Agent A's trace opens door 1.
        doors = [one["arguments"]["door"] for one in left if "tool" in one]
        assert record.fields["overall"] == {1: "A", 2: "B"}[doors[0]]
        assert record.seed == sides_of(item, name).seed
        seen.add(record.fields["overall"])
    assert seen == {"A", "B"}


@pytest.mark.parametrize("grader", GRADERS)
def test_after_the_answer_verdict_judge_and_agreement_are_shown(store, clock, grader):
    item = put_all(store, grader)[grader]
    shown = desk(store, "ana", clock).answer(item, ANSWERS[grader])
    beside = {
        "golden": ({"grade": "PASS"}, {}),
        "selection": ({"grade": "FAIL", "failure_category": "wrong_tool"}, {"grade": "PASS"}),
        "rubric": (
            {"selection": 1, "arguments": 4, "sequencing": 5, "abstention": None, "severity": "CRITICAL"},
            {"selection": 1, "arguments": 4, "sequencing": 5, "abstention": None, "severity": "HIGH"},
        ),
        "preference": ({"overall": "B", "both_critical": False},) * 2,
        "interpretation": ({"score": 2, "flags": ["invented"]},) * 2,
        "tone": ({"polite": False, "level": 3},) * 2,
    }[grader]  # fmt: skip
    assert (shown.verdict, shown.judge) == beside
    judges = () if grader == "golden" else (f"{HIDDEN['judge']} ({HIDDEN['judge_model']})",)
    assert shown.judges == judges
    assert (shown.state, shown.needed, shown.answered, shown.others) == ("done", 1, 1, ())
    assert shown.consensus == records_of(store, item)[0].fields


def test_agreement_is_said_in_words(store, clock):
    item = put_all(store, "rubric")["rubric"]
    shown = desk(store, "ana", clock).answer(item, ANSWERS["rubric"])
    assert (shown.agreement.same, shown.agreement.close, shown.agreement.apart) == (
        ("arguments", "abstention"), ("selection",), ("sequencing", "severity"),
    )  # fmt: skip
    assert shown.words == (
        "you and the judge agree on arguments, abstention; are one step apart on selection; "
        "differ on sequencing, severity"
    )


def test_who_could_not_judge_is_told_whether_the_judge_did(store, clock):
    item = put_all(store, "golden")["golden"]
    shown = desk(store, "ana", clock).answer(item, {}, unsure="the result was cut")
    assert shown.words == "you could not judge this (unsure); the verdict did"
    assert shown.state == "adjudication"


def test_a_pairs_sides_and_names_are_shown_and_a_traces_agent(store, clock):
    items = put_all(store, "preference", "rubric")
    shown = desk(store, "ana", clock).answer(items["preference"], ANSWERS["preference"])
    assert shown.agents == {"A": HIDDEN["agent_a"], "B": HIDDEN["agent_b"]}
    assert set(shown.sides) == {"left", "right"}
    assert shown.agent is None
    trace = desk(store, "ana", clock).answer(items["rubric"], ANSWERS["rubric"])
    assert trace.agent == {"name": HIDDEN["agent"], "version": HIDDEN["version"], "model": HIDDEN["model"]}


def test_others_stay_hidden_until_the_item_has_all_its_answers(store, clock):
    item = put_all(store, "golden")["golden"]
    first = desk(store, "ana", clock, **TWO).answer(item, {"grade": "PASS"})
    assert (first.state, first.others, first.consensus) == ("waiting", (), None)
    second = desk(store, "bo", clock, **TWO).answer(item, {"grade": "PASS"}, note="clear")
    assert [(one.who, one.fields) for one in second.others] == [("ana", {"grade": "PASS"})]
    again = desk(store, "ana", clock, **TWO).reveal(item)
    assert [(one.who, one.note) for one in again.others] == [("bo", "clear")]
    assert again.consensus == {"grade": "PASS"}


def test_without_an_answer_nothing_is_revealed(store, clock):
    item = put_all(store, "golden")["golden"]
    desk(store, "bo", clock, **TWO).answer(item, {"grade": "PASS"})
    with pytest.raises(ConfigError, match="ana has not answered this item, so it stays blind"):
        desk(store, "ana", clock, **TWO).reveal(item)
    assert not desk(store, "ana", clock).has_answered(item)
    assert desk(store, "bo", clock).has_answered(item)


def test_a_bad_answer_records_nothing(store, clock):
    item = put_all(store, "rubric")["rubric"]
    ana, before = desk(store, "ana", clock), store.head()
    for fields, more in (({"selection": "2"}, {}), (ANSWERS["rubric"], {"evidence": [" "]}), ({}, {"unsure": ""})):
        with pytest.raises(ConfigError):
            ana.answer(item, fields, **more)
    assert store.head() == before


# ---- several people --------------------------------------------------------------------------------------------------


def test_answers_that_differ_go_to_a_third_person_who_decides(store, clock):
    item = put_all(store, "golden")["golden"]
    desk(store, "ana", clock, **TWO).answer(item, {"grade": "PASS"})
    shown = desk(store, "bo", clock, **TWO).answer(item, {"grade": "FAIL"})
    assert (shown.state, shown.consensus, shown.others) == ("adjudication", None, ())
    assert desk(store, "ana", clock, **TWO).next() is None
    third = desk(store, "cy", clock, **TWO)
    found = third.next()
    assert (found.adjudicates, found.view.differing) == (True, ("grade",))
    decided = third.answer(item, {"grade": "FAIL"}, note="The door was opened without asking.")
    assert (decided.kind, decided.blind, decided.state) == ("adjudication", False, "done")
    assert decided.consensus == {"grade": "FAIL"}
    assert [one.who for one in decided.others] == ["ana", "bo"]
    (made,) = (one for _, one in store.queue.history(item) if isinstance(one, ConsensusRecord))
    assert (made.how, made.reason) == ("adjudication", "The door was opened without asking.")


def test_what_needs_fewer_answers_than_before_is_decided_by_those_it_has(store, clock):
    item = put_all(store, "golden")["golden"]
    desk(store, "ana", clock, **TWO).answer(item, {"grade": "PASS"})
    assert store.queue.consensus(item) is None
    assert desk(store, "bo", clock, answers=1).next() is None
    assert store.queue.consensus(item).fields == {"grade": "PASS"}


def test_a_late_answer_is_extra_and_changes_nothing(store, clock):
    item = put_all(store, "golden")["golden"]
    late = desk(store, "ana", clock)
    late.next()
    clock.forward(minutes=16)
    assert desk(store, "bo", clock).next() is not None
    desk(store, "bo", clock).answer(item, {"grade": "PASS"})
    shown = late.answer(item, {"grade": "FAIL"})
    assert (shown.extra, shown.consensus) == (True, {"grade": "PASS"})


def test_nobody_answers_twice(store, clock):
    item = put_all(store, "golden")["golden"]
    ana = desk(store, "ana", clock, **TWO)
    ana.answer(item, {"grade": "PASS"})
    clock.forward(seconds=1)
    with pytest.raises(StoreError, match="ana has answered this item already"):
        ana.answer(item, {"grade": "FAIL"})


def test_what_may_be_critical_needs_more_people(store, clock):
    item = put_all(store, "rubric", reasons=[("CRITICAL", "CRITICAL")])["rubric"]
    assert desk(store, "ana", clock, answers=1, answers_critical=2).open(item).needed == 2


def test_the_most_urgent_item_comes_first(store, clock):
    put_run(store, run_of("golden"), "golden")
    low = put_item(store, "golden", unit="low")
    high = put_item(store, "golden", unit="high", reasons=[("policy_veto", "CRITICAL")])
    mid = put_item(
        store,
        "golden",
        unit="mid",
        reasons=[("unevaluable", None)],
        result=result_for("golden", status="UNEVALUABLE", verdict=None),
    )
    ana = desk(store, "ana", clock)
    seen = []
    for _ in range(3):
        seen.append(ana.next().item)
        ana.answer(seen[-1], {"grade": "PASS"})
    assert seen == [high, mid, low]
    assert ana.next() is None


def test_only_what_is_asked_for_is_taken(store, clock):
    items = put_all(store, "golden", "rubric")
    ana = desk(store, "ana", clock)
    assert ana.next(Only(grader="rubric")).item == items["rubric"]
    assert ana.next(Only(grader="golden")).item == items["golden"]
    assert ana.next(Only(reason="HIGH")) is None


# ---- letting go, holding on ------------------------------------------------------------------------------------------


def test_releasing_skipping_and_renewing(store, clock):
    item = put_all(store, "golden")["golden"]
    ana, bo = desk(store, "ana", clock), desk(store, "bo", clock)
    ana.next()
    assert bo.next() is None
    clock.forward(minutes=10)
    assert ana.renew(item) == "2026-11-29T10:25:00.000+00:00"
    with pytest.raises(StoreError, match="bo does not hold this item"):
        bo.renew(item)
    ana.release(item, "lunch")
    assert bo.next().item == item
    with pytest.raises(StoreError, match="why is the item skipped"):
        bo.skip(item, " ")
    bo.skip(item, "not my field")
    assert ana.next().item == item


# ---- amending --------------------------------------------------------------------------------------------------------


def test_an_amendment_is_a_second_answer_that_is_not_blind(store, clock):
    item = put_all(store, "golden")["golden"]
    ana = desk(store, "ana", clock)
    first = ana.answer(item, {"grade": "FAIL"})
    clock.forward(minutes=1)
    shown = ana.amend(item, {"grade": "PASS"}, note="I had misread the second call.")
    one, two = records_of(store, item)
    assert (one.fields, one.blind) == ({"grade": "FAIL"}, True)
    assert (two.fields, two.kind, two.blind, two.replaces) == ({"grade": "PASS"}, "amendment", False, first.digest)
    assert two.verdict == one.verdict
    assert shown.consensus == {"grade": "FAIL"}
    clock.forward(minutes=1)
    ana.amend(item, {"grade": "FAIL"}, note="No: it was right the first time.")
    assert records_of(store, item)[2].replaces == shown.digest


def test_an_amendment_needs_an_answer_and_a_reason(store, clock):
    item = put_all(store, "golden")["golden"]
    ana = desk(store, "ana", clock)
    with pytest.raises(ConfigError, match="ana has not answered this item"):
        ana.amend(item, {"grade": "PASS"}, note="why not")
    ana.answer(item, {"grade": "FAIL"})
    with pytest.raises(ConfigError, match="why the answer is changed"):
        ana.amend(item, {"grade": "PASS"}, note=" ")


# ---- whose verdict (STO-10) ------------------------------------------------------------------------------------------


def test_an_answer_belongs_to_the_verdict_that_stood_when_it_was_asked_for(store, clock):
    """STO-10: the label of a person points at the call of the judge that it was given for."""
    item = put_all(store, "rubric")["rubric"]
    asked = digest_of(store.verdict(run_of("rubric"), HIDDEN["unit"], "rubric"))
    ana = desk(store, "ana", clock)
    ana.next()
    changed = result_for("rubric", misuse_severity="NONE", judged_severity="NONE")
    put_item(store, "rubric", result=changed, revision=1, reasons=())
    clock.forward(minutes=12)
    ana.renew(item)
    shown = ana.answer(item, ANSWERS["rubric"])
    assert records_of(store, item)[0].verdict == asked
    assert shown.judge["severity"] == "HIGH"
    # Somebody who is asked only now is asked about what stands now.
    bo = desk(store, "bo", clock, **TWO)
    assert bo.answer(item, ANSWERS["rubric"]).judge["severity"] == "NONE"


def test_what_was_let_go_and_taken_again_is_asked_about_anew(store, clock):
    item = put_all(store, "rubric")["rubric"]
    ana = desk(store, "ana", clock)
    ana.next()
    ana.release(item)
    put_item(store, "rubric", result=result_for("rubric", judged_severity="NONE"), revision=1, reasons=())
    clock.forward(minutes=1)
    ana.next()
    assert ana.answer(item, ANSWERS["rubric"]).judge["severity"] == "NONE"


def test_a_later_run_never_moves_an_answer(store, clock):
    """STO-10: a decision of a person is never overwritten by a later run of a judge."""
    item = put_all(store, "rubric")["rubric"]
    ana = desk(store, "ana", clock)
    ana.answer(item, ANSWERS["rubric"])
    before, shown = records_of(store, item), ana.reveal(item)
    put_run(store, "20261130-1", "rubric")
    again = put_item(store, "rubric", run="20261130-1", result=result_for("rubric", judged_severity="NONE"))
    assert again != item
    assert records_of(store, item) == before
    assert ana.reveal(item) == shown
    assert records_of(store, again) == []
    assert store.queue.item(again).state == "waiting"
    ana.answer(again, ANSWERS["rubric"])
    assert records_of(store, again)[0].verdict != before[0].verdict


# ---- roles -----------------------------------------------------------------------------------------------------------

PEOPLE = {"ana": ("reviewer",), "bo": ("reviewer",), "cy": ("adjudicator",), "dana": ("signer",)}


def test_people_do_what_their_roles_allow(store, clock):
    item = put_all(store, "golden")["golden"]
    rules = {**TWO, "people": PEOPLE}
    for who, said in (("zoe", "not one of the people"), ("dana", "may not answer")):
        with pytest.raises(ConfigError, match=said):
            desk(store, who, clock, **rules).next()
        with pytest.raises(ConfigError, match=said):
            desk(store, who, clock, **rules).answer(item, {"grade": "PASS"})
    assert desk(store, "cy", clock, **rules).next() is None
    desk(store, "ana", clock, **rules).answer(item, {"grade": "PASS"})
    desk(store, "bo", clock, **rules).answer(item, {"grade": "FAIL"})
    with pytest.raises(ConfigError, match="may not decide between answers"):
        desk(store, "ana", clock, **rules).answer(item, {"grade": "PASS"})
    assert desk(store, "cy", clock, **rules).next().adjudicates
    assert desk(store, "cy", clock, **rules).answer(item, {"grade": "FAIL"}).state == "done"


@pytest.mark.parametrize("rules", [{"answers": -1}, {"answers_critical": -2}, {"lease_minutes": 0}])
def test_rules_that_make_no_sense_are_refused(store, rules):
    with pytest.raises(ConfigError, match="a lease longer than nothing"):
        desk(store, "ana", **rules)


# ---- forms of one's own ----------------------------------------------------------------------------------------------


def test_a_grader_of_ones_own_has_the_form_of_its_schema(store, clock):
    item = put_all(store, "tone")["tone"]
    form = desk(store, "ana", clock).open(item).form
    assert [(one.name, one.kind) for one in form.fields] == [("polite", "choice"), ("level", "level")]
    assert json.loads(msgspec.json.encode(form))["grader"] == "tone"


def test_somebody_whose_claim_is_older_than_the_disagreement_decides_nothing(store):
    """Their view was blind, so their answer is one more answer, kept as extra."""
    item = put_all(store, "rubric", reasons=[("CRITICAL", "CRITICAL")])["rubric"]
    clock = Clock()
    late = desk(store, "late", clock)
    assert not late.next().adjudicates
    clock.forward(minutes=60)
    for who, severity in (("ana", "CRITICAL"), ("bo", "LOW")):
        desk(store, who, clock).answer(item, ANSWERS["rubric"] | {"severity": severity}, note="seen in the calls")
    assert store.queue.item(item, clock()).adjudicates
    assert not late.open(item).adjudicates
    said = late.answer(item, ANSWERS["rubric"], note="seen in the calls")
    assert store.queue.item(item, clock()).adjudicates
    assert [(one.kind, one.extra, one.blind) for _, _, one in store.queue.answers(item=item)][-1] == (
        "answer", True, True
    )  # fmt: skip
    assert said.item == item
