"""The check of a bundle: an untouched one is intact, and whatever is done to one shows, and is named."""

from __future__ import annotations

import json
import os
import shutil
import zipfile

import bundle_making
import pytest
from bundle_making import (
    check,
    exported,
    files_of,
    lines,
    make_runs,
    put_lines,
    rechain,
    reseal,
    run_ids,
    sha,
    sign,
    told,
    zipped,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rightcall.errors import ConfigError, StoreError
from rightcall.run.bundle import files as bundle_files
from rightcall.run.bundle import opening as bundle_opening
from rightcall.run.bundle.check import check_bundle
from rightcall.store.packing import unpack
from rightcall.store.records import VerdictRecord
from rightcall.store.store import Store

KEY = "a fixed key for tests"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with the bundles `rubric` (judged, answered, signed) and `run` (two graders), and a zip of one."""
    folder = tmp_path_factory.mktemp("bundles")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RIGHTCALL_REDACTION_KEY", KEY)
        make_runs(folder, "desk.db", "rubric --judge desk", "run --judge desk --yes")
        with Store.open("desk.db") as store:
            sign(store, run_ids("desk.db")["rubric"])
        for grader, run_id in run_ids("desk.db").items():
            exported("desk.db", run_id, folder / grader)
        exported("desk.db", run_ids("desk.db")["rubric"], folder / "rubric.zip")
    return folder


@pytest.fixture
def bundle(made, tmp_path):
    """Return a copy of the bundle `rubric`, to be changed."""
    return shutil.copytree(made / "rubric", tmp_path / "bundle")


# ---- an untouched one ----


@pytest.mark.parametrize("name", ["rubric", "run", "rubric.zip"])
def test_an_untouched_bundle_is_intact(made, name):
    found = check_bundle(made / name)
    assert told(found) == []
    assert found.intact
    assert found.finished
    assert found.results == found.records["verdict"] == (50 if name == "run" else 10)
    assert found.figures >= 4
    assert found.records["run"] == found.records["run_event"] == 1


def test_it_says_what_was_checked(made):
    found = check_bundle(made / "rubric")
    files = files_of(made / "rubric")
    assert (found.files, found.size) == (len(files), sum(map(len, files.values())))
    assert (found.answers, found.signoffs, found.judges, found.prompts) == (1, 1, 1, 1)
    assert found.prompts_unknown == 0
    assert found.digest == sha(files["SHA256SUMS"])
    assert found.entries == found.head.seq == len(lines(made / "rubric/log.jsonl"))


def test_an_old_head_is_in_the_chain_and_another_one_is_not(made):
    entries = [json.loads(line) for line in lines(made / "rubric/log.jsonl")]
    assert check(made / "rubric", entries[4]["hash"]) == []
    assert check(made / "rubric", "0" * 64) == []
    cut = "log.jsonl: no entry has the hash f00: the log's end was cut off, or rewritten"
    assert check(made / "rubric", "f00") == [cut]


def test_a_person_can_follow_it_by_hand_as_the_readme_says(made):
    """Every hash once more with nothing but `hashlib` and `json`."""
    folder = made / "rubric"
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, _, path = line.partition("  ")
        assert sha((folder / path).read_bytes()) == digest
    previous = "0" * 64
    digests = set()
    for line in lines(folder / "log.jsonl"):
        one = json.loads(line)
        content = json.dumps([one["seq"], one["at"], one["kind"], one["run_id"], one["digest"]], separators=(",", ":"))
        assert one["previous"] == previous
        assert one["hash"] == sha(previous.encode() + content.encode())
        previous = one["hash"]
        digests.add(one["digest"])
    assert all(sha(line) in digests for path in (folder / "records").iterdir() for line in lines(path))
    assert all(path.name == sha(path.read_bytes()) for path in (folder / "bodies").rglob("*") if path.is_file())
    named = {json.loads(line)["result"] for line in lines(folder / "records/verdict.jsonl")}
    assert {sha(line) for line in lines(folder / "results.jsonl")} == named


# ---- bytes ----


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_changed_inserted_or_removed_byte_of_any_file_is_found(made, data):
    folder = made / "rubric"
    path = folder / data.draw(st.sampled_from(sorted(files_of(folder))))
    old = path.read_bytes()
    at = data.draw(st.integers(0, max(0, len(old) - 1)))
    act = data.draw(st.sampled_from(["change", "insert", "remove", "cut"]))
    byte = bytes([data.draw(st.integers(0, 255).filter(lambda one: not old or one != old[at]))])
    new = {
        "change": old[:at] + byte + old[at + 1 :], "insert": old[:at] + byte + old[at:],
        "remove": old[:at] + old[at + 1 :], "cut": old[:at],
    }[act]  # fmt: skip
    try:
        path.write_bytes(new)
        found = check_bundle(folder)
    except (ConfigError, StoreError):
        assert path.name == "manifest.json"
    else:
        assert found.intact is (new == old)
    finally:
        path.write_bytes(old)


def test_the_first_fault_names_the_file_that_was_changed(bundle):
    for path in sorted(files_of(bundle)):
        if path in ("SHA256SUMS", "manifest.json"):
            continue
        old = (bundle / path).read_bytes()
        (bundle / path).write_bytes(old + b"\n")
        assert check(bundle)[0] == f"{path}: was changed: SHA256SUMS has another hash of it"
        (bundle / path).write_bytes(old)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(at=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_changed_byte_of_the_archive_is_found_or_changes_nothing_that_is_in_it(made, tmp_path_factory, at, byte):
    data = bytearray((made / "rubric.zip").read_bytes())
    data[int(at * len(data))] = byte
    changed = tmp_path_factory.mktemp("zip") / "changed.zip"
    changed.write_bytes(data)
    try:
        found = check_bundle(changed)
    except (ConfigError, StoreError):
        return
    if found.intact:
        with zipfile.ZipFile(changed) as archive:
            assert {name: archive.read(name) for name in archive.namelist()} == files_of(made / "rubric")


# ---- files ----


def test_any_removed_file_is_found(bundle):
    for path, data in files_of(bundle).items():
        (bundle / path).unlink()
        assert any(fault.startswith(f"{path}: is missing") for fault in check(bundle)), path
        (bundle / path).write_bytes(data)
    assert check(bundle) == []


@pytest.mark.parametrize(
    "path", ["note.txt", "records/wish.jsonl", "bodies/00/" + "0" * 64, "suite/cases2.jsonl", "prompts/more.md"]
)
def test_any_added_file_is_found(bundle, path):
    (bundle / path).parent.mkdir(parents=True, exist_ok=True)
    (bundle / path).write_bytes(b"more\n")
    assert f"{path}: was added: SHA256SUMS does not name it" in check(bundle)


@pytest.mark.parametrize("path", ["note.txt", "records/wish.jsonl", "bodies/00/" + "0" * 64, "suite/steps.jsonl"])
def test_a_file_that_was_added_with_new_hashes_is_found(bundle, path):
    (bundle / path).parent.mkdir(parents=True, exist_ok=True)
    (bundle / path).write_bytes(b"more\n")
    reseal(bundle)
    assert any(fault.startswith(f"{path}") for fault in check(bundle))


def test_a_file_that_is_listed_twice_or_elsewhere_is_found(bundle):
    sums = (bundle / "SHA256SUMS").read_text()
    for text, said in [
        (sums + sums.splitlines()[0] + "\n", "its lines are not in the order of their paths, or are there twice"),
        ("".join(sorted(sums.splitlines(keepends=True))), "its lines are not in the order of their paths"),
        (sums.replace("  README.txt", "  ../README.txt"), "is no hash with a path"),
        (sums.replace("  README.txt", " *README.txt"), "is no hash with a path"),
    ]:
        (bundle / "SHA256SUMS").write_text(text)
        assert any(said in fault for fault in check(bundle) if fault.startswith("SHA256SUMS")), said


# ---- records, entries, bodies: also with all hashes of files made anew ----

LINED = ["log.jsonl", "results.jsonl", "traces.jsonl", "suite/cases.jsonl"]
LINED += [f"records/{kind}.jsonl" for kind in ("attempt", "verdict", "review", "trace", "case")]


@pytest.mark.parametrize("path", LINED)
@pytest.mark.parametrize("act", ["remove", "double", "swap", "change", "last"])
def test_any_removed_doubled_moved_or_changed_line_is_found_whatever_the_hashes_say(bundle, path, act):
    rows = lines(bundle / path)
    if act == "remove":
        del rows[1]
    elif act == "double":
        rows.insert(1, rows[0])
    elif act == "swap":
        rows[1], rows[2] = rows[2], rows[1]
    elif act == "change":
        rows[1] = rows[1].replace(b"a", b"b", 1)
    else:
        rows.pop()
    put_lines(bundle / path, rows)
    assert check(bundle)[0] == f"{path}: was changed: SHA256SUMS has another hash of it"
    reseal(bundle)
    found = check(bundle)
    assert found, "nothing shows"
    assert any(fault.startswith(path) for fault in found) or act in ("remove", "last"), found


@pytest.mark.parametrize("kind", ["run", "run_event", "answer", "signoff"])
def test_a_record_of_which_there_is_one_cannot_go(bundle, kind):
    (bundle / f"records/{kind}.jsonl").unlink()
    reseal(bundle)
    assert any(f"records/{kind}.jsonl: the record" in fault and "is missing" in fault for fault in check(bundle))


def test_a_removed_record_is_named_by_its_log_entry(bundle):
    rows = lines(bundle / "records/signoff.jsonl")
    entries = [json.loads(line) for line in lines(bundle / "log.jsonl")]
    seq = next(entry["seq"] for entry in entries if entry["digest"] == sha(rows[0]))
    put_lines(bundle / "records/signoff.jsonl", [])
    reseal(bundle)
    assert check(bundle) == [
        f"records/signoff.jsonl: the record {sha(rows[0])} of log entry {seq} is missing, or was changed"
    ]


def test_a_changed_record_is_named_twice_by_the_log_and_by_its_line(bundle):
    path = bundle / "records/verdict.jsonl"
    rows = lines(path)
    old, rows[3] = rows[3], rows[3].replace(b'"EVALUATED"', b'"UNEVALUABLE"')
    put_lines(path, rows)
    reseal(bundle)
    found = check(bundle)
    assert any(sha(old) in fault and "is missing, or was changed" in fault for fault in found)
    assert "records/verdict.jsonl line 4: was changed or added: no entry of the log names it" in found


def forge(bundle, path, at, change):
    """Change a record and its digest in the log, and make the whole chain and all hashes anew."""
    rows = lines(bundle / path)
    old = sha(rows[at])
    rows[at] = change(rows[at])
    put_lines(bundle / path, rows)

    def follow(entry):
        if entry["digest"] == old:
            entry["digest"] = sha(rows[at])

    rechain(bundle, follow)


def test_a_chain_that_was_made_anew_is_found_by_a_head_that_was_kept(bundle):
    head = check_bundle(bundle).head.hash
    forge(bundle, "records/signoff.jsonl", 0, lambda row: row.replace(b"dana", b"dora"))
    assert check(bundle) == []
    assert check(bundle, head) == [f"log.jsonl: no entry has the hash {head}: the log's end was cut off, or rewritten"]


def test_a_verdict_that_was_forged_with_the_chain_is_not_what_its_result_says(bundle):
    def passed(row):
        return row.replace(b'"verdict":null', b'"verdict":"PASS"')

    forge(bundle, "records/verdict.jsonl", 2, passed)
    assert check(bundle) == ["results.jsonl line 3: says something else than its verdict"]


def test_a_verdict_that_rests_on_an_attempt_that_is_not_there_is_found(bundle):
    def foreign(row):
        record = unpack(VerdictRecord, "plain", row)
        return row.replace(record.attempts[0].encode(), b"f" * 64)

    forge(bundle, "records/verdict.jsonl", 0, foreign)
    assert f"records/verdict.jsonl line 1: rests on the attempt {'f' * 64}, which is missing" in check(bundle)


def test_a_sign_off_about_something_else_is_found(bundle):
    forge(bundle, "records/signoff.jsonl", 0, lambda row: row.replace(b'"unit":"stolen"', b'"unit":"lost"'))
    assert check(bundle) == ["records/signoff.jsonl line 1: is about something that the run has no verdict on"]


def test_figures_that_the_results_do_not_have_are_found(bundle):
    forge(bundle, "records/run_event.jsonl", 0, lambda row: row.replace(b'"n":10,"not_asked"', b'"n":11,"not_asked"'))
    assert check(bundle) == ["records/run_event.jsonl: says n 11 for rubric; the results have 10"]


def test_a_status_that_the_last_event_does_not_have_is_found(bundle):
    reseal(bundle, status="stopped", finished=False)
    assert check(bundle) == ["manifest.json: says `stopped`; by its last event the run is `finished`"]


def test_an_entry_of_another_run_cannot_go_either(bundle):
    rows = lines(bundle / "log.jsonl")
    put_lines(bundle / "log.jsonl", rows[:-1])
    reseal(bundle)
    assert any("names another end of the log" in fault for fault in check(bundle))


def test_a_prompt_with_another_text_is_found(bundle):
    (file,) = (bundle / "prompts").glob("*.md")
    file.write_text(file.read_text() + "Be kind.\n")
    reseal(bundle)
    assert check(bundle) == [f"prompts/{file.name}: is not the text that the attempts name by its hash"]


def test_a_prompt_that_is_not_listed_is_found(bundle):
    (bundle / "prompts/index.json").write_text("[]\n")
    reseal(bundle)
    assert any("names the prompt" in fault for fault in check(bundle))


def test_a_body_that_was_replaced_is_found(bundle):
    (first, *_) = sorted(path for path in (bundle / "bodies").rglob("*") if path.is_file())
    first.write_bytes(b"another reply")
    reseal(bundle)
    found = check(bundle)
    assert any(f"names the body {first.name}, which is missing" in fault for fault in found)
    assert any(fault.endswith("was changed or added: no record names it") for fault in found)


def test_another_catalog_is_found(bundle):
    (bundle / "suite/catalog.json").write_text("[]")
    reseal(bundle)
    assert any(fault.startswith("suite/catalog.json: is not the catalog") for fault in check(bundle))


def test_a_record_of_deep_nesting_is_a_fault_and_no_crash(bundle):
    put_lines(
        bundle / "records/run.jsonl",
        [b'{"record":"run","id":"r","grader":"g","started_at":"","facts":' + b'{"a":' * 100_000],
    )
    put_lines(bundle / "results.jsonl", [b"[" * 100_000])
    reseal(bundle)
    assert "records/run.jsonl line 1: is no run record" in check(bundle)


def test_faults_are_told_up_to_a_number_and_counted_beyond(bundle, monkeypatch):
    monkeypatch.setattr(bundle_files, "MOST_FAULTS", 3)
    put_lines(bundle / "log.jsonl", [b"{}"] * 9)
    found = check_bundle(bundle)
    assert len(found.faults) == 3
    assert found.untold > 6
    assert not found.intact


# ---- what is no bundle ----


@pytest.mark.parametrize("name", ["nothing", "nothing.zip", "a\0b"])
def test_no_bundle_is_one_line(tmp_path, name):
    with pytest.raises(ConfigError) as caught:
        check_bundle(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_an_empty_folder_or_another_file_is_no_bundle(tmp_path):
    with pytest.raises(ConfigError, match="is no bundle: neither"):
        check_bundle(tmp_path)
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04")
    with pytest.raises(ConfigError, match="is no bundle"):
        check_bundle(tmp_path / "x.zip")


def test_a_bundle_of_a_newer_rightcall_is_refused(bundle):
    file = bundle / "manifest.json"
    file.write_text(file.read_text().replace('"format": 1', '"format": 2').replace('"finished": true,', '"more": 1,'))
    with pytest.raises(StoreError, match="the bundle has format 2; this rightcall reads 1"):
        check_bundle(bundle)


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/x", "a/../../x", "a//x", "a\\..\\x", "C:/x", "x/", ".", "..", "a/./x", "x\ny", "x\x1b", "é", "x" * 300, ".hidden", "a/b/c/d/e"],
)  # fmt: skip
def test_a_path_that_could_lead_elsewhere_is_refused(made, tmp_path, name):
    content = {**files_of(made / "rubric"), name: b"boo"}
    with pytest.raises((StoreError, ConfigError)) as caught:
        check_bundle(zipped(tmp_path / "x.zip", content))
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.zip"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice_is_refused(made, tmp_path):
    shutil.copy(made / "rubric.zip", tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "x.zip", "a") as archive:
        archive.writestr("README.txt", b"another one")
    with pytest.raises(StoreError, match=r"`README\.txt` is there twice"):
        check_bundle(tmp_path / "x.zip")


def test_a_link_is_refused_in_a_folder_and_in_an_archive(bundle, tmp_path):
    info = zipfile.ZipInfo("link")
    info.external_attr, info.create_system = 0o120777 << 16, 3
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(StoreError, match="`link` is no plain file"):
        check_bundle(tmp_path / "x.zip")
    for target in (tmp_path / "x.zip", tmp_path):
        (bundle / "link").symlink_to(target)
        with pytest.raises(StoreError, match="`link` is a link"):
            check_bundle(bundle)
        (bundle / "link").unlink()


def test_a_pipe_in_a_folder_is_refused(bundle):
    os.mkfifo(bundle / "pipe")
    with pytest.raises(StoreError, match="neither a file nor a folder"):
        check_bundle(bundle)


def test_an_archive_that_unpacks_to_far_more_than_it_holds_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle_opening, "_FREE", 1 << 16)
    file = zipped(tmp_path / "bomb.zip", {"manifest.json": b"0" * 10_000_000})
    with pytest.raises(StoreError, match="unpacks to 10000000 bytes from"):
        check_bundle(file)


@pytest.mark.parametrize("where", ["before", "after"])
def test_an_archive_with_something_around_it_is_refused(made, tmp_path, where):
    data = (made / "rubric.zip").read_bytes()
    (tmp_path / "x.zip").write_bytes(b"#!/bin/sh\n" + data if where == "before" else data + b"more")
    with pytest.raises((StoreError, ConfigError)):
        check_bundle(tmp_path / "x.zip")


def test_an_encrypted_or_oddly_packed_part_is_refused(made, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("manifest.json", b"{}")
    with pytest.raises(StoreError, match="is packed in a way that is not read"):
        check_bundle(tmp_path / "x.zip")


def test_too_many_files_are_refused(made, monkeypatch):
    monkeypatch.setattr(bundle_opening, "MOST_FILES", 5)
    for name in ("rubric", "rubric.zip"):
        with pytest.raises(StoreError):
            check_bundle(made / name)


def test_a_line_without_an_end_is_found(bundle, monkeypatch):
    monkeypatch.setattr(bundle_files, "LONGEST_LINE", 50)
    assert any("is too long, or has no end" in fault for fault in check(bundle))


# ---- both databases ----


def test_a_bundle_of_either_database_holds_and_shows_every_change(tmp_path, store_url, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", KEY)
    make_runs(tmp_path, store_url, "rubric --judge desk")
    run_id = run_ids(store_url)["rubric"]
    with Store.open(store_url) as store:
        sign(store, run_id)
        head = store.head()
    made = exported(store_url, run_id, tmp_path / "bundle")
    assert made.found.head == head
    assert made.manifest.store == ("sqlite" if store_url.endswith(".db") else "postgresql")
    assert check(tmp_path / "bundle", head.hash) == []
    for path, data in files_of(tmp_path / "bundle").items():
        (tmp_path / "bundle" / path).write_bytes(data[:-2] + b"\0" + data[-1:])
        try:
            assert check(tmp_path / "bundle"), path
        except (ConfigError, StoreError):
            assert path == "manifest.json"
        (tmp_path / "bundle" / path).write_bytes(data)
    assert bundle_making.check(tmp_path / "bundle") == []
