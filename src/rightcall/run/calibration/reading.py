"""From the record to labels beside what judges said: which items, which results, whose answers, in which groups.

A group is one judge by one model and one prompt, in one field of one grader. Nothing is ever mixed across groups.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.run.calibration.destructive import Destructive
from rightcall.run.calibration.labels import Label, form_for, in_test, labels_of, of_field
from rightcall.run.calibration.said import said_of
from rightcall.run.people.shown import has_seen
from rightcall.run.results.facts import facts_for
from rightcall.run.results.judge_use import Use, Uses

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.case.policy import Policy
    from rightcall.review.form import Form
    from rightcall.run.calibration.labels import Answers, ItemLabel
    from rightcall.run.calibration.said import Said
    from rightcall.store.records import AnswerRecord, RunRecord, VerdictRecord
    from rightcall.store.store import Store
    from rightcall.store.waiting import QueueItem

JUDGED_FIELDS: dict[str, tuple[str, ...]] = {
    "selection": ("grade",), "rubric": ("selection", "arguments", "sequencing", "abstention", "severity"),
    "preference": ("overall", "both_critical"), "interpretation": ("score", "action_score"), "golden": (),
}  # fmt: skip
"""The fields that a judge answers too; of a user's own grader, all that are no text and no confidence."""

STATED_FOR = {"preference": "overall", "interpretation": "score", "selection": "grade"}
"""The field that a stated confidence is about; of a user's own grader, the first one."""


class Key(Struct, frozen=True, order=True):
    """What a calibration is of."""

    grader: str
    judge: str
    use: Use
    field: str


@dataclass
class Group:
    """The labels of one key.

    Attributes:
        labels: one an item. items: the same items by people alone, for the agreement among them, and those in which
            they differ. beside: of each of them, what the judge said.
        runs: where they come from. differing: items left out since people differ in this field.
        stated: whether the judge's confidence is about this field.
    """

    key: Key
    labels: list[Label] = field(default_factory=list)
    items: list[ItemLabel] = field(default_factory=list)
    beside: dict[str, Any] = field(default_factory=dict)
    runs: set[str] = field(default_factory=set)
    differing: int = 0
    stated: bool = False


@dataclass
class Gathered:
    """Everything that is on record.

    Attributes:
        groups: by key. forms: of each grader. prompts: hash -> (id, version).
        left_out: grader -> reason -> how many answers do not count.
        other_split: grader -> how many labels belong to the other part.
        judges: every judge of whom something labelled was heard, whatever was asked for.
        started: when each run began.
    """

    groups: dict[Key, Group] = field(default_factory=dict)
    forms: dict[str, Form] = field(default_factory=dict)
    prompts: dict[str, tuple[str, str]] = field(default_factory=dict)
    left_out: dict[str, Counter[str]] = field(default_factory=dict)
    other_split: Counter[str] = field(default_factory=Counter)
    judges: set[str] = field(default_factory=set)
    started: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """Which labels are asked for; `None` and empty ask for all."""

    judge: str | None = None
    grader: str | None = None
    field: str | None = None
    runs: tuple[str, ...] = ()
    split: str = "test"
    seed: int = 0
    test_share: float = 0.5

    def in_split(self, case: str) -> bool:
        """Whether a case belongs to the part that is asked for."""
        return self.split == "all" or in_test(self.seed, case, self.test_share) == (self.split == "test")


def gather(store: Store, wanted: Wanted, policy: Policy | None = None) -> Gathered:
    """Every label that is asked for, beside what each judge said.

    Args:
        store: the record.
        wanted: what is asked for.
        policy: the suite's, which says what tools are destructive.

    Raises:
        StoreError: a run that is asked for is not there, or a body was changed.
    """
    for run in wanted.runs:
        store.run(run)
    return _Reading(store, wanted, Destructive(store, policy)).all()


def judged_fields(form: Form) -> tuple[str, ...]:
    """The fields of a form that a judge answers too."""
    if form.grader in JUDGED_FIELDS:
        return JUDGED_FIELDS[form.grader]
    return tuple(
        one.name for one in form.fields if one.kind != "text" and not one.many and one.name != "confidence"
    )  # fmt: skip


def stated_for(form: Form) -> str | None:
    """The field that a stated confidence is about."""
    names = judged_fields(form)
    return STATED_FOR.get(form.grader, names[0] if names else None)


class _Reading:
    """Reads the record once; it keeps what it has looked up."""

    def __init__(self, store: Store, wanted: Wanted, destructive: Destructive) -> None:
        self.store, self.wanted, self.destructive = store, wanted, destructive
        self.found = Gathered()
        self._runs: dict[str, RunRecord] = {}
        self._uses: dict[tuple[str, str], Uses] = {}

    def all(self) -> Gathered:
        said: dict[str, list[tuple[str, AnswerRecord]]] = defaultdict(list)
        for _, digest, answer in self.store.queue.answers():
            said[answer.item].append((digest, answer))
        by_grader: dict[str, list[QueueItem]] = defaultdict(list)
        for item in self.store.queue.items():
            if item.item in said and self._is_meant(item) and item.grader != "golden":
                by_grader[item.grader].append(item)
        for grader, items in sorted(by_grader.items()):
            answers = labels_of(items, said, self._form, lambda item, who: has_seen(self.store, item, who))
            self.found.left_out[grader] = answers.left_out
            self._take(grader, {item.item: item for item in items}, answers)
        _join_unread(self.found.groups)
        return self.found

    def _is_meant(self, item: QueueItem) -> bool:
        return self.wanted.grader in (None, item.grader) and (not self.wanted.runs or item.run_id in self.wanted.runs)

    def _run(self, run: str) -> RunRecord:
        if run not in self._runs:
            self._runs[run] = self.store.run(run)
            self.found.started[run] = self._runs[run].started_at
        return self._runs[run]

    def _facts(self, run: str, grader: str) -> dict[str, Any]:
        return facts_for(self._run(run), grader)

    def _form(self, item: QueueItem) -> Form:
        form = form_for(item.grader, self._facts(item.run_id, item.grader))
        self.found.forms[item.grader] = form
        return form

    def _take(self, grader: str, items: Mapping[str, QueueItem], answers: Answers) -> None:
        verdicts = self._verdicts(label.verdict for label in answers.labels)
        for label in answers.labels:
            if label.verdict is None or label.verdict not in verdicts:
                answers.left_out["no verdict when it was asked"] += 1
                continue
            verdict = verdicts[label.verdict]
            result = msgspec.json.decode(self.store.body(verdict.result))
            heard = self._said(items[label.item], result)
            self.found.judges.update(one.judge for one in heard)
            if self.wanted.in_split(label.case):
                self._sort_in(grader, label, verdict, result, heard)
            else:
                self.found.other_split[grader] += 1

    def _verdicts(self, digests: Iterator[str | None]) -> dict[str, VerdictRecord]:
        from rightcall.store.picking import records_of
        from rightcall.store.records import VerdictRecord

        wanted = {digest for digest in digests if digest is not None}
        plain = records_of(self.store.database, "verdict", wanted)
        return {digest: msgspec.json.decode(line, type=VerdictRecord) for digest, line in plain.items()}

    def _said(self, item: QueueItem, result: Mapping[str, Any]) -> list[Said]:
        key = (item.run_id, item.grader)
        facts = self._facts(*key)
        if key not in self._uses:
            self._uses[key] = Uses(self.store, facts)
        uses = self._uses[key]
        heard = said_of(item.grader, result, uses, facts.get("reply_schema"))
        self.found.prompts.update({sha256: (name.id, name.version) for sha256, name in uses.prompts.items()})
        return heard

    def _sort_in(
        self, grader: str, label: ItemLabel, verdict: VerdictRecord, result: Mapping[str, Any], heard: Sequence[Said]
    ) -> None:
        form = self.found.forms[grader]
        destructive = self.destructive.of(grader, self._facts(label.run, grader), verdict, result)
        strata = strata_in(grader, result)
        for said in heard:
            if self.wanted.judge not in (None, said.judge):
                continue
            for name in judged_fields(form):
                if self.wanted.field not in (None, name):
                    continue
                key = Key(grader, said.judge, said.use, name)
                group = self.found.groups.setdefault(key, Group(key, stated=name == stated_for(form)))
                group.runs.add(label.run)
                group.items.append(label)
                if name in said.fields:
                    group.beside[label.item] = said.fields[name]
                group.differing += name in label.differing
                group.labels += of_field(name, label, said, strata, destructive=destructive)


def strata_in(grader: str, result: Mapping[str, Any]) -> dict[str, str]:
    """The groups that a result belongs to, by what they are groups of."""
    if grader == "selection":
        return {
            "failure category": result.get("failure_category") or "none",
            "tool": result.get("expected_tool") or "(none)",
            "expected": "no tool" if result.get("expected_tool") is None else "a tool",
        }
    named = {
        "rubric": {"severity": "misuse_severity", "golden": "golden_verdict"}, "preference": {"category": "category"},
        "interpretation": {"tool": "tool", "reading": "reading"},
    }.get(grader, {"golden": "golden_verdict"})  # fmt: skip
    return {by: str(result[name]) for by, name in named.items() if result.get(name) is not None}


def _join_unread(groups: dict[Key, Group]) -> None:
    """Labels of a judge of whom nothing was heard say nothing about a model: they go with what it answered by else."""
    for key, group in list(groups.items()):
        if any(one.unread is None for one in group.labels):
            continue
        others = [
            other for name, other in groups.items()
            if other is not group and (name.grader, name.judge, name.field) == (key.grader, key.judge, key.field)
            and any(one.unread is None for one in other.labels)
        ]  # fmt: skip
        if len(others) == 1:
            others[0].labels += group.labels
            others[0].items += group.items
            others[0].runs |= group.runs
            others[0].differing += group.differing
            del groups[key]
