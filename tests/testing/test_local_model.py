"""The real model that other tests may ask: it keeps to a schema, says who it is, and refuses what it cannot read."""

import json

import pytest

from rightcall.trace.schemas import compile_schema

pytestmark = pytest.mark.slow

SCHEMA = {
    "type": "object",
    "properties": {
        "grade": {"type": "string", "enum": ["PASS", "FAIL"]},
        "score": {"type": "integer", "minimum": 1, "maximum": 5},
        "reason": {"type": "string", "maxLength": 30},
    },
    "required": ["grade", "score", "reason"],
    "additionalProperties": False,
}


@pytest.fixture
def client(local_model_url):
    from openai import OpenAI

    with OpenAI(base_url=local_model_url, api_key="none", max_retries=0, timeout=300) as client:
        yield client


def test_it_answers_a_question_within_the_schema(client):
    answer = client.chat.completions.create(
        model="any name",
        messages=[
            {"role": "system", "content": "You judge tool calls and answer in JSON."},
            {"role": "user", "content": "The user lost a card. The agent called freeze_card. Was that right?"},
        ],
        temperature=0,
        max_tokens=120,
        response_format={"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}},
    )
    [choice] = answer.choices
    assert choice.finish_reason == "stop"
    assert compile_schema(SCHEMA, None).is_valid(json.loads(choice.message.content))
    assert answer.model == "smollm2-135m"
    assert answer.usage.prompt_tokens > 20
    assert 10 < answer.usage.completion_tokens < 120


def test_it_refuses_a_prompt_beyond_its_context(client):
    from openai import BadRequestError

    with pytest.raises(BadRequestError) as caught:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "word " * 9000}], max_tokens=5)
    assert caught.value.body["type"] == "exceed_context_size_error"
    assert caught.value.body["n_prompt_tokens"] > caught.value.body["n_ctx"] == 8192
