"""From settings and flags to a judged run: what is judged, by whom, how, and where it is kept."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from rightcall.case.load import load_tools
from rightcall.case.steps import iter_steps
from rightcall.errors import ConfigError, Place, TraceError
from rightcall.grade.safety import Matrix
from rightcall.grade.steps import derive, obstacle
from rightcall.judge.views import without_identity
from rightcall.run.budget import parse_budget
from rightcall.run.hiding import without_secrets
from rightcall.run.joining import Joining
from rightcall.run.judged import Asking, judge_all
from rightcall.run.judges import Panel, at_the_door, cleaner_of, panel_of, relatives
from rightcall.run.judging import Terms
from rightcall.run.opening import has_store, open_store, redactor_of
from rightcall.run.plan import expand
from rightcall.run.prepare import folder_of, names_of, prepare
from rightcall.run.questions import prompter
from rightcall.run.rubric import RubricWork
from rightcall.run.selection import NoStep, SelectionWork, tools_of
from rightcall.settings.load import load_policy
from rightcall.trace.catalog import Catalog
from rightcall.trace.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rightcall.case.step import Step
    from rightcall.grade.golden import Options
    from rightcall.run.items import Work
    from rightcall.run.judged import Judged
    from rightcall.run.plan import Plan
    from rightcall.run.questions import Prompter
    from rightcall.run.secrets import Cleaner
    from rightcall.settings.load import Loaded


@dataclass(frozen=True)
class Flags:
    """What the command line says about judging, whatever the grader.

    Attributes:
        judge: in place of the settings' judge. probe_local: whether `auto` may knock at local ports.
        prompt: in place of the settings' prompt.
        replicates, quorum, jobs, sample, seed, budget, resume, offline, use_cache: see `Asking` and `Terms`.
        policy, limit, strict, only: as for `golden`.
    """

    judge: str | None = None
    probe_local: bool = False
    prompt: str | None = None
    replicates: int = 1
    quorum: int | None = None
    jobs: int | None = None
    sample: int | None = None
    seed: int = 0
    budget: str | None = None
    resume: str | None = None
    offline: bool = False
    use_cache: bool = True
    policy: Path | None = None
    limit: int | None = None
    strict: bool = False
    only: str | None = None


@dataclass
class Setup:
    """A judged run that is ready to begin.

    Attributes:
        skipped: why no judge is asked although one was wished for.
        keeps: whether there is a store to write to.
        warn: what must be said about the judges, once the traces were seen.
        close: lets go of open files.
    """

    work: Work
    panel: Panel
    asking: Asking
    cleaner: Cleaner
    loaded: Loaded
    offline: bool = False
    keeps: bool = True
    inputs: list[Path] = field(default_factory=list)
    warn: Callable[[], list[str]] = list
    close: Callable[[], None] = lambda: None

    @property
    def skipped(self) -> str | None:
        """Why no judge is asked although one was wished for."""
        return self.panel.skipped

    def run(self, progress: Callable[[int, int], None] | None = None) -> Judged:
        """Judge everything.

        Raises:
            RightcallError: whatever stops the run; see `judge_all`.
        """
        with without_secrets(self.cleaner.redactor), ExitStack() as closing:
            closing.callback(self.close)
            judges = at_the_door(self.panel, offline=self.offline, jobs=self.asking.terms.jobs)
            store = closing.enter_context(open_store(self.loaded)) if self.keeps else None
            judged = judge_all(self.work, judges, self.asking, self.cleaner, store, progress)
        judged.conflict_limit = self.loaded.settings.limits.conflicts
        return judged


def set_up_selection(loaded: Loaded, files: tuple[str, ...], flags: Flags) -> Setup:
    """Everything that a run of `selection` needs.

    Steps come from the files; where the settings or flags name cases, the files are traces and the steps are derived.

    Raises:
        ConfigError, CaseError, NoDataError, ProviderError: whatever is wrong, before anything is judged.
    """
    panel = panel_of(loaded, flags.judge or loaded.settings.selection.judge, probe_local=flags.probe_local)
    cleaner = _cleaner(loaded, panel)
    with without_secrets(cleaner.redactor):
        asking = _asking(loaded, panel, flags)
        source = _step_source(loaded, files, flags, with_history=bool(panel.specs))
        prompt = flags.prompt or loaded.settings.selection.prompt
        asked = _prompter(loaded, prompt, "selection", cleaner, panel, from_flag=flags.prompt is not None)
        tools = _suite_tools(loaded)
        rules = loaded.settings.policy if flags.policy is None else load_policy(flags.policy)
        work = SelectionWork(
            steps=source.steps, tools=tools, matrix=Matrix(rules, loaded.settings.aliases), cleaner=cleaner,
            aliases=loaded.settings.aliases, prompter=asked if panel.specs else None, quorum=_quorum(panel, flags),
            review_share=loaded.settings.review.random, new_share=loaded.settings.review.random_new_tools,
            more_facts=_inputs_facts(source.inputs, loaded, rules, flags), reports=source.reports,
        )  # fmt: skip
        keeps = bool(panel.specs) or has_store(loaded) or flags.resume is not None
        if keeps:
            _note_new_tools(work, loaded, flags.resume)
    return Setup(
        work, panel, asking, cleaner, loaded, flags.offline, keeps=keeps, inputs=source.inputs, close=source.close
    )


def set_up_rubric(loaded: Loaded, flags: Flags) -> Setup:
    """Everything that a run of `rubric` needs.

    Raises:
        ConfigError, CaseError, NoDataError, ProviderError: whatever is wrong, before anything is judged.
    """
    table = loaded.settings.rubric
    panel = panel_of(loaded, flags.judge or table.judge, probe_local=flags.probe_local)
    cleaner = _cleaner(loaded, panel)
    with without_secrets(cleaner.redactor):
        plan = prepare(
            loaded, policy=flags.policy, only=flags.only, limit=flags.limit, strict=flags.strict, needs_cases=False
        )
        joining = Joining(plan)
        plain, golden = (
            _prompter(loaded, flags.prompt or name, "rubric", cleaner, panel, from_flag=flags.prompt is not None)
            for name in (table.prompt, table.prompt_golden)
        )
        work = RubricWork(
            traces=joining.joined, plain=plain, golden=golden, cleaner=cleaner, quorum=_quorum(panel, flags),
            matrix=Matrix(plan.policy, plan.aliases), aliases=plan.aliases,
            review_share=loaded.settings.review.random, reports=joining.reports,
            more_facts=_inputs_facts([*plan.traces, *_case_files(plan)], loaded, plan.policy, flags),
        )  # fmt: skip
        asking = _asking(loaded, panel, flags)
    inputs = [*plan.traces, *_case_files(plan)]
    return Setup(
        work,
        panel,
        asking,
        cleaner,
        loaded,
        flags.offline,
        keeps=True,
        inputs=inputs,
        warn=lambda: relatives(panel, work.agents),
        close=plan.cases.close,
    )


def _case_files(plan: Plan) -> list[Path]:
    return [Path(file) for file, _ in plan.cases.files]


def _cleaner(loaded: Loaded, panel: Panel) -> Cleaner:
    """Redaction with the store's key, which is made here if the store is new: equal secrets must stay equal later."""
    if panel.specs or has_store(loaded):
        from rightcall.run.opening import make_key

        make_key(loaded)
    return cleaner_of(redactor_of(loaded), panel)


def _asking(loaded: Loaded, panel: Panel, flags: Flags) -> Asking:
    for name, value in (("replicates", flags.replicates), ("jobs", flags.jobs), ("sample", flags.sample)):
        if value is not None and value < 1:
            raise ConfigError(f"--{name} must be at least 1", place=Place(f"--{name}"))
    if flags.quorum is not None and not 1 <= flags.quorum <= max(1, len(panel.specs)):
        raise ConfigError(
            f"a quorum of {flags.quorum} of {len(panel.specs)} judges cannot be reached", place=Place("--quorum")
        )
    terms = Terms(replicates=flags.replicates, jobs=flags.jobs, use_cache=flags.use_cache)
    return Asking(
        terms=terms, budget=parse_budget(flags.budget), sample=flags.sample, seed=flags.seed, resume=flags.resume,
        quorum=flags.quorum, review_share=loaded.settings.review.random,
    )  # fmt: skip


def _quorum(panel: Panel, flags: Flags) -> int:
    """How many judges must have answered: more than half, if nobody says otherwise."""
    return flags.quorum if flags.quorum is not None else len(panel.specs) // 2 + 1


def _prompter(loaded: Loaded, name: str, grader: str, cleaner: Cleaner, panel: Panel, *, from_flag: bool) -> Prompter:
    folder = Path() if from_flag else loaded.folder
    return prompter(name, grader, cleaner, panel.specs.values(), folder)


def _suite_tools(loaded: Loaded) -> Catalog | None:
    written = loaded.settings.tools
    if not written:
        return None
    file = folder_of(loaded, "tools") / written
    return Catalog(load_tools(file), Place(str(file)))


def _inputs_facts(inputs: list[Path], loaded: Loaded, policy: Any, flags: Flags) -> dict[str, Any]:
    """What is judged: the files by their content, the policy, the catalog."""
    import msgspec

    from rightcall.run.golden import sha256_of_file

    return {
        "inputs": [{"file": str(path), "sha256": sha256_of_file(path)} for path in inputs],
        "policy_sha256": digest(msgspec.json.decode(msgspec.json.encode(policy))),
        "tools": loaded.settings.tools,
        "limit": flags.limit,
        "only": flags.only,
    }


@dataclass(frozen=True)
class _Source:
    """Where steps come from: the steps, the files, the reading reports (filled meanwhile), and what to close."""

    steps: Callable[[], Iterator[tuple[Step | NoStep, Place]]]
    inputs: list[Path]
    reports: dict[str, Any]
    close: Callable[[], None]


def _step_source(loaded: Loaded, files: tuple[str, ...], flags: Flags, *, with_history: bool) -> _Source:
    """The steps of a run. `with_history`: whether derived steps carry what the agent knew, which only a judge needs."""
    if names_of(loaded.settings.cases):
        plan = prepare(loaded, policy=flags.policy, only=flags.only, limit=flags.limit, strict=flags.strict)
        joining = Joining(plan)
        return _Source(
            lambda: _derived(joining, plan.options, with_history=with_history),
            [*plan.traces, *_case_files(plan)],
            joining.reports,
            plan.cases.close,
        )
    paths = expand(files or names_of(loaded.settings.traces), Path() if files else loaded.folder, "step")
    return _Source(lambda: _written(paths, flags), paths, {}, lambda: None)


def _written(paths: list[Path], flags: Flags) -> Iterator[tuple[Step | NoStep, Place]]:
    count = 0
    for path in paths:
        for step, place in iter_steps(path):
            if flags.limit is not None and count >= flags.limit:
                return
            if flags.only is None or step.id == flags.only:
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
    if joining.plan.limit is None and joining.plan.only is None:
        for case_id in joining.plan.cases:
            if case_id not in seen:
                yield NoStep(None, case_id, "no_trace"), joining.plan.cases.place(case_id)


def _note_new_tools(work: SelectionWork, loaded: Loaded, resume: str | None) -> None:
    """Tools that the last run did not know get a larger random sample for review."""
    with open_store(loaded) as store:
        if resume is not None:
            facts = store.run(resume).facts
            work.new_tools = frozenset(facts.get("new_tools", ()))
            work.more_facts |= {key: facts[key] for key in ("known_tools", "new_tools") if key in facts}
            return
        last = next((run for run, _ in store.runs() if run.grader == "selection" and "known_tools" in run.facts), None)
    suite = {tool.name for tool in work.tools.tools} if work.tools is not None else set()
    here = suite | tools_of(step for step, _ in work.steps())
    work.more_facts["known_tools"] = sorted(here)
    if last is not None:
        work.new_tools = frozenset(here - set(last.facts["known_tools"]))
        work.more_facts["new_tools"] = sorted(work.new_tools)


def set_up_probe(
    loaded: Loaded, graders: tuple[str, ...], classes: tuple[str, ...], most: int | None, flags: Flags
) -> Setup:
    """Everything that a run of the probe set needs.

    Raises:
        ConfigError: an unknown grader or class, a judge that cannot be used.
    """
    from rightcall.judge.probes import PROBE_CLASSES
    from rightcall.run.probe import ProbeWork

    known = {name for one in PROBE_CLASSES for name in (one.name, one.attack)}
    for name in classes:
        if name not in known:
            raise ConfigError(f"there is no class of probes `{name}`", hint=f"known: {', '.join(sorted(known))}")
    if most is not None and most < 1:
        raise ConfigError("at least one item a class is needed", place=Place("--items"))
    panel = panel_of(loaded, flags.judge or "auto", probe_local=flags.probe_local)
    cleaner = _cleaner(loaded, panel)
    names = {"selection": loaded.settings.selection.prompt, "rubric": loaded.settings.rubric.prompt_golden}
    for grader in graders:
        if grader not in names:
            raise ConfigError(f"there are no probes for `{grader}`", hint=f"known: {', '.join(names)}")
    prompters: dict[Any, Prompter] = {
        grader: _prompter(
            loaded, flags.prompt or names[grader], grader, cleaner, panel, from_flag=flags.prompt is not None
        )
        for grader in graders
    }
    work = ProbeWork(prompters, cleaner, classes, most)
    return Setup(work, panel, _asking(loaded, panel, flags), cleaner, loaded, flags.offline, keeps=True)
