"""What a dry run says is what a run then asks, and it leaves nothing behind."""

from __future__ import annotations

import pytest
from judged_making import Here, Project, agrees, case, said, scores, selection_replies, server, step, trace

from rightcall.errors import Unavailable
from rightcall.run.graders.forecast import Forecast, forecast
from rightcall.testing import ScriptedModel

STEPS = 12


@pytest.fixture
def here(tmp_path):
    one = Here(tmp_path)
    one.write("steps.jsonl", *(step(n) for n in range(STEPS)))
    return one


def counts(setup) -> tuple[int, int, int, int]:
    seen = forecast(setup)
    return seen.items, seen.without_question, seen.calls, seen.cached


@pytest.mark.parametrize("replicates", [1, 3])
@pytest.mark.parametrize("judges", [("strong",), ("strong", "weak")])
def test_the_calls_foreseen_are_those_that_are_made(tmp_path, judges, replicates):
    here = Here(tmp_path, judges=judges)
    nobody_chose = {"id": "none", "request": "What do you sell?", "selected": None, "expected": None}
    here.write("steps.jsonl", *(step(n) for n in range(STEPS)), nobody_chose)
    foreseen = forecast(here.selection(replicates=replicates))
    models = [ScriptedModel(lambda request: agrees(request) if "case-" in request.user else "{}") for _ in judges]
    judged = here.run(here.selection(replicates=replicates), *models)
    judged.close()
    first = sum(request.attempt == 0 for model in models for request in model.requests)
    assert foreseen.items == judged.tally.n == STEPS + 1
    assert foreseen.calls == first == (STEPS + 1 - foreseen.without_question) * replicates * len(judges)
    assert foreseen.cached == 0
    assert foreseen.tokens_in > 0
    assert foreseen.tokens_out == 400 * foreseen.calls


def test_the_server_counts_what_was_foreseen_and_nothing_for_what_is_on_record(tmp_path):
    with server(selection_replies(STEPS), plan=None, latency=0.0) as served:
        project = Project(tmp_path, served.base_url)
        project.write("steps.jsonl", *(step(n) for n in range(STEPS)))
        here = Here(tmp_path / "other")

        def foreseen() -> Forecast:
            import msgspec

            flags = ("--judge", "strong", "--config", str(tmp_path / "rightcall.toml"), "--store", project.url)
            code, out = said("selection", str(tmp_path / "steps.jsonl"), *flags, "--dry-run", "--json")
            assert code == 0
            return msgspec.json.decode(out, type=Forecast)

        first = foreseen()
        assert (first.items, first.calls, first.cached) == (STEPS, STEPS, 0)
        assert served.stats()["requests"] == 0
        assert project.finish().code == 1
        assert served.stats()["requests"] == STEPS + 1  # and the one probe
        again = foreseen()
        assert (again.items, again.calls, again.cached) == (STEPS, 0, STEPS)
        assert project.finish().code == 1
        assert served.stats()["requests"] == STEPS + 1
        assert here.folder.exists()


def test_a_dry_run_makes_no_store(here):
    assert counts(here.selection()) == (STEPS, 0, STEPS, 0)
    assert not here.store.exists()


def test_without_the_cache_everything_is_asked_again(here):
    here.run(here.selection(), ScriptedModel(agrees)).close()
    assert counts(here.selection()) == (STEPS, 0, 0, STEPS)
    assert counts(here.selection(use_cache=False)) == (STEPS, 0, STEPS, 0)


@pytest.mark.parametrize("use_cache", [True, False])
def test_a_run_that_goes_on_asks_only_what_has_no_verdict(here, use_cache):
    def flaky(request):
        if request.unit == "case-0002":
            return Unavailable("nobody is there")
        return "no JSON at all" if request.unit == "case-0001" else agrees(request)

    stopped = here.run(here.selection(budget="12calls"), ScriptedModel(flaky), places=1)
    stopped.close()
    assert stopped.tally.not_asked > 0
    flags = {"resume": stopped.run.id, "use_cache": use_cache}
    foreseen = forecast(here.selection(**flags))
    model = ScriptedModel(agrees)
    here.run(here.selection(**flags), model).close()
    assert foreseen.calls == len(model.requests) == stopped.tally.not_asked + 1
    assert foreseen.items == stopped.tally.not_asked + 1


def test_a_rubric_is_foreseen_too(tmp_path):
    here = Here(tmp_path)
    here.write("traces.jsonl", *(trace(n) for n in range(4)))
    here.write("cases.jsonl", *(case(n) for n in range(4)))
    assert counts(here.rubric(cases="cases.jsonl", sample=3)) == (3, 0, 3, 0)
    here.run(here.rubric(cases="cases.jsonl"), ScriptedModel(scores)).close()
    assert counts(here.rubric(cases="cases.jsonl")) == (4, 0, 0, 4)


def test_what_is_foreseen_in_words():
    assert Forecast(items=3, calls=2, cached=1, tokens_in=1500, tokens_out=800).lines() == [
        "3 to judge · 2 calls · 1 on record", "about 1,500 tokens in, 800 out"
    ]  # fmt: skip
    assert Forecast(items=3, calls=6, second=6).lines()[-1] == (
        "then up to 6 calls of the second judge, which are not counted here"
    )
    priced = Forecast(items=1, without_question=1, calls=1, money={"usd": 0.254}, unpriced=1)
    assert priced.lines() == [
        "1 to judge · 1 calls · 0 on record · 1 without a question",
        "about 0 tokens in, 0 out · about 0.25 usd · 1 calls of unknown price",
    ]


def test_a_known_price_is_added_up(here):
    here.change('[judges.strong]\nprovider = "scripted"\nmodel = "scripted"\nprice = { input = 2.0, output = 10.0 }\n')
    (here.folder / "rightcall.toml").write_text(
        '[judges.strong]\nprovider = "scripted"\nmodel = "scripted"\nprice = { input = 2.0, output = 10.0 }\n'
    )
    seen = forecast(here.selection())
    assert seen.unpriced == 0
    (amount,) = seen.money.values()
    assert amount == pytest.approx((seen.tokens_in * 2.0 + seen.tokens_out * 10.0) / 1e6)
