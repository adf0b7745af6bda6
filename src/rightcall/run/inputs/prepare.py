"""From settings to a plan: files found, cases read and checked, policy and catalog loaded."""

from __future__ import annotations

import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from rightcall.case.load import load_tools
from rightcall.errors import CaseError, ConfigError, Place
from rightcall.grade.golden import Options
from rightcall.grade.safety import Matrix
from rightcall.run.inputs.branch import source_facts
from rightcall.run.inputs.cases import CaseIndex, open_cases
from rightcall.run.inputs.catalogs import Catalogs
from rightcall.run.inputs.hiding import without_secrets
from rightcall.run.inputs.opening import redactor_of
from rightcall.run.inputs.plan import Plan, expand, refuse_unknown_tags
from rightcall.settings.load import load_policy

if TYPE_CHECKING:
    from rightcall.settings.load import Loaded
    from rightcall.trace.redact import Redactor


def prepare(
    loaded: Loaded, *, policy: Path | None = None, only: str | None = None, limit: int | None = None,
    tags: tuple[str, ...] = (), strict: bool = False, needs_cases: bool = True,
) -> Plan:  # fmt: skip
    """Settle everything that a run over traces needs.

    Args:
        loaded: the settings with their origins.
        policy: a policy file, in place of the settings' policy.
        only: grade only the trace of this id.
        limit: grade at most so many traces.
        tags: only the traces of cases with one of these tags.
        strict: a record that cannot be read stops the run.
        needs_cases: whether there must be cases.

    Raises:
        ConfigError, CaseError, NoDataError: whatever is wrong, before anything is graded.
    """
    hide = redactor_of(loaded)
    with without_secrets(hide):
        return _plan(loaded, hide, policy, only, limit, tags, strict=strict, needs_cases=needs_cases)


def _plan(
    loaded: Loaded, hide: Redactor, policy: Path | None, only: str | None, limit: int | None,
    tags: tuple[str, ...], *, strict: bool, needs_cases: bool,
) -> Plan:  # fmt: skip
    settings = loaded.settings
    rules = settings.policy if policy is None else load_policy(policy)
    try:
        Matrix(rules, settings.aliases)
    except (ConfigError, CaseError) as error:
        file = policy or loaded.file
        place = Place(str(file) if file else None, None, None, error.place.path)
        raise ConfigError(error.message, place=place, hint=error.hint) from None
    options = Options(
        profile=settings.golden.profile,
        min_overall=Fraction(Decimal(repr(settings.golden.min_overall))),
        retries_are_free=settings.golden.retries == "free",
        surplus_reads_are_free=settings.golden.surplus_reads == "free",
    )
    if settings.limits.jobs < 1 or (limit is not None and limit < 1):
        raise ConfigError("jobs and limit must be at least 1")
    if settings.limits.failures < 0 or not 0 <= settings.limits.coverage <= 1:
        raise ConfigError("limits.failures must not be negative, and limits.coverage must be from 0 to 1")
    tools_file = folder_of(loaded, "tools") / settings.tools if settings.tools else None
    tools = load_tools(tools_file) if tools_file else None
    traces = expand(names_of(settings.traces), folder_of(loaded, "traces"), "trace")
    names = names_of(settings.cases)
    case_files = expand(names, folder_of(loaded, "cases"), "case") if names or needs_cases else []
    catalogs = Catalogs(tools, Place(str(tools_file)))
    cases = open_cases(case_files, settings.aliases, catalogs) if case_files else CaseIndex()
    refuse_unknown_tags(tags, (tag for entry in cases.entries.values() for tag in entry.tags))
    return Plan(
        traces=tuple(traces), cases=cases,
        policy=rules, options=options, aliases=settings.aliases, tools=tools,
        tools_file=None if tools_file is None else str(tools_file), dialect=settings.dialect,
        exclude_tools=settings.exclude_tools, strict=strict, only=only, limit=limit, tags=tags,
        jobs=settings.limits.jobs, kept_failures=settings.limits.failures,
        redactor=hide, source=source_facts(loaded, os.environ),
    )  # fmt: skip


def names_of(value: str | tuple[str, ...]) -> list[str]:
    """The names that a setting holds: one text or several."""
    return [value] if isinstance(value, str) else list(value)


def folder_of(loaded: Loaded, key: str) -> Path:
    """Paths of the settings file belong to its folder, those of flags and the environment to the current one."""
    return loaded.folder if loaded.origins.get(key) == str(loaded.file) else Path()
