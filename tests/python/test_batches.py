"""Submissions of batches and the fake results, checked with the providers' own clients.

`cargo test` saves both; see tests/suite/jobs/batches.
"""

import json

import anthropic.types.message_create_params
import anthropic.types.messages
import anthropic.types.messages.batch_create_params
import google.genai.batches
import google.genai.types
import openai.types
import openai.types.batch_create_params
import openai.types.responses
import pydantic
import pytest

from test_requests import TARGET, misfit


def written(provider):
    return json.loads((TARGET / "tmp" / "providers" / f"{provider}-batches.json").read_text())


def test_a_batch_for_openai_has_the_clients_types():
    saved = written("openai")
    assert misfit(saved["submission"], openai.types.batch_create_params.BatchCreateParams) is None
    openai.types.Batch.model_validate(saved["batch"], strict=True)
    kind = openai.types.responses.response_create_params.ResponseCreateParamsNonStreaming
    assert len(saved["lines"]) == 3
    for line in saved["lines"]:
        assert set(line) == {"custom_id", "method", "url", "body"}
        assert line["url"] == saved["submission"]["endpoint"]
        assert misfit(line["body"], kind) is None
    answered = [line for line in saved["results"] if (line["response"] or {}).get("status_code") == 200]
    assert len(answered) == 1
    openai.types.responses.Response.model_validate(answered[0]["response"]["body"])


def test_a_batch_for_anthropic_has_the_clients_types():
    saved = written("anthropic")
    types = anthropic.types.messages
    assert misfit(saved["submission"], types.batch_create_params.BatchCreateParams) is None
    assert len(saved["submission"]["requests"]) == 3
    kind = anthropic.types.message_create_params.MessageCreateParamsNonStreaming
    for request in saved["submission"]["requests"]:
        assert misfit(request["params"], kind) is None
    types.MessageBatch.model_validate(saved["batch"])
    assert len(saved["results"]) == 3
    for line in saved["results"]:
        types.MessageBatchIndividualResponse.model_validate(line)


def test_a_batch_for_google_is_what_its_client_sends_and_reads():
    saved = written("google")
    client = google.genai.Client(api_key="none")
    requests = saved["submission"]["batch"]["inputConfig"]["requests"]["requests"]
    sources = [
        google.genai.types.InlinedRequest(
            contents=request["request"]["contents"],
            metadata=request["metadata"],
        )
        for request in requests
    ]
    sent = google.genai.batches._CreateBatchJobParameters_to_mldev(
        client._api_client,
        google.genai.types._CreateBatchJobParameters(
            model="some-model-1",
            src=google.genai.types.BatchJobSource(inlined_requests=sources),
            config=google.genai.types.CreateBatchJobConfig(display_name=saved["submission"]["batch"]["displayName"]),
        ),
    )
    own = json.loads(json.dumps(saved["submission"]))
    for request in own["batch"]["inputConfig"]["requests"]["requests"]:
        # The client takes these in a form of its own.
        request["request"] = {"contents": request["request"]["contents"]}
    batch = pydantic.TypeAdapter(dict).dump_python(sent["batch"], mode="json", exclude_none=True)
    assert batch == own["batch"]

    read = google.genai.batches._BatchJob_from_mldev(saved["batch"])
    job = google.genai.types.BatchJob.model_validate(read)
    assert job.state == google.genai.types.JobState.JOB_STATE_EXPIRED
    first, second = job.dest.inlined_responses
    assert first.metadata["key"] == requests[0]["metadata"]["key"]
    assert first.response.candidates[0].content.parts[-1].text
    assert second.error is not None


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_check_finds_errors_in_batches(provider):
    saved = written(provider)
    kinds = {
        "openai": openai.types.batch_create_params.BatchCreateParams,
        "anthropic": anthropic.types.messages.batch_create_params.BatchCreateParams,
    }
    assert misfit({**saved["submission"], "brand": "new"}, kinds[provider]) is not None
