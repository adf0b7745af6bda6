"""What a judged run can say of itself before it begins: who its judges are, and whether there is anything to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.errors import ConfigError, NoDataError, Place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.run.judging.items import Work
    from rightcall.run.judging.subject import Judge


def judge_facts(judge: Judge) -> dict[str, Any]:
    """A judge as it stands in a run's facts: who, where, how; no secrets."""
    from rightcall.run.judging.record import endpoint_of

    return {
        "name": judge.name, "provider": judge.spec.provider, "model": judge.spec.model,
        "endpoint": endpoint_of(judge.spec), "parameters": judge.parameters(),
    }  # fmt: skip


def with_tags(tags: Sequence[str]) -> str:
    """What a filter by tags asks of a case, in words; after the word `case`."""
    return f" with the tag {' or '.join(f'`{tag}`' for tag in tags)}"


def refuse_nothing(work: Work, facts: Mapping[str, Any]) -> None:
    """Refuse to begin where there is no item, unless records that were not read are the reason.

    Args:
        work: the grader's side, which has looked for items.
        facts: of the run: the one id (`only`), or the tags (`tags`), that were asked for.

    Raises:
        ConfigError: a filter that selects nothing. NoDataError: nothing to judge.
    """
    nothing, only, tags = getattr(work, "why_nothing", str)(), facts.get("only"), facts.get("tags")
    if tags:
        why = f": {nothing}" if nothing else ""
        message = f"there is nothing to judge of a case{with_tags(tags)}{why}"
        raise ConfigError(message, place=Place("--tag"), hint="check --tag")
    if nothing:
        raise NoDataError(nothing)
    if only is not None:
        flag = {"selection": "--only", "preference": "--case"}.get(work.grader, "--trace")
        raise ConfigError(f"nothing has the id `{only}`", place=Place(flag), hint="check the id")
    if not any(report.skipped for report in work.reports.values()):
        raise NoDataError("nothing to judge in these files")
