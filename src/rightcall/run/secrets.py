"""The secrets that this very process holds: keys and tokens of its judges, which no record may repeat.

An endpoint may send a key back in an error text, and no shape tells a company's own token from a word. These are known,
so they are replaced wherever they stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rightcall.llm.spec import JudgeSpec
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.redact import Redactor

USUAL_KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "OLLAMA_API_KEY",
    "RIGHTCALL_REDACTION_KEY",
)
SHORTEST = 6
"""A shorter value is no secret that could be told from text."""


def known_secrets(specs: Iterable[JudgeSpec], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every secret that the judges' configuration names, longest first."""
    found = {environ.get(name, "") for name in USUAL_KEYS}
    for spec in specs:
        found.add(environ.get(spec.api_key_env or "", ""))
        for value in spec.headers.values():
            found.add(environ.get(value[1:], "") if value.startswith("$") else value)
        for url in (spec.proxy, spec.base_url):
            found.add(urlsplit(url).password or "" if url else "")
    return tuple(sorted((secret for secret in found if len(secret) >= SHORTEST), key=len, reverse=True))


@dataclass(frozen=True)
class Cleaner:
    """Takes secrets out of what is kept or shown: the known ones first, then whatever has the shape of one.

    Args:
        redactor: the project's redactor.
        secrets: values that are replaced wherever they stand.
    """

    redactor: Redactor
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def text(self, text: str) -> str:
        """The text without secrets."""
        for secret in self.secrets:
            if secret in text:
                text = text.replace(secret, "⟦key⟧")
        return self.redactor.text(text)

    def value(self, value: JsonValue) -> JsonValue:
        """The JSON value without secrets."""
        if self.secrets:
            value = self._known(value)
        return self.redactor.value(value)

    def _known(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            for secret in self.secrets:
                value = value.replace(secret, "⟦key⟧")
            return value
        if isinstance(value, dict):
            return {self._known(key): self._known(item) for key, item in value.items()}
        return [self._known(item) for item in value] if isinstance(value, (list, tuple)) else value
