// Drives an MCP client from npm, with the same steps and answers as `../python/driver.py`.
//
//     node driver.mjs FOLDER ADAPTER [OPTION ...]
//
// FOLDER contains `node_modules`. `adapters/ADAPTER.mjs` exports `connect(place)`, which returns a promise of an object with
//     async tools()                              {FORM: {TOOL: schema}}
//     async call(name, arguments, structured)    {text}, {structured} or {error}; an exception counts as an error
//     async close()

import { cpSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

const [folder, name, ...options] = process.argv.slice(2);
const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
// stdout is reserved for answers, so the output of a client goes to stderr.
for (const method of ["log", "info", "debug"]) console[method] = console.error;
// A promise rejection that a client does not handle must not end the driver.
process.on("unhandledRejection", (error) => console.error("unhandled:", error));

class Place {
  progress = [];
  asked = [];

  constructor(at, login) {
    Object.assign(this, at, { login, folder, options, node: process.execPath });
  }

  answer(message) {
    this.asked.push(message);
    return { action: "accept", content: { username: "ada", email: "ada@example.com" } };
  }

  /** Lets the test log a user in. */
  browse(url) {
    tell({ browse: String(url) });
  }

  /** Returns the OAuth provider of an application, and a function that waits for the parameters of the redirect. */
  async oauth() {
    let arrived;
    const back = new Promise((resolve) => (arrived = resolve));
    const listener = createServer((request, response) => {
      response.end();
      arrived(new URL(request.url, "http://localhost").searchParams);
    });
    await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const redirectUrl = `http://127.0.0.1:${listener.address().port}/callback`;
    const kept = {};
    const provider = {
      redirectUrl,
      clientMetadata: { client_name: "client", redirect_uris: [redirectUrl] },
      clientInformation: () => kept.client,
      saveClientInformation: (it) => void (kept.client = it),
      tokens: () => kept.tokens,
      saveTokens: (it) => void (kept.tokens = it),
      codeVerifier: () => kept.verifier,
      saveCodeVerifier: (it) => void (kept.verifier = it),
      state: () => (kept.state ??= crypto.randomUUID()),
      saveState: (it) => void (kept.state = it),
      storedState: () => kept.state,
      discoveryState: () => kept.discovery,
      saveDiscoveryState: (it) => void (kept.discovery = it),
      redirectToAuthorization: (url) => this.browse(url),
    };
    return { provider, back: () => back.finally(() => listener.close()) };
  }
}

const told = (error) => {
  const causes = error?.errors?.length ? error.errors : error?.cause ? [error.cause] : [];
  return [error?.message ?? String(error), ...causes.map(told)].join("; ");
};

async function take(connection, place, step) {
  if (step.do === "tools") return { tools: await connection.tools() };
  if (step.do === "rest") {
    await new Promise((resolve) => setTimeout(resolve, 500));
    return { rested: true };
  }
  place.progress.length = 0;
  place.asked.length = 0;
  let outcome;
  try {
    outcome = await connection.call(step.name, step.arguments, step.structured ?? false);
  } catch (error) {
    outcome = { error: told(error) };
  }
  return { ...outcome, progress: [...place.progress], asked: [...place.asked] };
}

// Node resolves packages from the folder of a module, so the adapters are copied to the folder with the packages.
const adapters = join(folder, `adapters-${process.pid}`);
cpSync(fileURLToPath(new URL("adapters", import.meta.url)), adapters, { recursive: true });
const { connect } = await import(pathToFileURL(join(adapters, `${name}.mjs`)));
rmSync(adapters, { recursive: true });
tell({ ready: true });

let connection, place;
for await (const line of createInterface({ input: process.stdin })) {
  const step = JSON.parse(line);
  try {
    if (step.do === "open") {
      place = new Place(step.at, step.login);
      connection = await connect(place);
      tell({ opened: true });
    } else if (step.do === "close") {
      await connection.close();
      tell({ closed: true });
    } else {
      tell(await take(connection, place, step));
    }
  } catch (error) {
    console.error(error);
    tell({ failed: told(error) });
  }
}
process.exit();
