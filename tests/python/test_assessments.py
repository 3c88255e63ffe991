"""Assessments with peers that others wrote: the official SDK of A2A 1.0, and a client from the published request alone."""

import json
import uuid

import httpx
import pytest
from a2a.helpers.proto_helpers import get_data_parts, new_data_part, new_text_part
from a2a.types.a2a_pb2 import TaskState
from running_agent import running_example
from test_a2a import request, with_client

CONFIG = {"task_category": ["crafting", "motion"], "tasks": ["craft_ladder", "look_at_the_sky"], "max_steps": 3, "seed": 7}


@pytest.fixture(scope="module")
def noop():
    with running_example("noop.py") as url:
        yield url


def order(agent, **config):
    return {"participants": {"agent": agent}, "config": {**CONFIG, **config}}


# Data that the SDK sends has floats for numbers.
@pytest.mark.parametrize("part", [lambda order: new_text_part(json.dumps(order)), new_data_part], ids=["text", "data"])
def test_the_sdk_orders_one_and_follows_it(site, noop, part):
    async def use(client):
        return [event async for event in client.send_message(request(part(order(noop))))]

    events = with_client(site, use, streaming=True)
    assert [event.WhichOneof("payload") for event in events[:1]] == ["task"]
    updates = [event.status_update.status for event in events if event.HasField("status_update")]
    working = [update.message.parts[0].text for update in updates if update.state == TaskState.TASK_STATE_WORKING]
    assert working[:2] == ["Starting MCU evaluation with 2 tasks from crafting, motion", "Running task: craft ladder (category: crafting)"]
    assert working[-1].startswith("Task 'look_at_the_sky': ")
    [artifact] = [event.artifact_update.artifact for event in events if event.HasField("artifact_update")]
    assert artifact.name == "Result"
    assert artifact.parts[0].text.startswith("MCU Evaluation Result\nCategories: crafting, motion\nNumber of Tasks: 2\n")
    [result] = get_data_parts(artifact.parts)
    assert set(result["task_metrics"]) == {"craft_ladder", "look_at_the_sky"} and result["seed"] == 7
    assert updates[-1].state == TaskState.TASK_STATE_COMPLETED


def test_what_cannot_be_carried_out_is_rejected(site, noop):
    async def use(client):
        sent = request(new_text_part(json.dumps(order(noop, tasks=["craft_moon"]))))
        return [event async for event in client.send_message(sent)]

    [*_, last] = with_client(site, use, streaming=True)
    assert last.status_update.status.state == TaskState.TASK_STATE_REJECTED
    assert "craft_moon" in last.status_update.status.message.parts[0].text


def streamed_by_the_published_request(site, order):
    """The events of `message/stream` of version 0.3, whose message has the order in one text part."""
    message = {"kind": "message", "messageId": uuid.uuid4().hex, "role": "user", "parts": [{"kind": "text", "text": json.dumps(order)}]}
    call = {"jsonrpc": "2.0", "id": uuid.uuid4().hex, "method": "message/stream", "params": {"message": message}}
    with httpx.stream("POST", f"{site}/a2a", json=call, timeout=120) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [json.loads(line.removeprefix("data:")) for line in answer.iter_lines() if line.startswith("data:")]
    assert all(event["jsonrpc"] == "2.0" and event["id"] == call["id"] for event in events)
    return [event["result"] for event in events]


def test_a_client_of_the_published_request_writes_the_published_results_file(site, noop, tmp_path):
    events = streamed_by_the_published_request(site, order(noop))
    assert events[-1]["status"]["state"] == "completed" and events[-1]["final"] is True
    artifacts = [event["artifact"] for event in events if event["kind"] == "artifact-update"]
    results = [part["data"] for artifact in artifacts for part in artifact["parts"] if part["kind"] == "data"]
    # The family's client puts the participants' ids and what the assessor sent as data into one file.
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"participants": {"agent": "0199a9a4-0000"}, "results": results}))

    published = json.loads(file.read_text())
    assert set(published) == {"participants", "results"}
    [result] = published["results"]
    assert result["task_category"] == ["crafting", "motion"]
    assert (result["num_tasks"], result["max_score"]) == (2, 20)
    for scores in result["task_metrics"].values():
        assert set(scores) == {"sim_score", "video_score", "total_score"} and scores["video_score"] is None
        assert scores["total_score"] == scores["sim_score"]
    assert result["total_score"] == sum(scores["total_score"] for scores in result["task_metrics"].values())
    assert {"revision", "world", "judge", "seed", "assisted", "asked", "provenance"} <= set(result)
    assert result["revision"] == "mcu-1" and result["judge"] is None


@pytest.mark.parametrize(
    ("script", "task", "steps", "score"),
    [("scripted.py", "look_at_the_sky", 24, 10.0), ("random_agent.py", "collect_dirt", 20, None), ("noop.py", "throw_a_snowball", 5, 0.0)],
)
def test_the_example_agents_are_assessed(site, script, task, steps, score):
    with running_example(script) as url:
        events = streamed_by_the_published_request(site, {"participants": {"agent": url}, "config": {"tasks": [task], "max_steps": steps}})
    assert events[-1]["status"]["state"] == "completed", events[-1]
    [artifact] = [event["artifact"] for event in events if event["kind"] == "artifact-update"]
    result = artifact["parts"][1]["data"]
    total = result["task_metrics"][task]["total_score"]
    assert total == score if score is not None else 0 <= total <= 10
    # No message was lost, and none misunderstood.
    listed = httpx.get(f"{site}/api/assessments").json()["assessments"][0]
    [run] = httpx.get(f"{site}/api/assessments/{listed['id']}").json()["runs"]
    assert (run["unanswered"], run["unreadable"], run["steps"]) == (0, 0, steps), run
