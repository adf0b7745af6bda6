"""What an exchange costs."""

import pytest
from llm_serving import spec

from rightcall.llm.prices import cost, price_of, table
from rightcall.llm.spec import Price


def test_a_listed_model_costs_its_list_price():
    assert cost(spec(model="gpt-4o-mini"), "gpt-4o-mini", 1_000_000, 500_000) == (pytest.approx(0.45), "usd")


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("gpt-4o", True), ("gpt-4o-2024-08-06", True), ("claude-haiku-4-5-20251001", True), ("gpt-4o-audio", False),
        ("gpt-4o-2024-08-06-ft", False), ("gpt-4", False), ("my-gpt-4o", False), ("openai/gpt-4o", False), ("", False),
    ],
)  # fmt: skip
def test_a_model_is_known_by_its_name_or_a_dated_version_of_it(model, known):
    assert (price_of(model) is not None) is known


def test_the_model_that_answered_counts_and_else_the_one_asked_for():
    judge = spec(model="gpt-4o")
    assert cost(judge, "gpt-4.1-nano-2025-04-14", 1_000_000, 0) == (0.1, "usd")
    assert cost(judge, None, 1_000_000, 0) == (2.5, "usd")
    assert cost(judge, "something-else", 1_000_000, 0) == (None, None)


def test_the_judges_own_price_wins_wherever_it_is_asked():
    price = Price(input=1, output=2, currency="eur")
    assert cost(spec(model="gpt-4o", price=price, base_url="http://gpu/v1"), "x", 2_000_000, 1_000_000) == (4, "eur")
    assert cost(spec(price=Price(input=0, output=0)), "x", 5, 5) == (0, "usd")


@pytest.mark.parametrize(
    "more",
    [
        {"base_url": "http://127.0.0.1:8080/v1"},
        {"base_url": "https://gateway.example.org/v1"},
        {"provider": "recorded"},
    ],
)
def test_the_list_holds_only_at_the_provider_itself(more):
    assert cost(spec(model="gpt-4o", **more), "gpt-4o", 1, 1) == (None, None)


def test_the_list_holds_at_the_providers_written_address():
    assert cost(spec(model="gpt-4o", base_url="https://api.openai.com/v1"), None, 0, 0) == (0, "usd")


@pytest.mark.parametrize(("tokens_in", "tokens_out"), [(None, 5), (5, None)])
def test_unknown_tokens_have_no_price(tokens_in, tokens_out):
    assert cost(spec(model="gpt-4o"), None, tokens_in, tokens_out) == (None, None)


def test_the_table_says_when_and_where_its_prices_are_from_and_every_price_is_plausible():
    assert len(table().as_of) == 7
    assert table().source
    assert all(0 < rate.input < rate.output < 100 for rate in table().per_million_tokens.values())
