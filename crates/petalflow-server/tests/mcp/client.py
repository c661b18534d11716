import asyncio, json, sys
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult


def connect(**options):
    http = httpx2.AsyncClient(headers={"Authorization": "Bearer " + sys.argv[2]}, timeout=60)
    return Client(streamable_http_client(sys.argv[1], http_client=http), **options)


async def elicit(context, params):
    return ElicitResult(action="accept", content={"pays": True})


async def seen(mode):
    async with connect(mode=mode, elicitation_callback=elicit) as client:
        tools = await client.list_tools()
        paid = (await client.call_tool("refunds", {"cents": 7})).structured_content
        failed = await client.call_tool("refunds", {"cents": 0})
        said = await client.call_tool("helper", {"text": "hello"})
    async with connect(mode=mode) as client:
        waiting = (await client.call_tool("refunds", {"cents": 7})).structured_content
        question = waiting["waits"][0]["id"]
        answer = {"thread": waiting["thread"], "question": question, "answer": {"answer": {"pays": False}}}
        answered = (await client.call_tool("answer", answer)).structured_content
    return {
        "tools": sorted(tool.name for tool in tools.tools),
        "paid": [paid["status"], paid["state"]["paid"]],
        "failed": failed.is_error,
        "said": said.content[0].text,
        "waiting": waiting["status"],
        "answered": answered["status"],
    }


async def main():
    print(json.dumps({mode: await seen(mode) for mode in ["auto", "legacy"]}))


asyncio.run(main())
