"""The store: what is written is read back, once, on both databases."""

from itertools import pairwise

import pytest
from store_making import RUN, attempt, calibration, gate_answer, one_of_each, one_of_each_by_people, sha, verdict

from rightcall.errors import StoreError
from rightcall.store.chain import Head
from rightcall.store.packing import TYPES, digest_of
from rightcall.store.records import ReviewRecord, RunEvent, RunRecord, item_of, short_item
from rightcall.store.store import Store
from rightcall.store.verify import verify

# ---- writing ----


def test_every_kind_of_record_is_read_back_equal(store):
    records, bodies = one_of_each()
    digests = store.write(records, bodies)
    run, trace, case, tried, judged, review, event = records
    assert digests == [digest_of(record) for record in records]
    assert store.runs() == [(run, event)]
    assert store.run(RUN) == run
    assert list(store.events(RUN)) == [event]
    assert (store.trace(sha("trace")), store.case(sha("case"))) == (trace, case)
    assert list(store.attempts()) == [(4, digests[3], tried)]
    assert list(store.verdicts(RUN)) == [judged]
    assert list(store.reviews()) == [(short_item(item_of(RUN, "rubric", "t-0")), review)]
    assert [store.body(sha(body)) for body in bodies] == [str(body).encode() for body in bodies]


def test_writing_twice_is_harmless(store):
    digests = store.write(*one_of_each())
    head, counts = store.head(), store.counts()
    assert store.write(*one_of_each()) == digests
    assert store.write([attempt(5), attempt(5), attempt(5)])[0] == digest_of(attempt(5))
    assert store.head().seq == head.seq + 1
    assert store.counts() == {**counts, "attempt": 2}


def test_every_record_has_one_log_entry_in_the_order_of_writing(store):
    digests = store.write(*one_of_each())
    entries = list(store.log())
    assert [entry.digest for entry in entries] == digests
    assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5, 6, 7]
    assert [entry.kind for entry in entries] == ["run", "trace", "case", "attempt", "verdict", "review", "run_event"]
    assert {entry.run_id for entry in entries} == {RUN, None}
    assert store.head() == Head(7, entries[-1].hash)


def test_the_log_is_read_by_kind_run_and_place(store):
    store.write(*one_of_each())
    store.write([attempt(1, run_id="r2")])
    assert [entry.seq for entry in store.log(kind="attempt")] == [4, 8]
    assert [entry.seq for entry in store.log(run_id="r2")] == [8]
    assert [entry.seq for entry in store.log(after=5)] == [6, 7, 8]
    assert [entry.seq for entry in store.log(after=1, limit=2)] == [2, 3]
    assert list(store.log(limit=0)) == []


def test_nothing_is_written_where_nothing_is_given(store):
    assert store.write([]) == []
    assert store.head() == Head()
    store.write([], ["only a body"])
    assert store.head() == Head()
    assert store.body(sha("only a body")) == b"only a body"


def test_another_verdict_for_the_same_revision_is_refused_with_everything_beside_it(store):
    store.write([verdict(1)])
    before = (store.head(), store.counts())
    with pytest.raises(
        StoreError, match=r"another verdict with run_id `20261129-1`, unit `t-1`, revision `0`, grader `rubric` is"
    ) as caught:
        store.write([attempt(1), verdict(2), verdict(1, score=0.0)], ["a body of it"])
    assert caught.value.code == "STORE_CONFLICT"
    assert (store.head(), store.counts()) == before
    store.write([verdict(1, score=0.0, revision=1), verdict(1, grader="selection"), verdict(1, run_id="r2")])
    assert store.counts()["verdict"] == 4


def test_two_different_verdicts_at_once_for_one_revision_are_refused(store):
    with pytest.raises(StoreError, match="another verdict"):
        store.write([verdict(1), verdict(1, score=0.5)])
    assert store.counts()["verdict"] == 0


def test_another_run_under_the_same_id_is_refused(store):
    store.write([RunRecord(id=RUN, grader="rubric", started_at="a")])
    with pytest.raises(StoreError, match=r"another run with id `20261129-1`.*take a new id"):
        store.write([RunRecord(id=RUN, grader="rubric", started_at="b")])


# ---- runs ----


def test_runs_are_numbered_within_their_day(store):
    runs = [store.new_run("rubric", day, "now", {"n": 1}) for day in ("20261129", "20261129", "20261130", "20261129")]
    assert [run.id for run in runs] == ["20261129-1", "20261129-2", "20261130-1", "20261129-3"]
    assert store.run("20261129-2") == runs[1]
    for _ in range(8):
        last = store.new_run("rubric", "20261129", "now", {})
    assert last.id == "20261129-11"
    assert store.new_run("rubric", "20261129", "now", {}).id == "20261129-12"


def test_ids_that_are_no_number_do_not_disturb_the_numbering(store):
    store.write([RunRecord(id=f"20261129-{end}", grader="g", started_at="a") for end in ("x", "7x", "²", "")])
    assert store.new_run("rubric", "20261129", "now", {}).id == "20261129-1"


@pytest.mark.parametrize("day", ["", "2026-11-29", "2026112", "%", "\u0662\u0660" * 4])
def test_a_run_needs_a_day(store, day):
    with pytest.raises(StoreError, match="is no day; write it as YYYYMMDD"):
        store.new_run("rubric", day, "now", {})


def test_runs_come_newest_first_with_their_last_event(store):
    first, second = (store.new_run("rubric", "20261129", "now", {}) for _ in range(2))
    events = [RunEvent(run_id=first.id, at=at, status="resumed", summary={"n": 0}) for at in "abc"]
    store.write(events)
    assert store.runs() == [(second, None), (first, events[-1])]
    assert store.runs(limit=1) == [(second, None)]
    assert list(store.events(first.id)) == events
    assert list(store.events(second.id)) == []


def test_an_unknown_run_is_answered_with_the_nearest(store):
    with pytest.raises(StoreError, match="no run `20261129-1`; no run is recorded yet") as caught:
        store.run("20261129-1")
    assert caught.value.code == "STORE_INVALID"
    for _ in range(2):
        store.new_run("rubric", "20261129", "now", {})
    with pytest.raises(StoreError, match="did you mean `20261129-"):
        store.run("20261129-12")
    with pytest.raises(StoreError, match="the last is `20261129-2`"):
        store.run("nonsense")


# ---- verdicts ----


def test_the_current_verdict_of_a_unit_is_its_highest_revision(store):
    later = verdict(1, status="EVALUATED", revision=1)
    store.write([verdict(1, status="UNEVALUABLE", reason="JUDGE_TIMEOUT", score=None), verdict(2)])
    store.write([later, verdict(1, run_id="r2")])
    assert list(store.verdicts(RUN)) == [verdict(2), later]
    assert store.verdict(RUN, "t-1") == later
    assert store.verdict("r2", "t-1") == verdict(1, run_id="r2")
    assert store.verdict(RUN, "t-9") is None
    assert store.verdict(RUN, "t-1", "selection") is None


def test_verdicts_are_found_over_runs(store):
    store.write([verdict(1), verdict(1, run_id="r2"), verdict(2, case_id="c-1"), verdict(3, revision=0)])
    assert [(found.run_id, found.unit) for found in store.find_verdicts(case_id="c-1")] == [
        (RUN, "t-1"), ("r2", "t-1"), (RUN, "t-2"),
    ]  # fmt: skip
    assert [found.run_id for found in store.find_verdicts(unit="t-1")] == [RUN, "r2"]
    assert list(store.find_verdicts(trace_id="t-3")) == [verdict(3)]
    assert list(store.find_verdicts(trace_id="t-3", case_id="c-1")) == []


# ---- attempts ----


def test_attempts_are_found_by_what_they_have(store):
    store.write([attempt(0), attempt(1, run_id="r2"), attempt(2, judge="light"), attempt(3, status="JUDGE_TIMEOUT")])

    def units(**where):
        return [found.unit for _, _, found in store.attempts(**where)]

    assert units() == ["t-0", "t-1", "t-2", "t-3"]
    assert units(run_id="r2") == ["t-1"]
    assert units(unit="t-0", run_id=RUN) == ["t-0"]
    assert units(case_id="c-2") == ["t-2"]
    assert units(judge="strong", run_id=RUN) == ["t-0", "t-3"]
    assert units(status="JUDGE_TIMEOUT") == ["t-3"]
    assert units(key=sha("key 1")) == ["t-1"]
    assert units(after_seq=2) == ["t-2", "t-3"]
    assert units(limit=3, after_seq=1) == ["t-1", "t-2", "t-3"]
    assert units(unit="\ud800") == units(unit="") == []


def test_one_attempt_is_found_by_number_or_by_the_begin_of_its_digest(store):
    digests = store.write([verdict(0), attempt(0), attempt(1)])
    assert store.attempt(2) == store.attempt(digests[1]) == store.attempt(digests[1][:9]) == (2, digests[1], attempt(0))
    for asked in (1, 0, -1, 10**30, digests[0], "ffff" * 16):
        with pytest.raises(StoreError, match=f"there is no attempt `{asked}`"):
            store.attempt(asked)
    for asked in ("", "abc", "ABCD", "%%%%", "\ud800" * 4):
        with pytest.raises(StoreError, match=r"is no attempt; give 4 or more characters"):
            store.attempt(asked)


def test_a_begin_that_several_attempts_share_is_refused(store):
    # 600 digests: two of them begin with the same four characters, and no hash is new tomorrow.
    digests = sorted(store.write([attempt(number) for number in range(600)]))
    shared = [one[:4] for one, other in pairwise(digests) if one[:4] == other[:4]]
    assert shared
    with pytest.raises(StoreError, match="several attempts begin with"):
        store.attempt(shared[0])


def test_the_newest_good_answer_to_a_question_is_found(store):
    key = sha("question")
    store.write(
        [
            attempt(1, key=key, run_id="r1"),
            attempt(2, key=key, run_id="r2", attempt=1),
            attempt(3, key=key, purpose="replay"),
            attempt(4, key=key, purpose="probe"),
            attempt(5, key=key, status="JUDGE_SCHEMA"),
            attempt(6, key=key, attempt=2),
        ]
    )
    assert store.answered(key) == attempt(2, key=key, run_id="r2", attempt=1)
    assert store.answered(sha("another")) is None


# ---- reviews and bodies ----


def test_reviews_are_found_by_run_and_reason_under_ids_that_stay(store):
    items = [
        ReviewRecord(run_id=run, grader="rubric", unit="t-1", reason=reason, created_at="now", probability=0.1)
        for run, reason in ((RUN, "CRITICAL"), (RUN, "random"), ("r2", "random"))
    ]
    store.write(items)
    assert [review for _, review in store.reviews(run_id=RUN)] == items[:2]
    assert [review for _, review in store.reviews(reason="random")] == items[1:]
    assert [review for _, review in store.reviews(run_id=RUN, reason="random")] == items[1:2]
    # All the reasons about one unit of a run are one item.
    one, other = item_of(RUN, "rubric", "t-1")[:11], item_of("r2", "rubric", "t-1")[:11]
    assert [name for name, _ in store.reviews()] == [one, one, other]


def test_what_is_not_there_is_said(store):
    assert store.trace(sha("trace")) is store.case(sha("case")) is None
    with pytest.raises(StoreError, match=f"there is no body `{sha('x')}`") as caught:
        store.body(sha("x"))
    assert caught.value.code == "STORE_INVALID"


def test_several_bodies_are_given_out_at_once(store):
    bodies = [f"body {number}" for number in range(600)]
    store.write([], bodies)
    names = [sha(body) for body in bodies]
    assert store.bodies([*names, names[0]]) == dict(zip(names, map(str.encode, bodies), strict=True))
    assert store.bodies([]) == {}
    with pytest.raises(StoreError, match=f"there is no body `{sha('x')}`"):
        store.bodies([*names, sha("x")])


@pytest.mark.parametrize("body", ["again and " * 100, "short"])
def test_a_body_that_was_changed_is_never_given_out(store, tamper, body):
    store.write([], [body])
    twice = "CAST(data || data AS BLOB)" if store.database.is_sqlite else "data || data"
    for change in (f"data = {twice}", "codec = 'zip'", "size = size + 1"):
        tamper("bodies", f"UPDATE bodies SET {change}")
        with pytest.raises(StoreError, match=f"the body `{sha(body)}` was changed; verify the log"):
            store.body(sha(body))
        with pytest.raises(StoreError, match=f"the body `{sha(body)}` was changed"):
            store.bodies([sha(body)])


def test_a_text_in_place_of_bytes_is_a_damaged_store(sqlite_store):
    sqlite_store.write([], ["again and " * 100, "short"])

    def change(connection):
        connection.exec_driver_sql("DROP TRIGGER bodies_no_update")
        connection.exec_driver_sql("UPDATE bodies SET data = CAST(data AS TEXT)")

    sqlite_store.database.write(change)
    for body, said in (("again and " * 100, "the store is damaged"), ("short", "was changed")):
        with pytest.raises(StoreError, match=said) as caught:
            sqlite_store.body(sha(body))
        assert caught.value.code == "STORE_INVALID"


def test_sizes_and_counts(store):
    assert store.size() == (type(store.size()))(0, 0)
    store.write(*one_of_each())
    store.write([*one_of_each_by_people(), calibration(), gate_answer()], ["0123456789" * 1000])
    size = store.size()
    assert size.raw == 10_000 + sum(map(len, ("trace", "case", "system", "user", "reply", "result")))
    assert 0 < size.stored < 1000
    assert store.counts() == {**dict.fromkeys(TYPES, 1), "body": 7}


# ---- long answers ----


def test_a_long_answer_is_one_picture_however_slowly_it_is_read(store):
    store.write([verdict(number) for number in range(1200)])
    reading = store.verdicts(RUN)
    seen = [next(reading) for _ in range(600)]
    store.write([verdict(1199, revision=1), verdict(3, revision=1), verdict(9999)])
    seen.extend(reading)
    assert seen == [verdict(number) for number in range(1200)]
    assert len(list(store.verdicts(RUN))) == 1201


def test_a_reader_that_stops_in_the_middle_holds_up_nobody(store_url):
    with Store.open(store_url, timeout=0.2) as one, Store.open(store_url, timeout=0.2) as other:
        one.write([attempt(number) for number in range(600)])
        reading = one.attempts()
        next(reading)
        assert len(other.write([attempt(600), attempt(601)])) == 2
        assert len(list(reading)) == 599


def test_a_store_is_what_it_was_when_it_is_opened_again(store_url):
    with Store.open(store_url) as store:
        store.write(*one_of_each())
        head = store.head()
    with Store.open(store_url, create=False) as store:
        assert store.head() == head
        assert store.write(*one_of_each())
        assert store.head() == head
        assert verify(store).intact
