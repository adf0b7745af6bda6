"""Every command that only looks works on a store that may only be read; every other says so and writes nothing."""

import json
from pathlib import Path

import pytest
from without_rights import run_without_rights

CARDS = Path(__file__).parents[2] / "examples" / "card-desk" / "rightcall.toml"

DRIVER = """
import json, os, sys, tempfile
from rightcall.cli.exits import guarded
from rightcall.cli.main import app
said = {}
screen, errors = os.dup(1), os.dup(2)
for tokens in json.loads(sys.argv[1]):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1), os.dup2(err.fileno(), 2)
        try:
            code = guarded(app, tokens)
        finally:
            sys.stdout.flush(), sys.stderr.flush()
            os.dup2(screen, 1), os.dup2(errors, 2)
        out.seek(0), err.seek(0)
        said[" ".join(tokens)] = [code, out.read().decode(), err.read().decode()]
print(json.dumps(said))
"""


def many(tmp_path, commands, **options):
    """Run commands where nothing may be written that modes forbid; return exit code, stdout and stderr of each."""
    tokens = json.dumps([command.split() for command in commands])
    return json.loads(run_without_rights(tmp_path, DRIVER, tokens, cwd=tmp_path, **options))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return a folder with a finished run and a judged one on record, none of which was reviewed, and a settings file."""
    folder = tmp_path_factory.mktemp("theirs")
    graders = "--grader golden --grader selection --grader rubric"
    first = f"run -c {CARDS} --store {folder / 'r.db'} {graders} --quiet"
    again = f"run -c {CARDS} --store {folder / 'r.db'} --grader golden --quiet"
    said = many(folder, [first, again])
    assert [code for code, _, _ in said.values()] == [1, 1]
    (folder / "may-not-be-written").unlink(missing_ok=True)
    return folder


@pytest.fixture
def theirs(kept):
    """Return the folder as somebody sees it who may read what is in it and nothing else; it must stay as it is."""
    before = {one.name: one.read_bytes() for one in kept.iterdir()}
    for one in kept.iterdir():
        one.chmod(0o444)
    kept.chmod(0o555)
    yield kept
    kept.chmod(0o755)
    assert {one.name: one.read_bytes() for one in kept.iterdir()} == before


LOOKING = (
    "runs", "runs --json", "show {run}", "show {run} --json", "log list", "log gates", "log show {entry}",
    "log verify", "gate {run}", "diff {run} {other}", "review list", "review show {item}", "review stats",
    "doctor --effective",
    "export verdicts {run} -o verdicts.csv", "export labels -o labels.csv", "export report {run} -o report.html",
    "export bundle {run} -o bundle.zip",
)  # fmt: skip
WRITING = (
    "golden", "selection", "rubric --judge desk", "run --grader golden", "run --resume {run}",
    "review next --as ana",
)  # fmt: skip


@pytest.mark.slow
def test_what_looks_works_and_what_writes_is_refused(tmp_path, theirs, rightcall):
    runs = [one["id"] for one in rightcall("runs", "--store", str(theirs / "r.db"), "--json").json["runs"]]
    place = f" -c {CARDS} --store {theirs / 'r.db'}"
    lists = many(tmp_path, [f"log list --json{place}", f"review list --json{place}"])
    asked, waiting = (json.loads(out) for _, out, _ in lists.values())
    ids = {
        "run": runs[1], "other": runs[0], "entry": asked["attempts"][0]["seq"], "item": waiting["items"][0]["id"],
    }  # fmt: skip
    looking = [command.format(**ids) + place for command in LOOKING]
    writing = [command.format(**ids) + place for command in WRITING]
    said = many(tmp_path, [*looking, *writing])
    # What says the same to whoever may write: the run has failures, so its gate fails.
    allowed = {"gate": 1, "diff": 0}
    for command in looking:
        code, out, err = said[command]
        assert (code, "Traceback" in err) == (allowed.get(command.split()[0], 0), False), (command, out, err)
    for command in writing:
        code, out, err = said[command]
        assert (code, out) == (5, ""), (command, out, err)
        assert "the store may only be read: its file may not be written; nothing was written; copy it" in err, command
        assert err.endswith("exit 5\n")
        assert len(err.splitlines()) <= 3, err
    checked = many(tmp_path, ["log verify bundle.zip", f"doctor{place}"])
    assert checked["log verify bundle.zip"][0] == 0
    code, out, _ = checked[f"doctor{place}"]
    assert code == 5
    assert f"fail  store        {theirs / 'r.db'}: the store may only be read: its file may not be written" in out
