"""The secrets that the process holds are known by value, and go wherever they stand."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.llm.spec import JudgeSpec
from rightcall.run.judging.secrets import Cleaner, known_secrets
from rightcall.trace.redact import Redactor

PLAIN = Redactor(key=b"a key")


def known(environ=None, **spec):
    return known_secrets([JudgeSpec(**spec)], environ or {})


# ---- which ones ----


@pytest.mark.parametrize(
    ("environ", "spec", "secret"),
    [
        ({"OPENAI_API_KEY": "correct-horse"}, {}, "correct-horse"),
        ({"ANTHROPIC_API_KEY": "correct-horse"}, {}, "correct-horse"),
        ({"RIGHTCALL_REDACTION_KEY": "correct-horse"}, {}, "correct-horse"),
        ({"OPENAI_API_KEY": " correct-horse\n"}, {}, "correct-horse"),
        ({"TEAM_KEY": "correct-horse"}, {"api_key_env": "TEAM_KEY"}, "correct-horse"),
        ({"H": "correct-horse"}, {"headers": {"X-Team": "$H"}}, "correct-horse"),
        ({"H": "correct-horse"}, {"headers": {"X-Team": "${H}"}}, "correct-horse"),
        ({}, {"headers": {"Authorization": "Bearer correct-horse"}}, "correct-horse"),
        ({}, {"headers": {"X-Api-Key": "correct"}}, "correct"),
        ({}, {"headers": {"X-Thing": "correcthorsebattery"}}, "correcthorsebattery"),
        ({"OPENAI_CUSTOM_HEADERS": "X-Gate-Token: correct-horse\nX-B: b"}, {}, "correct-horse"),
        ({}, {"proxy": "http://me:correct-horse@proxy.example:3128"}, "correct-horse"),
        ({"P": "http://me:correct-horse@proxy.example:3128"}, {"proxy": "$P"}, "correct-horse"),
        ({}, {"proxy": "http://me:correct%2Dhorse@proxy.example"}, "correct-horse"),
        ({}, {"proxy": "http://me:correct-horse@proxy.example"}, "bWU6Y29ycmVjdC1ob3JzZQ=="),
        ({}, {"base_url": "https://me:correct-horse@host.example/v1"}, "correct-horse"),
        ({}, {"base_url": "https://host.example/v1?api-key=correct-horse"}, "correct-horse"),
        ({"OPENAI_API_KEY": "correct/horse"}, {}, "correct%2Fhorse"),
    ],
)
def test_whatever_the_configuration_holds_is_known(environ, spec, secret):
    assert secret in known(environ, **spec)


@pytest.mark.parametrize(
    ("environ", "spec"),
    [
        ({"OPENAI_API_KEY": ""}, {}),
        ({"OPENAI_API_KEY": "abc"}, {}),
        ({"OTHER_KEY": "correct-horse"}, {}),
        ({}, {"headers": {"X-Team": "platform"}}),
        ({}, {"headers": {"User-Agent": "our own evaluation harness"}}),
        ({}, {"base_url": "https://host.example/v1?api-version=2026-10-21"}),
        ({}, {"proxy": "http://proxy.example:3128"}),
        ({}, {"base_url": "http://[broken"}),
    ],
)
def test_a_word_that_is_no_secret_is_not_taken_out_of_traces(environ, spec):
    assert known(environ, **spec) == ()


def test_the_longest_comes_first_so_that_no_part_of_it_is_left():
    found = known({"OPENAI_API_KEY": "correct-horse", "ANTHROPIC_API_KEY": "correct-horse-battery"})
    assert found == ("correct-horse-battery", "correct-horse")
    assert re.fullmatch(r"a ⟦pattern:\w{8}⟧ b", Cleaner(PLAIN, found).text("a correct-horse-battery b"))


# ---- taken out ----


def test_known_secrets_go_out_of_texts_and_values_and_keys():
    cleaner = Cleaner(PLAIN, ("correct-horse",))
    value = {"a": ["x correct-horse", {"correct-horse": 1}], "b": '{"q": "correct-horse"}'}
    assert "correct-horse" not in cleaner.text("it is correct-horse!")
    assert "correct-horse" not in repr(cleaner.value(value))


def test_equal_ones_have_equal_tags_and_different_ones_differ():
    cleaner = Cleaner(PLAIN, ("correct-horse", "battery-staple"))
    one, two, three = (cleaner.text(text) for text in ("correct-horse", "correct-horse", "battery-staple"))
    assert one == two != three
    assert cleaner.value({"deep": [{"er": "correct-horse"}]}) == {"deep": [{"er": one}]}


def test_another_key_gives_other_tags():
    texts = {Cleaner(Redactor(key=key), ("correct-horse",)).text("correct-horse") for key in (b"a", b"b")}
    assert len(texts) == 2


def test_the_redactor_that_it_hands_out_knows_them_too():
    cleaner = Cleaner(PLAIN, ("correct-horse",))
    assert "correct-horse" not in cleaner.redactor.text("correct-horse")
    assert "correct-horse" not in repr(cleaner.redactor.value({"x": "correct-horse"}))
    assert cleaner.redactor.key == PLAIN.key
    assert cleaner.redactor.key_names == PLAIN.key_names


def test_where_no_known_one_stands_it_is_the_projects_redactor():
    cleaner = Cleaner(PLAIN, ("correct-horse",))
    text, value = "mail mara@mail.example", {"password": "x", "n": 10**30, "card": "4111111111111111", "s": "\ud800"}
    assert cleaner.text(text) == PLAIN.text(text)
    assert cleaner.value(value) == PLAIN.value(value)


def test_a_known_one_under_a_key_name_keeps_its_tag():
    cleaner = Cleaner(PLAIN, ("correct-horse",))
    assert cleaner.value({"password": "correct-horse", "said": "correct-horse"}) == {
        "password": cleaner.text("correct-horse"), "said": cleaner.text("correct-horse")
    }  # fmt: skip


def test_a_token_that_comes_later_is_learned():
    cleaner = Cleaner(PLAIN)
    assert cleaner.text("fresh-token") == "fresh-token"
    cleaner.learn(["fresh-token", "abc"])
    assert "fresh-token" not in cleaner.text("a fresh-token here")
    assert cleaner.text("abc") == "abc"
    cleaner.learn(["fresher-token"])
    assert "token" not in cleaner.text("fresh-token fresher-token")


def test_the_users_own_patterns_still_count():
    cleaner = Cleaner(Redactor(key=b"k", patterns=("emp-[0-9]+",)), ("correct-horse",))
    assert "emp-77" not in cleaner.text("emp-77 and correct-horse")


def test_a_cleaner_shows_no_secret():
    assert "correct-horse" not in repr(Cleaner(PLAIN, ("correct-horse",)))


WORDS = (
    st.text(st.sampled_from('ab"\\/+.*(é\n '), min_size=6, max_size=12).map(str.strip).filter(lambda one: len(one) > 5)
)


@given(WORDS, st.text("xyz \n", max_size=5), st.text("xyz \n", max_size=5))
def test_whatever_a_secret_is_made_of_it_goes(secret, before, after):
    cleaner = Cleaner(PLAIN, (secret,))
    text = f"{before}{secret}{after}"
    assert secret not in cleaner.text(text)
    assert secret not in cleaner.value([text, {text: text}])[0]
    assert secret not in "".join(cleaner.value({text: text}))
