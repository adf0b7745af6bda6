"""`rightcall signoff`: a named person decides on what is CRITICAL, with a reason, once the case was read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from rightcall.cli.people import AsFlag
from rightcall.cli.stores import ConfigFlag, JsonFlag, NoColor, StoreFlag, print_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from rich.console import Console

    from rightcall.run.people.reviewing import Desk
    from rightcall.run.people.signing import Signed, ToSign

Flag = Parameter(negative="", show_default=False)
_UNTYPED = "terminal, --yes-i-read-it"
"""Where a sign-off comes from whose trace id was not typed by a person."""


def signoff(
    item: Annotated[str, Parameter(help="The item: rv-… or the first 4 or more of its digits.")],
    *,
    confirm: Annotated[bool, Flag, Parameter(help="The misuse stands: the case counts as a failure.")] = False,
    dismiss: Annotated[bool, Flag, Parameter(help="The severity is withdrawn.")] = False,
    return_: Annotated[
        bool, Flag, Parameter(name="--return", help="It goes back to the queue for one more answer, which decides.")
    ] = False,
    reason: Annotated[str | None, Parameter(help="Why, in at least 15 characters.")] = None,
    yes_i_read_it: Annotated[
        bool, Flag, Parameter(help="In place of typing the trace's id, where nobody types.")
    ] = False,
    as_: AsFlag = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Sign for a CRITICAL item: confirm or dismiss it, or send it back. Asks for what the flags do not say.

    The decision is kept in the chained log under your name, and can only be followed by another one. Leaves with 0,
    or 2 if nothing was signed.
    """
    from rightcall.cli.desks import desk
    from rightcall.cli.keyboard import is_terminal
    from rightcall.cli.screen import screen

    chosen = [name for name, is_on in (("confirm", confirm), ("dismiss", dismiss), ("return", return_)) if is_on]
    asks = is_terminal() and not json
    _check(chosen, reason, is_read=yes_i_read_it, asks=asks)
    with desk(as_, store, config) as mine:
        found = mine.to_sign(item)
        if asks and not yes_i_read_it:
            return _at_the_keyboard(mine, screen(no_color=no_color), found, chosen, reason)
        assert reason is not None  # noqa: S101 - checked above
        mine.client = _UNTYPED
        return _decide(mine, found, chosen[0], reason, found.expected, json=json)


def _check(chosen: list[str], reason: str | None, *, is_read: bool, asks: bool) -> None:
    """Refuse what cannot be carried out.

    Raises:
        ConfigError: two decisions, or something missing where nobody can be asked.
    """
    from rightcall.errors import ConfigError

    if len(chosen) > 1:
        raise ConfigError(f"--{chosen[0]} and --{chosen[1]} are two decisions", hint="give one")
    needed = {"--confirm, --dismiss or --return": bool(chosen), "--reason": reason is not None}
    if not asks:
        needed["--yes-i-read-it"] = is_read or chosen == ["return"]
    missing = [flag for flag, is_there in needed.items() if not is_there]
    if missing and (is_read or not asks):
        raise ConfigError(
            f"nobody can be asked here, and these are missing: {'; '.join(missing)}", hint="nothing was signed"
        )


def _decide(mine: Desk, found: ToSign, decision: str, reason: str, typed: str, *, json: bool = False) -> int:
    from rightcall.report.review.said import signed_text

    if decision == "return":
        mine.send_back(found.item, reason)
        if json:
            print_json({"item": found.item, "outcome": "returned", "who": mine.who})
        else:
            print("returned: it waits for one more answer, which decides")
        return 0
    outcome: Literal["confirmed", "dismissed"] = "confirmed" if decision == "confirm" else "dismissed"
    signed: Signed = mine.sign(found.item, outcome, reason, typed)
    if json:
        print_json(signed)
    else:
        print(signed_text(signed))
    return 0


def _at_the_keyboard(
    mine: Desk, console: Console, found: ToSign, chosen: list[str], reason: str | None
) -> int:  # fmt: skip
    """Show the case, ask for what the flags do not say, and let the trace's id be typed."""
    from rightcall.cli.keyboard import Keyboard
    from rightcall.cli.paging import page
    from rightcall.report.review.said import print_to_sign

    keys = Keyboard(lambda: None, 3600.0)
    try:
        form = mine.form(mine.store.queue.item(found.item, mine.clock()))
        page(console, keys, lambda: print_to_sign(console, found, form))
        decision = chosen[0] if chosen else _ask_decision(keys.line)
        why = reason if reason is not None else _ask_reason(keys.line, decision)
        typed = "" if decision == "return" else _ask_id(keys.line, found.expected)
        return _decide(mine, found, decision, why, typed)
    except (EOFError, KeyboardInterrupt):
        print("\nnothing was signed\nexit 130", file=sys.stderr)
        return 130


def _ask_decision(line: Callable[[str], str]) -> str:
    while True:
        typed = line("decision [confirm/dismiss/return]: ").lower()
        if typed in {"confirm", "dismiss", "return"}:
            return typed
        print("  type the whole word")


def _ask_reason(line: Callable[[str], str], decision: str) -> str:
    from rightcall.review.signoffs import SHORTEST

    least = 1 if decision == "return" else SHORTEST
    while True:
        typed = line(f"reason (at least {least} character{'s' if least > 1 else ''}): ")
        if len(typed) >= least:
            return typed
        print(f"  {len(typed)} characters are too few")


def _ask_id(line: Callable[[str], str], expected: str) -> str:
    from rightcall.report.plain import visible

    while True:
        typed = line(f"type the trace id to sign ({visible(expected)}): ")
        if typed == expected:
            return typed
        print("  that is not it; Ctrl-C leaves without signing")
