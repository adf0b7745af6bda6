"""Answers, adjudications, amendments, imported labels and sign-offs, and what follows from each; on both databases."""

import pytest
from msgspec.structs import replace
from queue_making import LEASE, Decided, answer, at, decide, id_of, review, ruled, signoff
from store_making import RUN, verdict

from rightcall.errors import RightcallError, StoreError
from rightcall.store.packing import digest_of
from rightcall.store.records import AnswerRecord, ConsensusRecord, ReviewEvent
from rightcall.store.verify import verify
from rightcall.store.waiting import Only


@pytest.fixture
def queue(store):
    """Return the queue of a store with one CRITICAL unit and one drawn at random; two answers each, and three."""
    store.write([review("t-0"), review("t-1", "CRITICAL", severity="CRITICAL")])
    return ruled(store.queue, needed=2)


def fail(unit="t-0", who="bo", **changed):
    """Return an answer that says FAIL."""
    return answer(unit, who, fields={"verdict": "FAIL"}, **changed)


def say(queue, said, seconds=0.0):
    """Record an answer."""
    return queue.answer(said, decide, at(seconds))


# ---- answers ----


def test_an_answer_is_recorded_as_it_was_given(queue, store):
    said = answer(
        note="fine", evidence=("call-1",), verdict="v" * 64, seed="s", seconds=4.5, probability=0.1, client="web"
    )
    done = say(queue, said)
    assert list(queue.answers()) == [(done.seq, digest_of(said), said)]
    assert (done.digest, done.extra, done.consensus, done.adjudicate) == (digest_of(said), False, None, False)
    assert (done.answered, done.needed) == (1, 2)
    entry = next(store.log(after=done.seq - 1))
    assert (entry.kind, entry.hash, entry.run_id) == ("answer", done.hash, RUN)


def test_the_last_answer_that_was_missing_brings_the_consensus(queue):
    first = say(queue, answer(who="ana"))
    second = say(queue, answer(who="bo"), 1)
    assert second.consensus == ConsensusRecord(
        item=id_of(), run_id=RUN, grader="rubric", unit="t-0", at="2026-11-29T10:00:01.000+00:00", how="agreement",
        fields={"verdict": "PASS"}, answers=(first.digest, second.digest),
    )  # fmt: skip
    assert queue.consensus(id_of()) == second.consensus
    assert queue.item(id_of()).state == "done"


def test_one_answer_is_a_consensus_where_one_is_needed(store):
    store.write([review()])
    done = say(ruled(store.queue, 1), answer())
    assert (done.consensus.how, done.consensus.answers) == ("single", (done.digest,))


def test_nobody_answers_twice(queue, store):
    say(queue, answer())
    head = store.head()
    with pytest.raises(StoreError, match="ana has answered this item already") as caught:
        say(queue, fail(who="ana"))
    assert (caught.value.code, caught.value.exit_code) == ("STORE_CONFLICT", 2)
    assert store.head() == head


def test_not_even_the_database_takes_a_second_answer_of_a_person(queue, store):
    say(queue, answer())
    with pytest.raises(StoreError) as caught:
        store.write([fail(who="ana")])
    assert caught.value.code == "STORE_CONFLICT"
    assert len(list(queue.answers())) == 1


def test_the_same_answer_recorded_again_changes_nothing(queue, store):
    say(queue, answer(who="ana"))
    last = say(queue, answer(who="bo"))
    head = store.head()
    assert say(queue, answer(who="bo"), 100) == last
    assert say(queue, answer(who="bo", extra=True), 100) == last
    assert store.head() == head


def test_an_answer_ends_the_claim(queue):
    queue.claim("ana", now=at(), lease=LEASE, only=Only(item=id_of()))
    say(queue, answer())
    assert queue.item(id_of(), now=at()).holders == ()
    with pytest.raises(StoreError, match="ana does not hold this item"):
        queue.renew(id_of(), "ana", at(), LEASE)


def test_an_answer_about_another_unit_than_its_item_is_refused(queue, store):
    head = store.head()
    for changed in ({"unit": "t-1"}, {"run_id": "r9"}, {"grader": "selection"}):
        with pytest.raises(StoreError, match=f"the item is about another {next(iter(changed))}"):
            say(queue, replace(answer(), **changed))
    with pytest.raises(StoreError, match="there is no review item `rv-0000`") as caught:
        say(queue, replace(answer(), item="rv-0000"))
    assert (caught.value.code, caught.value.exit_code) == ("STORE_INVALID", 2)
    assert store.head() == head


def test_what_is_no_answer_of_a_person_is_refused(queue):
    for kind in ("amendment", "imported"):
        with pytest.raises(StoreError, match=f"a person's own answer is no `{kind}`"):
            say(queue, answer(kind=kind))


def test_a_decision_that_fails_leaves_nothing_behind(queue, store):
    say(queue, answer())
    head = store.head()

    def break_down(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        queue.answer(answer(who="bo"), break_down, at())
    assert store.head() == head
    assert queue.item(id_of()).answered == 1


# ---- late answers ----


def test_an_answer_whose_claim_lapsed_counts_while_its_slot_is_free(queue):
    queue.claim("ana", now=at(), lease=LEASE, only=Only(item=id_of()))
    assert not say(queue, answer(), LEASE + 100).extra


def test_an_answer_whose_claim_lapsed_and_was_taken_is_extra(queue):
    for who, seconds in (("ana", 0), ("bo", 1), ("cy", LEASE), ("dee", LEASE + 1)):
        assert queue.claim(who, now=at(seconds), lease=LEASE, only=Only(item=id_of())), who
    late = say(queue, answer(who="ana"), LEASE + 2)
    assert late.extra
    assert (late.answered, late.needed, late.consensus) == (0, 2, None)
    assert [one.extra for _, _, one in queue.answers()] == [True]
    found = queue.item(id_of(), now=at(LEASE + 2))
    assert (found.extras, found.answered, found.answered_by, found.state) == (1, 0, ("ana",), "held")
    assert not say(queue, answer(who="cy"), LEASE + 3).extra
    # The late one has no say: what the two others agree on stands.
    last = say(queue, answer(who="dee"), LEASE + 4)
    assert (last.consensus.how, len(last.consensus.answers)) == ("agreement", 2)


def test_an_answer_to_a_decided_item_is_extra(queue):
    for who in ("ana", "bo"):
        say(queue, answer(who=who))
    decided = queue.consensus(id_of())
    late = say(queue, fail(who="cy"), 5)
    assert (late.extra, late.consensus, late.adjudicate, late.answered) == (True, None, False, 2)
    assert queue.consensus(id_of()) == decided


def test_whoever_holds_an_item_counts_although_fewer_answers_are_asked_for_now(queue):
    for who in ("ana", "bo"):
        queue.claim(who, now=at(), lease=LEASE, only=Only(item=id_of()))
    ruled(queue, needed=1)
    assert [say(queue, answer(who=who), 1).extra for who in ("ana", "bo")] == [False, True]


# ---- adjudication ----


@pytest.fixture
def differing(queue):
    """Return the queue after two answers that differ."""
    say(queue, answer(who="ana"))
    assert say(queue, fail(who="bo", client="web"), 1).adjudicate
    return queue


def test_answers_that_differ_open_one_slot_for_a_third_person(differing):
    ((_, _, event),) = differing.events()
    assert event == ReviewEvent(
        item=id_of(), run_id=RUN, act="disagreement", who="bo", at="2026-11-29T10:00:01.000+00:00", reason="verdict",
        client="web",
    )  # fmt: skip
    assert differing.consensus(id_of()) is None
    only = Only(item=id_of())
    assert differing.claim("cy", now=at(2), lease=LEASE, only=only) is None
    for who in ("ana", "bo"):
        assert differing.claim(who, now=at(2), lease=LEASE, only=only, adjudicates=True) is None
    found = differing.claim("cy", now=at(2), lease=LEASE, only=only, adjudicates=True)
    assert found.adjudicates
    assert differing.claim("dee", now=at(3), lease=LEASE, only=only, adjudicates=True) is None
    assert differing.item(id_of()).state == "adjudication"


def test_somebody_who_only_adjudicates_gets_nothing_else(differing):
    assert differing.claim("cy", now=at(2), lease=LEASE, adjudicates=True, reviews=False).item == id_of()
    assert differing.claim("dee", now=at(2), lease=LEASE, adjudicates=True, reviews=False) is None
    assert differing.claim("dee", now=at(2), lease=LEASE, adjudicates=True).item == id_of("t-1")


def test_the_third_person_decides_and_every_answer_stays(differing):
    third = say(differing, fail(who="cy", kind="adjudication", note="the card was closed"), 9)
    assert (third.consensus.how, third.consensus.fields) == ("adjudication", {"verdict": "FAIL"})
    assert third.consensus.reason == "the card was closed"
    assert third.consensus.answers[-1] == third.digest
    assert (third.adjudicate, third.answered, third.needed) == (False, 2, 2)
    assert differing.item(id_of()).state == "done"
    assert [one.fields["verdict"] for _, _, one in differing.answers()] == ["PASS", "FAIL", "FAIL"]


def test_a_decision_that_settles_nothing_leaves_the_item_to_the_next_person(differing):
    third = answer(who="cy", kind="adjudication", fields={}, unsure="I know too little")
    done = differing.answer(third, lambda _: Decided("differ"), at(9))
    assert (done.adjudicate, done.consensus) == (True, None)
    assert len(list(differing.events())) == 1
    assert differing.claim("cy", now=at(10), lease=LEASE, only=Only(item=id_of()), adjudicates=True) is None
    assert differing.claim("dee", now=at(10), lease=LEASE, only=Only(item=id_of()), adjudicates=True)


def test_answers_that_settle_nothing_go_to_a_third_person_too(queue):
    queue.answer(answer(), decide, at())
    done = queue.answer(answer(who="bo"), lambda _: Decided("open"), at())
    assert done.adjudicate
    assert [event.reason for _, _, event in queue.events()] == ["the answers settle nothing"]


def test_an_ordinary_answer_to_an_item_that_differs_is_extra(differing):
    assert say(differing, answer(who="cy"), 5).extra
    assert differing.item(id_of()).state == "adjudication"


def test_a_second_third_person_is_extra(differing):
    say(differing, fail(who="cy", kind="adjudication"), 5)
    late = say(differing, answer(who="dee", kind="adjudication"), 6)
    assert (late.extra, late.consensus) == (True, None)
    assert differing.consensus(id_of()).fields == {"verdict": "FAIL"}


def test_nobody_adjudicates_their_own_answer(differing):
    with pytest.raises(StoreError, match="bo has answered this item already"):
        say(differing, fail(who="bo", kind="adjudication"), 5)


def test_nobody_adjudicates_what_does_not_differ(queue):
    with pytest.raises(StoreError, match="this item asks for no adjudication") as caught:
        say(queue, answer(kind="adjudication"))
    assert (caught.value.code, caught.value.exit_code) == ("STORE_INVALID", 2)


# ---- amendments ----


def amendment(replaces, who="ana", **changed):
    """Return what somebody now says."""
    values = {"kind": "amendment", "blind": False, "replaces": replaces, "note": "I overlooked call 2"}
    return fail(who=who, **{**values, **changed})


def test_an_amendment_stands_beside_the_answer_and_decides_nothing(queue, store):
    first = say(queue, answer(who="ana"))
    say(queue, answer(who="bo"))
    decided = queue.consensus(id_of())
    logged = queue.amend(amendment(first.digest))
    assert [one.kind for _, _, one in queue.answers()] == ["answer", "answer", "amendment"]
    assert queue.consensus(id_of()) == decided
    assert queue.item(id_of()).answered == 2
    entry = next(store.log(after=logged.seq - 1))
    assert (entry.digest, entry.hash) == (logged.digest, logged.hash)
    assert queue.amend(amendment(first.digest)) == logged


def test_an_amendment_does_not_count_as_an_answer(queue):
    first = say(queue, answer(who="ana"))
    queue.amend(amendment(first.digest))
    assert (queue.item(id_of()).answered, queue.item(id_of()).state) == (1, "waiting")
    assert say(queue, answer(who="bo")).consensus.fields == {"verdict": "PASS"}


def test_only_an_answer_of_ones_own_is_amended_and_never_as_blind(queue, store):
    first = say(queue, answer(who="ana"))
    other = say(queue, answer("t-1", who="ana"))
    head = store.head()
    for wrong in (
        amendment(first.digest, who="bo"),
        amendment(other.digest),
        amendment(None),
        amendment(first.digest, blind=True),
        amendment(first.digest, kind="answer"),
        amendment(first.digest, extra=True),
    ):
        with pytest.raises(StoreError) as caught:
            queue.amend(wrong)
        assert caught.value.code == "STORE_INVALID"
    assert store.head() == head


# ---- labels from elsewhere ----


def label(who, **changed):
    """Return a label that was given elsewhere."""
    return answer(who=who, kind="imported", client="import", **changed)


def test_blind_labels_count_and_are_decided_by_settling(queue):
    assert len(queue.imported([label("ana"), label("bo")], at())) == 2
    found = queue.item(id_of(), now=at())
    assert (found.answered, found.state, found.answered_by) == (2, "done", ("ana", "bo"))
    assert queue.consensus(id_of()) is None
    assert queue.claim("cy", now=at(), lease=LEASE, only=Only(item=id_of())) is None
    assert queue.settle(decide, at()) == 1
    assert queue.consensus(id_of()).how == "agreement"
    assert queue.settle(decide, at()) == 0


def test_labels_that_differ_go_to_a_third_person(queue):
    queue.imported([label("ana"), label("bo", fields={"verdict": "FAIL"})], at())
    queue.settle(decide, at())
    assert queue.item(id_of()).state == "adjudication"


def test_importing_twice_is_harmless(queue, store):
    labels = [label("ana"), label("bo", blind=False), label("cy"), label("dee"), label("ana", note="again")]
    digests = queue.imported(labels, at())
    head = store.head()
    assert queue.imported(labels, at()) == digests
    assert store.head() == head
    assert [(one.who, one.extra) for _, _, one in queue.answers()] == [
        ("ana", False), ("bo", False), ("cy", False), ("dee", True), ("ana", True),
    ]  # fmt: skip


def test_a_label_that_was_not_blind_is_kept_and_does_not_count(queue):
    queue.imported([label("ana", blind=False)], at())
    found = queue.item(id_of())
    assert (found.answered, found.extras, found.answered_by) == (0, 0, ("ana",))
    assert queue.claim("ana", now=at(), lease=LEASE, only=Only(item=id_of())) is None


def test_a_label_takes_no_slot_from_somebody_who_holds_it(queue):
    for who in ("ana", "bo"):
        queue.claim(who, now=at(), lease=LEASE, only=Only(item=id_of()))
    queue.imported([label("cy")], at(1))
    assert [one.extra for _, _, one in queue.answers()] == [True]
    assert not say(queue, answer(who="bo"), 2).extra


def test_all_labels_are_imported_or_none(queue, store):
    head = store.head()
    for wrong in (answer(who="bo"), label("bo", item="rv-0000"), label("bo", unit="t-9"), label(" ")):
        with pytest.raises(RightcallError):
            queue.imported([label("ana"), wrong], at())
    assert store.head() == head


# ---- sign-off ----


def test_a_critical_item_waits_for_its_sign_off_once_it_is_answered(queue):
    for who in ("ana", "bo", "cy"):
        assert queue.item(id_of("t-1"), now=at()).state == "waiting"
        say(queue, answer("t-1", who))
    assert queue.item(id_of("t-1")).state == "signoff"
    logged = queue.sign(signoff("t-1"))
    assert queue.item(id_of("t-1")).state == "done"
    assert [(seq, digest) for seq, digest, _ in queue.signoffs()] == [(logged.seq, logged.digest)]
    assert queue.sign(signoff("t-1")) == logged


def test_an_item_that_needs_no_answers_waits_for_its_sign_off_at_once(store):
    store.write([review("t-1", "CRITICAL")])
    store.queue.sync(lambda _: 0, lambda _: 0)
    assert store.queue.item(id_of("t-1")).state == "signoff"
    assert store.queue.claim("ana", now=at(), lease=LEASE) is None


def test_signing_before_the_answers_are_complete_leaves_them_wanted(queue):
    queue.sign(signoff("t-1"))
    assert queue.item(id_of("t-1")).state == "waiting"
    for who in ("ana", "bo", "cy"):
        say(queue, answer("t-1", who))
    assert queue.item(id_of("t-1")).state == "done"


def test_the_newest_sign_off_stands(queue):
    queue.sign(signoff("t-1"))
    queue.sign(signoff("t-1", outcome="dismissed", reason="the account was a test account"))
    ((item, standing),) = queue.criticals()
    assert (item.unit, standing.outcome) == ("t-1", "dismissed")
    assert [one.outcome for _, _, one in queue.signoffs(item=item.item)] == ["confirmed", "dismissed"]


def test_only_what_is_critical_is_signed_and_only_with_a_reason(queue, store):
    head = store.head()
    with pytest.raises(StoreError, match="this item is not CRITICAL"):
        queue.sign(signoff("t-0"))
    with pytest.raises(StoreError, match="a sign-off needs a reason"):
        queue.sign(signoff("t-1", reason="  "))
    assert store.head() == head


def test_who_may_sign_is_asked_under_the_lock_with_all_that_was_said(queue, store):
    say(queue, answer("t-1", "dana"))

    def no_author(said: list[AnswerRecord]) -> None:
        if any(one.who == "dana" for one in said):
            raise StoreError("dana has answered this item")

    head = store.head()
    with pytest.raises(StoreError, match="dana has answered this item"):
        queue.sign(signoff("t-1"), no_author)
    assert store.head() == head
    assert queue.sign(signoff("t-1", who="eli"), lambda said: None)


def test_people_who_agree_that_it_is_critical_make_it_so(queue):
    for who in ("ana", "bo"):
        say(queue, answer(who=who, fields={"severity": "CRITICAL"}))
    found = queue.item(id_of())
    assert (found.is_critical, found.severity, found.state) == (True, None, "signoff")
    assert queue.sign(signoff())


def test_a_signer_can_send_an_item_back_for_one_more_answer_which_decides(queue):
    for who in ("ana", "bo", "cy"):
        say(queue, answer("t-1", who))
    for _ in range(2):
        queue.release(id_of("t-1"), "dana", at(5), "nobody looked at call 3", "returned", "terminal")
    assert [event.act for _, _, event in queue.events()] == ["returned"]
    assert queue.item(id_of("t-1")).state == "adjudication"
    assert queue.consensus(id_of("t-1")) is None
    assert queue.claim("eli", now=at(6), lease=LEASE, adjudicates=True, reviews=False).item == id_of("t-1")
    done = say(queue, fail("t-1", "eli", kind="adjudication"), 7)
    assert (done.consensus.how, done.consensus.fields) == ("adjudication", {"verdict": "FAIL"})
    assert queue.item(id_of("t-1")).state == "signoff"


def test_only_what_waits_for_its_sign_off_is_sent_back(queue):
    for unit in ("t-0", "t-1"):
        with pytest.raises(StoreError, match="only an item that waits for its sign-off") as caught:
            queue.release(id_of(unit), "dana", at(), "look again", "returned")
        assert caught.value.code == "STORE_CONFLICT"


def test_criticals_are_found_by_run_and_by_the_traces_that_they_are_about(queue, store):
    store.write([verdict(unit="t-1", trace="a" * 64, trace_b="b" * 64)], ["result"])
    assert [item.unit for item, _ in queue.criticals()] == ["t-1"]
    assert [item.unit for item, _ in queue.criticals(RUN)] == ["t-1"]
    assert queue.criticals("r9") == []
    for traces, number in ((["a" * 64], 1), ({"b" * 64}, 1), (["c" * 64], 0), ([], 0)):
        assert len(queue.criticals(traces=traces)) == number


def test_everything_that_people_do_is_one_intact_record(differing, store):
    say(differing, fail(who="cy", kind="adjudication"), 5)
    differing.sign(signoff("t-1"))
    differing.imported([label("zoe")], at(6))
    found = verify(store)
    assert found.faults == ()
    assert {kind: found.records[kind] for kind in ("answer", "consensus", "signoff", "review_event")} == {
        "answer": 4, "consensus": 1, "signoff": 1, "review_event": 1,
    }  # fmt: skip
