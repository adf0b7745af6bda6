"""A recorded trace against its golden and policy, with what the suite, the marker and the assertion say."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from rightcall.case.case import Case
from rightcall.errors import ConfigError
from rightcall.grade.golden import Grader, Options
from rightcall.run.inputs.catalogs import Catalogs

if TYPE_CHECKING:
    from rightcall.grade.verdict import GoldenResult
    from rightcall.plugin.state import Said, State

_NO_CASE = Case(id="")


@dataclass(frozen=True)
class Wished:
    """What an assertion says, in place of the marker and the settings; `None`: as those say."""

    policy: object = None
    profile: str | None = None
    min_overall: float | None = None


def graded(state: State, said: Said, wished: Wished) -> tuple[GoldenResult, Options]:
    """Grade a trace, and keep the result for the report.

    Raises:
        RightcallError: a case, a catalog, a policy or an option that cannot be used.
    """
    suite, mark = state.suite, state.words
    table = suite.loaded.settings.golden
    minimum = next(each for each in (wished.min_overall, mark.min_overall, table.min_overall) if each is not None)
    options = Options(
        profile=wished.profile or mark.profile or table.profile, min_overall=_exact(minimum),
        retries_are_free=table.retries == "free", surplus_reads_are_free=table.surplus_reads == "free",
    )  # fmt: skip
    policy = suite.policy(wished.policy if wished.policy is not None else mark.policy, state.folder)
    case = said.case or _NO_CASE
    catalogs = Catalogs(suite.catalog(mark.tools, state.folder))
    catalog, conflict = catalogs.of(said.trace, case)
    grader = Grader(case, policy=policy, options=options, aliases=suite.loaded.settings.aliases)
    result = grader.grade(said.trace, catalog, conflict=conflict)
    if said.case is None:
        result = replace(result, case_id=said.trace.case_id)
    said.graded(result, facts_of(options, policy))
    return result, options


def _exact(number: object) -> Fraction:
    """The number as it is written: `0.1` is a tenth."""
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not isfinite(number):
        raise ConfigError(f"min_overall must be a number from 0 to 1, not {number!r}")
    return Fraction(Decimal(repr(number)))


def facts_of(options: Options, policy: object) -> dict[str, Any]:
    """How something was graded, as a run's facts say it."""
    return {
        "profile": options.profile,
        "min_overall": float(options.min_overall),
        "retries": "free" if options.retries_are_free else "surplus",
        "surplus_reads": "free" if options.surplus_reads_are_free else "charged",
        "policy_sha256": sha256(msgspec.json.encode(policy, order="deterministic")).hexdigest(),
    }


def grade_what_is_left(state: State) -> None:
    """Grade what the test has not asserted, so that a test that stopped early is in the report all the same.

    Raises:
        RightcallError: as `graded`.
    """
    for said in state.said:
        if said.golden is None and said.case is not None and (said.case.expect is not None or said.case.policy):
            graded(state, said, Wished())
