"""google-genai: `tools=[session]`, with the session of the Python SDK that it is given."""

from contextlib import AsyncExitStack, asynccontextmanager

from google.genai import _extra_utils, types
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


@asynccontextmanager
async def connect(place):
    async with AsyncExitStack() as stack:
        if place.transport == "stdio":
            transport = stdio_client(StdioServerParameters(command=place.command, env=place.environment))
        elif place.transport == "sse":
            transport = sse_client(place.url)
        else:
            auth = place.oauth() if place.login else None
            http = await stack.enter_async_context(create_mcp_http_client(auth=auth))
            transport = streamable_http_client(place.url, http_client=http)
        streams = await stack.enter_async_context(transport)
        session = ClientSession(*streams[:2], elicitation_callback=place.on_elicitation)
        await stack.enter_async_context(session)
        await session.initialize()
        yield Connection(session)


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
        return {"Gemini": {it.name: it.parameters.model_dump(mode="json", exclude_none=True) for it in declared}}

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
