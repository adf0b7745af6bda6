"""`lint` over files: the cases, catalog and policy of a suite, read as `golden` would read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.case.lint import Lint, lint
from rightcall.case.load import iter_cases, load_tools
from rightcall.errors import CaseError, Place
from rightcall.run.inputs.hiding import gives_away, without_secrets
from rightcall.run.inputs.opening import redactor_of
from rightcall.run.inputs.plan import expand
from rightcall.run.inputs.prepare import folder_of, names_of
from rightcall.settings.load import load_policy, load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rightcall.case.case import Case
    from rightcall.settings.load import Loaded
    from rightcall.trace.redact import Redactor
    from rightcall.trace.sources.dialect import Skip


def lint_suite(
    config: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any], policy: Path | None
) -> tuple[int, list[Lint]]:
    """Number of cases, and everything that is wrong or doubtful about the suite.

    Raises:
        ConfigError, CaseError, NoDataError: a file that cannot be read.
    """
    loaded = load_settings(config, environ, flags)
    hide = redactor_of(loaded)
    with without_secrets(hide):
        number, found = _lint(loaded, policy)
    return number, [_hidden(item, hide) for item in found]


def _hidden(item: Lint, hide: Redactor) -> Lint:
    """What is wrong, without what must not leave."""
    place = Place(item.place.file, item.place.line, item.place.column, item.place.path and hide.text(item.place.path))
    message = hide.text(item.message)
    if item.code == "invalid_argument" and gives_away(item.place.path, hide):
        message = "a golden value that the tool's schema refuses (not shown)"
    case_id, hint = item.case_id and hide.text(item.case_id), item.hint and hide.text(item.hint)
    return Lint(item.severity, item.code, place, case_id, message, hint)


def _lint(loaded: Loaded, policy: Path | None) -> tuple[int, list[Lint]]:
    settings = loaded.settings
    rules = settings.policy if policy is None else load_policy(policy)
    tools = load_tools(folder_of(loaded, "tools") / settings.tools) if settings.tools else None
    cases: list[tuple[Case, Place]] = []
    found: list[Lint] = []
    skips: list[Skip] = []
    for path in expand(names_of(settings.cases), folder_of(loaded, "cases"), "case"):
        try:
            for case, place, _ in iter_cases(path, tools, skips):
                cases.append((case, place))
        except CaseError as error:
            if error.code != "CASE_DUPLICATE_ID":
                raise
            found.append(Lint("error", error.code, error.place, None, error.message, error.hint))
    found += [Lint("warning", skip.code, skip.place, None, f"no case: {skip.message}") for skip in skips]
    return len(cases), found + lint(cases, tools, rules, settings.aliases)
