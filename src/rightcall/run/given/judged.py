"""Judged runs over values that a program holds: traces, steps, cases. No file is read for them.

Engine, record and rules are those of the commands. Without a store, a run writes its record to a temporary one, which
is dropped at the end: nothing that the engine promises depends on whether somebody keeps the record.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
from msgspec.structs import replace as changed

from rightcall.case.golden import compile_case
from rightcall.errors import CaseError, ConfigError, Place, ProviderError
from rightcall.grade.safety import Matrix
from rightcall.run.golden.joining import Joining
from rightcall.run.graders.rubric import RubricWork
from rightcall.run.graders.selection import SelectionWork
from rightcall.run.graders.setup import (
    Flags,
    Setup,
    asking_of,
    cleaner_for,
    inputs_facts,
    prompter_for,
    quorum_of,
    suite_tools,
)
from rightcall.run.graders.step_source import note_new_tools
from rightcall.run.inputs.cases import CaseIndex, Entry
from rightcall.run.inputs.catalog_record import catalog_body, catalog_fact
from rightcall.run.inputs.catalogs import Catalogs
from rightcall.run.inputs.hiding import without_secrets
from rightcall.run.inputs.plan import Plan
from rightcall.run.judging.described import Judge
from rightcall.run.judging.judges import Panel, panel_of, relatives
from rightcall.settings.load import Loaded, check_table, load_settings
from rightcall.settings.model import Settings
from rightcall.store.store import Store
from rightcall.trace.catalog import Catalog
from rightcall.trace.digest import digest
from rightcall.trace.model import to_builtins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rightcall.case.case import Case
    from rightcall.case.policy import Policy
    from rightcall.case.step import Step
    from rightcall.run.judging.described import Judges
    from rightcall.run.judging.questions import Prompter
    from rightcall.run.judging.run import Judged
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.trace.model import Tool, Trace


class How(TypedDict, total=False):
    """How a judged run asks; whatever is left out is as on the command line.

    settings: a settings file, for everything that is not said otherwise: judges by name, policy, aliases, tools,
        prompts, redaction, limits, store. Without it no file is looked for.
    prompt: a shipped prompt's id, or a file.
    aliases: other tool name -> canonical name.
    replicates: ask each judge the same question so many times.
    quorum: so many judges must have answered; more than half by default.
    jobs: questions at a time.
    sample, seed: judge only so many, drawn at random by the seed.
    budget: `200calls`, `1Mtok`, `2.50usd`: stop before more is spent.
    resume: the id of the run to go on with.
    offline: only answers that were recorded count; a question without one has no verdict (`not_recorded`).
    use_cache: whether answers on record count. They do, except from judges that are code of the program: what a
        function says today may not be what it said before.
    progress: called with how many are judged, and how many of them without a verdict.
    """

    settings: str | Path
    prompt: str | Path
    aliases: Mapping[str, str]
    replicates: int
    quorum: int
    jobs: int
    sample: int
    seed: int
    budget: str
    resume: str
    offline: bool
    use_cache: bool
    progress: Callable[[int, int], None]


@dataclass(frozen=True)
class Wish:
    """What a program asks for, whatever the grader.

    Attributes:
        judge: who is asked.
        store: where the record is kept; `None` = nowhere, or in the store of the settings.
        policy, tools: in place of those of the settings.
        other: a second or strong judge beside the first; `None`: as the settings say.
        table: keys of the grader's own table in the settings, in place of what stands there.
        how: see `How`.
    """

    judge: Judges | None = None
    other: Judge | str | None = None
    table: Mapping[str, Any] = field(default_factory=dict)
    store: Store | str | Path | None = None
    policy: Policy | None = None
    tools: tuple[Tool, ...] | None = None
    how: How = field(default_factory=How)


async def judge_steps(steps: Sequence[Step], wish: Wish) -> Judged:
    """Run `selection` over steps.

    Raises:
        RightcallError: whatever keeps the run from beginning, or breaks its record.
    """
    with open_desk(wish, "selection") as desk:
        loaded, cleaner, settings = desk.loaded, desk.cleaner, desk.loaded.settings
        prompter = desk.prompter(settings.selection.prompt, "selection")
        facts = inputs_facts(
            [given_facts("steps", (step.digest for step in steps))], loaded, settings.policy, desk.flags
        )
        work = SelectionWork(
            steps=lambda: ((step, Place(path=f"step `{step.id}`")) for step in steps), tools=desk.catalog(),
            matrix=Matrix(settings.policy, settings.aliases), cleaner=cleaner, aliases=settings.aliases,
            prompter=prompter if desk.panel.specs else None, quorum=quorum_of(desk.panel, desk.flags),
            review_share=settings.review.random, new_share=settings.review.random_new_tools,
            more_facts=desk.more_facts(facts),
        )  # fmt: skip
        keeps = bool(desk.panel.specs) or desk.is_kept
        if keeps:
            note_new_tools(work, loaded, desk.flags.resume)
        setup = Setup(work, desk.panel, asking_of(loaded, desk.panel, desk.flags), cleaner, loaded, keeps=keeps)
        return await desk.run(setup)


async def judge_traces(traces: Sequence[Trace], cases: Iterable[Case], wish: Wish) -> Judged:
    """Run `rubric` over traces, each with its case if there is one.

    Raises:
        RightcallError: as `judge_steps`; a case that cannot be used; no judge.
    """
    with open_desk(wish, "rubric") as desk:
        loaded, cleaner, settings = desk.loaded, desk.cleaner, desk.loaded.settings
        desk.need_judge("rubric")
        plan, identity = desk.plan(cases)
        joining = Joining(plan, traces)
        inputs = [given_facts("traces", (trace.digest for trace in traces)), identity]
        work = RubricWork(
            traces=joining.joined, plain=desk.prompter(settings.rubric.prompt, "rubric"),
            golden=desk.prompter(settings.rubric.prompt_golden, "rubric"), cleaner=cleaner,
            quorum=quorum_of(desk.panel, desk.flags), matrix=Matrix(settings.policy, settings.aliases),
            aliases=settings.aliases, review_share=settings.review.random,
            more_facts=desk.more_facts(inputs_facts(inputs, loaded, settings.policy, desk.flags)),
        )  # fmt: skip
        setup = Setup(
            work, desk.panel, asking_of(loaded, desk.panel, desk.flags), cleaner, loaded,
            warn=lambda: relatives(desk.panel, work.agents),
        )  # fmt: skip
        return await desk.run(setup)


@dataclass(frozen=True)
class Desk:
    """What every grader needs: settings, judges, redaction.

    Attributes:
        panel: everybody who may be asked. first: those who are asked first. other: the one beside them, by name.
        is_kept: whether the record lasts longer than the run.
    """

    wish: Wish
    loaded: Loaded
    panel: Panel
    first: Panel
    other: str | None
    cleaner: Cleaner
    flags: Flags
    is_kept: bool

    def need_judge(self, grader: str) -> None:
        """Refuse to begin without anybody to ask.

        Raises:
            ProviderError: there is no judge.
        """
        if not self.panel.specs:
            raise ProviderError(
                f"`{grader}` needs a judge, and none was found: {self.panel.skipped or 'none was named'}",
                code="JUDGE_AUTH", hint="give `judge=`",
            )  # fmt: skip

    def plan(self, cases: Iterable[Case]) -> tuple[Plan, dict[str, str]]:
        """A plan over cases of the program, and what tells those apart from others.

        Raises:
            CaseError, ConfigError: a case or a catalog that cannot be used.
        """
        settings, catalog = self.loaded.settings, self.catalog()
        tools = None if catalog is None else catalog.tools
        index, identity = _index(cases, settings.aliases, Catalogs(tools))
        plan = Plan(
            traces=(), cases=index, policy=settings.policy, aliases=settings.aliases, tools=tools,
            exclude_tools=settings.exclude_tools, redactor=self.cleaner.redactor,
        )  # fmt: skip
        return plan, identity

    def prompter(self, name: str, grader: str) -> Prompter:
        """The prompt of the program, else that of the settings."""
        own = self.wish.how.get("prompt")
        return prompter_for(
            self.loaded, name if own is None else str(own), grader, self.cleaner, self.panel, from_flag=own is not None
        )

    def catalog(self) -> Catalog | None:
        """The tools of the program, else those of the settings."""
        return suite_tools(self.loaded) if self.wish.tools is None else Catalog(self.wish.tools)

    def more_facts(self, facts: dict[str, Any]) -> dict[str, Any]:
        """The facts of a run with the program's own tools in place of a file."""
        if self.wish.tools is None:
            return facts
        tools = given_facts("tools", (digest(to_builtins(tool)) for tool in self.wish.tools))
        return {**facts, "tools": tools, **catalog_fact(self._body())}

    def _body(self) -> bytes | None:
        """The tools of the program as they are kept with its runs."""
        return None if self.wish.tools is None else catalog_body(self.wish.tools, self.cleaner.redactor)

    async def run(self, setup: Setup) -> Judged:
        """Judge; a record that is dropped is not named."""
        setup.offline = self.flags.offline
        body = self._body()
        if body is not None:
            setup.asking = replace(setup.asking, bodies=(body,))
        judged = await setup.run_async(self.wish.how.get("progress"))
        if setup.skipped is not None:
            judged.warnings = [f"no judge was asked: {setup.skipped}", *judged.warnings]
        if not self.is_kept:
            judged.run = judged.store_name = None
        return judged


@contextmanager
def open_desk(wish: Wish, grader: str) -> Iterator[Desk]:
    """Settle everything before anybody is asked; a temporary store lasts as long as this.

    Raises:
        ConfigError: settings, a judge or a key of the grader's table that cannot be used.
    """
    how = wish.how
    file = how.get("settings")
    loaded = load_settings(Path(file), os.environ, {}) if file is not None else Loaded(Settings(), Path(), None)
    settings = loaded.settings
    if wish.policy is not None:
        settings = changed(settings, policy=wish.policy)
    if "aliases" in how:
        settings = changed(settings, aliases=dict(how["aliases"]))
    table = getattr(settings, grader)
    if wish.table:
        settings = changed(settings, **{grader: checked_table(table, wish.table, grader)})
    loaded = replace(loaded, settings=settings)
    default = table.judge if file is not None or grader == "selection" else "none"
    first = panel(wish.judge, loaded, default)
    other = wish.other or getattr(table, _OTHERS.get(grader, ""), None)
    beside = panel(other, loaded, "none") if other is not None and first.specs else Panel()
    if other is not None and first.specs and len(beside.specs) != 1:
        raise ConfigError(f"{_OTHERS[grader]} is one judge, not {len(beside.specs)}", hint="name one")
    judges = together(first, beside)
    is_kept = wish.store is not None or file is not None
    with ExitStack() as closing:
        if wish.store is not None:
            loaded = _kept_in(loaded, wish.store.database.address if isinstance(wish.store, Store) else str(wish.store))
        elif not is_kept:
            folder = closing.enter_context(TemporaryDirectory(prefix="rightcall-"))
            loaded = _kept_in(loaded, str(Path(folder) / "record.db"))
        cleaner = cleaner_for(loaded, judges)
        closing.enter_context(without_secrets(cleaner.redactor))
        flags = _flags(how, judges, is_kept=is_kept)
        yield Desk(wish, loaded, judges, first, next(iter(beside.specs), None), cleaner, flags, is_kept)


_OTHERS = {"preference": "second_judge", "interpretation": "strong_judge"}
"""The judge beside the first, by grader: its key in the settings."""


def checked_table(table: Any, values: Mapping[str, Any], grader: str) -> Any:
    """A table of the settings with some values changed, each checked as in a settings file.

    Raises:
        ConfigError: a value that cannot be used.
    """
    whole = {**msgspec.to_builtins(table), **msgspec.to_builtins(dict(values))}
    check_table(type(table), whole, Place(path=grader), "")
    return msgspec.convert(whole, type(table))


def together(one: Panel, other: Panel) -> Panel:
    """Two panels as one.

    Raises:
        ConfigError: a judge that is in both.
    """
    twice = sorted(one.specs.keys() & other.specs.keys())
    if twice:
        raise ConfigError(f"two judges are called `{twice[0]}`", hint="give one another `name`, or use `replicates`")
    return Panel({**one.specs, **other.specs}, one.skipped, {**one.clients, **other.clients})


def panel(judges: Judges | None, loaded: Loaded, default: str) -> Panel:
    """Settle who is asked.

    Args:
        judges: what the program said.
        loaded: the settings, which may know judges by name.
        default: whom to ask if it said nothing.

    Raises:
        ConfigError: an unknown judge, or one that is named twice.
    """
    if judges is None or isinstance(judges, str):
        return panel_of(loaded, default if judges is None else judges)
    found = Panel()
    for one in [judges] if isinstance(judges, Judge) else judges:
        new = panel_of(loaded, one) if isinstance(one, str) else _alone(one)
        found = replace(together(found, new), skipped=new.skipped)
    return found


def _alone(judge: Judge) -> Panel:
    return Panel({judge.name: judge.spec}, clients={} if judge.client is None else {judge.name: judge.client})


def _kept_in(loaded: Loaded, store: str) -> Loaded:
    """The settings with another store."""
    return replace(loaded, settings=changed(loaded.settings, store=store), origins={**loaded.origins, "store": "flag"})


def _flags(how: How, judges: Panel, *, is_kept: bool) -> Flags:
    resume = how.get("resume")
    if resume is not None and not is_kept:
        raise ConfigError("there is no record to go on from", hint="name the `store` of the run")
    prompt = how.get("prompt")
    return Flags(
        prompt=None if prompt is None else str(prompt), replicates=how.get("replicates", 1),
        quorum=how.get("quorum"), jobs=how.get("jobs"), sample=how.get("sample"), seed=how.get("seed", 0),
        budget=how.get("budget"), resume=resume, offline=how.get("offline", False),
        use_cache=how.get("use_cache", not judges.clients),
    )  # fmt: skip


def given_facts(what: str, digests: Iterable[str]) -> dict[str, str]:
    """Some values as a run's facts name a file: how many there are, and a digest of them all."""
    listed = list(digests)
    return {"file": f"{len(listed)} {what}", "sha256": sha256("\n".join(listed).encode()).hexdigest()}


def _index(cases: Iterable[Case], aliases: Mapping[str, str], catalogs: Catalogs) -> tuple[CaseIndex, dict[str, str]]:
    """The cases by id, each checked, and what tells them apart from others.

    Raises:
        CaseError: a case that cannot be used, an id that stands twice.
        ConfigError: a case's own catalog that cannot be used.
    """
    index, digests = CaseIndex(files=[("", "")]), []
    for case in cases:
        place = Place(path=f"case `{case.id}`")
        if case.id in index:
            raise CaseError("there are two cases of this id", code="CASE_DUPLICATE_ID", place=place)
        compile_case(case, place, aliases)
        catalogs.check(case, place)
        index.entries[case.id] = Entry(0, None, f"case `{case.id}`", None, case)
        digests.append(case.digest)
    return index, given_facts("cases", digests)
