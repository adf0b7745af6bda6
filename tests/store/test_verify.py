"""`verify`: an untouched store is intact, and whatever is done to one shows, on both databases."""

import pytest
from store_making import RUN, attempt, one_of_each, sha, verdict

from rightcall.store import verify as verifying
from rightcall.store.chain import GENESIS, entry_hash
from rightcall.store.packing import digest_of
from rightcall.store.records import VerdictRecord
from rightcall.store.verify import verify


@pytest.fixture
def filled(store):
    """Return a store with one record of each kind (entries 1 to 7), and three attempts (8 to 10)."""
    store.write(*one_of_each())
    store.write([attempt(number, prompt_sha256="p") for number in (1, 2, 3)])
    return store


def told(store, **options):
    """Return the faults of a store as text."""
    return [f"{fault.seq}: {fault.message}" for fault in verify(store, **options).faults]


def test_an_untouched_store_is_intact(filled):
    found = verify(filled)
    assert (found.intact, found.faults, found.untold) == (True, (), 0)
    assert (found.entries, found.head, found.bodies) == (10, filled.head(), 6)
    assert (found.attempts, found.runs, found.records["verdict"]) == (4, 1, 1)
    assert (found.prompts, found.judges) == (1, 1)


def test_an_empty_store_is_intact(store):
    found = verify(store)
    assert (found.intact, found.entries, found.head.hash) == (True, 0, GENESIS)
    assert verify(store, expected_head=GENESIS).intact


def test_a_store_of_several_pages_is_intact(store, monkeypatch):
    monkeypatch.setattr(verifying, "PAGE", 7)
    monkeypatch.setattr(verifying, "_BODIES_AT_ONCE", 7)
    store.write([verdict(number) for number in range(30)], ["result", *map(str, range(30))])
    found = verify(store)
    assert (found.intact, found.entries, found.bodies) == (True, 30, 31)


# ---- records ----


def test_a_changed_record_shows(filled, tamper):
    forged = VerdictRecord(run_id=RUN, grader="rubric", unit="t-0", result=sha("result"), status="EVALUATED", score=0.0)
    data = "X'" + plain(forged).hex() + "'" if filled.database.is_sqlite else rf"'\x{plain(forged).hex()}'::bytea"
    tamper("verdicts", f"UPDATE verdicts SET codec = 'plain', data = {data}")
    assert told(filled) == [
        "5: its verdict record was changed: its digest is another",
        "5: the column `case_id` of its verdict record was changed",
        "5: the column `trace_id` of its verdict record was changed",
    ]


def plain(record) -> bytes:
    import msgspec

    from rightcall.trace.digest import canonical

    return canonical(msgspec.to_builtins(record))


def test_a_record_that_cannot_be_read_shows(filled, tamper):
    tamper("attempts", "UPDATE attempts SET codec = 'plain' WHERE seq = 8")
    assert told(filled) == ["8: its attempt record was changed: it cannot be read"]


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        (
            "attempts",
            "status = 'JUDGE_SCHEMA' WHERE seq = 8",
            "8: the column `status` of its attempt record was changed",
        ),
        ("attempts", "attempt = 7 WHERE seq = 9", "9: the column `attempt` of its attempt record was changed"),
        ("verdicts", "case_id = NULL", "5: the column `case_id` of its verdict record was changed"),
        ("reviews", "reason = 'random'", "6: the column `reason` of its review record was changed"),
        ("runs", "id = 'r9'", "1: the column `id` of its run record was changed"),
    ],
)
def test_a_changed_column_shows(filled, tamper, table, change, said):
    tamper(table, f"UPDATE {table} SET {change}")
    assert told(filled) == [said]


def test_a_removed_record_shows(filled, tamper):
    tamper("attempts", "DELETE FROM attempts WHERE seq = 9")
    assert told(filled) == [f"9: its attempt record {digest_of(attempt(2, prompt_sha256='p'))} is missing"]


def test_records_that_changed_places_show(filled, tamper):
    tamper(
        "attempts",
        "UPDATE attempts SET seq = 1000 WHERE seq = 8",
        "UPDATE attempts SET seq = 8 WHERE seq = 9",
        "UPDATE attempts SET seq = 9 WHERE seq = 1000",
    )
    first, second = digest_of(attempt(1, prompt_sha256="p")), digest_of(attempt(2, prompt_sha256="p"))
    assert sorted(told(filled)) == sorted(
        [
            "8: its attempt record belongs to entry 9: one was moved or added",
            "9: its attempt record belongs to entry 8: one was moved or added",
            f"9: the attempt record {first} has no entry in the log",
            f"8: the attempt record {second} has no entry in the log",
        ]
    )


@pytest.mark.parametrize("seq", [11, 10**6])
def test_a_record_without_an_entry_shows(filled, tamper, seq):
    columns = "codec, data, run_id, grader, unit, judge, key, status, purpose, attempt"
    copy = f"INSERT INTO attempts (digest, seq, {columns}) SELECT 'f00', {seq}, {columns} FROM attempts WHERE seq = 8"
    tamper("attempts", copy)
    assert told(filled) == ["None: the attempt record f00 has no entry in the log"]


# ---- the log ----


@pytest.mark.parametrize(
    "change", ["at = '2027'", "kind = 'review'", "run_id = 'r9'", "run_id = NULL", "digest = 'f00'"]
)
def test_a_changed_entry_shows(filled, tamper, change):
    tamper("log", f"UPDATE log SET {change} WHERE seq = 8")
    assert "8: was changed: its hash is not that of its content" in told(filled)


def test_a_removed_entry_shows(filled, tamper):
    tamper("log", "DELETE FROM log WHERE seq = 8")
    digest = digest_of(attempt(1, prompt_sha256="p"))
    assert told(filled) == [
        "9: entries 8 to 8 are missing",
        "9: does not follow entry 7: one of them was changed, moved or taken out",
        f"None: the attempt record {digest} has no entry in the log",
    ]


def test_an_entry_that_was_removed_with_its_record_shows(filled, tamper):
    tamper("attempts", "DELETE FROM attempts WHERE seq = 8")
    tamper("log", "DELETE FROM log WHERE seq = 8")
    assert [fault.seq for fault in verify(filled).faults] == [9, 9]


def test_entries_that_changed_places_show(filled, tamper):
    tamper(
        "log",
        "UPDATE log SET seq = 1000 WHERE seq = 8",
        "UPDATE log SET seq = 8 WHERE seq = 9",
        "UPDATE log SET seq = 9 WHERE seq = 1000",
    )
    found = told(filled)
    for seq in (8, 9):
        assert f"{seq}: was changed: its hash is not that of its content" in found
        assert f"{seq}: does not follow entry {seq - 1}: one of them was changed, moved or taken out" in found


def test_an_entry_whose_hash_was_made_to_fit_shows_at_the_next_one(filled, tamper):
    old = list(filled.log())[7]
    fitting = entry_hash(old.previous, 8, "2027", old.kind, old.run_id, old.digest)
    tamper("log", f"UPDATE log SET at = '2027', hash = '{fitting}' WHERE seq = 8")
    assert told(filled) == ["9: does not follow entry 8: one of them was changed, moved or taken out"]


def test_an_entry_without_a_record_shows(filled, tamper):
    head = filled.head()
    fitting = entry_hash(head.hash, 11, "now", "attempt", RUN, "f00")
    values = f"11, 'now', 'attempt', '{RUN}', 'f00', '{head.hash}', '{fitting}'"
    tamper("log", f"INSERT INTO log (seq, at, kind, run_id, digest, previous, hash) VALUES ({values})")
    assert told(filled) == ["11: its attempt record f00 is missing"]


def test_a_record_that_is_logged_twice_shows(filled, tamper):
    head, digest = filled.head(), digest_of(attempt(1, prompt_sha256="p"))
    fitting = entry_hash(head.hash, 11, "now", "attempt", RUN, digest)
    values = f"11, 'now', 'attempt', '{RUN}', '{digest}', '{head.hash}', '{fitting}'"
    tamper("log", f"INSERT INTO log (seq, at, kind, run_id, digest, previous, hash) VALUES ({values})")
    assert told(filled) == ["11: its attempt record belongs to entry 8: one was moved or added"]


def test_an_entry_of_no_known_kind_shows(filled, tamper):
    head = filled.head()
    fitting = entry_hash(head.hash, 11, "now", "wish", None, "f00")
    values = f"11, 'now', 'wish', NULL, 'f00', '{head.hash}', '{fitting}'"
    tamper("log", f"INSERT INTO log (seq, at, kind, run_id, digest, previous, hash) VALUES ({values})")
    assert told(filled) == ["11: logs a `wish`, which is no kind of record"]


def test_an_entry_that_names_another_run_shows_even_if_its_hash_fits(filled, tamper):
    last = list(filled.log())[-1]
    fitting = entry_hash(last.previous, 10, last.at, "attempt", "r9", last.digest)
    tamper("log", f"UPDATE log SET run_id = 'r9', hash = '{fitting}' WHERE seq = 10")
    assert told(filled) == ["10: logs another run than its attempt record names"]


def test_bytes_in_place_of_texts_show(sqlite_store):
    sqlite_store.write([attempt(1)])

    def change(connection):
        connection.exec_driver_sql("DROP TRIGGER log_no_update")
        connection.exec_driver_sql("UPDATE log SET previous = X'00', kind = X'00'")

    sqlite_store.database.write(change)
    assert told(sqlite_store)[0] == "1: was changed: it holds what is no text"


# ---- the end of the log ----


def test_an_end_that_was_cut_off_with_its_records_shows_by_a_head_that_was_kept(filled, tamper):
    head = filled.head()
    filled.write([attempt(4)])
    assert verify(filled, expected_head=head.hash).intact
    tamper("attempts", "DELETE FROM attempts WHERE seq >= 10")
    tamper("log", "DELETE FROM log WHERE seq >= 10")
    assert verify(filled).intact
    assert told(filled, expected_head=head.hash) == [
        f"None: no entry has the hash {head.hash}: the log's end was cut off, or rewritten"
    ]


def test_an_end_that_was_cut_off_without_its_records_shows(filled, tamper):
    tamper("log", "DELETE FROM log WHERE seq >= 10")
    digest = digest_of(attempt(3, prompt_sha256="p"))
    assert told(filled) == [f"None: the attempt record {digest} has no entry in the log"]


# ---- bodies ----


def test_a_changed_body_shows(filled, tamper):
    tamper("bodies", f"UPDATE bodies SET data = data || data WHERE sha256 = '{sha('reply')}'")
    assert told(filled) == [f"None: the body {sha('reply')} was changed"]


def test_a_removed_body_shows_where_a_record_names_it(filled, tamper):
    tamper("bodies", f"DELETE FROM bodies WHERE sha256 = '{sha('reply')}'")
    assert told(filled) == [f"4: its record names the body {sha('reply')}, which is missing"]


# ---- a great many faults ----


def test_faults_are_told_up_to_a_number_and_counted_beyond(filled, tamper, monkeypatch):
    monkeypatch.setattr(verifying, "MOST_FAULTS", 3)
    tamper("log", "UPDATE log SET at = 'never'")
    found = verify(filled)
    assert (found.intact, len(found.faults), found.untold) == (False, 3, 7)
