"""What happened: traces, calls, results, messages, tools. Frozen data, no behaviour beyond reading itself.

These are the only trace types of rightcall, used from the file to the page. They are `msgspec.Struct` types, since
such a type refuses unknown fields while it decodes and can keep a call's arguments as the bytes that were recorded
(`arguments_json`) until somebody needs the value (`arguments`).

Unknown (`None`), empty (`{}`, `[]`, `""`) and zero are different everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from rightcall.trace import jsontext
from rightcall.trace.digest import digest as content_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

ArgumentsStatus = Literal["ok", "malformed", "not_object", "missing", "not_captured"]
"""How a call's arguments were recorded. Only `ok` has a value; none of the others ever becomes `{}`."""

Role = Literal["system", "user", "assistant"]
CalledBy = Literal["agent", "user", "provider", "framework"]


class _Frozen(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings that all trace types share."""


class Tool(_Frozen, frozen=True, kw_only=True):
    """A tool that the agent could see.

    `parameters` is its JSON Schema (`None`: not recorded), `annotations` the MCP hints as they were written.
    """

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None


class Result(_Frozen, frozen=True, kw_only=True, rename={"content_json": "content"}, gc=False):
    """What came back from a call.

    `is_error` is `None` where the recording does not say. `inferred` marks an `is_error` that a dialect's page
    allows to be read from the text.
    """

    content_json: Raw | UnsetType = UNSET
    is_error: bool | None = None
    at: str | None = None
    inferred: bool = False

    @property
    def is_captured(self) -> bool:
        """Whether the content was recorded at all."""
        return self.content_json is not UNSET

    @property
    def content(self) -> jsontext.JsonValue:
        """The content as a JSON value; `None` also where it was not recorded (see `is_captured`)."""
        return None if self.content_json is UNSET else jsontext.decode(bytes(self.content_json))


class Message(_Frozen, frozen=True, kw_only=True, tag_field="type", tag="message", gc=False):
    """Something said. `text` is `None` where the message had no text (for example only tool calls).

    `agent` names who spoke, where a run has several agents.
    """

    role: Role
    text: str | None = None
    at: str | None = None
    turn: int | None = None
    agent: str | None = None


class Call(
    _Frozen, frozen=True, kw_only=True, tag_field="type", tag="call", rename={"arguments_json": "arguments"}, gc=False
):
    """One decision of the agent to use a tool.

    `turn` numbers the assistant message that the call belongs to; calls of one turn are parallel. A call without a
    `turn` is a turn of its own. `by` is `agent` for the calls that are graded; calls by a simulated user, by the
    provider or by the framework are kept and marked. `result` is `None` where none was recorded. `agent` names which
    agent of a run decided, where there are several.
    """

    tool: str
    arguments_json: Raw | UnsetType = UNSET
    arguments_status: ArgumentsStatus = "ok"
    arguments_raw: str | None = None
    id: str | None = None
    turn: int | None = None
    by: CalledBy = "agent"
    result: Result | None = None
    started_at: str | None = None
    agent: str | None = None

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The arguments as an object, decoded anew at each access; `None` unless `arguments_status` is `ok`.

        Raises:
            TraceError: the recorded bytes cannot be decoded (a lone surrogate, a number out of range).
        """
        if self.arguments_status != "ok" or self.arguments_json is UNSET:
            return None
        value: dict[str, Any] = jsontext.decode(bytes(self.arguments_json))
        return value

    @property
    def failed(self) -> bool | None:
        """Whether the tool failed: `None` where it is not known."""
        return None if self.result is None else self.result.is_error


Event = Call | Message


class Agent(_Frozen, frozen=True, kw_only=True):
    """Who ran: for grouping and for the log, never shown to a judge."""

    name: str | None = None
    version: str | None = None
    model: str | None = None


class TraceFinding(_Frozen, frozen=True, kw_only=True):
    """Something odd about the recording itself: an orphan result, a re-used id, a cut attribute."""

    code: str
    message: str
    path: str | None = None


class Label(_Frozen, frozen=True, kw_only=True):
    """What somebody or something has said about a trace elsewhere, and an export carries: feedback, an annotation.

    `by` says who, `kind` what that is, `at` when. `target` names the call or span that it is about (`None`: the whole
    trace). A label is never a verdict of rightcall.
    """

    name: str
    value: Any = None
    comment: str | None = None
    by: str | None = None
    kind: Literal["person", "code", "judge", "unknown"] = "unknown"
    at: str | None = None
    target: str | None = None


class Trace(_Frozen, frozen=True, kw_only=True, rename={"tools_json": "tools"}):
    """One recorded run of an agent.

    `events` holds messages and calls in the order in which they were made. `tools_json` is the catalog of the run as
    recorded (absent = not known). `completed` is `None` where it is not known. `findings` lists what was odd about
    the recording, `labels` what others have said about the run.
    """

    id: str
    case_id: str | None = None
    trial: int | None = None
    request: str | None = None
    context: str | dict[str, Any] | None = None
    agent: Agent | None = None
    tools_json: Raw | UnsetType = UNSET
    events: tuple[Event, ...] = ()
    completed: bool | None = None
    findings: tuple[TraceFinding, ...] = ()
    labels: tuple[Label, ...] = ()
    metadata: dict[str, Any] = {}

    @property
    def calls(self) -> tuple[Call, ...]:
        """The agent's own calls, in order: the ones that are graded."""
        return tuple([event for event in self.events if type(event) is Call and event.by == "agent"])

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the whole trace."""
        return content_digest(to_builtins(self))


def to_builtins(value: Struct) -> Mapping[str, jsontext.JsonValue]:
    """A trace type as plain JSON values, defaults left out: what its native line holds."""
    decoded: Mapping[str, jsontext.JsonValue] = jsontext.decode(jsontext.encode(value))
    return decoded


def call(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    result: jsontext.JsonValue | UnsetType = UNSET,
    error: jsontext.JsonValue | UnsetType = UNSET,
    turn: int | None = None,
    id: str | None = None,  # noqa: A002 - the field's name
) -> Call:
    """Make a `Call` from Python values, for tests and small programs.

    `arguments=None` means that they are missing, which is not the same as `{}`.
    """
    outcome = None
    if error is not UNSET:
        outcome = Result(content_json=Raw(jsontext.encode(error)), is_error=True)
    elif result is not UNSET:
        outcome = Result(content_json=Raw(jsontext.encode(result)), is_error=False)
    if arguments is None:
        return Call(tool=tool, arguments_status="missing", result=outcome, turn=turn, id=id)
    return Call(tool=tool, arguments_json=Raw(jsontext.encode(arguments)), result=outcome, turn=turn, id=id)
