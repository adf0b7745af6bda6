"""`rightcall review`: the queue, blind items, answers in one command, imports; by the words and files of the commands."""

from __future__ import annotations

import io
import json
import sys

import pytest
from desk_making import ANSWERS, GRADERS, HIDDEN, put_all, put_item, put_run, result_for, run_of

from rightcall.cli.desks import only
from rightcall.errors import ConfigError
from rightcall.review.urgency import URGENCY
from rightcall.store.records import ReviewRecord, item_of, short_item
from rightcall.store.store import Store

STORE = ("--store", "r.db")
TYPED = {
    "golden": ["grade=f"],
    "selection": ["grade=PASS"],
    "rubric": ["selection=2", "arguments=4", "sequencing=3", "abstention=null", "severity=l"],
    "preference": ["overall=L", "sure=2", "both_critical=n"],
    "interpretation": ["score=4", "action_score=3", "flags="],
    "tone": ["polite=true", "level=3"],
}  # fmt: skip
"""The answers of `desk_making`, as they are typed behind `--field`."""


@pytest.fixture
def store(rightcall, tmp_path):
    with Store.open(tmp_path / "r.db") as found:
        yield found


@pytest.fixture
def review(rightcall, store):
    """Run `rightcall review …` as somebody."""

    def run(*tokens: str, who: str = "dana"):
        return rightcall("review", *tokens, "--as", who, *STORE)

    return run


def flags(grader: str, *more: str) -> list[str]:
    return [part for field in TYPED[grader] for part in ("--field", field)] + list(more)


def answers(store: Store):
    return [one for _, _, one in store.queue.answers()]


# ---- the queue -------------------------------------------------------------------------------------------------------


def test_the_list_says_why_which_grader_how_many_answers_who_holds_it_and_how_old_it_is(review, store):
    put_all(store, "rubric", reasons=[("random", None), ("CRITICAL", "CRITICAL")])
    put_all(store, "golden")
    review("next", who="sam")
    said = review("list")
    lines = said.out.splitlines()
    assert (said.code, said.err) == (0, "")
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("queue: waiting 2 · mine 0 · adjudication 0 · sign-off 0 · done 0 ⚠ oldest ")
    assert lines[1] == "CRITICAL 1 ▪ random 2"
    assert lines[2].split() == ["item", "why", "job", "answers", "state", "held", "by", "age"]
    first, second = (line.split() for line in lines[3:])
    assert first[1:9] == ["CRITICAL", "+1", "rubric", "0/2", "waiting", "sam", "14", "min"]
    assert second[1:5] == ["random", "golden", "0/1", "waiting"]
    assert "you 14 min" in review("list", who="sam").out


def test_items_stand_by_urgency(review, store):
    put_run(store, run_of("golden"), "golden")
    for reason in reversed(URGENCY):
        severity = "CRITICAL" if reason == "CRITICAL" else None
        none = result_for("golden", status="UNEVALUABLE", reason="trace_missing", verdict=None)
        result = none if reason == "unevaluable" else None
        put_item(store, "golden", unit=f"about {reason}", reasons=[(reason, severity)], result=result)
    listed = [line.split()[1] for line in review("list").out.splitlines() if line.startswith("rv-")]
    assert listed[:2] == ["CRITICAL", "unevaluable"]
    assert listed[-1] == "random"
    assert len(listed) == len(URGENCY)


@pytest.mark.parametrize("output", [(), ("--json",)])
def test_the_list_holds_nothing_that_a_judge_wrote_unless_it_is_asked_for(review, store, output):
    put_all(store, reasons=[("CRITICAL", "CRITICAL"), ("random", None)])
    said = review("list", *output)
    assert [token for token in [*HIDDEN.values(), *map(run_of, GRADERS)] if token in said.out] == []
    loud = review("list", "--details", *output)
    assert HIDDEN["detail"] in loud.out
    assert HIDDEN["unit"] in loud.out
    assert "not blind: whoever reads" in loud.out or output


def test_json_names_the_items_in_full(review, store):
    item = put_all(store, "golden", reasons=[("HIGH", "HIGH")])["golden"]
    review("next", who="sam")
    (row,) = review("list", "--json").json["items"]
    assert (row["item"], row["id"], row["reasons"]) == (item, short_item(item), ["HIGH"])
    assert (row["state"], row["needed"], row["answered"]) == ("held", 1, 0)
    assert [one["who"] for one in row["held_by"]] == ["sam"]
    assert {"unit", "run_id", "severity", "probability", "details"} & row.keys() == set()
    (row,) = review("list", "--json", "--details").json["items"]
    assert row["details"] == [{"reason": "HIGH", "detail": HIDDEN["detail"]}]
    assert (row["unit"], row["severity"], row["probability"]) == (HIDDEN["unit"], "HIGH", 1.0)


def test_filters_and_states_choose_what_is_listed(review, store):
    items = put_all(store, "golden", "tone", "rubric")
    put_item(store, "golden", unit="another", reasons=[("HIGH", "HIGH")])
    review("answer", items["tone"], *flags("tone"))
    held = review("next", "--grader", "rubric", "--json").json["item"]

    def ids(*tokens: str) -> list[str]:
        return [one["item"] for one in review("list", *tokens, "--json").json["items"]]

    assert ids("--state", "done") == [items["tone"]]
    assert ids("--state", "mine") == ids("--state", "held") == [held] == [items["rubric"]]
    assert len(ids()) == len(ids("--state", "open")) == 3
    assert len(ids("--state", "waiting")) == 2
    assert ids("--reason", "HIGH") == [item_of(run_of("golden"), "golden", "another")]
    assert len(ids("--run", run_of("golden"))) == 2
    assert ids("--grader", "tone") == []
    assert ids("--state", "signoff") == ids("--state", "adjudication") == []


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("list", "--reason", "NOPE"), "`NOPE` is no reason for a review"),
        (("list", "--run", "20200101-1"), "there is no run"),
        (("next", "--reason", "NOPE"), "`NOPE` is no reason for a review"),
        (("list", "--state", "lost"), "Invalid value"),
        (("show", "rv-0000"), "there is no review item"),
        (("show", "stolen"), "is no review item"),
        (("release", "rv-0000"), "there is no review item"),
        (("answer", "rv-0000", "--field", "grade=p"), "there is no review item"),
        (("import", "none.jsonl"), "none.jsonl"),
    ],
)
def test_what_is_not_there_is_a_wrong_command(review, store, tokens, message):
    put_all(store, "golden")
    said = review(*tokens)
    assert (said.code, said.out) == (2, "")
    assert message in " ".join(said.err.split())
    assert len(said.err.splitlines()) == 2


def test_every_reason_can_be_filtered(store):
    assert [only(store, None, None, reason).reason for reason in URGENCY] == list(URGENCY)
    with pytest.raises(ConfigError):
        only(store, None, None, "critical")


# ---- an empty queue says why -----------------------------------------------------------------------------------------


def test_the_four_empty_states(review, store, write):
    assert review("next").out == "Queue is empty: no run has put anything down for review\n"
    items = put_all(store, "golden", "tone")
    filtered = review("next", "--reason", "tie").out
    assert filtered == "Your filter hides 2 items\n"
    for who in ("sam", "lee"):
        review("next", who=who)
    held = review("next", "--json")
    assert held.json["item"] is None
    assert held.json["empty"]["kind"] == "held"
    assert held.json["empty"]["words"].startswith("2 items are held by lee, sam; the earliest is free at ")
    write("rightcall.toml", "[review]\nanswers = 2\n")
    for who in ("sam", "lee"):
        review("release", review("list", "--state", "mine", "--json", who=who).json["items"][0]["item"], who=who)
    for grader, item in items.items():
        review("answer", item, *flags(grader))
    assert review("next").out == "Nothing left for you: 2 items wait for a second, different person\n"
    assert "Nothing left for you" not in review("next", who="lee").out


def test_an_empty_list_says_why_in_the_same_words(review, store):
    assert review("list").out.splitlines()[-1] == "Queue is empty: no run has put anything down for review"
    put_all(store, "golden")
    assert review("list", "--reason", "tie").out.splitlines()[-1] == "Your filter hides 1 item"
    assert review("list", "--state", "mine").out.splitlines()[-1].startswith("you hold no item")
    assert review("list", "--state", "done").out.splitlines()[-1].startswith("no item is in this state")


# ---- one item, without a terminal ------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", [(), ("--json",)])
@pytest.mark.parametrize("grader", GRADERS)
def test_an_item_is_handed_out_blind_and_answered_in_one_command(review, store, grader, output):
    item = put_all(store, grader, reasons=[("CRITICAL", "CRITICAL"), ("judge_conflict", None)])[grader]
    said = review("next", *output)
    assert said.code == 0
    hidden = [*HIDDEN.values(), run_of(grader), "judge_conflict", "0.65"]
    assert [token for token in hidden if token in said.out] == []
    assert "Open the door." in said.out
    answered = review("answer", item[:9], *flags(grader, "--note", "in c1", "--evidence", "c1"), *output)
    assert answered.code == 0
    assert HIDDEN["detail"] in answered.out
    (answer,) = answers(store)
    assert (answer.note, answer.evidence, answer.blind, answer.who) == ("in c1", ("c1",), True, "dana")
    if grader != "preference":
        assert answer.fields == ANSWERS[grader]
    if output:
        assert answered.json["fields"] == answer.fields
        assert said.json["until"]


def test_a_printed_item_says_how_it_is_answered(review, store):
    item = put_all(store, "rubric")["rubric"]
    said = review("next")
    assert f"answer: rightcall review answer {short_item(item)} --field selection=" in said.out
    assert "a note is required for severity CRITICAL, severity HIGH" in said.out
    assert "abstention 1 2 3 4 5 null" in " ".join(said.out.split())


def test_an_answer_can_be_a_file_or_stdin(review, store, write, monkeypatch):
    items = put_all(store, "golden", "tone")
    write("answer.json", {"fields": ANSWERS["tone"], "note": "kind", "seconds": 12.5, "evidence": ["c1"]})
    assert review("answer", items["tone"], "--file", "answer.json").code == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"unsure": "no result"}')))
    assert review("answer", items["golden"]).code == 0
    first, second = answers(store)
    assert (first.fields, first.note, first.seconds) == (ANSWERS["tone"], "kind", 12.5)
    assert (second.fields, second.unsure) == ({}, "no result")


def test_one_person_who_cannot_judge_settles_nothing(review, store):
    item = put_all(store, "golden")["golden"]
    said = review("answer", item, "--unsure", "no result").out
    assert "nothing is settled: another person decides" in said
    assert "differ: " not in said


BAD = {
    "a value of another type": ({"fields": {"selection": "2"}}, 'must be 1 to 5, not "2"'),
    "a number that is none": ({"fields": {"selection": 2.0}}, "must be 1 to 5"),
    "a level that is none": ({"fields": {"selection": 6}}, "must be 1 to 5, not 6"),
    "a field that is none": ({"fields": {"selektion": 2}}, "did you mean `selection`?"),
    "nothing at all": ({"fields": {}}, "`severity` is missing"),
    "no note": (
        {"fields": {"selection": 1, "arguments": 1, "sequencing": 1, "abstention": 1, "severity": "HIGH"}},
        "a note is required for severity HIGH",
    ),
    "unsure with fields": ({"fields": {"selection": 1}, "unsure": "?"}, "who cannot judge gives no"),
    "unsure without why": ({"unsure": " "}, "not said why"),
    "a key that is none": ({"answer": 1}, "this is no answer"),
    "a list": ([], "this is no answer"),
    "another kind of note": ({"note": 5}, "this is no answer"),
}


@pytest.mark.parametrize("case", BAD)
def test_an_answer_that_is_not_right_is_refused_and_nothing_is_recorded(review, store, write, case):
    item = put_all(store, "rubric")["rubric"]
    body, message = BAD[case]
    write("answer.json", json.dumps(body))
    said = review("answer", item, "--file", "answer.json")
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert len(said.err.splitlines()) == 2
    assert answers(store) == []
    assert review("list").out.count("0/1") == 1


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["--field", "grade"], "`grade` is no name=value"),
        (["--field", "grade=p", "--field", "grade=f"], "`grade` is given twice"),
        (["--field", "grade=x"], "`grade` must be PASS, FAIL, not x"),
        (["--field", "mood=x"], "`mood` is no field of golden"),
        (["--field", "grade=p", "--file", "a.json"], "by flags or in a file, not both"),
        (["--file", "none.json"], "cannot read"),
        (["--file", "bytes.json"], "this is no answer"),
        (["--file", "deep.json"], "this is no answer"),
        (["--amend", "--field", "grade=p", "--note", "n"], "has not answered this item"),
    ],
)
def test_flags_that_are_not_right_are_refused(review, store, write, tokens, message):
    item = put_all(store, "golden")["golden"]
    write("bytes.json", b"\xff\xfe{")
    write("deep.json", '{"fields": ' + "[" * 5000)
    said = review("answer", item, *tokens)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert answers(store) == []


def test_all_that_is_wrong_is_said_at_once(review, store):
    item = put_all(store, "rubric")["rubric"]
    said = review("answer", item, "--field", "selection=9", "--field", "severity=q", "--field", "arguments=4")
    assert "`selection` must be 1 to 5, not 9" in said.err
    assert "`severity` must be CRITICAL, HIGH, MEDIUM, LOW, NONE, not q" in said.err


def test_nobody_answers_twice_but_everybody_can_amend(review, store):
    item = put_all(store, "golden")["golden"]
    assert review("answer", item, *flags("golden")).code == 0
    said = review("answer", item, "--field", "grade=p")
    assert (said.code, said.out) == (2, "")
    assert "STORE_CONFLICT" in said.err
    assert review("answer", item, "--field", "grade=p", "--amend").code == 2
    assert review("answer", item, "--field", "grade=p", "--amend", "--note", "misread").code == 0
    assert [(one.kind, one.blind) for one in answers(store)] == [("answer", True), ("amendment", False)]


def test_a_late_answer_is_kept_as_extra_and_says_so(review, store):
    item = put_all(store, "golden")["golden"]
    review("answer", item, *flags("golden"), who="ana")
    said = review("answer", item, "--field", "grade=p", who="bo")
    assert said.code == 0
    assert "kept as extra, it decides nothing" in said.out
    assert [one.extra for one in answers(store)] == [False, True]


def test_others_answers_are_shown_when_the_item_is_done(review, store, write):
    write("rightcall.toml", "[review]\nanswers = 2\n")
    item = put_all(store, "golden")["golden"]
    first = review("answer", item, *flags("golden"), who="zq-ana").out
    assert "other answers: 1 of 2 still wait for different people" in first
    second = review("answer", item, *flags("golden"), who="zq-bo").out
    assert "zq-ana grade FAIL" in " ".join(second.split())
    assert "together grade FAIL" in " ".join(second.split())
    assert "the item is done" in second


# ---- looking, giving back --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", [(), ("--json",), ("--history",)])
def test_an_item_stays_blind_until_it_is_answered(review, store, output):
    item = put_all(store, "rubric", reasons=[("CRITICAL", "CRITICAL"), ("judge_conflict", None)])["rubric"]
    review("answer", item, *flags("rubric", "--note", "zq-note"), who="ana")
    said = review("show", item, *output)
    hidden = [*HIDDEN.values(), "judge_conflict", "zq-note", "LOW;", run_of("rubric")]
    assert [token for token in hidden if token in said.out] == []
    assert ("blind: what was said about it is shown once you have answered it" in said.err) is (output != ("--json",))
    shown = review("show", item, *output, who="ana")
    assert "zq-note" in shown.out
    assert "severity LOW" in " ".join(shown.out.split()) or "--json" in output
    assert shown.err == ""


def test_the_history_tells_who_did_what_in_order(review, store):
    item = put_all(store, "golden")["golden"]
    review("next", who="sam")
    review("release", item, "--reason", "lunch", who="sam")
    review("next")
    review("answer", item, *flags("golden", "--note", "open"))
    review("answer", item, "--field", "grade=p", "--amend", "--note", "closed")
    history = review("show", item, "--json").json["history"]
    assert [(row.get("who"), row["act"]) for row in history] == [
        (None, "put into the queue"), ("sam", "claimed"), ("sam", "released"), ("dana", "claimed"), ("dana", "answered"),
        (None, "answers complete"), ("dana", "amended"),
    ]  # fmt: skip
    assert [row["entry"] for row in history] == sorted(row["entry"] for row in history)
    lines = review("show", item, "--history").out.splitlines()
    assert len(lines) == len(history)
    assert "dana (terminal) answered: grade FAIL · note: open" in lines[4]
    assert "released: lunch" in lines[2]
    blind = review("show", item, "--history", who="eve").out
    assert "lunch" not in blind
    assert "grade" not in blind


def test_only_the_holder_gives_an_item_back(review, store):
    item = put_all(store, "golden")["golden"]
    review("next", who="sam")
    refused = review("release", item)
    assert refused.code == 2
    assert "dana does not hold this item" in refused.err
    assert review("release", item, who="sam").out == f"released: {short_item(item)} is free for others\n"
    review("next", who="sam")
    assert review("release", item, "--skip", who="sam").code == 2
    assert review("release", item, "--skip", "--reason", "no Greek", who="sam").code == 0


def test_only_the_people_of_the_settings_can_work(review, store, write):
    write("rightcall.toml", '[review.people]\nana = ["reviewer"]\neve = ["signer"]\n')
    item = put_all(store, "golden")["golden"]
    assert review("next", who="ana").code == 0
    for who in ("dana", "eve"):
        said = review("next", who=who)
        assert (said.code, said.out) == (2, "")
        assert f"`{who}`" in said.err
        assert review("answer", item, *flags("golden"), who=who).code == 2
    assert answers(store) == []


def test_who_works_is_named_by_flag_environment_or_login(rightcall, store, monkeypatch):
    put_all(store, "golden", "tone")
    monkeypatch.setenv("RIGHTCALL_USER", "from-environment")
    rightcall("review", "next", *STORE)
    (held,) = [one for one in store.queue.items() if one.holders]
    assert held.holders[0][0] == "from-environment"
    said = rightcall("review", "next", "--as", "", *STORE)
    assert said.code == 2
    assert "--as" in said.err


# ---- figures, labels from elsewhere ----------------------------------------------------------------------------------


def test_the_figures_say_who_answered_how_fast_and_how_far_people_agree(review, store, write):
    write("rightcall.toml", "[review]\nanswers = 2\n")
    put_run(store, run_of("golden"), "golden")
    for number in range(6):
        item = put_item(store, "golden", unit=f"unit-{number}", reasons=[("random", None)])
        for who, key in (("ana", "f"), ("bo", "f" if number else "p")):
            write("a.json", {"fields": {"grade": {"f": "FAIL", "p": "PASS"}[key]}, "seconds": 10 + number})
            review("answer", item, "--file", "a.json", who=who)
    said = review("stats")
    flat = [" ".join(line.split()) for line in said.out.splitlines()]
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    assert flat[0].startswith("waiting 0 · held 0 · adjudication 1 · sign-off 0 · done 5")
    assert any(line.startswith(("ana 6 0 0 0 12 s", "ana 6 0 0 0 13 s")) for line in flat)
    assert any(line.startswith("golden grade 0.83 [") for line in flat)
    found = review("stats", "--json").json
    (one,) = found["agreement"]
    assert (one["grader"], one["field"], one["exact"]["n"]) == ("golden", "grade", 6)
    assert one["exact"]["estimate"] == pytest.approx(5 / 6)


def test_a_queue_without_answers_says_so(review, store):
    put_all(store, "golden")
    said = review("stats").out
    assert "nobody has answered anything yet" in said
    assert "no item was answered blind by two people" in said


def test_labels_from_elsewhere_are_taken_whole_and_twice_is_harmless(review, store, write):
    items = put_all(store, "golden", "tone")
    at = "2026-11-29T12:00:00+00:00"
    write(
        "labels.jsonl",
        {"item": items["golden"], "who": "ana", "at": at, "blind": True, "fields": ANSWERS["golden"]},
        {"item": items["tone"], "who": "ana", "at": at, "blind": False, "fields": ANSWERS["tone"]},
    )
    said = review("import", "labels.jsonl")
    assert said.code == 0
    assert said.out.splitlines() == [
        "2 labels: 2 recorded, 0 known already", "1 of them counts as an answer",
        "1 not blind: kept, but without a say", "1 item complete by this",
    ]  # fmt: skip
    again = review("import", "labels.jsonl", "--json").json
    assert (again["written"], again["already"]) == (0, 2)
    assert len(answers(store)) == 2


def test_a_file_with_a_bad_row_is_refused_with_every_row_that_is_bad(review, store, write):
    items = put_all(store, "golden", "tone")
    write(
        "labels.jsonl",
        {
            "item": items["golden"],
            "who": "ana",
            "at": "2026-11-29T12:00:00+00:00",
            "blind": True,
            "fields": {"grade": "PASS"},
        },
        {"item": items["tone"], "who": "ana", "at": "yesterday", "blind": True, "fields": ANSWERS["tone"]},
        {"item": "rv-0000", "who": "ana", "at": "2026-11-29T12:00:00+00:00", "blind": True, "fields": {}},
    )
    said = review("import", "labels.jsonl")
    assert (said.code, said.out) == (2, "")
    assert "line 2: " in said.err
    assert "line 3: there is no review item" in said.err
    assert "nothing was taken" in said.err
    assert answers(store) == []


def test_details_of_items_of_one_unit_stand_together(review, store):
    put_run(store, run_of("golden"), "golden")
    put_item(store, "golden", reasons=[("HIGH", "HIGH")])
    more = ReviewRecord(
        run_id=run_of("golden"), grader="golden", unit=HIDDEN["unit"], reason="judge_conflict",
        created_at="2026-11-29T10:00:01+00:00", detail="it says \x1b[2J otherwise",
    )  # fmt: skip
    store.write([more])
    said = review("list", "--details")
    assert said.out.count("rv-") == 1
    assert "judge_conflict: it says \\u001b[2J otherwise" in said.out


def test_no_secret_that_a_person_types_is_kept_or_shown(review, rightcall, store, write, tmp_path):
    """The shape of a key, in every place where a person can write."""
    secret = "sk-" + "ab12CD34" * 5
    items = put_all(store, "golden", "selection", "tone")
    critical = put_item(store, "golden", unit="critical", reasons=[("CRITICAL", "CRITICAL")])
    review("next")
    review("release", review("list", "--state", "mine", "--json").json["items"][0]["item"], "--reason", secret)
    tool = ["--field", "grade=f", "--field", "failure_category=w", "--field", f"right_tool={secret}"]
    said = [
        review("answer", items["golden"], *flags("golden", "--note", secret, "--evidence", secret)),
        review("answer", items["selection"], *tool),
        review("answer", items["tone"], "--unsure", secret),
        rightcall("signoff", critical, "--confirm", "--reason", f"because of {secret}", "--yes-i-read-it", *STORE),
    ]
    row = {"item": critical, "who": "bo", "at": "2026-11-29T12:00:00+00:00", "blind": True, "fields": {"grade": "PASS"}}
    write("labels.jsonl", row | {"note": secret})
    said.append(review("import", "labels.jsonl"))
    assert [one.code for one in said] == [0] * 5
    history = [review("show", item, "--history").out for item in items.values()]
    assert [text for text in [*history, *(one.out + one.err for one in said)] if secret in text] == []
    records = [record for item in [*items.values(), critical] for _, record in store.queue.history(item)]
    assert [one for one in records if secret in repr(one)] == []
    assert rightcall("log", "verify", *STORE).code == 0


def test_the_whole_work_is_the_same_on_both_databases(rightcall, store_url):
    with Store.open(store_url) as store:
        put_all(store, "golden", reasons=[("CRITICAL", "CRITICAL")])
    at = ("--store", store_url)
    item = rightcall("review", "next", "--json", "--as", "ana", *at).json["item"]
    for who in ("ana", "bo"):
        assert rightcall("review", "answer", item, *flags("golden"), "--as", who, *at).code == 0
    assert [row["state"] for row in rightcall("review", "list", "--json", *at).json["items"]] == ["signoff"]
    assert rightcall("review", "show", item, "--as", "ana", *at).code == 0
    reason = ("--reason", "the door should stay shut", "--yes-i-read-it")
    assert rightcall("signoff", item, "--confirm", *reason, "--as", "eve", *at).code == 0
    assert rightcall("review", "stats", "--json", *at).json["states"]["done"] == 1
    assert len(rightcall("export", "labels", "--json", *at).json["labels"]) == 2
    assert rightcall("log", "verify", *at).code == 0
