"""smolagents: its client, and its tools as the code that its agents read."""

import ast
import asyncio
from contextlib import asynccontextmanager

from mcp import StdioServerParameters
from smolagents import MCPClient


@asynccontextmanager
async def connect(place):
    if place.transport == "stdio":
        server = StdioServerParameters(command=place.command, env=place.environment)
    else:
        transport = "sse" if place.transport == "sse" else "streamable-http"
        server = {"url": place.url, "transport": transport}
        if place.login:
            server["auth"] = place.oauth()
    options = {"connect_timeout": 20, "client_session_timeout_seconds": 20.0}
    plain = await asyncio.to_thread(MCPClient, server, options, False)
    try:
        yield Connection(server, options, plain)
    finally:
        await asyncio.to_thread(plain.disconnect)


class Connection:
    def __init__(self, server, options, client):
        self.server, self.options, self.client = server, options, client

    async def tools(self):
        tools = {it.name: it for it in self.client.get_tools()}
        for name, tool in tools.items():
            # The prompt of a code agent shows a tool as the head of a function.
            try:
                ast.parse(tool.to_code_prompt())
            except SyntaxError as error:
                raise ValueError(f"the code of `{name}` is no Python: {error.text}") from error
        # The adapter resolves references lazily, and a model gets the resolved schema.
        schemas = {name: {"type": "object", "properties": resolved(it.inputs)} for name, it in tools.items()}
        return {"inputs": schemas}

    async def call(self, name, arguments, structured):
        def call(client):
            [tool] = [it for it in client.get_tools() if it.name == name]
            return tool(**arguments)

        if not structured:
            return {"text": str(await asyncio.to_thread(call, self.client))}
        client = await asyncio.to_thread(MCPClient, self.server, self.options, True)
        try:
            return {"structured": await asyncio.to_thread(call, client)}
        finally:
            await asyncio.to_thread(client.disconnect)


def resolved(value):
    if isinstance(value, dict):
        return {name: resolved(it) for name, it in value.items()}
    return [resolved(it) for it in value] if isinstance(value, list) else value
