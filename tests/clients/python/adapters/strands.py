"""Strands Agents: its client, whose tools are sent through `stream` as its event loop does."""

import asyncio
from contextlib import asynccontextmanager

from mcp import StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from strands.tools.mcp import MCPClient
from strands.tools.mcp._compat import streamable_http_transport


@asynccontextmanager
async def connect(place):
    def transport():
        if place.transport == "stdio":
            return stdio_client(StdioServerParameters(command=place.command, env=place.environment))
        auth = place.oauth() if place.login else None
        if place.transport == "sse":
            return sse_client(place.url, auth=auth)
        return streamable_http_transport(place.url, auth=auth)

    client = MCPClient(
        transport,
        startup_timeout=20,
        elicitation_callback=place.on_elicitation,
        progress_callback=place.on_progress,
    )
    await asyncio.to_thread(client.start)
    try:
        yield Connection(client)
    finally:
        await asyncio.to_thread(client.stop, None, None, None)


class Connection:
    def __init__(self, client):
        self.client = client

    async def listed(self):
        return {it.tool_name: it for it in await asyncio.to_thread(self.client.list_tools_sync)}

    async def tools(self):
        return {"Bedrock": {name: it.tool_spec["inputSchema"]["json"] for name, it in (await self.listed()).items()}}

    async def call(self, name, arguments, structured):
        tool = (await self.listed())[name]
        use = {"toolUseId": "1", "name": name, "input": arguments}
        [event] = [it async for it in tool.stream(use, {})]
        result = event.tool_result
        text = "".join(it.get("text", "") for it in result["content"])
        if result["status"] != "success":
            return {"error": text}
        return {"text": text, "structured": result.get("structuredContent")}
