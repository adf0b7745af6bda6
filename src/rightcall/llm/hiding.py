"""Secrets out of what an endpoint or a program says, before it becomes the text of an error.

An endpoint may echo the key that it refuses, a proxy the password in its URL, a program what it was given. What is
known to be secret is replaced wherever it stands; what looks like a key is replaced too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

HIDDEN = "[hidden]"

_SHORTEST = 4
_URL = re.compile(r"([a-z][a-z0-9+.\-]*://)(?:[^\s/@\"']*@)?([^\s?#\"'<>]*)[?#]?[^\s\"'<>]*", re.IGNORECASE)
_LOOKS_SECRET = re.compile(
    r"\b(?:bearer|basic)\s+[^\s\"',;]+"
    r"|\b(?:sk|pk|rk|xox[a-z]|gh[a-z]|gsk|hf|pplx|nvapi|AIza)[-_]?[A-Za-z0-9*_\-]{8,}"
    r"|\b[A-Za-z0-9+/_\-]*(?:api[-_]?key|token|secret|password)[\"']?\s*[=:]\s*[\"']?[^\s\"',;]+"
    r"|[A-Za-z0-9+/_\-*]{40,}",
    re.IGNORECASE,
)


class Hider:
    """Replaces secrets in text.

    Args:
        secrets: what must never be shown. What has less than four characters is no secret.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Keep the secrets."""
        self._secrets: set[str] = set()
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Hide this from now on, also where it stands quoted in a URL."""
        if len(secret) >= _SHORTEST:
            self._secrets |= {secret, quote(secret, safe="")}

    def text(self, text: str, limit: int = 300) -> str:
        """One line of at most `limit` characters without secrets; a URL keeps its scheme, host and path."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        text = _LOOKS_SECRET.sub(HIDDEN, _URL.sub(r"\1\2", text))
        text = " ".join(text.split())
        return text if len(text) <= limit else text[: limit - 1] + "…"
