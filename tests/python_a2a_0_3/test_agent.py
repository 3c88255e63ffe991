"""An agent on the official SDK of A2A 0.3, which Buildoff asks."""

import asyncio
import contextlib
import json
import threading

import httpx
import pytest
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_task

SPEC = {"version": "1.0", "boxes": [{"x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 5, "z2": 27, "type": "oak_planks"}]}


class Builder(AgentExecutor):
    """The first answer of each conversation is wrong, so that it is asked again in the same one."""

    def __init__(self):
        self.contexts = []
        self.cancelled = threading.Event()

    async def execute(self, context, event_queue):
        task = context.current_task or new_task(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        order = next(part.root.data for part in context.message.parts if part.root.kind == "data")
        await updater.start_work(updater.new_agent_message([Part(root=TextPart(text="sawing planks"))]))
        while order["prompt"] == "a cathedral" and not self.cancelled.is_set():
            await asyncio.sleep(0.05)
        is_first = task.context_id not in self.contexts
        self.contexts.append(task.context_id)
        text = json.dumps(SPEC).replace("oak_planks", "cheese" if is_first else "oak_planks")
        half = len(text) // 2
        pieces = [text[:half], text[half:]]
        for number, piece in enumerate(pieces):
            is_last = number + 1 == len(pieces)
            await updater.add_artifact(
                [Part(root=TextPart(text=piece))], artifact_id="build", append=number > 0, last_chunk=is_last
            )
        await updater.complete()

    async def cancel(self, context, event_queue):
        self.cancelled.set()
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


@pytest.fixture(scope="module", params=[True, False], ids=["streaming", "polled"])
def agent(request):
    builder = Builder()
    with serving(builder, request.param) as url:
        yield builder, url


@contextlib.contextmanager
def serving(executor, streams):
    """The address of an agent that does what an executor says."""
    card = card_of(streams)
    handler = DefaultRequestHandler(agent_executor=executor, task_store=InMemoryTaskStore())
    app = A2AStarletteApplication(agent_card=card, http_handler=handler).build()
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    port = server.servers[0].sockets[0].getsockname()[1]
    card.url = f"http://127.0.0.1:{port}/"
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


def card_of(streams):
    skill = AgentSkill(id="build", name="Build", description="Builds huts", tags=["voxel"])
    return AgentCard(
        name="Hut",
        description="Builds huts.",
        version="1.0.0",
        url="http://127.0.0.1/",
        capabilities=AgentCapabilities(streaming=streams),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[skill],
    )


def wanted(url, prompt):
    models = [{"agent": url}, {"agent": f"{url}/another"}]
    return {"prompt": prompt, "gridSize": 32, "palette": "simple", "models": models, "only": "a"}


def test_it_builds_and_is_asked_again_in_the_same_context(site, agent):
    builder, url = agent
    with httpx.stream("POST", f"{site}/api/generate", json=wanted(url, "a hut"), timeout=120) as answer:
        events = [json.loads(line) for line in answer.iter_lines() if line]
    result = next((event for event in events if event["type"] == "result"), None)
    assert result and result["metrics"]["attempts"] == 2, events
    assert len(builder.contexts) == 2 and len(set(builder.contexts)) == 1, builder.contexts
    reasons = [event["reason"] for event in events if event["type"] == "retry"]
    assert reasons == ["the grid contains no blocks"], reasons


def test_work_that_nobody_waits_for_is_cancelled_at_the_agent(site, agent):
    builder, url = agent
    with httpx.stream("POST", f"{site}/api/generate", json=wanted(url, "a cathedral"), timeout=120) as answer:
        for line in answer.iter_lines():
            if line and json.loads(line).get("note") == "sawing planks":
                break
    assert builder.cancelled.wait(30)
    builder.cancelled.clear()
