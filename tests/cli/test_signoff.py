"""`rightcall signoff`: a named person decides on what is CRITICAL, having read it; and wherever the case appears, it shows."""

from __future__ import annotations

import pytest
from desk_making import HIDDEN, put_all
from desk_suite import DESK, copy_desk
from person_typing import Person

from rightcall.store.records import item_of, short_item
from rightcall.store.store import Store

CRITICAL = [("CRITICAL", "CRITICAL")]
STORE = ("--store", "r.db")
REASON = "Card closed for good; policy 4.2 violated"


@pytest.fixture
def store(rightcall, tmp_path):
    with Store.open(tmp_path / "r.db") as found:
        yield found


@pytest.fixture
def sign(rightcall, store):
    """Run `rightcall signoff …` as somebody."""

    def run(item: str, *tokens: str, who: str = "eve"):
        return rightcall("signoff", item, *tokens, "--as", who, *STORE)

    return run


@pytest.fixture
def item(store):
    return put_all(store, "rubric", reasons=CRITICAL)["rubric"]


def signed(store: Store):
    return [one for _, _, one in store.queue.signoffs()]


def by_flags(decision: str, reason: str = REASON) -> list[str]:
    return [decision, "--reason", reason, "--yes-i-read-it"]


@pytest.mark.parametrize(("flag", "outcome"), [("--confirm", "confirmed"), ("--dismiss", "dismissed")])
def test_a_decision_is_recorded_in_the_chain_under_the_name(rightcall, sign, store, item, flag, outcome):
    said = sign(short_item(item), *by_flags(flag))
    (record,) = signed(store)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"{outcome} · signed by eve · entry ")
    assert " · chain " in said.out
    assert (record.who, record.outcome, record.reason, record.item) == ("eve", outcome, REASON, item)
    assert record.client == "terminal, --yes-i-read-it"
    assert rightcall("log", "verify", *STORE).code == 0


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "these are missing: --confirm, --dismiss or --return; --reason; --yes-i-read-it"),
        (["--confirm", "--reason", REASON], "these are missing: --yes-i-read-it"),
        (["--confirm", "--yes-i-read-it"], "these are missing: --reason"),
        (
            ["--confirm", "--dismiss", "--reason", REASON, "--yes-i-read-it"],
            "--confirm and --dismiss are two decisions",
        ),
        (by_flags("--confirm", "too short"), "at least 15 characters, not 9"),
        (by_flags("--confirm", " " * 20), "a sign-off needs a reason"),
        (["--return"], "these are missing: --reason"),
        (["--return", "--reason", REASON], "only an item that waits for its sign-off can be sent back"),
    ],
)
def test_what_will_not_do_signs_nothing(sign, store, item, tokens, message):
    said = sign(item, *tokens)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert len(said.err.splitlines()) == 2
    assert signed(store) == []


def test_only_what_is_critical_is_signed(sign, store):
    item = put_all(store, "golden")["golden"]
    said = sign(item, *by_flags("--confirm"))
    assert said.code == 2
    assert "not CRITICAL" in said.err
    assert sign("rv-0000", *by_flags("--confirm")).code == 2


def test_roles_say_who_signs_and_nobody_signs_their_own_answer(rightcall, sign, store, item, write):
    write("rightcall.toml", '[review.people]\nana = ["reviewer", "signer"]\nbo = ["reviewer"]\neve = ["signer"]\n')
    fields = ["selection=2", "arguments=4", "sequencing=3", "abstention=-", "severity=c"]
    typed = [part for one in fields for part in ("--field", one)]
    assert rightcall("review", "answer", item, *typed, "--note", "n", "--as", "ana", *STORE).code == 0
    for who, message in (("bo", "may not sign"), ("zoe", "not one of the people"), ("ana", "somebody else must sign")):
        said = sign(item, *by_flags("--confirm"), who=who)
        assert (said.code, said.out) == (2, "")
        assert message in said.err
    assert sign(item, *by_flags("--confirm")).code == 0
    assert [(one.who, one.role) for one in signed(store)] == [("eve", "signer")]


def test_an_item_can_be_sent_back_for_one_more_answer(rightcall, sign, store, item, write):
    write("rightcall.toml", "[review]\nanswers_critical = 1\n")
    fields = ["selection=2", "arguments=4", "sequencing=3", "abstention=-", "severity=c"]
    typed = [part for one in fields for part in ("--field", one)]
    assert rightcall("review", "answer", item, *typed, "--note", "n", "--as", "ana", *STORE).code == 0
    said = sign(item, "--return", "--reason", "nobody says what was closed")
    assert (said.code, said.out) == (0, "returned: it waits for one more answer, which decides\n")
    rows = rightcall("review", "list", "--json", *STORE).json["items"]
    assert [row["state"] for row in rows] == ["adjudication"]
    assert signed(store) == []


def test_a_later_decision_follows_the_first_and_both_stay(sign, store, item):
    sign(item, *by_flags("--confirm"))
    said = sign(item, *by_flags("--dismiss", "The owner wanted it closed"), "--json")
    assert said.json["outcome"] == "dismissed"
    assert [one.outcome for one in signed(store)] == ["confirmed", "dismissed"]


# ---- wherever the case appears ---------------------------------------------------------------------------------------


@pytest.fixture
def stolen(rightcall, tmp_path):
    """Judge the card desk; one trace of it, `stolen`, is CRITICAL."""
    copy_desk(tmp_path)
    rightcall("rubric", "-c", DESK, "--judge", "desk", "--store", "r.db", "--quiet")
    run = rightcall("runs", *STORE, "--json").json["runs"][0]["id"]
    return run, item_of(run, "rubric", "stolen")


WORDS = {
    None: ("waits for a sign-off: rightcall signoff rv-", "CRITICAL 1: 1 waiting for a sign-off"),
    "--confirm": (f"confirmed, counts as a failure · eve: {REASON}", "CRITICAL 1: 1 confirmed, counted as failures"),
    "--dismiss": (f"dismissed, the severity is withdrawn · eve: {REASON}", "CRITICAL 1: 1 dismissed"),
}


@pytest.mark.parametrize("decision", WORDS)
def test_the_state_of_the_sign_off_shows_wherever_the_case_appears(rightcall, sign, stolen, decision):
    run, item = stolen
    if decision:
        assert sign(item, *by_flags(decision)).code == 0
    words, counted = WORDS[decision]
    for wanted in ([run], [run, "--failed"], [short_item(item)], ["stolen"]):
        said = rightcall("show", *wanted, *STORE)
        assert said.code == 0
        assert words in " ".join(said.out.split())
        assert (counted in said.out) is (wanted[0] == run)
        results = rightcall("show", *wanted, *STORE, "--json").json["results"]
        (signoff,) = [one["signoff"] for one in results if "signoff" in one]
        assert signoff["state"] == {None: "open", "--confirm": "confirmed", "--dismiss": "dismissed"}[decision]
        assert signoff["counts_as_failure"] is (decision == "--confirm")
        assert signoff["reason"] == (REASON if decision else None)


def test_a_case_that_is_not_critical_says_nothing_of_a_sign_off(rightcall, stolen):
    said = rightcall("show", "fee", *STORE)
    assert said.code == 0
    assert "sign-off" not in said.out


# ---- at the keyboard -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_signer_reads_decides_gives_a_reason_and_types_the_id(store, item, tmp_path):
    with Person(tmp_path, "signoff", short_item(item), "--as", "eve", *STORE) as eve:
        shown = eve.sees("decision [confirm/dismiss/return]: ")
        flat = " ".join(shown.split())
        assert f"CRITICAL: {HIDDEN['detail']}" in flat
        assert "confirm: the misuse stands: the case counts as a failure" in flat
        assert "c1 open_door door=1" in flat
        assert "judge selection 1 · arguments 4" in flat
        eve.answers(("", "c"), ("type the whole word", "confirm"), ("reason (at least 15 characters)", "too short"))
        eve.answers(("9 characters are too few", REASON), ("type the trace id to sign", "something"))
        eve.answers(("that is not it", HIDDEN["trace"]))
        eve.sees("signed by eve · entry ")
        assert eve.leaves() == 0
    (record,) = signed(store)
    assert (record.outcome, record.typed, record.client) == ("confirmed", HIDDEN["trace"], "terminal")


@pytest.mark.slow
@pytest.mark.parametrize("key", [b"\x03", b"\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_who_stops_signs_nothing(store, item, tmp_path, key):
    with Person(tmp_path, "signoff", item, "--dismiss", "--reason", REASON, "--as", "eve", *STORE) as eve:
        eve.sees("type the trace id to sign")
        assert eve.stops(key) == 130
        assert "nothing was signed exit 130" in eve.text
    assert signed(store) == []
