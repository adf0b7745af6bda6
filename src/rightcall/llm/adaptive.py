"""A client that learns what its endpoint refuses. `Door` asks it, after a refusal, whether asking again is worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.errors import Rejected

if TYPE_CHECKING:
    from rightcall.llm.credential import Credential
    from rightcall.llm.ladder import Ladder

Version = tuple[int, int]
"""What was known when a request was sent: of parameters, and of the credential."""


class Adaptive:
    """What the HTTP clients have in common.

    Attributes:
        ladder: the rung and the parameters in use.
        credential: the key or token in use.
    """

    ladder: Ladder
    credential: Credential

    @property
    def version(self) -> Version:
        """What is known now."""
        return self.ladder.version, self.credential.version

    async def adapt(self, error: Rejected, version: Version) -> bool:
        """Whether the same request, sent now, differs from the one that was refused at `version`.

        Raises:
            Rejected: a fresh token was needed, and the token command failed (`JUDGE_AUTH`).
        """
        if error.http_status == 401:
            return await self.credential.renew(version[1])
        return self.ladder.learn(error, version[0])
