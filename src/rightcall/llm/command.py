"""A judge that is a program: one JSON object on its standard input, the reply on its standard output.

Input: `system`, `user`, `schema`, `model`, `temperature`, `max_tokens`, `grader`, `unit`, `attempt`. Of a pair `unit`
is empty, since the id of a pair can name the two agents, which a judge must not know. The whole output is the reply,
unless it is a JSON object with the key `rightcall_reply`; then that is the reply, and `finish`, `model`, `input_tokens`
and `output_tokens` may stand beside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from rightcall.errors import ConfigError, TraceError, Unavailable
from rightcall.llm.client import Answer, Finish, Request
from rightcall.llm.hiding import Hider
from rightcall.llm.tokens import counted
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Mapping

    from rightcall.llm.spec import JudgeSpec

REPLY = "rightcall_reply"
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")


class CommandClient:
    """A judge that is a program. No shell sees the command; the environment is passed on.

    Args:
        spec: the judge; `command` is the program and its arguments.
        environ: the program's environment.

    Raises:
        ConfigError: no command, or no such program.
    """

    def __init__(self, spec: JudgeSpec, environ: Mapping[str, str]) -> None:
        """Find the program; it is not started yet."""
        if not spec.command:
            raise ConfigError("a judge of provider `command` needs a `command`", hint='write command = ["program"]')
        program = shutil.which(spec.command[0], path=environ.get("PATH"))
        if program is None:
            raise ConfigError(f"there is no program `{spec.command[0]}`", hint="check `command` and PATH")
        self._spec = spec
        self._command = (program, *spec.command[1:])
        self._name = os.path.basename(spec.command[0])  # noqa: PTH119 - the last part of a text
        self._environ = dict(environ)
        secrets = [value for name, value in environ.items() if name.upper().endswith(_SECRET_NAMES)]
        self._hider = Hider(secrets)

    async def ask(self, request: Request) -> Answer:
        """Start the program once and take what it prints (see `Client`)."""
        asked = {
            "system": request.system, "user": request.user, "schema": request.schema, "model": self._spec.model,
            "temperature": request.temperature, "max_tokens": request.max_tokens, "grader": request.grader,
            "unit": "" if request.order else request.unit, "attempt": request.attempt,
        }  # fmt: skip
        output = await self._run(msgspec.json.encode(asked))
        try:
            text = output.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unavailable(f"{self._name} printed text that is not UTF-8 at byte {error.start}") from None
        sent = {"temperature": request.temperature, "max_tokens": request.max_tokens}
        return self._read(text, {name: value for name, value in sent.items() if value is not None})

    async def close(self) -> None:
        """Nothing stays open between two questions."""

    async def _run(self, question: bytes) -> bytes:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, env=self._environ, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise Unavailable(f"{self._name} cannot be started: {error.strerror}") from None
        try:
            async with asyncio.timeout(self._spec.timeout):
                output, errors = await process.communicate(question)
        except TimeoutError:
            message = f"{self._name} gave no reply within {self._spec.timeout:g} s and was stopped"
            raise Unavailable(message, code="JUDGE_TIMEOUT") from None
        finally:
            await _end(process)
        if process.returncode != 0:
            raise Unavailable(self._failed(process.returncode, errors))
        return output

    def _failed(self, code: int | None, errors: bytes) -> str:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        said = f": {self._hider.text(lines[-1], 200)}" if lines else ""
        ended = f"was killed by signal {-code}" if code is not None and code < 0 else f"failed with exit code {code}"
        return f"{self._name} {ended}{said}"

    def _read(self, text: str, sent: dict[str, Any]) -> Answer:
        more: dict[str, Any] = {}
        if REPLY in text:
            with contextlib.suppress(TraceError):
                value = jsontext.decode(text)
                more = value if isinstance(value, dict) and REPLY in value else {}
        if not more:
            return Answer(text=text, sent=sent)
        reply, finish, model = more[REPLY], more.get("finish", "stop"), more.get("model")
        if not isinstance(reply, str):
            raise Unavailable(f"{self._name} printed a `{REPLY}` that is no text")
        known: Finish = finish if finish in get_args(Finish) else "other"
        return Answer(
            text=reply, finish=known, finish_raw=finish if isinstance(finish, str) else None,
            model=model if isinstance(model, str) else None,
            input_tokens=counted(more.get("input_tokens")), output_tokens=counted(more.get("output_tokens")), sent=sent,
        )  # fmt: skip


async def _end(process: Process) -> None:
    """Kill what is left of the program's process group: it can have left children that go on working."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        await process.wait()
