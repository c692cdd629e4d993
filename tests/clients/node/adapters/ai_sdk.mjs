// The AI SDK, `@ai-sdk/mcp`. The adapter executes tools like `generateText`. With the option `legacy` the client opens a session.

import { createMCPClient, ElicitationRequestSchema } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { asSchema } from "ai";

export async function connect(place) {
  const errors = [];
  let expired = false;
  const open = async (authProvider) => {
    const transport =
      place.transport === "stdio"
        ? new Experimental_StdioMCPTransport({ command: place.command, args: [], env: place.environment, stderr: "inherit" })
        : { type: place.transport, url: place.url, authProvider, onSessionExpired: () => (expired = true) };
    const onUncaughtError = (error) => errors.push(error);
    const protocolVersionDiscovery = !place.options.includes("legacy");
    const options = { capabilities: { elicitation: {} }, protocolVersionDiscovery, onUncaughtError };
    const client = await createMCPClient({ transport, ...options });
    client.onElicitationRequest(ElicitationRequestSchema, (request) => place.answer(request.params.message));
    return client;
  };
  let client;
  if (place.login) {
    const { auth } = await import("@ai-sdk/mcp");
    const { provider, back } = await place.oauth();
    try {
      client = await open(provider);
    } catch (error) {
      // The provider has sent the user to log in.
      const query = await back();
      const returned = { authorizationCode: query.get("code"), callbackState: query.get("state"), callbackIss: query.get("iss") };
      await auth(provider, { serverUrl: place.url, ...returned });
      client = await open(provider);
      // The errors up to here are about the missing login.
      errors.length = 0;
    }
  } else {
    client = await open();
  }
  const mistakes = () => {
    const dislikes = errors.splice(0).map(String).filter((it) => !isExpected(it, place));
    if (dislikes.length) throw new Error(`the client complains: ${dislikes}`);
  };
  return {
    async tools() {
      const tools = {};
      for (const [name, tool] of Object.entries(await client.tools())) {
        tools[name] = await asSchema(tool.inputSchema).jsonSchema;
      }
      mistakes();
      return { "JSON Schema": tools };
    },
    async call(name, args) {
      const execute = async () => (await client.tools())[name].execute(args, { toolCallId: "1", messages: [] });
      let result;
      try {
        result = await execute();
      } catch (error) {
        if (!expired) throw error;
        // The client reports the end of the session, and the application opens another session.
        expired = false;
        client = await open();
        result = await execute();
        errors.length = 0;
      }
      mistakes();
      const text = result.content?.map((it) => it.text ?? "").join("");
      return result.isError ? { error: text } : { text, structured: result.structuredContent };
    },
    close: () => client.close(),
  };
}

/** Whether the specification requires the behaviour that the client complains about. */
function isExpected(complaint, place) {
  // Without discovery the client requests the stream of a session before it has the session. After the refusal it continues.
  if (complaint.includes("GET SSE failed: 400")) return true;
  // The resumable stream of a call begins with an event without data (SEP-1699). The stream of a session must not begin with such an event.
  return place.asked.length > 0 && complaint.includes("Failed to parse message");
}
