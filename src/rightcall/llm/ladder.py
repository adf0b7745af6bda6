"""What an endpoint can be asked for: the structured-output ladder, and the parameters that it refuses.

The rungs are `json_schema` → `json_object` → `text`. Which one an endpoint supports cannot be looked up: compatible
servers refuse a schema, or take it and ignore it. So one tiny question finds out. Its schema asks for a word that the
question does not suggest; only a server that keeps to the schema can answer it.

What was learned is kept for the client, so that it costs one call and not one a question.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from rightcall.errors import ProviderError, TraceError
from rightcall.llm.client import Request
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from rightcall.llm.client import Answer
    from rightcall.llm.spec import Rung

Step = Literal["json_schema", "json_object", "text"]

PROBE = Request(
    system="Answer with one JSON object.",
    user="Which colour does a clear sky have at noon? Answer in JSON.",
    schema={
        "type": "object",
        "properties": {"shade": {"type": "string", "enum": ["teal"]}},
        "required": ["shade"],
        "additionalProperties": False,
    },
    schema_name="probe",
    temperature=0.0,
)
"""The question that finds the rung."""

_KEPT = {"shade": "teal"}
_BELOW: dict[Step, Step] = {"json_schema": "json_object", "json_object": "text"}
_STATUSES = (400, 422, 501)
_FORMAT = re.compile(
    r"response_format|output_config|json_schema|json_object|structured output|grammar|guided|schema|\bformat\b",
    re.IGNORECASE,
)
_FORMAT_NAMES = re.compile(r"response_format|output_config")
_STRICT = re.compile(r"\bstrict\b|invalid schema|additionalProperties", re.IGNORECASE)
_REFUSING = re.compile(
    r"unsupported|not support|deprecated|unknown|unrecogni[sz]ed|unexpected|not allowed|not permitted|forbidden"
    r"|extra|only the default|cannot both|not available",
    re.IGNORECASE,
)


class Ladder:
    """The rung and the parameters of one client.

    Args:
        structured: the configured rung; `auto` finds it.
        leaves_out: parameters that may be left out where the endpoint refuses them.
        renames: parameters that are sent under another name instead.
        is_sure: whether the provider documents `json_schema`, so that no probe is needed.

    Attributes:
        rung: the rung in use.
        is_known: whether it needs no probe (any more).
        version: grows with everything that is learned.
    """

    def __init__(
        self,
        structured: Rung,
        *,
        leaves_out: tuple[str, ...] = ("temperature", "seed", "top_p", "strict"),
        renames: dict[str, str] | None = None,
        is_sure: bool = False,
    ) -> None:
        """Start at the configured rung, or at the strictest."""
        self.rung: Step = "json_schema" if structured == "auto" else structured
        self.is_known = is_sure or structured != "auto"
        self.version = 0
        self._may_descend = structured == "auto"
        self._leaves_out = leaves_out
        self._renames = renames or {}
        self._refused: set[str] = set()

    def rung_for(self, request: Request) -> Step:
        """The rung for a request; one without a schema is text."""
        return "text" if request.schema is None else self.rung

    def allows(self, parameter: str) -> bool:
        """Whether the endpoint has not refused a parameter."""
        return parameter not in self._refused

    def parameters(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """What to send of the parameters wanted: without `None` and what is refused, renamed where needed."""
        sent = {name: value for name, value in wanted.items() if value is not None}
        for name in self._refused & sent.keys():
            value = sent.pop(name)
            if name in self._renames:
                sent[self._renames[name]] = value
        return sent

    def learn(self, error: ProviderError, version: int) -> bool:
        """Whether asking again, with what is known now, can succeed.

        Args:
            error: how a request was refused.
            version: what was known when it was sent. Where another call has learned something since, this one may
                have failed for that very reason.
        """
        if error.http_status not in _STATUSES:
            return False
        if version != self.version:
            return True
        if not self._takes(error):
            return False
        self.version += 1
        return True

    def _takes(self, error: ProviderError) -> bool:
        name = self._refused_name(error)
        if name is not None:
            self._refused.add(name)
            return True
        if not _is_about_format(error) or self.rung == "text":
            return False
        can_relax = self.rung == "json_schema" and "strict" in self._leaves_out and self.allows("strict")
        if can_relax and _STRICT.search(error.message):
            self._refused.add("strict")
            return True
        if self._may_descend:
            self.rung = _BELOW[self.rung]
        return self._may_descend

    def _refused_name(self, error: ProviderError) -> str | None:
        """The parameter that is refused and can be left out or renamed."""
        known = [name for name in (*self._leaves_out, *self._renames) if name not in self._refused]
        named = error.parameter
        if named is None and _REFUSING.search(error.message):
            found = [match for name in known if (match := re.search(rf"(?<![\w.]){name}(?!\w)", error.message))]
            named = max(found, key=lambda match: match.start()).group() if found else None
        if named not in known:
            return None
        new = self._renames.get(named)
        wants_new = new is None or new in error.message or _REFUSING.search(error.message)
        return named if wants_new else None

    # ---- the probe ---------------------------------------------------------------------------------------------------

    def answered(self, answer: Answer) -> None:
        """Take the probe's answer: the schema was kept, or ignored."""
        self.is_known = True
        if answer.rung != "json_schema" or answer.finish != "stop":
            return  # a cut or refused answer shows nothing; the endpoint took the schema without complaint
        try:
            kept = jsontext.decode(answer.text) == _KEPT
        except TraceError:
            kept = False
        if not kept:
            self.rung = "text"
            self.version += 1


def _is_about_format(error: ProviderError) -> bool:
    if error.http_status == 501:
        return True
    words = _FORMAT_NAMES if error.parameter else _FORMAT
    return bool(_FORMAT.search(error.parameter or "") or words.search(error.message))
