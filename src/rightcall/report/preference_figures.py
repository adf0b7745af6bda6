"""The figures of `preference` in words: who wins, how surely, and whether the judge can be trusted with it (UX §1.3).

Wins are shown as `candidate 12 : 5 prod`, the later-named agent first, since that is what the question is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.report.summary import counted, most_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.report.plain import Tone

    Line = tuple[str, Tone]
    """What a line says, and how it stands out."""

MOST_CATEGORIES = 12
"""How many categories are shown."""

BIASED = "POSITION-BIASED"


def lines(figures: Mapping[str, Any]) -> Iterator[Line]:
    """Everything but the ranking, line by line; `figures` as `PreferenceAggregate.summary` gives them."""
    for one in figures["comparisons"]:
        yield from _comparison(one)
    for judge, panel in figures["position"].items():
        for text in position_words(judge, panel):
            yield text, "bad" if panel["biased"] else ""
    yield from _confidence(figures)
    for one in figures["agreement"]:
        also = ", doubtful pairs alone" if one["on_doubtful_pairs_alone"] else ""
        shown = f"{_share(one['agreement'])} of {counted(one['n'], 'pair')}{also}"
        yield f"judges {' and '.join(one['judges'])} agree on {shown}", ""
    if figures["quality"]:
        words = " · ".join(f"{what} {n}" for what, n in most_first(figures["quality"]))
        yield f"left out for data quality: {words}", "warning"


def main_words(figures: Mapping[str, Any]) -> str:
    """The answer of a run in a few words; of several comparisons, the first."""
    one = figures["comparisons"][0]
    a, b = one["agent_a"], one["agent_b"]
    more = len(figures["comparisons"]) - 1
    also = f", and {counted(more, 'more comparison')}" if more else ""
    return f"{b} {one['wins_b']} : {one['wins_a']} {a}, tie {_ties(one)}{also}"


def bias_notes(figures: Mapping[str, Any]) -> list[str]:
    """What must be known about judges before any figure of theirs: that they prefer a place."""
    found = []
    for judge in figures["biased"]:
        panel = figures["position"][judge]
        rate = panel["first_rate"]
        seen = f"the first place wins {_share(rate)} of {rate['n']} decisive replies"
        if not panel["in_both_orders"]:
            found.append(f"judge {judge}: {BIASED}: {seen}, and each pair was asked about in one order only")
        elif not panel["consistent_decisive"]:
            found.append(f"judge {judge}: {BIASED}: {seen}, and no pair has the same winner in both orders")
        else:
            found.append(f"judge {judge} leans to a place: {seen}; what flipped with the order is no win")
    return found


# ---- one comparison --------------------------------------------------------------------------------------------------


def _comparison(one: Mapping[str, Any]) -> Iterator[Line]:
    a, b, found = one["agent_a"], one["agent_b"], one["comparison"]
    yield f"{b} wins {one['wins_b']}   {a} wins {one['wins_a']}   tie {_ties(one)}", "strong"
    stopped = one["stopped_early"]
    if stopped is not None:
        yield _stopped(stopped, b), "strong"
    else:
        yield found["words"], "strong"
    yield from _parts(one)
    yield from _length(one)
    yield from _categories(one)


def _stopped(stopped: Mapping[str, Any], b: str) -> str:
    seen = stopped["wins_a"] + stopped["wins_b"]
    return (
        f"{stopped['words']}: stopped after {seen} decisive pairs, e = {stopped['e_value']:.1f} (needs "
        f"{1 / stopped['alpha']:g}); {b} wins {_share(stopped['share_b'])} at whatever time one stops"
    )


def _ties(one: Mapping[str, Any]) -> int:
    return int(one["ties"] + one["partial"] + one["inconsistent"])


def _parts(one: Mapping[str, Any]) -> Iterator[Line]:
    """What the wins and ties are made of, and what is in none of them."""
    if one["partial"] or one["inconsistent"]:
        yield (
            (
                f"ties: {one['ties']} real · {one['inconsistent']} with another winner in each order · "
                f"{one['partial']} with a winner in one order only"
            ),
            "",
        )
    code = one["by_code"]
    if code["reasons"]:
        reasons = ", ".join(f"{reason} {n}" for reason, n in most_first(code["reasons"]))
        b, a = one["agent_b"], one["agent_a"]
        yield f"by code ({reasons}): {b} {code['wins_b']} : {code['wins_a']} {a}, tie {code['ties']}", ""
        rate = one["judged"]["win_rate"]
        if rate["estimate"] is not None:
            pairs = counted(rate["n"], "decisive pair")
            yield f"by judges alone: {one['agent_b']} {_share(rate)} of {pairs}", ""
    net = one["net_win_rate"]
    if net["estimate"] is not None and one["wins_a"] + one["wins_b"]:
        also = ", and looks surer than it is: the end was chosen by the result" if one["stopped_early"] else ""
        yield f"with ties as half a win: {one['agent_b']} {_share(net)} of {net['n']}{also}", ""
    if one["without_verdict"]:
        reasons = " · ".join(f"{why} {n}" for why, n in most_first(one["without_verdict"]))
        yield f"without a verdict: {reasons}", "warning"
    if one["without_counterpart"]:
        yield f"{counted(one['without_counterpart'], 'trace')} without a counterpart: in no pair", "warning"


def _length(one: Mapping[str, Any]) -> Iterator[Line]:
    panel = one["length"]["characters"]
    if panel["longer_rate"]["estimate"] is None:
        return
    even = panel["controlled"]
    words = f"length: {panel['words']}"
    if even["estimate"] is not None:
        words += f" At equal length {one['agent_b']} would win {_share(even)} of {even['n']}."
    yield words, "warning" if panel["prefers_longer"] else ""


def _categories(one: Mapping[str, Any]) -> Iterator[Line]:
    groups = one["categories"]
    if not groups:
        return
    words = []
    for group in groups[:MOST_CATEGORIES]:
        loses = f" ◀ {one['agent_b']} loses" if group["wins_b"] < group["wins_a"] else ""
        words.append(f"{group['category']} {group['wins_b']}:{group['wins_a']}{loses}")
    more = f"   … {len(groups) - MOST_CATEGORIES} more" if len(groups) > MOST_CATEGORIES else ""
    yield f"by category ({one['agent_b']}:{one['agent_a']})   " + "   ".join(words) + more, ""


# ---- judges ----------------------------------------------------------------------------------------------------------


def position_words(judge: str, panel: Mapping[str, Any]) -> list[str]:
    """Whether one judge prefers a place, in words."""
    same = panel["consistency"]
    pairs = counted(same["n"], "pair")
    agree = "" if same["estimate"] is None else f"both orders agree in {_share(same)} of {pairs}; "
    drawn = panel.get("single_order")  # records of earlier versions lack it
    fixed = [] if drawn is None or drawn["is_random"] is not False else [f"judge {judge}: {drawn['words']}"]
    return [f"judge {judge}: {agree}{panel['words']}", *fixed]


def _confidence(figures: Mapping[str, Any]) -> Iterator[Line]:
    sure, second = figures["confidence"], figures["second_judge"]
    if sure["below"]:
        yield f"confidence below {sure['limit']:g}: {sure['below']} of {sure['n']} judged pairs", ""
    if second is not None:
        against = f"; {second['against_the_first']} against the first" if second["against_the_first"] else ""
        left = f"{second['settled']} settled, {second['to_people']} for people{against}"
        yield f"second judge {second['judge']} was asked about {second['asked']}: {left}", ""


def unranked(ranking: Mapping[str, Any], agents: Sequence[str]) -> str:
    """The agents that are in no pair with a verdict, in words."""
    left = [agent for agent in agents if agent not in {one["name"] for one in ranking["standings"]}]
    return f"not ranked, in no pair with a verdict: {', '.join(left)}" if left else ""


def standing_words(one: Mapping[str, Any]) -> tuple[str, ...]:
    """An agent's line of the ranking."""
    ability, rank = one["ability"], one["rank"]
    value = "–" if ability["estimate"] is None else f"{round(ability['estimate'], 2) + 0.0:+.2f}"
    between = "–" if ability["low"] is None else f"{ability['low']:+.2f} – {ability['high']:+.2f}"
    place = "–" if rank["low"] is None else f"{rank['low']:g}–{rank['high']:g}"
    if rank["low"] is not None and rank["low"] == rank["high"]:
        place = f"{rank['low']:g}"
    return one["name"], value, between, place, str(one["wins"]), str(one["losses"]), str(one["ties"])


def _share(estimate: Mapping[str, Any]) -> str:
    if estimate["estimate"] is None:
        return "–"
    if estimate["low"] is None or estimate["high"] is None:
        return f"{estimate['estimate']:.3f} [no interval]"
    return f"{estimate['estimate']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}]"


# ---- one result ------------------------------------------------------------------------------------------------------


def pair_words(result: Mapping[str, Any]) -> str:
    """A pair's verdict in a few words: who, how surely, decided by whom."""
    if result["verdict"] == "TIE":
        kind = "orders disagree" if result["order_inconsistent"] else "one order a tie" if result["partial"] else "tie"
        parts = [f"{result['agent_b']} = {result['agent_a']}: {kind}"]
    else:
        better, worse = ("agent_a", "agent_b") if result["verdict"] == "A" else ("agent_b", "agent_a")
        parts = [f"{result[better]} better than {result[worse]}"]
    parts.append(f"by code: {result['code_reason']}" if result["decided_by"] == "code" else f"{result['confidence']:g}")
    if result["settled_by"]:
        parts.append("second judge")
    if result["conflict"]:
        parts.append("the judge contradicts code")
    return " · ".join(parts)


def pair_lines(result: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Everything that was concluded about a pair, as (what it is about, text, style)."""
    a, b = result["agent_a"], result["agent_b"]
    for name, size, trace in ((a, result["size_a"], result["trace_id"]), (b, result["size_b"], result["trace_b_id"])):
        yield "trace", f"{name}: {trace}, {counted(size['calls'], 'call')}, {size['characters']} characters", ""
    for text in result["quality"]:
        yield "quality", text, "yellow"
    if result["code_verdict"] is not None:
        winner = {"A": a, "B": b, "TIE": "a tie"}[result["code_verdict"]]
        yield "code", f"{winner} ({result['code_reason']})", ""
    for one in result["orders"]:
        yield "reply", _reply_words(one, a, b), ""
    if result["status"] != "EVALUATED":
        yield "result", f"none: {result['reason']}", "yellow"
        return
    yield "result", pair_words(result), "bold"
    for text in result["key_differentiators"]:
        yield "", text, ""


def said_of_pair(reply: Mapping[str, Any]) -> Iterator[str]:
    """What one judge wrote about a pair; letters are places."""
    yield (
        f"place {reply['preferred_trace']}, confidence {reply['confidence']:g}"
        if (reply["preferred_trace"] != "TIE")
        else f"TIE, confidence {reply['confidence']:g}"
    )
    for name, why in (reply.get("justification") or {}).items():
        yield f"{name}: {why}"
    for place, failures in (reply.get("critical_failures") or {}).items():
        for text in failures:
            yield f"critical in {place.removeprefix('trace_').upper()}: {text}"


def _reply_words(one: Mapping[str, Any], a: str, b: str) -> str:
    first, second = (a, b) if one["order"] == "ab" else (b, a)
    winner = {"A": a, "B": b, "TIE": "a tie"}[one["winner"]]
    again = f" #{one['replicate']}" if one["replicate"] else ""
    return f"{one['judge']}{again}, {first} first, {second} second: {one['letter']} = {winner}, {one['confidence']:g}"
