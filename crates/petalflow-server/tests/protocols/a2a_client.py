import asyncio
import sys
from uuid import uuid4

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, Message, Part, Role, SendMessageRequest,
    SubscribeToTaskRequest, TaskState,
)
from a2a.utils.errors import TaskNotFoundError
from google.protobuf import json_format, struct_pb2

url, token = sys.argv[1:]


def text(parts):
    return "".join(part.text for part in parts)


def request(content, task="", now=False):
    part = Part(text=content) if isinstance(content, str) else Part(data=content)
    message = Message(message_id=str(uuid4()), role=Role.ROLE_USER, task_id=task, parts=[part])
    sent = SendMessageRequest(message=message)
    sent.configuration.return_immediately = now
    return sent


async def task(client, sent):
    last = None
    async for response in client.send_message(sent):
        last = response.task
    return last


def answer(task):
    return "".join(text(artifact.parts) for artifact in task.artifacts)


async def run(binding):
    def say(*words):
        print(binding, *words, flush=True)

    http = httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30)
    config = {"httpx_client": http, "supported_protocol_bindings": [binding]}
    client = await ClientFactory(ClientConfig(streaming=False, **config)).create_from_url(url)
    streaming = await ClientFactory(ClientConfig(streaming=True, **config)).create_from_url(url)

    say("sent:", answer(await task(client, request("hello"))))

    pieces = []
    async for response in streaming.send_message(request("hi")):
        if response.HasField("artifact_update"):
            pieces.append(text(response.artifact_update.artifact.parts))
    say("streamed:", "".join(pieces))

    asked = await task(client, request("wipe"))
    assert asked.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    say("asked:", text(asked.status.message.parts))
    decision = json_format.ParseDict({"approve": True}, struct_pb2.Value())
    say("confirmed:", answer(await task(client, request(decision, task=asked.id))))

    waiting = await task(client, request("wait", now=True))
    # The first subscriber goes away, and another one comes.
    async for response in streaming.subscribe(SubscribeToTaskRequest(id=waiting.id)):
        break
    async for response in streaming.subscribe(SubscribeToTaskRequest(id=waiting.id)):
        if response.HasField("artifact_update"):
            say("subscribed:", text(response.artifact_update.artifact.parts))
            break
    cancelled = await client.cancel_task(CancelTaskRequest(id=waiting.id))
    say("cancelled:", TaskState.Name(cancelled.status.state))

    asked = await task(client, request("wipe"))
    given_up = await client.cancel_task(CancelTaskRequest(id=asked.id))
    say("given up:", TaskState.Name(given_up.status.state))

    failed = await task(client, request("fail"))
    say("failed:", TaskState.Name(failed.status.state))
    try:
        await client.get_task(GetTaskRequest(id="other"))
    except TaskNotFoundError as error:
        say("unknown:", type(error).__name__)
    await task(client, request("more"))
    listed = await client.list_tasks(ListTasksRequest(page_size=2, include_artifacts=True))
    assert len(listed.tasks) == 2 and listed.next_page_token
    say("listed:", listed.total_size)


for binding in ["JSONRPC", "HTTP+JSON"]:
    asyncio.run(run(binding))
