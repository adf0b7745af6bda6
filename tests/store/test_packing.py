"""Records and bodies as bytes: identity, compression, columns; and what cannot be stored."""

import hashlib
import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import zstandard
from store_making import attempt, one_of_each, sha, verdict

from rightcall.errors import StoreError
from rightcall.store.packing import (
    COLUMNS,
    TYPES,
    bodies_named,
    column,
    columns_of,
    digest_of,
    hashed,
    pack,
    pack_bodies,
    plain_bytes,
    unpack,
)
from rightcall.trace.digest import digest
from rightcall.trace.jsontext import decode, encode


def test_a_digest_is_that_of_the_records_canonical_json():
    for record, packed in zip(one_of_each()[0], pack(one_of_each()[0]), strict=True):
        assert packed.digest == digest_of(record) == digest(decode(encode(record)))
        assert packed.digest == hashlib.sha256(plain_bytes(packed.codec, packed.data)).hexdigest()


def test_every_kind_comes_back_as_it_was():
    records, _ = one_of_each()
    packed = pack(records)
    assert [item.kind for item in packed] == ["run", "trace", "case", "attempt", "verdict", "review", "run_event"]
    assert [unpack(TYPES[item.kind], item.codec, item.data) for item in packed] == records


def test_the_run_of_a_record_is_known_where_it_has_one():
    assert [item.run_id is None for item in pack(one_of_each()[0])] == [False, True, True, False, False, False, False]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (verdict(score=math.nan), "not representable"),
        (attempt(verdict={"a": math.inf}), "not representable"),
        (attempt(message="\ud800"), "non-UTF-8"),
        (attempt(latency="soon"), r"Expected `float`, got `str` - at `\$.latency`"),
        (attempt(status=None), r"Expected `str`, got `null` - at `\$.status`"),
        (attempt(verdict={"a": {1, 2}.__iter__()}), "set_iterator"),
        (verdict(revision=-1), "-1 is out of range"),
        (verdict(revision=2**40), "1099511627776 is out of range"),
    ],
)
def test_what_could_not_be_read_back_is_refused(record, said):
    with pytest.raises(StoreError, match=said) as caught:
        pack([record])
    assert caught.value.code == "STORE_INVALID"
    assert "record cannot be recorded" in str(caught.value)


def test_a_value_without_end_is_refused():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(StoreError, match="cannot be recorded"):
        pack([attempt(verdict={"a": deep})])


def test_a_text_that_an_index_cannot_hold_stands_as_its_hash():
    assert column("é" * 200) == "é" * 200
    assert column("é" * 201) == "sha256:" + sha("é" * 201)
    assert column("a" * 401) == "sha256:" + sha("a" * 401)
    assert column("a\0b") == "sha256:" + sha("a\0b")
    assert column("") == ""
    assert column(None) is None
    assert column(0) == 0
    assert column("half \ud800").startswith("sha256:")


def test_columns_are_fields_of_their_records():
    for record in one_of_each()[0]:
        kind = pack([record])[0].kind
        assert columns_of(record) == {name: getattr(record, name) for name in COLUMNS[kind]}


def test_a_body_is_compressed_only_where_that_is_smaller():
    long, short = "again and " * 100, "once"
    packed = {body.sha256: body for body in pack_bodies(hashed([long, short, b""]))}
    assert [(packed[sha(body)].codec, packed[sha(body)].size) for body in (long, short, b"")] == [
        ("zstd", 1000), ("plain", 4), ("plain", 0),
    ]  # fmt: skip
    assert plain_bytes("zstd", packed[sha(long)].data, 1000) == long.encode()


def test_equal_bodies_are_one():
    assert hashed(["a", b"a", "b"]) == {sha("a"): b"a", sha("b"): b"b"}


def test_a_text_that_has_no_bytes_is_refused():
    with pytest.raises(StoreError, match="a text cannot be recorded"):
        hashed(["\ud800"])


@pytest.mark.parametrize(
    ("codec", "data", "size"),
    [
        ("plain", b"abc", 2),
        ("plain", "abc", 3),
        ("zstd", zstandard.compress(b"abc") + b"more", 3),
        ("zip", b"abc", 3),
        ("zstd", b"abc", 3),
        ("zstd", zstandard.compress(b"abc")[:-1], None),
        ("zstd", zstandard.compress(bytes(10**6)), 3),
    ],
)
def test_bytes_that_are_not_what_they_should_be_are_refused(codec, data, size):
    with pytest.raises(ValueError, match=r"\S"):
        plain_bytes(codec, data, size)


def test_a_stored_record_that_was_damaged_is_one_clear_error():
    with pytest.raises(StoreError, match=r"an attempt record in the store cannot be read: .*verify the log"):
        unpack(type(attempt()), "plain", b'{"record":"attempt"')


def test_the_bodies_that_a_record_names():
    records, _ = one_of_each()
    assert [bodies_named(record) for record in records] == [
        [],
        [sha("trace")],
        [sha("case")],
        [sha("system"), sha("user"), sha("reply")],
        [sha("result"), sha("trace"), sha("case")],
        [],
        [],
    ]
    assert bodies_named(attempt()) == []


def test_records_and_bodies_are_the_same_packed_alone_or_together():
    records, _ = one_of_each()
    assert pack(records) == [one for record in records for one in pack([record])]
    bodies = ["again and " * 100, "once", b"", "and again " * 50]
    together = {body.sha256: body for body in pack_bodies(hashed(bodies))}
    assert together == {sha(body): pack_bodies(hashed([body]))[0] for body in bodies}
    assert pack([]) == []
    assert pack_bodies({}) == []


def test_threads_unpack_at_the_same_time_and_what_is_broken_disturbs_nobody():
    plain = [bytes([number]) * (1000 * number + 200) for number in range(1, 40)]
    packed = [zstandard.ZstdCompressor().compress(data) for data in plain]

    def work(number):
        found = []
        for at in range(200):
            which = (number + at) % len(plain)
            with pytest.raises(ValueError, match=r"."):
                plain_bytes("zstd", packed[which][:-3])
            found.append(plain_bytes("zstd", packed[which]) == plain[which])
        return all(found)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
