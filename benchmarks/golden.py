"""How fast `golden` grades, against plain decoding of the same bytes in the same run.

    python benchmarks/golden.py --generator PATH/gen_traces.py [--pairs 20000]

The generator writes pairs of a golden and an actual trace with labelled faults; they are turned into native traces and
cases before anything is timed. Printed:

* floor: CPU µs a pair for decoding both sides with msgspec and comparing tools and arguments with `==`;
* grade: CPU µs a pair for reading both sides and grading them with metrics, findings and aligned diff, one process;
* the ratio of the two, for all pairs, for those without a fault and for those with one;
* wrong verdicts on the labelled faults (reordered keys are no fault);
* the command over the same pairs with one process and with two, and its peak memory, also on a file ten times as long;
* single large traces.

Figures are ratios of one run on one machine: quote those, not the times.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from rightcall.api import Case, Trace, call, grade
from rightcall.case.case import Expect, GoldenCall
from rightcall.case.policy import Policy
from rightcall.errors import Place
from rightcall.grade.golden import Grader, Options
from rightcall.grade.safety import Matrix
from rightcall.trace import jsontext
from rightcall.trace.sources.native import read_line

REPEATS = 5
_encode = msgspec.json.Encoder().encode
_decode_case = msgspec.json.Decoder(Case).decode


class Pair:
    """One generated pair as native bytes: the trace's line, the case's line, and what was done to it."""

    def __init__(self, row: dict[str, Any]) -> None:
        calls = [{"tool": made["name"], "arguments": made["arguments"]} for made in row["actual"]]
        golden = [{"tool": made["name"], "arguments": made["arguments"]} for made in row["golden"]]
        events = [{"type": "call", **made} for made in calls]
        self.fault = row["fault"]
        self.trace = _encode({"id": row["id"], "case_id": row["id"], "events": events})
        self.case = _encode({"id": row["id"], "expect": {"calls": golden}})


def generate(generator: Path, count: int) -> list[Pair]:
    """Make the pairs with the generator's own function."""
    spec = importlib.util.spec_from_file_location("generator", generator)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [Pair(row) for row in module.pairs(count)]


def floor(pairs: list[Pair]) -> int:
    """Decode both sides and compare."""
    equal = 0
    for pair in pairs:
        actual = msgspec.json.decode(pair.trace)["events"]
        golden = msgspec.json.decode(pair.case)["expect"]["calls"]
        equal += len(actual) == len(golden) and all(
            left["tool"] == right["tool"] and left["arguments"] == right["arguments"]
            for left, right in zip(actual, golden, strict=True)
        )
    return equal


def graded(pairs: list[Pair]) -> int:
    """Read both sides and grade them in full."""
    place, matrix, options = Place("pairs"), Matrix(Policy()), Options()
    passed = 0
    for pair in pairs:
        grader = Grader(_decode_case(pair.case), options=options, matrix=matrix, place=place)
        passed += grader.grade(read_line(pair.trace, place)).verdict == "PASS"
    return passed


def ratio(pairs: list[Pair]) -> tuple[float, float, float]:
    """Median CPU µs a pair of floor and grading, measured in turn, and the median of their ratios."""
    floors, grades = [], []
    for _ in range(REPEATS):
        start = time.process_time()
        floor(pairs)
        middle = time.process_time()
        graded(pairs)
        floors.append((middle - start) / len(pairs) * 1e6)
        grades.append((time.process_time() - middle) / len(pairs) * 1e6)
    ratios = [ours / base for ours, base in zip(grades, floors, strict=True)]
    return statistics.median(floors), statistics.median(grades), statistics.median(ratios)


def wrong_verdicts(pairs: list[Pair]) -> int:
    """Pairs whose verdict contradicts their label."""
    return sum(graded([pair]) != (pair.fault is None) for pair in pairs)


def command(folder: Path, traces: Path, jobs: int) -> tuple[float, float]:
    """Wall seconds and peak megabytes (largest process) of the command."""
    tokens = [sys.executable, "-m", "rightcall.cli.main", "golden", str(traces), "--cases", str(folder / "cases.jsonl")]
    tokens += ["-q", "-j", str(jobs), "-o", str(folder / f"r{jobs}.jsonl")]
    # A small process in between: the peak of a child that was forked from this one would be this one's own.
    watcher = (
        "import json, resource, subprocess, sys, time; start = time.perf_counter(); "
        "subprocess.run(json.loads(sys.argv[1]), stderr=subprocess.DEVNULL); "
        "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", watcher, json.dumps(tokens)], capture_output=True, text=True, check=True
    )
    seconds, megabytes = done.stdout.split()
    return float(seconds), float(megabytes)


def large_traces() -> None:
    """Milliseconds for single large traces."""

    def golden(count: int, tools: int) -> Case:
        calls = [
            GoldenCall(tool=f"t{i % tools}", arguments_json=msgspec.Raw(jsontext.encode({"i": i})))
            for i in range(count)
        ]
        return Case(id="c", expect=Expect(calls=tuple(calls)))

    cases = {
        "300 calls as the golden": (golden(300, 24), [call(f"t{i % 24}", {"i": i}) for i in range(300)]),
        "300 calls, one argument in ten wrong": (
            golden(300, 24),
            [call(f"t{i % 24}", {"i": -1 if i % 10 == 0 else i}) for i in range(300)],
        ),
        "10,000 calls, 10 goldens": (golden(10, 10), [call(f"t{i % 10}", {"i": i % 50}) for i in range(10_000)]),
        "10,000 calls of one tool, 10 goldens": (golden(10, 1), [call("t0", {"i": i % 50}) for i in range(10_000)]),
    }
    for name, (case, calls) in cases.items():
        trace = Trace(id="t", events=tuple(calls))
        times = []
        for _ in range(3):
            start = time.perf_counter()
            grade(case, trace)
            times.append((time.perf_counter() - start) * 1e3)
        print(f"  {name:40s} {statistics.median(times):8.1f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--generator", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=20_000)
    arguments = parser.parse_args()
    pairs = generate(arguments.generator, arguments.pairs)
    print(f"{len(pairs)} pairs, {sum(len(p.trace) + len(p.case) for p in pairs) / 1e6:.0f} MB")
    print(f"wrong verdicts on labelled faults: {wrong_verdicts(pairs)}")
    for name, some in (
        ("all", pairs),
        ("without a fault", [pair for pair in pairs if pair.fault is None]),
        ("with a fault", [pair for pair in pairs if pair.fault is not None]),
    ):
        base, ours, share = ratio(some)
        print(f"  {name:18s} floor {base:6.1f} µs   grade {ours:6.1f} µs   ratio {share:5.2f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cases.jsonl").write_bytes(b"".join(pair.case + b"\n" for pair in pairs))
        traces, long = folder / "traces.jsonl", folder / "long.jsonl"
        traces.write_bytes(b"".join(pair.trace + b"\n" for pair in pairs))
        with long.open("wb") as stream:
            for _ in range(10):
                stream.write(traces.read_bytes())
        for source, label in ((traces, "the file"), (long, "ten times the file")):
            one, two = command(folder, source, 1), command(folder, source, 2)
            print(f"  {label} ({source.stat().st_size / 1e6:.0f} MB): 1 process {one[0]:.1f} s, {one[1]:.0f} MB; "
                  f"2 processes {two[0]:.1f} s, {two[1]:.0f} MB; {one[0] / two[0]:.2f} × one")  # fmt: skip
        same = (folder / "r1.jsonl").read_bytes() == (folder / "r2.jsonl").read_bytes()
        print(f"  one and two processes write the same bytes: {json.dumps(same)}")
    large_traces()


if __name__ == "__main__":
    main()
