"""Whatever a record holds, it is read back equal, on both databases."""

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_making import attempt

from rightcall.errors import StoreError
from rightcall.store.packing import TYPES, digest_of, unpack
from rightcall.store.reading import stored, stream
from rightcall.store.tables import TABLES

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TEXTS = (
    st.none()
    | st.text()
    | st.sampled_from(["", "\0", "a\0b", "é" * 300, "\U0001d4b3" * 120, "'; DROP TABLE log; --", "%_\\"])
)


def any_record(kind):
    """Return a strategy for a kind: what its fields may be, with null, zero and empty among it."""
    by_type = {
        str: TEXTS.filter(lambda text: text is not None),
        str | None: TEXTS,
        float: st.floats(allow_nan=False, allow_infinity=False),
        float | None: st.none() | st.just(0.0) | st.floats(allow_nan=False, allow_infinity=False),
        int: st.integers(0, 2**31 - 1),
        int | None: st.none() | st.just(0) | st.integers(0, 2**60),
        dict: st.dictionaries(st.text(), JSON, max_size=3),
    }

    def strategy(field):
        if field.name in ("facts", "summary", "parameters", "fields"):
            return by_type[dict]
        if field.name in ("decisions", "baselines", "judges"):
            return st.lists(by_type[dict], max_size=2).map(tuple)
        is_own = field.name in ("agreement", "detection", "people", "recalibration")
        if is_own or (field.name == "verdict" and kind is TYPES["attempt"]):
            return st.none() | by_type[dict]
        return by_type[field.type] if field.type in by_type else st.from_type(field.type)

    return st.builds(kind, **{field.name: strategy(field) for field in msgspec.structs.fields(kind)})


def everything(store):
    """Return every record of a store by its digest."""
    return {
        row.digest: unpack(TYPES[kind], row.codec, row.data)
        for kind, table in TABLES.items()
        for row in stream(store.database, stored(table), table.c.seq)
    }


@given(st.lists(st.sampled_from(sorted(TYPES)).flatmap(lambda kind: any_record(TYPES[kind])), max_size=6))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_written_is_read_back_equal(store, records):
    before = everything(store)
    try:
        digests = store.write(records)
    except StoreError as error:
        # Two of them claim to be the same run or verdict, or one person's answer to the same item.
        assert (error.code, everything(store)) == ("STORE_CONFLICT", before)  # noqa: PT017 - it may also not be raised
        return
    after = everything(store)
    assert after.keys() == before.keys() | set(digests)
    for digest, record in zip(digests, records, strict=True):
        # Python holds 1, 1.0 and True for equal; the digests of null, zero, false and empty differ.
        assert after[digest] == record
        assert digest_of(after[digest]) == digest


def test_null_zero_false_and_empty_stay_apart(store):
    values = [None, 0, False, "", [], {}, "null", "0"]
    digests = store.write([attempt(1, verdict={"score": value}) for value in values])
    assert len(set(digests)) == len(values)
    read = [found.verdict["score"] for _, _, found in store.attempts()]
    assert [(type(value), value) for value in read] == [(type(value), value) for value in values]
    prices = [
        attempt(2, price=value, message=text) for value, text in ((None, None), (0.0, ""), (0.0, None), (None, ""))
    ]
    store.write(prices)
    assert [(found.price, found.message) for _, _, found in store.attempts(unit="t-2")] == [
        (None, None), (0.0, ""), (0.0, None), (None, ""),
    ]  # fmt: skip


@given(TEXTS, TEXTS)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_a_unit_is_called_it_is_found_by_its_name(store, unit, case_id):
    record = attempt(unit=unit or "", case_id=case_id)
    [digest] = store.write([record])
    assert (digest, record) in [(found, it) for _, found, it in store.attempts(unit=unit or "", case_id=case_id)]
    assert digest not in [found for _, found, _ in store.attempts(unit=f"{unit} another")]
