"""`interpretation` in words: what a run shows, one line a reading, everything about one reading (UX §1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rightcall.report.cells import in_brackets
from rightcall.report.plain import shorten
from rightcall.report.summary import counted, most_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MISREAD: Final = "MISREAD"
"""The word for a reading with at least one material error: level 3 or less, or below 0.8 from 0 to 1."""

_QUOTE = 120

_WHERE = {
    "request": "the request", "arguments": "the arguments", "context": "the context",
    "other_results": "another result", "count": "a count of the result's parts",
}  # fmt: skip


# ---- a run -----------------------------------------------------------------------------------------------------------


def figures_words(figures: Mapping[str, Any]) -> Iterator[str]:
    """Flags, levels and hints of a run, in words."""
    kinds = " · ".join(f"{kind} {n}" for kind, n in most_first(figures["flags"]))
    yield f"flags: {kinds or 'none'}"
    low, readings = figures["below_limit"], figures["readings"]
    said = " · ".join(f"{status} {n}" for status, n in sorted(readings.items()))
    yield f"readings: {said or 'none'} · below {low['limit']:g}: {in_brackets(low['share'], 3)}"
    found = figures["unsupported_values"]
    if found["readings"]:
        yield (
            f"values that are not in the result: in {counted(found['readings'], 'reading')}, in "
            f"{found['unexplained']} of them nowhere else either (hints, not verdicts)"
        )
    if figures["fidelity"]["estimate"] is None and figures["fidelity"]["reason"]:
        yield f"no fidelity: {figures['fidelity']['reason']}"


def doubles_words(two: Mapping[str, Any] | None) -> Iterator[str]:
    """What the readings that both judges scored show, in words."""
    if two is None:
        return
    missing = two["drawn"] - two["doubles"]
    if missing:
        taken = ": taken like the others of their kind" * bool(two["doubles"])
        yield f"{missing} of {two['drawn']} drawn readings have no score of {two['strong']}{taken}"
    if not two["doubles"]:
        yield f"no reading has a score of both judges: nothing is known about {two['light']}"
        return
    kappa = two["kappa"]
    on = f"on the {counted(two['doubles'], 'reading')} that both judged"
    if kappa is None or kappa["estimate"] is None:
        yield f"{two['strong']} and {two['light']} {on}" + ("" if kappa is None else f": no kappa, {kappa['reason']}")
    else:
        yield f"{two['strong']} and {two['light']} {on} agree: kappa {in_brackets(kappa, 2)}"
    apart = in_brackets(two["disagreement"], 3)
    yield f"  differ by more than a level, or on the limit: {apart}, limit {two['limit']:g}"
    by = two["light_is_lenient_by"]
    if by["estimate"] is not None:
        way = "lenient" if by["estimate"] >= 0 else "strict"
        yield f"  light is {way} by {abs(by['estimate']):.3f}" + ("" if two["light_is_out"] else ", corrected above")
    if two["few"]:
        yield f"  only {counted(two['doubles'], 'double')}: these figures are rough (30 or more are wanted)"
    if two["light_is_out"]:
        yield "  the light judge is out: the strong one read everything, and its scores count"
    if two.get("light_unfit"):
        yield f"  {two['light_unfit']}"
    yield f"  {two['to_whom']}"


# ---- one reading -----------------------------------------------------------------------------------------------------


def read_or_misread(result: Mapping[str, Any]) -> str:
    """`MISREAD`, or the score in words."""
    score, direct = result["score"], result["fidelity_mapping"] == "direct"
    return MISREAD if score < (0.8 if direct else 4) else _score(result)


def _score(result: Mapping[str, Any]) -> str:
    return f"{result['score']:.2f}" if result["fidelity_mapping"] == "direct" else f"{result['score']:g}/5"


def reading_words(result: Mapping[str, Any]) -> str:
    """One reading in a few words: tool, score, what is wrong."""
    kinds = ", ".join(dict.fromkeys(flag["kind"] for flag in result["misinterpretation_flags"] or ()))
    said = "; ".join(result["key_errors"]) or kinds or "nothing is named"
    return f"{result['tool']} {_score(result)}: {said}"


def reading_lines(result: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Everything about one reading as lines of (label, text, style)."""
    words = "said so" if result["reading"] == "stated" else "said nothing; its next action counts"
    yield "reading", f"c{result['call_index'] + 1} {result['tool']}: the agent {words}", ""
    for number_, one in enumerate(result["unsupported_values"]):
        also = ", ".join(_WHERE.get(name, name) for name in one["also_in"])
        yield "" if number_ else "not there", f"{one['value']} ({one['kind']}), but in {also}" if also else (
            f"{one['value']} ({one['kind']}), and nowhere else"
        ), "yellow"  # fmt: skip
    if result["status"] != "EVALUATED":
        yield "score", f"none: {result['reason']}", "yellow"
        return
    fidelity = f"fidelity {result['interpretation_fidelity_score']:.2f} ({result['fidelity_mapping']})"
    acted = "–" if result["action_score"] is None else f"{result['action_score']}/5"
    style = "red" if read_or_misread(result) == MISREAD else "bold"
    yield "score", f"{_score(result)} · {fidelity} · by {result['scored_by']} · next action {acted}", style
    if result["light_score"] is not None and result["strong_score"] is not None:
        drawn = f"drawn with probability {result['sampling_probability']:.2f} from {result['stratum']}"
        yield "", f"light {result['light_score']:g}, strong {result['strong_score']:g}; {drawn}", "dim"


def said_of_reading(reply: Mapping[str, Any]) -> Iterator[str]:
    """What one judge said about a reading."""
    acted = "–" if reply.get("action_score") is None else str(reply["action_score"])
    sure = "" if reply.get("confidence") is None else f" · confidence {reply['confidence']:g}"
    yield f"score {reply['score']:g} · action {acted}{sure}"
    yield f"“{reply['justification']}”"
    for flag in reply.get("misinterpretation_flags") or ():
        at = f" against {flag['result_path']}" if flag["result_path"] else ""
        yield f"✗ {flag['kind']}: “{shorten(flag['claim_quote'], _QUOTE)}”{at}"
    for one in reply.get("evidence") or ():
        yield f"{one['result_path']}: “{shorten(one['quote'], _QUOTE)}”"
    yield f"reading: {reply['interpretation_accuracy']}"
    yield f"action: {reply['action_appropriateness']}"
