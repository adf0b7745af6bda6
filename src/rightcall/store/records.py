"""The records of the store, as data. Each is written once and never changed; its identity is a content hash.

Large texts (questions, replies, traces, cases, results) are *bodies*: stored once, compressed, under the SHA-256 of
their bytes, and named by that in a record. A record's own digest is the SHA-256 of its canonical JSON; the audit log
chains these digests, so that a changed, missing, moved or inserted record is seen.

Everything in a record has been redacted by whoever made it: the store writes what it is given.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct

RunStatus = Literal["running", "resumed", "finished", "interrupted", "stopped", "broken"]
ReviewReason = Literal[
    "CRITICAL",
    "HIGH",
    "unevaluable",
    "policy_veto",
    "judge_conflict",
    "label_challenged",
    "panel_disagreement",
    "order_inconsistent",
    "tie",
    "low_confidence",
    "low_fidelity",
    "injection_suspected",
    "random",
]


class RunRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="run"):
    """The start of a run. `id` is a day and a number (`20261129-1`); `facts`: what is judged, how, by which judges."""

    id: str
    grader: str
    started_at: str
    facts: dict[str, Any] = {}


class RunEvent(Struct, frozen=True, kw_only=True, tag_field="record", tag="run_event"):
    """What became of a run: the last event counts. `summary` holds its figures, `message` why it stopped."""

    run_id: str
    at: str
    status: RunStatus
    message: str | None = None
    summary: dict[str, Any] = {}


class TraceRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="trace"):
    """A trace as it may be kept (redacted); `body` is the SHA-256 of its native JSON line."""

    body: str
    id: str
    case_id: str | None = None


class CaseRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="case"):
    """A case as it may be kept (redacted); `body` is the SHA-256 of its JSON."""

    body: str
    id: str


class AttemptRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="attempt"):
    """One exchange with a judge's endpoint, whatever came of it (SPEC §7).

    Attributes:
        run_id, grader, unit, case_id, trace_id, step_id: what it was for. `unit` identifies the question's subject in
            the run: the step's id, or the trace's id with its case.
        judge, provider, endpoint: the judge's name in the settings, and where it was asked (host only).
        purpose: `question`, `probe` (finding out what an endpoint supports), `replay`.
        key: digest of (grader, prompt hash, rendered input, model, parameters, replicate): cache and resume.
        replicate: which of several identical questions.
        attempt: 0 for the question, 1 for its one content retry.
        transport: 0 for the first exchange of an attempt, 1 for its first transport retry …
        status: `ok`, or a `JUDGE_*` code, or `REJECTED_PARAMETER`.
        system, user: SHA-256 of the two rendered messages (bodies).
        reply: SHA-256 of the raw reply (body); `None` where there was none.
        model_asked, model_answered, parameters, rung: who was asked how, and who answered.
        problems: everything that is wrong with the reply, as `{"path", "message"}`.
        verdict: the typed reply as plain values; `None` unless `status` is `ok`.
        positions: which trace stood where, for graders that compare.
        input_tokens, output_tokens: as the endpoint counts; `counted_tokens`: our own lower bound of the question.
        price: cost in `currency`; `None` where unknown.
        latency: seconds. started_at, ended_at: ISO 8601, UTC.
        notes: what else must be known, in words (a parameter that was left out, text that addresses the judge).
    """

    run_id: str
    grader: str
    unit: str
    judge: str
    key: str
    status: str
    case_id: str | None = None
    trace_id: str | None = None
    step_id: str | None = None
    provider: str = ""
    endpoint: str = ""
    purpose: Literal["question", "probe", "replay"] = "question"
    replicate: int = 0
    attempt: int = 0
    transport: int = 0
    prompt_id: str = ""
    prompt_version: str = ""
    prompt_sha256: str = ""
    system: str = ""
    user: str = ""
    reply: str | None = None
    finish: str | None = None
    model_asked: str = ""
    model_answered: str | None = None
    parameters: dict[str, Any] = {}
    rung: str = ""
    problems: tuple[dict[str, str], ...] = ()
    verdict: dict[str, Any] | None = None
    positions: dict[str, str] | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    counted_tokens: int | None = None
    price: float | None = None
    currency: str | None = None
    http_status: int | None = None
    retry_after: float | None = None
    request_id: str | None = None
    message: str | None = None
    latency: float = 0.0
    started_at: str = ""
    ended_at: str = ""
    notes: tuple[str, ...] = ()


class VerdictRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="verdict"):
    """What a grader concluded about one unit of a run.

    The current verdict of a unit is its highest `revision`: a case that a transport fault had left without an answer
    can be asked again when the run is resumed. `result` is the SHA-256 of the result's JSON (body) as `--json` gives
    it. `attempts` are digests of the attempts that it rests on. `decided_by`: `code`, `judge`, `panel`, `person`.
    `trace` and `case` are bodies; `trace_b` is that of the second trace, for graders that compare two.
    """

    run_id: str
    grader: str
    unit: str
    result: str
    status: Literal["EVALUATED", "UNEVALUABLE"]
    reason: str | None = None
    verdict: str | None = None
    score: float | None = None
    case_id: str | None = None
    trace_id: str | None = None
    step_id: str | None = None
    trace: str | None = None
    trace_b: str | None = None
    case: str | None = None
    revision: int = 0
    attempts: tuple[str, ...] = ()
    decided_by: str = "code"


class ReviewRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="review"):
    """Something a person should look at, and why. `probability`: how likely this item was to be drawn (1 = always)."""

    run_id: str
    grader: str
    unit: str
    reason: ReviewReason
    created_at: str
    detail: str = ""
    severity: str | None = None
    probability: float = 1.0
    case_id: str | None = None
    trace_id: str | None = None
    step_id: str | None = None


AnswerKind = Literal["answer", "amendment", "adjudication", "imported"]
ReviewAct = Literal["claimed", "released", "skipped", "returned", "seen", "disagreement"]


class AnswerRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="answer"):
    """What a person said about one review item. It is never changed: a correction is another record.

    Attributes:
        item: the item's full id. run_id, grader, unit, case_id, trace_id, step_id: what it is about.
        who, at, client: who answered, when (ISO 8601, UTC), from where (`terminal`, `web`, `import` …).
        kind: `answer` (counts towards the number that is needed), `amendment` (a later change of one's own answer),
            `adjudication` (decides between answers that differ), `imported` (given elsewhere).
        extra: the item had all its answers when this one came: kept, shown as such, decides nothing.
        blind: whether it was given without sight of any verdict, score or other answer.
        fields: the answer by field, as the grader's form defines it; of a pair, by agent and not by side.
        unsure: why the person cannot judge this; then `fields` is empty.
        note, evidence: the person's words, and what they point at (call ids, JSON paths).
        verdict: digest of the verdict that stood when the person was asked: whom calibration compares with.
        replaces: digest of the answer that an amendment corrects.
        seed: what shuffled the sides of a pair. seconds: how long it took, where that is known.
        probability: how likely the item was to be drawn. reasons: why it was there.
    """

    item: str
    run_id: str
    grader: str
    unit: str
    who: str
    at: str
    kind: AnswerKind = "answer"
    extra: bool = False
    blind: bool = True
    fields: dict[str, Any] = {}
    unsure: str | None = None
    note: str = ""
    evidence: tuple[str, ...] = ()
    verdict: str | None = None
    replaces: str | None = None
    seed: str | None = None
    seconds: float | None = None
    probability: float = 1.0
    reasons: tuple[str, ...] = ()
    client: str = ""
    case_id: str | None = None
    trace_id: str | None = None
    step_id: str | None = None


class ConsensusRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="consensus"):
    """What the answers to one item come to: `single`, `agreement`, or `adjudication` by a third person.

    `answers` are the digests that it rests on, oldest first. The newest consensus of an item is the one that stands.
    """

    item: str
    run_id: str
    grader: str
    unit: str
    at: str
    how: Literal["single", "agreement", "adjudication"]
    fields: dict[str, Any] = {}
    answers: tuple[str, ...] = ()
    reason: str = ""


class SignoffRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="signoff"):
    """A named person's decision on a CRITICAL item, with the reason. The newest one of an item is the one that stands.

    `confirmed`: the misuse stands, the case counts as a failure and its traces stay out of exports. `dismissed`: the
    severity is withdrawn. `typed` is what the person typed to show that the case was read; `role` what allowed it.
    """

    item: str
    run_id: str
    grader: str
    unit: str
    who: str
    at: str
    outcome: Literal["confirmed", "dismissed"]
    reason: str
    typed: str = ""
    role: str | None = None
    client: str = ""
    case_id: str | None = None
    trace_id: str | None = None
    step_id: str | None = None


class ReviewEvent(Struct, frozen=True, kw_only=True, tag_field="record", tag="review_event"):
    """What became of a review item besides answers: who claimed, released, skipped or returned it, and why.

    `seen`: somebody was shown what the judge and others said, so an answer of theirs from then on is not blind.
    `disagreement`: the answers differ and a third person must decide. `until`: when a claim's lease ends.
    """

    item: str
    run_id: str
    act: ReviewAct
    who: str
    at: str
    reason: str = ""
    until: str | None = None
    client: str = ""


class CalibrationRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="calibration"):
    """How one field of a judge's replies compares with what people said, at one moment (SPEC §8).

    The newest one of the same grader, judge, field, model and prompt is the one that stands.

    Attributes:
        grader, judge, field: what was compared. A panel is called by its judges, joined by ` + `.
        model, prompt_sha256, prompt_id, prompt_version: by which model and prompt the judge answered.
        at: when it was made (ISO 8601, UTC).
        split, seed, test_share: which labels were used: `test`, `dev` or `all`, and how they were told apart.
        verdict: whether the judge is fit to decide. reasons: why not, in words, the conditions missed first.
        labels: how many items people and judge both answered. answers: digests of what people's labels rest on.
        runs: where the labels come from.
        agreement, detection, people: estimates as plain values; `None` where that figure does not apply.
        used_before: how many earlier calibrations of this prompt had used some of these test labels.
        recalibration: from stated confidence to probability: `id`, `kind`, its numbers, `n`; `None` without one.
        report: SHA-256 of everything that was found, as `--json` gives it (a body).
    """

    grader: str
    judge: str
    field: str
    model: str
    prompt_sha256: str
    at: str
    split: Literal["test", "dev", "all"]
    verdict: Literal["FIT", "NOT_FIT", "INSUFFICIENT"]
    report: str
    prompt_id: str = ""
    prompt_version: str = ""
    seed: int = 0
    test_share: float = 0.5
    reasons: tuple[str, ...] = ()
    labels: int = 0
    answers: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    agreement: dict[str, Any] | None = None
    detection: dict[str, Any] | None = None
    people: dict[str, Any] | None = None
    used_before: int = 0
    recalibration: dict[str, Any] | None = None


class GateRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="gate"):
    """What the gates said about a whole run, at one moment (SPEC §9). The newest one of a run is the one that stands.

    Attributes:
        run_id, at: of which run, and when it was asked (ISO 8601, UTC).
        asked_by: the command: `run` at the end of its run, `gate` at any later time.
        answer: what all rules came to. exit_code: what that means as one (SPEC §9), whatever the command left with.
        causes: everything that keeps it from `PASS`, in words, the strongest first.
        decisions: one a rule as plain values, with its figures, as `rightcall gate --json` gives them.
        baselines: what was compared with: `asked` (how it was named), and the run or file that was found, or why none
            was.
        judges: the judges of the run, and whether each was fit, by which calibration.
        rules_sha256: of the rules and limits that were asked; equal ones have the same.
        notes: what must be known about the whole.
    """

    run_id: str
    at: str
    asked_by: Literal["run", "gate"]
    answer: Literal["PASS", "FAIL", "INCONCLUSIVE", "NOT_COMPARABLE", "WAIT"]
    exit_code: int
    rules_sha256: str
    causes: tuple[str, ...] = ()
    decisions: tuple[dict[str, Any], ...] = ()
    baselines: tuple[dict[str, Any], ...] = ()
    judges: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


def item_of(run_id: str, grader: str, unit: str) -> str:
    """The id of the review item about one unit of a run: `rv-` and 64 hexadecimal digits; all its reasons share it."""
    return "rv-" + sha256(f"{run_id}\0{grader}\0{unit}".encode("utf-8", "surrogatepass")).hexdigest()


def short_item(item: str) -> str:
    """An item's id as it is shown and typed: `rv-` and its first 8 digits."""
    return item[:11]


Record = (
    RunRecord
    | RunEvent
    | TraceRecord
    | CaseRecord
    | AttemptRecord
    | VerdictRecord
    | ReviewRecord
    | AnswerRecord
    | ConsensusRecord
    | SignoffRecord
    | ReviewEvent
    | CalibrationRecord
    | GateRecord
)
