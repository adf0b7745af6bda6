"""May the figures of two runs be compared? Only if nothing but the agent differs (SPEC §9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.gate.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.gate.comparing import Cases

_SETTINGS = {
    "profile": "profile", "min_overall": "min_overall", "retries": "retries",
    "surplus_reads": "surplus_reads", "policy_sha256": "policy", "protocol": "order of pairs",
    "by": "what code decides", "replicates": "replicates", "quorum": "quorum", "aliases": "aliases",
    "exclude_tools": "exclude_tools", "allow_tie": "allow_tie", "min_confidence": "min_confidence",
    "second_judge": "second judge",
}  # fmt: skip
"""Facts that change what a figure means -> their names."""
_HASHES = ("policy_sha256", "aliases", "exclude_tools")


def reasons_against(old: Mapping[str, Any], new: Mapping[str, Any], before: Cases, now: Cases) -> tuple[str, ...]:
    """Why the figures of two runs of a grader must not be compared; empty if they may be.

    Args:
        old: the facts of the earlier one. A fact that one of the two does not know is not held against it.
        new: those of the later one.
        before: the cases of the earlier one.
        now: those of the later one.
    """
    return tuple(_reasons(old, new, before, now))


def _reasons(old: Mapping[str, Any], new: Mapping[str, Any], before: Cases, now: Cases) -> Iterator[str]:
    yield from _judges(old, new)
    yield from _prompts(old, new)
    for key, name in _SETTINGS.items():
        if key in old and key in new and old[key] != new[key]:
            values = "" if key in _HASHES else f": {old[key]} before, {new[key]} now"
            yield f"{name} differs{values}"
    mappings = [(facts.get("interpretation") or {}).get("mapping") for facts in (old, new)]
    if None not in mappings and mappings[0] != mappings[1]:
        yield f"mapping differs: {mappings[0]} before, {mappings[1]} now"
    yield from _goldens(old, new, before, now)


def _judges(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if "judges" not in old and "judges" not in new:
        return
    was, is_now = _named(old), _named(new)
    if was.keys() != is_now.keys():
        yield f"judge differs: {_names(was)} before, {_names(is_now)} now"
        return
    for name, one in was.items():
        other = is_now[name]
        if one.get("model") != other.get("model"):
            yield f"model of judge `{name}` differs: {one.get('model')} before, {other.get('model')} now"
        if one.get("parameters") != other.get("parameters"):
            yield f"parameters of judge `{name}` differ"


def _named(facts: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {str(one.get("name")): one for one in facts.get("judges") or () if isinstance(one, dict)}


def _names(judges: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(judges)) or "none"


def _prompts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if "prompts" not in old or "prompts" not in new:
        return
    was, is_now = (
        {(one.get("id"), one.get("sha256")) for one in facts["prompts"] or () if isinstance(one, dict)}
        for facts in (old, new)
    )
    if was != is_now:
        names = sorted({str(name) for name, _ in was ^ is_now})
        yield f"prompt differs: {', '.join(names)}"


def _goldens(old: Mapping[str, Any], new: Mapping[str, Any], before: Cases, now: Cases) -> Iterator[str]:
    """The goldens of the shared cases, one by one where their versions are known; else the files they come from."""
    shared = [case for case in now if case in before]
    known = [case for case in shared if before[case].version is not None and now[case].version is not None]
    differ = [case for case in known if before[case].version != now[case].version]
    if differ:
        yield f"golden of {counted(len(differ), 'shared case')} differs: {listed(sorted(differ))}"
    if len(known) < len(shared):
        was, is_now = _files(old), _files(new)
        if was is not None and is_now is not None and was != is_now:
            yield "the case files differ, and the versions of single cases are not known"


def _files(facts: Mapping[str, Any]) -> set[str] | None:
    files = facts.get("cases")
    if not isinstance(files, list) or not files:
        return None
    return {str(one.get("sha256")) for one in files if isinstance(one, dict)}
