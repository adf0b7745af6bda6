"""`lint` over files: the cases, catalog and policy of a suite, read as `golden` would read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rightcall.case.lint import Lint, lint
from rightcall.case.load import iter_cases, load_tools
from rightcall.errors import CaseError
from rightcall.run.plan import expand
from rightcall.settings.load import load_policy, load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.case.case import Case
    from rightcall.errors import Place


def lint_suite(
    config: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any], policy: Path | None
) -> tuple[int, list[Lint]]:
    """Number of cases, and everything that is wrong or doubtful about the suite.

    Raises:
        ConfigError, CaseError, NoDataError: a file that cannot be read.
    """
    loaded = load_settings(config, environ, flags)
    settings = loaded.settings
    rules = settings.policy if policy is None else load_policy(policy)
    own = loaded.origins.get
    folder = {key: loaded.folder if own(key) == str(loaded.file) else Path() for key in ("cases", "tools")}
    tools = load_tools(folder["tools"] / settings.tools) if settings.tools else None
    names = [settings.cases] if isinstance(settings.cases, str) else list(settings.cases)
    cases: list[tuple[Case, Place]] = []
    found: list[Lint] = []
    for path in expand(names, folder["cases"], "case"):
        try:
            cases += [(case, place) for case, place, _ in iter_cases(path, tools, [])]
        except CaseError as error:
            if error.code != "CASE_DUPLICATE_ID":
                raise
            found.append(Lint("error", error.code, error.place, None, error.message, error.hint))
    return len(cases), found + lint(cases, tools, rules, settings.aliases)
