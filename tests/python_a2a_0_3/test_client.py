"""The official SDK of A2A 0.3 as a client of Buildoff."""

import asyncio
import json
import uuid

import httpx
import pytest
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientJSONRPCError
from a2a.types import DataPart, Message, Part, Role, Task, TaskIdParams, TaskQueryParams, TaskState, TextPart

SPEC = {"version": "1.0", "boxes": [{"x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 5, "z2": 27, "type": "oak_planks"}]}


def message(*parts):
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=[Part(root=part) for part in parts])


def with_client(site, use, streaming=True):
    async def run():
        async with httpx.AsyncClient(timeout=60) as http:
            card = await A2ACardResolver(http, site).get_agent_card()
            client = ClientFactory(ClientConfig(streaming=streaming, httpx_client=http)).create(card)
            return await use(client)

    return asyncio.run(run())


async def last_of(events):
    last = None
    async for event in events:
        last = event
    return last


def test_the_card_is_read(site):
    async def run():
        async with httpx.AsyncClient() as http:
            return await A2ACardResolver(http, site).get_agent_card()

    card = asyncio.run(run())
    assert card.protocol_version == "0.3.0"
    assert card.url == f"{site}/a2a"
    assert [skill.id for skill in card.skills] == ["check", "build-rules", "assess"]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("part", [DataPart(data=SPEC), TextPart(text=f"A hut: {json.dumps(SPEC)}")])
def test_a_build_is_checked(site, streaming, part):
    async def use(client):
        task, _ = await last_of(client.send_message(message(part)))
        return task

    task = with_client(site, use, streaming)
    assert isinstance(task, Task)
    assert task.status.state == TaskState.completed
    [artifact] = task.artifacts
    summary, report = [part.root for part in artifact.parts]
    assert summary.text == "Valid: 3456 blocks."
    assert report.data["ok"] is True and report.data["blockCount"] == 3456


def test_rules_come_as_a_message(site):
    async def use(client):
        return await last_of(client.send_message(message(TextPart(text="hello"))))

    answer = with_client(site, use)
    assert isinstance(answer, Message) and answer.role == Role.agent
    assert answer.parts[1].root.data["type"] == "build-rules"


def test_a_task_is_read_again_and_one_that_has_ended_can_neither_be_cancelled_nor_subscribed_to(site):
    async def use(client):
        task, _ = await last_of(client.send_message(message(DataPart(data=SPEC))))
        again = await client.get_task(TaskQueryParams(id=task.id))
        errors = []
        for call in (lambda: client.cancel_task(TaskIdParams(id=task.id)), lambda: client.get_task(TaskQueryParams(id="no"))):
            with pytest.raises(A2AClientJSONRPCError) as caught:
                await call()
            errors.append(caught.value.error.code)
        with pytest.raises(A2AClientJSONRPCError) as caught:
            await last_of(client.resubscribe(TaskIdParams(id=task.id)))
        errors.append(caught.value.error.code)
        return task, again, errors

    task, again, errors = with_client(site, use)
    assert again.artifacts == task.artifacts
    assert errors == [-32002, -32001, -32004]


def test_a_refusal_has_its_code_and_words(site):
    async def use(client):
        with pytest.raises(A2AClientJSONRPCError) as caught:
            await last_of(client.send_message(message(DataPart(data={"skill": "paint"}))))
        return caught.value.error

    for streaming in (True, False):
        error = with_client(site, use, streaming)
        assert error.code == -32602
        assert error.message.startswith('There is no skill "paint".')
