"""Where the steps of `selection` come from: step files, or traces with goldens; and which tools are new in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from rightcall.case.steps import iter_steps
from rightcall.errors import TraceError
from rightcall.grade.steps import derive, obstacle
from rightcall.judge.views import without_identity
from rightcall.run.golden.joining import Joining
from rightcall.run.graders.selection import NoStep, tools_of
from rightcall.run.inputs.opening import may_be_there, open_store
from rightcall.run.inputs.plan import expand, refuse_unknown_tags
from rightcall.run.inputs.prepare import names_of, prepare
from rightcall.run.judging.resuming import RECKONED
from rightcall.run.results.facts import facts_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rightcall.case.step import Step
    from rightcall.errors import Place
    from rightcall.grade.golden import Options
    from rightcall.run.graders.selection import SelectionWork
    from rightcall.run.inputs.plan import Plan
    from rightcall.settings.load import Loaded


@dataclass(frozen=True)
class StepSource:
    """Where steps come from: the steps, the files, the reading reports (filled meanwhile), and what to close.

    `cases` are those of the files that hold cases, where steps are derived.
    """

    steps: Callable[[], Iterator[tuple[Step | NoStep, Place]]]
    inputs: list[Path]
    reports: dict[str, Any]
    close: Callable[[], None]
    cases: list[Path] = field(default_factory=list)


def step_source(
    loaded: Loaded, files: tuple[str, ...], *, policy: Path | None = None, only: str | None = None,
    limit: int | None = None, tags: tuple[str, ...] = (), strict: bool = False, with_history: bool = False,
) -> StepSource:  # fmt: skip
    """The steps of a run.

    Where the settings or flags name cases, the files are traces and the steps are derived.

    Args:
        loaded: the settings.
        files: step files; those of the settings if there are none.
        policy: a policy file, in place of the settings' policy.
        only: only the step (derived: the steps of the trace) of this id.
        limit: at most so many steps (derived: traces).
        tags: only steps (derived: those of cases) with one of these tags.
        strict: a trace that cannot be read stops the run.
        with_history: whether derived steps carry what the agent knew, which only a judge needs.

    Raises:
        ConfigError, CaseError, NoDataError: files that cannot be used.
    """
    if names_of(loaded.settings.cases):
        plan = prepare(loaded, policy=policy, only=only, limit=limit, tags=tags, strict=strict)
        joining = Joining(plan)
        return StepSource(
            lambda: _derived(joining, plan.options, with_history=with_history),
            [*plan.traces, *case_files(plan)],
            joining.reports,
            plan.cases.close,
            case_files(plan),
        )
    paths = expand(files or names_of(loaded.settings.traces), Path() if files else loaded.folder, "step")
    if tags:
        refuse_unknown_tags(tags, (tag for path in paths for step, _ in iter_steps(path) for tag in step.tags))
    return StepSource(lambda: _written(paths, only, limit, tags), paths, {}, lambda: None)


def _written(
    paths: list[Path], only: str | None, limit: int | None, tags: tuple[str, ...]
) -> Iterator[tuple[Step | NoStep, Place]]:
    count = 0
    for path in paths:
        for step, place in iter_steps(path):
            if limit is not None and count >= limit:
                return
            if only not in (None, step.id) or (tags and set(tags).isdisjoint(step.tags)):
                continue
            count += 1
            yield step, place


def _derived(joining: Joining, options: Options, *, with_history: bool) -> Iterator[tuple[Step | NoStep, Place]]:
    """The steps of every trace with a golden; a trace or a case that gives none is named, not dropped."""
    seen = set()
    for trace, case, _catalog, golden, place in joining.joined():
        if case is None:
            reason = "no_case" if trace.case_id is not None else "nothing_expected"
            yield NoStep(trace.id, trace.case_id, reason), place
            continue
        seen.add(case.id)
        why_not = obstacle(case, trace, golden)
        if why_not is not None:
            yield NoStep(trace.id, case.id, why_not), place
            continue
        try:
            steps = derive(case, trace, golden, retries_are_free=options.retries_are_free, with_history=with_history)
        except TraceError:  # recorded bytes that no reader can hold
            yield NoStep(trace.id, case.id, "unreadable"), place
            continue
        for step in steps:
            yield replace(step, context=without_identity(step.context, trace)), place
    if not joining.plan.misses_traces:
        for case_id in joining.plan.cases.tagged(joining.plan.tags):
            if case_id not in seen:
                yield NoStep(None, case_id, "no_trace"), joining.plan.cases.place(case_id)


def note_new_tools(work: SelectionWork, loaded: Loaded, resume: str | None) -> None:
    """Tools that the last run did not know get a larger random sample for review.

    A run that goes on keeps what it found when it began.

    Raises:
        StoreError: the record cannot be read, or does not know the run.
    """
    last = None
    if resume is not None:
        with open_store(loaded, create=False) as store:
            facts = facts_for(store.run(resume), work.grader)
        work.new_tools = frozenset(facts.get("new_tools", ()))
        work.more_facts |= {key: facts[key] for key in RECKONED if key in facts}
        return
    if may_be_there(loaded):
        with open_store(loaded) as store:
            earlier = (facts_for(one, work.grader) for one, _ in store.runs())
            last = next((facts for facts in earlier if "known_tools" in facts), None)
    suite = {tool.name for tool in work.tools.tools} if work.tools is not None else set()
    here = suite | tools_of(step for step, _ in work.steps())
    work.more_facts["known_tools"] = sorted(here)
    if last is not None:
        work.new_tools = frozenset(here - set(last["known_tools"]))
        work.more_facts["new_tools"] = sorted(work.new_tools)


def case_files(plan: Plan) -> list[Path]:
    """The case files of a plan."""
    return [Path(file) for file, _ in plan.cases.files]
