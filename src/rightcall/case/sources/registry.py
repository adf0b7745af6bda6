"""Every benchmark whose answers can be read as cases. A new one is one module and one line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rightcall.case.case import Case
from rightcall.case.sources import agentdojo, bfcl, deepeval, google_adk, langsmith, tau, tau2, xlam
from rightcall.errors import Place
from rightcall.trace.jsontext import JsonValue
from rightcall.trace.sources.dialect import Skip


class CaseSource(NamedTuple):
    """How a benchmark's file is recognised, and how its cases are read."""

    detect: Callable[[JsonValue], bool]
    cases: Callable[[JsonValue, Place], Iterator[Case | Skip]]


SOURCES: dict[str, CaseSource] = {
    "agentdojo": CaseSource(agentdojo.detect, agentdojo.cases),
    "bfcl": CaseSource(bfcl.detect, bfcl.cases),
    "deepeval": CaseSource(deepeval.detect, deepeval.cases),
    "google_adk": CaseSource(google_adk.detect, google_adk.cases),
    "langsmith": CaseSource(langsmith.detect, langsmith.cases),
    "tau": CaseSource(tau.detect, tau.cases),
    "tau2": CaseSource(tau2.detect, tau2.cases),
    "xlam": CaseSource(xlam.detect, xlam.cases),
}
