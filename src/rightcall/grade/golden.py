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
from typing import TYPE_CHECKING

from rightcall.case.case import Case
from rightcall.case.golden import Golden, Quick, compile_case, quick
from rightcall.case.policy import SEVERITIES, Policy
from rightcall.errors import ConfigError, Place, TraceError
from rightcall.grade import arguments, findings, order, profiles
from rightcall.grade.actual import Actual
from rightcall.grade.alignment import Alignment, align
from rightcall.grade.figures import Figures, perfect
from rightcall.grade.pairing import Scores, pair
from rightcall.grade.safety import Breaches, Matrix
from rightcall.grade.verdict import Article, Finding, GoldenResult, Metrics, Row, Veto
from rightcall.trace.catalog import Catalog
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.case.case import Order as CaseOrder
    from rightcall.grade.arguments import Score
    from rightcall.trace.model import Trace

NO_METRICS = Metrics()
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
            own = case.policy if case.policy is not None else Policy()
            matrix = Matrix(policy + own if policy is not None else own, self.aliases)
        self.matrix = matrix
        self._place = place
        self._quick = quick(case, self.aliases)
        # A golden that can be wrong in itself is compiled at once; a plain one when it is needed.
        self._ways = None if self._quick is not None else self._compiled()

    @property
    def ways(self) -> tuple[Golden, ...]:
        """Every acceptable way, compiled."""
        if self._ways is None:
            self._ways = self._compiled()
        return self._ways

    def _compiled(self) -> tuple[Golden, ...]:
        if self._quick is not None:
            found: tuple[Golden, ...] = (self._quick.compile(self._place or Place()),)
        else:
            found = compile_case(self.case, self._place, self.aliases)
        if self.options.profile in profiles.LISTED:
            return tuple(_ordered(way, "listed") for way in found)
        return tuple(_ordered(way, "any") for way in found) if self.options.profile in profiles.UNORDERED else found

    def grade(self, trace: Trace, catalog: Catalog | None = None, *, conflict: str | None = None) -> GoldenResult:
        """Grade one trace.

        Args:
            trace: the trace.
            catalog: the trace's own catalog, which counts before the grader's.
            conflict: how two given catalogs differ, to be reported.
        """
        actual = Actual(trace, self.aliases, catalog or self.catalog)
        breaches = self.matrix.check_calls(trace, actual)
        try:
            return self._grade(trace, actual, breaches, conflict)
        except TraceError:
            # Recorded bytes that no JSON reader can hold (a lone surrogate, a number out of range): unknown, not wrong.
            unreadable = self._unclear(0, "unreadable", Alignment({}), breaches, Breaches())
            return self._result(trace, actual, unreadable, conflict)

    def _grade(self, trace: Trace, actual: Actual, breaches: Breaches, conflict: str | None) -> GoldenResult:
        quick_way = self._quick if self.options.profile in profiles.OWN and not breaches.findings else None
        if quick_way is not None and _is_equal(quick_way, actual):
            return self._result(trace, actual, self._perfect(quick_way, actual, breaches), conflict)
        if not self.ways:
            return self._policy_only(trace, actual, breaches, conflict)
        best: _Outcome | None = None
        for index, way in enumerate(self.ways):
            outcome = self._compare(way, index, actual, breaches)
            if best is None or outcome.rank(self.options.min_overall) > best.rank(self.options.min_overall):
                best = outcome
        assert best is not None  # noqa: S101 - there is at least one way
        return self._result(trace, actual, best, conflict)

    # ---- one acceptable way --------------------------------------------------------------------------------------

    def _compare(self, way: Golden, index: int, actual: Actual, breaches: Breaches) -> _Outcome:
        if self.options.profile == "single_tool" and len(way.calls) != 1:
            return _Outcome(index, undecided="profile_needs_one_call")
        known = Scores(way, actual)
        pairs = pair(way, actual, known)
        free = [a for a in range(len(actual)) if self._is_free(actual, a)]
        counts_all = self.options.profile in (*profiles.LISTED[1:], *profiles.UNORDERED)
        aligned = align(
            way, actual, pairs, reads=free, retries_are_free=self.options.retries_are_free and not counts_all
        )
        built_in = self.matrix.check_alignment(way, actual, aligned)
        if any(actual.calls[a].arguments_status == "not_captured" and way.calls[g].raw for g, a in pairs.items()):
            return self._unclear(index, "not_captured", aligned, breaches, built_in)
        try:
            constraints = order.evaluate(way, actual, pairs)
            scores = _scores(way, actual, pairs, known)
            found = findings.explain(way, actual, aligned, constraints, self.matrix, scores)
        except order.ResultNotCaptured:
            return self._unclear(index, "result_not_captured", aligned, breaches, built_in)
        return self._score(way, index, actual, aligned, constraints, scores, found, breaches, built_in)

    def _unclear(self, index: int, reason: str, aligned: Alignment, breaches: Breaches, built_in: Breaches) -> _Outcome:
        """What cannot be compared; a veto stands all the same, since no argument could lift it."""
        vetoes = () if self.options.profile == "article" else tuple(breaches.vetoes + built_in.vetoes)
        return _Outcome(
            index, metrics=Metrics(overall=0.0) if vetoes else NO_METRICS, vetoes=vetoes,
            found=(*breaches.findings, *built_in.findings), rows=aligned.rows, undecided=reason,
        )  # fmt: skip

    def _is_free(self, actual: Actual, index: int) -> bool:
        if not self.options.surplus_reads_are_free or self.options.profile not in ("balanced", "article"):
            return False
        return self.matrix.class_of(actual.names[index], actual.catalog) == "read"

    def _score(
        self, way: Golden, index: int, actual: Actual, aligned: Alignment, constraints: order.Order,
        scores: Mapping[int, Score], found: list[Finding], breaches: Breaches, built_in: Breaches,
    ) -> _Outcome:  # fmt: skip
        vetoes = tuple(breaches.vetoes + built_in.vetoes)
        figures = Figures(way, actual, aligned, constraints, scores)
        article, article_overall = profiles.article(way, actual)
        profile = self.options.profile
        if profile in profiles.OWN:
            overall = figures.overall
        elif profile == "article":
            overall, vetoes = article_overall, ()
        else:
            overall = ONE if profiles.holds(profile, way, actual, aligned, constraints, scores) else ZERO
        return _Outcome(
            index, overall=ZERO if vetoes else overall, metrics=figures.metrics(overall, vetoed=bool(vetoes)),
            vetoes=vetoes, found=(*breaches.findings, *built_in.findings, *found), rows=aligned.rows, article=article,
            undecided=None if vetoes else breaches.undecided,
        )  # fmt: skip

    def _perfect(self, golden: Quick, actual: Actual, breaches: Breaches) -> _Outcome:
        """The outcome where nothing is to be objected to."""
        size = len(golden.tools)
        ordered = size > 1 and (golden.order == "listed" or self.options.profile == "strict")
        metrics = perfect(size, ordered=ordered, valid=actual.catalog is not None, calls_failed=actual.calls_failed)
        return _Outcome(
            0, overall=ONE, metrics=metrics, rows=_identity(size), article=profiles.perfect_article(size),
            undecided=breaches.undecided,
        )  # fmt: skip

    # ---- results -------------------------------------------------------------------------------------------------

    def _result(self, trace: Trace, actual: Actual, best: _Outcome, conflict: str | None) -> GoldenResult:
        found = best.found if conflict is None else (*best.found, _conflict(conflict))
        passed = not best.vetoes and best.overall >= self.options.min_overall
        unclear = None if best.vetoes else best.undecided
        return GoldenResult(
            trace_id=trace.id, case_id=self.case.id, trial=trace.trial, profile=self.options.profile,
            status="UNEVALUABLE" if unclear else "EVALUATED", reason=unclear,
            verdict=None if unclear else "PASS" if passed else "FAIL",
            metrics=NO_METRICS if unclear else best.metrics,
            findings=_sorted(found), vetoes=best.vetoes, alternative=best.index, alignment=best.rows,
            article=None if best.undecided else best.article, completed=trace.completed, calls=len(actual),
        )  # fmt: skip

    def _policy_only(self, trace: Trace, actual: Actual, breaches: Breaches, conflict: str | None) -> GoldenResult:
        reason = _undecided(breaches) if self.matrix.policy.has_rules else "nothing_expected"
        found = breaches.findings if conflict is None else [*breaches.findings, _conflict(conflict)]
        return GoldenResult(
            trace_id=trace.id, case_id=self.case.id, trial=trace.trial, profile=self.options.profile,
            status="UNEVALUABLE" if reason else "EVALUATED", reason=reason,
            verdict=None if reason else "FAIL" if breaches.vetoes else "PASS",
            findings=_sorted(found),
            vetoes=tuple(breaches.vetoes), policy_only=self.matrix.policy.has_rules, completed=trace.completed,
            calls=len(actual),
            alignment=tuple(Row("surplus", None, index) for index in range(len(actual))),
        )  # fmt: skip


def _scores(way: Golden, actual: Actual, pairs: Mapping[int, int], known: Scores) -> dict[int, Score]:
    """The argument score of every pair, with data flow checked against the calls that were really paired."""
    if not way.flows:
        return {g: known(g, pairs[g]) for g in sorted(pairs)}
    resolve = order.resolver(way, actual, pairs)
    return {g: arguments.score(way.calls[g], actual, pairs[g], resolve) for g in sorted(pairs)}


def _undecided(breaches: Breaches) -> str | None:
    """Why a policy cannot be judged; a veto stands whatever else is unknown."""
    return None if breaches.vetoes else breaches.undecided


def _ordered(way: Golden, by: CaseOrder) -> Golden:
    """The same way under another order."""
    return Golden(way.calls, by, way.name, way.edges, way.flow_sources, simple=way.simple)


def _conflict(text: str) -> Finding:
    return Finding(kind="catalog_conflict", severity="NONE", message=text)


def _sorted(found: tuple[Finding, ...] | list[Finding]) -> tuple[Finding, ...]:
    """Worst first, otherwise as found."""
    if len(found) < 2:
        return tuple(found)
    return tuple(sorted(found, key=lambda finding: -SEVERITIES.index(finding.severity)))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The comparison with one acceptable way."""

    index: int
    overall: Fraction = ZERO
    metrics: Metrics = NO_METRICS
    vetoes: tuple[Veto, ...] = ()
    found: tuple[Finding, ...] = ()
    rows: tuple[Row, ...] = ()
    article: Article | None = None
    undecided: str | None = None

    def rank(self, min_overall: Fraction) -> tuple[int, bool, Fraction]:
        """How good a way this is.

        A way that passes decides the case. Without one, a way that cannot be decided may have been the right one, so
        it comes before ways that fail. Then: not vetoed, then the higher overall score; the first listed wins ties.
        """
        if self.vetoes:
            decided = 0
        elif self.undecided is not None:
            decided = 1
        else:
            decided = 2 if self.overall >= min_overall else 0
        return decided, not self.vetoes, self.overall


# ---- the fast path: nothing to object to --------------------------------------------------------------------------


def _is_equal(golden: Quick, actual: Actual) -> bool:
    """Whether the agent made exactly the golden calls, one by one: then the pairing place by place is optimal.

    Every criterion of the pairing is at its best there: all are paired, every score is 1, every constraint holds
    (a quick golden has no `after`), there is no inversion, and no call is left over.
    """
    if golden.tools != actual.names or (actual.catalog is not None and actual.invalid):
        return False
    return golden.raws == actual.raws or all(actual.has(index, raw) for index, raw in enumerate(golden.raws))


_IDENTITY: dict[int, tuple[Row, ...]] = {}


def _identity(size: int) -> tuple[Row, ...]:
    """The diff of two equal lists, made once for each length."""
    if size not in _IDENTITY:
        _IDENTITY[size] = tuple(Row("matched", place, place) for place in range(size))
    return _IDENTITY[size]
