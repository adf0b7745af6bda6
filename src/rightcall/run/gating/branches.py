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
    from collections.abc import Callable, Iterable, Mapping, Sequence
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
    any_answer: bool = False,
) -> Green:  # fmt: skip
    """The newest finished run whose newest answer on record is `PASS`, where nothing that may change it came after it.

    Args:
        store: the record.
        branch: only of this branch; `None`: of any.
        like: only runs that could be its baseline (see `suits`), and not itself; those with all its graders first.
        hide: takes secrets out of a name, as they were taken out of what is on record.
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
        whole = all_graders_first([run for run in whole if suits(run, like) and not is_same(run, like)], like)
    if not whole:
        return Green(None, f"no other finished run{of} is of this suite: {SUITS}")
    return Green(whole[0].id) if any_answer else _greenest(store, whole, of)


def _greenest(store: Store, runs: Sequence[RunRecord], of: str) -> Green:
    from rightcall.store.gate_answers import newest_answers, overtaken

    answers = newest_answers(store.database, [run.id for run in runs])
    passed = [run.id for run in runs if (said := answers.get(run.id)) is not None and said.answer == "PASS"]
    old = overtaken(store.database, passed)
    if (found := next((name for name in passed if name not in old), None)) is not None:
        return Green(found)
    newest = passed[0] if passed else max(runs, key=lambda run: run.started_at).id
    standing = said_of(answers.get(newest), overtaken=newest in old)
    return Green(None, f"the gates passed no finished run{of}: the newest, {newest}, {standing}")


def said_of(answer: GateRecord | None, *, overtaken: bool) -> str:
    """What the gates last said about a run, after its name."""
    if answer is None:
        return "was never gated"
    if overtaken:
        again = f"rightcall gate {answer.run_id} asks again"
        return f"was {answer.answer}, but more was recorded since, such as a sign-off ({again})"
    return f"is {answer.answer}"


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


SUITS = "of the same graders, on the same case files, and no smaller part of them"
"""What `suits` asks, in words."""


def suits(run: RunRecord, like: RunResults) -> bool:
    """Whether a run could be the baseline of another: they share a grader, on the same case files each.

    A part of the cases (`--tag`, `--trace`, `--limit`, `--sample`) is a baseline of that part alone: it says nothing
    about the others, and a run of two cases that went well would else hide that a hundred others went wrong.
    """
    found = {name: facts_for(run, name) for name in graders_in(run) if name in like.graders}
    return bool(found) and all(_suits(facts, like.graders[name].facts) for name, facts in found.items())


def _suits(facts: Mapping[str, Any], like: Mapping[str, Any]) -> bool:
    part = _part(facts)
    return _files(facts) == _files(like) and (part is None or part == _part(like))


def all_graders_first(runs: Iterable[RunRecord], like: RunResults) -> list[RunRecord]:
    """Runs that have every grader of another before those that have only some, else as they are."""
    return sorted(runs, key=lambda run: not like.graders.keys() <= set(graders_in(run)))


def is_part(results: RunResults) -> bool:
    """Whether some of the cases were left out by choice."""
    return any(_part(one.facts) is not None for one in results.graders.values())


def _files(facts: Mapping[str, Any]) -> list[str]:
    return sorted(str(file.get("file")) for file in facts.get("cases") or () if isinstance(file, dict))


def _part(facts: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """What was chosen from the cases; `None` where nothing was left out."""
    tags, sample = sorted(map(str, facts.get("tags") or ())), facts.get("sample")
    found = (tags, facts.get("only"), facts.get("limit"), sample, None if sample is None else facts.get("seed"))
    return found if tags or any(one is not None for one in found[1:]) else None


def is_same(run: RunRecord, like: RunResults) -> bool:
    """Whether they are one run: by id and start, since two stores may each have a first run of the same day."""
    return (run.id, run.started_at) == (like.id, like.started_at)
