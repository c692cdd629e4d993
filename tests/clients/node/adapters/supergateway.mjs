// supergateway, which serves a stdio program to many clients over SSE, and an HTTP or SSE server to one client over stdio.

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { through } from "./sdk.mjs";

/** Ports of the running gateways, by the program that each gateway serves. A client that reconnects gets the same gateway. */
const gateways = new Map();

export async function connect(place) {
  const program = join(place.folder, "node_modules/supergateway/dist/index.js");
  if (place.transport !== "stdio") {
    const option = place.transport === "sse" ? "--sse" : "--streamableHttp";
    const args = [program, option, place.url, "--logLevel", "none"];
    return through(new StdioClientTransport({ command: place.node, args }), place);
  }
  const key = JSON.stringify([place.command, place.environment]);
  if (!gateways.has(key)) gateways.set(key, await serve(program, place));
  const url = new URL(`http://127.0.0.1:${gateways.get(key)}/sse`);
  // One other client has connected and disconnected before. Another one stays connected, and its user never answers.
  const other = { progress: [], answer: () => new Promise(() => {}) };
  const before = await through(new SSEClientTransport(url), other);
  await before.close();
  const beside = await through(new SSEClientTransport(url), other);
  const connection = await through(new SSEClientTransport(url), place);
  const close = async () => {
    await beside.close();
    await connection.close();
  };
  return { ...connection, close };
}

async function serve(program, place) {
  const listener = createServer();
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  const args = [program, "--stdio", place.command, "--port", String(port)];
  const env = { ...process.env, ...place.environment };
  const gateway = spawn(place.node, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  // The gateway ends with its stdin, so it ends with this process.
  await new Promise((resolve, reject) => {
    gateway.once("exit", () => reject(new Error("supergateway has ended")));
    gateway.stdout.on("data", (data) => {
      process.stderr.write(data);
      if (String(data).includes("Listening on port")) resolve();
    });
  });
  return port;
}
