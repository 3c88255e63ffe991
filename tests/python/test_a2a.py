"""The official SDK of A2A 1.0 as a client of Buildoff."""

import asyncio
import json

import httpx
import pytest
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import get_data_parts, get_raw_parts, new_data_part, new_message, new_raw_part, new_text_part
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import A2AError, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError

SPEC = {"version": "1.0", "boxes": [{"x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 5, "z2": 27, "type": "oak_planks"}]}


def request(*parts, context_id=None):
    return SendMessageRequest(message=new_message(list(parts), context_id=context_id, role=Role.ROLE_USER))


def with_client(site, use, **config):
    async def run():
        async with httpx.AsyncClient(timeout=60) as http:
            card = await A2ACardResolver(http, site).get_agent_card()
            client = ClientFactory(ClientConfig(httpx_client=http, **config)).create(card)
            return await use(client)

    return asyncio.run(run())


async def task_of(client, sent):
    """The task as it is when the stream has ended."""
    id = None
    async for event in client.send_message(sent):
        id = id or event.task.id
    return await client.get_task(GetTaskRequest(id=id))


def test_the_card_is_read(site):
    async def use(client):
        return client._card

    card = with_client(site, use)
    versions = [(interface.protocol_binding, interface.protocol_version) for interface in card.supported_interfaces]
    assert versions == [("JSONRPC", "1.0"), ("JSONRPC", "0.3")]
    assert card.supported_interfaces[0].url == f"{site}/a2a"
    assert [skill.id for skill in card.skills] == ["check", "build-rules", "assess"]


@pytest.mark.parametrize("config", [{"streaming": True}, {"streaming": False}, {"streaming": False, "polling": True}])
@pytest.mark.parametrize("part", [new_data_part(SPEC), new_text_part(f"A hut: {json.dumps(SPEC)}"), new_raw_part(json.dumps(SPEC).encode(), filename="hut.json")])
def test_a_build_is_checked(site, config, part):
    async def use(client):
        task = await task_of(client, request(part))
        while task.status.state in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING):
            task = await client.get_task(GetTaskRequest(id=task.id))
        return task

    task = with_client(site, use, **config)
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    [artifact] = task.artifacts
    assert artifact.parts[0].text == "Valid: 3456 blocks."
    [report] = get_data_parts(artifact.parts)
    assert report["ok"] is True and report["blockCount"] == 3456


def test_numbers_that_became_floats_name_a_grid_and_a_picture_comes_along(site):
    async def use(client):
        return await task_of(client, request(new_data_part(SPEC), new_data_part({"gridSize": 64, "picture": True})))

    [artifact] = with_client(site, use).artifacts
    assert get_data_parts(artifact.parts)[0]["gridSize"] == 64
    assert get_raw_parts(artifact.parts)[0].startswith(b"\x89PNG")


def test_rules_come_as_a_message(site):
    async def use(client):
        return [event async for event in client.send_message(request(new_text_part("hello")))]

    [event] = with_client(site, use)
    assert event.message.role == Role.ROLE_AGENT
    assert get_data_parts(event.message.parts)[0]["type"] == "build-rules"


def test_tasks_are_listed_by_their_context(site):
    async def use(client):
        first = await task_of(client, request(new_data_part(SPEC), context_id="listed"))
        second = await task_of(client, request(new_data_part(SPEC), context_id="listed"))
        page = await client.list_tasks(ListTasksRequest(context_id="listed", page_size=1))
        rest = await client.list_tasks(ListTasksRequest(context_id="listed", page_size=1, page_token=page.next_page_token))
        return [second.id, first.id], page, rest

    ids, page, rest = with_client(site, use)
    assert [page.tasks[0].id, rest.tasks[0].id] == ids
    assert (page.total_size, rest.next_page_token) == (2, "")


def test_errors_are_those_of_the_sdk(site):
    async def use(client):
        task = await task_of(client, request(new_data_part(SPEC)))
        with pytest.raises(TaskNotCancelableError):
            await client.cancel_task(CancelTaskRequest(id=task.id))
        with pytest.raises(TaskNotFoundError):
            await client.get_task(GetTaskRequest(id="no"))
        with pytest.raises(UnsupportedOperationError):
            async for _ in client.subscribe(SubscribeToTaskRequest(id=task.id)):
                pass
        with pytest.raises(A2AError) as caught:
            await task_of(client, request(new_data_part({"skill": "paint"})))
        return str(caught.value)

    assert 'There is no skill "paint"' in with_client(site, use)
