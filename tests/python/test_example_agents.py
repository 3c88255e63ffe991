"""The example agents that act in the block world: they play over A2A, with the official SDK as the client."""

import asyncio
import base64
import io
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import get_message_text, new_text_message
from a2a.types.a2a_pb2 import Role, SendMessageRequest
from PIL import Image
from running_agent import ROOT, running_example

sys.path.insert(0, str(ROOT / "python/src"))

from buildoff.actions import BUTTONS  # noqa: E402
from buildoff.env import WorldEnv  # noqa: E402

KEYS = {*BUTTONS, *(f"hotbar.{slot}" for slot in range(1, 10))}


class Conversation:
    """One conversation with an agent, as an assessment has it."""

    def __init__(self, client):
        self.client = client
        self.context_id = None

    async def ask(self, payload):
        text = json.dumps(payload)
        message = new_text_message(text, context_id=self.context_id, role=Role.ROLE_USER)
        [event] = [event async for event in self.client.send_message(SendMessageRequest(message=message))]
        assert self.context_id in (None, event.message.context_id)
        self.context_id = event.message.context_id
        return json.loads(get_message_text(event.message))

    async def begin(self, text):
        ack = await self.ask({"type": "init", "text": text})
        assert ack == {"type": "ack", "success": True, "message": "ready"}

    async def act(self, step, picture):
        action = await self.ask({"type": "obs", "step": step, "obs": base64.b64encode(jpeg(picture)).decode()})
        assert action.pop("type") == "action"
        return action


def jpeg(picture):
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=95)
    return file.getvalue()


def converse(url, use, streaming=True):
    """What is done with a client of the agent at an address."""

    async def run():
        async with httpx.AsyncClient(timeout=60) as http:
            card = await A2ACardResolver(http, url).get_agent_card()
            assert [interface.protocol_version for interface in card.supported_interfaces] == ["1.0", "0.3"]
            assert {interface.url for interface in card.supported_interfaces} == {f"{url}/"}
            return await use(ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card))

    return asyncio.run(run())


def as_minerl(action):
    """An action by keys as the environment takes it. Nothing else may be in it."""
    assert set(action) == {"keys", "turn"} and set(action["turn"]) <= {"yaw", "pitch"}
    assert set(action["keys"]) <= KEYS
    turn = [action["turn"].get(axis, 0.0) for axis in ("pitch", "yaw")]
    assert all(abs(angle) <= 180 for angle in turn)
    return {**dict.fromkeys(action["keys"], 1), "camera": turn}


def as_compact(action):
    """An action of two numbers as the environment takes it."""
    assert set(action) == {"buttons", "camera"}
    [buttons], [camera] = action["buttons"], action["camera"]
    assert isinstance(buttons, int) and isinstance(camera, int)
    return buttons, camera


def play(url, env, seed, steps, read, streaming=True):
    """Plays so many steps of a task; returns the answers and what the world said at the end."""

    async def run(client):
        conversation = Conversation(client)
        picture, info = env.reset(seed=seed)
        await conversation.begin(env.text)
        actions = []
        for step in range(steps):
            action = await conversation.act(step, picture)
            picture, _, _, _, info = env.step(read(action))
            actions.append(action)
        return actions, info

    return converse(url, run, streaming)


@pytest.fixture(scope="module")
def scripted():
    with running_example("scripted.py") as url:
        yield url


# Recordings are on seeds 1 to 3; assessments never draw these.
@pytest.mark.parametrize("seed", [4, 12])
@pytest.mark.parametrize(
    ("task", "steps"), [("craft_the_crafting_table", 34), ("look_at_the_sky", 24), ("build_pillar", 113)]
)
def test_the_scripted_agent_solves_its_tasks_on_seeds_that_it_has_not_seen(scripted, task, steps, seed):
    env = WorldEnv(task=task, action_space="minerl", stop_when_done=False)
    _, info = play(scripted, env, seed, steps, as_minerl, streaming=seed == 4)
    assert info["score"] == 10.0, info["progress"]
    assert info["screen"] is None
    env.close()


def test_the_scripted_agent_rests_in_tasks_that_it_does_not_know(scripted):
    env = WorldEnv(task="throw_a_snowball", action_space="minerl", stop_when_done=False)
    actions, info = play(scripted, env, 5, 10, as_minerl)
    assert all(action["keys"] == [] for action in actions)
    assert info["score"] == 0.0
    env.close()


def test_two_runs_at_once_do_not_mix(scripted):
    async def run(client):
        sky, table = Conversation(client), Conversation(client)
        await sky.begin("Look up at the sky for a second.")
        await table.begin("Craft a crafting table out of oak logs.")
        env = WorldEnv(task="look_at_the_sky", action_space="minerl")
        picture, _ = env.reset(seed=4)
        env.close()
        return await sky.act(0, picture), await table.act(0, picture)

    sky, table = converse(scripted, run)
    assert sky["turn"]["pitch"] == -80.0 and table["keys"] == ["inventory"]


@pytest.mark.parametrize("script", ["noop.py", "random_agent.py"])
def test_noop_and_random_answer_legal_actions(script):
    with running_example(script) as url:
        env = WorldEnv(task="collect_dirt", action_space="compact", stop_when_done=False)
        actions, _ = play(url, env, 4, 50, as_compact)
        env.close()
    different = len({json.dumps(action) for action in actions})
    assert different == 1 if script == "noop.py" else different > 40


def test_a_seed_makes_the_random_agent_repeat_itself():
    with running_example("random_agent.py", "--seed", "7") as url:
        env = WorldEnv(task="collect_dirt", action_space="compact", stop_when_done=False)
        first, second = (play(url, env, 4, 5, as_compact)[0] for _ in range(2))
        env.close()
    assert first == second


def test_what_is_no_message_of_a_run_is_refused_in_words():
    with running_example("noop.py") as url:

        async def run(client):
            return [await Conversation(client).ask(payload) for payload in ([], {}, {"type": "obs", "step": 0, "obs": ""})]

        for answer in converse(url, run):
            assert answer["type"] == "ack" and answer["success"] is False and answer["message"]


def test_the_agents_speak_the_older_version_too():
    part = {"kind": "text", "text": json.dumps({"type": "init", "text": "Drop an item."})}
    message = {"kind": "message", "messageId": "1", "role": "user", "parts": [part]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    with running_example("noop.py") as url:
        [part] = httpx.post(url, json=call).json()["result"]["parts"]
    assert part["kind"] == "text" and json.loads(part["text"])["success"] is True


def test_the_card_names_the_address_that_it_is_told():
    with running_example("noop.py", "--card-url", "http://agent.example:9019/") as url:
        card = httpx.get(f"{url}/.well-known/agent-card.json").json()
    assert card["supportedInterfaces"][0]["url"] == card["url"] == "http://agent.example:9019/"


ANSWERS = [
    'I walk.\n{"why": "trees", "keys": ["forward", "sprint", "fly"], "turn": {"yaw": 30, "roll": 5}, "steps": 3}',
    "I cannot say.",
    500,
    '{"keys": [], "turn": {"yaw": 1e999, "pitch": -900}, "steps": 99}',
    '{"keys": ["attack"], "turn": {}, "steps": 2}',
]


class ChatCompletions(BaseHTTPRequestHandler):
    """A provider that answers one thing after the other, and takes nothing but exact requests."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        number = len(self.server.requests)
        self.server.requests.append(body)
        try:
            self.check(body)
            answer = ANSWERS[number]
        except (AssertionError, ValueError, KeyError, IndexError, TypeError) as problem:
            self.server.problems.append(repr(problem))
            answer = 400
        if isinstance(answer, int):
            return self.send_error(answer)
        reply = {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": answer}}]}
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def check(self, body):
        assert self.path == "/v1/chat/completions", self.path
        assert self.headers["Authorization"] == "Bearer not a real key"
        assert self.headers["Content-Type"] == "application/json"
        assert set(body) == {"model", "messages"} and body["model"] == "seer-1"
        first, *history, last = body["messages"]
        assert first["role"] == "system" and "Fell trees and collect at least ten logs." in first["content"]
        assert [message["role"] for message in history] == ["user", "assistant"] * (len(history) // 2)
        for message in history[::2]:
            [text] = message["content"]
            assert text["type"] == "text"
        assert all(isinstance(message["content"], str) for message in history[1::2])
        assert last["role"] == "user"
        text, image = last["content"]
        assert text["type"] == "text" and set(image) == {"type", "image_url"} and image["type"] == "image_url"
        kind, data = image["image_url"]["url"].split(",")
        assert kind == "data:image/jpeg;base64"
        picture = Image.open(io.BytesIO(base64.b64decode(data, validate=True)))
        assert (picture.format, picture.size, picture.mode) == ("JPEG", (128, 128), "RGB")

    def log_message(self, *_):
        pass


@pytest.fixture
def provider():
    server = ThreadingHTTPServer(("127.0.0.1", 0), ChatCompletions)
    server.requests, server.problems = [], []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_llm_agent_asks_a_model_holds_its_keys_and_keeps_to_its_budget(provider, monkeypatch):
    monkeypatch.setenv("SEER_KEY", "not a real key")
    base_url = f"http://127.0.0.1:{provider.server_port}/v1/"
    options = ["--model", "seer-1", "--base-url", base_url, "--key-variable", "SEER_KEY", "--max-requests", "5"]
    with running_example("llm.py", *options) as url:
        env = WorldEnv(task="collect_wood", action_space="minerl", stop_when_done=False)
        actions, _ = play(url, env, 4, 40, as_minerl)
        env.close()
    assert provider.problems == []
    assert len(provider.requests) == len(ANSWERS)

    def held(keys, steps, **turn):
        return [{"keys": keys, "turn": turn}, *[{"keys": keys, "turn": {}}] * (steps - 1)]

    walk = held(["forward", "sprint"], 3, yaw=30.0, pitch=0.0)
    silence = held([], 2)  # nothing that can be read, and then an error
    look = held([], 20, pitch=-180.0)
    dig = held(["attack"], 2, yaw=0.0, pitch=0.0)
    rest = held(["attack"], 40 - 3 - 2 - 20 - 2)
    assert actions == walk + silence + look + dig + rest

    # Each answer that was given is in the history of the later requests; the failed one is not.
    said = [message["content"] for message in provider.requests[-1]["messages"] if message["role"] == "assistant"]
    assert said == [ANSWERS[0], ANSWERS[1], ANSWERS[3]]
