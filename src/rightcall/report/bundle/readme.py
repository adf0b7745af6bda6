"""The README of a bundle: what is inside, and how to check it, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rightcall.run.bundle.parts import Manifest

_UNFINISHED = """\
!! THE RUN IS NOT FINISHED: its status is "{status}". Its figures and results are those of a part of it.

"""

_TEXT = """\
A run of rightcall: {run}
{rule}

{unfinished}rightcall grades what an AI agent did with its tools. This folder holds one run of it: what was judged, by
whom, with which result, what people said about it, and the log that shows that none of this was changed afterwards.
Nothing here needs a network or an account. Secrets were redacted before anything was recorded; a tag such as
⟦card:9f3a⟧ stands where one was, the same for the same secret.
The names of the people who reviewed and signed are in it: whoever checks a decision must know who took it. Pass it
on accordingly.

What is inside

  report.html, report.md   the report, to be read first
  results.jsonl            the results that stand, one a line
  gate.json                what the gates of the suite said about the run when this bundle was made; what they said
                           before, and who asked, is in records/gate.jsonl
  judges.json              whether each judge is fit to decide, by its calibration against people
  suite/                   settings (without secrets), policy, catalog, cases
  traces.jsonl             what the agent did, as it was judged
  prompts/                 every prompt that a judge was asked with; index.json says which
  records/                 what was recorded of this run, one file a kind: run, attempt (each exchange with a judge),
                           verdict, review, answer, consensus, signoff, review_event, calibration, gate (each answer
                           that the gates gave about the run), trace, case
  bodies/                  the texts that records name, each under the SHA-256 of its bytes: questions, replies, results
                           that were replaced. A body can also be one line of results.jsonl, traces.jsonl or
                           suite/cases.jsonl (suite/steps.jsonl)
  log.jsonl                every entry of the log of the whole store: number, time, kind, run, digest of the record,
                           hash of the entry before, hash. Records of other runs are not here, only their digests
  manifest.json            the run, its status, the end of the log, and size and SHA-256 of every file
  SHA256SUMS               the SHA-256 of every file, manifest.json included

How to check it by hand

  1. No file was changed:              sha256sum -c SHA256SUMS
     and none was added:               find . -type f | wc -l     (one more than SHA256SUMS has lines)
  2. A record is the one in the log:   sed -n 1p records/verdict.jsonl | tr -d '\\n' | sha256sum
                                       grep DIGEST log.jsonl
  3. A body is what a record names:    sha256sum bodies/*/*       (each file is called by its own hash)
                                       sed -n 1p results.jsonl | tr -d '\\n' | sha256sum
  4. An entry follows the one before:  the hash of an entry is the SHA-256 of the hash before it (64 characters; 64
     zeros before the first) followed by the JSON of [seq, at, kind, run_id, digest] without blanks

How to check it with rightcall

  rightcall log verify FOLDER-OR-ZIP

  It does all of the above for every entry, record and body, looks for what is missing or was added, and compares the
  verdicts with the results and with the figures of the run. It needs no store, no settings and no network.

What a check cannot show

  Whoever changes a file can make all hashes anew. What proves the contrary is kept elsewhere, by somebody else:
  - the hash of the log's last entry, as it was told when the run was made:  rightcall log verify BUNDLE --head HASH
    (in this bundle the log ends with entry {entries}, {head})
  - the SHA-256 of SHA256SUMS, as it was told when the bundle was made:      sha256sum SHA256SUMS
  The reports, gate.json, judges.json, suite/settings.json and suite/policy.json are as they were when the bundle was
  made; they follow from the settings of that moment and not from the log.
{notes}"""


def readme(manifest: Manifest) -> str:
    """The text of `README.txt`."""
    title = f"A run of rightcall: {manifest.run}"
    notes = "".join(f"  - {note}\n" for note in manifest.notes)
    return _TEXT.format(
        run=manifest.run, rule="=" * len(title), entries=manifest.log.entries, head=manifest.log.head,
        unfinished="" if manifest.finished else _UNFINISHED.format(status=manifest.status),
        notes=f"\nNotes\n\n{notes}" if notes else "",
    )  # fmt: skip
