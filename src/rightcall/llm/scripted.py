"""A model that says what a test wants it to say."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence

from rightcall.errors import Rejected
from rightcall.llm.client import Answer, Request

Said = str | Answer | Exception
"""What a scripted model does once: say a text, give a whole answer, or raise an error."""

Script = Sequence[Said] | Mapping[str, Sequence[Said]] | Callable[[Request], Said | Awaitable[Said]]


class ScriptedModel:
    """A `Client` without a model.

    Args:
        replies: a list, said in the order of the questions; a mapping from a request's `unit` to what is said at each
            of its attempts; or a function (it may be async) that gets the request. A reply is a text, an `Answer`, or
            an exception, which is raised.
        model: the name under which it answers.

    Attributes:
        requests: every request, in the order in which they came.
        is_closed: whether it was closed.
    """

    def __init__(self, replies: Script, *, model: str = "scripted") -> None:
        """Keep the script."""
        self.requests: list[Request] = []
        self.is_closed = False
        self._replies = replies
        self._model = model

    async def ask(self, request: Request) -> Answer:
        """Say what the script says next.

        Raises:
            Exception: where the script says so.
            Rejected: the script has nothing to say (`JUDGE_NOT_RECORDED`).
        """
        self.requests.append(request)
        said = self._next(request, len(self.requests) - 1)
        if inspect.isawaitable(said):
            said = await said
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Answer):
            return said
        sent = {"temperature": request.temperature, "max_tokens": request.max_tokens}
        return Answer(text=said, model=self._model, sent={k: v for k, v in sent.items() if v is not None})

    async def close(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True

    def _next(self, request: Request, number: int) -> Said | Awaitable[Said]:
        if callable(self._replies):
            return self._replies(request)
        if isinstance(self._replies, Mapping):
            lines, index = self._replies.get(request.unit, ()), request.attempt
        else:
            lines, index = self._replies, number
        if isinstance(lines, str) or index >= len(lines):
            raise Rejected(
                f"the scripted model has {'one text, not a list,' if isinstance(lines, str) else 'nothing to say'} for "
                f"question {number} (unit `{request.unit}`, attempt {request.attempt})",
                code="JUDGE_NOT_RECORDED", hint="give it a list with more replies",
            )  # fmt: skip
        return lines[index]
