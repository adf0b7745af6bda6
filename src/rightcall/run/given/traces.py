"""`preference` and `interpretation` over traces that a program holds; see `rightcall.run.given.judged`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from rightcall.errors import ConfigError, Place
from rightcall.run.given.judged import given_facts, open_desk
from rightcall.run.golden.joining import Joining
from rightcall.run.graders.setup import Setup, asking_of, inputs_facts, quorum_of
from rightcall.run.interpretation.setup import checked, sole_light, work_of
from rightcall.run.judging.judges import relatives
from rightcall.run.preference.comparing import PreferenceWork
from rightcall.run.preference.pairing import Pairing, Side
from rightcall.run.preference.setup import PairFlags, refuse_unclear, rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rightcall.case.case import Case
    from rightcall.run.given.judged import Wish
    from rightcall.run.judging.run import Judged
    from rightcall.trace.model import Trace


async def judge_pairs(agents: Mapping[str, Sequence[Trace]], cases: Iterable[Case], wish: Wish) -> Judged:
    """Run `preference` over the traces of two agents or more, joined by their cases.

    `wish.table` may hold `cross_check` and `stop_early` besides the keys of the settings.

    Raises:
        RightcallError: whatever keeps the run from beginning, or breaks its record.
    """
    own = {name: wish.table[name] for name in ("cross_check", "stop_early") if name in wish.table}
    pairs = checked_flags(own)
    wish = replace(wish, table={name: value for name, value in wish.table.items() if name not in own})
    with open_desk(wish, "preference") as desk:
        loaded, cleaner, table = desk.loaded, desk.cleaner, desk.loaded.settings.preference
        refuse_unclear(list(agents))
        rules = rules_of(loaded, desk.flags, pairs)
        plan, identity = desk.plan(cases)
        sides = [Side(name, Joining(plan, traces).joined) for name, traces in agents.items()]
        inputs = [given_facts(f"traces of {name}", (one.digest for one in traces)) for name, traces in agents.items()]
        prompter = desk.prompter(table.prompt, "preference")
        work = PreferenceWork(
            pairing=Pairing(sides), prompter=prompter if desk.panel.specs else None, cleaner=cleaner,
            judges=tuple(desk.first.specs), second=desk.other, rules=rules, quorum=quorum_of(desk.first, desk.flags),
            review_share=loaded.settings.review.random,
            more_facts=desk.more_facts(inputs_facts([*inputs, identity], loaded, plan.policy, desk.flags)),
        )  # fmt: skip
        setup = Setup(
            work, desk.panel, asking_of(loaded, desk.first, desk.flags), cleaner, loaded,
            keeps=bool(desk.panel.specs) or desk.is_kept,
            warn=lambda: [*relatives(desk.panel, work.agents), *work.notes()],
        )  # fmt: skip
        return await desk.run(setup)


def checked_flags(own: Mapping[str, object]) -> PairFlags:
    """What a program says about pairs beyond the settings.

    Raises:
        ConfigError: a value of another type.
    """
    try:
        return msgspec.convert(dict(own), PairFlags)
    except msgspec.ValidationError as error:
        raise ConfigError(str(error), place=Place(path="options")) from None


async def judge_readings(traces: Sequence[Trace], cases: Iterable[Case], wish: Wish) -> Judged:
    """Run `interpretation` over every reading of some traces.

    Raises:
        RightcallError: as `judge_pairs`; no judge.
    """
    with open_desk(wish, "interpretation") as desk:
        loaded, cleaner = desk.loaded, desk.cleaner
        checked(loaded.settings.interpretation)
        desk.need_judge("interpretation")
        plan, identity = desk.plan(cases)
        light = None if desk.other is None else sole_light(desk.first)
        work = work_of(loaded, plan, desk.panel, light, cleaner, desk.flags, traces)
        inputs = [given_facts("traces", (trace.digest for trace in traces)), identity]
        work.more_facts = desk.more_facts(inputs_facts(inputs, loaded, plan.policy, desk.flags))
        setup = Setup(
            work, desk.panel, asking_of(loaded, desk.panel, desk.flags), cleaner, loaded,
            warn=lambda: [*relatives(desk.panel, work.agents), *work.notes()],
        )  # fmt: skip
        return await desk.run(setup)
