"""How fast the readers read, against plain decoding of the same bytes in the same run; and their memory.

    python benchmarks/readers.py --data PATH [--big 2000]

For each file: CPU µs a kilobyte for decoding its bytes with msgspec (line by line, or the document), for reading it
into traces, and the ratio. Then a JSON Lines file of `--big` megabytes, made by repetition, is read as a stream in a
process of its own, and that process's peak memory is printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rightcall.errors import RightcallError
from rightcall.trace.sources.native import write_line
from rightcall.trace.sources.reading import load_traces

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 5


def decode(path: Path) -> None:
    """Decode every line, or the document, and nothing else."""
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        for line in data.splitlines():
            msgspec.json.decode(line)
    else:
        msgspec.json.decode(data)


def cpu(work: Callable[[], object]) -> float:
    """Median CPU seconds of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def compare(path: Path) -> None:
    """Print one file's figures."""
    size = path.stat().st_size / 1024
    try:
        traces = load_traces(path)
    except RightcallError as error:
        print(f"{path.name:52s} refused: {error.code}")
        return
    base, ours = cpu(lambda: decode(path)), cpu(lambda: load_traces(path))
    print(
        f"{path.name:52s} {size:8.0f} kB {len(traces):5d} traces   decode {base / size * 1e6:6.2f} µs/kB   "
        f"read {ours / size * 1e6:6.2f} µs/kB   ratio {ours / base:5.2f}"
    )


def stream(line: bytes, megabytes: int) -> None:
    """Read a long file in a process of its own, and print its peak memory."""
    program = (
        "import resource, sys; from rightcall.trace.sources.reading import open_traces, read; "
        "n = sum(1 for _ in read(open_traces(sys.argv[1]))); "
        "print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.jsonl"
        block = line * max(1, (1 << 20) // len(line))
        with path.open("wb") as out:
            for _ in range(megabytes):
                out.write(block)
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
        count, peak = done.stdout.split()
        print(
            f"{path.stat().st_size / 1e6:.0f} MB, {count} traces: {time.perf_counter() - start:.0f} s, peak {peak} MB"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--big", type=int, default=2000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        chat = Path(name) / "openai_chat.jsonl"
        native = Path(name) / "native.jsonl"
        runs = json.loads((arguments.data / "tau_bench/gpt-4o-airline.json").read_text())
        chat.write_text(
            "".join(json.dumps({"id": f"r{i}", "messages": run["traj"]}) + "\n" for i, run in enumerate(runs))
        )
        native.write_bytes(b"".join(map(write_line, load_traces(chat))))
        compare(native)
        compare(chat)
        line = native.read_bytes().splitlines(keepends=True)[0]
    for path in sorted(arguments.data.rglob("*.json*")):
        if path.suffix in (".json", ".jsonl") and path.stat().st_size > 100_000:
            compare(path)
    stream(line, arguments.big)


if __name__ == "__main__":
    main()
