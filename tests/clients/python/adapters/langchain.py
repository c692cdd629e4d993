"""LangChain: the adapter's tools, invoked as its agents invoke them."""

from contextlib import asynccontextmanager

from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools


@asynccontextmanager
async def connect(place):
    if place.transport == "stdio":
        server = {"transport": "stdio", "command": place.command, "args": [], "env": place.environment}
    else:
        transport = "sse" if place.transport == "sse" else "streamable_http"
        server = {"transport": transport, "url": place.url}
        if place.login:
            server["auth"] = place.oauth()
    callbacks = Callbacks(on_progress=place.on_progress, on_elicitation=place.on_elicitation)
    client = MultiServerMCPClient({"server": server}, callbacks=callbacks)
    async with client.session("server") as session:
        tools = await load_mcp_tools(session, callbacks=callbacks, server_name="server")
        yield Connection({it.name: it for it in tools})


class Connection:
    def __init__(self, converted):
        self.converted = converted

    async def tools(self):
        forms = {"plain": None, "strict": True}
        return {
            form: {
                name: convert_to_openai_tool(it, strict=strict)["function"]["parameters"]
                for name, it in self.converted.items()
            }
            for form, strict in forms.items()
        }

    async def call(self, name, arguments, structured):
        call = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
        message = await self.converted[name].ainvoke(call)
        if message.status == "error":
            return {"error": message.text}
        artifact = message.artifact or {}
        return {"text": message.text, "structured": artifact.get("structured_content")}
