"""Agent Development Kit: its toolset, whose tools are run as its agents run them."""

from contextlib import asynccontextmanager
from unittest.mock import MagicMock

from google.adk.tools.mcp_tool.mcp_session_manager import (
    SseConnectionParams,
    StdioConnectionParams,
    StreamableHTTPConnectionParams,
)
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
from google.adk.tools.tool_context import ToolContext
from mcp import StdioServerParameters


@asynccontextmanager
async def connect(place):
    if place.transport == "stdio":
        process = StdioServerParameters(command=place.command, env=place.environment)
        params = StdioConnectionParams(server_params=process, timeout=20)
    elif place.transport == "sse":
        params = SseConnectionParams(url=place.url, timeout=20)
    else:
        params = StreamableHTTPConnectionParams(url=place.url, timeout=20)
    toolset = McpToolset(
        connection_params=params,
        progress_callback=place.on_progress,
        elicitation_callback=place.on_elicitation,
    )
    try:
        yield Connection(toolset, await toolset.get_tools())
    finally:
        await toolset.close()


class Connection:
    def __init__(self, toolset, listed):
        self.toolset, self.listed = toolset, {it.name: it for it in listed}

    async def tools(self):
        schemas = {}
        for it in await self.toolset.get_tools():
            declaration = it._get_declaration()
            schema = declaration.parameters_json_schema or declaration.parameters.model_dump(mode="json", exclude_none=True)
            schemas[it.name] = schema
        return {"declaration": schemas}

    async def call(self, name, arguments, structured):
        context = MagicMock(spec=ToolContext)
        context.tool_confirmation = None
        result = await self.listed[name].run_async(args=arguments, tool_context=context)
        text = "".join(it.get("text", "") for it in result.get("content", []))
        if result.get("isError") or "error" in result:
            return {"error": text or str(result)}
        return {"text": text, "structured": result.get("structuredContent")}
