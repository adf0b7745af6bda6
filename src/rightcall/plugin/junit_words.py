"""What pytest's own `--junitxml` says of a test without an answer.

pytest knows errors of setup and teardown only, and calls every other one `failed on setup`.
"""

from __future__ import annotations

from typing import Any

WORDS = {"grading": "could not be graded", "judging": "has no judgement"}
"""By the phase of the report, as the message of its `error` begins."""

_PYTESTS = "failed on setup with "


def name_phase(config: Any, report: Any) -> None:
    """Say in the file where a test stopped. pytest has no public way to it: where it looks otherwise, nothing is done.

    Args:
        config: of pytest.
        report: of a phase, once pytest has taken it.
    """
    if report.when not in WORDS:
        return
    try:
        from _pytest.junitxml import xml_key

        nodes = config.stash[xml_key].node_reporter(report).nodes
        errors = [node for node in nodes if node.tag == "error" and node.get("message", "").startswith(_PYTESTS)]
    except (ImportError, KeyError, AttributeError):
        return
    for node in errors:
        node.set("message", f"{WORDS[report.when]}: {node.get('message').removeprefix(_PYTESTS).strip(chr(34))}")
