"""CrewAI: the tools that its agents make of `mcps=[...]`."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

from crewai.mcp import MCPServerHTTP, MCPServerSSE, MCPServerStdio
from crewai.mcp.tool_resolver import MCPToolResolver
from crewai.tools.tool_failure import ToolFailure
from crewai.utilities.logger import Logger

if sys.version_info < (3, 12):
    # CrewAI enters its HTTP transport inside of `wait_for`, and leaves the transport outside of it. Before Python 3.12, `wait_for` runs in
    # another task, and anyio rejects a scope that is entered and left in different tasks.
    async def wait_for(awaitable, timeout):
        async with asyncio.timeout(timeout):
            return await awaitable

    asyncio.wait_for = wait_for


@asynccontextmanager
async def connect(place):
    if place.transport == "stdio":
        server = MCPServerStdio(command=place.command, env=place.environment)
    elif place.transport == "sse":
        server = MCPServerSSE(url=place.url)
    else:
        server = MCPServerHTTP(url=place.url)
    resolver = MCPToolResolver(agent=None, logger=Logger(verbose=False))
    tools = await asyncio.to_thread(resolver.resolve, [server])
    try:
        yield Connection(tools)
    finally:
        await asyncio.to_thread(resolver.cleanup)


class Connection:
    def __init__(self, tools):
        # The tool names of CrewAI begin with the name of the server.
        self.converted = {it.original_tool_name: it for it in tools}

    async def tools(self):
        return {"pydantic": {name: it.args_schema.model_json_schema() for name, it in self.converted.items()}}

    async def call(self, name, arguments, structured):
        text = await asyncio.to_thread(self.converted[name].run, **arguments)
        if isinstance(text, ToolFailure):
            return {"error": text.message}
        if structured:
            return {"structured": json.loads(text)}
        return {"text": text}
