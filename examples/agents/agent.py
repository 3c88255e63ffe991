"""What the example agents share: an A2A server, and the messages of a run.

A run is one conversation. Each message is JSON in a text part:

    {"type": "init", "text": "Build a pillar …"}          ->  {"type": "ack", "success": true, "message": "…"}
    {"type": "obs", "step": 0, "obs": "<base64 of a JPEG>"}  ->  {"type": "action", …}

An agent is a class. It is made for each run, with the text of the task, and its `act` gets what is seen and answers with an
action, as a dictionary in one of the formats that README.md lists.
"""

import argparse
import asyncio
import base64
import json
from collections import OrderedDict

import uvicorn
from a2a.helpers.proto_helpers import get_message_text, new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandlerV2
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

# A run that is given up says no goodbye, so that the oldest ones are forgotten.
MAX_RUNS = 64


class Player(AgentExecutor):
    """Answers each message by the run that it belongs to."""

    def __init__(self, new_run):
        self.new_run = new_run
        self.runs = OrderedDict()

    async def execute(self, context, event_queue):
        try:
            answer = await self.answer(context.context_id, json.loads(get_message_text(context.message)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            answer = {"type": "ack", "success": False, "message": f"{type(error).__name__}: {error}"}
        await event_queue.enqueue_event(new_text_message(json.dumps(answer), context_id=context.context_id))

    async def answer(self, context_id, message):
        if message["type"] == "init":
            self.runs[context_id] = self.new_run(message["text"])
            while len(self.runs) > MAX_RUNS:
                self.runs.popitem(last=False)
            return {"type": "ack", "success": True, "message": "ready"}
        picture = base64.b64decode(message["obs"])
        # An agent may think for long; other runs and the card are answered meanwhile.
        action = await asyncio.to_thread(self.runs[context_id].act, picture, message["step"])
        return {"type": "action", **action}

    async def cancel(self, context, event_queue):
        """Every message is answered at once, so there is nothing to cancel."""


def card(name, description, url):
    versions = ("1.0", "0.3")
    interfaces = [AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version) for version in versions]
    skill = AgentSkill(id="play", name="Play", description="Acts in a block world", tags=["voxel"])
    return AgentCard(
        name=name,
        description=description,
        version="1.0.0",
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[skill],
    )


def parser(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9019)
    parser.add_argument("--card-url", help="where the agent is reached, if not at host and port")
    return parser


def serve(new_run, name, description, arguments):
    """Serves until it is stopped. `new_run` makes the agent of a run out of the text of its task."""
    agent = card(name, description, arguments.card_url or f"http://{arguments.host}:{arguments.port}/")
    handler = DefaultRequestHandlerV2(agent_executor=Player(new_run), task_store=InMemoryTaskStore(), agent_card=agent)
    routes = create_agent_card_routes(agent) + create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)
    uvicorn.run(Starlette(routes=routes), host=arguments.host, port=arguments.port, log_level="warning")
