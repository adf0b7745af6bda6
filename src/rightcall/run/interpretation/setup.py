"""From settings and flags to a run of `interpretation`: by one judge, a panel, or a light and a strong one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from rightcall.errors import ConfigError, Place
from rightcall.judge.interpretation import DIRECT_SCHEMA
from rightcall.run.calibration.recalibrating import Recalibrating, recalibrating, unfit_models
from rightcall.run.golden.joining import Joining
from rightcall.run.graders.setup import (
    Setup,
    asking_of,
    cleaner_for,
    file_facts,
    inputs_facts,
    plan_of,
    prompter_for,
    quorum_of,
)
from rightcall.run.graders.step_source import case_files
from rightcall.run.inputs.hiding import without_secrets
from rightcall.run.interpretation.reading import InterpretationWork
from rightcall.run.interpretation.sampling import TwoPhases
from rightcall.run.judging.judges import Panel, panel_of, relatives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.grade.interpretation import Mapping
    from rightcall.judge.template import Template
    from rightcall.run.graders.setup import Flags
    from rightcall.run.inputs.plan import Plan
    from rightcall.run.judging.questions import Prompter
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.settings.load import Loaded
    from rightcall.settings.model import InterpretationTable
    from rightcall.trace.model import Trace


def set_up_interpretation(loaded: Loaded, flags: Flags) -> Setup:
    """Everything that a run of `interpretation` needs.

    Args:
        loaded: the settings.
        flags: what every judged command takes.

    Raises:
        ConfigError, CaseError, NoDataError, ProviderError: whatever is wrong, before anything is judged.
    """
    table = checked(loaded.settings.interpretation)
    panel, light = judges_of(loaded, flags, table)
    cleaner = cleaner_for(loaded, panel)
    with without_secrets(cleaner.redactor):
        plan = plan_of(loaded, flags, needs_cases=False)
        asking = asking_of(loaded, panel, flags)
        work = work_of(loaded, plan, panel, light, cleaner, flags)
    return Setup(
        work, panel, asking, cleaner, loaded, flags.offline, keeps=True, inputs=[*plan.traces, *case_files(plan)],
        warn=lambda: [*relatives(panel, work.agents), *work.notes()], close=plan.cases.close,
    )  # fmt: skip


def work_of(
    loaded: Loaded, plan: Plan, panel: Panel, light: str | None, cleaner: Cleaner, flags: Flags,
    given: Sequence[Trace] | None = None,
) -> InterpretationWork:  # fmt: skip
    """The work of a run over the traces of a plan.

    Args:
        loaded: the settings.
        plan: the files, the cases.
        panel: the judges; `light` is the one that a strong one checks, if there is one.
        light: its name.
        cleaner: takes secrets out.
        flags: what every judged command takes.
        given: traces that a program holds, in place of the plan's files; it says itself what was judged.

    Raises:
        ConfigError: a prompt or a mapping that cannot be used.
    """
    table = loaded.settings.interpretation
    asked = prompter_for(
        loaded, flags.prompt or table.prompt, "interpretation", cleaner, panel, from_flag=flags.prompt is not None
    )
    mapping = mapping_of(asked.prompt, table.mapping)
    joining = Joining(plan, given)
    files = [] if given is not None else [file_facts(path) for path in (*plan.traces, *case_files(plan))]
    cases = None if given is not None else list(map(file_facts, case_files(plan)))
    return InterpretationWork(
        traces=joining.joined, prompter=prompter_with(asked, mapping), cleaner=cleaner, mapping=mapping,
        quorum=quorum_of(panel, flags), review_share=loaded.settings.review.random, min_fidelity=table.min_fidelity,
        min_confidence=table.min_confidence, recalibrating=_recalibrating(loaded, asked, panel),
        phases=_with_calibration(loaded, phases_of(panel, light, table, mapping, flags.seed), asked, panel),
        more_facts=inputs_facts(files, loaded, plan.policy, flags, cases), reports=joining.reports,
    )  # fmt: skip


def checked(table: InterpretationTable) -> InterpretationTable:
    """The settings, if their numbers can be used.

    Raises:
        ConfigError: a share or a limit that cannot be.
    """
    if not 0 < table.strong_share <= 1:
        raise ConfigError(
            "must be above 0 and at most 1", place=Place("interpretation.strong_share"), hint="0.2 is a fifth"
        )
    for name in ("min_fidelity", "min_confidence", "max_disagreement"):
        if not 0 <= getattr(table, name) <= 1:
            raise ConfigError("must be from 0 to 1", place=Place(f"interpretation.{name}"))
    return table


def judges_of(loaded: Loaded, flags: Flags, table: InterpretationTable) -> tuple[Panel, str | None]:
    """The judges of a run, and which of them is the light one, if a strong one checks it.

    Where only one judge is configured beside the strong one, `auto` is that one.

    Raises:
        ConfigError: an unknown judge; a panel, or the strong judge itself, in the light one's place.
    """
    name = flags.judge or table.judge
    if table.strong_judge is None:
        return panel_of(loaded, name, probe_local=flags.probe_local), None
    strong = Panel() if table.strong_judge == "auto" else panel_of(loaded, table.strong_judge)
    if len(strong.specs) != 1:
        raise ConfigError(
            "a strong judge is one judge, by name",
            place=Place("interpretation.strong_judge"),
            hint="name one of [judges.NAME]",
        )  # fmt: skip
    light = panel_of(_without(loaded, table.strong_judge) if name == "auto" else loaded, name,
                     probe_local=flags.probe_local)  # fmt: skip
    if not light.specs:
        return light, None
    if light.specs.keys() == strong.specs.keys():
        raise _not_one("itself")
    name = sole_light(light)
    return Panel({**light.specs, **strong.specs}, None, {**light.clients, **strong.clients}), name


def sole_light(light: Panel) -> str:
    """The name of the light judge that a strong one checks.

    Raises:
        ConfigError: a panel in its place.
    """
    if len(light.specs) != 1:
        raise _not_one("a panel")
    return next(iter(light.specs))


def _not_one(what: str) -> ConfigError:
    return ConfigError(
        f"the strong judge checks one light judge, not {what}", place=Place("--judge"), hint="name one other judge"
    )


def _without(loaded: Loaded, name: str) -> Loaded:
    """The settings without one of their judges."""
    others = {one: spec for one, spec in loaded.settings.judges.items() if one != name}
    return replace(loaded, settings=msgspec.structs.replace(loaded.settings, judges=others))


def mapping_of(prompt: Template, mapping: Mapping) -> Mapping:
    """How a prompt's scores become fidelity: one that asks for a score from 0 to 1 is `direct`, whatever is set.

    Raises:
        ConfigError: `direct` for a shipped prompt, which asks for levels from 1 to 5.
    """
    if _asks_for_a_share(prompt):
        return "direct"
    if mapping == "direct" and prompt.file is None:
        raise ConfigError(
            f"prompt `{prompt.id}` asks for levels from 1 to 5, so its score is no fidelity",
            place=Place("interpretation.mapping"),
            hint="direct is for a prompt of your own that asks for a score from 0 to 1",
        )  # fmt: skip
    return mapping


def _asks_for_a_share(prompt: Template) -> bool:
    """Whether a prompt's own schema lets the score only be from 0 to 1."""
    part = (prompt.reply_schema or {}).get("properties", {}).get("score")
    if not isinstance(part, dict):
        return False
    most = [one for one in part.get("enum", ()) if isinstance(one, (int, float))] or [part.get("maximum", 5)]
    return bool(max(most) <= 1)


def prompter_with(prompter: Prompter, mapping: Mapping) -> Prompter:
    """The prompter with a schema for scores from 0 to 1, where its prompt states none of its own."""
    is_stated = prompter.prompt.reply_schema is not None
    return prompter if is_stated or mapping != "direct" else replace(prompter, reply_schema=DIRECT_SCHEMA)


def _with_calibration(loaded: Loaded, phases: TwoPhases | None, asked: Prompter, panel: Panel) -> TwoPhases | None:
    """The two phases, with what is on record against the light judge."""
    if phases is None:
        return None
    unfit = unfit_models(loaded, phases.light, asked.prompt.sha256)
    return replace(phases, light_model=panel.specs[phases.light].model, unfit=unfit)


def _recalibrating(loaded: Loaded, asked: Prompter, panel: Panel) -> Recalibrating | None:
    """What stated confidence is worth, if the settings ask for that."""
    if loaded.settings.interpretation.confidence == "stated" or not panel.specs:
        return None
    models = {name: spec.model for name, spec in panel.specs.items()}
    return recalibrating(loaded, "interpretation", asked.prompt.sha256, models)


def phases_of(
    panel: Panel, light: str | None, table: InterpretationTable, mapping: Mapping, seed: int
) -> TwoPhases | None:
    """How the light judge is checked by the strong one; `None` without a light one."""
    if light is None:
        return None
    strong = next(name for name in panel.specs if name != light)
    return TwoPhases(
        light, strong, share=table.strong_share, seed=seed, limit=table.max_disagreement,
        min_fidelity=table.min_fidelity, mapping=mapping,
    )  # fmt: skip
