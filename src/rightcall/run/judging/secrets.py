"""The secrets that this very process holds: keys and tokens of its judges, which no record may repeat.

An endpoint may send a key back in an error text, and no shape tells a company's own token from a word. These are known,
so they are replaced wherever they stand, in traces and cases too, by a tag like that of any other secret.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from rightcall.trace import jsontext
from rightcall.trace.redact import Redactor
from rightcall.trace.shapes import bytes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.llm.spec import JudgeSpec
    from rightcall.trace.jsontext import JsonValue

USUAL_KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "OLLAMA_API_KEY",
    "RIGHTCALL_REDACTION_KEY",
)
SHORTEST = 6
"""A shorter value is no secret that could be told from text."""

LONG = 16
"""A header's value of so many characters without a blank is taken for a secret, whatever the header is called."""

_CREDENTIAL = re.compile(r"auth|key|token|secret|password|cookie|credential|signature|\bsig\b|\bcode\b", re.IGNORECASE)


def known_secrets(specs: Iterable[JudgeSpec], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every secret that the judges' configuration names, longest first, also as it is written inside a URL.

    Of a header that says `Bearer TOKEN`, the token alone is one too. What a header or a query says in plain words
    (a team's name, a version) is no secret: it would be taken out of every trace.
    """
    found = {environ.get(name, "") for name in USUAL_KEYS}
    for line in environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines():
        name, _, value = line.partition(":")
        found.update(_of_header(name, value, environ))
    for spec in specs:
        found.add(environ.get(spec.api_key_env or "", ""))
        for name, value in spec.headers.items():
            found.update(_of_header(name, value, environ))
        for url in (spec.proxy, spec.base_url):
            found.update(_of_url(_expanded(url or "", environ)))
    stripped = {secret.strip() for secret in found}
    written = stripped | {quote(secret, safe="") for secret in stripped}
    return tuple(sorted((secret for secret in written if len(secret) >= SHORTEST), key=_longest_first))


def _of_header(name: str, value: str, environ: Mapping[str, str]) -> Iterator[str]:
    text = _expanded(value.strip(), environ)
    is_secret = value.strip().startswith("$") or _CREDENTIAL.search(name) or (len(text) >= LONG and " " not in text)
    if is_secret:
        yield text
        yield text.partition(" ")[2]


def _of_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:  # whoever uses it says so
        return
    if parts.password:
        user, password = unquote(parts.username or ""), unquote(parts.password)
        yield from (parts.password, password, b64encode(f"{user}:{password}".encode()).decode())
    yield from (value for name, value in parse_qsl(parts.query) if _CREDENTIAL.search(name))


def _expanded(value: str, environ: Mapping[str, str]) -> str:
    """A value, or what the environment variable holds that it names (`$NAME`, `${NAME}`)."""
    return environ.get(value.removeprefix("$").strip("{}"), "") if value.startswith("$") else value


@dataclass(frozen=True)
class _Knowing(Redactor):
    """A redactor that looks for known secrets too, which costs nothing where none of them stands.

    Attributes:
        plain: the one without them.
        known: the known secrets, in UTF-8 and as they stand inside a JSON text.
    """

    plain: Redactor = field(kw_only=True)
    known: tuple[bytes, ...] = field(default=(), repr=False, kw_only=True)

    def text(self, text: str) -> str:
        """The text without secrets."""
        return super().text(text) if self._stands_in(bytes_of(text)) else self.plain.text(text)

    def value(self, value: JsonValue) -> JsonValue:
        """The JSON value without secrets."""
        try:
            is_plain = not self._stands_in(jsontext.encode(value))
        except UnicodeEncodeError:  # half of a surrogate pair: rare, and no reason to look less closely
            is_plain = False
        return self.plain.value(value) if is_plain else super().value(value)

    def _stands_in(self, text: bytes) -> bool:
        return any(secret in text for secret in self.known)


@dataclass
class Cleaner:
    """Takes secrets out of what is kept or shown: the known ones, and whatever has the shape of one.

    Args:
        redactor: the project's redactor; from here on it knows the known ones too.
        secrets: values that are replaced wherever they stand.
    """

    redactor: Redactor
    secrets: tuple[str, ...] = field(default=(), repr=False)
    _plain: Redactor = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Teach the redactor the known ones."""
        self._plain = self.redactor
        self._teach()

    def text(self, text: str) -> str:
        """The text without secrets."""
        return self.redactor.text(text)

    def value(self, value: JsonValue) -> JsonValue:
        """The JSON value without secrets."""
        return self.redactor.value(value)

    def learn(self, secrets: Iterable[str]) -> None:
        """Know these too from now on: a token that a program has just printed."""
        new = {secret for secret in secrets if len(secret) >= SHORTEST}.difference(self.secrets)
        if new:
            self.secrets = tuple(sorted({*self.secrets, *new}, key=_longest_first))
            self._teach()

    def _teach(self) -> None:
        if not self.secrets:
            return
        plain = self._plain
        in_json = (jsontext.encode(secret)[1:-1].decode() for secret in self.secrets)
        written = list(dict.fromkeys([*self.secrets, *in_json]))
        self.redactor = _Knowing(
            key=plain.key, patterns=(*plain.patterns, "|".join(map(re.escape, written))),
            key_names=plain.key_names, plain=plain, known=tuple(map(bytes_of, written)),
        )  # fmt: skip


def _longest_first(secret: str) -> tuple[int, str]:
    return -len(secret), secret
