"""What the check of a bundle found, for the terminal: everything that was checked, with its number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.report.summary import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.run.bundle.check import BundleVerification

SHOWN = 20
"""How many faults are shown."""


def lines(found: BundleVerification) -> Iterator[str]:
    """What was checked, and what is wrong, the first fault first."""
    faults = len(found.faults) + found.untold
    state = "intact" if found.intact else f"BROKEN: {counted(faults, 'fault')}"
    graders = ", ".join(found.graders)
    run = f"run {found.run} ({graders}, {found.status}) · " if found.run else ""
    yield f"{found.bundle} · {run}{state}"
    if found.rightcall:
        yield f"made by rightcall {found.rightcall}"
    if found.run and not found.finished:
        yield "the run is not finished: what is here is a part of it"
    kinds = ", ".join(f"{number} {kind}" for kind, number in found.records.items())
    yield f"files    {found.files}, {found.size} bytes, each with its hash"
    yield f"log      {found.entries} {'entry' if found.entries == 1 else 'entries'}, head {found.head.hash}"
    yield f"records  {kinds or 'none'}"
    yield f"bodies   {found.bodies}"
    yield f"results  {found.results}, as their verdicts say; {counted(found.figures, 'figure')} of the run recounted"
    unknown = f" ({found.prompts_unknown} without a text)" if found.prompts_unknown else ""
    yield f"people   {counted(found.answers, 'answer')}, {counted(found.signoffs, 'sign-off')}, in the chain"
    yield f"gates    {_gates(found)}"
    yield f"judges   {found.judges}, prompts {found.prompts}{unknown}"
    yield "not recomputed: reports, gate.json, judges.json, settings, policy"
    yield f"SHA256SUMS {found.digest or 'missing'}"
    for fault in found.faults[:SHOWN]:
        yield f"  {fault}"
    if faults > SHOWN:
        yield f"  … {faults - SHOWN} more"


def _gates(found: BundleVerification) -> str:
    """What gates said as the log has it, and beside it what they said when the bundle was made."""
    said = f"{counted(found.gates, 'answer')} in the chain" + (f", the newest {found.gate}" if found.gate else "")
    if found.gate_file is None:
        return said
    differs = "" if found.gate in (None, found.gate_file) else ": NOT the newest of the chain"
    return f"{said} · gate.json, asked when the bundle was made: {found.gate_file}{differs}"
