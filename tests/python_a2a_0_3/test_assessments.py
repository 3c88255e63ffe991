"""The official SDK of A2A 0.3 in both roles of an assessment."""

import json

import pytest
from a2a.server.agent_execution import AgentExecutor
from a2a.server.tasks import TaskUpdater
from a2a.types import DataPart, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent, TextPart
from a2a.utils import new_agent_text_message, new_task
from test_agent import serving
from test_client import message, with_client

CONFIG = {"tasks": ["craft_ladder", "look_at_the_sky"], "max_steps": 3, "seed": 7}


class Walker(AgentExecutor):
    """Walks forward, and answers with messages or with tasks."""

    def __init__(self, answers_with_tasks):
        self.answers_with_tasks = answers_with_tasks

    async def execute(self, context, event_queue):
        sent = json.loads(context.get_user_input())
        answer = {"type": "action", "keys": ["forward"]}
        if sent["type"] == "init":
            answer = {"type": "ack", "success": True, "message": "ready"}
        text = json.dumps(answer)
        if not self.answers_with_tasks:
            return await event_queue.enqueue_event(new_agent_text_message(text, context.context_id, context.task_id))
        task = new_task(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.add_artifact([Part(root=TextPart(text=text))])
        await updater.complete()

    async def cancel(self, context, event_queue):
        raise NotImplementedError


@pytest.fixture(scope="module", params=[False, True], ids=["messages", "tasks"])
def walker(request):
    with serving(Walker(request.param), streams=True) as url:
        yield url


def ordered(site, order, part):
    async def use(client):
        return [event async for event in client.send_message(message(part(order)))]

    return with_client(site, use)


@pytest.mark.parametrize("part", [lambda order: TextPart(text=json.dumps(order)), lambda order: DataPart(data=order)], ids=["text", "data"])
def test_an_agent_on_the_sdk_is_assessed_for_a_client_on_the_sdk(site, walker, part):
    events = ordered(site, {"participants": {"agent": walker}, "config": CONFIG}, part)
    updates = [update for _, update in events]
    words = [update.status.message.parts[0].root.text for update in updates if isinstance(update, TaskStatusUpdateEvent) and update.status.message]
    assert words[0] == "Starting MCU evaluation with 2 tasks from crafting, motion"
    [artifact] = [update.artifact for update in updates if isinstance(update, TaskArtifactUpdateEvent)]
    assert artifact.name == "Result"
    text, data = [part.root for part in artifact.parts]
    assert text.text.startswith("MCU Evaluation Result\nCategories: crafting, motion\n")
    assert set(data.data["task_metrics"]) == {"craft_ladder", "look_at_the_sky"}
    assert all("error" not in scores for scores in data.data["task_metrics"].values()), data.data
    task, last = events[-1]
    assert isinstance(task, Task) and task.status.state == TaskState.completed and last.final


def test_what_cannot_be_carried_out_is_rejected(site):
    order = {"participants": {"agent": "http://127.0.0.1:1"}, "config": {"task_category": ["flying"]}}
    task, _ = ordered(site, order, lambda order: TextPart(text=json.dumps(order)))[-1]
    assert task.status.state == TaskState.rejected
    assert "flying" in task.status.message.parts[0].root.text
