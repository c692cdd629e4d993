// The runtime of mcporter, and the TypeScript that mcporter generates for a server.

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createCallResult, createRuntime } from "mcporter";

export async function connect(place) {
  const directory = mkdtempSync(join(tmpdir(), "mcporter-"));
  const server =
    place.transport === "stdio"
      ? { command: place.command, args: [], env: place.environment }
      : { url: place.url, ...(place.login && { auth: "oauth", tokenCacheDir: directory }) };
  const configPath = join(directory, "mcporter.json");
  writeFileSync(configPath, JSON.stringify({ mcpServers: { server }, imports: [] }));
  // Without a browser on the PATH, mcporter logs the URL for the user.
  const logger = { debug() {}, info: look, warn: look, error: look };
  function look(line) {
    console.error(line);
    const url = String(line).match(/visit (http:\S+) manually/);
    if (url) place.browse(url[1]);
  }
  process.env.PATH = directory;
  const runtime = await createRuntime({ configPath, rootDir: directory, logger });
  await runtime.connect("server");
  return {
    async tools() {
      const listed = await runtime.listTools("server", { includeSchema: true });
      // The generated types and the generated client must be valid TypeScript.
      for (const mode of ["types", "client"]) {
        const out = join(directory, mode === "types" ? "server.d.ts" : "server.ts");
        const cli = join(place.folder, "node_modules/mcporter/dist/cli.js");
        const args = [cli, "--config", configPath, "emit-ts", "server", "--mode", mode, "--out", out, "--include-optional"];
        await promisify(execFile)(place.node, args, { cwd: directory, timeout: 60_000 });
        const code = readFileSync(out, "utf8");
        try {
          stripTypeScriptTypes(code);
        } catch (error) {
          throw new Error(`emit-ts writes invalid TypeScript: ${error.message}`);
        }
      }
      return { "JSON Schema": Object.fromEntries(listed.map((it) => [it.name, it.inputSchema])) };
    },
    async call(name, args) {
      const raw = await runtime.callTool("server", name, { args });
      const result = createCallResult(raw);
      const text = result.text() ?? JSON.stringify(raw);
      return raw.isError ? { error: text } : { text, structured: result.structuredContent() };
    },
    async close() {
      await runtime.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
