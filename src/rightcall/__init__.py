"""rightcall: did the AI agent make the right tool calls, and how far can that answer be trusted?

Names are loaded when they are first used, so that importing the package costs next to nothing. `__all__` is what a
program calls or makes (see `rightcall.api`). What it only meets, which is results, their parts and errors, has its name
here too, for annotations and `except`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rightcall.api import (
        Case,
        Judge,
        Malformed,
        Message,
        Policy,
        RightcallError,
        Step,
        Store,
        Tool,
        Trace,
        calibrate,
        call,
        grade,
        interpretation,
        load_cases,
        load_policy,
        load_steps,
        load_tools,
        load_traces,
        preference,
        read_reply,
        rubric,
        run,
        select,
        selection,
    )
    from rightcall.errors import CaseError as CaseError
    from rightcall.errors import ConfigError as ConfigError
    from rightcall.errors import MissingExtraError as MissingExtraError
    from rightcall.errors import NoDataError as NoDataError
    from rightcall.errors import Place as Place
    from rightcall.errors import ProviderError as ProviderError
    from rightcall.errors import RateLimited as RateLimited
    from rightcall.errors import Rejected as Rejected
    from rightcall.errors import RunError as RunError
    from rightcall.errors import StoreError as StoreError
    from rightcall.errors import TraceError as TraceError
    from rightcall.errors import Unavailable as Unavailable
    from rightcall.gate.decision import GateReport as GateReport
    from rightcall.grade.interpretation import InterpretationResult as InterpretationResult
    from rightcall.grade.opinion import Opinion as Opinion
    from rightcall.grade.preference import PreferenceResult as PreferenceResult
    from rightcall.grade.rubric import RubricResult as RubricResult
    from rightcall.grade.selection import SelectionResult as SelectionResult
    from rightcall.grade.verdict import Finding as Finding
    from rightcall.grade.verdict import GoldenResult as GoldenResult
    from rightcall.grade.verdict import Metrics as Metrics
    from rightcall.report.given.judged import JudgedRun as JudgedRun
    from rightcall.report.given.suite import FinishedSuite as FinishedSuite
    from rightcall.run.calibration.calibrating import CalibrationReport as CalibrationReport
    from rightcall.trace.model import Call as Call
    from rightcall.trace.model import Result as Result

__version__ = "0.1.0"
__all__ = [
    "Case",
    "Judge",
    "Malformed",
    "Message",
    "Policy",
    "RightcallError",
    "Step",
    "Store",
    "Tool",
    "Trace",
    "calibrate",
    "call",
    "grade",
    "interpretation",
    "load_cases",
    "load_policy",
    "load_steps",
    "load_tools",
    "load_traces",
    "preference",
    "read_reply",
    "rubric",
    "run",
    "select",
    "selection",
]
_MET = {
    "CalibrationReport": "rightcall.run.calibration.calibrating",
    "Call": "rightcall.trace.model",
    "CaseError": "rightcall.errors",
    "ConfigError": "rightcall.errors",
    "Finding": "rightcall.grade.verdict",
    "FinishedSuite": "rightcall.report.given.suite",
    "GateReport": "rightcall.gate.decision",
    "GoldenResult": "rightcall.grade.verdict",
    "InterpretationResult": "rightcall.grade.interpretation",
    "JudgedRun": "rightcall.report.given.judged",
    "Metrics": "rightcall.grade.verdict",
    "MissingExtraError": "rightcall.errors",
    "NoDataError": "rightcall.errors",
    "Opinion": "rightcall.grade.opinion",
    "Place": "rightcall.errors",
    "PreferenceResult": "rightcall.grade.preference",
    "ProviderError": "rightcall.errors",
    "RateLimited": "rightcall.errors",
    "Rejected": "rightcall.errors",
    "Result": "rightcall.trace.model",
    "RubricResult": "rightcall.grade.rubric",
    "RunError": "rightcall.errors",
    "SelectionResult": "rightcall.grade.selection",
    "StoreError": "rightcall.errors",
    "TraceError": "rightcall.errors",
    "Unavailable": "rightcall.errors",
}
"""Name -> the module that it is at home in."""


if not TYPE_CHECKING:  # a type checker would take any name for one that this gives

    def __getattr__(name: str) -> Any:
        """Load a public name on first use."""
        if name not in __all__ and name not in _MET:
            raise AttributeError(f"module 'rightcall' has no attribute {name!r}")
        return globals().setdefault(name, api_function(name))


def api_function(name: str) -> Any:
    """A public name, from where it lives."""
    return getattr(import_module(_MET.get(name, "rightcall.api")), name)
