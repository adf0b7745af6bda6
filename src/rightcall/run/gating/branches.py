"""The run that a branch is held to: the newest one of it on record that finished and that its gates passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from rightcall.errors import ConfigError, Place
from rightcall.gate.rules import BRANCH
from rightcall.gate.words import listed
from rightcall.run.results.chosen import PROBE
from rightcall.run.results.facts import facts_for, graders_in
from rightcall.run.results.model import Origin
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from rightcall.run.results.model import RunResults
    from rightcall.store.records import GateRecord, RunEvent, RunRecord
    from rightcall.store.store import Store


class Green(Struct, frozen=True):
    """The run that was looked for; `None`, and why there is none."""

    run: str | None
    why: str = ""


def branch_of(name: str) -> str | None:
    """The branch that a baseline names as `branch:NAME`; `None` for other forms.

    Raises:
        ConfigError: `branch:` alone.
    """
    if not name.startswith(BRANCH):
        return None
    branch = name.removeprefix(BRANCH).strip()
    if not branch:
        raise ConfigError(f"`{BRANCH}` names no branch", hint=f"write {BRANCH}main")
    return branch


def runs_of(store: Store, branch: str, hide: Callable[[str], str] = str) -> list[tuple[RunRecord, RunEvent | None]]:
    """The runs of a branch, newest first, each with the last thing that became of it.

    Raises:
        ConfigError: there is none; the branches that there are, are named.
    """
    known = store.runs()
    found = _on(known, branch, hide)
    if not found:
        raise ConfigError(f"no run of branch `{branch}` is on record{_others(branch, known)}", place=Place("--branch"))
    return found


def _on(
    known: Sequence[tuple[RunRecord, RunEvent | None]], branch: str, hide: Callable[[str], str]
) -> list[tuple[RunRecord, RunEvent | None]]:
    return [one for one in known if Origin.of(one[0].facts).branch in (branch, hide(branch))]


def green_run(
    store: Store, branch: str | None, *, like: RunResults | None = None, hide: Callable[[str], str] = str,
    same: Callable[[RunRecord], bool] | None = None, any_answer: bool = False,
) -> Green:  # fmt: skip
    """The newest finished run whose newest answer on record is `PASS`.

    Args:
        store: the record.
        branch: only of this branch; `None`: of any.
        like: only runs that could be its baseline, and not itself.
        hide: takes secrets out of a name, as they were taken out of what is on record.
        same: whether a run is of the suite of `like`; `None`: of the same graders on the same case files.
        any_answer: whatever its gates said, or if nobody asked them.
    """
    known = [(run, event) for run, event in store.runs() if run.grader != PROBE]
    of = "" if branch is None else f" of branch `{branch}`"
    mine = known if branch is None else _on(known, branch, hide)
    if not mine:
        return Green(None, f"no run{of} is on record{_others(branch, known)}")
    whole = [run for run, event in mine if event is not None and event.status == "finished"]
    if not whole:
        return Green(None, f"no run{of} on record is finished: there {_are(len(mine))}, the newest is {mine[0][0].id}")
    if like is not None:
        same = same or _same_as(like)
        whole = [run for run in whole if same(run) and not _is(run, like)]
    if not whole:
        return Green(None, f"no other finished run{of} is of this suite: of the same graders, on the same case files")
    return Green(whole[0].id) if any_answer else _greenest(store, whole, of)


def _greenest(store: Store, runs: Sequence[RunRecord], of: str) -> Green:
    from rightcall.store.gate_answers import newest_answers

    answers = newest_answers(store.database, [run.id for run in runs])
    for run in runs:
        if (said := answers.get(run.id)) is not None and said.answer == "PASS":
            return Green(run.id)
    newest = runs[0].id
    return Green(None, f"the gates passed no finished run{of}: the newest, {newest}, {said_of(answers.get(newest))}")


def said_of(answer: GateRecord | None) -> str:
    """What the gates last said about a run, after its name."""
    return "was never gated" if answer is None else f"is {answer.answer}"


def _are(number: int) -> str:
    return "is one" if number == 1 else f"are {number}"


def _others(branch: str | None, known: Sequence[tuple[RunRecord, RunEvent | None]]) -> str:
    """The branches that there are instead."""
    if branch is None:
        return ""
    names = list(dict.fromkeys(found for run, _ in known if (found := Origin.of(run.facts).branch)))
    near = nearest(branch, names)
    if near:
        return f"; did you mean `{near}`?"
    return f"; there are runs of {listed(names)}" if names else "; no run on record says its branch"


def _same_as(like: RunResults) -> Callable[[RunRecord], bool]:
    """Whether a run is of the suite of results from a file: they share a grader, on the same case files each."""
    wanted = {name: files_of(part.facts) for name, part in like.graders.items()}

    def same(run: RunRecord) -> bool:
        both = [name for name in graders_in(run) if name in wanted]
        return bool(both) and all(files_of(facts_for(run, name)) == wanted[name] for name in both)

    return same


def files_of(facts: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The names of the case files of a grader, and the tags of the cases that were chosen from them."""
    files = sorted(str(file.get("file")) for file in facts.get("cases") or () if isinstance(file, dict))
    return files, sorted(map(str, facts.get("tags") or ()))


def _is(run: RunRecord, like: RunResults) -> bool:
    return (run.id, run.started_at) == (like.id, like.started_at)
