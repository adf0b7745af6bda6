"""The self-audit of `interpretation` judges: what code decides about a reading, and a judge may contradict.

Most of what this judge says is a matter of reading and decided by nobody else. Quotes and paths are no matter of
reading, but a reply with a false one is not used at all (`rightcall.judge.interpretation`). What is left:

* `error_status`: a flag `ignored_error` although the call is on record as successful (not inferred), and its result
  has no word that could tell of a failure. Only for results in plain ASCII letters: the words are English.
* `invented_value`: a flag `invented` (the result has nothing about it) whose quoted claim, as a whole, is one of the
  result's own values, or a stretch of at least 12 characters of one. It may be wrong in another way, not in this one.
* `verbatim`: the reading is the result's text, letter for letter; then no value and no unit in it is wrong, nothing is
  invented, and the score is no 1 or 2.

Within the reply: `cross_field`: the best score beside a flag, or a 1 or 2 although the judge lists neither a flag nor
a key error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rightcall.grade.opinion import Conflict
from rightcall.grade.unsupported import parsed
from rightcall.judge.audit import Audit
from rightcall.judge.quotes import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.judge.quotes import ReadingFacts
    from rightcall.trace.jsontext import JsonValue

_FAILURE = re.compile(
    r"err|fail|fault|exception|invalid|illegal|denied|declin|reject|refus|forbid|unauth|not |n't|no |none|null|nothing"
    r"|missing|unknown|unable|cannot|unavail|without|empty|timeout|timed|abort|cancel|expire|limit|exceed|partial|warn"
    r"|bad|wrong|unsuccess|incomplete|pending|false|lost|[45][0-9][0-9]",
    re.IGNORECASE,
)
"""Words and status codes that could tell of a failure; generous, so that what is left is beyond doubt."""

_STRETCH = 12
_LOW = 0.4
_FALSE_OF_A_COPY = ("wrong_value", "wrong_unit", "invented")


class FlagSaid(Protocol):
    """What the audit reads of one flag."""

    @property
    def claim_quote(self) -> str: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102


class ReadingSaid(Protocol):
    """What the audit reads of an `interpretation` reply."""

    @property
    def score(self) -> float: ...  # noqa: D102
    @property
    def key_errors(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def misinterpretation_flags(self) -> Sequence[FlagSaid] | None: ...  # noqa: D102


def audit_interpretation(reply: ReadingSaid, facts: ReadingFacts, *, succeeded: bool) -> Audit:
    """Compare a reply with what code decides.

    Args:
        reply: the typed reply.
        facts: what the judge was shown.
        succeeded: whether the call is on record as successful, in so many words.
    """
    flags = reply.misinterpretation_flags or ()
    checked, conflicts = [], []
    for name, applies, found in (
        ("error_status", _is_flawless(facts.result, succeeded=succeeded), _ignored(flags)),
        ("invented_value", any(flag.kind == "invented" for flag in flags), _not_invented(flags, facts.result)),
        ("verbatim", _is_copy(facts), _against_a_copy(reply, flags, direct=facts.direct)),
        ("cross_field", reply.misinterpretation_flags is not None, _contradictory(reply, flags, direct=facts.direct)),
    ):
        if applies:
            checked.append(name)
            conflicts += [Conflict(check=name, message=message, judge=judge) for message, judge in found]
    return Audit(tuple(checked), tuple(conflicts))


_Against = tuple[str, str | float]
"""What is wrong, and what the judge said."""


def _ignored(flags: Sequence[FlagSaid]) -> Iterator[_Against]:
    for flag in flags:
        if flag.kind == "ignored_error":
            yield "the call is on record as successful, and its result tells of no failure", flag.claim_quote


def _is_flawless(result: JsonValue, *, succeeded: bool) -> bool:
    texts = " ".join(_values(result))
    return succeeded and texts.isascii() and not _FAILURE.search(texts)


def _not_invented(flags: Sequence[FlagSaid], result: JsonValue) -> Iterator[_Against]:
    for flag in flags:
        if flag.kind != "invented":
            continue
        claim = plain(flag.claim_quote)
        if any(claim == value or (len(claim) >= _STRETCH and claim in value) for value in map(plain, _values(result))):
            yield "the result holds these very words", flag.claim_quote


def _is_copy(facts: ReadingFacts) -> bool:
    return isinstance(facts.result, str) and facts.text is not None and plain(facts.text) == plain(facts.result) != ""


def _against_a_copy(reply: ReadingSaid, flags: Sequence[FlagSaid], *, direct: bool) -> Iterator[_Against]:
    for flag in flags:
        if flag.kind in _FALSE_OF_A_COPY:
            yield f"the reading is the result, letter for letter, and cannot be {flag.kind}", flag.claim_quote
    if _share(reply, direct=direct) <= _LOW:
        yield "the reading is the result, letter for letter", reply.score


def _contradictory(reply: ReadingSaid, flags: Sequence[FlagSaid], *, direct: bool) -> Iterator[_Against]:
    share = _share(reply, direct=direct)
    if share == 1 and flags:
        yield f"the best score, and {len(flags)} wrong {'claim' if len(flags) == 1 else 'claims'}", reply.score
    if share <= _LOW and not flags and not reply.key_errors:
        yield "a score for readings with grave errors, and not one is named", reply.score


def _share(reply: ReadingSaid, *, direct: bool) -> float:
    return reply.score if direct else reply.score / 5


def _values(value: JsonValue) -> Iterator[str]:
    """Every scalar and key of a result as text; text that is JSON is taken as what it means."""
    if isinstance(value, str):
        inner = parsed(value)
        if inner is None:
            yield value
            return
        value = inner
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _values(item)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item)
    elif not isinstance(value, str):
        yield "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
