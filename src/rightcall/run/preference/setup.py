"""From settings and flags to a run of `preference`: the agents and their traces, the judges, the rules."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import ConfigError, NoDataError, Place
from rightcall.run.calibration.recalibrating import Recalibrating, recalibrating
from rightcall.run.golden.joining import Joining
from rightcall.run.graders.setup import (
    Flags,
    Setup,
    asking_of,
    cleaner_for,
    file_facts,
    inputs_facts,
    prompter_for,
    quorum_of,
)
from rightcall.run.graders.step_source import case_files
from rightcall.run.inputs.hiding import without_secrets
from rightcall.run.inputs.opening import has_store, open_store
from rightcall.run.inputs.plan import expand
from rightcall.run.inputs.prepare import folder_of, prepare
from rightcall.run.judging.judges import Panel, panel_of, relatives
from rightcall.run.preference.comparing import PreferenceWork
from rightcall.run.preference.pairing import Pairing, Side
from rightcall.run.preference.verdict import Rules
from rightcall.trace.digest import digest
from rightcall.trace.model import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.run.inputs.plan import Plan
    from rightcall.run.judging.questions import Prompter
    from rightcall.settings.load import Loaded
    from rightcall.trace.sources.dialect import ReadingReport

_RUN = re.compile(r"[0-9]{8}-[0-9]+")
"""How the id of a run looks."""


@dataclass(frozen=True)
class PairFlags:
    """What the command line says about comparing, beyond the settings.

    Attributes:
        inputs: one for each agent: a trace file, a folder, a pattern, or a run on record.
        names: what the agents are called; by their inputs if there are none.
        cross_check: whether judges are asked about what code decides.
        stop_early: the error that early stopping may make; `None`: every pair is judged.
    """

    inputs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    cross_check: bool = True
    stop_early: float | None = None


@dataclass(frozen=True)
class Contestant:
    """One agent: its name, and its files, or its traces with where they come from."""

    name: str
    files: tuple[Path, ...] = ()
    traces: tuple[Trace, ...] | None = None
    origin: str = ""

    def inputs(self) -> list[dict[str, str]]:
        """What is read of it, as a run's facts name inputs: each with a digest of its content.

        Raises:
            ConfigError: a file that cannot be read.
        """
        if self.traces is None:
            return list(map(file_facts, self.files))
        origin = self.origin or f"{len(self.traces)} traces of {self.name}"
        return [{"file": origin, "sha256": digest([trace.digest for trace in self.traces])}]


def set_up_preference(loaded: Loaded, flags: Flags, pair: PairFlags) -> Setup:
    """Everything that a run of `preference` needs.

    Raises:
        ConfigError, CaseError, NoDataError, ProviderError: whatever is wrong, before anything is judged.
    """
    agents = contestants(loaded, pair)
    # The plan is made for what all agents share; its own trace files are not used.
    files = [str(file) for agent in agents for file in agent.files]
    settings = msgspec.structs.replace(loaded.settings, traces=tuple(files) or ("-",))
    shared = replace(loaded, settings=settings, origins={**loaded.origins, "traces": "flag"})
    plan = prepare(
        shared,
        policy=flags.policy,
        tags=flags.tags,
        strict=flags.strict,
        needs_cases=loaded.settings.preference.by == "golden",
    )
    return set_up_contest(loaded, agents, plan, flags, pair)


def set_up_contest(loaded: Loaded, agents: Sequence[Contestant], plan: Plan, flags: Flags, pair: PairFlags) -> Setup:
    """A run over agents whose traces were found.

    Args:
        loaded: the settings.
        agents: two or more.
        plan: cases, policy and catalog.
        flags: how judges are asked.
        pair: how pairs are made.

    Raises:
        ConfigError: fewer than two agents, a name that stands twice, a rule that cannot be used.
    """
    rules = rules_of(loaded, flags, pair)
    refuse_unclear([agent.name for agent in agents])
    table = loaded.settings.preference
    first = panel_of(loaded, flags.judge or table.judge, probe_local=flags.probe_local)
    panel = with_second(first, second_of(loaded))
    cleaner = cleaner_for(loaded, panel)
    with without_secrets(cleaner.redactor):
        reports: dict[str, ReadingReport] = {}
        prompter = prompter_for(
            loaded, flags.prompt or table.prompt, "preference", cleaner, panel, from_flag=flags.prompt is not None
        )
        asking = asking_of(loaded, first, flags)
        cases = case_files(plan)
        case_facts = list(map(file_facts, cases))
        inputs = [one for agent in agents for one in agent.inputs()] + case_facts
        work = PreferenceWork(
            pairing=Pairing(
                [Side(agent.name, _reader(agent, plan, reports)) for agent in agents], only=flags.only,
                limit=flags.limit,
            ),
            prompter=prompter if panel.specs else None, cleaner=cleaner, judges=tuple(first.specs),
            second=next((name for name in panel.specs if name not in first.specs), None), rules=rules,
            quorum=quorum_of(first, flags), recalibrating=_recalibrating(loaded, prompter, panel),
            review_share=loaded.settings.review.random, reports=reports,
            more_facts=inputs_facts(inputs, loaded, plan.policy, flags, case_facts or None),
        )  # fmt: skip
    files = [file for agent in agents for file in agent.files]
    return Setup(
        work, panel, asking, cleaner, loaded, flags.offline, inputs=[*files, *cases], close=plan.cases.close,
        keeps=bool(panel.specs) or has_store(loaded) or flags.resume is not None or flags.keeps,
        warn=lambda: [*relatives(panel, work.agents), *work.notes()],
    )  # fmt: skip


# ---- agents ----


def contestants(loaded: Loaded, pair: PairFlags) -> list[Contestant]:
    """The agents that the command line names; if it names none, those of the settings.

    Raises:
        ConfigError: fewer than two, names that do not fit, a run that is not there or kept no traces.
        NoDataError: an empty folder.
    """
    written = loaded.settings.preference.agents
    if not pair.inputs and written:
        refuse_unclear(tuple(written), Place("preference.agents"))
        return [_contestant(loaded, name, one, folder_of(loaded, f"preference.agents.{name}"))
                for name, one in written.items()]  # fmt: skip
    if len(pair.inputs) < 2:
        raise ConfigError(
            "two agents are needed to compare",
            hint="rightcall preference A B, or [preference.agents]: trace files, folders, patterns, or ids of runs",
        )
    if pair.names and len(pair.names) != len(pair.inputs):
        raise ConfigError(
            f"{len(pair.names)} names for {len(pair.inputs)} agents", place=Place("--names"),
            hint="one name for each, with commas between",
        )  # fmt: skip
    names = pair.names or tuple(map(_name_of, pair.inputs))
    refuse_unclear(names)
    return [_contestant(loaded, name, one) for name, one in zip(names, pair.inputs, strict=True)]


def refuse_unclear(names: Sequence[str], place: Place | None = None) -> None:
    """Refuse agents that cannot be told apart; `place` is where they are named.

    Raises:
        ConfigError: fewer than two, one without a name, two of one name.
    """
    twice = [name for name, count in Counter(names).items() if count > 1]
    if len(names) < 2 or twice or not all(name.strip() for name in names):
        what = f"two agents are called `{twice[0]}`" if twice else "every agent needs a name, and two are needed"
        raise ConfigError(what, place=place or Place("--names"), hint="--names prod,candidate")


def _name_of(given: str) -> str:
    """What an agent is called if nobody says so: a run's id, a folder's name, a file's without its suffixes."""
    if _is_run(given):
        return given
    name = Path(given).name
    return name if Path(given).is_dir() else name.split(".", 1)[0] or name


def _is_run(given: str) -> bool:
    return _RUN.fullmatch(given) is not None and not Path(given).exists()


def _contestant(loaded: Loaded, name: str, given: str, folder: Path | None = None) -> Contestant:
    """One agent; `folder` is what its path belongs to, the current one if not given."""
    if _is_run(given):
        return Contestant(name, traces=traces_of_run(loaded, given), origin=f"run {given}")
    return Contestant(name, tuple(expand([given], folder or Path(), "trace")))


def traces_of_run(loaded: Loaded, run_id: str) -> tuple[Trace, ...]:
    """The traces that were kept with a run's verdicts, each once; redacted, as everything on record.

    Raises:
        ConfigError: the run compares traces itself, or kept none. StoreError: there is no such run.
    """
    with open_store(loaded, create=False) as store:
        run = store.run(run_id)
        if run.grader == "preference":
            raise ConfigError(f"run {run_id} compares traces of several agents", hint="name a run of one agent")
        kept = (one for one in store.verdicts(run_id) if one.grader != "preference")
        bodies = dict.fromkeys(one.trace for one in kept if one.trace is not None)
        if not bodies:
            raise NoDataError(f"run {run_id} kept no traces", hint="runs of rubric and golden keep them")
        return tuple(msgspec.json.decode(store.body(body), type=Trace) for body in bodies)


def _reader(agent: Contestant, plan: Plan, reports: dict[str, ReadingReport]) -> Any:
    """Reads the traces of one agent with their cases; what was read is reported with the others'."""

    def joined() -> Any:
        joining = Joining(replace(plan, traces=agent.files, only=None, limit=None), agent.traces)
        joining.reports = reports
        yield from joining.joined()

    return joined


# ---- judges and rules ----


def second_of(loaded: Loaded) -> Panel:
    """The second judge of the settings; an empty panel if there is none.

    Raises:
        ConfigError: there is no such judge.
    """
    name = loaded.settings.preference.second_judge
    return Panel() if name is None else panel_of(loaded, name)


def with_second(first: Panel, second: Panel) -> Panel:
    """The first judges and the second one, which is only asked where somebody was asked before.

    Raises:
        ConfigError: a second judge that is one of the first, or is several.
    """
    if not first.specs or not (second.specs or second.skipped):
        return first
    place = Place("preference.second_judge")
    if len(second.specs) != 1:
        raise ConfigError(f"that is {len(second.specs)} judges; the second judge is one", place=place)
    if second.specs.keys() & first.specs.keys():
        raise ConfigError(
            f"`{next(iter(second.specs))}` is asked first already", place=place, hint="name another judge"
        )
    return Panel({**first.specs, **second.specs}, first.skipped, {**first.clients, **second.clients})


def _recalibrating(loaded: Loaded, prompter: Prompter, panel: Panel) -> Recalibrating | None:
    """What stated confidence is worth, if the settings ask for that."""
    if loaded.settings.preference.confidence == "stated" or not panel.specs:
        return None
    asked = {name: spec.model for name, spec in panel.specs.items()}
    return recalibrating(loaded, "preference", prompter.prompt.sha256, asked)


def rules_of(loaded: Loaded, flags: Flags, pair: PairFlags) -> Rules:
    """The rules of a run.

    Raises:
        ConfigError: a number that cannot be used, or early stopping of a sample.
    """
    table = loaded.settings.preference
    if not 0 <= table.min_confidence <= 1:
        raise ConfigError("must be from 0 to 1", place=Place("preference.min_confidence"))
    if pair.stop_early is not None:
        if not 0 < pair.stop_early < 1:
            raise ConfigError("must lie between 0 and 1", place=Place("--stop-early"))
        if flags.sample is not None:
            raise ConfigError(
                "early stopping takes the pairs in a random sequence of its own", place=Place("--stop-early"),
                hint="leave out --sample",
            )  # fmt: skip
    return Rules(
        protocol=table.orders, allow_tie=table.allow_tie, min_confidence=table.min_confidence,
        by_golden=table.by == "golden", cross_check=pair.cross_check, stop_early=pair.stop_early, seed=flags.seed,
    )  # fmt: skip
