// The client of the TypeScript SDK, for gateways and proxies between a client and a server.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

export async function through(transport, place) {
  const client = new Client({ name: "client", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, (request) => place.answer(request.params.message));
  await client.connect(transport);
  return {
    async tools() {
      const { tools } = await client.listTools();
      return { MCP: Object.fromEntries(tools.map((it) => [it.name, it.inputSchema])) };
    },
    async call(name, args) {
      const onprogress = (it) => place.progress.push(it.progress);
      const result = await client.callTool({ name, arguments: args }, undefined, { onprogress, timeout: 20_000 });
      const text = result.content.map((it) => it.text ?? "").join("");
      return result.isError ? { error: text } : { text, structured: result.structuredContent };
    },
    close: () => client.close(),
  };
}
