"""The test server's memory: every request, and counts that do not depend on how many are kept."""

from rightcall.testing.answers import Asked
from rightcall.testing.ledger import Ledger

HEADERS = ((b"authorization", b"Bearer abc"), (b"user-agent", b"test"))


def arrive(ledger, user="a", connection=0):
    seen = ledger.arrived(1.5, connection, HEADERS)
    return seen, ledger.placed(seen, Asked(user=user, model="m"), None)


def test_requests_are_numbered_and_attempts_are_counted_by_what_is_asked():
    ledger = Ledger()
    placed = [arrive(ledger, user)[1] for user in ("a", "b", "a", "a")]
    assert [(asked.number, asked.attempt) for asked in placed] == [(0, 0), (1, 0), (2, 1), (3, 2)]
    assert placed[0].identity == placed[2].identity == ledger.requests[0].digest != placed[1].identity
    assert ledger.stats()["repeated"] == 2


def test_an_identity_stands_for_texts_that_differ():
    ledger = Ledger()
    texts = [Asked(user=f"case-1 nonce {nonce}", model="m") for nonce in "xy"]
    placed = [ledger.placed(ledger.arrived(0, 0, ()), asked, "case-1") for asked in texts]
    assert [asked.attempt for asked in placed] == [0, 1]
    assert ledger.requests[0].digest != ledger.requests[1].digest


def test_counts_are_of_what_happened():
    ledger = Ledger()
    (one, _), (two, _) = arrive(ledger), arrive(ledger, "b", connection=1)
    ledger.met(one, "malformed")
    one.status = 200
    assert ledger.stats()["in_flight"] == 2
    ledger.left(one, 0.5, client_there=True)
    ledger.left(two, 0.5, client_there=False)
    assert ledger.stats() == {
        "requests": 2, "in_flight": 0, "peak_in_flight": 2, "connections": 2, "gone": 1, "repeated": 0,
        "by_fault": {"malformed": 1}, "by_status": {"200": 1}, "by_model": {"m": 2},
    }  # fmt: skip
    assert (one.client_there, two.client_there, two.status) == (True, False, None)


def test_the_newest_are_kept_and_all_are_counted():
    ledger = Ledger(keep=2)
    for user in "abc":
        arrive(ledger, user)
    assert [seen.number for seen in ledger.requests] == [1, 2]
    assert ledger.stats()["requests"] == 3


def test_a_call_that_is_under_way_is_forgotten_by_a_reset():
    ledger = Ledger()
    seen, _ = arrive(ledger)
    ledger.reset()
    ledger.met(seen, "hang")
    ledger.left(seen, 0.1, client_there=True)
    assert ledger.stats()["requests"] == ledger.stats()["in_flight"] == 0
    assert ledger.stats()["by_fault"] == {}
    assert arrive(ledger)[1].attempt == 0


def test_the_same_headers_are_kept_once():
    ledger = Ledger()
    one, two = (ledger.arrived(0, 0, tuple(pair for pair in HEADERS)) for _ in range(2))
    assert one.headers is two.headers


def test_a_key_can_be_compared_and_not_read():
    ledger = Ledger()
    seen, _ = arrive(ledger)
    assert seen.header("Authorization") == "Bearer abc"
    assert seen.header("cookie") is None
    shown = seen.plain()["headers"]
    assert shown["user-agent"] == "test"
    assert "abc" not in shown["authorization"]
    assert len(shown["authorization"]) == 12
