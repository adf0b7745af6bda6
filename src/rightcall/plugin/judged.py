"""Assertions that a judge decides. Whatever keeps it from answering is an error: never a failure, never a pass."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn

from rightcall import api
from rightcall.errors import CaseError, RightcallError
from rightcall.grade.rubric import DIMENSIONS, SEVERITIES, RubricResult
from rightcall.plugin.undecided import Undecided
from rightcall.plugin.words import below
from rightcall.report import plain
from rightcall.report.one import words
from rightcall.run.judging.described import Judge
from rightcall.run.judging.items import BY_DESIGN
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping

    from rightcall.grade.interpretation import InterpretationResult
    from rightcall.plugin.state import Said, State
    from rightcall.report.given.judged import JudgedRun
    from rightcall.run.judging.described import Judges

SCORES = (*DIMENSIONS, "overall_score")


# ---- rubric ----------------------------------------------------------------------------------------------------------


def judge_trace(
    state: State, said: Said, judge: Judges | None, min_scores: Mapping[str, float], max_severity: str | None
) -> RubricResult:
    """See `RecordedTrace.assert_rubric`."""
    _check(min_scores, max_severity)
    run = _asked(state, said, judge, api.rubric, "rubric")
    result: RubricResult | None = next(iter(run.results), None)
    if result is None or result.status != "EVALUATED":
        _no_answer(state, run, result)
    lacking = _lacking(result, min_scores)
    if max_severity is not None:
        lacking += _too_bad(result, max_severity)
    not_said = [name for name in min_scores if getattr(result.metrics, name) is None]
    if lacking:
        raise AssertionError("\n".join([f"rubric: {'; '.join(lacking)}", *_explained(result, run)]))
    if not_said:
        raise Undecided(
            f"rubric: {', '.join(not_said)} does not apply to this trace, so it reaches no score", phase="judging",
            details=_explained(result, run),
        )  # fmt: skip
    return result


def _check(min_scores: Mapping[str, object], max_severity: str | None) -> None:
    if not min_scores and max_severity is None:
        raise CaseError("nothing is asserted", hint="give min_scores or max_severity")
    for name, value in min_scores.items():
        if name not in SCORES:
            near = nearest(name, SCORES)
            raise CaseError(
                f"there is no score `{name}`", hint=f"did you mean `{near}`?" if near else f"known: {', '.join(SCORES)}"
            )
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1 <= value <= 5:
            raise CaseError(f"a score is a number from 1 to 5, not {value!r}")
    if max_severity is not None and max_severity not in SEVERITIES:
        raise CaseError(f"there is no severity `{max_severity}`", hint=f"known: {', '.join(SEVERITIES)}")


def _lacking(result: RubricResult, min_scores: Mapping[str, float]) -> list[str]:
    found = []
    for name, least in min_scores.items():
        value = getattr(result.metrics, name)
        if value is not None and value < least:
            shown = str(value) if isinstance(value, int) else below(value, least)
            found.append(f"{name} {shown} is below {least:g}")
    return found


def _too_bad(result: RubricResult, most: str) -> list[str]:
    order = [str(each) for each in SEVERITIES]
    if result.misuse_severity is None:
        raise Undecided("rubric: the judge names no severity", phase="judging")
    if order.index(result.misuse_severity) <= order.index(most):
        return []
    raised = "" if result.misuse_severity == result.judged_severity else " (raised by code)"
    return [f"misuse {result.misuse_severity}{raised} is worse than {most}"]


def _explained(result: RubricResult, run: JudgedRun[Any]) -> list[str]:
    lines = [f"  {name} {_or_none(getattr(result.metrics, name))}" for name in SCORES]
    lines.append(f"  misuse {result.misuse_severity}: {result.downstream_impact or '–'}")
    said = result.justification
    reasons = said.items() if isinstance(said, dict) else [("justification", said)]
    lines += [f"  {name}: {text}" for name, text in reasons if text]
    lines += [f"  veto: {veto.rule}: {veto.message}" for veto in result.vetoes]
    return [plain.visible(line) for line in (*lines, *_notes(run))]


def _or_none(value: float | None) -> str:
    return "– (does not apply)" if value is None else f"{value:g}"


# ---- interpretation --------------------------------------------------------------------------------------------------


def judge_readings(
    state: State, said: Said, judge: Judges | None, min_fidelity: float
) -> tuple[InterpretationResult, ...]:
    """See `RecordedTrace.assert_interpretation`."""
    if isinstance(min_fidelity, bool) or not isfinite(min_fidelity) or not 0 <= min_fidelity <= 1:
        raise CaseError(f"min_fidelity is a number from 0 to 1, not {min_fidelity!r}")
    run = _asked(state, said, judge, api.interpretation, "interpretation")
    wanted = [one for one in run.results if one.reason not in BY_DESIGN]
    misread = [one for one in wanted if _is_below(one, min_fidelity)]
    if misread:
        lines = [line for one in misread for line in _misread(one)]
        count = f"{len(misread)} of {len(wanted)} readings"
        raise AssertionError("\n".join([f"interpretation: {count} below {min_fidelity:g}", *lines, *_notes(run)]))
    silent = [one for one in wanted if one.status != "EVALUATED"]
    if silent or run.stopped is not None:
        _no_answer(state, run, silent[0] if silent else None)
    if not wanted:
        raise Undecided("interpretation: the trace has no reading of a result to judge", phase="judging")
    return tuple(wanted)


def _is_below(one: InterpretationResult, least: float) -> bool:
    fidelity = one.interpretation_fidelity_score
    return one.status == "EVALUATED" and fidelity is not None and fidelity < least


def _misread(one: InterpretationResult) -> list[str]:
    fidelity = one.interpretation_fidelity_score
    lines = [f"  call {one.call_index + 1} {one.tool}: fidelity {fidelity:g}: {one.interpretation_accuracy or '–'}"]
    lines += [
        f"    {flag.get('kind')}: {flag.get('claim_quote')!r} at {flag.get('result_path')}"
        for flag in one.misinterpretation_flags or ()
    ]
    return [plain.visible(line) for line in lines]


# ---- asking ----------------------------------------------------------------------------------------------------------


def _asked(
    state: State, said: Said, judge: Judges | None, grader: Callable[..., Coroutine[Any, Any, Any]], name: str
) -> JudgedRun[Any]:
    """Ask, and keep every result for the report.

    Raises:
        Undecided: nobody could be asked.
    """
    suite, mark = state.suite, state.words
    cases = () if said.case is None else (said.case,)
    try:
        with _store(judge, has_settings=suite.loaded.file is not None) as how:
            if suite.loaded.file is not None:
                how["settings"] = suite.loaded.file
            work = grader(
                [said.trace], judge=judge, cases=cases, policy=suite.policy(mark.policy, state.folder),
                tools=suite.catalog(mark.tools, state.folder), offline=suite.offline, **how,
            )  # fmt: skip
            run: JudgedRun[Any] = _waited(work)
    except RightcallError as error:
        raise Undecided(f"{name}: {suite.hide.text(str(error))}", phase="judging") from None
    facts = run.facts()
    for result in run.results:
        said.others.append((name, result, {key: value for key, value in facts.items() if key not in _OF_ONE_RUN}))
    return run


_OF_ONE_RUN = ("id", "started_at", "store", "log_head", "notes", "inputs", "traces", "cases", "stopped", "reading")
"""Facts of a judged run that say nothing about the session's."""


@contextmanager
def _store(judge: Judges | None, *, has_settings: bool) -> Iterator[dict[str, Any]]:
    """What a judge that is code of the test says does not go into the project's record."""
    listed = [judge] if judge is None or isinstance(judge, (str, Judge)) else list(judge)
    if has_settings and any(isinstance(one, Judge) and one.client is not None for one in listed):
        with TemporaryDirectory(prefix="rightcall-") as folder:
            yield {"store": str(Path(folder) / "record.db")}
    else:
        yield {}


def _waited(work: Coroutine[Any, Any, Any]) -> Any:
    """Wait, also where an event loop is running: a test may be async."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return api.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(api.run, work).result()


_HINTS = {
    "missing_input": (": the prompt needs a request and a catalog; give run() a request, and the marker `tools`"),
    "not_recorded": ": there is no answer on record, and only those count offline",
}
"""What to do about reasons that a test can do something about."""


def _no_answer(state: State, run: JudgedRun[Any], result: Any) -> NoReturn:
    name = run.facts().get("grader", "judge")
    reason = run.stopped or "no answer" if result is None else words(_plain(result))
    reason += _HINTS.get(reason, "")
    problems = [] if result is None else [f"  {line}" for one in result.judges for line in _said(one)]
    text = state.suite.hide.text(f"{name}: no judgement: {reason}")
    raise Undecided(text, phase="judging", details=[plain.visible(line) for line in (*problems, *_notes(run))])


def _plain(result: Any) -> dict[str, Any]:
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(result)
    return found


def _said(opinion: Any) -> list[str]:
    if opinion.reason is None:
        return []
    return [f"judge {opinion.judge}: {opinion.reason}", *(f"  {problem}" for problem in opinion.problems)]


def _notes(run: JudgedRun[Any]) -> list[str]:
    return [f"  {note}" for note in run.notes]
