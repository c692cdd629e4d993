// mcp-remote, a process that speaks stdio to a client and HTTP to a server.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { through } from "./sdk.mjs";

export async function connect(place) {
  const only = place.transport === "sse" ? "sse-only" : "http-only";
  const args = [join(place.folder, "node_modules/mcp-remote/dist/proxy.js"), place.url, "--transport", only, "--host", "127.0.0.1"];
  // mcp-remote keeps its tokens in this folder. The folder is also its PATH, so that it finds no browser.
  const directory = mkdtempSync(join(tmpdir(), "mcp-remote-"));
  const env = { MCP_REMOTE_CONFIG_DIR: directory, HOME: directory, PATH: directory };
  const transport = new StdioClientTransport({ command: place.node, args, env, stderr: "pipe" });
  createInterface({ input: transport.stderr }).on("line", (line) => {
    console.error(line);
    const url = line.match(/http:\/\/127\.0\.0\.1:\d+\/\S*response_type=\S+/);
    if (url) place.browse(url[0]);
  });
  return through(transport, place);
}
