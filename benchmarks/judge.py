"""How fast judges are asked, against the least time that the endpoint allows and against the bare SDK, in one run.

    python benchmarks/judge.py [--calls 1000] [--concurrency 64 256] [--latency 0.2] [--long]

`rightcall.testing.server` answers in a process of its own after a fixed latency. Every question is another one, with
the shipped prompt of `selection` and a user's part of about 6 kB, so that nothing is served from the cache; the store
is a file whose every commit waits for the disk. For each concurrency, in turn and each in a process of its own:

* aiohttp: the same texts posted by aiohttp alone; sdk: by the OpenAI SDK on aiohttp; neither reads nor keeps anything;
* engine: `rightcall selection`'s engine through its Python face: prepare, ask, read strictly, record, conclude.

Printed: wall time over the ideal (calls / concurrency x latency), from the first request (the engine's probe of the
endpoint too) to the last answer or commit; the same over the least time with the ramp of the pace, which begins at
20 calls at a time; the ramp's own share; CPU ms a call; peak memory. Then the whole command from start to exit, bytes
an attempt takes on disk, and what the store's writer does alone. `--long`: memory after 2,000 and 20,000 calls.

Figures are ratios of one run on one machine: quote those, not the times. `--repeat` shows the best of several rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from datetime import datetime
from heapq import heappop, heappush
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

START = 20
"""Calls at a time with which the pace begins (`llm/pace.py`)."""

MODEL = "faulty-model"
_WORDS = (
    *("account", "address", "after", "again", "amount", "booking", "branch", "change", "charge", "delivery", "invoice"),
    *("morning", "number", "order", "parcel", "payment", "please", "price", "refund", "return", "since", "statement"),
    *("the", "still", "ticket", "to", "transfer", "twice", "was", "week", "when", "with", "yesterday", "you"),
)
_REPLY: dict[str, Any] = {
    "selected_tool": "refund_order", "expected_tool": "refund_order", "grade": "PASS", "failure_category": None,
    "justification": "The customer asks for the money of an order that came twice, and the catalog says that "
    "`refund_order` pays back an order that was charged; nothing else in it does.",
    "secondary_categories": [], "label_challenged": False, "label_challenge_reason": None,
}  # fmt: skip


# ---- what is asked ---------------------------------------------------------------------------------------------------


def write_steps(path: Path, count: int) -> None:
    """Steps that all differ, each with its catalog of 12 tools and an earlier conversation."""
    draw = Random(11)

    def words(number: int) -> str:
        return " ".join(draw.choices(_WORDS, k=number))

    def tool(name: str) -> dict[str, Any]:
        properties = {
            field: {"type": "string", "description": f"{words(5)}."} for field in ("order_id", "reason", "note")
        }
        parameters = {"type": "object", "properties": properties, "required": ["order_id"]}
        return {"name": name, "description": f"{words(10)}.", "parameters": parameters}

    verbs = ("cancel", "find", "refund", "return", "track", "update")
    tools = [tool(f"{verb}_{what}") for verb in verbs for what in ("order", "parcel")]
    with path.open("w", encoding="utf-8") as stream:
        for number in range(count):
            history = [{"role": ("user", "assistant")[turn % 2], "text": f"{words(16)}."} for turn in range(6)]
            step = {
                "id": f"case-{number:06d}", "request": f"{words(30)}, order {draw.randrange(10**6)}?",
                "context": {"history": history, "state": {"customer": draw.randrange(10**6), "open_orders": number}},
                "tools": tools, "selected": "refund_order", "expected": "refund_order",
            }  # fmt: skip
            stream.write(json.dumps(step) + "\n")


@contextmanager
def server(folder: Path, latency: float) -> Iterator[str]:
    """The model server in its own process; its base URL."""
    (folder / "replies.json").write_text(json.dumps({"*": _REPLY}))
    tokens = [sys.executable, "-m", "rightcall.testing.server", "--latency", str(latency), "--keep", "100"]
    process = subprocess.Popen(
        [*tokens, "--answers", str(folder / "replies.json")], stdout=subprocess.PIPE, text=True, cwd=folder
    )
    try:
        assert process.stdout is not None
        yield f"{process.stdout.readline().split()[-1]}/v1"
    finally:
        process.terminate()
        process.wait()


def settings(folder: Path, url: str, concurrency: int) -> Path:
    """A settings file for one judge, beside a store of its own."""
    path = folder / "rightcall.toml"
    judge = f'model = "{MODEL}"\nbase_url = "{url}"\nmax_concurrency = {concurrency}\n'
    store = next(name for n in range(1000) if not (folder / (name := f"store-{n}/rightcall.db")).exists())
    path.write_text(f'store = "{store}"\n[judges.j]\n{judge}[review]\nrandom = 0.1\n')
    return folder / store


def least_with_ramp(calls: int, most: int, latency: float) -> float:
    """Seconds if only the endpoint took time: a probe, then 20 calls at a time and one more with each answer."""
    limit, sent, now, answers = float(min(START, most)), 0, latency, list[float]()
    limit = min(limit + 1, most)  # the probe's own answer
    while sent < calls or answers:
        while sent < calls and len(answers) < int(limit):
            heappush(answers, now + latency)
            sent += 1
        now = heappop(answers)
        limit = min(limit + 1, most)
    return now


# ---- children: each measured in a process of its own -----------------------------------------------------------------


def peak() -> float:
    """The most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident() -> float:
    """The memory that this process has now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def engine(config: str, steps: str, calls: int, marks: list[int]) -> dict[str, Any]:
    """Judge all steps, and read from the record when the first request left and the last verdict was committed."""
    from rightcall.run.graders.setup import Flags, set_up_selection
    from rightcall.settings.load import load_settings
    from rightcall.store.store import Store

    for name in ("rightcall.llm.openai", "rightcall.store.upgrade", "alembic.command"):
        import_module(name)  # start-up is measured with the whole command
    loaded = load_settings(Path(config), dict(os.environ), {})
    setup = set_up_selection(loaded, (steps,), Flags(judge="j", limit=calls))
    memory: dict[int, float] = {}

    def progress(done: int, _bad: int) -> None:
        if done in marks:
            memory[done] = resident()

    cpu = time.process_time()
    with setup.run(progress) as judged:
        cpu = time.process_time() - cpu
        top = peak()
        assert judged.run is not None
        assert judged.tally.evaluated == calls, (judged.tally, judged.stop)
        run = judged.run.id
    with Store.open(loaded.folder / loaded.settings.store) as store:
        attempts = [attempt for _, _, attempt in store.attempts(run_id=run)]
        last = max(entry.at for entry in store.log(kind="verdict", run_id=run))
    began = min(attempt.started_at for attempt in attempts)
    wall = (datetime.fromisoformat(last) - datetime.fromisoformat(began)).total_seconds()
    return {
        "wall": wall, "cpu": cpu, "peak": top, "marks": memory,
    }  # fmt: skip


async def _all(calls: int, concurrency: int, ask: Callable[[int], Any]) -> tuple[float, float]:
    """Wall and CPU seconds of all calls, so many at a time."""
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            await ask(number)

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(work() for _ in range(concurrency)))
    return time.perf_counter() - wall, time.process_time() - cpu


def bodies(texts: str) -> list[dict[str, Any]]:
    """The requests of the engine, as they were recorded."""
    from rightcall.judge.selection import REPLY_SCHEMA

    lines = Path(texts).read_text(encoding="utf-8").splitlines()
    form = {"type": "json_schema", "json_schema": {"name": "selection", "schema": REPLY_SCHEMA, "strict": True}}
    return [
        {
            "model": MODEL, "temperature": 0, "max_tokens": 2048, "response_format": form,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
        }
        for system, user in map(json.loads, lines)
    ]  # fmt: skip


def bare(texts: str, url: str, concurrency: int) -> dict[str, Any]:
    """The same texts by aiohttp alone."""
    import aiohttp

    asked = bodies(texts)

    async def run() -> tuple[float, float]:
        connector = aiohttp.TCPConnector(limit=concurrency)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def ask(number: int) -> None:
                async with session.post(f"{url}/chat/completions", json=asked[number]) as response:
                    json.loads(await response.read())["choices"][0]["message"]["content"]

            return await _all(len(asked), concurrency, ask)

    wall, cpu = asyncio.run(run())
    return {"wall": wall, "cpu": cpu, "peak": peak()}


def sdk(texts: str, url: str, concurrency: int) -> dict[str, Any]:
    """The same texts by the SDK on aiohttp."""
    import openai

    asked = bodies(texts)

    async def run() -> tuple[float, float]:
        usual = openai.DEFAULT_CONNECTION_LIMITS
        limits = type(usual)(max_connections=concurrency, max_keepalive_connections=concurrency)
        http = openai.DefaultAioHttpClient(limits=limits)
        async with openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, http_client=http) as client:

            async def ask(number: int) -> None:
                answer = await client.chat.completions.create(**asked[number])
                assert answer.choices[0].message.content

            return await _all(len(asked), concurrency, ask)

    wall, cpu = asyncio.run(run())
    return {"wall": wall, "cpu": cpu, "peak": peak()}


def writer(source: str, target: str, concurrency: int) -> dict[str, Any]:
    """Append a run's attempts with their bodies to a new store, so many waiting at a time."""
    from rightcall.store.store import Store
    from rightcall.store.writer import Writer

    with Store.open(source) as store:
        kept = [attempt for _, _, attempt in store.attempts()]
        texts = [[store.body(name) for name in (one.system, one.user, one.reply) if name] for one in kept]

    async def run() -> tuple[float, float]:
        with Store.open(target) as store:
            async with Writer(store) as into:
                return await _all(len(kept), concurrency, lambda number: into.append([kept[number]], texts[number]))

    wall, cpu = asyncio.run(run())
    return {"wall": wall, "cpu": cpu, "attempts": len(kept)}


CHILDREN: dict[str, Callable[..., dict[str, Any]]] = {"engine": engine, "bare": bare, "sdk": sdk, "writer": writer}


def measured(name: str, **arguments: Any) -> dict[str, Any]:
    """What a child measures."""
    tokens = [sys.executable, __file__, "--child", name, json.dumps(arguments)]
    done = subprocess.run(tokens, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# ---- the whole -------------------------------------------------------------------------------------------------------


def export_texts(store_path: Path, target: Path, calls: int) -> None:
    """The questions of a run, for those who ask without the engine."""
    from rightcall.store.store import Store

    with Store.open(store_path) as store, target.open("w", encoding="utf-8") as stream:
        for _, _, one in store.attempts():
            if one.purpose == "question" and calls:
                calls -= 1
                stream.write(json.dumps([store.body(one.system).decode(), store.body(one.user).decode()]) + "\n")
    first = json.loads(target.read_text(encoding="utf-8").splitlines()[0])
    print(
        f"a question: {len(first[0]) / 1e3:.1f} kB that are the same for all, {len(first[1]) / 1e3:.1f} kB of its own"
    )


def row(name: str, found: dict[str, Any], calls: int, ideal: float, floor: float | None = None) -> None:
    """One line of the table."""
    ramp = f"{found['wall'] / floor:6.2f}" if floor else "     –"
    print(
        f"  {name:10s} wall / ideal {found['wall'] / ideal:5.2f}   over the ramp's least {ramp}   "
        f"CPU {found['cpu'] / calls * 1e3:5.2f} ms a call   peak {found['peak']:4.0f} MB"
    )


def command(config: Path, steps: Path, calls: int) -> float:
    """Wall seconds of the whole command."""
    tokens = [sys.executable, "-m", "rightcall.cli.main", "selection", str(steps), "--judge", "j", "-q"]
    start = time.perf_counter()
    subprocess.run(
        [*tokens, "--config", str(config), "--limit", str(calls)], stderr=subprocess.DEVNULL, check=True
    )  # fmt: skip
    return time.perf_counter() - start


def on_disk(path: Path) -> int:
    """Bytes of a SQLite store with its log."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


def compare(folder: Path, steps: Path, url: str, concurrency: int, options: argparse.Namespace) -> None:
    """All figures at one concurrency."""
    calls, texts = options.calls, folder / "texts.jsonl"
    ideal = calls / concurrency * options.latency
    floor = least_with_ramp(calls, concurrency, options.latency)
    rounds: dict[str, list[dict[str, Any]]] = {"aiohttp": [], "sdk": [], "engine": []}
    whole: list[float] = []
    for _ in range(options.repeat):
        store = settings(folder, url, concurrency)
        asked = {"config": str(folder / "rightcall.toml"), "steps": str(steps), "calls": calls, "marks": []}
        rounds["engine"].append(measured("engine", **asked))
        if not texts.exists():
            export_texts(store, texts, calls)
        for name, child in (("aiohttp", "bare"), ("sdk", "sdk")):
            rounds[name].append(measured(child, texts=str(texts), url=url, concurrency=concurrency))
        settings(folder, url, concurrency)
        whole.append(command(folder / "rightcall.toml", steps, calls))
    best = {name: min(found, key=lambda one: one["wall"]) for name, found in rounds.items()}
    print(f"{calls} calls, {concurrency} at a time, {options.latency * 1e3:.0f} ms: ideal {ideal:.2f} s")
    for name in ("aiohttp", "sdk"):
        row(name, best[name], calls, ideal)
    row("engine", best["engine"], calls, ideal, floor)
    print(f"  the ramp and the probe alone take {floor / ideal - 1:.2f} x ideal; "
          f"engine / sdk: wall {best['engine']['wall'] / best['sdk']['wall']:.2f}, "
          f"CPU {best['engine']['cpu'] / best['sdk']['cpu']:.2f}")  # fmt: skip
    print(f"  the whole command: {min(whole) / ideal:.2f} x ideal, "
          f"{min(whole) - best['engine']['wall']:.2f} s more than the judging")  # fmt: skip


def storage(folder: Path, options: argparse.Namespace) -> None:
    """What an attempt takes on disk, and how many the writer commits a second, alone."""
    stores = sorted(folder.glob("store-*/rightcall.db"))
    target = folder / "alone" / "rightcall.db"
    found = measured("writer", source=str(stores[0]), target=str(target), concurrency=max(options.concurrency))
    from rightcall.store.store import Store

    with Store.open(stores[0]) as store:
        counts, size = store.counts(), store.size()
    number = counts["attempt"]
    print(
        f"storage: {size.raw / number / 1e3:.1f} kB of texts an attempt are kept in {size.stored / number / 1e3:.1f} "
        f"kB; on disk {on_disk(target) / found['attempts'] / 1e3:.1f} kB with record, log and index, "
        f"{on_disk(stores[0]) / number / 1e3:.1f} kB with its case, result and verdict"
    )
    print(
        f"the writer alone: {found['attempts'] / found['wall']:.0f} attempts a second committed, "
        f"CPU {found['cpu'] / found['attempts'] * 1e3:.2f} ms each"
    )


def long_run(folder: Path) -> None:
    """Memory over many calls."""
    steps, marks = folder / "long.jsonl", [2_000, 5_000, 10_000, 20_000]
    write_steps(steps, marks[-1])
    with server(folder, 0.02) as url:
        settings(folder, url, 256)
        asked = {"config": str(folder / "rightcall.toml"), "steps": str(steps), "calls": marks[-1], "marks": marks}
        found = measured("engine", **asked)
    shown = ", ".join(f"{int(done):,}: {memory:.0f} MB" for done, memory in found["marks"].items())
    print(f"memory after calls (256 at a time): {shown}; peak {found['peak']:.0f} MB")
    print(f"  CPU {found['cpu'] / marks[-1] * 1e3:.2f} ms a call, {marks[-1] / found['wall']:.0f} calls a second")


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(CHILDREN[sys.argv[2]](**json.loads(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--repeat", type=int, default=3, help="rounds; the best of each is shown")
    parser.add_argument("--long", action="store_true", help="also 20,000 calls, for memory")
    options = parser.parse_args()
    print(f"load of the machine at the start: {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Compiled modules, as an installed package has them, and a key that must stand in no record.
        os.environ |= {"PYTHONPYCACHEPREFIX": f"{name}/compiled", "OPENAI_API_KEY": "a-key-of-no-use-0123456789"}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        write_steps(folder / "steps.jsonl", options.calls)
        with server(folder, options.latency) as url:
            for concurrency in options.concurrency:
                compare(folder, folder / "steps.jsonl", url, concurrency, options)
        storage(folder, options)
        if options.long:
            long_run(folder)


if __name__ == "__main__":
    main()
