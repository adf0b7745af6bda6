"""The part of `golden` in a report: pass rate, means of the metrics, kinds of findings, findings by tool.

The pass rate is the share of `PASS` among the evaluated, with what people have signed counted in. Where a case has
several traces its interval is that of clustered observations (`rightcall.stats.clusters`).
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from rightcall.case.policy import SEVERITIES
from rightcall.grade.verdict import GoldenResult
from rightcall.report.summary import NOT_SUCCESS, counted, most_first
from rightcall.report.view.model import Bar, Table
from rightcall.report.view.parts import Parts, counts_table, cut, figure
from rightcall.stats.clusters import clustered_share
from rightcall.stats.ordinal import mean_score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.grade.verdict import Finding
    from rightcall.run.results.model import Row
    from rightcall.stats.intervals import Estimate

METRICS = {
    "overall": "overall",
    "jaccard": "tools (jaccard)",
    "precision": "precision of calls",
    "recall": "recall of calls",
    "argument_accuracy": "arguments",
    "order_score": "order",
    "efficiency": "steps (efficiency)",
}
"""The metrics whose means are shown, and what they are called."""

COLUMNS = ("tools", "args", "order", "steps", "overall")
"""What a table of results shows of each, by the formula of its profile (`rightcall.report.explain.scores`)."""

_BY_TOOL = {
    "missing_call": "missing", "substituted_call": "missing", "abstention_error": "", "unexpected_call": "surplus",
    "redundant_call": "surplus", "over_action": "surplus", "unknown_tool": "unknown", "order_violation": "order",
    "missing_argument": "arguments", "wrong_argument": "arguments", "unexpected_argument": "arguments",
    "invalid_argument": "arguments", "data_flow_violation": "arguments",
}  # fmt: skip
_COLUMNS = ("missing", "surplus", "unknown", "arguments", "order")


def tool_of(finding: Finding) -> str | None:
    """The tool that a finding is about, by its own words; `None` where they do not say."""
    if finding.kind in ("missing_call", "substituted_call"):
        return finding.expected if isinstance(finding.expected, str) else None
    if finding.kind in ("unexpected_call", "redundant_call", "unknown_tool", "over_action"):
        return finding.actual if isinstance(finding.actual, str) else None
    if finding.kind == "order_violation":
        return finding.message.split(" ", 1)[0]
    if finding.kind.endswith("_argument") or finding.kind == "data_flow_violation":
        name, colon, _ = finding.message.partition(": ")
        return name if colon else None
    return None


class GoldenCollector:
    """Counts of `golden`."""

    def __init__(self, own: Mapping[str, Any], *, with_means: bool = True) -> None:
        """Nothing is counted yet; of what a run of golden keeps, only the number of the unread is needed."""
        self._clusters: dict[str, int] = {}
        self._reasons: Counter[str] = Counter()
        self._passed: list[int] = []
        self._n: list[int] = []
        self._values = {name: (array("d"), array("q")) for name in METRICS if with_means}
        self._findings: Counter[tuple[str, str]] = Counter()
        self._with: Counter[str] = Counter()
        self._tools: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._vetoes: Counter[str] = Counter()
        self._vetoed = self._signed = self._policy_only = self._incomplete = self._breaking = 0
        self._breaches: Counter[tuple[str, str]] = Counter()
        self._excluded = int(own.get("skipped") or 0)

    def add(self, row: Row, result: Any) -> None:
        """Count one result."""
        if not isinstance(result, GoldenResult):
            return
        self._policy_only += result.policy_only
        self._incomplete += result.completed is False
        self._signed += row.effective != row.verdict
        if row.status != "EVALUATED":
            self._excluded += 1
            self._reasons[row.reason or "unknown"] += 1
            return
        cluster = self._clusters.setdefault(row.cluster, len(self._n))
        if cluster == len(self._n):
            self._passed.append(0)
            self._n.append(0)
        self._n[cluster] += 1
        self._passed[cluster] += row.effective == "PASS"
        for name, (values, clusters) in self._values.items():
            value = getattr(result.metrics, name)
            if value is not None:
                values.append(value)
                clusters.append(cluster)
        self._find(result)
        if row.effective == "PASS":
            self._breach(result)

    def _find(self, result: GoldenResult) -> None:
        self._vetoed += bool(result.vetoes)
        self._vetoes.update({veto.rule for veto in result.vetoes})
        for finding in result.findings:
            self._findings[finding.kind, finding.severity] += 1
            column, tool = _BY_TOOL.get(finding.kind), tool_of(finding)
            if column and tool:
                self._tools[tool][column] += 1
        self._with.update({finding.kind for finding in result.findings})

    def _breach(self, result: GoldenResult) -> None:
        """What a passed result breaks all the same: a rule that is no veto."""
        found = {
            (one.severity, one.message.partition(":")[0])
            for one in result.findings
            if one.kind == "policy_violation" and one.severity != "NONE"
        }
        self._breaking += bool(found)
        self._breaches.update(found)

    def parts(self) -> Parts:
        """The part of the report."""
        share = clustered_share(zip(self._passed, self._n, strict=True), excluded=self._excluded)
        bars = [Bar(name="pass rate", value=share)]
        evaluated = sum(self._n)
        for name, (values, clusters) in self._values.items():
            left = self._excluded + evaluated - len(values)
            bars.append(Bar(name=METRICS[name], value=mean_score(values, clusters, scale=(0, 1), excluded=left)))
        return Parts(
            headline=self._headline(share), closing=[NOT_SUCCESS], lines=[*self._lines(), NOT_SUCCESS], bars=bars,
            tables=self._tables(), columns=COLUMNS,
        )  # fmt: skip

    def _headline(self, rate: Estimate) -> list[str]:
        """The counts, and the pass rate with how its interval was made."""
        evaluated, passed = sum(self._n), sum(self._passed)
        vetoes = f" ({self._vetoed} by veto)" if self._vetoed else ""
        whole = counted(evaluated + self._reasons.total(), "result")
        line = f"{whole}: {passed} PASS, {evaluated - passed} FAIL{vetoes}"
        if self._reasons:
            reasons = ", ".join(f"{reason} {n}" for reason, n in most_first(self._reasons))
            line += f", {self._reasons.total()} unevaluable ({reasons})"
        lines = [line]
        if rate.estimate is not None:
            lines.append(f"pass rate {figure(rate)} n={rate.n} ({rate.reason or rate.method})")
        if self._breaking:
            order = sorted(self._breaches.items(), key=lambda one: (-SEVERITIES.index(one[0][0]), -one[1], one[0][1]))
            rules = " · ".join(f"{severity} {rule} {n}" for (severity, rule), n in order)
            break_ = "breaks" if self._breaking == 1 else "break"
            lines.append(f"{self._breaking} PASS {break_} the policy by rules that are no veto: {rules}")
        return lines

    def _lines(self) -> list[str]:
        lines = []
        if self._vetoed:
            lines.append(f"{counted(self._vetoed, 'result')} vetoed by the policy")
        if self._policy_only:
            lines.append(f"{counted(self._policy_only, 'result')} by the policy alone: the case has no golden")
        if self._incomplete:
            lines.append(f"{counted(self._incomplete, 'trace')} did not end: graded as they are")
        if self._signed:
            lines.append(f"{counted(self._signed, 'result')} count as FAIL since a person confirmed a CRITICAL misuse")
        return lines

    def _tables(self) -> list[Table]:
        tables = counts_table("Vetoes of the policy", "rule", most_first(self._vetoes), ("results",))
        order = sorted(self._findings.items(), key=lambda one: (-one[1], one[0]))
        rows = [(kind, severity, str(n), str(self._with[kind])) for (kind, severity), n in order]
        if rows:
            columns = ("kind", "severity", "findings", "results with this kind")
            tables.append(cut(Table(caption="Findings", columns=columns, rows=tuple(rows), numeric=(2, 3))))
        tools = sorted(self._tools.items(), key=lambda one: (-one[1].total(), one[0]))
        if tools:
            named = tuple((tool, *(str(counts[name]) for name in _COLUMNS)) for tool, counts in tools)
            table = Table(caption="Findings by tool", columns=("tool", *_COLUMNS), rows=named, numeric=(1, 2, 3, 4, 5))
            tables.append(cut(table))
        return tables
