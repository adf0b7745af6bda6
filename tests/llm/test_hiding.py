"""Secrets in the texts of errors."""

import pytest

from rightcall.llm.hiding import Hider


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the key is opensesame!", "the key is [hidden]"),
        ("at a%2Fb%3Dc", "at [hidden]"),
        ("Authorization: Bearer abc.def", "Authorization: [hidden]"),
        ("Incorrect key: sk-proj-abcd1234****wxyz.", "Incorrect key: [hidden]."),
        ("see https://user:pass@host:8080/v1/x?token=abc#top now", "see https://host:8080/v1/x now"),
        ("api_key=12345, model=x", "[hidden], model=x"),
        ("x" * 50, "[hidden]"),
        ("model vendor/judge-1 is not here", "model vendor/judge-1 is not here"),
        ("two\nlines\t here", "two lines here"),
    ],
)
def test_what_is_secret_or_looks_so_is_hidden_and_the_rest_stays(text, shown):
    assert Hider(["opensesame!", "a/b=c", ""]).text(text) == shown


def test_the_longest_secret_is_hidden_first_and_short_ones_are_none():
    hider = Hider(["secret", "secret-and-more", "no"])
    assert hider.text("secret-and-more and secret, no") == "[hidden] and [hidden], no"


def test_a_text_is_cut_after_it_was_hidden():
    assert Hider(["opensesame"]).text("say opensesame, say it", 12) == "say [hidden…"
