"""The Python face of rightcall: what `import rightcall` offers, gathered in one place.

>>> import rightcall
>>> case = rightcall.load_cases("cases.toml")[0]                                        # doctest: +SKIP
>>> trace = rightcall.load_traces("traces.jsonl")[0]                                    # doctest: +SKIP
>>> rightcall.grade(case, trace).verdict                                                # doctest: +SKIP
'PASS'
>>> judge = rightcall.Judge("openai:MODEL", base_url="http://127.0.0.1:8080/v1")        # doctest: +SKIP
>>> rightcall.run(rightcall.rubric([trace], cases=[case], judge=judge)).results[0].overall_score  # doctest: +SKIP
4.75
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, overload

from rightcall.case.case import Case
from rightcall.case.load import load_cases, load_tools
from rightcall.case.policy import Policy
from rightcall.case.step import Step
from rightcall.case.steps import load_steps
from rightcall.errors import ConfigError, RightcallError
from rightcall.grade.golden import Grader, Options
from rightcall.grade.selection import select_step as select
from rightcall.grade.verdict import GoldenResult
from rightcall.judge.contract import Malformed
from rightcall.run.inputs.catalogs import Catalogs
from rightcall.run.judging.described import Judge
from rightcall.settings.load import load_policy
from rightcall.store.store import Store
from rightcall.trace.model import Message, Tool, Trace, call
from rightcall.trace.sources.reading import load_traces

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rightcall.grade.interpretation import InterpretationResult
    from rightcall.grade.preference import PreferenceResult
    from rightcall.grade.rubric import RubricResult
    from rightcall.grade.selection import SelectionResult
    from rightcall.judge.read import Reply
    from rightcall.judge.rubric import RubricReply
    from rightcall.judge.selection import SelectionReply
    from rightcall.report.given.judged import JudgedRun
    from rightcall.report.given.suite import FinishedSuite
    from rightcall.run.calibration.calibrating import CalibrationReport
    from rightcall.run.given.judged import How
    from rightcall.run.judging.described import Judges
    from rightcall.trace.jsontext import JsonValue

__all__ = [
    "Case", "Judge", "Malformed", "Message", "Policy", "RightcallError", "Step", "Store", "Tool", "Trace",
    "calibrate", "call", "grade", "interpretation", "load_cases", "load_policy", "load_steps", "load_tools",
    "load_traces", "preference", "read_reply", "rubric", "run", "select", "selection",
]  # fmt: skip

T = TypeVar("T")


# ---- by code ---------------------------------------------------------------------------------------------------------


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


# ---- by judges -------------------------------------------------------------------------------------------------------


async def selection(
    steps: Iterable[Step],
    *,
    judge: Judges | None = None,
    store: Store | str | Path | None = None,
    policy: Policy | None = None,
    tools: Iterable[Tool] | None = None,
    **how: Unpack[How],
) -> JudgedRun[SelectionResult]:
    """Grade the choice of tools step by step: by code; a judge explains, and may doubt a label (SPEC §7.1).

    Args:
        steps: what was selected and what was expected.
        judge: who explains; `None`: nobody, unless the settings say so. Its own grade never changes a verdict: where
            it contradicts the code, that counts against the judge.
        store: where everything is kept: an open `Store`, a file, or a database URL. Without one (and without
            `settings`) nothing is: a judge's record is then in a temporary store, which is dropped at the end.
        policy: says which tools are destructive.
        tools: the catalog of steps without their own.
        **how: see `rightcall.run.given.judged.How`.

    Raises:
        ConfigError, CaseError, NoDataError: something that cannot be used, or nothing to judge.
        ProviderError: a judge that cannot be asked at all. A judge that does not answer is no error: the step is
            `UNEVALUABLE` with the reason, and `stopped` says why a run ended early.
        StoreError: the record broke; what was committed stands.
    """
    from rightcall.report.given.judged import judged_run
    from rightcall.run.given.judged import Wish, judge_steps

    wish = Wish(judge=judge, store=store, policy=policy, tools=None if tools is None else tuple(tools), how=how)
    return judged_run(await judge_steps(tuple(steps), wish))


async def rubric(
    traces: Iterable[Trace],
    *,
    judge: Judges | None = None,
    cases: Iterable[Case] = (),
    store: Store | str | Path | None = None,
    policy: Policy | None = None,
    tools: Iterable[Tool] | None = None,
    **how: Unpack[How],
) -> JudgedRun[RubricResult]:
    """Score whole traces from 1 to 5 in four dimensions, with the worst misuse (SPEC §7.2): by judges, checked by code.

    Args:
        traces: what happened.
        judge: who scores; `None`: whom the settings name.
        cases: goldens, shown to the judge; a trace belongs to the case with its `case_id`.
        store: where everything is kept; as for `selection`.
        policy: the Safety Matrix; what it finds is a floor for the judge's severity.
        tools: the catalog, if neither the trace nor the case has one.
        **how: see `rightcall.run.given.judged.How`.

    Raises:
        RightcallError: as `selection`; also without a judge, since nothing else can score.
    """
    from rightcall.report.given.judged import judged_run
    from rightcall.run.given.judged import Wish, judge_traces

    wish = Wish(judge=judge, store=store, policy=policy, tools=None if tools is None else tuple(tools), how=how)
    return judged_run(await judge_traces(tuple(traces), cases, wish))


async def preference(
    *agents: Iterable[Trace],
    names: Sequence[str] | None = None,
    judge: Judges | None = None,
    second_judge: Judge | str | None = None,
    cases: Iterable[Case] = (),
    store: Store | str | Path | None = None,
    policy: Policy | None = None,
    tools: Iterable[Tool] | None = None,
    options: Mapping[str, object] | None = None,
    **how: Unpack[How],
) -> JudgedRun[PreferenceResult]:
    """Say which of two agents' traces of the same case is better (SPEC §7.3): code first, then judges in both orders.

    Args:
        *agents: the traces of each agent, two or more; they are joined by the id of their case, never by position.
        names: what the agents are called, for people; `A`, `B`, `C` … if not given. No judge sees them.
        judge: who compares; `None`: nobody, unless the settings say so, and then only what code decides has a verdict.
        second_judge: who is asked where the first one's answer is a tie, depends on the order, or is unsure.
        cases: goldens, for `options={"by": "golden"}` and for rules that need them.
        store: where everything is kept; as for `selection`.
        policy: the Safety Matrix: a trace that it vetoes loses against one that it does not.
        tools: the catalog, if neither the trace nor the case has one.
        options: keys of `[preference]` in the settings (`orders`, `allow_tie`, `min_confidence`, `by`); `cross_check`:
            whether judges are asked about what code decides too, which measures them and changes no verdict;
            `stop_early`: stop asking once the comparison is settled at this error, by an e-value.
        **how: see `rightcall.run.given.judged.How`.

    Raises:
        RightcallError: as `selection`.
    """
    from rightcall.report.given.judged import judged_run
    from rightcall.run.given.judged import Wish
    from rightcall.run.given.traces import judge_pairs

    sides = [tuple(traces) for traces in agents]
    called = tuple(names) if names is not None else tuple(ascii_uppercase[: len(sides)])
    if len(called) != len(sides) or len(set(called)) < len(called):
        raise ConfigError(
            f"{len(sides)} agents need as many different names, not {len(called)}", hint='names=["prod", "candidate"]'
        )
    wish = Wish(
        judge=judge, store=store, policy=policy, tools=None if tools is None else tuple(tools), how=how,
        other=second_judge, table=options or {},
    )  # fmt: skip
    return judged_run(await judge_pairs(dict(zip(called, sides, strict=True)), cases, wish))


async def interpretation(
    traces: Iterable[Trace],
    *,
    judge: Judges | None = None,
    strong_judge: Judge | str | None = None,
    cases: Iterable[Case] = (),
    store: Store | str | Path | None = None,
    policy: Policy | None = None,
    tools: Iterable[Tool] | None = None,
    options: Mapping[str, object] | None = None,
    **how: Unpack[How],
) -> JudgedRun[InterpretationResult]:
    """Judge whether the agent read what its tools returned (SPEC §7.4), one result for each call with a reading.

    Args:
        traces: what happened.
        judge: who judges; with a strong judge beside it, the light one, which is asked about everything.
        strong_judge: who is asked about a random part of the same readings, so that the mean can be corrected.
        cases: what the traces were about.
        store: where everything is kept; as for `selection`.
        policy: as for `rubric`.
        tools: the catalog, if neither the trace nor the case has one.
        options: keys of `[interpretation]` in the settings: `strong_share`, `mapping`, `min_fidelity`,
            `min_confidence`, `max_disagreement`.
        **how: see `rightcall.run.given.judged.How`.

    Raises:
        RightcallError: as `selection`; also without a judge, since nothing else can read.
    """
    from rightcall.report.given.judged import judged_run
    from rightcall.run.given.judged import Wish
    from rightcall.run.given.traces import judge_readings

    wish = Wish(
        judge=judge,
        store=store,
        policy=policy,
        tools=None if tools is None else tuple(tools),
        how=how,
        other=strong_judge,
        table=options or {},
    )
    return judged_run(await judge_readings(tuple(traces), cases, wish))


def calibrate(
    store: Store | str | Path,
    judge: str | None = None,
    *,
    grader: str | None = None,
    field: str | None = None,
    runs: Iterable[str] = (),
    split: Literal["test", "dev", "all"] = "test",
    settings: str | Path | None = None,
) -> CalibrationReport:
    """Measure judges against what people answered, blind and drawn at random (SPEC §8): is one fit to decide?

    Nothing is saved: `rightcall calibrate` does that.

    Args:
        store: the record with the runs and the answers: open, a file, or a database URL.
        judge: only this judge.
        grader: only this grader's answers.
        field: only this field of them.
        runs: only of these runs.
        split: the labels kept for the test, those that prompts are tuned on, or all.
        settings: a settings file whose `[calibrate]` and `[policy]` count; without it, their defaults.

    Raises:
        ConfigError, StoreError: settings, or a record, that cannot be used.
    """
    from rightcall.run.calibration.given import calibrate_given

    return calibrate_given(store, settings, judge=judge, grader=grader, field=field, runs=tuple(runs), split=split)


@overload
def run(work: Coroutine[Any, Any, T]) -> T: ...
@overload
def run(work: str | Path) -> FinishedSuite: ...
def run(work: Coroutine[Any, Any, T] | str | Path) -> T | FinishedSuite:
    """Wait for a judged run, or run a whole suite: the one door from code that is not async.

    Args:
        work: what `selection(…)`, `rubric(…)`, `preference(…)` or `interpretation(…)` gives; or a suite's settings
            file, all of whose graders are run under one id, kept in its store, and gated, as `rightcall run` does.

    Raises:
        ConfigError: an event loop is running here already (a notebook has one): write `await` there.
        RightcallError: of a suite, whatever keeps it from beginning, or breaks its record.
    """
    if not isinstance(work, (str, Path, Coroutine)):
        raise ConfigError(
            f"`rightcall.run` waits for what `rubric(…)` or `selection(…)` gives, or runs a suite by its settings "
            f"file; a {type(work).__name__} is neither"
        )
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if isinstance(work, (str, Path)):
            from rightcall.report.given.suite import finish_suite

            return finish_suite(work)
        return asyncio.run(work)
    if not isinstance(work, (str, Path)):
        work.close()
    raise ConfigError(
        "an event loop is running here already, as in a notebook", hint="write `await …` in place of `rightcall.run(…)`"
    )


@overload
def read_reply(
    grader: Literal["selection"], text: str, *, finish_reason: str | None = None
) -> SelectionReply | Malformed: ...
@overload
def read_reply(
    grader: Literal["rubric"],
    text: str,
    *,
    finish_reason: str | None = None,
    calls: Mapping[str, str] | None = None,
) -> RubricReply | Malformed: ...
@overload
def read_reply(
    grader: str,
    text: str,
    *,
    finish_reason: str | None = None,
    calls: Mapping[str, str] | None = None,
    schema: Mapping[str, JsonValue] | None = None,
) -> Reply | Malformed: ...
def read_reply(
    grader: str,
    text: str,
    *,
    finish_reason: str | None = None,
    calls: Mapping[str, str] | None = None,
    schema: Mapping[str, JsonValue] | None = None,
) -> Reply | Malformed:
    """Read a judge's raw reply: a typed verdict, or why it is none. Nothing is guessed, coerced or repaired.

    Args:
        grader: `selection`, `rubric`, `preference`, `interpretation`; any name together with `schema`.
        text: the raw reply.
        finish_reason: why the model stopped, in the provider's words; `None` = not known.
        calls: call id -> tool name of the trace that was shown, to check a reply of `rubric` against.
        schema: JSON Schema of the reply, for a grader of one's own.

    Raises:
        ConfigError: no such grader, or a schema that is none.
    """
    from rightcall.judge import read

    return read.read_reply(grader, text, finish_reason, facts={"calls": calls}, schema=schema)
