"""LlamaIndex: its client and its tool specification, whose tools are models of pydantic."""

from contextlib import asynccontextmanager

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


@asynccontextmanager
async def connect(place):
    if place.transport == "stdio":
        client = BasicMCPClient(place.command, env=place.environment)
    else:
        client = BasicMCPClient(place.url, auth=place.oauth() if place.login else None)
    yield Connection(client, place)


class Connection:
    """The client connects anew for each request."""

    def __init__(self, client, place):
        self.client, self.place = client, place

    async def converted(self):
        tools = await McpToolSpec(client=self.client).to_tool_list_async()
        return {it.metadata.name: it for it in tools}

    async def tools(self):
        tools = await self.converted()
        return {"pydantic": {name: it.metadata.fn_schema.model_json_schema() for name, it in tools.items()}}

    async def call(self, name, arguments, structured):
        if name == "test_tool_with_progress":
            # Only the client can receive progress reports. The tools cannot.
            result = await self.client.call_tool(name, arguments, self.place.on_progress)
        else:
            output = await (await self.converted())[name].acall(**arguments)
            result = output.raw_output
        text = "".join(getattr(it, "text", "") for it in result.content)
        return {"error": text} if result.is_error else {"text": text, "structured": result.structured_content}
