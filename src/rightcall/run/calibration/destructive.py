"""Whether a destructive tool is involved in what a label is about: by the policy, else by the hints of the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case.case import Case
from rightcall.case.policy import Policy
from rightcall.grade.safety import Matrix
from rightcall.run.inputs.catalog_record import kept_catalog
from rightcall.trace.catalog import written_catalog
from rightcall.trace.model import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.store.records import VerdictRecord
    from rightcall.store.store import Store
    from rightcall.trace.catalog import Catalog


class Destructive:
    """Tells it of results on record; it keeps what it has looked up.

    A tool is of the class that the graders saw: the suite's policy and the case's together, else the hints of the
    catalog that counts (the trace's, else the case's, else the suite's as the run kept it), by its canonical name.

    Args:
        store: the record.
        policy: the suite's.
    """

    def __init__(self, store: Store, policy: Policy | None) -> None:
        """Nothing is read yet."""
        self.store, self.policy = store, Policy() if policy is None else policy
        self._kept: dict[str, Catalog | None] = {}
        self._cases: dict[str, Case | None] = {}

    def of(
        self, grader: str, facts: Mapping[str, Any], verdict: VerdictRecord, result: Mapping[str, Any]
    ) -> bool | None:
        """Whether a destructive tool is chosen or expected, read from, or called in either trace; `None`: unknown.

        Args:
            grader: whose result it is.
            facts: those of its run about that grader.
            verdict: the verdict on record.
            result: the result as `--json` gives it.

        Raises:
            StoreError: a body cannot be read.
        """
        if grader == "selection":
            return bool(result.get("destructive"))
        bodies = [body for body in (verdict.trace, verdict.trace_b) if body is not None]
        if not bodies:
            return None
        case = self._case(verdict.case)
        own = None if case is None else case.policy
        aliases = facts.get("aliases") or {}
        matrix = Matrix(self.policy if own is None else self.policy + own, aliases)
        only = result.get("tool") if grader == "interpretation" else None
        for body in bodies:
            trace = msgspec.json.decode(self.store.body(body), type=Trace)
            catalog = self._catalog(verdict.run_id, trace, case)
            tools = {aliases.get(call.tool, call.tool) for call in trace.calls if only in (None, call.tool)}
            if any(matrix.class_of(tool, catalog) == "destructive" for tool in tools):
                return True
        return False

    def _case(self, body: str | None) -> Case | None:
        if body is None:
            return None
        if body not in self._cases:
            self._cases[body] = msgspec.json.decode(self.store.body(body), type=Case)
        return self._cases[body]

    def _catalog(self, run: str, trace: Trace, case: Case | None) -> Catalog | None:
        own = written_catalog(trace.tools_json)
        if own is None and case is not None:
            own = written_catalog(case.tools_json)
        if own is not None:
            return own
        if run not in self._kept:
            self._kept[run] = kept_catalog(self.store, run)
        return self._kept[run]
