// Drives the tasks of an MCP server with a client of the TypeScript SDK, over HTTP for a URL and over stdio for a program.
//
//     node tasks_peer.mjs FOLDER CLIENT VERSION (URL | SERVER)
//
// FOLDER contains `node_modules`. CLIENT is
//     client    `@modelcontextprotocol/client` with `@modelcontextprotocol/ext-tasks`, which supports both dialects
//     sdk       `@modelcontextprotocol/sdk` with its `experimental.tasks`, which supports the older dialect
// VERSION is the only version that `client` accepts. `sdk` uses the newest version that it supports.
//
// `python_peer.py` describes the plan on stdin and the report on stdout. The steps, by "do":
//     task      name, arguments, cancel                        follows a task to its end; with `cancel`, cancels it at once
//     call      name, arguments                                calls a tool without a task
//     tasks                                                    returns the ids of all tasks that the server lists
//
// The result of "task" is {"kind", "task", "statuses", "status", "result" | "error"}. "kind" is "immediate" or "task", and "task" is the
// last state of the task that the client has seen. "statuses" lists every status that it has seen, and "status" is the final one.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { closing } from './closing.cjs';

const [folder, name, version, address] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${folder}/node_modules/@modelcontextprotocol/${path}`));
const INFO = { name: `typescript-${name}`, version: '1' };
const MODERN = '2026-07-28';
const EXTENSION = 'io.modelcontextprotocol/tasks';
const TIMEOUT_MS = 120_000;

const plan = JSON.parse(readFileSync(0, 'utf8'));
const asked = [];
const complaints = [];

function answer({ message, requestedSchema }) {
    asked.push(message);
    const { knows, refuses = {} } = plan.elicitation;
    if (message in refuses) return { action: refuses[message] };
    const fields = Object.keys(requestedSchema.properties).filter((it) => it in knows);
    return { action: 'accept', content: Object.fromEntries(fields.map((it) => [it, knows[it]])) };
}

function without(error) {
    const { code, message, data } = error;
    return { code, message, data };
}

// Records the complaints of the client, except complaints about the answer to a request that the client itself has cancelled. The client
// cancels a poll of a task when a notification arrives first.
function complain(client, transport) {
    const cancelled = new Set();
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
        if (message.method === 'notifications/cancelled') cancelled.add(message.params.requestId);
        return send(message, options);
    };
    client.onerror = (error) => {
        const [, unknown] = /unknown message ID: (\{.*\})$/.exec(error.message) ?? [];
        if (!unknown || !cancelled.has(JSON.parse(unknown).id)) complaints.push(String(error));
    };
}

// Returns a function that sends requests which the SDK's client does not support. These requests and their answers bypass the client.
function beside(transport) {
    const waiting = new Map();
    const pass = transport.onmessage;
    transport.onmessage = (message, extra) => {
        const settle = waiting.get(message.id);
        if (settle === undefined || 'method' in message) return pass(message, extra);
        waiting.delete(message.id);
        settle('error' in message ? { kind: 'error', error: message.error } : { kind: 'result', result: message.result });
    };
    let last = 0;
    return (request) =>
        new Promise((resolve, reject) => {
            const id = `beside-${(last += 1)}`;
            waiting.set(id, resolve);
            transport.send({ jsonrpc: '2.0', id, ...request }).catch(reject);
        });
}

async function extTasks() {
    const { Client, StreamableHTTPClientTransport } = await load('client/dist/index.mjs');
    const { StdioClientTransport } = await load('client/dist/stdio.mjs');
    const tasks = await load('ext-tasks/dist/client/index.js');
    const capabilities = plan.elicitation ? { elicitation: { form: {} } } : {};
    if (version === MODERN) capabilities.extensions = { [EXTENSION]: {} };
    const mode = version === MODERN ? { pin: version } : 'legacy';
    const versions = mode === 'legacy' ? { supportedProtocolVersions: [version] } : {};
    const client = new Client(INFO, { capabilities, versionNegotiation: { mode }, ...versions });
    const transport = address.startsWith('http://')
        ? new StreamableHTTPClientTransport(new URL(address))
        : new StdioClientTransport({ command: address, env: { ...process.env, ...plan.environment } });
    complain(client, transport);
    await client.connect(transport);
    const framing = { protocolVersion: version, clientInfo: INFO, clientCapabilities: capabilities };
    const session = tasks.createTaskSessionFromClient(client, {
        endpointId: 'server',
        onInputRequest: async ({ params }) => answer(params),
        onError: (error) => complaints.push(String(error)),
        ...(version === MODERN ? { rawDispatch: beside(transport), v2RequestFraming: framing } : {}),
    });
    const declared = new Map((await client.listTools()).tools.map((it) => [it.name, tasks.toolDeclarationFromMcpTool(it)]));
    return {
        client,
        transport,
        protocol: () => client.getNegotiatedProtocolVersion(),
        async task({ name, arguments: params = {}, cancel }) {
            const options = { declaration: declared.get(name), task: { preference: 'prefer' } };
            const execution = await session.callTool(name, params, options);
            const statuses = [];
            let task;
            const settled = execution.settle({
                onEvent(event) {
                    task = tasks.taskViewFromExecutionEvent(event) ?? task;
                    if (task && statuses.at(-1) !== task.status) statuses.push(task.status);
                },
            });
            if (cancel) await execution.cancel();
            const { outcome } = await settled;
            const { status, result, error } = outcome;
            const ended = { kind: execution.kind, task: task?.raw, statuses, status };
            return error ? { ...ended, error: without(error) } : { ...ended, result };
        },
        call: (step) => client.callTool({ name: step.name, arguments: step.arguments }),
        tasks: async () => (await session.listTasks()).tasks.map((it) => it.taskId),
        close: () => session.close(),
    };
}

async function experimental() {
    const { Client } = await load('sdk/dist/esm/client/index.js');
    const { StreamableHTTPClientTransport } = await load('sdk/dist/esm/client/streamableHttp.js');
    const { StdioClientTransport } = await load('sdk/dist/esm/client/stdio.js');
    const { ElicitRequestSchema } = await load('sdk/dist/esm/types.js');
    const client = new Client(INFO, { capabilities: plan.elicitation ? { elicitation: {} } : {} });
    if (plan.elicitation) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => answer(params));
    const transport = address.startsWith('http://')
        ? new StreamableHTTPClientTransport(new URL(address))
        : new StdioClientTransport({ command: address, env: { ...process.env, ...plan.environment } });
    transport.setProtocolVersion ??= (it) => (transport.protocolVersion = it);
    complain(client, transport);
    await client.connect(transport);
    const { tasks } = client.experimental;
    return {
        client,
        transport,
        protocol: () => transport.protocolVersion ?? transport._protocolVersion,
        async task({ name, arguments: params = {}, cancel }) {
            const seen = { kind: 'immediate', statuses: [] };
            const note = (task) => {
                seen.kind = 'task';
                seen.task = task;
                if (seen.statuses.at(-1) !== task.status) seen.statuses.push(task.status);
            };
            let end = {};
            for await (const message of tasks.callToolStream({ name, arguments: params }, undefined, { task: {} })) {
                if (message.type === 'result') end = { result: message.result };
                else if (message.type === 'error') end = { error: without(message.error) };
                else note(message.task);
                if (message.type === 'taskCreated' && cancel) await tasks.cancelTask(message.task.taskId);
            }
            if (seen.task) note(await tasks.getTask(seen.task.taskId));
            return { ...seen, status: seen.task?.status, ...end };
        },
        call: (step) => client.callTool({ name: step.name, arguments: step.arguments }),
        async tasks() {
            const found = [];
            let cursor;
            do {
                const page = await tasks.listTasks(cursor);
                found.push(...page.tasks.map((it) => it.taskId));
                cursor = page.nextCursor;
            } while (cursor);
            return found;
        },
        close: () => {},
    };
}

// Carries out one step. Errors become part of the outcome.
async function take(peer, step) {
    try {
        return { result: await peer[step.do](step) };
    } catch (error) {
        return typeof error.code === 'number' ? { error: without(error) } : { rejected: String(error) };
    }
}

async function main() {
    const peer = await (name === 'client' ? extTasks() : experimental());
    const steps = [];
    for (const step of plan.steps) steps.push(await take(peer, step));
    const report = { protocol: peer.protocol(), capabilities: peer.client.getServerCapabilities(), steps, asked };
    let heard;
    const killed = await closing(async () => {
        await peer.close();
        await peer.transport.terminateSession?.();
        await peer.client.close();
        // Later complaints are about streams that the client has closed itself.
        heard = [...complaints];
    });
    console.log(JSON.stringify({ ...report, complaints: heard, killed }, null, 2));
}

setTimeout(() => {
    console.error(`not done after ${TIMEOUT_MS} ms`);
    process.exit(1);
}, TIMEOUT_MS).unref();
main().catch((error) => {
    console.error(error);
    process.exit(1);
});
