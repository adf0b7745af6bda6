"""One exchange through an official SDK: its whole time bounded, and its errors turned into ours.

The SDKs of OpenAI and Anthropic have the same shape: the same transport on aiohttp, the same error classes. What they
add beyond a request (retries, reading the answer into their own types) is not used: an answer is read from its bytes.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from rightcall.llm.failures import Progress, body_of, broken, refusal, too_late

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import ModuleType

    from rightcall.llm.endpoint import Endpoint

_progress: ContextVar[Progress | None] = ContextVar("_progress", default=None)


async def _head_arrived(_response: Any) -> None:
    progress = _progress.get()
    if progress is not None:
        progress.started = True


def http_client(sdk: ModuleType, endpoint: Endpoint) -> Any:
    """The SDK's client on aiohttp: one pool, large enough, that follows no redirect, since keys would go along."""
    usual = sdk.DEFAULT_CONNECTION_LIMITS
    size = max(usual.max_connections or 0, endpoint.max_concurrency)
    return sdk.DefaultAioHttpClient(
        verify=endpoint.tls or True,
        limits=type(usual)(max_connections=size, max_keepalive_connections=size),
        timeout=sdk.Timeout(None, connect=endpoint.timeout_to_connect()),
        proxy=endpoint.proxy,
        trust_env=not endpoint.is_loopback,
        follow_redirects=False,
        event_hooks={"response": [_head_arrived]},
    )


async def exchange(
    sdk: ModuleType, endpoint: Endpoint, call: Callable[[], Awaitable[Any]]
) -> tuple[dict[str, Any], Mapping[str, str]]:
    """Make one call, which gives the SDK's plain HTTP response; its JSON object and its headers.

    Raises:
        ProviderError: whatever went wrong.
    """
    progress = Progress()
    token = _progress.set(progress)
    try:
        async with asyncio.timeout(endpoint.timeout):
            response = await call()
    except TimeoutError:
        raise too_late(endpoint, progress) from None
    except sdk.APIStatusError as error:
        answer = error.response
        raise refusal(endpoint, answer.status_code, answer.headers, answer.content) from None
    except sdk.APIConnectionError as error:
        raise broken(endpoint, error, progress) from None
    finally:
        _progress.reset(token)
    return body_of(endpoint, response.content, response.headers), response.headers
