"""What a model is asked and what it answers, whoever the provider is.

A `Client` makes exactly one exchange: no retry, no cache, no reading. `Door` (`door.py`) stands in front of it with
pace and transport retries, and reports every single exchange, failed ones too, so that each can be recorded.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

from msgspec import Struct

Finish = Literal["stop", "length", "refusal", "other"]


class Request(Struct, frozen=True, kw_only=True):
    """One call to a model.

    Attributes:
        system, user: the two messages: what is constant, then the case.
        schema: JSON Schema of the reply; `schema_name` is a short name for it.
        temperature: `None` = do not send one. The content retry asks with 0.
        max_tokens: limit of the reply; the retry of a truncated reply asks for more.
        grader, unit, order, replicate, attempt: what the call is for. Sent nowhere; `recorded` and `scripted` answer by
            them.
        input_sha256: the question's identity, for the same purpose.
    """

    system: str
    user: str
    schema: dict[str, Any] | None = None
    schema_name: str = "reply"
    temperature: float | None = 0.0
    max_tokens: int = 2048
    grader: str = ""
    unit: str = ""
    order: str = ""
    replicate: int = 0
    attempt: int = 0
    input_sha256: str = ""


class Answer(Struct, frozen=True, kw_only=True):
    """What came back.

    Attributes:
        text: the reply's text, exactly.
        finish: why the model stopped; `refusal` also where the provider has a field of its own for it.
        finish_raw: the provider's own word for it.
        model: the model that really answered, as the endpoint says; `None` where it does not say.
        input_tokens, output_tokens: as the endpoint counts (cached tokens included); `None` where it does not say.
        rung: the structured-output mode that was used.
        sent: the parameters that were really sent (a refused `temperature` is not among them).
        request_id: the provider's id of the exchange.
    """

    text: str
    finish: Finish = "stop"
    finish_raw: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    rung: str = "text"
    sent: dict[str, Any] = {}
    request_id: str | None = None


class Exchange(Struct, frozen=True, kw_only=True):
    """One exchange with an endpoint, whatever came of it.

    Attributes:
        purpose: `question`, or `probe` for the one call that finds out what an endpoint supports.
        answer: the answer, or `None`.
        code: `JUDGE_AUTH`, `JUDGE_UNREACHABLE`, `JUDGE_RATE_LIMITED`, `JUDGE_TIMEOUT`, or `REJECTED_PARAMETER` for a
            request that was sent again without a parameter; `None` where there is an answer.
        message: what went wrong, without secrets.
        http_status, retry_after: as the endpoint said; seconds.
        number: 0 for the first exchange of a call, 1 for its first transport retry …
        started_at, ended_at: ISO 8601, UTC.
        latency: seconds.
    """

    purpose: Literal["question", "probe"] = "question"
    answer: Answer | None = None
    code: str | None = None
    message: str | None = None
    http_status: int | None = None
    retry_after: float | None = None
    number: int = 0
    started_at: str = ""
    ended_at: str = ""
    latency: float = 0.0


class Client(Protocol):
    """One endpoint and one model.

    `ask` makes one exchange and returns its answer.

    Raises (all `ProviderError`, with `code`, and attributes `http_status: int | None`, `retry_after: float | None`):
        RateLimited: 429, 529, or a quota: wait and ask again (`JUDGE_RATE_LIMITED`).
        Unavailable: no connection, 408, 5xx, a broken or unreadable body (`JUDGE_UNREACHABLE`), or no answer in time
            (`JUDGE_TIMEOUT`): ask again.
        Rejected: 401, 403 (`JUDGE_AUTH`), or any other 4xx: asking again is useless. `parameter` names a parameter
            that the model refuses, where the endpoint says so.
    """

    async def ask(self, request: Request) -> Answer:
        """Make one exchange."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
