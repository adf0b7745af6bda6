"""Training rows from two chats of the same task, one of them preferred. Pure.

`whole`: the prompt is everything before the agent's first answer; chosen and rejected are what follows in each trace.
`step`: the prompt is what both traces share, word for word; chosen and rejected are the next turn of each. A pair is
`Unfit` where no honest row can be made of it:

* before the agent's first answer the traces differ (`prompts_differ`). A simulated user seldom says the same twice:
  with the prompts of the `winner`, what the user says there may differ, and the row has what the better trace has;
* the traces part because a tool answered the same call differently (`results_differ`), or the user said something else
  (`user_differs`): that was not the agent's choice;
* one trace ends where the other goes on (`one_stops`): there is no turn to compare;
* the turns that differ make the same calls and say it in other words, and more follows (`only_words_differ`): the
  verdict does not rest on them;
* the traces do not differ at all (`no_difference`);
* the prompt would end with the agent's own words, or with the system's (`nothing_to_answer`): a chat template would let
  the model go on with that message instead of answering.

Three formats: rows of `trl` (conversational preference with an explicit prompt), of `openai` (preference fine-tuning,
which takes one assistant message on each side), and of `kto` (unpaired: two rows a pair). See docs/exports.md.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from rightcall.trace import jsontext
from rightcall.trace.chat import same_calls, same_turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.trace.chat import Chat, ChatCall, ChatMessage
    from rightcall.trace.model import Tool

Level = Literal["whole", "step"]
Format = Literal["trl", "openai", "kto"]
Arguments = Literal["object", "text"]
Prompts = Literal["same", "winner"]
UnfitPair = Literal[
    "prompts_differ", "results_differ", "user_differs", "one_stops", "only_words_differ", "no_difference",
    "nothing_to_answer", "more_than_one_message",
]  # fmt: skip
"""Why two chats make no row."""

Row = dict[str, Any]


class Cut(Struct, frozen=True, kw_only=True):
    """A prompt with two ways to go on."""

    prompt: tuple[ChatMessage, ...]
    chosen: tuple[ChatMessage, ...]
    rejected: tuple[ChatMessage, ...]


class Origin(Struct, frozen=True, kw_only=True):
    """Where a row comes from: its columns beside the texts.

    Attributes:
        weight: how sure whoever decided was, from 0 to 1; `None` where a person did not say.
        margin: how far the voices agree: those for the winner less those for the loser, over all of them.
        pair, case_id, run_id: what was compared, in which run.
        decided_by: `code`, `judge`, `panel`, `second_judge`, `person`.
        confidence: the judge's own; of what code decides 1; `None` for a person.
        judges: whose verdict counts.
        verdict: digest of the verdict's record.
    """

    weight: float | None
    margin: float
    pair: str
    case_id: str | None
    run_id: str
    decided_by: str
    confidence: float | None
    judges: tuple[str, ...]
    verdict: str


def cut(better: Chat, worse: Chat, level: Level, prompts: Prompts = "same") -> Cut | UnfitPair:
    """What two chats of one task are as a prompt with two ways to go on, or why they are not.

    Args:
        better: the chat that is preferred.
        worse: the other one.
        level: whole traces, or the first turn that differs.
        prompts: whether both must have been asked in the same words.
    """
    openings = [chat.messages[: chat.opening] for chat in (better, worse)]
    if prompts == "winner":
        openings = [tuple(one for one in opening if one.role != "user") for opening in openings]
    if not _same(*openings):
        return "prompts_differ"
    chosen, rejected = (_own(chat.messages[chat.opening :]) for chat in (better, worse))
    if _same(chosen, rejected):
        return "no_difference"
    prompt = better.messages[: better.opening]
    found = Cut(prompt=prompt, chosen=chosen, rejected=rejected)
    made = found if level == "whole" else _step(found)
    if isinstance(made, Cut) and made.prompt[-1].role not in ("user", "tool"):
        return "nothing_to_answer"
    return made


def _own(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Up to the last thing that the agent did; what a user says after that is nobody's training."""
    last = max(place for place, one in enumerate(messages) if one.role in ("assistant", "tool"))
    return messages[: last + 1]


def _same(left: Sequence[ChatMessage], right: Sequence[ChatMessage]) -> bool:
    return len(left) == len(right) and all(map(same_turn, left, right))


def _step(whole: Cut) -> Cut | UnfitPair:
    """The first turn that differs, after everything that both share."""
    one, other = whole.chosen, whole.rejected
    shared = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if not same_turn(a, b)), None)
    if shared is None:
        return "one_stops"
    first, second = one[shared], other[shared]
    if first.role != "assistant" or second.role != "assistant":
        return _not_the_agent(first, second)
    is_last = len(one) == len(other) == shared + 1
    if same_calls(first, second) and not is_last:
        return "only_words_differ"
    return Cut(prompt=whole.prompt + one[:shared], chosen=(first,), rejected=(second,))


def _not_the_agent(first: ChatMessage, second: ChatMessage) -> UnfitPair:
    """Why two different messages of which one is not the agent's make no row."""
    roles = {first.role, second.role}
    if roles == {"tool"}:
        return "results_differ"
    if "user" in roles and "assistant" in roles:
        return "one_stops"  # one agent left the word to the user, the other went on
    return "user_differs" if "user" in roles else "results_differ"


# ---- rows ------------------------------------------------------------------------------------------------------------


def rows_of(
    pair: Cut, tools: Sequence[Tool] | None, format_: Format, origin: Origin | None, arguments: Arguments = "object"
) -> list[Row] | UnfitPair:
    """The rows of one pair: one, or two of `kto`.

    Args:
        pair: what is preferred to what.
        tools: the catalog; `None`: not known.
        format_: whose format.
        origin: its columns; `None`: without them. OpenAI's format has no place for them.
        arguments: whether a call's arguments are an object or its JSON text. OpenAI's format always takes a text.
    """
    if format_ == "openai":
        if len(pair.chosen) > 1 or len(pair.rejected) > 1:
            return "more_than_one_message"
        return [_openai(pair, tools)]
    prompt, chosen, rejected = (
        [_message(one, arguments) for one in part] for part in (pair.prompt, pair.chosen, pair.rejected)
    )
    known = None if tools is None else jsontext.encode_in_order([_tool(one) for one in tools]).decode()
    more: Row = {} if origin is None else {name: getattr(origin, name) for name in Origin.__struct_fields__}
    if format_ == "trl":
        return [{"prompt": prompt, "chosen": chosen, "rejected": rejected, "tools": known, **more}]
    return [
        {"prompt": prompt, "completion": completion, "label": label, "tools": known, **more}
        for completion, label in ((chosen, True), (rejected, False))
    ]


def _message(message: ChatMessage, arguments: Arguments) -> Row:
    if message.role == "tool":
        return {"role": "tool", "name": message.tool, "content": message.text}
    said: Row = {"role": message.role}
    if message.text is not None:
        said["content"] = message.text
    if message.calls:
        said["tool_calls"] = [{"type": "function", "function": _function(one, arguments)} for one in message.calls]
    return said


def _function(call: ChatCall, arguments: Arguments) -> Row:
    written = call.arguments.decode()
    return {"name": call.tool, "arguments": written if arguments == "text" else jsontext.decode(written)}


def _tool(tool: Tool) -> Row:
    function: Row = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    return {"type": "function", "function": function}


def _openai(pair: Cut, tools: Sequence[Tool] | None) -> Row:
    given: Row = {"messages": [_openai_message(one) for one in pair.prompt]}
    if tools:
        given |= {"tools": [_tool(one) for one in tools], "parallel_tool_calls": True}
    return {
        "input": given,
        "preferred_output": [_openai_message(one) for one in pair.chosen],
        "non_preferred_output": [_openai_message(one) for one in pair.rejected],
    }


def _openai_message(message: ChatMessage) -> Row:
    """A message with ids of its own: `call_1` is the first call of the chat."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": f"call_{message.answers}", "content": message.text}
    said = _message(message, "text")
    if message.calls:
        said["tool_calls"] = [
            {"id": f"call_{call.number}", **written}
            for call, written in zip(message.calls, said["tool_calls"], strict=True)
        ]
    return said


# ---- identity --------------------------------------------------------------------------------------------------------


def key_of(value: Any) -> str:
    """A key that equal JSON values share: SHA-256 in hexadecimal."""
    return sha256(jsontext.encode(value)).hexdigest()


def texts_of(row: Row) -> tuple[Any, Any, Any]:
    """Prompt with tools, and the two ways to go on; of `kto` the one way with its label, then whether it is good."""
    if "input" in row:
        return row["input"], row["preferred_output"], row["non_preferred_output"]
    asked = [row["prompt"], row["tools"]]
    if "label" in row:
        return asked, row["completion"], row["label"]
    return asked, row["chosen"], row["rejected"]
