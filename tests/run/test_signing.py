"""Signing for what is CRITICAL: by the right person, with a reason, after reading; the newest decision stands."""

import pytest
from desk_making import ANSWERS, HIDDEN, Clock, desk, opened, put_all

from rightcall.errors import ConfigError, StoreError
from rightcall.store.records import ReviewEvent
from rightcall.store.verify import verify

PEOPLE = {"ana": ("reviewer",), "bo": ("reviewer", "signer"), "cy": ("adjudicator",), "dana": ("signer",)}
WHY = "The card was closed for good."
TYPED = HIDDEN["trace"]


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path) as found:
        yield found


@pytest.fixture
def item(store):
    return put_all(store, "rubric", reasons=[("CRITICAL", "CRITICAL"), ("random", None)])["rubric"]


def signer(store, who="dana", **rules):
    return desk(store, who, Clock(), **{"people": PEOPLE, **rules})


def signoffs(store):
    return [one for _, _, one in store.queue.signoffs()]


def test_a_sign_off_is_recorded_with_person_role_reason_and_what_was_typed(store, item):
    found = signer(store).sign(item[:9], "confirmed", f"  {WHY} ", TYPED)
    (one,) = signoffs(store)
    assert (one.item, one.who, one.role, one.outcome, one.reason, one.typed, one.client) == (
        item, "dana", "signer", "confirmed", WHY, TYPED, "test",
    )  # fmt: skip
    entry = list(store.log())[-1]
    assert (found.seq, found.hash, found.digest) == (entry.seq, entry.hash, entry.digest)
    assert store.queue.item(item).is_signed
    assert verify(store).intact


def test_signing_without_answers_is_allowed(store, item):
    signer(store).sign(item, "dismissed", WHY, TYPED)
    assert store.queue.item(item).is_signed


def test_an_item_waits_for_its_sign_off_once_it_is_answered(store, item):
    desk(store, "ana", Clock()).answer(item, ANSWERS["rubric"])
    assert desk(store, "bo", Clock()).answer(item, ANSWERS["rubric"]).state == "signoff"
    signer(store).sign(item, "confirmed", WHY, TYPED)
    assert store.queue.item(item).state == "done"


@pytest.mark.parametrize(
    ("who", "reason", "typed", "said"),
    [
        ("dana", "too short", TYPED, "at least 15 characters"),
        ("dana", WHY, "t-1", "`t-1` was typed in place of"),
        ("dana", WHY, TYPED + " ", "was typed in place of"),
        ("ana", WHY, TYPED, "`ana` may not sign"),
        ("zoe", WHY, TYPED, "`zoe` is not one of the people"),
        ("bo", WHY, TYPED, "`bo` has answered this item: somebody else must sign"),
    ],
)
def test_what_may_not_be_signed_is_not(store, item, who, reason, typed, said):
    signer(store, "bo").answer(item, ANSWERS["rubric"])
    before = store.head()
    with pytest.raises(ConfigError) as caught:
        signer(store, who).sign(item, "confirmed", reason, typed)
    assert said in caught.value.message
    assert store.head() == before


def test_only_two_decisions_can_be_signed(store, item):
    with pytest.raises(ConfigError, match="`maybe` is no decision"):
        signer(store).sign(item, "maybe", WHY, TYPED)


def test_what_is_not_critical_cannot_be_signed(store):
    item = put_all(store, "golden", reasons=[("HIGH", "HIGH")])["golden"]
    with pytest.raises(StoreError, match="not CRITICAL"):
        signer(store).sign(item, "confirmed", WHY, TYPED)
    with pytest.raises(ConfigError, match="not CRITICAL"):
        signer(store).to_sign(item)


def test_without_roles_everybody_may_sign_and_authors_too(store, item):
    person = desk(store, "ana", Clock())
    person.answer(item, ANSWERS["rubric"])
    person.sign(item, "confirmed", WHY, TYPED)
    assert signoffs(store)[0].role is None


def test_the_newest_decision_stands_and_the_others_stay(store, item):
    signer(store).sign(item, "confirmed", WHY, TYPED)
    signer(store, "bo").sign(item, "dismissed", "It was a test account after all.", TYPED)
    assert [one.outcome for one in signoffs(store)] == ["confirmed", "dismissed"]
    assert signer(store).to_sign(item).signed["outcome"] == "dismissed"


def test_a_signer_sees_everything(store, item):
    desk(store, "ana", Clock()).answer(item, ANSWERS["rubric"], note="cancelled without asking")
    found = signer(store).to_sign(item)
    assert found.expected == TYPED
    assert [(one.reason, one.detail) for one in found.critical] == [("CRITICAL", HIDDEN["detail"])]
    assert [one.reason for one in found.reasons] == ["CRITICAL", "random"]
    assert (found.verdict["severity"], found.judge["severity"]) == ("CRITICAL", "HIGH")
    assert [(one.who, one.note) for one in found.answers] == [("ana", "cancelled without asking")]
    assert (found.consensus, found.signed) == (None, None)
    assert "counts as a failure" in found.consequences["confirmed"]
    assert found.view.events


def test_an_answer_after_signing_is_not_blind(store, item):
    person = desk(store, "bo", Clock())
    person.sign(item, "confirmed", WHY, TYPED)
    assert person.answer(item, ANSWERS["rubric"]).blind is False


def test_a_signer_can_ask_for_one_more_answer_which_decides(store, item):
    for who in ("ana", "eve"):
        desk(store, who, Clock()).answer(item, ANSWERS["rubric"])
    with pytest.raises(ConfigError, match="may not sign"):
        signer(store, "ana").send_back(item, "look at the second call")
    signer(store).send_back(item, "look at the second call")
    assert [
        one.reason for _, one in store.queue.history(item) if isinstance(one, ReviewEvent) and one.act == "returned"
    ] == ["look at the second call"]
    third = signer(store, "cy")
    assert third.next().adjudicates
    decided = third.answer(item, ANSWERS["rubric"] | {"severity": "CRITICAL"}, note="it cannot be undone")
    assert (decided.state, decided.consensus["severity"]) == ("signoff", "CRITICAL")


def test_what_people_find_critical_must_be_signed_too(store):
    item = put_all(store, "rubric", reasons=[("HIGH", "HIGH")])["rubric"]
    shown = desk(store, "ana", Clock()).answer(item, ANSWERS["rubric"] | {"severity": "CRITICAL"}, note="irreversible")
    assert shown.state == "signoff"
    signer(store).sign(item, "confirmed", WHY, TYPED)
    assert store.queue.item(item).state == "done"


def test_an_answer_after_a_look_at_what_was_said_is_not_blind_and_the_look_is_on_record(store, item):
    person = desk(store, "bo", Clock())
    person.to_sign(item)
    person.to_sign(item)
    person.answer(item, ANSWERS["rubric"])
    assert [one.blind for _, _, one in store.queue.answers(item=item)] == [False]
    acts = [(one.act, one.who) for _, one in store.queue.history(item) if isinstance(one, ReviewEvent)]
    assert acts.count(("seen", "bo")) == 1


def test_whoever_has_answered_may_look_without_a_note(store, item):
    person = desk(store, "ana", Clock())
    person.answer(item, ANSWERS["rubric"])
    person.to_sign(item)
    assert not [one for _, one in store.queue.history(item) if isinstance(one, ReviewEvent) and one.act == "seen"]
    assert [one.blind for _, _, one in store.queue.answers(item=item)] == [True]
