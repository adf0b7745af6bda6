"""How long an endpoint asks us to wait, and what the bodies of errors say."""

import aiohttp
import pytest
from llm_serving import spec

from rightcall.errors import Rejected, Unavailable
from rightcall.llm.endpoint import resolve
from rightcall.llm.failures import Progress, broken, refusal, retry_after

NOON = 1_796_040_000.0
DATE = "Mon, 30 Nov 2026 12:00:00 GMT"


@pytest.fixture
def endpoint():
    return resolve(spec(base_url="http://judge.internal/v1"), {}, url="", key_variable="JUDGE_KEY")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After": "0"}, 0),
        ({"Retry-After": "-4"}, 0),
        ({"Retry-After": "9", "retry-after-ms": "250"}, 0.25),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:20 GMT", "Date": DATE}, 20),
        ({"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT", "Date": DATE}, 0),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:20 GMT"}, 20),
        ({"Retry-After": "Mon, 99 Nov 2026 12:00:20 GMT"}, None),
    ],
)
def test_a_wait_is_read_in_seconds_milliseconds_or_as_a_date(headers, seconds):
    assert retry_after(headers, now=NOON) == seconds


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"error": {"message": "no such thing"}}', "HTTP 400: no such thing"),
        (b'{"error": "model not loaded"}', "HTTP 400: model not loaded"),
        (b'{"message": "bad input"}', "HTTP 400: bad input"),
        (b'{"detail": "not allowed here"}', "HTTP 400: not allowed here"),
        (b"plain words\n on two lines", "HTTP 400: plain words on two lines"),
        (b'{"error": {}}', "HTTP 400"),
        (b"[]", "HTTP 400"),
        (b"", "HTTP 400"),
        (b"\xff\xfe", "HTTP 400: \ufffd\ufffd"),
    ],
)
def test_the_words_of_an_error_are_found_in_every_usual_shape(endpoint, body, told):
    assert refusal(endpoint, 400, {}, body).message == f"judge.internal answers {told}"


def test_a_long_error_is_cut(endpoint):
    assert len(refusal(endpoint, 400, {}, b"word " * 5000).message) < 400


def test_the_words_about_a_credential_are_left_out_but_for_their_code(endpoint):
    body = b'{"error": {"message": "Incorrect key provided: sk-abcd****wxyz", "code": "invalid_api_key"}}'
    error = refusal(endpoint, 401, {}, body)
    assert error.message == "judge.internal refuses the credential (HTTP 401, invalid_api_key)"


@pytest.mark.parametrize(
    ("error", "words", "kind"),
    [
        (aiohttp.ClientPayloadError("x"), "in the middle of its answer", Unavailable),
        (aiohttp.ServerDisconnectedError(), "before it answered", Unavailable),
        (ConnectionResetError(), "before it answered", Unavailable),
        (aiohttp.ConnectionTimeoutError(), "no connection", Unavailable),
        (aiohttp.InvalidURL("http://secret@host"), "broke (InvalidURL)", Unavailable),
    ],
)
def test_a_broken_connection_says_how_it_broke(endpoint, error, words, kind):
    found = broken(endpoint, error, Progress())
    assert isinstance(found, kind)
    assert words in found.message
    assert "secret" not in found.message


def test_an_untrusted_certificate_is_not_asked_again(endpoint):
    key = aiohttp.client_reqrep.ConnectionKey("judge.internal", 443, True, True, None, None, None)
    found = broken(endpoint, aiohttp.ClientConnectorSSLError(key, OSError(1, "bad certificate")), Progress())
    assert isinstance(found, Rejected)
    assert "ca_bundle" in str(found)
