"""Every way in which the test server can fail, what each must end with, and which request meets which.

A fault is of one of three natures: `transport`, the exchange broke and the same call sent again may heal it; `content`,
an answer came and cannot be read, and the one content retry may heal it; `endpoint`, a property of the model or its
server that will be the same the next time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from rightcall.errors import ConfigError
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from rightcall.testing.answers import Asked

Nature = Literal["transport", "content", "endpoint"]


class Fault(Struct, frozen=True, gc=False):
    """One kind of fault.

    Attributes:
        kind: its name in a plan.
        nature: what may heal it (see the module's text).
        status: the HTTP status that is sent; `None` where none is.
        code: what a caller must end with that meets this fault every time; `None` where the call still ends with an
            answer.
        happens: what the server does.
    """

    kind: str
    nature: Nature
    status: int | None
    code: str | None
    happens: str


_KINDS = (
    Fault("latency", "transport", 200, None, "waits `slow` seconds more, then answers"),
    Fault("rate_limited", "transport", 429, "JUDGE_RATE_LIMITED", "429, `Retry-After` in seconds"),
    Fault("rate_limited_date", "transport", 429, "JUDGE_RATE_LIMITED", "429, `Retry-After` as an HTTP date"),
    Fault("quota", "endpoint", 429, "JUDGE_RATE_LIMITED", "429, the account's quota is used up"),
    Fault("overloaded", "transport", 529, "JUDGE_RATE_LIMITED", "529, overloaded"),
    Fault("server_error", "transport", 500, "JUDGE_UNREACHABLE", "500 with an error object"),
    Fault("bad_gateway", "transport", 502, "JUDGE_UNREACHABLE", "502 with a page of HTML"),
    Fault("unauthorized", "endpoint", 401, "JUDGE_AUTH", "401, the key is refused"),
    Fault("dropped", "transport", None, "JUDGE_UNREACHABLE", "closes the connection before the first byte"),
    Fault("dropped_midway", "transport", 200, "JUDGE_UNREACHABLE", "closes the connection in the middle of the body"),
    Fault("hang", "transport", None, "JUDGE_TIMEOUT", "never answers"),
    Fault("slow_body", "transport", 200, None, "sends the body in ten pieces over `slow` seconds"),
    Fault("malformed_http_json", "transport", 200, "JUDGE_UNREACHABLE", "200, a body that is cut-off JSON"),
    Fault("empty_body", "transport", 200, "JUDGE_UNREACHABLE", "200, a body without a byte"),
    Fault("no_choices", "transport", 200, "JUDGE_UNREACHABLE", "200, an empty list of choices"),
    Fault("error_in_200", "transport", 200, "JUDGE_UNREACHABLE", "200, an error object instead of choices"),
    Fault("malformed", "content", 200, "JUDGE_NOT_JSON", "the reply is JSON whose last third is missing"),
    Fault("truncated", "content", 200, "JUDGE_TRUNCATED", "half of the reply, finish reason `length`"),
    Fault(
        "truncated_empty", "content", 200, "JUDGE_TRUNCATED", "no text, finish reason `length`: reasoning took it all"
    ),
    Fault("refusal", "content", 200, "JUDGE_REFUSAL", "no text, the field `refusal` says why"),
    Fault("refusal_text", "content", 200, "JUDGE_REFUSAL", "the text is a refusal in plain words"),
    Fault("wrong_model", "endpoint", 200, None, "answers, but as the model `NAME-other`"),
    Fault("ignored_schema", "content", 200, "JUDGE_NOT_JSON", "the reply is prose"),
    Fault("other_keys", "content", 200, "JUDGE_SCHEMA", "the reply is a JSON object with other keys"),
    Fault("out_of_range", "content", 200, "JUDGE_SCHEMA", "the first number (or value) of the reply is 7 or more"),
    Fault("duplicate_key", "content", 200, "JUDGE_DUPLICATE_KEY", "the first key stands twice, with two values"),
    Fault("non_finite", "content", 200, "JUDGE_NON_FINITE", "the first number (or value) of the reply is NaN"),
    Fault("ambiguous", "content", 200, "JUDGE_AMBIGUOUS", "the reply holds two different verdicts"),
    Fault("cut_prompt", "endpoint", 200, None, "answers, and reports a tenth of the prompt's tokens"),
    Fault("unsupported_temperature", "endpoint", 400, None, "400 that names `temperature`, where one was sent"),
    Fault("unsupported_schema", "endpoint", 400, None, "400 about `response_format`, where a JSON Schema was sent"),
    Fault("unsupported_json", "endpoint", 400, None, "400 about `response_format`, where any was sent"),
    Fault("echo", "content", 200, "JUDGE_NOT_JSON", "the reply is text out of the request"),
    Fault("empty_text", "content", 200, "JUDGE_EMPTY", "the reply is an empty text"),
)
FAULTS: Mapping[str, Fault] = MappingProxyType({fault.kind: fault for fault in _KINDS})
"""Every kind of fault by its name."""
EXPECTED: Mapping[str, str] = MappingProxyType({fault.kind: fault.code for fault in _KINDS if fault.code})
"""The code that a caller must end with that meets this kind every time. Kinds that still end with an answer are not in
it: `wrong_model` and `cut_prompt` show in what the answer says of itself, and an `unsupported_…` parameter is left out
when the call is sent again."""


# ---- which request meets which fault ---------------------------------------------------------------------------------

Plan = Mapping[str, float] | Sequence[str | None] | Callable[["Asked"], str | None] | None
"""Rates by kind; or kinds for the first requests, in order; or a function of the request; or no fault at all."""
By = Literal["text", "case", "number"]


def planner(plan: Plan, *, seed: int = 0, by: By = "text") -> Callable[[Asked], str | None]:
    """The function that tells the fault of a request. The same requests meet the same faults, in any process.

    Args:
        plan: see `Plan`.
        seed: another number, other requests.
        by: what rates are drawn by: `text` what is asked and how often it was asked before (the order in which
            requests arrive does not count), `case` what is asked alone (asking again never heals), `number` the
            place in the order of arrival.

    Raises:
        ConfigError: an unknown kind, a rate outside 0 to 1, rates of more than 1 in sum. A function that names an
            unknown kind raises it when it is asked.
    """
    if plan is None:
        return lambda _asked: None
    if isinstance(plan, Mapping):
        return _by_rates(plan, seed, by)
    if callable(plan):
        return lambda asked: _known(plan(asked))
    kinds = [_known(kind) for kind in plan]
    return lambda asked: kinds[asked.number] if asked.number < len(kinds) else None


def _by_rates(rates: Mapping[str, float], seed: int, by: By) -> Callable[[Asked], str | None]:
    edges: list[tuple[float, str | None]] = []
    total = 0.0
    for kind, rate in rates.items():
        if not 0 <= rate <= 1:
            raise ConfigError(f"the rate of `{kind}` is {rate}; it must lie between 0 and 1")
        total += rate
        edges.append((total, _known(kind)))
    if total > 1 + 1e-9:
        raise ConfigError(f"the rates of the faults are {total:g} in sum; at most 1 is possible")

    def choose(asked: Asked) -> str | None:
        drawn = share(seed, *_drawn_by(asked, by))
        return next((kind for edge, kind in edges if drawn < edge), None)

    return choose


def _drawn_by(asked: Asked, by: By) -> tuple[str | int, ...]:
    if by == "number":
        return (asked.number,)
    return (asked.identity,) if by == "case" else (asked.identity, asked.attempt)


def _known(kind: str | None) -> str | None:
    if kind is None or kind in FAULTS:
        return kind
    guess = nearest(kind, FAULTS)
    raise ConfigError(
        f"unknown kind of fault `{kind}`", hint=f"did you mean `{guess}`?" if guess else f"known: {', '.join(FAULTS)}"
    )


def share(*parts: str | int) -> float:
    """A number in [0, 1) that depends on nothing but the parts, spread evenly."""
    text = "\0".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) / 2**64
