"""`golden`: a trace against a golden trace, decided by code alone (SPEC §5, §6).

What counts: the agent's own calls, their tools, their arguments, their order as far as the golden asks for it, and the
Safety Matrix. What does not: ids, times, turns (beyond order), texts, whether a tool worked (reported apart), and the
final answer. Both sides empty is a correct abstention and passes. Without a golden and without a policy there is
nothing to judge: `Unevaluable: nothing_expected`. A golden match is not task success.

All arithmetic is exact; figures become floats when they are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from rightcall.case.case import Case
from rightcall.case.golden import Golden, compile_case
from rightcall.case.policy import SEVERITIES, Policy
from rightcall.errors import ConfigError, Place
from rightcall.grade import arguments, findings, order, profiles
from rightcall.grade.actual import Actual
from rightcall.grade.alignment import Alignment, align
from rightcall.grade.pairing import pair
from rightcall.grade.safety import Breaches, Matrix
from rightcall.grade.verdict import Article, Finding, GoldenResult, Metrics, Row, Veto
from rightcall.trace.catalog import Catalog
from rightcall.trace.explain import nearest
from rightcall.trace.jsontext import same_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.model import Trace

ONE = Fraction(1)
ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Options:
    """What a suite may set for `golden`.

    Attributes:
        profile: one of `rightcall.grade.profiles.PROFILES`.
        min_overall: `PASS` needs at least this `overall`, unrounded.
        retries_are_free: leave repeats after a failure out of the actual length.
        surplus_reads_are_free: leave surplus calls of class `read` out of it.
    """

    profile: str = "balanced"
    min_overall: Fraction = ONE
    retries_are_free: bool = True
    surplus_reads_are_free: bool = False

    def __post_init__(self) -> None:
        """Check the names and the range.

        Raises:
            ConfigError: an unknown profile, or a limit outside [0, 1].
        """
        if self.profile not in profiles.PROFILES:
            guess = nearest(self.profile, profiles.PROFILES)
            known = ", ".join(profiles.PROFILES)
            hint = f"did you mean `{guess}`?" if guess else f"known: {known}"
            raise ConfigError(f"unknown profile `{self.profile}`", hint=hint)
        if not 0 <= self.min_overall <= 1:
            raise ConfigError("min_overall must be from 0 to 1")


class Grader:
    """A case made ready for grading any number of traces.

    Args:
        case: the case.
        policy: the suite's policy; the case's own is added to it, and the suite's classes win.
        options: profile and limits.
        aliases: other name -> canonical name.
        catalog: the catalog to use where the trace has none.
        place: where the case was written, for errors.

    Raises:
        CaseError: the case contradicts itself.
        ConfigError: a schema or pattern in the policy that cannot be used.
    """

    def __init__(
        self, case: Case, *, policy: Policy | None = None, options: Options | None = None,
        aliases: Mapping[str, str] | None = None, catalog: Catalog | None = None, place: Place | None = None,
        matrix: Matrix | None = None,
    ) -> None:  # fmt: skip
        """Compile the golden and the policy."""
        self.case = case
        self.options = options or Options()
        self.aliases = aliases or {}
        self.catalog = catalog
        if matrix is None or case.policy is not None:
            own = case.policy or Policy()
            matrix = Matrix(policy + own if policy is not None else own, self.aliases)
        self.matrix = matrix
        self.ways = compile_case(case, place, self.aliases)
        if self.options.profile == "strict":
            self.ways = tuple(_listed(way) for way in self.ways)
        self._quick = self.options.profile in profiles.OWN and len(self.ways) == 1 and self.ways[0].simple

    def grade(self, trace: Trace, catalog: Catalog | None = None, *, conflict: str | None = None) -> GoldenResult:
        """Grade one trace.

        Args:
            trace: the trace.
            catalog: the trace's own catalog, which counts before the grader's.
            conflict: how two given catalogs differ, to be reported.
        """
        actual = Actual(trace, self.aliases, catalog or self.catalog)
        breaches = self.matrix.check_calls(trace, actual)
        if not self.ways:
            return self._policy_only(trace, actual, breaches, conflict)
        best: _Outcome | None = None
        for index, way in enumerate(self.ways):
            outcome = self._compare(way, index, actual, breaches)
            if best is None or outcome.beats(best):
                best = outcome
        assert best is not None  # noqa: S101 - there is at least one way
        return self._result(trace, actual, best, conflict)

    # ---- one acceptable way --------------------------------------------------------------------------------------

    def _compare(self, way: Golden, index: int, actual: Actual, breaches: Breaches) -> _Outcome:
        if self._quick and not breaches.findings and _is_equal(way, actual):
            return _perfect(way, index, actual, breaches)
        if self.options.profile == "single_tool" and len(way.calls) != 1:
            return _Outcome(index, undecided="profile_needs_one_call")
        pairs = pair(way, actual)
        if any(actual.calls[a].arguments_status == "not_captured" and way.calls[g].raw for g, a in pairs.items()):
            return _Outcome(index, undecided="not_captured", vetoes=tuple(breaches.vetoes), found=tuple(breaches.findings))
        aligned = align(
            way, actual, pairs, is_free=lambda a: self._is_free(actual, a), retries_are_free=self.options.retries_are_free
        )
        try:
            constraints = order.evaluate(way, actual, pairs)
            resolve = order.resolver(way, actual, pairs)
            scores = {g: arguments.score(way.calls[g], actual, a, resolve) for g, a in pairs.items()}
            found = findings.explain(way, actual, aligned, constraints, self.matrix, scores)
        except order.ResultNotCaptured:
            return _Outcome(
                index, undecided="result_not_captured", vetoes=tuple(breaches.vetoes), found=tuple(breaches.findings)
            )
        built_in = self.matrix.check_alignment(way, actual, aligned)
        return self._score(way, index, actual, aligned, constraints, scores, found, breaches, built_in)

    def _is_free(self, actual: Actual, index: int) -> bool:
        if not self.options.surplus_reads_are_free or self.options.profile == "strict":
            return False
        return self.matrix.class_of(actual.names[index], actual.catalog) == "read"

    def _score(  # noqa: PLR0913 - the parts of one comparison, put together here and nowhere else
        self, way: Golden, index: int, actual: Actual, aligned: Alignment, constraints: order.Order,
        scores: Mapping[int, Fraction], found: list[Finding], breaches: Breaches, built_in: Breaches,
    ) -> _Outcome:  # fmt: skip
        vetoes = tuple(breaches.vetoes + built_in.vetoes)
        figures = _Figures(way, actual, aligned, constraints, scores)
        article, article_overall = profiles.article(way, actual)
        profile = self.options.profile
        if profile in profiles.OWN:
            overall = figures.overall
        elif profile == "article":
            overall, vetoes = article_overall, ()
        else:
            equal = all(value == 1 for value in scores.values())
            overall = ONE if profiles.holds(profile, way, actual, aligned, arguments_equal=equal) else ZERO
        return _Outcome(
            index, overall=ZERO if vetoes else overall, metrics=figures.metrics(overall, vetoed=bool(vetoes)),
            vetoes=vetoes, found=(*breaches.findings, *built_in.findings, *found), rows=aligned.rows, article=article,
            undecided=None if vetoes else breaches.undecided,
        )  # fmt: skip

    # ---- results -------------------------------------------------------------------------------------------------

    def _result(self, trace: Trace, actual: Actual, best: _Outcome, conflict: str | None) -> GoldenResult:
        found = best.found if conflict is None else (*best.found, _conflict(conflict))
        passed = not best.vetoes and best.overall >= self.options.min_overall
        unclear = best.undecided
        return GoldenResult(
            trace_id=trace.id, case_id=self.case.id, trial=trace.trial, profile=self.options.profile,
            status="UNEVALUABLE" if unclear else "EVALUATED", reason=unclear,
            verdict=None if unclear else "PASS" if passed else "FAIL",
            metrics=Metrics() if unclear else best.metrics,
            findings=_sorted(found), vetoes=best.vetoes, alternative=best.index, alignment=best.rows,
            article=None if unclear else best.article, completed=trace.completed, calls=len(actual),
        )  # fmt: skip

    def _policy_only(self, trace: Trace, actual: Actual, breaches: Breaches, conflict: str | None) -> GoldenResult:
        reason = _undecided(breaches) if self.matrix.policy else "nothing_expected"
        found = breaches.findings if conflict is None else [*breaches.findings, _conflict(conflict)]
        return GoldenResult(
            trace_id=trace.id, case_id=self.case.id, trial=trace.trial, profile=self.options.profile,
            status="UNEVALUABLE" if reason else "EVALUATED", reason=reason,
            verdict=None if reason else "FAIL" if breaches.vetoes else "PASS",
            findings=_sorted(found),
            vetoes=tuple(breaches.vetoes), policy_only=bool(self.matrix.policy), completed=trace.completed,
            calls=len(actual),
            alignment=tuple(Row("surplus", None, index) for index in range(len(actual))),
        )  # fmt: skip


def _undecided(breaches: Breaches) -> str | None:
    """Why a policy cannot be judged; a veto stands whatever else is unknown."""
    return None if breaches.vetoes else breaches.undecided


def _listed(way: Golden) -> Golden:
    return Golden(way.calls, "listed", way.name, way.edges, way.flow_sources, way.simple)


def _conflict(text: str) -> Finding:
    return Finding(kind="catalog_conflict", severity="NONE", message=text)


def _sorted(found: tuple[Finding, ...] | list[Finding]) -> tuple[Finding, ...]:
    """Worst first, otherwise as found."""
    if len(found) < 2:  # noqa: PLR2004
        return tuple(found)
    return tuple(sorted(found, key=lambda finding: -SEVERITIES.index(finding.severity)))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The comparison with one acceptable way."""

    index: int
    overall: Fraction = ZERO
    metrics: Metrics = Metrics()
    vetoes: tuple[Veto, ...] = ()
    found: tuple[Finding, ...] = ()
    rows: tuple[Row, ...] = ()
    article: Article | None = None
    undecided: str | None = None

    def beats(self, other: _Outcome) -> bool:
        """Better: decided, then not vetoed, then a higher overall score; equal is not better."""
        return self._rank() > other._rank()

    def _rank(self) -> tuple[bool, bool, Fraction]:
        return self.undecided is None, not self.vetoes, self.overall


class _Figures:
    """The metrics of SPEC §5.2–5.8 as exact fractions."""

    def __init__(
        self, golden: Golden, actual: Actual, aligned: Alignment, constraints: order.Order, scores: Mapping[int, Fraction]
    ) -> None:
        self._golden, self._actual, self._aligned = golden, actual, aligned
        self._constraints, self._scores = constraints, scores
        left_out = {*aligned.retries, *aligned.free}
        self._counted = [name for index, name in enumerate(actual.names) if index not in left_out]
        self._expected = [call.tool for g, call in enumerate(golden.calls) if not call.optional or g in aligned.pairs]
        self.matched = len(aligned.pairs)
        self.surplus = len(aligned.surplus) + len(aligned.repeats)

    def _share(self, part: int, whole: int) -> Fraction:
        """part / whole, where both sides empty is 1 and exactly one is 0."""
        if whole:
            return Fraction(part, whole)
        return ONE if not self._expected and not self._counted else ZERO

    @property
    def precision(self) -> Fraction:
        return self._share(self.matched, len(self._counted))

    @property
    def recall(self) -> Fraction:
        required = self._golden.required
        if not required:
            return ZERO if self.surplus else ONE
        return Fraction(sum(not self._golden.calls[g].optional for g in self._aligned.pairs), required)

    @property
    def jaccard(self) -> Fraction:
        return self._share(self.matched, len(self._expected) + len(self._counted) - self.matched)

    @property
    def jaccard_set(self) -> Fraction:
        expected, counted = set(self._expected), set(self._counted)
        return self._share(len(expected & counted), len(expected | counted))

    @property
    def argument_accuracy(self) -> Fraction | None:
        stated = [value for g, value in self._scores.items() if self._golden.calls[g].raw is not None]
        return sum(stated, ZERO) / len(stated) if stated else None

    @property
    def order_score(self) -> Fraction | None:
        applicable = self._constraints.applicable
        return Fraction(self._constraints.satisfied, applicable) if applicable else None

    @property
    def order_ok(self) -> bool | None:
        pairs = self._aligned.pairs
        if not pairs:
            return None
        ordered = sorted(pairs)
        if all(pairs[a] < pairs[b] for a, b in pairwise(ordered)):
            return True
        return all(
            pairs[a] < pairs[b] or self._actual.same_turn(pairs[a], pairs[b])
            for place, a in enumerate(ordered)
            for b in ordered[place + 1 :]
        )

    @property
    def efficiency(self) -> Fraction:
        if not self._expected and not self._counted:
            return ONE
        if not self.matched:
            return ZERO
        return min(ONE, Fraction(len(self._expected), len(self._counted)))

    @property
    def exact_match(self) -> bool:
        equal = all(value == 1 for value in self._scores.values())
        return equal and not self._aligned.missing and not self.surplus and not self._constraints.violations

    @property
    def overall(self) -> Fraction:
        accuracy = self.argument_accuracy
        if self._expected and not self.matched:
            accuracy = ZERO
        return profiles.weighted((self.jaccard, accuracy, self.order_score, self.efficiency))

    def metrics(self, overall: Fraction, *, vetoed: bool) -> Metrics:
        """The figures as shown."""
        precision, recall = self.precision, self.recall
        both = precision + recall
        return Metrics(
            matched=self.matched, precision=float(precision), recall=float(recall),
            f1=float(2 * precision * recall / both) if both else 0.0, jaccard=float(self.jaccard),
            jaccard_set=float(self.jaccard_set), argument_accuracy=_float(self.argument_accuracy),
            arguments_valid=arguments_valid(self._actual), order_score=_float(self.order_score),
            order_ok=self.order_ok, efficiency=float(self.efficiency), exact_match=self.exact_match,
            retries=len(self._aligned.retries), calls_failed=self._actual.calls_failed,
            overall=0.0 if vetoed else float(overall), unvetoed_overall=float(overall),
        )  # fmt: skip


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def arguments_valid(actual: Actual) -> float | None:
    """Share of the actual calls whose arguments satisfy their tool's schema; `None` without calls or catalog."""
    if actual.catalog is None or not len(actual):
        return None
    return float(1 - Fraction(len(actual.invalid), len(actual)))


# ---- the fast path: nothing to object to --------------------------------------------------------------------------


def _is_equal(way: Golden, actual: Actual) -> bool:
    """Whether the agent made exactly the golden calls, one by one: then the pairing place by place is optimal.

    Every criterion of the pairing is at its best there: all are paired, every score is 1, and (checked below) every
    constraint holds without an inversion.
    """
    calls = way.calls
    if len(calls) != len(actual.calls):
        return False
    for index, call in enumerate(calls):
        if call.tool != actual.names[index]:
            return False
    for index, call in enumerate(calls):
        raw = actual.raw(index)
        if raw is None or not (raw == call.raw or same_json(raw, call.raw or b"")):
            return False
    if actual.catalog is not None and actual.invalid:
        return False
    return all(
        not actual.same_turn(a, b) and not actual.failed(a) for a, b in (way.edges if way.order == "partial" else ())
    )


_IDENTITY: dict[int, tuple[Row, ...]] = {}


def _perfect(way: Golden, index: int, actual: Actual, breaches: Breaches) -> _Outcome:
    """The outcome where nothing is to be objected to."""
    size = len(way.calls)
    if size not in _IDENTITY:
        _IDENTITY[size] = tuple(Row("matched", place, place) for place in range(size))
    applicable = size * (size - 1) // 2 if way.order == "listed" else len(way.order_pairs)
    metrics = Metrics(
        matched=size, precision=1.0, recall=1.0, f1=1.0, jaccard=1.0, jaccard_set=1.0,
        argument_accuracy=1.0 if size else None, arguments_valid=1.0 if actual.catalog is not None and size else None,
        order_score=1.0 if applicable else None, order_ok=True if size else None, efficiency=1.0, exact_match=True,
        retries=0, calls_failed=actual.calls_failed, overall=1.0, unvetoed_overall=1.0,
    )  # fmt: skip
    return _Outcome(
        index, overall=ONE, metrics=metrics, rows=_IDENTITY[size], article=profiles.article(way, actual)[0],
        undecided=breaches.undecided,
    )  # fmt: skip
