"""openai-agents: its three kinds of server, and the tools of its agents, strict and not."""

import json
from contextlib import asynccontextmanager

from agents.mcp import MCPServerSse, MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from agents.tool_context import ToolContext


@asynccontextmanager
async def connect(place):
    options = {"client_session_timeout_seconds": 30, "failure_error_function": None}
    if place.transport == "stdio":
        server = MCPServerStdio({"command": place.command, "env": place.environment}, **options)
    else:
        kind = MCPServerSse if place.transport == "sse" else MCPServerStreamableHttp
        params = {"url": place.url}
        if place.login:
            params["auth"] = place.oauth()
        server = kind(params, **options)
    async with server:
        yield Connection(server)


class Connection:
    def __init__(self, server):
        self.server = server

    async def converted(self, strict):
        tools = await self.server.list_tools()
        return {it.name: MCPUtil.to_function_tool(it, self.server, strict) for it in tools}

    async def tools(self):
        forms = {"plain": await self.converted(False), "strict": await self.converted(True)}
        return {
            form: {name: it.params_json_schema for name, it in tools.items()}
            for form, tools in forms.items()
        }

    async def call(self, name, arguments, structured):
        self.server.use_structured_content = structured
        tool = (await self.converted(False))[name]
        text = json.dumps(arguments)
        context = ToolContext(context=None, tool_name=name, tool_call_id="1", tool_arguments=text)
        answer = await tool.on_invoke_tool(context, text)
        if structured:
            return {"structured": json.loads(answer)}
        return {"text": answer["text"] if isinstance(answer, dict) else json.dumps(answer)}
