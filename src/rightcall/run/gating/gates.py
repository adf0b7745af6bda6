"""The gate: every rule asked of a finished run, and what they come to together. No judge is called.

What is always asked, whatever the settings say: that enough could be evaluated, that the policy vetoed nothing, that
no CRITICAL is open, and that no grader found a FAIL that no rule is about (SPEC §9).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from rightcall.gate.comparing import RESAMPLES
from rightcall.gate.decision import EXIT_CODES, RANK, Decision, Diff, GateReport, JudgeFitness
from rightcall.gate.limits import decide_count, decide_estimate, decide_limit, decide_trials
from rightcall.gate.metrics import GRADERS, metric_of
from rightcall.gate.regressions import decide_regressions
from rightcall.gate.rules import Rule, rules_of
from rightcall.gate.sample import Details
from rightcall.gate.standing import (
    Coverage,
    Criticals,
    decide_coverage,
    decide_coverage_rule,
    decide_critical,
    decide_fit,
    decide_judge_figure,
    decide_signed,
)
from rightcall.gate.tools import decide_tools
from rightcall.gate.unweighed import cause_of, decide_unweighed, unweighed
from rightcall.gate.words import figure, listed, number, rule_words
from rightcall.run.gating.asking import ask_people, looked_at
from rightcall.run.gating.baseline import PREVIOUS, against, baseline_of, comparing, held_to
from rightcall.run.gating.branches import branch_of
from rightcall.run.gating.collecting import Collected, collect, vetoes_of
from rightcall.run.gating.diffing import Comparison, confirmed_traces, diff_grader
from rightcall.run.gating.judges import judges_of, trusted, voices
from rightcall.run.gating.keeping import by_other_rules
from rightcall.run.inputs.opening import redactor_of
from rightcall.run.results.model import RunResults
from rightcall.settings.model import Settings
from rightcall.stats.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rightcall.run.gating.baseline import Baseline
    from rightcall.run.results.model import Row
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
    asked = list(rules) if baseline is None else comparing(rules)
    return _Gate(results, asked, settings or Settings(), baseline, baselines or {}, fitness or {}, looked).report()


def gate_results(
    results: RunResults, loaded: Loaded, store: Store | None, baseline: Baseline | None = None
) -> GateReport:
    """Gate results, wherever they come from; what people and calibrations said is looked up where there is a record.

    Where a rule asks that people look at every failure, those that have no review item get one.

    Args:
        results: the run, or a part of it.
        loaded: the settings, which hold the rules.
        store: the record; it must stay open as long as the results are used.
        baseline: in place of those that the rules name.

    Raises:
        ConfigError: a rule, or a baseline that a rule names, cannot be used.
    """
    from rightcall.run.calibration.fitness import fitness_of

    rules = rules_of(loaded.settings.gates)
    if store is not None and results.store_name is not None and any(rule.metric.kind == "signed" for rule in rules):
        ask_people(store, results)
    if baseline is None:
        named = {rule.against or PREVIOUS for rule in rules if rule.compares}
        hide = redactor_of(loaded).text
        baselines = {name: baseline_of(name, results, store, loaded.folder, hide) for name in sorted(named)}
    else:
        rules = tuple(held_to(baseline.asked, comparing(rules)))
        baselines = {baseline.asked: baseline.found}
    report = gate(
        results,
        rules,
        settings=loaded.settings,
        baselines=baselines,
        fitness=fitness_of(store, results),
        looked=looked_at(store, results),
    )
    notes = () if store is None else tuple(_other_rules(store, loaded, baselines))
    return msgspec.structs.replace(report, notes=(*report.notes, *notes))


def _other_rules(store: Store, loaded: Loaded, baselines: Mapping[str, RunResults | str]) -> Iterator[str]:
    """Green runs of branches that other rules called green: they may ask less, so it is said."""
    from rightcall.store.gate_answers import newest_answer

    for name, found in baselines.items():
        if isinstance(found, str) or branch_of(name) is None:
            continue
        answer = newest_answer(store.database, found.id or "")
        if answer is not None and (said := by_other_rules(answer, loaded)) is not None:
            yield f"{name}: {found.name} {said}"


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
                kept=self.results.store_name is not None or self.results.knows_signoffs,
            )  # fmt: skip
        decisions = [one for rule in self.rules for one in self._decisions(rule)]
        decisions += self._always()
        return self._whole(decisions)

    # ---- the whole ----

    def _whole(self, decisions: list[Decision]) -> GateReport:
        answer = min((one.answer for one in decisions), key=RANK.index)
        causes = [
            cause_of(one) for one in sorted(decisions, key=lambda one: RANK.index(one.answer)) if one.answer != "PASS"
        ]
        codes, notes = [EXIT_CODES[answer]], [*self.results.part]
        for text in self._broken():
            codes.append(5)
            causes.append(text)
            answer = min(answer, "INCONCLUSIVE", key=RANK.index)
        if not any(rule.metric.kind not in ("critical", "signed", "coverage") for rule in self.rules):
            notes.append(NO_RULES)
        baselines = self.baselines if self.baseline is None else {self.baseline.name: self.baseline}
        runs = [self.results, *(one for one in baselines.values() if isinstance(one, RunResults))]
        notes += [note for one in runs for note in one.notes]
        return GateReport(
            run=self.results.name, answer=answer, exit_code=next(code for code in _CODES if code in codes),
            decisions=tuple(decisions), baseline=", ".join(one.name for one in runs[1:]) or None, diff=self._diff(),
            causes=tuple(causes), notes=tuple(notes), judges=tuple(judges_of(self.results, self.fitness)),
            baselines=tuple(against(name, one) for name, one in baselines.items()),
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
        whole = Coverage()
        for one in self.collected.values():
            whole.add(one.coverage)
        found = [decide_coverage("coverage", whole, self.settings.limits.coverage)]
        asked = [name for name in ("golden", "rubric") if name in self.collected]
        if asked and not all(self._asks_vetoes(name) for name in asked):
            vetoes = vetoes_of([self.collected[name] for name in asked])
            rule = Rule(name="vetoes", metric=metric_of("golden.vetoes"), max=0)
            found.append(decide_count(rule, vetoes))
        if not any(rule.metric.name == "critical" for rule in self.rules):
            found.append(decide_critical("critical", self._criticals(None)))
        return [*found, *self._unweighed()]

    def _unweighed(self) -> Iterator[Decision]:
        run = self.results.id if self.results.store_name is not None else None
        for name in unweighed(self.rules, self.collected):
            found = decide_unweighed(name, self.collected[name].failed, run)
            if found is not None:
                yield found

    def _asks_vetoes(self, grader: str) -> bool:
        """Whether a rule of the settings asks for no veto at all, so that it need not be asked twice."""
        return any(rule.metric.name == f"{grader}.vetoes" and rule.max == 0 for rule in self.rules)

    def _criticals(self, grader: str | None) -> Criticals:
        found = Criticals()
        for name, part in self.collected.items():
            if grader in (None, name):
                one = part.criticals
                found.unknown += one.unknown
                found.is_kept = found.is_kept or one.is_kept
                for mine, other in (
                    (found.open, one.open), (found.confirmed, one.confirmed), (found.dismissed, one.dismissed)
                ):  # fmt: skip
                    mine.extend(other)
        found.uncounted = self._uncounted(grader)
        return found

    def _uncounted(self, grader: str | None) -> int:
        """Confirmed CRITICALs of whose trace no rule on figures counts a failure: there is none, or no such result."""
        counted = self._counted_traces()
        parts = [part for name, part in self.collected.items() if grader in (None, name)]
        return sum(trace not in counted for part in parts for trace in part.confirmed_of)

    def _counted_traces(self) -> set[str | None]:
        """Traces that a rule on failures of whole traces counts as failed."""
        found: set[str | None] = set()
        for name in self._counting():
            found |= self.collected[name].failed_traces
        return found

    def _counting(self) -> list[str]:
        """The graders of whole traces whose failures a rule of this gate weighs."""
        whole = [name for name in self.collected if name == "golden" or name not in GRADERS]
        asked = [
            rule.metric.grader
            for rule in self.rules
            if rule.metric.kind in ("trials", "regressions") or rule.metric.field in ("verdict", "pass_rate")
        ]
        return [name for name in whole if name in asked or None in asked]

    # ---- rules ----

    def _decisions(self, rule: Rule) -> list[Decision]:
        kind = rule.metric.kind
        if kind == "regressions" or rule.against is not None:
            alone = rule if kind == "regressions" else msgspec.structs.replace(rule, min=None, max=None)
            found = self._compared(alone)
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
            judges = [
                one for one in judges_of(self.results, self.fitness) if rule.judge in (None, one.judge, *voices(one))
            ]
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
        if metric.field == "fidelity" and (two := self._two_judges()) is not None:
            found = decide_estimate(rule, two(metric.tool), part.samples[metric.name])
        elif rule.per_tool:
            found = decide_tools(rule, part.tools[metric.name], part.unknown_tools[metric.name])
        elif metric.kind == "count":
            found = decide_count(rule, part.samples[metric.name])
        elif metric.kind == "trials":
            found = decide_trials(rule, part.samples[metric.name])
        else:
            found = decide_limit(rule, part.samples[metric.name])
        return self._trusted(rule, self._covered(found, part.coverage), metric.grader or "")

    def _two_judges(self) -> Callable[[str | None], Estimate | None] | None:
        """Where a strong judge read a sample: the corrected mean of the run, or of one tool; `None` with one judge."""
        results = self.results.graders["interpretation"]
        if not (results.facts.get("interpretation") or {}).get("strong"):
            return None
        own = results.summary.get("own") or {}

        def corrected(tool: str | None) -> Estimate | None:
            rows = [own] if tool is None else [one for one in own.get("by_tool", ()) if one.get("tool") == tool]
            plain = next((row["fidelity"] for row in rows if row.get("fidelity")), None)
            return None if plain is None else msgspec.convert(plain, Estimate)

        return corrected

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
            open_ones.extend(part.open_failures)
            signed.extend(part.signed_failures)
        return decide_signed(rule, failures, open_ones, signed)

    def _trusted(self, rule: Rule, found: Decision, grader: str) -> Decision:
        if not (rule.metric.judged or rule.fit):
            return found
        judges = judges_of(self.results, self.fitness, grader)
        return trusted(found, judges, self.collected[grader].trust, self.settings.limits.conflicts, must_fit=rule.fit)

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
