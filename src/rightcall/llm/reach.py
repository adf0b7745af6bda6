"""Whether an endpoint answers: one request for its list of models. Nothing is asked of a model, nothing is paid."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import openai as sdk  # noqa: TID253 - nothing imports this module before an endpoint is looked for
from msgspec import Struct

from rightcall.errors import Rejected, TraceError, Unavailable
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from rightcall.llm.endpoint import Endpoint
    from rightcall.llm.spec import JudgeSpec

PATHS = {"openai": "/models", "anthropic": "/v1/models", "ollama": "/api/tags"}
"""Where each provider lists its models, below the address of the endpoint."""

_LISTS = {"openai": ("data", "id"), "anthropic": ("data", "id"), "ollama": ("models", "name")}
_ANTHROPIC = {"anthropic-version": "2023-06-01"}


class Reached(Struct, frozen=True, kw_only=True):
    """An endpoint that answers. `models`: what it lists; `None` where it has no such list (`http_status` says how)."""

    http_status: int
    models: tuple[str, ...] | None = None


def reach(spec: JudgeSpec, endpoint: Endpoint, timeout: float) -> Reached:
    """Ask an endpoint for its models, once.

    Args:
        spec: the judge.
        endpoint: where it is asked, with its credential.
        timeout: seconds for connecting, and for each silence.

    Raises:
        Rejected: it refuses the credential, or the token command failed (`JUDGE_AUTH`).
        Unavailable: it cannot be reached, or fails on its side (`JUDGE_UNREACHABLE`).
    """
    token = None if endpoint.has_own_credential else asyncio.run(endpoint.credential.token())
    headers = {**endpoint.headers, **_credential(spec, token)}
    client = sdk.DefaultHttpxClient(
        verify=endpoint.tls or True, proxy=endpoint.proxy, trust_env=not endpoint.is_loopback, follow_redirects=False,
        timeout=timeout,
    )  # fmt: skip
    try:
        with client:
            url = endpoint.url.rstrip("/") + PATHS[spec.provider]
            answer = client.get(url, headers=headers, params=endpoint.query)
            content = answer.content
    except Exception as error:  # noqa: BLE001 - every error of the transport, of whichever library it is
        said = endpoint.hider.text(str(error) or type(error).__name__, 160)
        raise Unavailable(
            f"{endpoint.host} cannot be reached: {said}", hint="check `base_url`, the network, and that it runs"
        ) from None
    return _answered(spec, endpoint, answer.status_code, content)


def _credential(spec: JudgeSpec, token: str | None) -> dict[str, str]:
    more = _ANTHROPIC if spec.provider == "anthropic" else {}
    if not token:
        return dict(more)
    if spec.provider == "anthropic" and not spec.token_command:
        return {**more, "x-api-key": token}
    return {**more, "Authorization": f"Bearer {token}"}


def _answered(spec: JudgeSpec, endpoint: Endpoint, status: int, content: bytes) -> Reached:
    if status in (401, 403):
        raise Rejected(
            f"{endpoint.host} refuses the credential (HTTP {status})", http_status=status,
            hint=f"check {endpoint.key_name}",
        )  # fmt: skip
    if status >= 500:
        raise Unavailable(f"{endpoint.host} fails on its side (HTTP {status})", http_status=status, hint="try later")
    return Reached(http_status=status, models=_names(spec, content) if status == 200 else None)


def _names(spec: JudgeSpec, content: bytes) -> tuple[str, ...] | None:
    key, name = _LISTS[spec.provider]
    try:
        value: Any = jsontext.decode(content)
    except TraceError:
        return None
    listed = value.get(key) if isinstance(value, dict) else None
    if not isinstance(listed, list):
        return None
    names = (item.get(name) for item in listed if isinstance(item, dict))
    return tuple(one for one in names if isinstance(one, str))
