"""Several processes on one store: nothing is lost, nothing is there twice, nobody fails."""

import json

import pytest
from store_making import RUN, end, start_python

from rightcall.store.store import Store
from rightcall.store.verify import verify

WRITE = """
from rightcall.store.store import Store
from store_making import verdict
url, me, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with Store.open(url) as store:
    for first in range(0, number, 5):
        own = [verdict(me * number + n) for n in range(first, first + 5)]
        # The sixth is what all others write too.
        store.write([*own, verdict(1_000_000 + first)], ["result", f"body {first}"])
"""
START_RUNS = """
import json
from rightcall.store.store import Store
with Store.open(sys.argv[1]) as store:
    print(json.dumps([store.new_run("rubric", "20261129", "now", {}).id for _ in range(10)]))
"""


@pytest.mark.slow
def test_eight_processes_write_to_a_store_that_none_of_them_finds(reported, store_url):
    # STO-04: parallel runs failed at start because the embedded database was locked.
    case = reported["STO-04"]
    writers, each = case["minimal_input"]["writers"], case["minimal_input"]["verdicts_each"]
    processes = [start_python(WRITE, store_url, str(me), str(each)) for me in range(writers)]
    for process in processes:
        end(process)
    with Store.open(store_url, create=False) as store:
        units = [found.unit for found in store.verdicts(RUN)]
        own = [unit for unit in units if int(unit[2:]) < 1_000_000]
        assert len(own) == len(set(own)) == case["right_answer"]["rows"]
        assert len(units) == len(set(units)) == len(own) + each // 5
        found = verify(store)
        assert (found.faults, found.entries) == ((), len(units))
        assert found.bodies == each // 5 + 1


@pytest.mark.slow
def test_no_two_processes_start_the_same_run(store_url):
    processes = 4
    started = [start_python(START_RUNS, store_url) for _ in range(processes)]
    ids = [name for process in started for name in json.loads(end(process))]
    assert sorted(ids, key=lambda name: int(name[9:])) == [f"20261129-{n + 1}" for n in range(10 * processes)]
    with Store.open(store_url, create=False) as store:
        assert {run.id for run, _ in store.runs()} == set(ids)
        assert verify(store).intact
