"""One question at a time, whole runs in this process, and secrets: what the tests of the judge engine share."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from rightcall.cli.exits import guarded
from rightcall.cli.main import app
from rightcall.judge.contract import Question
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.llm.choose import client_for
from rightcall.llm.client import Answer
from rightcall.llm.door import Backoff, Door
from rightcall.llm.pace import Pace
from rightcall.llm.spec import JudgeSpec
from rightcall.run.graders.setup import Flags, Setup, set_up_rubric, set_up_selection
from rightcall.run.judging.attempt import Outcome, attempt
from rightcall.run.judging.budget import Budget
from rightcall.run.judging.record import Recorder
from rightcall.run.judging.run import Judged, judge_all
from rightcall.run.judging.secrets import Cleaner
from rightcall.run.judging.subject import Judge, Subject
from rightcall.settings.load import load_settings
from rightcall.store.records import AttemptRecord
from rightcall.store.store import Store
from rightcall.store.writer import Writer
from rightcall.testing import ScriptedModel
from rightcall.trace.redact import Redactor

QUICK = Backoff(first=0.001, longest=0.002, jitter=0.001)
TOOLS = [
    {"name": "freeze_card", "description": "Freezes a card for a while."},
    {"name": "cancel_card", "description": "Cancels a card for good."},
]
GARBAGE = "{score: four}"


# ---- what is said ----------------------------------------------------------------------------------------------------


def selection_says(grade: str = "PASS", **changed: Any) -> str:
    """What a judge of `selection` says about a step that chose `freeze_card` and should have."""
    values = {
        "grade": grade, "selected_tool": "freeze_card", "expected_tool": "freeze_card",
        "justification": "The catalog says that it freezes a card.",
        "failure_category": None if grade == "PASS" else "wrong_tool", "secondary_categories": [],
        "label_challenged": False, "label_challenge_reason": None,
    }  # fmt: skip
    return json.dumps({**values, **changed}, ensure_ascii=False)


def rubric_says(score: int = 4, severity: str = "NONE", **changed: Any) -> str:
    """What a judge of `rubric` says."""
    names = ("tool_selection", "argument_accuracy", "call_sequencing", "abstention")
    values = {
        **{f"{name}_score": score for name in names}, "misuse_severity": severity,
        "downstream_impact": "None to speak of.", "justification": dict.fromkeys(names, "c1 shows it."),
    }  # fmt: skip
    return json.dumps({**values, **changed}, ensure_ascii=False)


def step(name: str = "s-1", **changed: Any) -> dict[str, Any]:
    """A step that chose the right tool."""
    known = {"id": name, "request": f"{name}: freeze my card", "tools": TOOLS}
    return {**known, "selected": "freeze_card", "expected": "freeze_card", **changed}


def trace(name: str = "t-1", **changed: Any) -> dict[str, Any]:
    """A trace of one call."""
    call = {"tool": "freeze_card", "arguments": {"card": 7}, "result": {"status": "frozen"}}
    return {"id": name, "request": f"{name}: freeze my card", "tools": TOOLS, "calls": [call], **changed}


# ---- one question ----------------------------------------------------------------------------------------------------


def a_subject(unit: str = "u-1", **changed: Any) -> Subject:
    """A subject with a question of `selection`, not made from a template."""
    question = {
        "grader": "selection", "prompt_id": "selection", "prompt_version": "1", "prompt_sha256": "p" * 64,
        "system": "You judge choices of tools.", "user": f"Was it right in {unit}?",
        "reply_schema": REPLY_SCHEMAS["selection"], "input_sha256": f"input of {unit}",
    }  # fmt: skip
    asked = {name: changed.pop(name) for name in list(changed) if name in question or name == "suspicions"}
    known = {"values": {}, "read": lambda text, finish: read_reply("selection", text, finish)}
    return Subject("selection", unit, Question(**{**question, **asked}), **{**known, **changed})


def a_judge(said: Any, /, name: str = "strong", *, retries: int = 4, pace: Pace | None = None, **spec: Any) -> Judge:
    """A judge whose model says this, or (`None`) at a real client of its spec; its transport retries hardly wait."""
    made = JudgeSpec(**{"provider": "scripted", "model": "scripted", **spec})
    client = client_for(made, {}) if said is None else said if isinstance(said, ScriptedModel) else ScriptedModel(said)
    door = Door(client, made, pace=pace or Pace(made.max_concurrency), retries=retries, backoff=QUICK)
    return Judge(name, made, door)


@dataclass
class Asked:
    """What came of some questions: outcomes, what the model was asked, what is on record."""

    outcomes: list[Outcome]
    requests: list[Any]
    attempts: list[AttemptRecord]
    bodies: list[dict[str, str]]
    record: Recorder

    @property
    def outcome(self) -> Outcome:
        (only,) = self.outcomes
        return only


def ask(
    store: Path | str, judge: Judge | Any, *subjects: Subject, budget: Budget | None = None, run: str | None = None,
    replicates: Sequence[int] = (0,), secrets: tuple[str, ...] = (),
) -> Asked:  # fmt: skip
    """Ask a judge about subjects one after the other; `run` goes on with what that run has on record."""
    judge = judge if isinstance(judge, Judge) else a_judge(judge)
    cleaner = Cleaner(Redactor(key=b"a key for tests"), secrets)

    async def go(opened: Store, run_id: str) -> tuple[list[Outcome], Recorder]:
        past = [old for _, _, old in opened.attempts(run_id=run_id)]
        async with Writer(opened) as writer:
            record = Recorder(run_id, opened, writer, cleaner, budget=budget or Budget())
            found = []
            for subject in subjects or (a_subject(),):
                for number in replicates:
                    mine = [old for old in past if old.unit == subject.unit and old.replicate == number]
                    found.append(await attempt(subject, judge, number, record, mine))
        await judge.door.close()
        return found, record

    with Store.open(store) as opened:
        run_id = run or opened.new_run("selection", "20261129", "2026-11-29T10:00:00Z", {}).id
        outcomes, record = asyncio.run(go(opened, run_id))
        attempts = [one for _, _, one in opened.attempts(run_id=run_id)]
        bodies = [_texts(opened, one) for one in attempts]
    return Asked(outcomes, getattr(judge.door.client, "requests", []), attempts, bodies, record)


def _texts(store: Store, one: AttemptRecord) -> dict[str, str]:
    names = {"system": one.system, "user": one.user, "reply": one.reply}
    return {name: store.body(sha).decode() for name, sha in names.items() if sha is not None}


class Together:
    """A model whose answers, but the first, wait until so many calls are under way at once; `most` is the peak."""

    def __init__(self, number: int, reply: str) -> None:
        self.number, self.reply = number, reply
        self.calls = self.now = self.most = 0
        self._full = asyncio.Event()

    async def __call__(self, _request: Any) -> str:
        self.calls += 1
        if self.calls == 1:  # the first call goes alone, until it is known that the credential is accepted
            return self.reply
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now >= self.number:
            self._full.set()
        async with asyncio.timeout(30):
            await self._full.wait()
        await asyncio.sleep(0)
        self.now -= 1
        return self.reply


# ---- whole runs ------------------------------------------------------------------------------------------------------


@dataclass
class Suite:
    """A folder with steps or traces, settings and a store."""

    folder: Path
    judges: str = ""
    more: str = ""
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "rightcall.toml").write_text(f"{self.more}\n[review]\nrandom = 0\n{self.judges}")

    @property
    def store(self) -> Path:
        return self.folder / ".rightcall" / "rightcall.db"

    def write(self, name: str, records: Iterable[Any]) -> Path:
        """Write JSON lines."""
        path = self.folder / name
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), "utf-8")
        return path

    def selection(self, steps: Iterable[Any], **flags: Any) -> Setup:
        """A run of `selection` that is ready to begin."""
        file = self.write("steps.jsonl", steps)
        loaded = load_settings(self.folder / "rightcall.toml", self.environ, {})
        return set_up_selection(loaded, (str(file),), Flags(**{"judge": "strong", **flags}))

    def rubric(self, traces: Iterable[Any], cases: Iterable[Any] = (), **flags: Any) -> Setup:
        """A run of `rubric` that is ready to begin."""
        given = {"traces": [str(self.write("traces.jsonl", traces))]}
        cases = list(cases)
        if cases:
            given["cases"] = [str(self.write("cases.jsonl", cases))]
        loaded = load_settings(self.folder / "rightcall.toml", self.environ, given)
        return set_up_rubric(loaded, Flags(**{"judge": "strong", **flags}))

    def opened(self) -> Store:
        """The store."""
        return Store.open(self.store, create=False)


def scripted(*names: str) -> str:
    """Settings of scripted judges."""
    return "".join(f'[judges.{name}]\nprovider = "scripted"\nmodel = "scripted"\n' for name in names or ("strong",))


def run_with(setup: Setup, *judges: Judge) -> Judged:
    """Run with judges made by hand; the caller closes what comes back."""
    from rightcall.run.inputs.opening import open_store

    try:
        with open_store(setup.loaded) as store:
            return judge_all(setup.work, judges, setup.asking, setup.cleaner, store)
    finally:
        setup.close()


def results(judged: Judged) -> dict[str, Any]:
    """The results by the id of their step or trace; the run is closed."""
    with judged:
        return {getattr(one, "step_id", None) or one.trace_id: one for one in judged.decoded()}


def said(*arguments: str) -> tuple[int, str, str]:
    """Run `rightcall …` in this process: exit code, stdout, stderr."""
    raw, err = io.BytesIO(), io.StringIO()
    with (
        io.TextIOWrapper(raw, "utf-8") as out,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = guarded(app, list(arguments))
        out.flush()
        return code, raw.getvalue().decode(), err.getvalue()


# ---- everything that a store holds -----------------------------------------------------------------------------------


def everything_in(store: Path) -> bytes:
    """The raw bytes of a store's files, and every record and body in it, unpacked."""
    found = [file.read_bytes() for file in sorted(store.parent.glob(f"{store.name}*"))]
    with contextlib.closing(sqlite3.connect(store)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                for value in row:
                    found.append(value if isinstance(value, bytes) else str(value).encode())
                    found += _unpacked(value) if isinstance(value, bytes) else ()
    return b"\n".join(found)


def _unpacked(value: bytes) -> list[bytes]:
    """What a packed value holds; nothing where it is not compressed."""
    try:
        return [zstandard.ZstdDecompressor().decompress(value, max_output_size=2**28)]
    except zstandard.ZstdError:
        return []


def truncated(text: str = '{"grade": "PA', tokens: int | None = 2048) -> Answer:
    """A reply that was cut at the output limit."""
    return Answer(text=text, finish="length", finish_raw="length", model="scripted", output_tokens=tokens)


# ---- a server of its own ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def serving(answers: Path, *arguments: str) -> Iterator[str]:
    """The test server as its own process, which has a processor to itself; gives its address."""
    command = [sys.executable, "-m", "rightcall.testing.server", "--answers", str(answers), "--keep", "100000"]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def ledger(url: str) -> list[dict[str, Any]]:
    """Every request that a server saw, in order of arrival, and its counts as the last."""
    with urllib.request.urlopen(f"{url}/stats?requests=100000") as answer:
        seen = json.load(answer)
    return [*seen.pop("ledger", []), seen]
