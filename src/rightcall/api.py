"""The Python face of rightcall: what `import rightcall` offers, gathered in one place.

>>> import rightcall
>>> case = rightcall.load_cases("cases.toml")[0]          # doctest: +SKIP
>>> trace = rightcall.load_traces("traces.jsonl")[0]      # doctest: +SKIP
>>> rightcall.grade(case, trace).verdict                  # doctest: +SKIP
'PASS'
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

from rightcall.case.case import Case
from rightcall.case.load import load_cases
from rightcall.case.policy import Policy
from rightcall.errors import CaseError, ConfigError, NoDataError, Place, RightcallError, TraceError
from rightcall.grade.golden import Grader, Options
from rightcall.grade.verdict import Finding, GoldenResult, Metrics
from rightcall.run.catalogs import Catalogs
from rightcall.settings.load import load_policy
from rightcall.trace.model import Call, Message, Result, Tool, Trace, call
from rightcall.trace.sources.reading import load_traces

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "Call", "Case", "CaseError", "ConfigError", "Finding", "GoldenResult", "Message", "Metrics", "NoDataError",
    "Place", "Policy", "Result", "RightcallError", "Tool", "Trace", "TraceError", "call", "grade", "load_cases",
    "load_policy",
    "load_traces",
]  # fmt: skip


def grade(
    case: Case,
    trace: Trace,
    *,
    policy: Policy | None = None,
    profile: str = "balanced",
    min_overall: float | Fraction = 1,
    tools: Iterable[Tool] | None = None,
    aliases: Mapping[str, str] | None = None,
    retries: str = "free",
    surplus_reads: str = "charged",
) -> GoldenResult:
    """Grade one trace against one case's golden and policy, by code alone (SPEC §5, §6).

    Args:
        case: what should have happened.
        trace: what happened.
        policy: the suite's policy; the case's own is added, and the suite's classes win.
        profile: `balanced`, `strict`, `article`, or a compatibility profile.
        min_overall: `PASS` needs at least this `overall`, compared unrounded; from 0 to 1.
        tools: the catalog to use where neither the trace nor the case has one.
        aliases: other tool name -> canonical name; only declared aliases pair.
        retries: `free` leaves repeats after a failure out of the actual length, `surplus` charges them.
        surplus_reads: `free` exempts surplus calls of class `read`, `charged` does not.

    Returns:
        The result: status, verdict, metrics in [0, 1], findings, vetoes.

    Raises:
        CaseError: the case contradicts itself (`after` in a circle, a bad matcher …).
        ConfigError: an option, a tool's schema or a policy that cannot be used.
    """
    options = Options(
        profile=profile,
        min_overall=_exact(min_overall),
        retries_are_free=_choice("retries", retries, "free", "surplus"),
        surplus_reads_are_free=_choice("surplus_reads", surplus_reads, "free", "charged"),
    )
    catalogs = Catalogs(tuple(tools) if tools is not None else None)
    catalog, conflict = catalogs.of(trace, case)
    grader = Grader(case, policy=policy, options=options, aliases=aliases)
    return grader.grade(trace, catalog, conflict=conflict)


def _exact(number: float | Fraction) -> Fraction:
    """The number as it is written: `0.1` is a tenth."""
    if isinstance(number, Fraction):
        return number
    if not isfinite(number):
        raise ConfigError("min_overall must be from 0 to 1")
    return Fraction(Decimal(repr(number)))


def _choice(name: str, value: str, free: str, charged: str) -> bool:
    if value not in (free, charged):
        raise ConfigError(f"{name} must be `{free}` or `{charged}`, not `{value}`")
    return value == free
