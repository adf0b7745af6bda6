"""Judged runs for tests: invented steps and traces, a server that fails on purpose, and rightcall as a process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from judging_making import a_judge

from rightcall.cli.exits import guarded
from rightcall.cli.main import app
from rightcall.errors import StoreError
from rightcall.llm.client import Request
from rightcall.run.graders.setup import Flags, Setup, set_up_rubric, set_up_selection
from rightcall.run.inputs.opening import open_store
from rightcall.run.judging.run import Judged, judge_all
from rightcall.settings.load import Loaded, load_settings
from rightcall.store.records import AttemptRecord, ReviewRecord, RunEvent, VerdictRecord
from rightcall.store.store import Store
from rightcall.testing import FaultyServer, ScriptedModel
from rightcall.testing.answers import Asked, by_marker, rubric_answer, smallest_answer
from rightcall.testing.faults import share

TOOLS = [{"name": "freeze_card", "description": "Freezes a card."}, {"name": "cancel_card", "description": "Cancels."}]
MAIN = "from rightcall.cli.main import main; main()"
KEY = "a fixed key for tests"
REMINDER = "An earlier reply to this question could not be used"
DEADLINE = 120.0
"""Seconds after which a process that should have ended is taken to hang."""


# ---- what is judged --------------------------------------------------------------------------------------------------


def step(number: int, **changed: Any) -> dict[str, Any]:
    """Return a step; every fifth chose the wrong tool."""
    name = f"case-{number:04d}"
    chosen = "cancel_card" if number % 5 == 0 else "freeze_card"
    known = {"id": name, "request": f"{name}: freeze it", "tools": TOOLS, "expected": "freeze_card", "selected": chosen}
    return {**known, **changed}


def trace(number: int, **changed: Any) -> dict[str, Any]:
    """Return a trace of one call, which belongs to the case of its number."""
    name = f"case-{number:04d}"
    calls = [{"tool": "freeze_card", "arguments": {"card": number}}]
    return {
        "id": f"t-{number}",
        "case_id": name,
        "request": f"{name}: freeze it",
        "tools": TOOLS,
        "calls": calls,
    } | changed


def case(number: int, **changed: Any) -> dict[str, Any]:
    """Return the case of a trace, with a golden."""
    expect = {"calls": [{"tool": "freeze_card", "arguments": {"card": number}}]}
    return {"id": f"case-{number:04d}", "request": f"case-{number:04d}: freeze it", "expect": expect} | changed


def selection_replies(number: int) -> dict[str, str]:
    """Return what a judge that agrees with code says about each step, by its marker."""
    replies = {}
    for n in range(number):
        wrong = n % 5 == 0
        replies[f"case-{n:04d}"] = json.dumps({
            "grade": "FAIL" if wrong else "PASS", "selected_tool": "cancel_card" if wrong else "freeze_card",
            "expected_tool": "freeze_card", "justification": f"Frozen or not, in case {n}.",
            "failure_category": "wrong_tool" if wrong else None, "secondary_categories": [],
            "label_challenged": False, "label_challenge_reason": None,
        })  # fmt: skip
    return replies


def rubric_replies(number: int) -> dict[str, str]:
    """Return scores for each trace, by the marker of its case."""
    return {
        f"case-{n:04d}": rubric_answer(1 + n % 5, argument_accuracy_score=1 + n % 3)(Asked()) for n in range(number)
    }


def troubles(malformed: float = 0.25, limited: float = 0.1) -> Callable[[Asked], str | None]:
    """Return a plan whose content faults depend on the question alone, so that a repeated call changes no result.

    A share of cases gets a malformed reply to the first question, one in seventeen to the retry too; others are told
    to slow down when they are first asked.
    """

    def choose(asked: Asked) -> str | None:
        if not asked.identity.startswith("case-"):
            return None
        number, drawn = int(asked.identity[5:]), share(7, asked.identity)
        if number % 17 == 3 or (drawn < malformed and REMINDER not in asked.user):
            return "malformed"
        return "rate_limited" if malformed <= drawn < malformed + limited and asked.attempt == 0 else None

    return choose


def server(replies: dict[str, str], **changed: Any) -> FaultyServer:
    """Return a server that knows the cases by their marker."""
    known = {"plan": troubles(), "latency": 0.06, "retry_after": 0.05, "marker": r"case-\d+"}
    return FaultyServer(answers=by_marker(replies, otherwise=smallest_answer), **{**known, **changed})


# ---- a project -------------------------------------------------------------------------------------------------------


@dataclass
class Project:
    """A folder with settings, a judge and a store; `rightcall` is run in it."""

    folder: Path
    base_url: str
    places: int = 8
    store: str = "store/rightcall.db"
    more: str = ""
    judge: str = "timeout = 20.0"
    arguments: tuple[str, ...] = ("selection", "steps.jsonl")
    _environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings()
        keys = ("OPENAI", "ANTHROPIC", "HTTP", "ALL_PROXY", "RIGHTCALL", "COLUMNS")
        self._environ = {name: value for name, value in os.environ.items() if not name.upper().startswith(keys)}
        self._environ["RIGHTCALL_REDACTION_KEY"] = KEY

    def settings(self) -> None:
        """Write the settings file."""
        judge = f'model = "faulty-model"\nbase_url = "{self.base_url}"\nmax_concurrency = {self.places}\n{self.judge}'
        (self.folder / "rightcall.toml").write_text(f"{self.more}\n[judges.strong]\n{judge}\n")

    def write(self, name: str, *content: Any) -> Path:
        """Write JSON lines."""
        path = self.folder / name
        path.write_text("".join(json.dumps(one) + "\n" for one in content))
        return path

    @property
    def url(self) -> str:
        """Where the store is, for `Store.open`."""
        return self.store if "://" in self.store else str(self.folder / self.store)

    def start(self, *more: str, first: str = "") -> subprocess.Popen[bytes]:
        """Start a judged run, after some code in its process; its output goes to files, which never fill up."""
        flags = ["--judge", "strong", "--store", self.store, "--json", "--config", "rightcall.toml"]
        command = [sys.executable, "-c", f"{first}\n{MAIN}", *self.arguments, *flags, *more]
        with (self.folder / "out").open("wb") as out, (self.folder / "err").open("wb") as err:
            return subprocess.Popen(command, cwd=self.folder, env=self._environ, stdout=out, stderr=err)

    def finish(self, *more: str, first: str = "") -> Ended:
        """Run to the end."""
        return self.end(self.start(*more, first=first))

    def end(self, process: subprocess.Popen[bytes]) -> Ended:
        """Wait for the end of a process."""
        try:
            code = process.wait(DEADLINE)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        return Ended(code, (self.folder / "out").read_text(), (self.folder / "err").read_text())

    def opened(self) -> Store:
        """Open the store."""
        return Store.open(self.url, create=False)

    def run_id(self) -> str | None:
        """Return the newest run, as `rightcall runs` lists it; `None` if none was recorded yet."""
        code, out = said("runs", "--json", "--store", self.url)
        if code != 0:  # killed before there was a store
            assert code == 5, out
            return None
        runs = json.loads(out)["runs"]
        return runs[0]["id"] if runs else None

    def seen(self, run_id: str) -> Record:
        """Everything on record about a run."""
        with self.opened() as store:
            found = [attempt for _, _, attempt in store.attempts(run_id=run_id)]
            return Record(
                attempts=found,
                verdicts=list(store.verdicts(run_id)),
                all_verdicts=store.counts()["verdict"],
                reviews=[review for _, review in store.reviews(run_id=run_id)],
                events=list(store.events(run_id)),
            )

    def is_intact(self) -> bool:
        """Whether `rightcall log verify` finds the chain intact."""
        return said("log", "verify", "--store", self.url)[0] == 0


@dataclass(frozen=True)
class Ended:
    """What a process left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Record:
    """What the store has about a run, and how many verdicts it has of all runs and revisions."""

    attempts: list[AttemptRecord]
    verdicts: list[VerdictRecord]
    all_verdicts: int
    reviews: list[ReviewRecord]
    events: list[RunEvent]

    def questions(self) -> Counter[str]:
        """Return the exchanges of each unit, probes left out."""
        return Counter(attempt.unit for attempt in self.attempts if attempt.purpose == "question")


def said(*arguments: str) -> tuple[int, str]:
    """Run `rightcall …` in this process; its exit code and what it printed on stdout."""
    raw = io.BytesIO()
    with (
        io.TextIOWrapper(raw, "utf-8") as out,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        code = guarded(app, list(arguments))
        out.flush()
        return code, raw.getvalue().decode()


def plain(ended: Ended) -> dict[str, Any]:
    """The figures and results of a run without what an undisturbed one says otherwise: calls, cache, digests."""
    whole = ended.json
    for result in whole["results"]:
        for opinion in result["judges"]:
            del opinion["attempts"], opinion["cached"]
        for one in result.get("orders", ()):
            del one["attempts"]
    summary = whole["summary"]
    for name in ("spent", "resumed"):
        del summary[name]
    for judge in summary["judges"].values():
        del judge["cached"]
    return {"summary": summary, "results": whole["results"]}


def wait_for(seen: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until something is seen, or the process has ended."""
    deadline = time.monotonic() + DEADLINE
    while not seen() and process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise TimeoutError("what was waited for did not happen")
        time.sleep(0.002)


def is_a_store(url: str) -> bool:
    """Whether a store can be opened there, without making one."""
    try:
        Store.open(url, create=False).close()
    except StoreError:
        return False
    return True


# ---- in this process -------------------------------------------------------------------------------------------------


@dataclass
class Here:
    """A folder whose judged runs go on in this process, at models that follow a script."""

    folder: Path
    settings: str = ""
    judges: tuple[str, ...] = ("strong",)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.change(self.settings)

    def change(self, settings: str) -> None:
        """Write other settings."""
        judges = "".join(f'[judges.{name}]\nprovider = "scripted"\nmodel = "scripted"\n' for name in self.judges)
        (self.folder / "rightcall.toml").write_text(f"{settings}\n{judges}")

    @property
    def store(self) -> Path:
        return self.folder / ".rightcall" / "rightcall.db"

    def write(self, name: str, *content: Any) -> Path:
        """Write JSON lines; texts stay as they are."""
        path = self.folder / name
        lines = (one if isinstance(one, str) else json.dumps(one) for one in content)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def loaded(self, **flags: Any) -> Loaded:
        """Load the settings under some flags."""
        given = {name: [str(self.folder / one) for one in value] for name, value in flags.items()}
        return load_settings(self.folder / "rightcall.toml", {"RIGHTCALL_REDACTION_KEY": KEY}, given)

    def selection(self, file: str = "steps.jsonl", cases: str | None = None, **flags: Any) -> Setup:
        """Prepare a run over steps, or over steps derived from traces and cases."""
        known = {"judge": ",".join(self.judges) or "none", **flags}
        loaded = self.loaded() if cases is None else self.loaded(traces=[file], cases=[cases])
        return set_up_selection(loaded, (str(self.folder / file),), Flags(**known))

    def rubric(self, file: str = "traces.jsonl", cases: str | None = None, **flags: Any) -> Setup:
        """Prepare a run over traces."""
        known = {"judge": ",".join(self.judges) or "none", **flags}
        return set_up_rubric(
            self.loaded(traces=[file], **({} if cases is None else {"cases": [cases]})), Flags(**known)
        )

    def run(self, setup: Setup, *models: ScriptedModel, places: int = 8) -> Judged:
        """Judge, and close what comes of it but its figures: the results are in `lines`."""
        judges = [a_judge(model, name) for name, model in zip(self.judges, models, strict=False)]
        for judge in judges:
            judge.spec = msgspec.structs.replace(judge.spec, max_concurrency=places)
        try:
            with contextlib.ExitStack() as closing:
                store = closing.enter_context(open_store(setup.loaded)) if setup.keeps else None
                return judge_all(setup.work, judges, setup.asking, setup.cleaner, store)
        finally:
            setup.close()

    def opened(self) -> Store:
        """Open the store."""
        return Store.open(self.store, create=False)


def results_of(judged: Judged) -> list[dict[str, Any]]:
    """Return the results as `--json` gives them, and close the run."""
    with judged:
        return [json.loads(line) for line in judged.results()]


def agrees(request: Request) -> str:
    """Say about any step what code says: every fifth is wrong."""
    found = re.search(r"case-(\d+)", request.user)
    assert found is not None, request.user
    return selection_replies(int(found[1]) + 1)[found[0]]


def scores(request: Request) -> str:
    """Say that a trace deserves a four."""
    return rubric_answer(4)(Asked())
