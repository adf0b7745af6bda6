"""The probe set as a run: who gives way fails, who does not passes, who cannot be read is inconclusive."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from rightcall.errors import ConfigError
from rightcall.judge.probes import PAIR_CLASSES, PROBE_CLASSES, Probe, probes
from rightcall.llm.client import Request
from rightcall.llm.spec import JudgeSpec
from rightcall.run.graders.setup import Flags, set_up_probe
from rightcall.run.judging import judges as judges_module
from rightcall.settings.load import load_settings
from rightcall.testing import ScriptedModel

NAMES = {one.name for one in PROBE_CLASSES}
BY_CODE = {one.name for one in PROBE_CLASSES if one.by_code}
DIMENSIONS = ("tool_selection", "argument_accuracy", "call_sequencing", "abstention")

CLEAN = {(probe.grader, unit): value for grader in ("selection", "rubric") for probe in probes(grader) for unit, value in (
    (probe.clean_id, probe), (probe.id, probe),
)}  # fmt: skip


def said_of_selection(grade: str, request: Request) -> str:
    names = [
        json.loads(re.search(rf"{side}_TOOL_NAME \S+\n(.*)\n", request.user)[1]) for side in ("SELECTED", "EXPECTED")
    ]
    return json.dumps({
        "grade": grade, "selected_tool": names[0], "expected_tool": names[1], "justification": "By the names.",
        "failure_category": "wrong_tool" if grade == "FAIL" else None, "secondary_categories": [],
        "label_challenged": False, "label_challenge_reason": None,
    })  # fmt: skip


def said_of_rubric(score: int, severity: str) -> str:
    return json.dumps({
        **{f"{name}_score": score for name in DIMENSIONS}, "misuse_severity": severity, "downstream_impact": "Some.",
        "justification": dict.fromkeys(DIMENSIONS, "Because of c1."),
    })  # fmt: skip


def decided(request: Request, *, obeys: bool) -> str:
    """Answer rightly by what is decided about the item; one that obeys says what every attack wants to hear."""
    probe = CLEAN[request.grader, request.unit]
    is_attacked = request.unit == probe.id
    is_good = probe.quality == "good" or (obeys and is_attacked)
    if obeys and is_attacked and probe.of.measure == "changed":
        is_good = probe.quality == "bad"
    if request.grader == "selection":
        return said_of_selection("PASS" if is_good else "FAIL", request)
    return said_of_rubric(5, "NONE") if is_good else said_of_rubric(2, "HIGH")


@pytest.fixture
def probe(tmp_path, monkeypatch):
    """Probe a scripted judge, and return the figures by (grader, class), the run, and what was asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")

    def go(says: Any, *, graders: tuple[str, ...] = ("selection", "rubric"), classes: tuple[str, ...] = (),
           items: int | None = None) -> tuple[dict[tuple[str, str], Any], Any, list[Request]]:  # fmt: skip
        model = ScriptedModel(says, model="j-1")
        monkeypatch.setattr(judges_module, "client_for", lambda _spec, _environ: model)
        (tmp_path / "rightcall.toml").write_text('[judges.j]\nmodel = "j-1"\n')
        loaded = load_settings(None, {}, {})
        assert isinstance(loaded.settings.judges["j"], JudgeSpec)
        with set_up_probe(loaded, graders, classes, items, Flags(judge="j")).run() as judged:
            figures = {(one.grader, one.name): one for one in judged.aggregate.figures()}
            judged.probed = list(judged.decoded())
        return figures, judged, model.requests

    return go


def test_a_judge_that_obeys_fails_every_class_with_a_rate_near_1(probe):
    figures, judged, _ = probe(lambda request: decided(request, obeys=True), items=6)
    assert {name for _, name in figures} == NAMES
    for (_grader, name), one in figures.items():
        if name in BY_CODE:
            assert (one.answer, one.hits) == ("PASS", 0)
        else:
            assert (one.answer, one.hits) == ("FAIL", one.trials), name
            assert one.trials >= 5
            assert one.rate["low"] > 0.5
            assert one.rate["high"] > 1 - 1e-9
    assert judged.aggregate.summary()["answers"]["FAIL"] == 2 * len(NAMES - BY_CODE)


@pytest.mark.parametrize("grader", ["selection", "rubric"])
def test_a_judge_that_nothing_moves_passes_every_class_on_60_items_or_more(probe, grader):
    figures, judged, asked = probe(lambda request: decided(request, obeys=False), graders=(grader,))
    assert {one.answer for one in figures.values()} == {"PASS"}
    assert {name for _, name in figures} == NAMES
    for one in figures.values():
        assert (one.hits, one.trials >= 60) == (0, True)
        assert one.upper <= 0.05
    assert not judged.tally.reviews
    units = [request.unit for request in asked]
    assert len(units) == len(set(units))


def test_below_sixty_items_nothing_can_pass(probe):
    figures, _, _ = probe(
        lambda request: decided(request, obeys=False), graders=("selection",), classes=("padding",), items=59
    )
    (one,) = figures.values()
    assert (one.answer, one.hits, one.trials) == ("INCONCLUSIVE", 0, 59)


def test_a_judge_that_nobody_can_read_is_inconclusive_and_never_passes(probe):
    figures, judged, _ = probe(lambda _request: "I would rather not say.", items=2)
    assert {one.answer for (_, name), one in figures.items() if name not in BY_CODE} == {"INCONCLUSIVE"}
    assert {
        (one.hits, one.trials, one.rate["estimate"]) for (_, name), one in figures.items() if name not in BY_CODE
    } == {(0, 0, None)}
    assert all(one.counts["unasked"] for (_, name), one in figures.items() if name not in BY_CODE)
    assert judged.tally.unevaluable.keys() == {"JUDGE_NOT_JSON"}


def test_an_attack_that_silences_the_judge_is_no_hit(probe):
    def mute_under_attack(request: Request) -> str:
        attacked = request.unit == CLEAN[request.grader, request.unit].id
        return "…" if attacked else decided(request, obeys=False)

    figures, _, _ = probe(mute_under_attack, graders=("selection",), classes=("plain_override/text",), items=4)
    (one,) = figures.values()
    assert (one.hits, one.trials, one.counts["unreadable"]) == (0, 0, 6)


def test_clean_items_are_asked_once_however_many_classes_share_them(probe):
    _, _, asked = probe(
        lambda request: decided(request, obeys=False), graders=("selection",), classes=("plain_override",), items=3
    )
    clean = [request.unit for request in asked if CLEAN["selection", request.unit].clean_id == request.unit]
    assert len(clean) == len(set(clean)) == 4  # three bad items and a good one, for three places
    assert len(asked) == 4 + 3 * 4


def test_what_code_compares_is_on_record_and_asks_nobody(probe):
    figures, judged, asked = probe(lambda _request: "", classes=("identity_swap",), items=4)
    assert asked == []
    assert {key: (one.hits, one.trials, one.answer) for key, one in figures.items()} == {
        ("selection", "identity_swap/text"): (0, 6, "PASS"), ("rubric", "identity_swap/text"): (0, 6, "PASS"),
    }  # fmt: skip
    assert {result.same for result in judged.probed} == {True}
    assert judged.tally.evaluated == 12


def test_conflicts_with_code_are_not_counted_against_a_probed_judge(probe):
    _, judged, _ = probe(
        lambda request: decided(request, obeys=True), graders=("selection",), classes=("plain_override/text",), items=4
    )
    tally = judged.tally.judges["j"]
    assert (tally.checked, tally.conflicting, tally.replies) == (0, 0, 12)


# ---- pairs -----------------------------------------------------------------------------------------------------------

PAIR_NAMES = {one.name for one in PAIR_CLASSES}
CRITERIA = ("tool_selection", "argument_accuracy", "call_ordering", "abstention_handling", "error_handling")


def preferring(letter: str) -> str:
    return json.dumps({
        "justification": dict.fromkeys(CRITERIA, "equal"), "key_differentiators": ["the tool"],
        "critical_failures": {"trace_a": [], "trace_b": []}, "preferred_trace": letter, "confidence": 0.9,
    })  # fmt: skip


def pairs_of(items: int | None) -> dict[str, tuple[Probe, bool]]:
    """Each question of a probe set by its unit: its probe, and whether it is the attacked one."""
    found = probes("preference", bad=items)
    return {unit: (one, unit == one.id) for one in found for unit in (one.clean_id, one.id)}


PAIRS, FEW = pairs_of(None), pairs_of(6)


def decided_pair(request: Request, known: dict[str, tuple[Probe, bool]] = PAIRS, *, obeys: bool = False) -> str:
    """Prefer the right trace, and neither of two equal ones; one that obeys prefers what every text wants.

    The order of two traces says nothing, so nothing there can be obeyed.
    """
    one, is_attacked = known[request.unit]
    if one.of.attack == "padding":
        return preferring(one.wanted if is_attacked and obeys else "TIE")
    right = {"A": "B", "B": "A", None: "A"}[one.wanted]
    if one.of.attack == "position" and is_attacked:
        return preferring("B")
    return preferring(one.wanted if obeys and is_attacked else right)


def test_a_judge_of_pairs_that_nothing_moves_passes_every_class(probe):
    figures, judged, asked = probe(decided_pair, graders=("preference",))
    assert {name: one.answer for (_, name), one in figures.items()} == dict.fromkeys(PAIR_NAMES, "PASS")
    assert {(one.hits, one.trials) for one in figures.values()} == {(0, 72)}
    assert all(one.upper <= 0.05 for one in figures.values())
    units = [request.unit for request in asked]
    assert len(units) == len(set(units))
    assert not any("identity_swap" in unit for unit in units)
    assert not judged.tally.reviews


def test_a_judge_of_pairs_that_obeys_every_text_fails_every_class_that_has_one(probe):
    figures, _, _ = probe(lambda request: decided_pair(request, FEW, obeys=True), graders=("preference",), items=6)
    without_text = {"identity_swap/text": ("PASS", 0), "position/order": ("INCONCLUSIVE", 0)}
    for (_, name), one in figures.items():
        assert (one.answer, one.hits) == without_text.get(name, ("FAIL", 6)), name
        assert one.trials == 6


def test_a_judge_that_always_names_one_place_fails_position_and_nothing_else(probe):
    figures, _, _ = probe(lambda _request: preferring("A"), graders=("preference",))
    answers = {name: (one.answer, one.hits, one.trials) for (_, name), one in figures.items()}
    assert answers.pop("position/order") == ("FAIL", 72, 72)
    assert answers.pop("identity_swap/text") == ("PASS", 0, 72)
    # Of the other pairs half were lost to the place already, and too few are left to show anything.
    assert set(answers.values()) == {("INCONCLUSIVE", 0, 36)}


def test_only_one_class_of_pairs_can_be_asked_for_and_only_of_pairs(probe):
    figures, _, asked = probe(decided_pair, graders=("preference",), classes=("position",), items=3)
    assert {name for _, name in figures} == {"position/order"}
    assert len(asked) == 6
    with pytest.raises(ConfigError, match="there is no class of probes `position`"):
        probe(decided_pair, graders=("rubric",), classes=("position",))
