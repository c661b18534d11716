"""Uses an agent of petalflow with the SDK of the Agent Client Protocol: the program, and the folder of the session."""

import asyncio
import sys

import acp
from acp.interfaces import Client
from acp.schema import (
    AllowedOutcome,
    RequestPermissionResponse,
)
from acp.stdio import spawn_agent_process


class Editor(Client):
    """Allows the change of one file, and rejects others."""

    def __init__(self):
        self.text = ""

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        (diff,) = [item for item in tool_call.content if item.type == "diff"]
        name = diff.path.rsplit("/", 1)[-1]
        wanted = "allow_once" if name == "a.md" else "reject_once"
        (option,) = [option for option in options if option.kind == wanted]
        print(name, "allowed" if wanted == "allow_once" else "rejected")
        outcome = AllowedOutcome(outcome="selected", option_id=option.option_id)
        return RequestPermissionResponse(outcome=outcome)

    async def session_update(self, session_id, update, **kwargs):
        if update.session_update == "agent_message_chunk":
            self.text += update.content.text
        if update.session_update == "plan":
            (entry,) = update.entries
            assert (entry.content, entry.status) == ("write", "in_progress")
            print("plan")

    def on_connect(self, connection):
        pass


async def main(program, folder):
    command = [program, "acp", f"{folder}/coder.agent.yaml", "--script", f"{folder}/replies.json"]
    command += ["--store", f"{folder}/acp.db", "--tool", "build=./build.sh"]
    editor = Editor()
    async with spawn_agent_process(editor, *command, cwd=folder) as (agent, _):
        can = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        assert can.agent_capabilities.load_session
        session = await agent.new_session(cwd=folder, mcp_servers=[])
        ended = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("Write.")])
        print(await heard(editor))
        print(ended.stop_reason)
    editor = Editor()
    async with spawn_agent_process(editor, *command, cwd=folder) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        await agent.load_session(cwd=folder, session_id=session.session_id, mcp_servers=[])
        print(await heard(editor))


async def heard(editor):
    """The text, when it is whole: the SDK may handle updates after the answer that follows them."""
    for _ in range(600):
        if editor.text == "Done.":
            break
        await asyncio.sleep(0.05)
    return editor.text


asyncio.run(main(*sys.argv[1:]))
