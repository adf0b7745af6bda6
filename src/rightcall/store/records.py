"""The records of the store, as data. Each is written once and never changed; its identity is a content hash.

Large texts (questions, replies, traces, cases, results) are *bodies*: stored once, compressed, under the SHA-256 of
their bytes, and named by that in a record. A record's own digest is the SHA-256 of its canonical JSON; the audit log
chains these digests, so that a changed, missing, moved or inserted record is seen.

Everything in a record has been redacted by whoever made it: the store writes what it is given.
"""

from __future__ import annotations

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


Record = RunRecord | RunEvent | TraceRecord | CaseRecord | AttemptRecord | VerdictRecord | ReviewRecord
