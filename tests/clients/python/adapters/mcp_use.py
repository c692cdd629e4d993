"""mcp-use for Python: its client, and its tools for LangChain."""

from contextlib import asynccontextmanager

from mcp_use import MCPClient
from mcp_use.agents.adapters.langchain_adapter import LangChainAdapter


@asynccontextmanager
async def connect(place):
    if place.transport == "stdio":
        server = {"command": place.command, "args": [], "env": place.environment}
    else:
        server = {"url": place.url}
        if place.transport == "sse":
            server["transport"] = "sse"
        if place.login:
            server["auth"] = place.oauth()
    client = MCPClient({"mcpServers": {"server": server}}, elicitation_callback=place.on_elicitation)
    await client.create_all_sessions()
    try:
        adapter = LangChainAdapter()
        await adapter.create_all(client)
        session = client.get_session("server")
        yield Connection({it.name: it for it in adapter.tools}, session)
    finally:
        await client.close_all_sessions()


class Connection:
    def __init__(self, converted, session):
        self.converted, self.session = converted, session

    async def tools(self):
        return {"pydantic": {name: it.args_schema.model_json_schema() for name, it in self.converted.items()}}

    async def call(self, name, arguments, structured):
        if structured:
            result = await self.session.call_tool(name, arguments)
            return {"structured": result.structuredContent}
        answer = await self.converted[name].ainvoke(arguments)
        if isinstance(answer, dict) and "error" in answer:
            return {"error": str(answer)}
        return {"text": str(answer)}
