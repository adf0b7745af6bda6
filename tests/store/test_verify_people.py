"""Whatever is done to what people said shows when the log is verified: changed, removed, reordered, inserted."""

import msgspec
import pytest
from msgspec.structs import replace
from queue_making import answer, at, decide, review, ruled, signoff
from store_making import RUN, calibration, gate_answer

from rightcall.store.chain import entry_hash
from rightcall.store.packing import COLUMNS, TYPES, column, columns_of, digest_of, unpack
from rightcall.store.records import ReviewEvent
from rightcall.store.tables import TABLES
from rightcall.store.verify import verify
from rightcall.trace.digest import canonical

KINDS = ("answer", "consensus", "signoff", "review_event", "calibration", "gate")


@pytest.fixture
def filled(store):
    """Return a store in which two people answered two items each, and two sign-offs and two events are recorded."""
    store.write([review(unit, "CRITICAL", severity="CRITICAL") for unit in ("t-0", "t-1")])
    queue = ruled(store.queue)
    for seconds, unit in enumerate(("t-0", "t-1")):
        for who in ("ana", "bo"):
            queue.claim(who, now=at(seconds), lease=60.0)
            queue.answer(answer(unit, who), decide, at(seconds))
        queue.sign(signoff(unit))
    store.write([calibration(), calibration(judge="fast")], ["result"])
    store.write([gate_answer(), gate_answer(answer="FAIL", exit_code=1)])
    assert verify(store).faults == ()
    return store


def told(store):
    """Return the faults of a store as text."""
    return [f"{fault.seq}: {fault.message}" for fault in verify(store).faults]


def rows(store, kind):
    """Return the records of a kind, as (number of the log entry, digest, record)."""
    table = TABLES[kind]
    found = store.database.read(lambda it: it.execute(table.select().order_by(table.c.seq)).all())
    return [(row.seq, row.digest, unpack(TYPES[kind], row.codec, row.data)) for row in found]


def quoted(store, value):
    """Return a value as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'" if store.database.is_sqlite else rf"'\x{value.hex()}'::bytea"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def insertion(store, kind, record, seq):
    """Return the statement that puts a record into its table, as the store would."""
    plain = canonical(msgspec.to_builtins(record))
    values = {"digest": digest_of(record), "seq": seq, "codec": "plain", "data": plain, **columns_of(record)}
    shown = ", ".join(quoted(store, value) for value in values.values())
    return f"INSERT INTO {TABLES[kind].name} ({', '.join(values)}) VALUES ({shown})"


def forged(record):
    """Return a record as somebody would like it to be."""
    if isinstance(record, ReviewEvent):
        return replace(record, until="2027-01-01T00:00:00Z")
    return replace(record, at="2026-11-29T10:59:59Z")


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_record_shows(filled, tamper, kind):
    seq, _, record = rows(filled, kind)[0]
    plain = canonical(msgspec.to_builtins(forged(record)))
    table = TABLES[kind].name
    tamper(table, f"UPDATE {table} SET codec = 'plain', data = {quoted(filled, plain)} WHERE seq = {seq}")
    assert told(filled) == [f"{seq}: its {kind} record was changed: its digest is another"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_record_under_a_fitting_digest_shows(filled, tamper, kind):
    seq, digest, record = rows(filled, kind)[0]
    table, new = TABLES[kind].name, forged(record)
    plain, other = canonical(msgspec.to_builtins(new)), digest_of(new)
    tamper(
        table,
        f"UPDATE {table} SET codec = 'plain', data = {quoted(filled, plain)}, digest = '{other}' WHERE seq = {seq}",
    )
    assert told(filled) == [
        f"{seq}: its {kind} record {digest} is missing",
        f"{seq}: the {kind} record {other} has no entry in the log",
    ]
    # Nor does it help to change the log's entry too: the entries after it hold what it was.
    tamper("log", f"UPDATE log SET digest = '{other}' WHERE seq = {seq}")
    assert told(filled) == [f"{seq}: was changed: its hash is not that of its content"]
    entry = next(filled.log(after=seq - 1))
    fitting = entry_hash(entry.previous, seq, entry.at, kind, entry.run_id, other)
    tamper("log", f"UPDATE log SET hash = '{fitting}' WHERE seq = {seq}")
    assert told(filled) == [f"{seq + 1}: does not follow entry {seq}: one of them was changed, moved or taken out"]


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        *(("answer", name, "zoe") for name in ("item", "run_id", "grader", "unit", "who", "kind")),
        *(("consensus", name, "zoe") for name in ("item", "run_id", "grader", "unit")),
        *(("signoff", name, "zoe") for name in ("item", "run_id", "grader", "unit", "who", "outcome")),
        *(("review_event", name, "zoe") for name in ("item", "run_id", "act", "who")),
        *((kind, name, "zoe") for kind in ("calibration", "gate") for name in COLUMNS[kind]),
    ],
)
def test_a_changed_column_shows(filled, tamper, kind, name, value):
    seq = rows(filled, kind)[0][0]
    table = TABLES[kind].name
    tamper(table, f"UPDATE {table} SET {name} = '{column(value)}' WHERE seq = {seq}")
    assert f"{seq}: the column `{name}` of its {kind} record was changed" in told(filled)


@pytest.mark.parametrize("kind", KINDS)
def test_a_removed_record_shows(filled, tamper, kind):
    seq, digest, _ = rows(filled, kind)[0]
    tamper(TABLES[kind].name, f"DELETE FROM {TABLES[kind].name} WHERE seq = {seq}")
    assert told(filled) == [f"{seq}: its {kind} record {digest} is missing"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_that_was_removed_with_its_entry_shows(filled, tamper, kind):
    seq = rows(filled, kind)[0][0]
    tamper(TABLES[kind].name, f"DELETE FROM {TABLES[kind].name} WHERE seq = {seq}")
    tamper("log", f"DELETE FROM log WHERE seq = {seq}")
    assert told(filled) == [
        f"{seq + 1}: entries {seq} to {seq} are missing",
        f"{seq + 1}: does not follow entry {seq - 1}: one of them was changed, moved or taken out",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_two_records_that_changed_places_show(filled, tamper, kind):
    (first, *_), (second, *_) = rows(filled, kind)[:2]
    table = TABLES[kind].name
    tamper(
        table,
        f"UPDATE {table} SET seq = 9999 WHERE seq = {first}",
        f"UPDATE {table} SET seq = {first} WHERE seq = {second}",
        f"UPDATE {table} SET seq = {second} WHERE seq = 9999",
    )
    found = told(filled)
    assert f"{first}: its {kind} record belongs to entry {second}: one was moved or added" in found
    assert f"{second}: its {kind} record belongs to entry {first}: one was moved or added" in found


@pytest.mark.parametrize("kind", KINDS)
def test_two_records_that_changed_places_with_their_entries_show(filled, tamper, kind):
    (first, one, _), (second, other, _) = rows(filled, kind)[:2]
    table = TABLES[kind].name
    tamper(
        table,
        f"UPDATE {table} SET seq = 9999 WHERE seq = {first}",
        f"UPDATE {table} SET seq = {first} WHERE seq = {second}",
        f"UPDATE {table} SET seq = {second} WHERE seq = 9999",
    )
    tamper(
        "log",
        f"UPDATE log SET digest = '{other}' WHERE seq = {first}",
        f"UPDATE log SET digest = '{one}' WHERE seq = {second}",
    )
    assert told(filled) == [f"{seq}: was changed: its hash is not that of its content" for seq in (first, second)]


@pytest.mark.parametrize("kind", KINDS)
def test_an_inserted_record_shows(filled, tamper, kind):
    end, record = filled.head().seq, forged(rows(filled, kind)[0][2])
    if kind == "answer":
        record = replace(record, who="zoe")
    tamper(TABLES[kind].name, insertion(filled, kind, record, end + 1))
    assert told(filled) == [f"None: the {kind} record {digest_of(record)} has no entry in the log"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_that_was_inserted_with_an_entry_in_the_middle_shows(filled, tamper, kind):
    seq, _, record = rows(filled, kind)[0]
    new, end = forged(record), filled.head().seq
    if kind == "answer":
        new = replace(new, who="zoe")
    entry = next(filled.log(after=seq - 1))
    digest = digest_of(new)
    fitting = entry_hash(entry.previous, seq, entry.at, kind, RUN, digest)
    # Everything from there on moves by one, records and entries, with a hash for the new one that fits.
    for table in TABLES.values():
        tamper(
            table.name,
            f"UPDATE {table.name} SET seq = seq + 1000 WHERE seq >= {seq}",
            f"UPDATE {table.name} SET seq = seq - 999 WHERE seq >= 1000",
        )
    tamper(
        "log",
        f"UPDATE log SET seq = seq + 1000 WHERE seq >= {seq}",
        "UPDATE log SET seq = seq - 999 WHERE seq >= 1000",
        "INSERT INTO log (seq, at, kind, run_id, digest, previous, hash) VALUES "
        f"({seq}, '{entry.at}', '{kind}', '{RUN}', '{digest}', '{entry.previous}', '{fitting}')",
    )
    tamper(TABLES[kind].name, insertion(filled, kind, new, seq))
    found = told(filled)
    assert found[0] == f"{seq + 1}: does not follow entry {seq}: one of them was changed, moved or taken out"
    assert len([one for one in found if "its hash is not that of its content" in one]) == end - seq + 1


def test_an_answer_that_was_cut_off_the_end_shows_by_a_head_that_was_kept(filled, tamper):
    filled.queue.imported([answer("t-0", "zoe", kind="imported", blind=False)], at())
    head = filled.head()
    tamper("answers", f"DELETE FROM answers WHERE seq = {head.seq}")
    tamper("log", f"DELETE FROM log WHERE seq = {head.seq}")
    assert verify(filled).intact
    assert not verify(filled, expected_head=head.hash).intact
