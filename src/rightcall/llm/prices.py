"""What an exchange costs: from the judge's own `price`, else from a small table of list prices.

A model that the table does not know has no price, which is not the price 0. The table knows exact names and their
dated versions (`gpt-4o-2024-08-06`), and only the two providers whose prices it lists: the same name behind a gateway
or on one's own machine costs something else. Discounts (cached tokens, batches) are not counted, so the real bill is
at most this high. A `price` in the judge's table overrules all of it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from rightcall.llm.spec import JudgeSpec, Price

_DATE = re.compile(r"-(?:20\d{2}-\d{2}-\d{2}|20\d{6})")
_MILLION = 1_000_000
_LISTED = {"openai": ("api.openai.com",), "anthropic": ("api.anthropic.com",)}


class _Rate(Struct, frozen=True):
    input: float
    output: float


class PriceTable(Struct, frozen=True):
    """The table: prices of a million tokens in `currency`, when they were looked up (`as_of`) and where (`source`)."""

    as_of: str
    source: str
    currency: str
    per_million_tokens: dict[str, _Rate]


@cache
def table() -> PriceTable:
    """The table that comes with rightcall."""
    return msgspec.json.decode(files("rightcall.llm").joinpath("prices.json").read_bytes(), type=PriceTable)


def price_of(model: str) -> Price | None:
    """The list price of a model, by its name or a dated version of it; `None` if it is not in the table."""
    known = table()
    name = model if model in known.per_million_tokens else _DATE.sub("", model) if _dated(model) else ""
    rate = known.per_million_tokens.get(name)
    return Price(input=rate.input, output=rate.output, currency=known.currency) if rate else None


def _dated(model: str) -> bool:
    found = _DATE.search(model)
    return found is not None and found.end() == len(model)


def cost(
    spec: JudgeSpec, model_answered: str | None, input_tokens: int | None, output_tokens: int | None
) -> tuple[float | None, str | None]:
    """What an exchange cost, and in which currency; `(None, None)` where price or tokens are unknown.

    Args:
        spec: the judge; its `price` wins.
        model_answered: the model that answered; the one asked for where the endpoint does not say.
        input_tokens: as the endpoint counts.
        output_tokens: as the endpoint counts.
    """
    price = spec.price or (price_of(model_answered or spec.model) if _is_listed(spec) else None)
    if price is None or input_tokens is None or output_tokens is None:
        return None, None
    return (input_tokens * price.input + output_tokens * price.output) / _MILLION, price.currency


def _is_listed(spec: JudgeSpec) -> bool:
    """Whether the judge is asked where the list prices hold."""
    hosts = _LISTED.get(spec.provider, ())
    return bool(hosts) and (spec.base_url is None or urlsplit(spec.base_url).hostname in hosts)
