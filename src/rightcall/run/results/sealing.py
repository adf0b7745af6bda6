"""The digest of a file of results, by which a change after it was written is noticed. It is no signature.

Whoever changes a file on purpose can make its digest anew; what it notices is an edited verdict, a truncated list, a
merge that went wrong. That nobody changed a run on purpose is shown by the log of the store that it comes from.
"""

from __future__ import annotations

from hashlib import sha256

METHOD = "sha256:"
"""How a digest begins."""


class Seal:
    """Takes the parts of a file in their order, byte by byte as they stand in it.

    The digest is the SHA-256 of the JSON texts of `run`, of `summary`, and of every result, each followed by a line
    feed. What stands between these texts does not count.
    """

    def __init__(self, run: bytes | memoryview, summary: bytes | memoryview) -> None:
        """Take the JSON texts of `run` and `summary`."""
        self._sha = sha256()
        self.add(run)
        self.add(summary)

    def add(self, line: bytes | memoryview) -> None:
        """Take the JSON text of the next result."""
        self._sha.update(line)
        self._sha.update(b"\n")

    def digest(self) -> str:
        """`sha256:` and 64 hexadecimal digits."""
        return METHOD + self._sha.hexdigest()
