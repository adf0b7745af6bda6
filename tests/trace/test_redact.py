"""What leaves a text or a JSON value, what stays, and what one can still see."""

import hashlib
import hmac
import json
import pickle
import re
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import ConfigError
from rightcall.trace.redact import KEY_FILE, KEY_VARIABLE, Redactor, load_key

KEY = b"a key for tests"
CARD = "4111111111111111"
ANY_TAG = re.compile(r"⟦(\w+):[0-9a-f]{8}⟧")

redactor = Redactor(KEY)


def tag(kind: str, secret: str) -> str:
    return f"⟦{kind}:{hmac.new(KEY, (kind + secret).encode(), hashlib.sha256).hexdigest()[:8]}⟧"


def kinds(text: str) -> list[str]:
    return ANY_TAG.findall(text)


# ---- the tag ----


def test_a_tag_is_the_kind_and_the_first_eight_digits_of_a_keyed_hash():
    assert redactor.text(CARD) == tag("card", CARD)
    assert re.fullmatch(r"⟦card:[0-9a-f]{8}⟧", redactor.text(CARD))


def test_another_key_gives_another_tag():
    assert Redactor(b"another").text(CARD) != redactor.text(CARD)


def test_a_tag_is_left_as_it_is():
    tagged = {"password": tag("password", "x"), "text": f"token={tag('token', 'y')} and {tag('card', CARD)}"}
    assert redactor.value(tagged) == tagged


def test_a_value_that_only_contains_a_tag_is_a_secret():
    assert redactor.text(f"password=abc{tag('card', CARD)}") == f"password={tag('password', 'abc' + tag('card', CARD))}"


def test_the_key_is_not_shown():
    assert "key for tests" not in repr(redactor)


def test_a_redactor_travels_to_other_processes():
    assert pickle.loads(pickle.dumps(Redactor(KEY, ("ACME-[0-9]+",)))).text("ACME-1") == tag("pattern", "ACME-1")


# ---- shapes ----

TOKEN = "Q7" * 20
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAbc=\n-----END RSA PRIVATE KEY-----"
PEM_NORMAL = "-----BEGINRSAPRIVATEKEY-----MIIEowAbc=-----ENDRSAPRIVATEKEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl-_"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"pay with {CARD}.", f"pay with {tag('card', CARD)}."),
        ("4111 1111 1111 1111", tag("card", CARD)),
        ("4111-1111-1111-1111", tag("card", CARD)),
        ("4111\u00a01111\u202f1111\u20111111", tag("card", CARD)),
        ("4-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1", tag("card", CARD)),
        ("5500 0000 0000 0004", tag("card", "5500000000000004")),
        ("3400 000000 00009 amex", f"{tag('card', '340000000000009')} amex"),
        ("6011 0000 0000 0004, 12/27", f"{tag('card', '6011000000000004')}, 12/27"),
        ("no. 12 4111 1111 1111 1111 12/27 cvc 123", f"no. 12 {tag('card', CARD)} 12/27 cvc 123"),
        (f"card_{CARD} VISA{CARD}", f"card_{tag('card', CARD)} VISA{tag('card', CARD)}"),
        (f"line\\n{CARD}\\tend %20{CARD}", f"line\\n{tag('card', CARD)}\\tend %20{tag('card', CARD)}"),
        ("Write to A.b+c@Mail.example.com.", f"Write to {tag('email', 'a.b+c@mail.example.com')}."),
        ("?to=jo%40example.com&x", f"?to={tag('email', 'jo@example.com')}&x"),
        ("jörg@exämple.com", tag("email", "jörg@exämple.com")),
        ("use Bearer abc.123-x, please", f"use Bearer {tag('bearer', 'abc.123-x')}, please"),
        ("BEARER abcdefghijklmnop", f"BEARER {tag('bearer', 'abcdefghijklmnop')}"),
        (f"sk-proj-{TOKEN}", tag("api_key", f"sk-proj-{TOKEN}")),
        (f"key sk-ant-api03-{TOKEN}!", f"key {tag('api_key', f'sk-ant-api03-{TOKEN}')}!"),
        ("AKIAIOSFODNN7EXAMPLE", tag("api_key", "AKIAIOSFODNN7EXAMPLE")),
        (f"ghp_{TOKEN} gho_{TOKEN}", f"{tag('api_key', f'ghp_{TOKEN}')} {tag('api_key', f'gho_{TOKEN}')}"),
        (f"github_pat_{TOKEN}", tag("api_key", f"github_pat_{TOKEN}")),
        ("xoxb-1234567890-abcdef", tag("api_key", "xoxb-1234567890-abcdef")),
        (f"AIza{TOKEN}", tag("api_key", f"AIza{TOKEN}")),
        (
            f"sk_live_{TOKEN}|rk_live_{TOKEN}",
            f"{tag('api_key', f'sk_live_{TOKEN}')}|{tag('api_key', f'rk_live_{TOKEN}')}",
        ),
        (f"jwt: {JWT};", f"jwt: {tag('jwt', JWT)};"),
        (f"Bearer {JWT}", f"Bearer {tag('jwt', JWT)}"),
        (f"{PEM}\nrest", f"{tag('private_key', PEM_NORMAL)}\nrest"),
        (PEM.replace("\n", "\\n") + " rest", f"{tag('private_key', PEM_NORMAL)} rest"),
        ("https://me:hunter2@db.example.com/x", f"https://me:{tag('password', 'hunter2')}@db.example.com/x"),
        (
            f"https://x-access-token:ghp_{TOKEN}@git.example.com/a",
            f"https://x-access-token:{tag('api_key', f'ghp_{TOKEN}')}@git.example.com/a",
        ),
    ],
)
def test_a_shape_is_replaced_and_nothing_else(text, expected):
    assert redactor.text(text) == expected
    assert redactor.text(expected) == expected


def test_a_private_key_that_was_cut_is_hidden_to_the_end():
    assert redactor.text("x -----BEGIN PRIVATE KEY-----\nMIIE\nabc").startswith("x ⟦private_key:")
    assert "MIIE" not in redactor.text("x -----BEGIN PRIVATE KEY-----\nMIIE\nabc")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing to see",
        "550e8400-e29b-41d4-a716-446655440000",
        "41111111-1111-4111-8111-111111111111",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        hashlib.sha256(b"x").hexdigest(),
        f"a{CARD}",
        f"{CARD}f",
        f"0{CARD}000",
        "2026-11-29T10:00:00.123456Z",
        "1764410400000 1764410400000000 1764410400000000000",
        "2026-11-29 10:00:00 2026-12-01 10:00:00",
        "order 4111111111, ORD-2026-0001234, 100-4567890-1234567",
        "4111111111111112",
        "3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
        "2 30 40 50 60 70 80 90 100 110 120 130",
        "score 0.4532015112830366, -4.532015112830366e-05",
        "+49 30 901820 1234",
        "(415) 555-0123, 415-555-0123, +1 415 555 0123, 030 901820 1234",
        "max_tokens: 5, token_count=3, tokens = 7, tokenizer: x, secretary: Ann",
        "the bearer certificate of the bearer",
        "password: null, token = none, secret: true",
        "the token is, as a rule, a secret",
        "Token::new() and secret:",
        "pip install pkg==1.2.3 pkg@1.2.3 user@host @decorator",
        "sk-learn task-1234567890123456789012 risk-of-something-very-long",
        "j***@example.com",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "⟦not a tag⟧",
    ],
)
def test_what_only_looks_like_a_secret_stays(text):
    assert redactor.text(text) == text
    assert redactor.value({"a": [text]}) == {"a": [text]}


def test_text_without_secrets_comes_back_as_the_same_object():
    text = "The card was frozen on Monday."
    assert redactor.text(text) is text


def test_a_lone_surrogate_does_not_stop_redaction():
    assert redactor.text(f"\ud800 {CARD} \udfff") == f"\ud800 {tag('card', CARD)} \udfff"
    assert redactor.value({"\ud800_Token": "x"}) == {"\ud800_Token": tag("token", "x")}


# ---- key names ----


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("password", "password"),
        ("Password", "password"),
        ("access_token", "token"),
        ("x-api-key", "api_key"),
        ("X-Api-Key", "api_key"),
        ("apikey", "api_key"),
        ("openaiApiKey", "api_key"),
        ("APIKey", "api_key"),
        ("clientSecret", "secret"),
        ("Set-Cookie", "cookie"),
        ("Proxy-Authorization", "authorization"),
        ("db.password", "password"),
        ("access token ", "token"),
    ],
)
def test_a_key_counts_if_it_is_a_name_or_ends_with_one(key, name):
    assert redactor.value({key: "hunter2"}) == {key: tag(name, "hunter2")}


@pytest.mark.parametrize(
    "key", ["max_tokens", "token_count", "tokens", "mytoken", "secretary", "passwords", "api", "key"]
)
def test_other_keys_do_not_count(key):
    assert redactor.value({key: "hunter2", "n": {key: 7}}) == {key: "hunter2", "n": {key: 7}}


def test_under_a_key_name_every_leaf_is_replaced_but_null_booleans_and_empty_text():
    value = {"secret": {"a": ["x", 7, 1.5, None, True], "b": {"password": "y", "c": ""}}, "e": {"token": []}}
    assert redactor.value(value) == {
        "secret": {
            "a": [tag("secret", "x"), tag("secret", "7"), tag("secret", "1.5"), None, True],
            "b": {"password": tag("password", "y"), "c": ""},
        },
        "e": {"token": []},
    }


def test_the_text_and_the_number_of_a_secret_have_one_tag():
    tagged = redactor.value([{"token": 12345}, {"token": "12345"}, {"token": 12345.0}])
    assert tagged == [{"token": tag("token", "12345")}] * 3


def test_a_secret_with_a_shape_takes_the_tag_of_the_shape():
    assert redactor.value({"token": f"ghp_{TOKEN}", "cookie": CARD, "secret": int(CARD)}) == {
        "token": tag("api_key", f"ghp_{TOKEN}"),
        "cookie": tag("card", CARD),
        "secret": tag("card", CARD),
    }


def test_the_word_bearer_stays_under_a_key_name_too():
    assert redactor.value({"Authorization": "Bearer abc"}) == {"Authorization": f"Bearer {tag('bearer', 'abc')}"}
    assert redactor.text("Authorization: Bearer abc") == f"Authorization: Bearer {tag('bearer', 'abc')}"


def test_a_name_and_a_value_count_as_a_key_and_its_value():
    headers = [
        {"name": "Cookie", "value": "a=b"},
        {"key": "api_key", "value": {"stringValue": "x"}},
        {"name": "a", "value": "b"},
    ]
    assert redactor.value(headers) == [
        {"name": "Cookie", "value": tag("cookie", "a=b")},
        {"key": "api_key", "value": {"stringValue": tag("api_key", "x")}},
        {"name": "a", "value": "b"},
    ]


def test_the_words_of_a_schema_stay_and_its_default_goes():
    schema = {
        "type": "object",
        "properties": {
            "token": {"type": "string", "description": "Your token.", "minLength": 4, "default": "hunter2"},
            "password": {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "Password"},
            "cookie": {"type": ["string", "null"], "enum": ["x"]},
        },
        "required": ["token"],
    }
    redacted = redactor.value(schema)
    assert redacted["properties"]["token"].pop("default") == tag("token", "hunter2")
    assert redacted["properties"]["cookie"].pop("enum") == [tag("cookie", "x")]
    del schema["properties"]["token"]["default"]
    del schema["properties"]["cookie"]["enum"]
    assert redacted == schema


def test_key_names_can_be_chosen():
    own = Redactor(KEY, key_names=("sessionId", "пароль"))
    assert own.value({"session_id": "x", "пароль": "y", "password": "z"}) == {
        "session_id": tag("session_id", "x"),
        "пароль": tag("пароль", "y"),
        "password": "z",
    }
    assert own.text("session-id: x; password: z") == f"session-id: {tag('session_id', 'x')}; password: z"


def test_without_key_names_only_shapes_count():
    assert Redactor(KEY, key_names=()).value({"password": f"x {CARD}"}) == {"password": f"x {tag('card', CARD)}"}
    assert Redactor(KEY, key_names=()).text("password=x") == "password=x"


# ---- keys and values in text ----


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password=hunter2", "password=«password:hunter2»"),
        ("password = hunter2 # note", "password = «password:hunter2» # note"),
        ("Password: hunter2.", "Password: «password:hunter2»."),
        ("?access_token=abc&n=1", "?access_token=«token:abc»&n=1"),
        ("?url=https%3A%2F%2Fe%3Ftoken%3Dabc&n=1", "?url=https%3A%2F%2Fe%3Ftoken%3D«token:abc»&n=1"),
        ("Server=db;Password=abc;User=x", "Server=db;Password=«password:abc»;User=x"),
        ("X-Api-Key: abc\r\nHost: e", "X-Api-Key: «api_key:abc»\r\nHost: e"),
        ("Cookie: a=b; c=d\nHost: e", "Cookie: «cookie:a=b; c=d»\nHost: e"),
        ('Cookie: a="b c"; d=e\nHost: e', 'Cookie: «cookie:a="b c"; d=e»\nHost: e'),
        ("Authorization: Basic dTpw\\nHost: e", "Authorization: «authorization:Basic dTpw»\\nHost: e"),
        ("curl -H 'Cookie: a=b; c=d' e", "curl -H 'Cookie: «cookie:a=b; c=d»' e"),
        ("token: Token abc def", "token: «token:Token abc» def"),
        ("--api-key=abc --max-tokens=7", "--api-key=«api_key:abc» --max-tokens=7"),
        ("{'password': 'it\\'s', 'n': 1}", "{'password': '«password:it\\'s»', 'n': 1}"),
        ("password = b'abc'", "password = b'«password:abc»'"),
        ('password: str = "abc"', 'password: str = "«password:abc»"'),
        ('password = """abc"""', 'password = """«password:abc»"""'),
        ('config["password"] = "abc"', 'config["password"] = "«password:abc»"'),
        ("user[password]=abc&x=1", "user[password]=«password:abc»&x=1"),
        (":password => 'abc'", ":password => '«password:abc»'"),
        ("\\npassword=abc", "\\npassword=«password:abc»"),
        ('{"password": "hunter2"}', '{"password": "«password:hunter2»"}'),
        ('{"password" :\n "hunter2"}', '{"password" :\n "«password:hunter2»"}'),
        ('{"token":123,"n":4}', '{"token":"«token:123»","n":4}'),
        ('{"token":null,"n":4,"secret":false}', '{"token":null,"n":4,"secret":false}'),
        ('{"token":"","secret":[],"cookie":{}}', '{"token":"","secret":[],"cookie":{}}'),
        ('{"secret": ["a]", {"b": \'}\'}], "n": 4}', '{"secret": "«secret:["a]", {"b": \'}\'}]»", "n": 4}'),
        ('{"n": 4, "password": "hunt', '{"n": 4, "password": "«password:hunt»'),
        ('{"n": 4, "password": ["hunt', '{"n": 4, "password": "«password:["hunt»"'),
        ("token='cut\nnext line", "token='«token:cut»\nnext line"),
        ("mytoken=abc, xpassword: abc", "mytoken=abc, xpassword: abc"),
        (f"token: {CARD[:4]} {CARD[4:8]} {CARD[8:12]} {CARD[12:]}", f"token: «card:{CARD}»"),
    ],
)
def test_a_key_and_its_value_in_text(text, expected):
    assert redactor.text(text) == re.sub("«(.+?):(.+?)»", lambda found: tag(*found.groups()), expected)


def test_a_quoted_value_in_text_has_the_tag_of_the_value_that_a_reader_sees():
    value = {"password": 'a"b\\c\n\u00e9'}
    as_text = json.dumps({"arguments": json.dumps({"arguments": json.dumps(value)})})
    redacted = json.loads(json.loads(json.loads(redactor.text(as_text))["arguments"])["arguments"])
    assert redacted == redactor.value(value) == {"password": tag("password", value["password"])}


def test_a_quote_that_belongs_to_an_outer_text_ends_the_value():
    assert (
        redactor.text('{"a": "{\\"token\\": \\"abc", "b": 1}')
        == f'{{"a": "{{\\"token\\": \\"{tag("token", "abc")}", "b": 1}}'
    )


# ---- JSON values ----


def test_keys_are_redacted_and_stay_apart():
    assert redactor.value({"4111 1111 1111 1111": 1, CARD: 2, "n": 3}) == {
        tag("card", CARD): 1,
        f"{tag('card', CARD)} (2)": 2,
        "n": 3,
    }


def test_a_number_that_is_a_card_becomes_a_tag():
    assert redactor.value([int(CARD), float(CARD)]) == [tag("card", CARD)] * 2


@pytest.mark.parametrize(
    "number",
    [0, -1, 7, 2.5, 1764410400000, 1764410400000000, 4111111111111112, 2223000048400011, 10**30, float("inf"), 1e300],
)
def test_other_numbers_stay(number):
    redacted = redactor.value(number)
    assert redacted == number
    assert type(redacted) is type(number)


def test_an_integer_of_any_size_is_no_obstacle():
    huge = 7**20_000
    redacted = redactor.value({"n": huge, "token": huge})
    assert redacted["n"] == huge
    assert kinds(redacted["token"]) == ["token"]


def test_null_empty_and_zero_stay_distinct():
    value = {"a": None, "b": "", "c": 0, "d": [], "e": {}, "f": False}
    assert redactor.value(value) == value
    assert list(redactor.value(value)) == list(value)


def test_the_value_that_came_in_is_not_changed():
    value = {"password": ["x"], "b": (CARD, 1)}
    assert redactor.value(value) == {"password": [tag("password", "x")], "b": [tag("card", CARD), 1]}
    assert value == {"password": ["x"], "b": (CARD, 1)}


def test_depth_is_no_obstacle():
    deep = CARD
    for _ in range(50_000):
        deep = [deep]
    flat = redactor.value(deep)
    for _ in range(50_000):
        (flat,) = flat
    assert flat == tag("card", CARD)


# ---- the user's own patterns ----


def test_a_pattern_is_one_more_shape():
    own = Redactor(KEY, (r"(?i)acme-\d+", r"\b\d{6}\b", "email", "z*"))
    assert own.text("Acme-12, 654321") == f"{tag('pattern', 'Acme-12')}, {tag('pattern', '654321')}"
    assert own.text("zz jo@example.com") == f"{tag('pattern', 'zz')} {tag('email', 'jo@example.com')}"
    assert own.value([654321, 65432, 0.5, "zz"]) == [tag("pattern", "654321"), 65432, 0.5, tag("pattern", "zz")]


def test_a_pattern_leaves_tags_alone():
    own = Redactor(KEY, ("[0-9a-f]{4,}",))
    assert own.text(own.text(f"{CARD} beef")) == own.text(f"{CARD} beef")


def test_a_pattern_that_its_own_tags_uncover_again_and_again_is_followed_for_some_rounds_only():
    assert kinds(Redactor(KEY, (r"\bx",)).text("x" * 50)) == ["pattern"] * 4


@pytest.mark.parametrize("pattern", ["(", r"(a)\1", "(?=a)", "a)|(b", r"\C"])
def test_a_pattern_that_re2_does_not_support_is_an_error(pattern, capfd):
    with pytest.raises(ConfigError, match="CONFIG_INVALID"):
        Redactor(KEY, (pattern,))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("key", "names"), [(b"", ("password",)), (KEY, ("",)), (KEY, ("a|b",)), (KEY, ("_",))])
def test_an_empty_key_or_an_odd_key_name_is_an_error(key, names):
    with pytest.raises(ConfigError, match="CONFIG_INVALID"):
        Redactor(key, key_names=names)


# ---- the key ----


def test_the_key_comes_from_the_environment_first(tmp_path):
    (tmp_path / KEY_FILE).write_text("from the file\n")
    assert load_key({KEY_VARIABLE: "from outside"}, tmp_path) == b"from outside"
    assert load_key({KEY_VARIABLE: ""}, tmp_path) == b"from the file"


def test_without_a_key_each_process_has_its_own(tmp_path):
    keys = {load_key({}, None), load_key({}, None), load_key({}, tmp_path)}
    assert len(keys) == 3
    assert {len(key) for key in keys} == {32}
    assert list(tmp_path.iterdir()) == []


def test_an_empty_or_unreadable_key_file_is_an_error(tmp_path):
    (tmp_path / KEY_FILE).write_text("\n")
    with pytest.raises(ConfigError, match="is empty"):
        load_key({}, tmp_path)
    (tmp_path / KEY_FILE).unlink()
    (tmp_path / KEY_FILE).mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_key({}, tmp_path)


# ---- properties ----

# A busy machine is no failure.
at_leisure = settings(deadline=None)

ALPHANUMERIC = string.ascii_letters + string.digits


def luhn_sum(digits: str) -> int:
    return sum(int(d) if i % 2 == 0 else sum(divmod(2 * int(d), 10)) for i, d in enumerate(reversed(digits)))


@st.composite
def cards(draw) -> str:
    """A card number that nobody has, in one of the usual spellings."""
    length = draw(st.integers(13, 19))
    body = draw(st.sampled_from("3456")) + draw(st.text(string.digits, min_size=length - 2, max_size=length - 2))
    number = next(body + last for last in string.digits if luhn_sum(body + last) % 10 == 0)
    return draw(st.sampled_from(["", " ", "-", "\u00a0"])).join(number[i : i + 4] for i in range(0, length, 4))


def tokens(prefix: str) -> st.SearchStrategy[str]:
    return st.text(ALPHANUMERIC, min_size=40, max_size=44).map(prefix.__add__)


emails = st.builds(
    "q{}@{}.example.com".format,
    st.text(ALPHANUMERIC + "._+-", max_size=9),
    st.text(ALPHANUMERIC, min_size=1, max_size=9),
)
secrets = st.one_of(
    cards(), emails, *map(tokens, ["sk-", "sk-ant-", "ghp_", "github_pat_", "xoxb-", "AIza", "rk_live_", "Bearer "])
)
breaks = st.sampled_from([" ", "\n", "\r\n", "\t", ",", ";", "(", '"', "'", "<", "|", "=", ":"])


def nested(value, levels, *, ascii_only=True):
    """The value as JSON text inside JSON text inside ..."""
    for _ in range(levels):
        value = json.dumps({"m": value}, ensure_ascii=ascii_only)
    return value


@at_leisure
@given(st.text(), breaks, secrets, breaks, st.text(), st.integers(0, 3), st.booleans())
def test_a_planted_secret_occurs_in_no_text_and_no_escaped_form(before, left, secret, right, after, levels, ascii_only):
    redacted = redactor.text(nested(before + left + secret + right + after, levels, ascii_only=ascii_only))
    assert secret not in redacted
    assert nested(secret, levels)[1:-1] not in redacted or levels == 0
    assert redactor.text(redacted) == redacted


@at_leisure
@given(st.recursive(secrets, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(secrets, inner, max_size=3)))
def test_a_planted_secret_occurs_nowhere_in_a_value(value):
    redacted = redactor.value(value)
    assert redactor.value(redacted) == redacted
    planted = set(re.findall(r'"((?:[^"\\]|\\.)*)"', json.dumps(value, ensure_ascii=False)))
    assert not [secret for secret in planted if secret in json.dumps(redacted, ensure_ascii=False)]


key_spellings = st.sampled_from(
    ["password", "access_token", "x-api-key", "clientSecret", "Set-Cookie", "Authorization"]
)
marked = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map("<Zq{}qZ>".format)
marked_values = st.recursive(
    marked,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\"'\\[{}]", max_size=4), inner, max_size=3),
)


@at_leisure
@given(key_spellings, marked_values, st.integers(1, 4), st.booleans())
def test_what_stands_under_a_key_name_occurs_in_no_value_and_no_text(key, value, levels, ascii_only):
    in_value = redactor.value({key: value, "after": "stays"})
    assert "Zq" not in json.dumps(in_value)
    assert "qZ" not in json.dumps(in_value)
    in_text = redactor.text(nested({key: value, "after": "stays"}, levels, ascii_only=ascii_only))
    assert "Zq" not in in_text
    assert "qZ" not in in_text
    for _ in range(levels):
        in_text = json.loads(in_text)["m"]
    assert in_text["after"] == "stays"
    if isinstance(value, str):
        assert in_text == in_value


@at_leisure
@given(cards(), cards(), st.sampled_from([" ", "-"]))
def test_equal_cards_have_equal_tags_and_different_ones_differ(card, other, joint):
    digits = re.sub(r"\D", "", card)
    respelled = joint.join(digits[i : i + 4] for i in range(0, len(digits), 4))
    assert redactor.text(card) == redactor.text(digits) == redactor.text(respelled) == tag("card", digits)
    assert (redactor.text(other) == redactor.text(card)) is (re.sub(r"\D", "", other) == digits)


@at_leisure
@given(st.text(st.characters(categories=["L", "Z", "P"], exclude_characters="@%=:`\"'-_/⟦"), max_size=200))
def test_text_without_secrets_is_unchanged(text):
    assert redactor.text(text) == text or "earer" in text.lower()


pieces = st.sampled_from([
    "token", "password", "cookie", "Authorization: ", "Bearer ", "abc1234567", "=", ":", "%3D", '"', "'", "\\", "\\n",
    " ", "\n", "-", ".", "_", "@", "&", "://", "+", "{", "}", "[", "]", "<p>", "x", "X", "1", "é", "a@b.co", CARD,
    "sk-aaaaaaaaaaaaaaaaaaaa", "eyJaaaaaaaaaa.aaaaa.", "-----BEGIN PRIVATE KEY-----", "⟦", "⟧", "⟦token:12345678⟧",
])  # fmt: skip


@at_leisure
@given(st.lists(pieces, max_size=25).map("".join))
def test_redacting_twice_changes_nothing(text):
    redacted = redactor.text(text)
    assert redactor.text(redacted) == redacted


# ---- hostile input ----

HOSTILE = {
    "digits": "4",
    "single digits": "4 ",
    "blocks of digits": "4444 ",
    "half hexadecimal": "4a-",
    "at signs": "a@",
    "labels": "a@b.b.",
    "opening quotes": '"password": "',
    "unclosed quotes": "token='\n",
    "escaped quotes": '\\"token\\": \\"',
    "brackets": "token:[",
    "many brackets": "[{",
    "backslashes": "\\",
    "names": "token",
    "private keys": "-----BEGIN PRIVATE KEY-----",
    "bearers": "bearer ",
    "jwt heads": "eyJa.",
    "url users": "://a:",
    "tag heads": "⟦token:",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_costs_time_in_proportion_to_its_length(piece):
    def seconds(size: int) -> float:
        text = "secret: " + piece * (size // len(piece))
        started = time.process_time()
        redactor.text(text)
        return time.process_time() - started

    small = min(seconds(15_000), seconds(15_000))
    # Four times the text, with room for a busy machine; in quadratic time it would be sixteen times.
    assert seconds(60_000) < 10 * small + 0.05


def test_a_text_is_treated_alike_however_often_it_comes():
    texts = ["all well", f"card {CARD}", "password=hunter2-x", "all well", "x" * 3_000]
    fresh = [Redactor(KEY).text(text) for text in texts]
    again = Redactor(KEY)
    for _ in range(3):
        assert [again.text(text) for text in texts] == fresh
    other = Redactor(KEY, patterns=("all well",))
    assert other.text("all well") == tag("pattern", "all well")


def test_a_key_is_treated_alike_however_often_it_comes():
    value = {"note": "x", "api_key": "abc", f"for {CARD}": "y", "nested": {"api_key": {"id": 7}, "note": "z"}}
    again = Redactor(KEY)
    assert [again.value(value) for _ in range(3)] == [Redactor(KEY).value(value)] * 3


def test_what_is_remembered_has_an_end():
    one = Redactor(KEY)
    for number in range(10_000):
        one.value({f"key {number}": f"text {number}"})
    assert len(one._harmless) <= 4_096
    assert len(one._keys) <= 4_096


@pytest.mark.parametrize(("names", "hides"), [(("tools",), True), (("token",), False), (("password", "tools"), True)])
def test_whether_all_under_a_key_is_a_secret(names, hides):
    assert Redactor(KEY, key_names=names).hides_all_under("tools") is hides
