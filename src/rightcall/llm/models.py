"""Which models an OpenAI-compatible endpoint has: one request to `/models`, before anything is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import openai as sdk  # noqa: TID253 - nothing imports this module before the list is needed

from rightcall.errors import TraceError
from rightcall.llm.endpoint import resolve
from rightcall.llm.openai import OPENAI_URL
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.llm.spec import JudgeSpec


def models_at(spec: JudgeSpec, environ: Mapping[str, str], timeout: float) -> list[str] | None:
    """The names of the models of an endpoint; `None` if it gives no such list in time.

    Args:
        spec: the endpoint; its model does not matter.
        environ: where the key is.
        timeout: seconds for connecting, and for each silence.

    Raises:
        ConfigError: an address, header, proxy or CA bundle that cannot be used.
        Rejected: no key where one is needed (`JUDGE_AUTH`).
    """
    endpoint = resolve(spec, environ, url=OPENAI_URL, key_variable="OPENAI_API_KEY")
    key = environ.get(endpoint.key_name, "").strip()
    client = sdk.OpenAI(
        api_key="in the headers of the request",
        base_url=endpoint.url,
        default_headers=endpoint.headers,
        default_query=endpoint.query,
        max_retries=0,
        timeout=timeout,
        http_client=sdk.DefaultHttpxClient(
            verify=endpoint.tls or True,
            proxy=endpoint.proxy,
            trust_env=not endpoint.is_loopback,
            follow_redirects=False,
        ),
    )
    headers = {} if endpoint.has_own_credential else {"Authorization": f"Bearer {key}" if key else sdk.omit}
    try:
        answer = client.models.with_raw_response.list(extra_headers=headers)
        value = jsontext.decode(answer.http_response.content)
    except (sdk.APIError, TraceError):
        return None
    finally:
        client.close()
    listed = value.get("data") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        return None
    names = [item.get("id") for item in listed if isinstance(item, dict)]
    return [name for name in names if isinstance(name, str)]
