"""The gate: every rule asked of a finished run, and what they come to together. No judge is called.

What is always asked, whatever the settings say: that enough could be evaluated, that the policy vetoed nothing, and
that no CRITICAL is open (SPEC §9).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from rightcall.gate.comparing import RESAMPLES, decide_regressions
from rightcall.gate.decision import EXIT_CODES, RANK, Answer, Decision, Diff, GateReport, JudgeFitness
from rightcall.gate.limits import decide_count, decide_limit, decide_trials
from rightcall.gate.metrics import GRADERS, metric_of
from rightcall.gate.rules import Rule, rules_of
from rightcall.gate.sample import Details, Sample
from rightcall.gate.standing import (
    Coverage,
    Criticals,
    decide_coverage,
    decide_coverage_rule,
    decide_critical,
    decide_fit,
    decide_judge_figure,
    decide_signed,
    fitness_words,
)
from rightcall.gate.tools import decide_tools
from rightcall.gate.words import figure, listed, number, rule_words
from rightcall.run.diffing import Comparison, confirmed_traces, diff_grader
from rightcall.run.gate_baseline import PREVIOUS, baseline_of
from rightcall.run.gate_collecting import Collected, collect
from rightcall.run.results import RunResults
from rightcall.run.results_store import stored_results
from rightcall.settings.model import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rightcall.run.results import Row
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store

    Fitness = Mapping[tuple[str, str], JudgeFitness]

ALWAYS = ("coverage", "vetoes", "critical")
"""The names of the decisions that are always there."""

NO_RULES = "no rule on figures is set: only what is always asked ([gates] in the settings)"
_CODES = (2, 1, 5, 4, 3, 0)


def gate(
    results: RunResults, rules: Sequence[Rule], *, settings: Settings | None = None,
    baseline: RunResults | None = None, baselines: Mapping[str, RunResults | str] | None = None,
    fitness: Fitness | None = None, looked: Callable[[Row], str | None] | None = None,
) -> GateReport:  # fmt: skip
    """Ask every rule of a run.

    Args:
        results: the run.
        rules: of the settings (`rightcall.gate.rules.rules_of`).
        settings: for the least coverage and the conflicts that a judge may have; their defaults if not given.
        baseline: what every rule that compares is held against; without such a rule, `regressions` is asked.
        baselines: the baselines that the rules name themselves: name -> the run, or why there is none.
        fitness: (grader, judge) -> whether it is fit; what is not there was never calibrated.
        looked: from a result to who has looked at it and what they said; `None` where nobody did.
    """
    return _Gate(
        results, _asked(rules, baseline), settings or Settings(), baseline, baselines or {}, fitness or {}, looked
    ).report()


def gate_run(
    loaded: Loaded, store: Store, run_id: str, baseline: RunResults | None = None
) -> tuple[RunResults, GateReport]:
    """Gate a run on record by the settings' rules.

    Args:
        loaded: the settings.
        store: the record, which must stay open as long as the results are used.
        run_id: which run.
        baseline: in place of those that the rules name.

    Raises:
        StoreError: there is no such run.
        ConfigError: a rule, or a baseline that a rule names, cannot be used.
    """
    results = stored_results(store, run_id)
    return results, gate_results(results, loaded, store, baseline)


def gate_results(
    results: RunResults, loaded: Loaded, store: Store | None, baseline: RunResults | None = None
) -> GateReport:
    """Gate results, wherever they come from; what people and calibrations said is looked up where there is a record.

    Raises:
        ConfigError: a rule, or a baseline that a rule names, cannot be used.
    """
    from rightcall.run.judge_fitness import fitness_of

    rules = rules_of(loaded.settings.gates)
    named = {rule.against or PREVIOUS for rule in rules if rule.compares} if baseline is None else set()
    return gate(
        results, rules, settings=loaded.settings, baseline=baseline,
        baselines={name: baseline_of(name, results, store, loaded.folder) for name in sorted(named)},
        fitness=fitness_of(store, results), looked=_looked(store, results),
    )  # fmt: skip


def _asked(rules: Sequence[Rule], baseline: RunResults | None) -> list[Rule]:
    found = list(rules)
    if baseline is not None and not any(rule.compares for rule in rules):
        found.append(Rule(name="regressions", metric=metric_of("regressions")))
    return found


def _looked(store: Store | None, results: RunResults) -> Callable[[Row], str | None]:
    """Who has answered which item of a run: one look at all answers, and one entry an item."""
    from rightcall.store.records import item_of

    if store is None or results.id is None or results.store_name is None:
        return lambda _row: None
    run_id, said = results.id, {}
    for _, _, answer in store.queue.answers(run_id=run_id):
        if answer.unsure is None:
            said[answer.item] = f"answered by {answer.who}"
    return lambda row: said.get(item_of(run_id, row.grader, row.unit))


# ---- one gate --------------------------------------------------------------------------------------------------------


@dataclass
class _Gate:
    results: RunResults
    rules: list[Rule]
    settings: Settings
    baseline: RunResults | None
    baselines: Mapping[str, RunResults | str]
    fitness: Fitness
    looked: Callable[[Row], str | None] | None
    collected: dict[str, Collected] = field(default_factory=dict)
    comparisons: dict[tuple[str, str], Comparison] = field(default_factory=dict)
    diffs: list[RunResults] = field(default_factory=list)

    def report(self) -> GateReport:
        """Ask everything, once over the results."""
        confirmed = confirmed_traces(self.results)
        for name, part in self.results.graders.items():
            self.collected[name] = collect(
                part, self.rules, confirmed=confirmed, looked=self.looked, run_id=self.results.id,
                kept=self.results.store_name is not None,
            )  # fmt: skip
        decisions = [one for rule in self.rules for one in self._decisions(rule)]
        decisions += self._always()
        return self._whole(decisions)

    # ---- the whole ----

    def _whole(self, decisions: list[Decision]) -> GateReport:
        answer = min((one.answer for one in decisions), key=RANK.index)
        causes = [
            f"{one.name}: {one.answer}" + (f", {one.reason}" if one.reason else "")
            for one in sorted(decisions, key=lambda one: RANK.index(one.answer))
            if one.answer != "PASS"
        ]
        codes, notes = [EXIT_CODES[answer]], []
        for text in self._broken():
            codes.append(5)
            causes.append(text)
            answer = min(answer, "INCONCLUSIVE", key=RANK.index)
        if not any(rule.metric.kind not in ("critical", "signed", "coverage") for rule in self.rules):
            notes.append(NO_RULES)
        baselines = [self.baseline] if self.baseline is not None else list(self.baselines.values())
        compared = [one.name for one in baselines if isinstance(one, RunResults)]
        return GateReport(
            run=self.results.name, answer=answer, exit_code=next(code for code in _CODES if code in codes),
            decisions=tuple(decisions), baseline=", ".join(compared) or None, diff=self._diff(),
            causes=tuple(causes), notes=tuple(notes),
        )  # fmt: skip

    def _broken(self) -> list[str]:
        run = self.results
        if run.status != "finished":
            message = f": {run.message}" if run.message else ""
            return [f"run {run.name} is {run.status}, not finished{message}"]
        if not any(one.coverage.whole for one in self.collected.values()):
            return [f"run {run.name} has no result"]
        return []

    # ---- what is always asked ----

    def _always(self) -> list[Decision]:
        whole, vetoes = Coverage(), Sample()
        for one in self.collected.values():
            whole.add(one.coverage)
        found = [decide_coverage("coverage", whole, self.settings.limits.coverage)]
        asked = [name for name in ("golden", "rubric") if name in self.collected]
        if asked:
            vetoes = self._vetoes(asked)
            rule = Rule(name="vetoes", metric=metric_of("golden.vetoes"), max=0)
            found.append(decide_count(rule, vetoes))
        if not any(rule.metric.name == "critical" for rule in self.rules):
            found.append(decide_critical("critical", self._criticals(None)))
        return found

    def _vetoes(self, names: Sequence[str]) -> Sample:
        """Traces with a veto; of a trace that two graders saw, each says it."""
        found = Sample()
        for name in names:
            one = self.collected[name].vetoes
            found.values.extend(one.values)
            found.cases.extend(one.cases)
            found.unread.extend(one.unread)
            found.loose += one.loose
            for text in one.bad.shown:
                found.bad.add(text)
            found.bad.number += one.bad.left_out
        return found

    def _criticals(self, grader: str | None) -> Criticals:
        found = Criticals()
        for name, part in self.collected.items():
            if grader in (None, name):
                one = part.criticals
                found.first = found.first or one.first
                found.unknown += one.unknown
                for mine, other in (
                    (found.open, one.open), (found.confirmed, one.confirmed), (found.dismissed, one.dismissed)
                ):  # fmt: skip
                    _extend(mine, other)
        if not self._counts_failures():
            found.uncounted = found.confirmed.number
        return found

    def _counts_failures(self) -> bool:
        """Whether a rule of this gate weighs failures of whole traces."""
        whole = [name for name in self.collected if name == "golden" or name not in GRADERS]
        return any(
            rule.metric.grader in (None, *whole)
            and (rule.metric.kind in ("trials", "regressions") or rule.metric.field in ("verdict", "pass_rate"))
            for rule in self.rules
        ) and bool(whole)

    # ---- rules ----

    def _decisions(self, rule: Rule) -> list[Decision]:
        kind = rule.metric.kind
        if kind == "regressions" or rule.against is not None:
            found = self._compared(rule)
            if rule.min is None and (rule.max is None or kind == "regressions"):
                return found
            return [*found, *self._decisions(msgspec.structs.replace(rule, against=None, margin=None))]
        if kind == "coverage":
            return [decide_coverage_rule(rule, self._coverage(rule.metric.grader))]
        if kind == "critical":
            return [decide_critical(rule.name, self._criticals(rule.metric.grader))]
        if kind == "signed":
            return [self._signed(rule)]
        if kind in ("fit", "judge_figure"):
            judges = [one for one in self._judges(None) if rule.judge in (None, one.judge)]
            return [decide_fit(rule, judges) if kind == "fit" else decide_judge_figure(rule, judges)]
        return [self._figure(rule)]

    def _figure(self, rule: Rule) -> Decision:
        metric, part = rule.metric, self.collected.get(rule.metric.grader or "")
        if part is None:
            return self._lacking(rule, f"this run has no results of `{metric.grader}`")
        if metric.name in part.unscaled:
            return self._lacking(rule, f"`{metric.field}` has no minimum and maximum in the schema of its replies")
        if metric.grader == "preference" and len(part.agents) > 1 and metric.field in ("win", "net_win"):
            return self._lacking(rule, "more than two agents were compared: which one is meant is not said")
        if rule.per_tool:
            found = decide_tools(rule, part.tools[metric.name], part.unknown_tools[metric.name])
        elif metric.kind == "count":
            found = decide_count(rule, part.samples[metric.name])
        elif metric.kind == "trials":
            found = decide_trials(rule, part.samples[metric.name])
        else:
            found = decide_limit(rule, part.samples[metric.name])
        return self._trusted(rule, self._covered(found, part.coverage), metric.grader or "")

    def _lacking(self, rule: Rule, reason: str) -> Decision:
        return Decision(
            name=rule.name, rule=rule_words(rule), answer="INCONCLUSIVE", metric=rule.metric.words, reason=reason
        )

    def _covered(self, found: Decision, coverage: Coverage) -> Decision:
        """A figure that leaves out too much is no proof."""
        least = self.settings.limits.coverage
        enough = decide_coverage("", coverage, least)
        if found.answer != "PASS" or enough.answer == "PASS":
            return found
        share = None if coverage.share is None else float(coverage.share)
        reason = f"only {figure(share, (least,))} could be evaluated, and {number(least)} must be"
        return msgspec.structs.replace(found, answer="INCONCLUSIVE", reason=reason, more=None)

    def _coverage(self, grader: str | None) -> Coverage:
        found = Coverage()
        for name, part in self.collected.items():
            if grader in (None, name):
                found.add(part.coverage)
        return found

    def _signed(self, rule: Rule) -> Decision:
        open_ones, signed, failures = Details(), Details(), 0
        for part in self.collected.values():
            failures += part.failures
            _extend(open_ones, part.open_failures)
            _extend(signed, part.signed_failures)
        return decide_signed(rule, failures, open_ones, signed)

    # ---- baselines ----

    def _compared(self, rule: Rule) -> list[Decision]:
        wanted = rule.against or PREVIOUS
        old = self.baseline if self.baseline is not None else self.baselines.get(wanted, f"there is no `{wanted}`")
        if isinstance(old, str):
            return [self._lacking(rule, old)]
        if not any(old is one for one in self.diffs):
            self.diffs.append(old)
        names = [rule.metric.grader] if rule.metric.grader else list(self.results.graders)
        both = [name for name in names if name in old.graders and name in self.results.graders]
        found = [self._against(rule, old, name) for name in both]
        lacking = [name for name in names if name not in both]
        if lacking or not both:
            what = listed(list(map(str, lacking))) or "any grader of this run"
            found.append(self._lacking(rule, f"{old.name} or this run has no results of {what}"))
        return found

    def _against(self, rule: Rule, old: RunResults, name: str) -> Decision:
        if rule.metric.kind == "regressions":
            path = f"{name}.regressions" if name in GRADERS else f"own.{name}.regressions"
            called = path if rule.name == "regressions" else rule.name
            rule = msgspec.structs.replace(rule, metric=metric_of(path), name=called)
            found = self._comparison(old, name)
        else:
            found = diff_grader(old, self.results, name, metric=rule.metric, resamples=RESAMPLES)
        decision = decide_regressions(rule, found.shown, found.difference, old.name, again=found.again)
        return self._trusted(rule, self._covered(decision, self.collected[name].coverage), name)

    def _comparison(self, old: RunResults, name: str) -> Comparison:
        if (old.name, name) not in self.comparisons:
            self.comparisons[old.name, name] = diff_grader(old, self.results, name, resamples=RESAMPLES)
        return self.comparisons[old.name, name]

    def _diff(self) -> Diff | None:
        """The comparison with the first baseline, of every grader that both have."""
        if not self.diffs:
            return None
        old, new = self.diffs[0], self.results
        return Diff(
            old=old.name, new=new.name,
            graders=tuple(self._comparison(old, name).shown for name in new.graders if name in old.graders),
            only_old=tuple(name for name in old.graders if name not in new.graders),
            only_new=tuple(name for name in new.graders if name not in old.graders),
        )  # fmt: skip

    # ---- judges ----

    def _judges(self, grader: str | None) -> list[JudgeFitness]:
        """Whether the judges are fit, of one grader or of all."""
        found = []
        for name, part in self.results.graders.items():
            if grader in (None, name):
                for one in part.facts.get("judges") or ():
                    judge = str(one.get("name"))
                    unknown = JudgeFitness(judge=judge, grader=name, verdict="UNKNOWN", model=one.get("model"))
                    found.append(self.fitness.get((name, judge), unknown))
        return found

    def _trusted(self, rule: Rule, found: Decision, grader: str) -> Decision:
        """A judged figure names its judges, and one of a judge that contradicts facts cannot pass."""
        if not (rule.metric.judged or rule.fit):
            return found
        judges = self._judges(grader)
        found = msgspec.structs.replace(found, judges=tuple(judges))
        unfit = [one for one in judges if one.verdict != "FIT"]
        if rule.fit and (unfit or not judges) and found.answer == "PASS":
            reason = "; ".join(map(fitness_words, unfit)) or "no judge was asked in this run"
            found = msgspec.structs.replace(found, answer="INCONCLUSIVE", reason=reason, more=None)
        for judge in judges:
            found = self._without_conflicts(found, grader, judge.judge)
        return found

    def _without_conflicts(self, found: Decision, grader: str, judge: str) -> Decision:
        from rightcall.judge.audit import stamp
        from rightcall.stats.intervals import wilson

        trust = self.collected[grader].trust.get(judge)
        if trust is None:
            return found
        limit = self.settings.limits.conflicts
        low = wilson(trust.conflicting, trust.checked).low
        said = stamp(trust.conflicting, trust.checked, low, limit)
        checked, conflicting = trust.checked + trust.unread, trust.conflicting + trust.unread
        worst = stamp(conflicting, checked, wilson(conflicting, checked).low, limit)
        if said is not None:
            share = f"{trust.conflicting} of {trust.checked}"
            text = f"judge `{judge}` contradicts decidable facts in {share} (limit {number(limit)})"
            found = msgspec.structs.replace(found, warnings=(*found.warnings, text))
        if worst == "not a judgement" and found.answer == "PASS":
            unread = f", {trust.unread} more could not be read" if trust.unread else ""
            reason = f"judge `{judge}` is not trusted: it contradicts {trust.conflicting} of {trust.checked}{unread}"
            return msgspec.structs.replace(found, answer="INCONCLUSIVE", reason=reason, more=None)
        return found


def _extend(mine: Details, other: Details) -> None:
    for text in other.shown:
        mine.add(text)
    mine.number += other.left_out


def answer_code(answer: Answer, inconclusive: str | None) -> int:
    """The exit code of an answer, with `--inconclusive pass` or `fail`."""
    if answer in ("INCONCLUSIVE", "NOT_COMPARABLE") and inconclusive is not None:
        return 0 if inconclusive == "pass" else 1
    return EXIT_CODES[answer]
