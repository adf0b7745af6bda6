"""`rightcall log`: the audit log of everything that was asked, answered and concluded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from rightcall.cli.stores import (
    ConfigFlag,
    JsonFlag,
    NoColor,
    StoreFlag,
    check_limit,
    opened,
    print_json,
    settings_for,
)

app = App(name="log")


@app.command(name="list")
def list_(
    *,
    run: Annotated[str | None, Parameter(help="Only of this run.")] = None,
    judge: Annotated[str | None, Parameter(help="Only of this judge.")] = None,
    case: Annotated[str | None, Parameter(help="Only about this case.")] = None,
    status: Annotated[str | None, Parameter(help="Only with this status: ok, JUDGE_NOT_JSON, …")] = None,
    limit: Annotated[int, Parameter(help="At most so many, the last ones.")] = 50,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """List the exchanges with judges: entry, time, grader, case, judge, status, latency, tokens, what was read."""
    from rightcall.cli.screen import screen
    from rightcall.report.records import print_attempts
    from rightcall.run.log.finding import last_attempts

    check_limit(limit)
    with opened(store, config) as record:
        if run is not None:
            record.run(run)
        found = last_attempts(record, limit, run_id=run, judge=judge, case_id=case, status=status)
        if json:
            print_json({"attempts": [{"seq": seq, "digest": digest, "attempt": one} for seq, digest, one in found]})
        else:
            print_attempts(screen(no_color=no_color), found, record.counts())
    return 0


@app.command
def gates(
    *,
    run: Annotated[str | None, Parameter(help="Only about this run.")] = None,
    limit: Annotated[int, Parameter(help="At most so many, the last ones.")] = 50,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """List what gates said: entry, when, run, who asked, the answer, the rules, what was compared with, why not."""
    from collections import deque

    from rightcall.cli.screen import screen
    from rightcall.report.gate_answer import print_answers
    from rightcall.store.gate_answers import gate_answers

    check_limit(limit)
    with opened(store, config) as record:
        if run is not None:
            record.run(run)
        found = deque(gate_answers(record.database, run), maxlen=limit)
        if json:
            print_json({"gates": [{"seq": seq, "digest": digest, "gate": one} for seq, digest, one in found]})
        else:
            print_answers(screen(no_color=no_color), found)
    return 0


@app.command
def show(
    entry: Annotated[str, Parameter(help="Number of the log entry, or the first characters of its digest.")],
    *,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Show one entry in full: an exchange (question, raw reply, problems, verdict, parameters), or what a gate said."""
    from rightcall.cli.screen import screen
    from rightcall.report.gate_answer import print_answer
    from rightcall.report.records import print_attempt
    from rightcall.run.log.finding import GateEntry, whole_entry

    with opened(store, config) as record:
        found = whole_entry(record, entry)
        if json:
            print_json(found)
        elif isinstance(found, GateEntry):
            print_answer(screen(no_color=no_color), found.gate)
        else:
            print_attempt(screen(no_color=no_color), found)
    return 0


@app.command
def verify(
    bundle: Annotated[
        Path | None, Parameter(help="A bundle to check in place of the store: a folder, or a .zip file.")
    ] = None,
    *,
    head: Annotated[
        str | None, Parameter(help="The head that you kept elsewhere: proves that nothing was cut off.")
    ] = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
) -> int:
    """Recompute every hash of the record, or of a bundle: nothing changed, removed, moved or inserted.

    A bundle is checked without a store, settings or a network. Leaves with 5 if anything is not as it was written.
    """
    if bundle is not None:
        return _verify_bundle(bundle, head, json=json, given=[store, config])
    from rightcall.report.summary import counted
    from rightcall.store.verify import verify as check

    with opened(store, config) as record:
        found = check(record, expected_head=head)
        if json:
            print_json(found)
        else:
            kinds = ", ".join(f"{n} {kind}" for kind, n in found.records.items() if n)
            faults = len(found.faults) + found.untold
            state = "chain intact" if found.intact else f"BROKEN: {counted(faults, 'fault')}"
            print(f"{found.entries} entries · {state} · prompts {found.prompts} · judges {found.judges}")
            print(f"{kinds} · {found.bodies} bodies")
            print(f"head {found.head.hash}")
            for fault in found.faults[:20]:
                print(f"  entry {fault.seq}: {fault.message}" if fault.seq is not None else f"  {fault.message}")
    if not found.intact:
        print("the record is not what was written: restore it from a backup", file=sys.stderr)
    return 0 if found.intact else 5


def _verify_bundle(bundle: Path, head: str | None, *, json: bool, given: list[object]) -> int:
    """Check a bundle.

    Raises:
        ConfigError: flags that are about a store.
    """
    from rightcall.errors import ConfigError
    from rightcall.report.bundle.lines import lines
    from rightcall.report.plain import visible
    from rightcall.run.bundle.check import check_bundle

    if any(one is not None for one in given):
        raise ConfigError("a bundle is checked without a store", hint="leave --store and --config out")
    found = check_bundle(bundle, head)
    if json:
        print_json(found)
    else:
        for line in lines(found):
            print(visible(line))
    if not found.intact:
        print(visible(f"the bundle is not what was exported; first: {found.faults[0]}"), file=sys.stderr)
    return 0 if found.intact else 5


@app.command
def replay(
    entry: Annotated[str, Parameter(help="Number of the log entry, or the first characters of its digest.")],
    *,
    judge: Annotated[str | None, Parameter(help="Ask this judge instead of the one that was asked.")] = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Ask one recorded question again, and show how the new answer differs. The new exchange is recorded too."""
    from rightcall.cli.screen import screen
    from rightcall.report.records import print_replay
    from rightcall.run.log.replay import replay as ask_again

    found = ask_again(settings_for(store, config), entry, judge)
    if json:
        print_json(found)
    else:
        print_replay(screen(no_color=no_color), found)
    return 0 if found.status == "ok" else 5
