"""Histories that every request repeats: what is new in each."""

from rightcall.trace.sources.histories import Histories


def test_a_history_that_goes_on_is_known_up_to_its_end():
    seen = Histories()
    assert seen.request(["ask"]) == 0
    seen.reply(["call"])
    assert seen.request(["ask", "call", "result"]) == 2
    seen.reply(["answer"])
    assert seen.request(["ask", "call", "result", "answer", "thanks"]) == 4


def test_the_same_request_again_is_known_as_a_whole():
    seen = Histories()
    seen.request(["ask"])
    seen.reply(["one answer"])
    assert seen.request(["ask"]) == 1
    seen.reply(["another answer"])
    assert seen.request(["ask", "one answer", "so?"]) == 2
    assert seen.request(["ask", "another answer", "so?"]) == 2


def test_another_agents_history_is_new():
    seen = Histories()
    seen.request(["ask"])
    seen.reply(["call"])
    assert seen.request(["task"]) == 0


def test_a_history_that_was_cut_is_taken_up_after_the_last_reply_in_it():
    seen = Histories()
    seen.request(["ask"])
    seen.reply(["call 1"])
    seen.request(["ask", "call 1", "result 1"])
    seen.reply(["call 2"])
    assert seen.request(["(summary)", "call 2", "result 2"]) == 2
    assert seen.request(["(summary)", "call 2", "result 2", "next"]) == 3


def test_long_histories_cost_what_they_hold():
    seen = Histories()
    keys = [str(number) for number in range(100_000)]
    assert seen.request(keys) == 0
    assert seen.request(keys) == len(keys)
