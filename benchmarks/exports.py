"""What it costs to write a large run on record as files, and to check a bundle of it: ratios, and peak memory.

    python benchmarks/exports.py [--verdicts 100000]

A store is made of so many traces with a case each (those of `report.py`), and one of a tenth of them. Of both, every
command below is run once as a process of its own. Printed is its CPU in multiples of the CPU of the plainest of them,
`export verdicts -o FILE.jsonl` on the same store, and the peak memory of the largest process. It ends with 1 where a
Parquet file costs more than twice the lines, a check more than a third of the bundle, or ten times the verdicts more
than 15 times the CPU.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from report import watched, write_traces

MOST_OF_PARQUET, MOST_OF_A_CHECK, MOST_OF_TEN_TIMES = 2.0, 1 / 3, 15.0

COMMANDS = {
    "export verdicts -o v.jsonl": ("export", "verdicts", "--store", "s.db", "-o", "v.jsonl"),
    "export verdicts -o v.parquet": ("export", "verdicts", "--store", "s.db", "-o", "v.parquet"),
    "export verdicts -o v.csv": ("export", "verdicts", "--store", "s.db", "-o", "v.csv"),
    "export report -o r.json": ("export", "report", "--store", "s.db", "-o", "r.json"),
    "gate": ("gate", "--store", "s.db"),
    "export bundle": ("export", "bundle", "--store", "s.db", "--out", "bundle"),
    "log verify BUNDLE": ("log", "verify", "bundle"),
    "log verify": ("log", "verify", "--store", "s.db"),
}


def rightcall(folder: Path) -> list[str]:
    """The command, in a folder."""
    change = f"import os, runpy, sys; os.chdir({str(folder)!r}); sys.argv[0] = 'rightcall'; "
    return [sys.executable, "-c", f"{change}runpy.run_module('rightcall.cli.main', run_name='__main__')"]


def measured(count: int) -> dict[str, tuple[float, float]]:
    """CPU seconds and peak megabytes of each command, over so many verdicts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_traces(folder, count)
        run = ["golden", "traces.jsonl", "--cases", "cases.jsonl", "--store", "s.db", "--quiet", "--exit-zero"]
        subprocess.run([*rightcall(folder), *run], check=True, capture_output=True)
        found = {title: watched([*rightcall(folder), *tokens]) for title, tokens in COMMANDS.items()}
        missing = [one for one in ("v.jsonl", "v.parquet", "v.csv", "r.json", "bundle") if not (folder / one).exists()]
        assert not missing, f"not written: {missing}"
        return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--verdicts", type=int, default=100_000)
    large = parser.parse_args().verdicts
    tenth, whole = measured(large // 10), measured(large)
    lines = whole["export verdicts -o v.jsonl"][0]
    print(f"{large:,} verdicts; CPU in multiples of that of the lines; CPU against that of a tenth; peak MB of both")
    for title in COMMANDS:
        (small, little), (cpu, much) = tenth[title], whole[title]
        print(f"  {title:30} {cpu / lines:6.2f}  {cpu / small:6.1f} x  {little:5.0f} MB {much:5.0f} MB")
    check = whole["log verify BUNDLE"][0] / whole["export bundle"][0]
    print(f"  check / bundle {check:.2f}")
    grown = max(whole[title][0] / tenth[title][0] for title in COMMANDS)
    parquet = whole["export verdicts -o v.parquet"][0] / lines
    sys.exit(parquet > MOST_OF_PARQUET or check > MOST_OF_A_CHECK or grown > MOST_OF_TEN_TIMES)


if __name__ == "__main__":
    main()
