"""What the four judged graders share: the question that is asked, and the ways in which a reply can be unreadable.

A grader is one unit with one stem: a prompt (`judge/prompts/x.md`), a reply (`judge/x.py`), a docs page. It turns a
case into a `Question`, and the text that comes back into a typed reply or `Malformed`. Both are pure: what differs
from run to run (the nonce of the fences) is an argument.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from rightcall.grade.opinion import Conflict as Conflict  # noqa: PLC0414 - part of this contract

ReplyCode = Literal[
    "JUDGE_EMPTY",
    "JUDGE_TRUNCATED",
    "JUDGE_REFUSAL",
    "JUDGE_NOT_JSON",
    "JUDGE_AMBIGUOUS",
    "JUDGE_DUPLICATE_KEY",
    "JUDGE_NON_FINITE",
    "JUDGE_SCHEMA",
    "JUDGE_INCONSISTENT",
]
"""Why a reply is not a verdict (SPEC §7). None of them is ever a score."""

TransportCode = Literal["JUDGE_AUTH", "JUDGE_UNREACHABLE", "JUDGE_RATE_LIMITED", "JUDGE_TIMEOUT"]
"""Why there is no reply at all (SPEC §7)."""


INJECTION = "INJECTION_SUSPECTED"
"""The code under which text that addresses the judge is shown and recorded."""


class Problem(Struct, frozen=True, gc=False):
    """One thing wrong with a reply. `path` is the key or the place in the text (`object at 9`), `message` says what."""

    path: str
    message: str


class Malformed(Struct, frozen=True, gc=False):
    """A reply that could not be read: its class and *all* its problems."""

    code: ReplyCode
    problems: tuple[Problem, ...] = ()

    def __str__(self) -> str:
        """One line: the code and every problem."""
        listed = "; ".join(f"{problem.path}: {problem.message}" for problem in self.problems)
        return f"{self.code} ({listed})" if listed else self.code


class Suspicion(Struct, frozen=True, gc=False):
    """Text that addresses the judge (`INJECTION_SUSPECTED`): where it stands, which pattern saw it, what it says."""

    path: str
    kind: str
    excerpt: str


class Question(Struct, frozen=True, kw_only=True):
    """A rendered request to a judge.

    Attributes:
        grader: the grader's name.
        prompt_id, prompt_version, prompt_sha256: which template was filled.
        system: the constant part, the same for every case, so that prefix caches work.
        user: the case, fenced by the nonce.
        reply_schema: JSON Schema that the endpoint is asked to keep to; the reader checks it all the same.
        input_sha256: digest of the template and of the values filled in, without the nonce: the question's identity.
        left_out: what the reduced view left out, in words; empty for a full view.
        suspicions: texts among the values that address the judge.
    """

    grader: str
    prompt_id: str
    prompt_version: str
    prompt_sha256: str
    system: str
    user: str
    reply_schema: dict[str, Any]
    input_sha256: str
    left_out: tuple[str, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
