"""Where a judge is asked: address, headers, proxy, certificates and credential, resolved from its spec once.

Whatever is secret in it is known to the endpoint's `Hider` from the start.
"""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from rightcall.errors import ConfigError, Rejected
from rightcall.llm.credential import Credential
from rightcall.llm.hiding import Hider

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

    from rightcall.llm.spec import JudgeSpec

AUTH_HEADERS = ("authorization", "api-key", "x-api-key", "x-goog-api-key")
"""A header of this name is a credential: no key is looked for beside it."""

_INSIDE = (".local", ".internal", ".lan", ".localhost")


@dataclass(frozen=True)
class Endpoint:
    """One address with everything that is needed to ask it.

    Attributes:
        url: without query; `query` holds what stood behind the question mark.
        headers: further headers, with their values from the environment.
        tls: trusts the configured CA bundle; `None` = the usual authorities.
        timeout: seconds for a whole exchange.
        key_name: the variable that holds the key, to name it in an error.
    """

    url: str
    query: dict[str, str]
    headers: dict[str, str]
    proxy: str | None
    tls: ssl.SSLContext | None
    timeout: float
    max_concurrency: int
    credential: Credential
    hider: Hider
    key_name: str

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine: then no proxy of the environment is used."""
        return _is_loopback(urlsplit(self.url).hostname or "")

    @property
    def has_own_credential(self) -> bool:
        """Whether a configured header is the credential."""
        return any(name.lower() in AUTH_HEADERS for name in self.headers)

    def timeout_to_connect(self) -> float:
        """Seconds to reach it: half of those for the whole exchange, and at most 10."""
        return min(10.0, self.timeout / 2)


def resolve(
    spec: JudgeSpec, environ: Mapping[str, str], *, url: str, key_variable: str, needs_key: bool = True
) -> Endpoint:
    """The endpoint of a spec.

    Args:
        spec: the judge.
        environ: where keys and header values are.
        url: the address if the spec names none.
        key_variable: the provider's usual variable for the key.
        needs_key: whether an address outside needs a credential.

    Raises:
        ConfigError: an address, header, proxy or CA bundle that cannot be used.
        Rejected: no credential where one is needed (`JUDGE_AUTH`).
    """
    hider = Hider()
    parts = _split(spec.base_url or url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    for value in query.values():
        hider.add(value)
    headers = {name: _header(name, value, environ, hider) for name, value in spec.headers.items()}
    endpoint = Endpoint(
        url=urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")),
        query=query,
        headers=headers,
        proxy=_proxy(spec.proxy, environ, hider),
        tls=_tls(spec.ca_bundle),
        timeout=spec.timeout,
        max_concurrency=spec.max_concurrency,
        credential=Credential(_key(spec, environ, key_variable), spec.token_command, environ, hider),
        hider=hider,
        key_name=spec.api_key_env or key_variable,
    )
    has_key = endpoint.has_own_credential or spec.token_command or environ.get(endpoint.key_name)
    if needs_key and not has_key and not is_inside(parts.hostname or ""):
        raise Rejected(
            f"no credential for {endpoint.host}: {endpoint.key_name} is not set",
            hint=f"set {endpoint.key_name}, or name another variable in `api_key_env`",
        )
    return endpoint


def is_inside(host: str) -> bool:
    """Whether a host is on this machine or in a private network, where servers often ask for no key."""
    if _is_loopback(host):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(_INSIDE)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            f"`base_url` is not a web address: {Hider().text(url, 80)!r}", hint="write it as https://host/v1"
        )
    if parts.username or parts.password:
        raise ConfigError(
            f"`base_url` for {parts.hostname} holds a user or password", hint="use `api_key_env` or `headers`"
        )
    return parts


def _key(spec: JudgeSpec, environ: Mapping[str, str], usual: str) -> str | None:
    if spec.token_command:
        return None
    name = spec.api_key_env or usual
    key = environ.get(name, "").strip()
    if not key and spec.api_key_env:
        raise Rejected(f"the environment variable {name} is not set", hint="set it to the key of the judge")
    if key and not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {name} is not one line of printable ASCII", hint="copy the key again")
    return key or None


def _expanded(value: str, environ: Mapping[str, str], where: str) -> str:
    if not value.startswith("$"):
        return value
    name = value.removeprefix("$").strip("{}")
    found = environ.get(name, "").strip()
    if not found:
        raise Rejected(f"{where} needs the environment variable {name}, which is not set", hint=f"set {name}")
    return found


def _header(name: str, value: str, environ: Mapping[str, str], hider: Hider) -> str:
    text = _expanded(value, environ, f"the header `{name}`")
    if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
        raise ConfigError(f"`{Hider().text(name, 40)}` is no name of a header")
    if not (text.isascii() and text.isprintable()):
        raise ConfigError(f"the value of the header `{name}` is not one line of printable ASCII")
    hider.add(text)
    return text


def _proxy(proxy: str | None, environ: Mapping[str, str], hider: Hider) -> str | None:
    if proxy is None:
        return None
    address = _expanded(proxy, environ, "`proxy`")
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        for secret in (parts.username, parts.password):
            hider.add(secret or "")
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("`proxy` is not a web address", hint="write it as http://host:port")
    return address


def _tls(bundle: str | None) -> ssl.SSLContext | None:
    if bundle is None:
        return None
    try:
        return ssl.create_default_context(cafile=bundle)
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror or "it holds no certificate"
        raise ConfigError(f"the CA bundle {bundle} cannot be used: {reason}", hint="a PEM file is needed") from None
