"""From settings and flags to a run of several graders: which ones, and everything that each of them needs.

All of it is settled before anything is asked or written: files, prompts, judges, credentials, limits.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, get_args

from rightcall.errors import ConfigError, NoDataError, Place, ProviderError
from rightcall.run.golden.keeping import facts_of as golden_facts
from rightcall.run.graders.setup import (
    file_facts,
    inputs_facts,
    plan_of,
    set_up_rubric,
    set_up_selection,
)
from rightcall.run.graders.step_source import case_files
from rightcall.run.inputs.branch import source_facts
from rightcall.run.inputs.catalog_record import KEY as CATALOG
from rightcall.run.inputs.hiding import without_secrets
from rightcall.run.inputs.opening import make_key, open_store, redactor_of
from rightcall.run.inputs.prepare import names_of
from rightcall.run.interpretation.setup import set_up_interpretation
from rightcall.run.judging.budget import parse_budget
from rightcall.run.judging.facts import refuse_nothing
from rightcall.run.judging.judges import Panel, at_the_door, cleaner_of
from rightcall.run.judging.resuming import refuse_other_grader
from rightcall.run.judging.run import facts_of as judged_facts
from rightcall.run.preference.setup import PairFlags, set_up_preference
from rightcall.run.results.facts import SUITE, graders_in
from rightcall.settings.model import GraderName
from rightcall.trace.explain import nearest
from rightcall.trace.sources.dialect import Skip
from rightcall.trace.sources.reading import items_of, open_traces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rightcall.run.graders.setup import Flags, Setup
    from rightcall.run.inputs.plan import Plan
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.run.judging.subject import Judge
    from rightcall.settings.load import Loaded
    from rightcall.store.records import RunRecord

GRADERS: tuple[str, ...] = get_args(GraderName)
"""The graders in the order in which they run: what code decides first, what rests on most traces last."""


@dataclass
class GoldenPart:
    """`golden` as a part of a suite."""

    plan: Plan
    cleaner: Cleaner
    facts: dict[str, Any]
    grader: str = "golden"

    @property
    def inputs(self) -> list[Path]:
        """Every file that is read."""
        return [*self.plan.traces, *case_files(self.plan)]

    def close(self) -> None:
        """Let go of open files."""
        self.plan.cases.close()


@dataclass
class JudgedPart:
    """A judged grader as a part of a suite; `judges` stand at their doors once the run begins."""

    setup: Setup
    judges: list[Judge] = field(default_factory=list)

    @property
    def grader(self) -> str:
        """What the grader is called: one of the user's own by its prompt."""
        return self.setup.work.grader

    @property
    def cleaner(self) -> Cleaner:
        """Takes secrets out."""
        return self.setup.cleaner

    @property
    def inputs(self) -> list[Path]:
        """Every file that is read."""
        return self.setup.inputs

    @property
    def facts(self) -> dict[str, Any]:
        """What is judged, how, by whom."""
        return judged_facts(self.setup.work, self.judges, self.setup.asking, self.setup.cleaner)

    def close(self) -> None:
        """Let go of open files."""
        self.setup.close()


Part = GoldenPart | JudgedPart


@dataclass
class Suite:
    """A run of several graders that is ready to begin. Use it as a context manager: files of cases stay open.

    Attributes:
        loaded: the settings.
        parts: the graders, in the order in which they run.
        flags: how judges are asked.
        resume: the run to go on with; `None` for a new one.
    """

    loaded: Loaded
    parts: list[Part]
    flags: Flags
    resume: RunRecord | None = None

    def __enter__(self) -> Self:
        """The suite itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of open files."""
        self.close()

    def close(self) -> None:
        """Let go of open files."""
        for part in self.parts:
            part.close()

    @property
    def judged(self) -> list[Setup]:
        """The judged graders."""
        return [part.setup for part in self.parts if isinstance(part, JudgedPart)]

    @property
    def inputs(self) -> set[Path]:
        """Every file that is read."""
        return {path for part in self.parts for path in part.inputs}

    def facts(self) -> dict[str, Any]:
        """The facts of the run: those of each grader, their order, and the catalog that all share."""
        graders = {part.grader: part.facts for part in self.parts}
        shared = next(iter(graders.values()))
        return {
            "graders": graders,
            "order": list(graders),
            "settings": None if self.loaded.file is None else file_facts(self.loaded.file),
            **{key: shared[key] for key in ("tools", CATALOG)},
            "source": source_facts(self.loaded, os.environ),
        }

    def ready(self) -> None:
        """Bring every judge to its door, and look for the first thing that each grader can judge.

        Raises:
            ProviderError, ConfigError: a judge that cannot be used. NoDataError: a grader with nothing to judge.
        """
        for part in self.parts:
            with without_secrets(part.cleaner.redactor):
                if isinstance(part, JudgedPart):
                    setup = part.setup
                    part.judges = at_the_door(setup.panel, offline=setup.offline, jobs=setup.asking.terms.jobs)
                try:
                    _look(part)
                except NoDataError as error:
                    message = error.message
                    raise NoDataError(f"{part.grader}: {message}", place=error.place, hint=error.hint) from None


# ---- which graders ---------------------------------------------------------------------------------------------------


def graders_of(loaded: Loaded, named: Sequence[str], before: RunRecord | None = None) -> list[str]:
    """The graders of a run, in the order in which they run.

    Those that are named; else those of the run to go on with; else `graders` of the settings; else by what the settings
    hold: `golden` and `selection` where there are cases, every other grader whose table is written, and `preference`
    where agents are named.

    Raises:
        ConfigError: an unknown grader, or none at all.
    """
    for name in named:
        if name not in GRADERS:
            near = nearest(name, GRADERS)
            known = f"did you mean `{near}`?" if near else f"known: {', '.join(GRADERS)}"
            raise ConfigError(f"there is no grader `{name}`", place=Place("--grader"), hint=known)
    there = [] if before is None else [name if name in GRADERS else "rubric" for name in graders_in(before)]
    chosen = set(named or there or loaded.settings.graders or _usual(loaded))
    if not chosen:
        raise ConfigError(
            "no grader to run: the settings name no cases, no agents and no table of a grader",
            place=Place(None if loaded.file is None else str(loaded.file)),
            hint='write cases = "…", or graders = ["rubric"], or name one with --grader',
        )  # fmt: skip
    return [name for name in GRADERS if name in chosen]


def _usual(loaded: Loaded) -> set[str]:
    has_cases = bool(names_of(loaded.settings.cases))
    found = {name for name in ("selection", "rubric", "interpretation") if _is_written(loaded, name)}
    found |= {"golden", "selection"} if has_cases else set()
    return found | ({"preference"} if loaded.settings.preference.agents else set())


def _is_written(loaded: Loaded, table: str) -> bool:
    """Whether a table stands in the settings, be it empty, or a flag or the environment says something of it."""
    return any(key == table or key.startswith(f"{table}.") for key in loaded.origins)


# ---- all that they need ----------------------------------------------------------------------------------------------


def set_up_suite(loaded: Loaded, flags: Flags, named: Sequence[str] = ()) -> Suite:
    """Everything that a run of several graders needs.

    Args:
        loaded: the settings.
        flags: what every judged command takes. One budget holds for all graders together.
        named: the graders that the command line names.

    Raises:
        ConfigError, CaseError, NoDataError, ProviderError, StoreError: whatever is wrong, before anything is judged.
    """
    before = None
    if flags.resume is not None:
        with open_store(loaded, create=False) as store:
            before = store.run(flags.resume)
        refuse_other_grader(before, SUITE)
    names = graders_of(loaded, named, before)
    _refuse_unclear(flags, names)
    make_key(loaded)  # whatever is redacted from here on must be the same for all graders
    flags = replace(flags, keeps=True)
    budget = parse_budget(flags.budget)
    suite = Suite(loaded, [], flags, before)
    with ExitStack() as undo:
        for name in names:
            part = _MAKERS[name](loaded, flags)
            undo.callback(part.close)
            if isinstance(part, JudgedPart):
                part.setup.asking = replace(part.setup.asking, budget=budget, source=None)
            if part.grader in (one.grader for one in suite.parts):
                raise ConfigError(f"two graders are called `{part.grader}`", hint="give the prompt another `grader`")
            suite.parts.append(part)
        undo.pop_all()
    return suite


def _refuse_unclear(flags: Flags, names: list[str]) -> None:
    """Refuse flags that can only be meant for one grader.

    Raises:
        ConfigError: naming what to leave out.
    """
    if flags.prompt is not None and len([name for name in names if name != "golden"]) > 1:
        raise ConfigError(
            "a prompt is one grader's", place=Place("--prompt"), hint="set `prompt` in its table, or name one --grader"
        )
    if flags.only is not None and "preference" in names:
        raise ConfigError(
            "`preference` compares cases, not single traces", place=Place("--trace"),
            hint="name the other graders with --grader",
        )  # fmt: skip


def _golden(loaded: Loaded, flags: Flags) -> GoldenPart:
    plan = replace(plan_of(loaded, flags), keeps=True, redactor=redactor_of(loaded))
    cleaner = cleaner_of(plan.redactor, Panel())
    inputs = [file_facts(path) for path in (*plan.traces, *case_files(plan))]
    facts = {**golden_facts(plan), **inputs_facts(inputs, loaded, plan.policy, flags, inputs[len(plan.traces) :])}
    return GoldenPart(plan, cleaner, cleaner.value(facts))


def _selection(loaded: Loaded, flags: Flags) -> JudgedPart:
    return JudgedPart(set_up_selection(loaded, (), flags))


def _rubric(loaded: Loaded, flags: Flags) -> JudgedPart:
    return _with_judge(set_up_rubric(loaded, flags), "rubric")


def _interpretation(loaded: Loaded, flags: Flags) -> JudgedPart:
    return _with_judge(set_up_interpretation(loaded, flags), "interpretation")


def _preference(loaded: Loaded, flags: Flags) -> JudgedPart:
    setup = set_up_preference(loaded, flags, PairFlags())
    return JudgedPart(setup) if setup.skipped is None else _with_judge(setup, "preference")


def _with_judge(setup: Setup, name: str) -> JudgedPart:
    """A grader that nobody but a judge can do.

    Raises:
        ProviderError: there is none.
    """
    if not setup.panel.specs:
        setup.close()
        why = (setup.skipped or "--judge none").removeprefix("judged graders were skipped: ")
        raise ProviderError(
            f"`{name}` needs a judge, and none was found: {why}", code="JUDGE_AUTH",
            hint="name one with --judge, or in [judges.NAME], or leave the grader out with --grader",
        )  # fmt: skip
    return JudgedPart(setup)


_MAKERS: dict[str, Callable[[Loaded, Flags], Part]] = {
    "golden": _golden, "selection": _selection, "rubric": _rubric, "interpretation": _interpretation,
    "preference": _preference,
}  # fmt: skip


# ---- is there anything to judge? -------------------------------------------------------------------------------------


def _look(part: Part) -> None:
    """Look for the first thing that a grader can judge.

    Raises:
        ConfigError: a filter that selects nothing. NoDataError: there is nothing.
    """
    if isinstance(part, GoldenPart):
        _look_for_trace(part.plan)
        return
    work = part.setup.work
    items = work.items()
    if next(items, None) is None:
        refuse_nothing(work, work.facts())


def _look_for_trace(plan: Plan) -> None:
    skipped = False
    for path in plan.traces:
        for item, _place in items_of([open_traces(path, plan.dialect)]):
            if isinstance(item, Skip):
                skipped = True
            elif plan.takes(item):
                return
    plan.refuse_nothing()
    if not skipped:
        raise NoDataError("no trace in these files: nothing to grade")
