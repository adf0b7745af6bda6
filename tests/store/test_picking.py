"""Some records out of many: what is there is found, in any number, and what is not is left out."""

import hashlib

from store_making import RUN, attempt, one_of_each, sha, verdict

from rightcall.store.packing import digest_of, plain_bytes
from rightcall.store.picking import about_bodies, attempts_named, body_rows, records_of, verdict_digests


def test_attempts_are_found_by_their_digests_many_at_a_time(store):
    many = [attempt(number) for number in range(450)]
    digests = store.write(many)
    found = attempts_named(store.database, [*digests, "f" * 64])
    assert found == dict(zip(digests, many, strict=True))


def test_of_a_verdict_the_last_revision_counts(store):
    long = "x" * 1000
    records = [
        verdict(1), verdict(1, revision=2), verdict(1, revision=1), verdict(2), verdict(3, grader="golden"),
        verdict(4, run_id="20261129-2"), verdict(5, unit=long),
    ]  # fmt: skip
    store.write(records, ["result"])
    found = verdict_digests(store.database, RUN, "rubric", ["t-1", "t-2", "t-3", "t-4", "t-9", long])
    assert found == {"t-1": digest_of(records[1]), "t-2": digest_of(records[3]), long: digest_of(records[6])}


def test_records_come_as_the_bytes_that_their_digest_is_of(store):
    records, bodies = one_of_each()
    digests = store.write(records, bodies)
    for record, digest in zip(records, digests, strict=True):
        kind = record.__struct_config__.tag
        found = records_of(store.database, kind, [digest, "f" * 64])
        assert list(found) == [digest]
        assert sha(found[digest]) == digest


def test_traces_and_cases_are_found_by_what_they_are_about(store):
    records, bodies = one_of_each()
    digests = store.write(records, bodies)
    assert list(about_bodies(store.database, "trace", [sha("trace"), sha("case")])) == [digests[1]]
    assert list(about_bodies(store.database, "case", [sha("case")])) == [digests[2]]
    assert list(about_bodies(store.database, "case", [])) == []


def test_bodies_come_as_they_are_stored_in_any_number(store):
    bodies = [f"body {number} ".encode() * (number % 40) for number in range(450)]
    store.write([], bodies)
    names = [hashlib.sha256(body).hexdigest() for body in bodies]
    found = {row.sha256: row for row in body_rows(store.database, [*names, "f" * 64])}
    assert found.keys() == set(names)
    for name, body in zip(names, bodies, strict=True):
        assert plain_bytes(found[name].codec, found[name].data, found[name].size) == body
    assert store.bodies(names) == dict(zip(names, bodies, strict=True))
