"""`rightcall prompt`: the judges' prompts, shipped and your own: list, show, check, and what is really sent."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import App, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rightcall.case.step import Step
    from rightcall.errors import Place
    from rightcall.judge.contract import Question
    from rightcall.run.golden.joining import Joining
    from rightcall.run.judging.items import Item
    from rightcall.run.judging.questions import Prompter
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.settings.load import Loaded

Listed = Parameter(negative="", show_default=False)

app = App(name="prompt")


@app.command(name="list")
def list_() -> int:
    """List the shipped prompts: id, version, hash, grader, placeholders (optional ones in brackets)."""
    from rightcall.judge.library import shipped

    for one in shipped():
        names = [*one.placeholders, *(f"[{name}]" for name in one.optional)]
        print(f"{one.id}  version {one.version}  {one.sha256[:12]}  {one.grader}  {' '.join(names)}")
    return 0


@app.command
def show(name: Annotated[str, Parameter(help="Id of a shipped prompt, or a file.")]) -> int:
    """Print a prompt as it is written, for example to start one of your own from it."""
    from rightcall.judge.library import source

    sys.stdout.write(source(name)[0])
    return 0


@app.command
def check(files: Annotated[tuple[str, ...], Listed, Parameter(help="Prompt files, or ids of shipped ones.")]) -> int:
    """Say what is wrong with a prompt, one line a fault; leaves with 2 if anything is."""
    from rightcall.errors import Place
    from rightcall.judge.library import source
    from rightcall.judge.template import read_template
    from rightcall.report.summary import counted

    wrong = 0
    for name in files:
        text, file = source(name)
        template, faults = read_template(text, Place(file or name))
        for fault in faults:
            print(fault)
        if template is not None:
            print(f"ok: {template.id} {template.version} {template.sha256[:12]} {' '.join(template.names)}")
        wrong += len(faults)
    code = 2 if wrong else 0
    print(f"prompt check · {counted(len(files), 'file')} · {counted(wrong, 'fault')} · exit {code}", file=sys.stderr)
    return code


@app.command
def render(
    name: Annotated[str, Parameter(help="Id of a shipped prompt, or a file.")],
    traces: Annotated[
        tuple[str, ...], Listed, Parameter(help="Trace files, or files of selection steps; two for a pair.")
    ] = (),
    *,
    cases: Annotated[tuple[str, ...], Listed, Parameter(help="Case files, folders or quoted patterns.")] = (),
    tools: Annotated[str | None, Parameter(help="Catalog: the tools that the agent could see.")] = None,
    trace: Annotated[str | None, Parameter(help="Id of the trace; the first one if left out.")] = None,
    step: Annotated[
        str | None, Parameter(help="Id of the selection step, reading or pair; the first one if left out.")
    ] = None,
    swapped: Annotated[bool, Parameter(negative="", help="The other question about a pair: places exchanged.")] = False,
    from_: Annotated[str | None, Parameter(name="--from", help="How the traces are recorded; auto by default.")] = None,
    json: Annotated[bool, Parameter(negative="", help="Print the question as one JSON object.")] = False,
    config: Annotated[Path | None, Parameter(name=["--config", "-c"], help="Settings file.")] = None,
) -> int:
    """Print the exact messages that a judge would be sent about one trace, step, reading or pair. Nobody is asked.

    What must not leave is redacted, as in a run. Leaves with 2 if there is no question, and says why.
    """
    from rightcall.settings.load import load_settings

    flags = {"traces": list(traces), "cases": list(cases), "tools": tools, "dialect": from_}
    loaded = load_settings(config, os.environ, {key: value for key, value in flags.items() if value})
    question = _question(loaded, name, traces, _Wanted(trace, step, swapped))
    if json:
        from rightcall.trace.jsontext import encode

        sys.stdout.write(encode(question).decode() + "\n")
    else:
        print(f"=== system ===\n{question.system}\n=== user ===\n{question.user}")
    from rightcall.judge.contract import INJECTION

    for suspicion in question.suspicions:
        print(f"{INJECTION}: {suspicion.kind} at {suspicion.path}", file=sys.stderr)
    return 0


class _Wanted(NamedTuple):
    """Which question is meant: about which trace and step, and with which trace in the first place."""

    trace: str | None
    step: str | None
    swapped: bool


def _question(loaded: Loaded, name: str, files: tuple[str, ...], wanted: _Wanted) -> Question:
    """The question that is meant.

    Raises:
        ConfigError, CaseError: no such trace, step or pair, or no question about it.
        NoDataError: nothing at all.
    """
    from rightcall.errors import ConfigError, NoDataError, Place
    from rightcall.judge.library import reply_schema, template
    from rightcall.run.inputs.hiding import without_secrets
    from rightcall.run.inputs.opening import redactor_of
    from rightcall.run.judging.questions import Prompter
    from rightcall.run.judging.secrets import Cleaner

    made, hide = template(name), redactor_of(loaded)
    is_pair = made.grader == "preference"
    if wanted.swapped and not is_pair:
        raise ConfigError(f"prompt `{made.id}` is about no pair", place=Place("--swapped"), hint="leave it out")
    asker = Prompter(made, reply_schema(made), Cleaner(hide))
    found = _pairs(loaded, asker, files) if is_pair else _items(loaded, asker, files, wanted.trace)
    with without_secrets(hide), found as items:
        for item in items:
            is_meant = wanted.step is None or wanted.step in (item.unit, item.step_id)
            if is_meant and (not is_pair or wanted.trace in (None, item.trace_id, item.trace_b_id)):
                return _asked(item, swapped=wanted.swapped)
    if wanted.trace is None and wanted.step is None:
        raise NoDataError("nothing to render", hint="name a file of traces or steps")
    what = "pair" if is_pair else "trace or step"
    raise ConfigError(f"there is no such {what}: `{wanted.step or wanted.trace}`", hint="ids are case-sensitive")


@contextmanager
def _pairs(loaded: Loaded, asker: Prompter, inputs: tuple[str, ...]) -> Iterator[Iterator[Item]]:
    """The pairs that a run of `preference` would ask this prompt about."""
    from dataclasses import replace

    import msgspec

    from rightcall.run.graders.setup import Flags
    from rightcall.run.preference.comparing import PreferenceWork
    from rightcall.run.preference.setup import PairFlags, set_up_preference

    # No judge is needed, and none may be missed.
    table = msgspec.structs.replace(loaded.settings.preference, judge="none", second_judge=None)
    alone = replace(loaded, settings=msgspec.structs.replace(loaded.settings, preference=table))
    names = tuple(f"agent {number}" for number in range(1, len(inputs) + 1))  # two files may be called the same
    flags = Flags(judge="none", prompt=asker.prompt.file or asker.prompt.id)
    setup = set_up_preference(alone, flags, PairFlags(inputs, names))
    try:
        assert isinstance(setup.work, PreferenceWork)  # noqa: S101 - that is what was set up
        setup.work.prompter, setup.work.cleaner = asker, asker.cleaner
        yield setup.work.items()
    finally:
        setup.close()


@contextmanager
def _items(loaded: Loaded, asker: Prompter, files: tuple[str, ...], only: str | None) -> Iterator[Iterator[Item]]:
    """What a run would judge with this prompt."""
    from rightcall.case.steps import iter_steps
    from rightcall.grade.safety import Matrix
    from rightcall.run.golden.joining import Joining
    from rightcall.run.graders.rubric import RubricWork
    from rightcall.run.inputs.opening import redactor_of
    from rightcall.run.inputs.plan import expand
    from rightcall.run.inputs.prepare import names_of, prepare
    from rightcall.run.interpretation.reading import InterpretationWork
    from rightcall.run.judging.secrets import Cleaner

    settings, cleaner = loaded.settings, Cleaner(redactor_of(loaded))
    is_selection = asker.prompt.grader == "selection"
    if is_selection and not settings.cases:
        paths = expand(files or names_of(settings.traces), Path() if files else loaded.folder, "step")
        yield _selection(loaded, asker, cleaner, lambda: (found for path in paths for found in iter_steps(path)))
        return
    plan = prepare(loaded, only=only, needs_cases=is_selection)
    joining = Joining(plan)
    try:
        if is_selection:
            yield _selection(loaded, asker, cleaner, lambda: _derived(joining))
        elif asker.prompt.grader == "interpretation":
            yield InterpretationWork(traces=joining.joined, prompter=asker, cleaner=cleaner).items()
        else:
            matrix = Matrix(plan.policy, settings.aliases)
            yield RubricWork(
                traces=joining.joined, plain=asker, golden=asker, cleaner=cleaner, matrix=matrix,
                aliases=settings.aliases,
            ).items()  # fmt: skip
    finally:
        plan.cases.close()


def _selection(
    loaded: Loaded, asker: Prompter, cleaner: Cleaner, steps: Callable[[], Iterator[tuple[Step, Place]]]
) -> Iterator[Item]:
    from rightcall.case.load import load_tools
    from rightcall.grade.safety import Matrix
    from rightcall.run.graders.selection import SelectionWork
    from rightcall.run.inputs.prepare import folder_of
    from rightcall.trace.catalog import Catalog

    settings = loaded.settings
    tools = load_tools(folder_of(loaded, "tools") / settings.tools) if settings.tools else None
    return SelectionWork(
        steps=steps, tools=None if tools is None else Catalog(tools), prompter=asker, cleaner=cleaner,
        aliases=settings.aliases, matrix=Matrix(settings.policy, settings.aliases),
    ).items()  # fmt: skip


def _derived(joining: Joining) -> Iterator[tuple[Step, Place]]:
    """The steps of the traces, as a run of `selection` derives them."""
    from rightcall.grade.steps import derive

    free = joining.plan.options.retries_are_free
    for trace, case, _, golden, place in joining.joined():
        for step in derive(case, trace, golden, retries_are_free=free) if case is not None else ():
            yield step, place


def _asked(item: Item, *, swapped: bool) -> Question:
    from rightcall.errors import CaseError, Place

    if item.queries[swapped:]:
        return item.queries[swapped].subject.question
    place = Place(path=item.unit)
    if item.queries:
        raise CaseError("it is asked about in one order only", place=place, hint="leave out --swapped")
    concluded = item.conclude(())
    detail = next((review.detail for review in concluded.reviews if review.reason == "unevaluable"), "")
    reason = concluded.result.reason or "nothing to ask"
    code = "PROMPT_MISSING_VALUE" if reason == "missing_input" else None
    lost = getattr(concluded.result, "quality", ())
    said = detail.removeprefix(f"{code}: ") if detail else "; ".join((reason, *lost))
    raise CaseError(f"there is no question: {said}", code=code, place=place)
