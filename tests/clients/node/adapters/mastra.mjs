// The client of Mastra. The adapter executes tools like the agents of Mastra.

import { MCPClient, MCPOAuthClientProvider } from "@mastra/mcp";

let number = 0;

export async function connect(place) {
  const server =
    place.transport === "stdio"
      ? { command: place.command, args: [], env: place.environment }
      : { url: new URL(place.url) };
  const options = {
    capabilities: { elicitation: { form: {} } },
    enableProgressTracking: true,
    inputRequests: async ({ params }) => place.answer(params.message),
    onToolError: "return",
  };
  if (place.login) server.authProvider = await registered(place);
  const client = new MCPClient({ id: `client-${++number}`, servers: { server: { ...server, ...options } } });
  if (place.login) await client.authenticate("server", { timeoutMs: 20_000 });
  await client.progress.onUpdate("server", (params) => place.progress.push(params.progress));
  const listed = async () => {
    const { toolsets, errors } = await client.listToolsetsWithErrors();
    if (Object.keys(errors).length) throw new Error(JSON.stringify(errors));
    return toolsets.server;
  };
  return {
    async tools() {
      const tools = {};
      for (const [name, tool] of Object.entries(await listed())) {
        tools[name] = tool.inputSchema["~standard"]?.jsonSchema?.input({ target: "draft-07" }) ?? tool.inputSchema;
      }
      return { "JSON Schema": tools };
    },
    async call(name, args, structured) {
      const result = await (await listed())[name].execute(args, {});
      if (structured) return { structured: result.structuredContent ?? result };
      const text = result.content?.map((it) => it.text ?? "").join("") ?? JSON.stringify(result);
      return result.isError ? { error: text } : { text };
    },
    close: () => client.disconnect(),
  };
}

/** Registers a client and returns a provider for it, because Mastra does not register clients itself. */
async function registered(place) {
  const redirectUrl = `http://127.0.0.1:${20_000 + (process.pid % 20_000)}/callback`;
  const clientMetadata = { client_name: "client", redirect_uris: [redirectUrl] };
  const response = await fetch(new URL("/register", place.url), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...clientMetadata, token_endpoint_auth_method: "none" }),
  });
  const clientInformation = await response.json();
  const onRedirectToAuthorization = (url) => place.browse(url);
  return new MCPOAuthClientProvider({ redirectUrl, clientMetadata, clientInformation, onRedirectToAuthorization });
}
