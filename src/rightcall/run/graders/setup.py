"""From settings and flags to a judged run: what is judged, by whom, how, and where it is kept."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case.load import load_tools
from rightcall.errors import ConfigError, Place
from rightcall.grade.safety import Matrix
from rightcall.run.golden.grading import sha256_of_file
from rightcall.run.golden.joining import Joining
from rightcall.run.graders.own import OwnWork
from rightcall.run.graders.rubric import RubricWork
from rightcall.run.graders.selection import SelectionWork
from rightcall.run.graders.step_source import case_files, note_new_tools, step_source
from rightcall.run.inputs.branch import source_facts
from rightcall.run.inputs.catalog_record import catalog_body, catalog_fact
from rightcall.run.inputs.hiding import without_secrets
from rightcall.run.inputs.opening import has_store, open_store, redactor_of
from rightcall.run.inputs.prepare import folder_of, prepare
from rightcall.run.judging.asking import Terms
from rightcall.run.judging.budget import parse_budget
from rightcall.run.judging.judges import Panel, at_the_door, cleaner_of, panel_of, relatives
from rightcall.run.judging.questions import prompter
from rightcall.run.judging.run import Asking, judge_all, judge_all_async
from rightcall.settings.load import load_policy
from rightcall.trace.catalog import Catalog
from rightcall.trace.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rightcall.case.policy import Policy
    from rightcall.run.inputs.plan import Plan
    from rightcall.run.judging.items import Work
    from rightcall.run.judging.questions import Prompter
    from rightcall.run.judging.run import Judged
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.run.judging.subject import Judge
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store


@dataclass(frozen=True)
class Flags:
    """What the command line says about judging, whatever the grader.

    Attributes:
        judge: in place of the settings' judge. probe_local: whether `auto` may knock at local ports.
        prompt: in place of the settings' prompt.
        replicates, quorum, jobs, sample, seed, budget, resume, offline, use_cache: see `Asking` and `Terms`.
        policy, limit, strict, only, tags: as for `golden`.
        keeps: whether the run is kept in any case, also one that code decides in a project without a store.
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
    tags: tuple[str, ...] = ()
    keeps: bool = False


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
        with self._open() as (judges, store):
            judged = judge_all(self.work, judges, self.asking, self.cleaner, store, progress, self.warn)
        judged.conflict_limit = self.loaded.settings.limits.conflicts
        return judged

    async def run_async(self, progress: Callable[[int, int], None] | None = None) -> Judged:
        """Judge everything, in the event loop of the caller; see `judge_all_async`."""
        with self._open() as (judges, store):
            judged = await judge_all_async(self.work, judges, self.asking, self.cleaner, store, progress, self.warn)
        judged.conflict_limit = self.loaded.settings.limits.conflicts
        return judged

    @contextmanager
    def _open(self) -> Iterator[tuple[list[Judge], Store | None]]:
        """The judges at their doors and the store."""
        with without_secrets(self.cleaner.redactor), ExitStack() as closing:
            closing.callback(self.close)
            judges = at_the_door(self.panel, offline=self.offline, jobs=self.asking.terms.jobs)
            is_new = self.asking.resume is None
            yield judges, closing.enter_context(open_store(self.loaded, create=is_new)) if self.keeps else None


def set_up_selection(loaded: Loaded, files: tuple[str, ...], flags: Flags) -> Setup:
    """Everything that a run of `selection` needs.

    Steps come from the files; where the settings or flags name cases, the files are traces and the steps are derived.

    Raises:
        ConfigError, CaseError, NoDataError, ProviderError: whatever is wrong, before anything is judged.
    """
    panel = panel_of(loaded, flags.judge or loaded.settings.selection.judge, probe_local=flags.probe_local)
    cleaner = cleaner_for(loaded, panel)
    with without_secrets(cleaner.redactor), ExitStack() as undo:
        asking = asking_of(loaded, panel, flags)
        source = step_source(
            loaded, files, policy=flags.policy, only=flags.only, limit=flags.limit, tags=flags.tags,
            strict=flags.strict, with_history=bool(panel.specs),
        )  # fmt: skip
        undo.callback(source.close)
        prompt = flags.prompt or loaded.settings.selection.prompt
        asked = prompter_for(loaded, prompt, "selection", cleaner, panel, from_flag=flags.prompt is not None)
        tools = suite_tools(loaded)
        rules = loaded.settings.policy if flags.policy is None else load_policy(flags.policy)
        work = SelectionWork(
            steps=source.steps, tools=tools, matrix=Matrix(rules, loaded.settings.aliases), cleaner=cleaner,
            aliases=loaded.settings.aliases, prompter=asked if panel.specs else None, quorum=quorum_of(panel, flags),
            review_share=loaded.settings.review.random, new_share=loaded.settings.review.random_new_tools,
            more_facts=inputs_facts(
                list(map(file_facts, source.inputs)), loaded, rules, flags, list(map(file_facts, source.cases))
            ),
            reports=source.reports,
        )  # fmt: skip
        keeps = bool(panel.specs) or has_store(loaded) or flags.resume is not None or flags.keeps
        if keeps:
            note_new_tools(work, loaded, flags.resume)
        undo.pop_all()
    return Setup(
        work, panel, asking, cleaner, loaded, flags.offline, keeps=keeps, inputs=source.inputs, close=source.close
    )


def plan_of(loaded: Loaded, flags: Flags, *, needs_cases: bool = True) -> Plan:
    """Traces, cases, policy and catalog of a run, as settings and flags say.

    Raises:
        ConfigError, CaseError, NoDataError: whatever is wrong with them.
    """
    return prepare(
        loaded, policy=flags.policy, only=flags.only, limit=flags.limit, tags=flags.tags, strict=flags.strict,
        needs_cases=needs_cases,
    )  # fmt: skip


def set_up_rubric(loaded: Loaded, flags: Flags) -> Setup:
    """Everything that a run of `rubric` needs.

    Raises:
        ConfigError, CaseError, NoDataError, ProviderError: whatever is wrong, before anything is judged.
    """
    table = loaded.settings.rubric
    panel = panel_of(loaded, flags.judge or table.judge, probe_local=flags.probe_local)
    cleaner = cleaner_for(loaded, panel)
    with without_secrets(cleaner.redactor):
        plan = plan_of(loaded, flags, needs_cases=False)
        joining = Joining(plan)
        plain, golden = (
            prompter_for(
                loaded, flags.prompt or name, "rubric", cleaner, panel, from_flag=flags.prompt is not None, own=True
            )
            for name in (table.prompt, table.prompt_golden)
        )
        make = RubricWork if plain.prompt.grader == "rubric" else OwnWork
        work = make(
            traces=joining.joined, plain=plain, golden=golden, cleaner=cleaner, quorum=quorum_of(panel, flags),
            matrix=Matrix(plan.policy, plan.aliases), aliases=plan.aliases,
            review_share=loaded.settings.review.random, reports=joining.reports,
            more_facts=inputs_facts(
                [file_facts(path) for path in (*plan.traces, *case_files(plan))], loaded, plan.policy, flags,
                list(map(file_facts, case_files(plan))),
            ),
        )  # fmt: skip
        asking = asking_of(loaded, panel, flags)
    inputs = [*plan.traces, *case_files(plan)]
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


def cleaner_for(loaded: Loaded, panel: Panel) -> Cleaner:
    """Redaction with the store's key, which is made here if the store is new: equal secrets must stay equal later."""
    if panel.specs or has_store(loaded):
        from rightcall.run.inputs.opening import make_key

        make_key(loaded)
    return cleaner_of(redactor_of(loaded), panel)


def asking_of(loaded: Loaded, panel: Panel, flags: Flags) -> Asking:
    """How a run asks.

    Raises:
        ConfigError: a number that cannot be used.
    """
    for name, value in (("replicates", flags.replicates), ("jobs", flags.jobs), ("sample", flags.sample)):
        if value is not None and value < 1:
            raise ConfigError("must be at least 1", place=Place(f"--{name}"))
    if flags.seed < 0:
        raise ConfigError("must not be negative", place=Place("--seed"))
    # Where code decides alone there is nobody to agree.
    if flags.quorum is not None and not 1 <= flags.quorum <= (len(panel.specs) or flags.quorum):
        whole = f"{len(panel.specs)} judge{'' if len(panel.specs) == 1 else 's'}"
        raise ConfigError(f"a quorum of {flags.quorum} of {whole} cannot be reached", place=Place("--quorum"))
    terms = Terms(replicates=flags.replicates, jobs=flags.jobs, use_cache=flags.use_cache)
    return Asking(
        terms=terms, budget=parse_budget(flags.budget), sample=flags.sample, seed=flags.seed, resume=flags.resume,
        quorum=flags.quorum, review_share=loaded.settings.review.random, bodies=bodies_of(suite_body(loaded)),
        source=source_facts(loaded, os.environ),
    )  # fmt: skip


def suite_body(loaded: Loaded) -> bytes | None:
    """The catalog that the settings name, as it is kept with a run; `None` where they name none."""
    tools = suite_tools(loaded)
    return None if tools is None else catalog_body(tools.tools, redactor_of(loaded))


def bodies_of(*found: bytes | None) -> tuple[bytes, ...]:
    """Those that there are."""
    return tuple(body for body in found if body is not None)


def quorum_of(panel: Panel, flags: Flags) -> int:
    """How many judges must have answered: more than half, if nobody says otherwise."""
    return flags.quorum if flags.quorum is not None else len(panel.specs) // 2 + 1


def prompter_for(
    loaded: Loaded, name: str, grader: str, cleaner: Cleaner, panel: Panel, *, from_flag: bool, own: bool = False,
) -> Prompter:  # fmt: skip
    """The prompt of a run; a relative file belongs to the settings' folder unless a flag named it."""
    folder = Path() if from_flag else loaded.folder
    return prompter(name, grader, cleaner, panel.specs.values(), folder, own=own)


def suite_tools(loaded: Loaded) -> Catalog | None:
    """The catalog that the settings name, if any."""
    file = _tools_file(loaded)
    return None if file is None else Catalog(load_tools(file), Place(str(file)))


def _tools_file(loaded: Loaded) -> Path | None:
    written = loaded.settings.tools
    return folder_of(loaded, "tools") / written if written else None


def inputs_facts(
    inputs: list[dict[str, str]], loaded: Loaded, policy: Policy, flags: Flags,
    cases: list[dict[str, str]] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What is judged: the inputs by their content, and every setting that changes what is asked or concluded.

    Args:
        inputs: everything that is read.
        loaded: the settings.
        policy: the policy that counts.
        flags: what every judged command takes.
        cases: those of the inputs that are cases; `None` where they are no files.
    """
    settings, tools = loaded.settings, _tools_file(loaded)
    return {
        "inputs": inputs,
        **({} if cases is None else {"cases": cases}),
        "policy_sha256": _digest_of(policy),
        "tools": None if tools is None else file_facts(tools),
        **catalog_fact(suite_body(loaded)),
        "limit": flags.limit,
        "only": flags.only,
        "tags": list(flags.tags) or None,
        "dialect": settings.dialect,
        "aliases": settings.aliases,
        "exclude_tools": settings.exclude_tools,
        "golden": msgspec.to_builtins(settings.golden),
        # The patterns may say what is secret, so they are not kept themselves.
        "redact_sha256": _digest_of(settings.redact),
    }


def file_facts(path: Path) -> dict[str, str]:
    """An input as a run's facts name it: the file, and its content's digest.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return {"file": str(path), "sha256": sha256_of_file(path)}
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", place=Place(str(path)), hint="check the path") from None


def _digest_of(value: Any) -> str:
    return digest(msgspec.json.decode(msgspec.json.encode(value)))


def set_up_probe(
    loaded: Loaded, graders: tuple[str, ...], classes: tuple[str, ...], most: int | None, flags: Flags
) -> Setup:
    """Everything that a run of the probe set needs.

    Raises:
        ConfigError: an unknown grader or class, a judge that cannot be used.
    """
    from rightcall.judge.probes import classes_of
    from rightcall.run.graders.probe import ProbeWork

    names: dict[Any, str] = {
        "selection": loaded.settings.selection.prompt, "rubric": loaded.settings.rubric.prompt_golden,
        "preference": loaded.settings.preference.prompt,
    }  # fmt: skip
    for grader in graders:
        if grader not in names:
            raise ConfigError(f"there are no probes for `{grader}`", hint=f"known: {', '.join(names)}")
    known = {name for grader in graders for one in classes_of(grader) for name in (one.name, one.attack)}
    for name in classes:
        if name not in known:
            raise ConfigError(f"there is no class of probes `{name}`", hint=f"known: {', '.join(sorted(known))}")
    if most is not None and most < 1:
        raise ConfigError("at least one item a class is needed", place=Place("--items"))
    panel = panel_of(loaded, flags.judge or "auto", probe_local=flags.probe_local)
    cleaner = cleaner_for(loaded, panel)
    prompters: dict[Any, Prompter] = {
        grader: prompter_for(
            loaded, flags.prompt or names[grader], grader, cleaner, panel, from_flag=flags.prompt is not None
        )
        for grader in graders
    }
    work = ProbeWork(prompters, cleaner, classes, most)
    return Setup(work, panel, asking_of(loaded, panel, flags), cleaner, loaded, flags.offline, keeps=True)
