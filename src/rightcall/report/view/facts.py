"""What a report rests on, as pairs of name and value: agents, judges, prompts, inputs, seeds, methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.report.judged import named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.report.view.model import GraderView
    from rightcall.run.results.model import RunResults

_MOST = 40
"""Files of one grader that are listed."""

_TERMS = (
    "profile",
    "min_overall",
    "seed",
    "sample",
    "replicates",
    "quorum",
    "limit",
    "only",
    "tags",
    "mapping",
    "policy_sha256",
)


def facts_of(results: RunResults, graders: tuple[GraderView, ...], agents: list[str]) -> tuple[tuple[str, str], ...]:
    """The facts of a run.

    Args:
        results: the run.
        graders: its parts of the report, whose figures name their methods.
        agents: whose traces were judged, as far as the first of them say.
    """
    several = len(results.graders) > 1
    name = "" if results.name in results.graders else results.name  # a run that is not kept has no name of its own
    found = [("run", results.id or name), ("started", results.started_at), ("store", results.store_name or "")]
    found += [("agent, as the first traces say", "; ".join(agents))]
    for view, one in zip(graders, results.graders.values(), strict=True):
        before = f"{one.grader}: " if several else ""
        files = {item["file"]: item.get("sha256", "") for item in one.summary.get("traces") or ()}
        found += [(before + name, value) for name, value in _facts(one.facts, files)]
        methods = list(dict.fromkeys(bar.value.method for bar in view.bars if bar.value.estimate is not None))
        found.append((f"{before}intervals", "; ".join(methods)))
        found.append((f"{before}left out of every figure", _left_out(view)))
    return tuple((name, value) for name, value in found if value)


def _facts(facts: Mapping[str, Any], hashes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for judge in facts.get("judges") or ():
        yield "judge", named(judge["name"], judge.get("model") or judge["provider"])
    for prompt in facts.get("prompts") or ():
        yield "prompt", f"{prompt['id']} {prompt.get('version', '')} sha256 {prompt['sha256']}"
    if facts.get("agents"):
        yield "agents", ", ".join(map(str, facts["agents"]))
    inputs = [one["file"] for one in facts.get("inputs") or ()]
    for key, name in (("inputs", "input"), ("cases", "cases")):
        files = [one for one in facts.get(key) or () if key == "inputs" or one["file"] not in inputs]
        for one in files[:_MOST]:
            digest = one.get("sha256") or hashes.get(one["file"])
            yield name, one["file"] + (f" sha256 {digest}" if digest else "")
        if len(files) > _MOST:
            yield name, f"… {len(files) - _MOST} more"
    tools = facts.get("tools")
    if isinstance(tools, dict):
        yield "catalog", f"{tools['file']} sha256 {tools.get('sha256', '')}"
    for key in _TERMS:
        if (value := facts.get(key)) is not None:
            yield key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _left_out(view: GraderView) -> str:
    parts = []
    if view.counts.error:
        parts.append(f"{view.counts.error} without a verdict")
    if view.counts.unread:
        parts.append(f"{view.counts.unread} not read or not asked")
    return ", ".join(parts)
