"""What went wrong with an exchange, as one of the errors of `Client`, in one sentence without secrets.

Every HTTP client of this room uses these, so that the same fault has the same name whoever the provider is.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import aiohttp

from rightcall.errors import ProviderError, RateLimited, Rejected, TraceError, Unavailable
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.llm.endpoint import Endpoint

TIMED_OUT = "JUDGE_TIMEOUT"
_REFUSED = "JUDGE_UNREACHABLE"
_QUOTA = re.compile(r"insufficient_quota|billing|insufficient[ _]balance|insufficient[ _]credit|quota_exceeded")
_CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|prompt is too long"
    r"|(exceeds?|beyond|larger than)[^.]{0,60}context"
)
"""How servers say that a question has more tokens than the model can read."""
_ASK_AGAIN = (408, 409, 425)
_NOT_IMPLEMENTED = 501


@dataclass
class Progress:
    """How far an exchange came: whether the answer's head has arrived."""

    started: bool = False


# ---- an answer with an error status ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Said:
    """What the body of an error says."""

    message: str = ""
    code: str = ""
    parameter: str | None = None


def refusal(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error for an answer with a status that is no success."""
    said = _said(body)
    wait = retry_after(headers)
    told = f"{endpoint.host} answers HTTP {status}"
    text = endpoint.hider.text(said.message)
    full = f"{told}: {text}" if text else told
    if status in (401, 403):
        return _no_access(endpoint, status, said)
    if status == 402 or (status == 429 and _QUOTA.search(said.code.lower())):
        return Rejected(
            f"{full} (the account's quota or credit is used up)",
            code="JUDGE_RATE_LIMITED", http_status=status, hint="waiting does not help: see to the account",
        )  # fmt: skip
    if status in (429, 529):
        return RateLimited(full, http_status=status, retry_after=wait)
    if status in _ASK_AGAIN or (status >= 500 and status != _NOT_IMPLEMENTED):
        return Unavailable(full, http_status=status, retry_after=wait)
    if _CONTEXT.search(f"{said.code} {said.message}".lower()):
        hint = "use a judge with a larger context, or say its size in `context_tokens` so that the view is reduced"
        return Rejected(full, code="TOO_LONG", http_status=status, hint=hint)
    return Rejected(full, code=_REFUSED, http_status=status, parameter=said.parameter, hint=_hint(status))


def _no_access(endpoint: Endpoint, status: int, said: _Said) -> Rejected:
    # The text is left out: providers quote parts of the key in it.
    code = f", {said.code}" if re.fullmatch(r"[a-z_]{3,40}", said.code) else ""
    return Rejected(
        f"{endpoint.host} refuses the credential (HTTP {status}{code})",
        http_status=status, hint=f"check {endpoint.key_name}, `token_command` or `headers` of this judge",
    )  # fmt: skip


def _hint(status: int) -> str | None:
    if 300 <= status < 400:
        return "redirects are not followed: put the final address into `base_url`"
    return "check `model` and `base_url`" if status == 404 else None


def _said(body: bytes) -> _Said:
    """What an error's body says, in the shapes that are in use: `error`, `message`, `detail`."""
    value = _json(body)
    if not isinstance(value, dict):
        return _Said(body[:2000].decode("utf-8", "replace") if value is None else "")
    error = value.get("error", value)
    if isinstance(error, str):
        return _Said(error)
    if not isinstance(error, dict):
        return _Said()
    details = error.get("detail", value.get("detail"))
    message = error.get("message") or details or ""
    code = next((error[key] for key in ("code", "type") if isinstance(error.get(key), str)), "")
    parameter = error.get("param")
    return _Said(
        message=message if isinstance(message, str) else jsontext.encode(message).decode(),
        code=code,
        parameter=parameter if isinstance(parameter, str) and parameter else _place(details),
    )


def _place(details: Any) -> str | None:
    """The field that a validator's first complaint is about: the end of its `loc`."""
    first = details[0] if isinstance(details, list) and details else None
    where = first.get("loc") if isinstance(first, dict) else None
    names = [part for part in where if isinstance(part, str)] if isinstance(where, list) else []
    return names[-1] if names else None


def _json(body: bytes) -> Any:
    try:
        return jsontext.decode(body)
    except (TraceError, UnicodeDecodeError):
        return None


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or an HTTP date); `None` where it says nothing.

    A date is read against the endpoint's own `Date`, so that two clocks do not have to agree.

    Args:
        headers: of the answer, keys in any case.
        now: the time as seconds since 1970 where the answer has no `Date`; the current time if left out.
    """
    found = {name.lower(): value for name, value in headers.items()}
    milliseconds = _number(found.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = found.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    until, since = _date(text), _date(found.get("date", ""))
    if until is None:
        return None
    return max(0.0, until - (since if since is not None else _time() if now is None else now))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None


def _time() -> float:
    import time

    return time.time()


# ---- an answer that cannot be read -----------------------------------------------------------------------------------


def body_of(endpoint: Endpoint, body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """The JSON object of a successful answer.

    Raises:
        ProviderError: empty, not JSON, not an object, or an error in the clothes of a success.
    """
    if not body.strip():
        raise Unavailable(f"{endpoint.host} answers HTTP 200 with an empty body", http_status=200)
    try:
        value = jsontext.decode(body)
    except (TraceError, UnicodeDecodeError):
        kind = {name.lower(): text for name, text in headers.items()}.get("content-type", "")
        kind = endpoint.hider.text(kind, 40) or "no content type"
        raise Unavailable(
            f"{endpoint.host} answers HTTP 200 with a body that is not JSON ({kind}, {len(body)} bytes)",
            http_status=200, hint="check `base_url`",
        ) from None  # fmt: skip
    if not isinstance(value, dict):
        raise Unavailable(f"{endpoint.host} answers HTTP 200 with JSON that is no object", http_status=200)
    if value.get("error"):
        raise _disguised(endpoint, value["error"], headers, body)
    return value


def _disguised(endpoint: Endpoint, error: Any, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """An error in a body with status 200; gateways put the real status into its `code`."""
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdigit()) else 0
    if 400 <= status < 600:
        return refusal(endpoint, status, headers, body)
    text = endpoint.hider.text(_said(body).message)
    return Unavailable(f"{endpoint.host} answers HTTP 200 with an error in it: {text}", http_status=200)


def unreadable(endpoint: Endpoint, what: str) -> Unavailable:
    """The error for a JSON answer that lacks what it must have."""
    return Unavailable(f"{endpoint.host} answers HTTP 200 with {what}", http_status=200)


# ---- no answer at all ------------------------------------------------------------------------------------------------


def too_late(endpoint: Endpoint, progress: Progress) -> Unavailable:
    """The error for an exchange that took longer than the whole of its time."""
    seconds = f"within {endpoint.timeout:g} s"
    if progress.started:
        return Unavailable(f"{endpoint.host} began to answer but was not done {seconds}", code=TIMED_OUT)
    return Unavailable(f"{endpoint.host} gave no answer {seconds}", code=TIMED_OUT)


def broken(endpoint: Endpoint, error: BaseException, progress: Progress) -> ProviderError:
    """The error for a connection that failed; `error` may be wrapped in errors of an SDK."""
    causes = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    for cause in causes:
        found = _known(endpoint, cause, progress)
        if found is not None:
            return found
    return Unavailable(f"the exchange with {endpoint.host} broke ({type(causes[-1]).__name__})")


def _known(endpoint: Endpoint, error: BaseException, progress: Progress) -> ProviderError | None:
    host = endpoint.host
    match error:
        case TimeoutError():
            return Unavailable(f"no connection to {host} within {endpoint.timeout_to_connect():g} s", code=TIMED_OUT)
        case aiohttp.ClientProxyConnectionError():
            return Unavailable(f"the proxy for {host} cannot be reached", hint="check `proxy`")
        case aiohttp.ClientHttpProxyError():
            return Unavailable(f"the proxy for {host} answers HTTP {error.status}", http_status=error.status)
        case aiohttp.ClientSSLError() | aiohttp.ClientConnectorCertificateError():
            return Rejected(
                f"the certificate of {host} is not trusted", code=_REFUSED, hint="name your authority in `ca_bundle`"
            )
        case aiohttp.ClientConnectorDNSError():
            return Unavailable(f"the host name of {host} is not known", hint="check `base_url`")
        case aiohttp.ClientConnectorError():
            reason = error.os_error.strerror or type(error.os_error).__name__
            return Unavailable(f"cannot connect to {host}: {endpoint.hider.text(reason, 80)}")
        case aiohttp.ClientPayloadError():
            return Unavailable(f"{host} closed the connection in the middle of its answer")
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError() | ConnectionError():
            where = "in the middle of its answer" if progress.started else "before it answered"
            return Unavailable(f"{host} closed the connection {where}")
        case _:
            return None
