"""The hash chain: what an entry's hash covers."""

import hashlib

from store_making import one_of_each

from rightcall.store.chain import GENESIS, Head, Links, entry_hash, extend
from rightcall.store.packing import pack
from rightcall.store.records import RunRecord


def test_a_hash_covers_the_entry_before_and_everything_that_the_entry_says():
    by_hand = hashlib.sha256(
        b"0" * 64 + b'[1,"2026-11-29T10:00:00.000+00:00","attempt","20261129-1","abc"]'
    ).hexdigest()
    assert entry_hash(GENESIS, 1, "2026-11-29T10:00:00.000+00:00", "attempt", "20261129-1", "abc") == by_hand
    changed = [
        ("1" * 64, 1, "a", "k", "r", "d"), (GENESIS, 2, "a", "k", "r", "d"), (GENESIS, 1, "b", "k", "r", "d"),
        (GENESIS, 1, "a", "l", "r", "d"), (GENESIS, 1, "a", "k", None, "d"), (GENESIS, 1, "a", "k", "", "d"),
        (GENESIS, 1, "a", "k", "r", "e"), (GENESIS, 1, "a", "k", "r", "d"),
    ]  # fmt: skip
    assert len({entry_hash(*parts) for parts in changed}) == len(changed)


def test_entries_follow_the_head_without_a_gap():
    entries = extend(Head(7, "a" * 64), pack(one_of_each()[0]), "now")
    assert [entry.seq for entry in entries] == list(range(8, 15))
    assert [entry.previous for entry in entries] == ["a" * 64, *(entry.hash for entry in entries[:-1])]
    assert all(
        entry.hash == entry_hash(entry.previous, entry.seq, "now", entry.kind, entry.run_id, entry.digest)
        for entry in entries
    )


def test_an_empty_log_begins_with_number_one():
    assert extend(Head(), pack(one_of_each()[0][:1]), "now")[0].previous == GENESIS
    assert extend(Head(), [], "now") == []


def test_links_follow_a_chain_and_say_what_is_wrong_with_each_entry():
    entries = extend(Head(), [packed(number) for number in range(4)], "2026-11-29T10:00:00Z")
    whole = Links(entries[1].hash)
    assert [list(whole.faults(entry)) for entry in entries] == [[], [], [], []]
    assert (list(whole.end()), whole.entries, whole.head) == ([], 4, Head(4, entries[3].hash))
    cut = Links("f00")
    assert list(cut.faults(entries[0])) == []
    assert list(cut.faults(entries[2])) == [
        "entries 2 to 2 are missing", "does not follow entry 1: one of them was changed, moved or taken out",
    ]  # fmt: skip
    assert list(cut.end()) == ["no entry has the hash f00: the log's end was cut off, or rewritten"]


def packed(number):
    return pack([RunRecord(id=f"20261129-{number}", grader="golden", started_at="")])[0]
