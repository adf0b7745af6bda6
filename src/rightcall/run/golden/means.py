"""Means of the metrics of a finished run of `golden`, each with its interval, from the results in its spool.

They are made once, at the end: a mean's interval needs every value with its case, and a run keeps counts alone.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.stats.ordinal import mean_score

if TYPE_CHECKING:
    from rightcall.run.golden.grading import Graded


SHOWN_METRICS = ("jaccard", "argument_accuracy", "order_score", "efficiency", "overall")
"""The metrics that a table shows and a summary averages."""


class _Metrics(Struct, frozen=True, gc=False):
    jaccard: float | None = None
    argument_accuracy: float | None = None
    order_score: float | None = None
    efficiency: float | None = None
    overall: float | None = None


class _Seen(Struct, frozen=True, gc=False):
    status: str
    trace_id: str | None = None
    case_id: str | None = None
    metrics: _Metrics = _Metrics()


_decode = msgspec.json.Decoder(_Seen).decode


def means_of(graded: Graded) -> dict[str, dict[str, Any]]:
    """Metric -> its mean as plain values of an `Estimate`; traces of one case are no independent ones.

    `excluded` counts what has no verdict, what was not read, and results to which the metric does not apply.
    """
    cases: dict[str, int] = {}
    values = {name: (array("d"), array("q")) for name in SHOWN_METRICS}
    excluded, evaluated = graded.tally.skipped, 0
    for line in graded.results():
        seen = _decode(line)
        if seen.status != "EVALUATED":
            excluded += 1
            continue
        evaluated += 1
        case = cases.setdefault(seen.case_id or seen.trace_id or "", len(cases))
        for name, (found, of) in values.items():
            value = getattr(seen.metrics, name)
            if value is not None:
                found.append(value)
                of.append(case)
    return {
        name: msgspec.to_builtins(
            mean_score(
                found, None if len(cases) == evaluated else of, scale=(0, 1), excluded=excluded + evaluated - len(found)
            )
        )
        for name, (found, of) in values.items()
    }
