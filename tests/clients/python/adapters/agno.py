"""Agno: its toolkit, whose functions are called as its agents call them."""

from contextlib import asynccontextmanager

from agno.tools.mcp import MCPTools
from mcp import StdioServerParameters


@asynccontextmanager
async def connect(place):
    if place.transport == "stdio":
        # If the server is given as a command line, Agno starts only some interpreters.
        process = StdioServerParameters(command=place.command, args=[], env=place.environment)
        tools = MCPTools(transport="stdio", server_params=process)
    else:
        transport = "sse" if place.transport == "sse" else "streamable-http"
        tools = MCPTools(url=place.url, transport=transport)
    async with tools:
        yield Connection(tools)


class Connection:
    def __init__(self, toolkit):
        self.toolkit = toolkit

    async def tools(self):
        return {"function": {name: it.parameters for name, it in self.toolkit.functions.items()}}

    async def call(self, name, arguments, structured):
        result = await self.toolkit.functions[name].entrypoint(**arguments)
        if result.content.startswith("Error from MCP tool"):
            return {"error": result.content}
        metadata = result.metadata or {}
        return {"text": result.content, "structured": metadata.get("structured_content")}
