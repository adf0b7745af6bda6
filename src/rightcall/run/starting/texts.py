"""The texts of a first suite: its settings and its CI workflows. All of it runs offline and without a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.case.policy import ToolClass

_HEAD = """\
# A suite of rightcall, sketched from recorded traces.
# `rightcall doctor` checks it, `rightcall doctor --effective` lists every setting with its value.
version = 1
"""

_BODY = """\
cases = "cases.jsonl"
tools = "tools.json"
store = ".rightcall/rightcall.db"

# What `rightcall run` runs. These two are decided by code: no judge, no key, no network.
# With a judge (below), "rubric" and "interpretation" can be added.
graders = ["golden", "selection"]

[golden]
profile = "balanced"
min_overall = 1.0
"""

_POLICY = """\
# Guessed from the tools' names. A guessed class warns and never vetoes:
# correct a line, then take the tool out of `guessed`.
"""

_JUDGES = """\
# Who is asked what code cannot decide. The key stays in the environment; only the name of its variable stands here.
# [judges.default]
# provider = "openai"                       # any OpenAI-compatible URL; or anthropic, ollama, command, recorded
# model = "vendor-model"
# base_url = "http://127.0.0.1:8080/v1"
# api_key_env = "JUDGE_KEY"

# Who may answer and sign. As long as nobody is named, everybody may.
# [review.people]
# dana = ["reviewer", "signer"]
# lee = ["adjudicator"]
"""

_GATES = """\
# What must hold before a change goes in: `rightcall gate`, and the end of `rightcall run`. A sketched suite is small,
# so the share is asked as it is (`on = "point"`). Without `on`, its lower bound must reach it: 0.98 takes 149 cases.
[gates]
"golden.vetoes" = { max = 0 }
"""

_SHARE = '"golden.pass_rate" = { min = 0.9, on = "point" }'
_MORE_TRIES = "# Several traces share a case, and the first one became its golden: read it, then ask for\n# "
_BASELINE = """\
# Against the newest run that passed (`rightcall export baseline -o baseline.json`, then `--baseline baseline.json`; or
# `against = "branch:main"` where runs share a store). A small suite is INCONCLUSIVE against one (exit code 3);
# `--inconclusive pass` lets that through.
# "golden.regressions" = { margin = 0.02 }
"""


def settings_text(
    traces: Sequence[str], classes: Mapping[str, ToolClass], *, copied: bool = False, has_tries: bool = False
) -> str:
    """`rightcall.toml`.

    Args:
        traces: the trace files as the settings name them.
        classes: the guessed class of every tool.
        copied: whether these are copies that the suite keeps.
        has_tries: whether several traces share a case.
    """
    note = "   # copies of the recordings that it was sketched from" if copied else ""
    named = ", ".join(map(quoted, traces))
    parts = [
        _HEAD + f"traces = [{named}]{note}\n" + _BODY,
        _policy(classes),
        _JUDGES,
        _GATES + (_MORE_TRIES if has_tries else "") + _SHARE + "\n" + _BASELINE,
    ]
    return "\n".join(parts)


def _policy(classes: Mapping[str, ToolClass]) -> str:
    known = {name: kind for name, kind in classes.items() if kind != "unknown"}
    unknown = [name for name in classes if name not in known]
    lines = [
        "[policy]",
        f"guessed = [{', '.join(map(quoted, known))}]",
        "",
        "[policy.classes]",
        *(f'{quoted(name)} = "{kind}"' for name, kind in known.items()),
        *(f'# {quoted(name)} = "read"   # or write, or destructive' for name in unknown),
    ]  # fmt: skip
    return _POLICY + "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A text as TOML writes it: as JSON does, but that a DEL must be escaped too."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


GITHUB = """\
# Runs the suite and its gates on every change. Nothing here needs a key: golden and selection are decided by code.
name: rightcall
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  suite:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v6
        with:
          persist-credentials: false
      - uses: actions/setup-python@v6
        with:
          python-version: "3.13"
      - run: pip install rightcall
      - run: rightcall lint
      - name: Run the suite and its gates
        env:
          # The key in .rightcall/redaction.key: with it, equal secrets get equal tags here and on your machine.
          RIGHTCALL_REDACTION_KEY: ${{ secrets.RIGHTCALL_REDACTION_KEY }}
          # JUDGE_KEY: ${{ secrets.JUDGE_KEY }}
        run: |
          # A baseline is a run that passed, kept in the repository: rightcall export baseline -o baseline.json
          if [ -f baseline.json ]; then set -- --baseline baseline.json; fi
          rightcall run --github --yes -o report.html -o report.json -o report.junit.xml "$@"
      - uses: actions/upload-artifact@v6
        if: always()
        with:
          name: rightcall
          path: report.*
          if-no-files-found: ignore
"""

GITLAB = """\
# Runs the suite and its gates on every change. Nothing here needs a key: golden and selection are decided by code.
# Set RIGHTCALL_REDACTION_KEY (masked) to the key in .rightcall/redaction.key: with it, equal secrets get equal tags.
rightcall:
  image: python:3.13-slim
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - pip install rightcall
    - rightcall lint
    # A baseline is a run that passed, kept in the repository: rightcall export baseline -o baseline.json
    - if [ -f baseline.json ]; then set -- --baseline baseline.json; fi
    - rightcall run --yes -o report.html -o report.json -o report.junit.xml "$@"
  artifacts:
    when: always
    paths:
      - report.html
      - report.json
    reports:
      junit: report.junit.xml
"""
