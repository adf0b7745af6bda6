"""What a gate said, as lists and pages of the record show it: a mark and a word, who asked, when, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from rich.padding import Padding
from rich.text import Text

from rightcall.gate.decision import Against
from rightcall.report.gate_lines import STYLES, against_words, print_gate
from rightcall.report.plain import moment, shorten, visible
from rightcall.run.gating.keeping import report_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from rightcall.run.results.model import Origin
    from rightcall.store.records import GateRecord

MARKS = {
    "PASS": "✓ PASS", "FAIL": "✗ FAIL", "INCONCLUSIVE": "◐ INCONCL", "NOT_COMPARABLE": "◐ NOT COMP", "WAIT": "⧗ WAIT",
}  # fmt: skip
"""An answer in a column: the mark says it too, so that colour is never the only sign."""

_OLD = {name: f"{mark.replace('INCONCL', 'INC.').replace('NOT COMP', 'N.C.')} old" for name, mark in MARKS.items()}
"""The same where more was recorded after it: asked again, the gate may say something else."""

WIDTH = max(map(len, (*MARKS.values(), *_OLD.values())))
_CAUSES = 12
_LONGEST = 300
_INDENT = 7


def mark_of(answer: GateRecord | None, *, overtaken: bool) -> str:
    """What stands in the column `gate`; a dash where nobody asked."""
    if answer is None:
        return "–"
    return _OLD[answer.answer] if overtaken else MARKS[answer.answer]


def answer_facts(answer: GateRecord | None, *, overtaken: bool) -> dict[str, Any] | None:
    """The same for programs, as a list has it: who asked, when, the answer, whether more was recorded since."""
    if answer is None:
        return None
    return {
        "answer": answer.answer, "exit_code": answer.exit_code, "at": answer.at, "asked_by": answer.asked_by,
        "overtaken": overtaken,
    }  # fmt: skip


def print_standing(console: Console, answer: GateRecord | None, origin: Origin, *, overtaken: bool) -> None:
    """Where a run was made, and what its gates last said."""
    if str(origin):
        where = f"branch {origin.branch}" if origin.branch else "no branch"
        at = f" at {origin.commit}" if origin.commit else ""
        console.print(Text(visible(f"made on {where}{at}")), soft_wrap=True)
    if answer is None:
        console.print(Text("no gate was asked about this run: rightcall gate asks", "dim"))
        return
    line = f"gate {MARKS[answer.answer]} · asked by `{answer.asked_by}` on {moment(answer.at)} UTC"
    console.print(Text(visible(line), STYLES[answer.answer]))
    for cause in answer.causes[:_CAUSES]:
        _below(console, cause)
    if len(answer.causes) > _CAUSES:
        console.print(Text(visible(f"  … {len(answer.causes) - _CAUSES} more: rightcall gate {answer.run_id}"), "dim"))
    if overtaken:
        line = f"  more was recorded since, such as a sign-off: rightcall gate {answer.run_id} asks again"
        console.print(Text(visible(line), "yellow"), soft_wrap=True)


def print_answer(console: Console, answer: GateRecord) -> None:
    """One answer as it was given: who asked and when, then what the gate printed, without the cases that turned."""
    line = f"{answer.run_id} · gate {MARKS[answer.answer]} · asked by `{answer.asked_by}` on {moment(answer.at)} UTC"
    console.print(Text(visible(line), STYLES[answer.answer]), soft_wrap=True)
    print_gate(console, report_of(answer))


def print_answers(console: Console, found: Iterable[tuple[int, str, GateRecord]]) -> None:
    """Every answer on record, oldest first, a line each; what was compared with, and why not, stand below."""
    some = list(found)
    if not some:
        console.print(Text("no gate was asked: rightcall gate, or rightcall run, asks"))
        return
    console.print(Text(f"{'entry':<7}{'when':<18}{'run':<14}{'asked by':<10}{'gate':<{WIDTH}}  rules", "bold"))
    for seq, _, one in some:
        line = f"{seq:<7}{moment(one.at):<18}{one.run_id:<14}{one.asked_by:<10}{MARKS[one.answer]:<{WIDTH}}"
        console.print(Text(visible(f"{line}  {one.rules_sha256[:8]}"), STYLES[one.answer]))
        against = [f"against {against_words(msgspec.convert(each, Against))}" for each in one.baselines]
        for text in (*against, *one.causes[:1]):
            _below(console, text, _INDENT)


def _below(console: Console, text: str, indent: int = 2) -> None:
    """What stands below a first line."""
    console.print(Padding(Text(shorten(visible(text), _LONGEST), "dim"), (0, 0, 0, indent), expand=False))
