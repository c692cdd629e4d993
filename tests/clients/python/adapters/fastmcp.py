"""FastMCP's client."""

from contextlib import asynccontextmanager

from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport


@asynccontextmanager
async def connect(place):
    if place.transport == "stdio":
        transport = StdioTransport(place.command, [], env=place.environment, keep_alive=False)
    else:
        kind = SSETransport if place.transport == "sse" else StreamableHttpTransport
        transport = kind(place.url, auth=place.oauth() if place.login else None)

    async def on_elicitation(message, kind, params, context):
        place.asked.append(message)
        return kind(username="ada", email="ada@example.com")

    async with Client(transport, elicitation_handler=on_elicitation, progress_handler=place.on_progress) as client:
        yield Connection(client)


class Connection:
    def __init__(self, client):
        self.client = client

    async def tools(self):
        return {"MCP": {it.name: it.input_schema for it in await self.client.list_tools()}}

    async def call(self, name, arguments, structured):
        result = await self.client.call_tool(name, arguments)
        return {"text": "".join(it.text for it in result.content), "structured": result.structured_content}
