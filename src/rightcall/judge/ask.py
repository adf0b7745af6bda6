"""A template and values become a question. Pure: the word of the fences is an argument.

All placeholders are filled in one pass over the original template, so that a value which contains `[TRACE_B]` is data
like any other. A value that a prompt requires and a case does not have stops the question before it exists.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from rightcall.errors import CaseError
from rightcall.judge.contract import Question, Suspicion
from rightcall.judge.fences import check_nonce, fenced, rendered
from rightcall.judge.placeholders import NULL_MEANS, PLACEHOLDER, canonical
from rightcall.trace.digest import canonical as canonical_json

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping, Sequence

    from rightcall.judge.template import Template
    from rightcall.trace.jsontext import JsonValue


class MissingValue(CaseError):
    """A case lacks a value that the prompt requires, so nobody is asked: `Unevaluable: missing_input`.

    `placeholders` names every one of them.
    """

    default_code = "PROMPT_MISSING_VALUE"

    def __init__(self, prompt_id: str, placeholders: tuple[str, ...]) -> None:
        """Name the prompt and what it lacks."""
        names = ", ".join(placeholders)
        super().__init__(
            f"prompt `{prompt_id}` requires {names}, which this case does not have",
            hint="record it with the case or the trace, or use a prompt that does without",
        )
        self.placeholders = placeholders


def ask(
    template: Template, values: Mapping[str, JsonValue], *, nonce: str | Callable[[str], str],
    reply_schema: dict[str, Any], suspicions: tuple[Suspicion, ...] = (), left_out: tuple[str, ...] = (),
    written: Mapping[str, str] | None = None, schema_json: bytes | None = None,
) -> Question:  # fmt: skip
    """Fill a template.

    Args:
        template: the prompt.
        values: by placeholder; what the template does not use is not looked at. Absent and `None` are the same, but
            for the placeholders of `NULL_MEANS`.
        nonce: the word of the fences, or what makes it of the question's identity (see `fences.nonce_of`).
        reply_schema: what the reply has to satisfy.
        suspicions: texts among the values that address the judge; carried along.
        left_out: what the values lack since it did not fit; the judge is told.
        written: values that have been rendered before, by placeholder.
        schema_json: the canonical form of `reply_schema`, if it is at hand.

    Raises:
        MissingValue: a required value is missing.
        ValueError: the nonce stands in a value, or is no word.
    """
    texts = _texts(template, values, written or {})
    identity = _identity(template, texts, schema_json or canonical_json(reply_schema), left_out)
    word = nonce if isinstance(nonce, str) else nonce(identity)
    omitted = rendered(list(left_out)) if left_out else None
    check_nonce(word, (*texts.values(), omitted or "", template.user))
    user = PLACEHOLDER.sub(lambda found: _block(found, texts, word), template.user)
    if omitted is not None:
        user = f"{user}\n\n{fenced('LEFT_OUT', omitted, word)}"
    return Question(
        grader=template.grader, prompt_id=template.id, prompt_version=template.version,
        prompt_sha256=template.sha256, system=template.system, user=user,
        reply_schema=reply_schema, input_sha256=identity, left_out=left_out, suspicions=suspicions,
    )  # fmt: skip


def input_sha256(
    template: Template, values: Mapping[str, JsonValue], *, reply_schema: dict[str, Any],
    left_out: tuple[str, ...] = (),
) -> str:  # fmt: skip
    """The identity that `ask` gives to a question: all of it but the nonce, which can be derived from it.

    Raises:
        MissingValue: a required value is missing.
    """
    return _identity(template, _texts(template, values, {}), canonical_json(reply_schema), left_out)


def _identity(template: Template, texts: Mapping[str, str], schema_json: bytes, left_out: Sequence[str]) -> str:
    """Digest of the canonical JSON of left_out, prompt, reply_schema and values; the schema is the same for many."""
    parts = (
        (b"left_out", canonical_json(list(left_out))), (b"prompt", canonical_json(template.sha256)),
        (b"reply_schema", schema_json), (b"values", canonical_json(dict(texts))),
    )  # fmt: skip
    return sha256(b"{" + b",".join(b'"' + name + b'":' + part for name, part in parts) + b"}").hexdigest()


def _texts(template: Template, values: Mapping[str, JsonValue], written: Mapping[str, str]) -> dict[str, str]:
    """The rendered value of each placeholder that the template uses."""
    missing = tuple(
        name
        for name in template.placeholders
        if name not in values or (values[name] is None and name not in NULL_MEANS)
    )
    if missing:
        raise MissingValue(template.id, missing)
    return {name: written[name] if name in written else rendered(values.get(name)) for name in template.names}


def _block(found: re.Match[str], texts: Mapping[str, str], nonce: str) -> str:
    """A fenced value on lines of its own, wherever its placeholder stands."""
    name = canonical(found.group(1))
    before = "" if found.start() == 0 or found.string[found.start() - 1] == "\n" else "\n"
    after = "" if found.end() == len(found.string) or found.string[found.end()] == "\n" else "\n"
    return f"{before}{fenced(name, texts[name], nonce)}{after}"
