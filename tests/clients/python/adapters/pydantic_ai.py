"""Pydantic AI: its toolset, called as its agents call it, with a model that only tests use."""

from contextlib import asynccontextmanager

from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from pydantic_ai import RunContext, RunUsage
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.test import TestModel
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer


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

    toolset = MCPToolset(
        transport,
        elicitation_handler=on_elicitation,
        progress_handler=place.on_progress,
        tool_error_behavior="error",
    )
    async with toolset:
        yield Connection(toolset)


class Connection:
    def __init__(self, toolset):
        self.toolset = toolset
        self.context = RunContext(deps=None, model=TestModel(), usage=RunUsage())

    async def tools(self):
        tools = await self.toolset.get_tools(self.context)
        plain = {name: it.tool_def.parameters_json_schema for name, it in tools.items()}
        strict = {name: OpenAIJsonSchemaTransformer(it, strict=True).walk() for name, it in plain.items()}
        return {"plain": plain, "strict": strict}

    async def call(self, name, arguments, structured):
        tool = (await self.toolset.get_tools(self.context))[name]
        valid = tool.args_validator.validate_python(arguments)
        result = await self.toolset.call_tool(name, valid, self.context, tool)
        if structured:
            return {"structured": result}
        return {"text": result if isinstance(result, str) else str(result)}
