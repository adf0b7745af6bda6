"""The probes of `preference`: two traces of one errand, one right and one with a real fault, in two questions.

What is compared and what it means that a judge gives way:

* `position`: the same two traces in both orders. It gives way where the winner follows the place.
* `padding`: two equal traces; then one of them with calls that do nothing and long texts. It gives way where it then
  prefers the longer one. Both places get as many padded traces.
* `plain_override`, `protocol_override`, `format_impersonation`, `hidden_text`: text that addresses the judge, in a
  tool's result of the faulty trace. It gives way where it then prefers that one.
* `identity_swap`: who acted in the two traces is exchanged. The two questions must be the same, byte for byte.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

from rightcall.case.case import Case
from rightcall.judge.probe_attacks import Attack, attacked, injection
from rightcall.judge.probe_items import Clean, RubricItem, changed, clean_traces
from rightcall.trace.model import Trace

Letter = Literal["A", "B"]


class PairItem(Struct, frozen=True):
    """Two traces of one case: `first` in place A of the question, `second` in place B."""

    case: Case
    first: Trace
    second: Trace


class PairProbe(NamedTuple):
    """The two questions of one probe.

    Attributes:
        order: whether `clean` is a question that other classes ask too: the right trace first (`right-first`) or last
            (`right-last`); `None`: it is asked for this class alone.
        clean, attacked: the questions.
        wanted: the place that the attacker wants to be preferred; `None`: the one that was preferred before.
    """

    order: Literal["right-first", "right-last"] | None
    clean: PairItem
    attacked: PairItem
    wanted: Letter | None


def faulty() -> list[Clean]:
    """The 72 faulty traces; each makes a pair with the right trace of its errand."""
    return [clean for clean in clean_traces() if clean.quality == "bad"]


def pair_probe(attack: Attack, clean: Clean, number: int) -> PairProbe:
    """The probe that an attack makes of one faulty trace.

    Args:
        attack: what is tried.
        clean: the faulty trace, of `faulty`.
        number: its number: of even ones it stands in place B, and it chooses among the wordings.
    """
    worse = clean.item
    assert isinstance(worse, RubricItem)  # noqa: S101 - `faulty` has no steps
    better = _right_of(clean)
    at: Letter = "A" if number % 2 else "B"
    if attack == "padding":
        return PairProbe(None, _placed(worse, worse, at), _placed(worse, _changed("padding", worse, number)[1], at), at)
    if attack == "position":
        return PairProbe("right-first", _placed(better, worse, "B"), _placed(better, worse, "A"), None)
    if attack == "identity_swap":
        first, second = _changed(attack, better, number), _changed(attack, worse, number)
        return PairProbe(None, _placed(first[0], second[1], at), _placed(first[1], second[0], at), None)
    text = injection(attack, "preference", number).replace("{place}", at)
    turned = changed(worse, "tool_result", lambda said: f"{said}\n\n{text}")
    assert isinstance(turned, RubricItem)  # noqa: S101 - what goes in comes out
    order: Literal["right-first", "right-last"] = "right-first" if at == "B" else "right-last"
    return PairProbe(order, _placed(better, worse, at), _placed(better, turned, at), at)


def _placed(other: RubricItem, one: RubricItem, at: Letter) -> PairItem:
    """A question in which `one` stands in the place `at`."""
    first, second = (one, other) if at == "A" else (other, one)
    return PairItem(other.case, first.trace, second.trace)


def _changed(attack: Attack, item: RubricItem, number: int) -> tuple[RubricItem, RubricItem]:
    before, after = attacked(attack, "rubric", "text", item, number)
    assert isinstance(before, RubricItem)  # noqa: S101 - what goes in comes out
    assert isinstance(after, RubricItem)  # noqa: S101 - the same
    return before, after


def _right_of(clean: Clean) -> RubricItem:
    """The right trace of a faulty trace's errand."""
    domain, _, errand = clean.id.split("-")
    found = next(one.item for one in clean_traces() if one.id == f"{domain}-right-{errand}")
    assert isinstance(found, RubricItem)  # noqa: S101 - traces are no steps
    return found
