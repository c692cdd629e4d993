"""google-genai: `tools=[session]`, with the session of the Python SDK that it is given.

The options name tools that the client cannot convert. The session leaves them out, since the client would drop all tools with them.
"""

from contextlib import AsyncExitStack, asynccontextmanager

from google.genai import _extra_utils, types
from google.genai._adapters import McpToGenAiToolAdapter
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import ListToolsResult


@asynccontextmanager
async def connect(place):
    async with AsyncExitStack() as stack:
        if place.transport == "stdio":
            transport = stdio_client(StdioServerParameters(command=place.command, env=place.environment))
        elif place.transport == "sse":
            transport = sse_client(place.url, auth=place.oauth() if place.login else None)
        else:
            auth = place.oauth() if place.login else None
            http = await stack.enter_async_context(create_mcp_http_client(auth=auth))
            transport = streamable_http_client(place.url, http_client=http)
        streams = await stack.enter_async_context(transport)
        session = Session(*streams[:2], elicitation_callback=place.on_elicitation)
        session.unfit = place.options
        await stack.enter_async_context(session)
        await session.initialize()
        yield Connection(session)


class Session(ClientSession):
    """A session that lists only the tools that the client can convert."""

    async def list_tools(self, *args, **kwargs):
        listed = await super().list_tools(*args, **kwargs)
        self.left_out = [it for it in listed.tools if it.name in self.unfit]
        fit = [it for it in listed.tools if it.name not in self.unfit]
        return listed.model_copy(update={"tools": fit})


class Connection:
    """The steps of `generate_content` before and after the model."""

    def __init__(self, session):
        self.session = session

    async def converted(self):
        config = types.GenerateContentConfig(tools=[self.session])
        return await _extra_utils.parse_config_for_mcp_sessions(config)

    async def tools(self):
        config, _ = await self.converted()
        declared = [it for tool in config.tools for it in tool.function_declarations]
        schemas = {it.name: it.parameters.model_dump(mode="json", exclude_none=True) for it in declared}
        for tool in self.session.left_out:
            if is_converted(self.session, tool):
                raise ValueError(f"the client converts `{tool.name}` now: it need not be left out")
            schemas[tool.name] = {}
        return {"Gemini": schemas}

    async def call(self, name, arguments, structured):
        _, adapters = await self.converted()
        call = types.Part(function_call=types.FunctionCall(name=name, args=arguments))
        model = types.Content(role="model", parts=[call])
        response = types.GenerateContentResponse(candidates=[types.Candidate(content=model)])
        [part] = await _extra_utils.get_function_response_parts_async(response, adapters)
        response = part.function_response.response
        if "error" in response:
            return {"error": str(response["error"])}
        result = response["result"]
        text = "".join(getattr(it, "text", "") for it in result.content)
        return {"text": text, "structured": result.structured_content}


def is_converted(session, tool):
    """Whether the client accepts a list with only this tool."""
    listed = ListToolsResult(tools=[tool])
    try:
        return bool(McpToGenAiToolAdapter(session, listed).tools)
    except AttributeError:
        # The converter expects an object where a schema is `false` (googleapis/python-genai#2393).
        return False
