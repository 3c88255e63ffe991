"""A builder agent: it builds a tower for whatever is asked, on the official SDK for A2A.

    pip install 'a2a-sdk[http-server]' uvicorn
    python builder.py --port 9020

Then have it entered, and let it build:

    buildoff agents add tower http://127.0.0.1:9020 --builds
    buildoff seed --model tower

An agent of your own differs in `build` alone: it gets the prompt and the grid, and returns a spec.
"""

import argparse
import asyncio
import json

import uvicorn
from a2a.helpers.proto_helpers import get_data_parts, new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandlerV2
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette


def build(prompt, grid_size):
    """A tower as high as the grid, with a crown."""
    middle, top = grid_size // 2, grid_size - 4
    half = grid_size // 4
    low, high = middle - half, middle + half - 1
    boxes = [
        {"x1": low, "y1": 0, "z1": low, "x2": high, "y2": top - 3, "z2": high, "type": "stone"},
        {"x1": low - 1, "y1": top - 2, "z1": low - 1, "x2": high + 1, "y2": top, "z2": high + 1, "type": "oak_planks"},
    ]
    lamps = [
        {"x": x, "y": top + 1, "z": z, "type": "glowstone"} for x in (low - 1, high + 1) for z in (low - 1, high + 1)
    ]
    return {"version": "1.0", "boxes": boxes, "lines": [], "blocks": lamps}


class Builder(AgentExecutor):
    async def execute(self, context, event_queue):
        # What is asked for comes twice: in words, as any chat model gets it, and as data.
        orders = [data for data in get_data_parts(context.message.parts) if data.get("type") == "build"]
        if not orders:
            await event_queue.enqueue_event(new_text_message("Send a data part of the type build."))
            return
        await event_queue.enqueue_event(context.current_task or new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work(updater.new_agent_message([new_text_part("laying the first stone")]))
        await asyncio.sleep(0.2)
        # SDKs send whole numbers as floats.
        spec = build(orders[0]["prompt"], int(orders[0]["gridSize"]))
        await updater.add_artifact([new_text_part(json.dumps(spec))], name="build")
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(url):
    interfaces = [
        AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version) for version in ("1.0", "0.3")
    ]
    skill = AgentSkill(id="build", name="Build", description="Builds towers", tags=["voxel"])
    return AgentCard(
        name="Tower",
        description="Builds a tower for whatever is asked.",
        version="1.0.0",
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/plain"],
        skills=[skill],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9020)
    parser.add_argument("--card-url", help="where the agent is reached, if not at host and port")
    arguments = parser.parse_args()
    agent = card(arguments.card_url or f"http://{arguments.host}:{arguments.port}/")
    handler = DefaultRequestHandlerV2(agent_executor=Builder(), task_store=InMemoryTaskStore(), agent_card=agent)
    routes = create_agent_card_routes(agent) + create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)
    uvicorn.run(Starlette(routes=routes), host=arguments.host, port=arguments.port)


if __name__ == "__main__":
    main()
