"""What an HTML report of a large run costs, against plain JSON writing of the same results in the same run.

    python benchmarks/report.py [--verdicts 100000]

One result in five is a failure. Printed:

* CPU of writing the HTML file / CPU of encoding every result as JSON, both from the same view in one process, and for
  scale the same for the failures alone, which are all that the HTML file reads (twice);
* the size of the file, and how many failures it shows;
* peak memory of a process that does nothing else, for a tenth of the results and for all of them;
* the whole command over so many generated traces with `-o FILE.json`, with `-o FILE.html`, and its peak memory.

Figures are ratios of one run on one machine: quote those, not the times. It ends with 1 if the file is above 5 MB.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rightcall.report.html.page import write_html
from rightcall.report.view.model import Bar, CallLine, CaseView, Counts, GraderView, LineState, ReportView
from rightcall.stats.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 5_000_000
REPEATS = 3
EVERY = 5
"""One result in so many is a failure."""

KINDS = ("wrong_tool", "missing_call", "wrong_argument", "over_action")
_encode = msgspec.json.Encoder().encode


def case(number: int) -> CaseView:
    """One result with a call diff of five lines."""
    failed = number % EVERY == 0
    kind = KINDS[number // EVERY % len(KINDS)] if failed else ""
    calls = [f'{at} get_order id="{number}-{at}"' for at in range(1, 5)]
    lines = [CallLine(state="matched", expected=call, actual=call) for call in calls]
    state: LineState = "missing" if failed else "matched"
    lines.append(CallLine(state=state, expected="5 refund amount=12", notes=("not called",) * failed))
    return CaseView(
        grader="golden", unit=f"t-{number}", case_id=f"case-{number}", trace_id=f"t-{number}",
        outcome="failed" if failed else "passed", verdict="FAIL" if failed else "PASS", kind=kind,
        words=(f"HIGH {kind}: refund was not called, although order {number} was to be refunded",) * failed,
        facts=(("overall", "0.80"),), lines=tuple(lines), next=f"rightcall show t-{number}", tool="refund",
    )  # fmt: skip


def view(count: int) -> ReportView:
    """A report of so many results."""
    failed = len(range(0, count, EVERY))
    counts = Counts(n=count, passed=count - failed, failed=failed)
    bars = (Bar(name="pass rate", value=wilson(count - failed, count), threshold=0.98),)
    return ReportView(
        title="benchmark", run_id=None, status="finished",
        graders=(GraderView(grader="golden", counts=counts, bars=bars),),
        cases=lambda: map(case, range(count)), failures=lambda: map(case, range(0, count, EVERY)),
    )  # fmt: skip


def plain(cases: Iterator[CaseView]) -> int:
    """Encode results as JSON lines, and count the bytes."""
    return sum(len(_encode(one)) + 1 for one in cases)


def cpu(work: object) -> float:
    """CPU seconds, the least of some tries."""
    assert callable(work)
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def in_one_process(count: int) -> int:
    """Print the ratios, and return the size of the file."""
    report = view(count)
    made = [case(number) for number in range(count)]
    bad = [one for one in made if one.outcome == "failed"]
    # What is measured is writing: the results are there before.
    report = replace(report, cases=lambda: iter(made), failures=lambda: iter(bad))
    stream = BytesIO()
    write_html(report, stream)
    page = stream.getvalue()
    html = cpu(lambda: write_html(report, BytesIO()))
    every, failures = cpu(lambda: plain(iter(made))), cpu(lambda: plain(iter(bad)))
    shown = len(re.findall(rb' id="f-\d+"', page))
    print(f"{count:,} results, {len(bad):,} failures; as JSON {plain(iter(made)) / 1e6:.1f} MB")
    print(f"  HTML {len(page) / 1e6:.2f} MB, {shown:,} failures in it")
    print(f"  CPU of HTML / JSON of all results   {html / every:6.2f}")
    print(f"  CPU of HTML / JSON of the failures  {html / failures:6.2f}")
    return len(page)


WATCH = (
    "import json, resource, subprocess, sys; "
    "subprocess.run(json.loads(sys.argv[1]), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL); "
    "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
    "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
)
"""A small process in between: the peak of a child that was forked from this one would be this one's own."""

STREAMED = """
import sys
sys.path.insert(0, sys.argv[1])
import report
class Null:
    def write(self, data): pass
report.write_html(report.view(int(sys.argv[2])), Null())
"""


def watched(tokens: list[str]) -> tuple[float, float]:
    """CPU seconds and peak megabytes (largest process) of a command."""
    watcher = [sys.executable, "-S", "-c", WATCH, json.dumps(tokens)]
    seconds, megabytes = subprocess.run(watcher, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(megabytes)


def peak(count: int) -> float:
    """Peak megabytes of a process that writes a report of a stream."""
    return watched([sys.executable, "-c", STREAMED, str(Path(__file__).parent), str(count)])[1]


def command(folder: Path, out: str) -> tuple[float, float]:
    """CPU seconds and peak megabytes (largest process) of `rightcall golden -o`."""
    tokens = [sys.executable, "-m", "rightcall.cli.main", "golden", str(folder / "traces.jsonl")]
    return watched([*tokens, "--cases", str(folder / "cases.jsonl"), "-q", "-o", str(folder / out)])


def write_traces(folder: Path, count: int) -> None:
    """Write so many traces of four calls, and a case for each; one in five misses a call."""
    with (folder / "traces.jsonl").open("wb") as traces, (folder / "cases.jsonl").open("wb") as cases:
        for number in range(count):
            calls = [{"tool": f"tool_{at}", "arguments": {"order": f"{number}-{at}"}} for at in range(4)]
            cases.write(_encode({"id": f"c-{number}", "expect": {"calls": calls}}) + b"\n")
            done = calls[:-1] if number % EVERY == 0 else calls
            traces.write(_encode({"id": f"t-{number}", "case_id": f"c-{number}", "calls": done}) + b"\n")


def whole_command(count: int) -> int:
    """Print what the command costs with each format, and return the size of its HTML file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_traces(folder, count)
        (base, small), (html, large) = command(folder, "r.json"), command(folder, "r.html")
        size = (folder / "r.html").stat().st_size
        print(f"  rightcall golden, CPU with -o r.html / with -o r.json  {html / base:.2f}")
        print(f"  largest process: {small:.0f} MB with -o r.json, {large:.0f} MB with -o r.html ({size / 1e6:.2f} MB)")
        return size


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--verdicts", type=int, default=100_000)
    count = parser.parse_args().verdicts
    sizes = [in_one_process(count)]
    print(f"  peak memory: {peak(count // 10):.0f} MB for {count // 10:,} results, {peak(count):.0f} MB for {count:,}")
    sizes.append(whole_command(count))
    sys.exit(max(sizes) > LIMIT)


if __name__ == "__main__":
    main()
