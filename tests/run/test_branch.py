"""On which branch a run is made: what CI says, then what the repository around the settings says, without git."""

import os
import string
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rightcall.run.inputs.branch import origin_of
from rightcall.run.results.model import Origin

COMMIT, OTHER = "8c1e4f2" + "0" * 33, "77b0aaa" + "1" * 33
HEADS = "refs/heads/"


def put(folder, files):
    """Write files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


# ---- CI --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "branch", "commit"),
    [
        ({}, None, None),
        ({"RIGHTCALL_BRANCH": "mine", "GITHUB_REF_NAME": "theirs", "RIGHTCALL_COMMIT": COMMIT}, "mine", COMMIT),
        ({"RIGHTCALL_BRANCH": "", "GITHUB_REF_NAME": "main", "GITHUB_SHA": COMMIT}, "main", COMMIT),
        ({"RIGHTCALL_BRANCH": "mine", "GITHUB_REF_NAME": "main", "GITHUB_SHA": COMMIT}, "mine", COMMIT),
        ({"GITHUB_HEAD_REF": "fix", "GITHUB_REF_NAME": "7/merge", "GITHUB_SHA": COMMIT}, "fix", COMMIT),
        ({"GITHUB_HEAD_REF": "", "GITHUB_REF_NAME": "main", "GITHUB_REF_TYPE": "branch"}, "main", None),
        ({"GITHUB_REF_NAME": "v1.2", "GITHUB_REF_TYPE": "tag", "GITHUB_SHA": COMMIT}, None, COMMIT),
        ({"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix", "CI_COMMIT_SHA": COMMIT}, "fix", COMMIT),
        ({"CI_COMMIT_BRANCH": "main", "CI_COMMIT_SHA": COMMIT}, "main", COMMIT),
        ({"CI_COMMIT_TAG": "v1.2", "CI_COMMIT_SHA": COMMIT}, None, COMMIT),
        ({"GITHUB_REF_NAME": "main", "CI_COMMIT_BRANCH": "other"}, "main", None),
        ({"RIGHTCALL_BRANCH": "caf\udce9", "GITHUB_REF_NAME": "main"}, "main", None),
    ],
)
def test_ci_says_the_branch_of_a_request_to_merge_and_none_of_a_tag(tmp_path, environ, branch, commit):
    assert origin_of(environ, tmp_path) == Origin(branch, commit)


# ---- the repository --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "branch", "commit"),
    [
        ({"HEAD": f"ref: {HEADS}main\n", f"{HEADS}main": f"{COMMIT}\n"}, "main", COMMIT),
        ({"HEAD": f"ref: {HEADS}fix/a-1\n", f"{HEADS}fix/a-1": f"{COMMIT}\n"}, "fix/a-1", COMMIT),
        ({"HEAD": f"{COMMIT}\n"}, None, COMMIT),
        ({"HEAD": f"ref: {HEADS}new\n"}, "new", None),
        (
            {"HEAD": f"ref: {HEADS}main\n",
             "packed-refs": f"# pack-refs with: peeled\n{OTHER} {HEADS}main2\n{COMMIT} {HEADS}main\n^{OTHER}\n"},
            "main", COMMIT,
        ),
        (
            {"HEAD": f"ref: {HEADS}main\n", f"{HEADS}main": f"{COMMIT}\n", "packed-refs": f"{OTHER} {HEADS}main\n"},
            "main", COMMIT,
        ),
        ({"HEAD": f"ref: {HEADS}a\n", f"{HEADS}a": f"ref: {HEADS}b\n", f"{HEADS}b": COMMIT}, "a", COMMIT),
        ({"HEAD": f"ref: {HEADS}a\n", f"{HEADS}a": f"ref: {HEADS}a\n"}, "a", None),
        ({"HEAD": f"ref: {HEADS}.invalid\n"}, None, None),
        ({"HEAD": "ref: ../../secret\n"}, None, None),
        ({"HEAD": f"ref: {HEADS}../../../secret\n", "../secret": COMMIT}, None, None),
        ({"HEAD": f"ref: {HEADS}caf".encode() + b"\xe9\n"}, None, None),
        ({"HEAD": f"ref: {HEADS}ma\0in\n"}, None, None),
        ({"HEAD": "nonsense\n"}, None, None),
        ({"config": ""}, None, None),
        ({"HEAD": "a" * 64 + "\n"}, None, "a" * 64),
    ],
)  # fmt: skip
def test_the_repository_says_it_by_its_head(tmp_path, files, branch, commit):
    put(tmp_path / ".git", files)
    inside = tmp_path / "suites/desk"
    inside.mkdir(parents=True)
    assert origin_of({}, inside) == Origin(branch, commit)


def test_a_worktree_has_a_head_of_its_own_and_shares_the_branches(tmp_path):
    put(tmp_path / "repo/.git", {
        "HEAD": f"ref: {HEADS}main\n", "packed-refs": f"{OTHER} {HEADS}main\n", f"{HEADS}fix": COMMIT,
        "worktrees/w/HEAD": f"ref: {HEADS}fix\n", "worktrees/w/commondir": "../..\n",
    })  # fmt: skip
    put(tmp_path / "w", {".git": "gitdir: ../repo/.git/worktrees/w\n", "suite/rightcall.toml": ""})
    assert origin_of({}, tmp_path / "w/suite") == Origin("fix", COMMIT)
    assert origin_of({}, tmp_path / "repo") == Origin("main", OTHER)


@pytest.mark.parametrize("text", ["", "gitdir: nowhere\n", "something else\n", "gitdir:\n"])
def test_a_file_that_leads_nowhere_says_nothing(tmp_path, text):
    put(tmp_path, {".git": text})
    assert origin_of({}, tmp_path) == Origin()


@pytest.mark.parametrize("files", [{"config": ""}, {"HEAD/config": ""}])
def test_a_folder_that_is_no_repository_does_not_hide_the_one_around_it(tmp_path, files):
    put(tmp_path / ".git", {"HEAD": f"ref: {HEADS}main\n", f"{HEADS}main": COMMIT})
    put(tmp_path / "desk/.git", files)
    assert origin_of({}, tmp_path / "desk") == Origin("main", COMMIT)


def test_where_ci_names_a_branch_alone_the_repository_says_the_commit(tmp_path):
    put(tmp_path / ".git", {"HEAD": f"{COMMIT}\n"})
    assert origin_of({"RIGHTCALL_BRANCH": "main"}, tmp_path) == Origin("main", COMMIT)


def test_a_repository_that_git_made_is_read_as_git_reads_it(tmp_path):
    repository = tmp_path / "repository"
    repository.mkdir()

    def git(*words):
        told = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
        who = ("-c", "user.name=ana", "-c", "user.email=ana@desk.example")
        return subprocess.run(
            ["git", *who, *words], cwd=repository, env=told, capture_output=True, text=True, check=True
        )

    try:
        git("init", "-q", "-b", "main")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs git")
    git("commit", "-q", "--allow-empty", "-m", "one")
    commit = git("rev-parse", "HEAD").stdout.strip()
    assert origin_of({}, repository) == Origin("main", commit)
    git("checkout", "-q", "-b", "fix/näme#1")
    git("pack-refs", "--all")
    assert origin_of({}, repository) == Origin("fix/näme#1", commit)
    git("worktree", "add", "-q", "../w", "-b", "other")
    assert origin_of({}, tmp_path / "w") == Origin("other", commit)
    git("checkout", "-q", "--detach")
    assert origin_of({}, repository) == Origin(None, commit)


@given(name=st.text(string.ascii_letters + string.digits + "-_/.#@+=äß中", min_size=1, max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_branch_is_called_it_is_read_back(tmp_path, name):
    known = ".." not in name and name != ".invalid"
    put(tmp_path / ".git", {"HEAD": f"ref: {HEADS}{name}\n", "packed-refs": f"{COMMIT} {HEADS}{name}\n"})
    assert origin_of({}, tmp_path).branch == (name if known else None)
    assert origin_of({"GITHUB_REF_NAME": name}, tmp_path / "nowhere").branch == name


def test_in_words_it_is_the_branch_and_the_first_digits_of_the_commit():
    assert str(Origin("main", COMMIT)) == "main@8c1e4f2"
    assert (str(Origin("main")), str(Origin(None, COMMIT)), str(Origin())) == ("main", "8c1e4f2", "")
    assert Origin.of({"source": {"branch": 7}}) == Origin.of({"source": "pytest"}) == Origin.of({}) == Origin()
