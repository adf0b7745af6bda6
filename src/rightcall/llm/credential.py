"""The credential of an endpoint: a key from the environment, or what a program prints.

A token from a program is kept until the endpoint refuses it with 401; then the program is asked once more.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

from rightcall.errors import Rejected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.llm.hiding import Hider

TOKEN_TIMEOUT = 30.0
"""Seconds that a token command may take."""


class Credential:
    """A key, a token command, or nothing.

    Args:
        key: the key; `None` where there is none.
        command: prints a token on its standard output; no shell sees it.
        environ: the environment of that program.
        hider: learns every token, so that none is ever shown.

    Attributes:
        version: grows with every renewal; whoever was refused with an older token can just ask again.
        secrets: the key, and every token so far.
    """

    def __init__(self, key: str | None, command: tuple[str, ...], environ: Mapping[str, str], hider: Hider) -> None:
        """Keep the parts; no program is started yet."""
        self.version = 0
        self._key = key
        self._command = command
        self._environ = dict(environ)
        self._hider = hider
        self._lock = asyncio.Lock()
        self.secrets: set[str] = set()
        if key:
            self._keep(key)

    async def token(self) -> str | None:
        """The key or the token; `None` where nothing is needed.

        Raises:
            Rejected: the token command failed (`JUDGE_AUTH`).
        """
        if self._key is None and self._command:
            async with self._lock:
                if self._key is None:
                    await self._fetch()
        return self._key

    async def renew(self, version: int) -> bool:
        """Whether there is a newer token than that of `version`; the token command is asked if it must be."""
        if not self._command:
            return False
        async with self._lock:
            if version == self.version:
                await self._fetch()
                self.version += 1
        return True

    async def _fetch(self) -> None:
        try:
            async with asyncio.timeout(TOKEN_TIMEOUT):
                token = await self._printed()
        except TimeoutError:
            raise _no_token(f"gave no token within {TOKEN_TIMEOUT:g} s") from None
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise _no_token("printed no token: one line of printable ASCII without blanks is expected")
        self._keep(token)
        self._key = token

    def _keep(self, secret: str) -> None:
        self._hider.add(secret)
        self.secrets.add(secret)

    async def _printed(self) -> str:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, env=self._environ, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise _no_token(f"cannot be started: {error.strerror}") from None
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        if process.returncode != 0:
            raise _no_token(f"failed with exit code {process.returncode}")
        return output.decode("utf-8", "replace").strip()


def _no_token(what: str) -> Rejected:
    return Rejected(f"the token command {what}", hint="try the program of `token_command` by hand")
