// Drives an MCP server with a client of the TypeScript SDK, over HTTP for a URL and over stdio for a program.
//
//     node typescript_peer.cjs FOLDER CLIENT VERSION (URL | SERVER)
//
// FOLDER contains `node_modules`. CLIENT is
//     client    `@modelcontextprotocol/client`
//     sdk       `@modelcontextprotocol/sdk`
//     sdk-sse   the same, over HTTP+SSE
// VERSION is `auto` for the newest version that the SDK supports, or for `client` the only version to accept.
//
// `python_peer.py` describes the plan on stdin, the report on stdout, the steps and the outcomes. This driver supports the steps tools,
// resources, templates, prompts, call, cancel, read, prompt, complete, watch, hear, log, log_level, ping, and
//     together   steps              carries out all of these steps at the same time
//     expire     messages           makes the client's token invalid, and refuses this number of messages (1) at the same time
//     authorize  scope              sends the user to the server again, because `sdk` does not do so itself
// The report has no "logs".

'use strict';

const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { setTimeout: sleep } = require('node:timers/promises');
const { closing } = require('./closing.cjs');
const { Login } = require('./typescript_login.cjs');

const [folder, name, version, address] = process.argv.slice(2);
const load = createRequire(`${folder}/`);
const INFO = { name: `typescript-${name}`, version: '1' };
const MODERN = '2026-07-28';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const TIMEOUT_MS = 120_000;

const LISTS = {
    tools: ['listTools', 'tools'],
    resources: ['listResources', 'resources'],
    templates: ['listResourceTemplates', 'resourceTemplates'],
    prompts: ['listPrompts', 'prompts'],
};

// Capabilities that the client declares, and the requests of the server that it then answers.
const CAPABILITIES = {
    elicitation: { form: {}, url: {} },
    sampling: {},
    roots: { listChanged: true },
};
const REQUESTS = {
    elicitation: ['elicitation/create', 'ElicitRequestSchema'],
    sampling: ['sampling/createMessage', 'CreateMessageRequestSchema'],
    roots: ['roots/list', 'ListRootsRequestSchema'],
};

// HTTP requests whose response has not begun.
const unanswered = new Set();

async function answered(fetch, request) {
    const response = fetch(...request);
    unanswered.add(response);
    try {
        return await response;
    } finally {
        unanswered.delete(response);
    }
}

function connection(plan, login) {
    const declared = Object.entries(CAPABILITIES).filter(([capability]) => capability in plan);
    const capabilities = Object.fromEntries(declared);
    const isHttp = address.startsWith('http://');
    const server = { command: address, env: { ...process.env, ...plan.environment } };
    const options = { authProvider: login, fetch: (...request) => answered(login?.fetch ?? fetch, request) };
    if (name === 'client') {
        const { Client, StreamableHTTPClientTransport } = load('@modelcontextprotocol/client');
        const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');
        const mode = version === 'auto' ? 'auto' : version === MODERN ? { pin: version } : 'legacy';
        const versions = mode === 'legacy' ? { supportedProtocolVersions: [version] } : {};
        const client = new Client(INFO, { capabilities, versionNegotiation: { mode }, ...versions });
        const transport = isHttp ? new StreamableHTTPClientTransport(new URL(address), options) : new StdioClientTransport(server);
        return { client, transport, options: [], request: ([method]) => method };
    }
    const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { SSEClientTransport } = load('@modelcontextprotocol/sdk/client/sse.js');
    const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
    const schemas = load('@modelcontextprotocol/sdk/types.js');
    const Transport = name === 'sdk' ? StreamableHTTPClientTransport : SSEClientTransport;
    const transport = isHttp ? new Transport(new URL(address), options) : new StdioClientTransport(server);
    // The stdio transport does not store the protocol version. The client passes the version to this setter.
    transport.setProtocolVersion ??= (it) => (transport.protocolVersion = it);
    // In this SDK, `callTool` takes a result schema before the options, and `setRequestHandler` takes a schema instead of a method.
    return { client: new Client(INFO, { capabilities }), transport, options: [undefined], request: ([, schema]) => schemas[schema] };
}

class Peer {
    constructor(plan, login) {
        Object.assign(this, connection(plan, login), { login });
        this.heard = [];
        this.asked = [];
        this.complaints = [];
        this.client.onerror = (error) => {
            if (!this.isLate(String(error))) this.complaints.push(String(error));
        };
        this.client.fallbackNotificationHandler = async (notification) => {
            this.heard.push(notification);
        };
        for (const capability of Object.keys(REQUESTS).filter((it) => it in plan)) {
            this.client.setRequestHandler(this.request(REQUESTS[capability]), async ({ params = {} }) => {
                this.asked.push({ [capability]: params });
                return this[capability](plan[capability], params);
            });
        }
    }

    elicitation({ knows, refuses = {} }, { message, url, requestedSchema }) {
        if (message in refuses) return { action: refuses[message] };
        if (url !== undefined) return { action: 'accept' };
        const fields = Object.keys(requestedSchema.properties).filter((it) => it in knows);
        return { action: 'accept', content: Object.fromEntries(fields.map((it) => [it, knows[it]])) };
    }

    sampling(text) {
        return { role: 'assistant', model: INFO.name, content: { type: 'text', text } };
    }

    roots(uris) {
        return { roots: uris.map((uri) => ({ uri })) };
    }

    get protocol() {
        const { client, transport } = this;
        return client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? transport._protocolVersion;
    }

    // Carries out one step. Errors become part of the outcome.
    async take(step) {
        const progress = [];
        const onprogress = ({ progress: value, total = null, message = null }) =>
            progress.push({ progress: value, total, message });
        let outcome;
        try {
            outcome = { result: await this.loggedIn(() => this.ask(step, onprogress)) };
        } catch (error) {
            const { code, message, data } = error;
            outcome = Number.isInteger(code) ? { error: { code, message, data } } : { rejected: String(error) };
        }
        return ['call', 'cancel'].includes(step.do) ? { ...outcome, progress } : outcome;
    }

    // Runs the action. If the client sends its user to log in, finishes the login and runs the action again.
    async loggedIn(action) {
        try {
            return await action();
        } catch (error) {
            if (!this.login) throw error;
            // The SDK reports a refusal as an error event, and also throws it.
            this.complaints = this.complaints.filter((it) => it !== String(error));
            if (!(await this.login.finish(this.transport))) throw error;
            return action();
        }
    }

    // Drops the tokens first. Otherwise the SDK would use its refresh token, and the new tokens would have the same scopes as the old ones.
    async authorize({ scope }) {
        const { auth } = load('@modelcontextprotocol/sdk/client/auth.js');
        this.login.current = undefined;
        const became = await auth(this.login, { serverUrl: new URL(address), scope });
        await this.login.finish(this.transport);
        return became;
    }

    async ask(step, onprogress) {
        const { client } = this;
        switch (step.do) {
            case 'call':
                return this.call(step, { onprogress });
            case 'cancel':
                return this.cancel(step, onprogress);
            case 'read':
                return client.readResource({ uri: step.uri });
            case 'prompt':
                return client.getPrompt({ name: step.name, arguments: step.arguments });
            case 'complete':
                return this.complete(step);
            case 'watch':
                return this.watch(step);
            case 'hear':
                return this.hear(step);
            case 'log':
                return this.log(step);
            case 'log_level':
                return client.setLoggingLevel(step.level);
            case 'ping':
                return client.ping();
            case 'together':
                return Promise.all(step.steps.map((it) => this.take(it)));
            case 'expire':
                return this.login.expire(step.messages ?? 1);
            case 'authorize':
                return this.authorize(step);
            default:
                return this.everyPage(...LISTS[step.do]);
        }
    }

    call(step, options, meta) {
        const params = { name: step.name, arguments: step.arguments ?? {} };
        return this.client.callTool(meta ? { ...params, _meta: meta } : params, ...this.options, options);
    }

    async everyPage(method, items) {
        const found = [];
        for (let cursor; ; ) {
            const page = await this.client[method](cursor && { cursor });
            found.push(...page[items]);
            cursor = page.nextCursor;
            if (cursor === undefined) return found;
        }
    }

    async complete(step) {
        const ref = step.prompt
            ? { type: 'ref/prompt', name: step.prompt }
            : { type: 'ref/resource', uri: step.template };
        const argument = { name: step.argument, value: step.value ?? '' };
        return (await this.client.complete({ ref, argument })).completion;
    }

    // Returns whether an error names the cancelled call. A report or the response may have been on its way when the client cancelled the call.
    // Both SDKs use the id of a request as its token. The conversations of `tests/wire` prove that a cancelled call is not answered.
    isLate(error) {
        const report = error.match(/unknown token: .*"progressToken":(\w+)/);
        const response = error.match(/unknown message ID: \{"jsonrpc":"2\.0","id":(\w+)/);
        const token = (report ?? response)?.[1];
        if (this.cancelled === undefined || token === undefined) return false;
        this.cancelled ||= token;
        return this.cancelled === token;
    }

    // Starts a call, and cancels the call when it reports progress.
    async cancel(step, onprogress) {
        const abort = new AbortController();
        const progress = (report) => {
            onprogress(report);
            this.cancelled ??= '';
            abort.abort('not wanted any more');
        };
        try {
            const answer = await this.call(step, { onprogress: progress, signal: abort.signal });
            return { cancelled: false, answer };
        } catch (error) {
            if (!abort.signal.aborted) throw error;
            return { cancelled: true, answer: null };
        }
    }

    async watch({ uri, trigger }) {
        if (this.isModern()) {
            return this.listen({ resourceSubscriptions: [uri] }, trigger, 'resources/updated');
        }
        await this.client.subscribeResource({ uri });
        const outcome = await this.take(trigger);
        const { params } = await this.next('resources/updated');
        await this.client.unsubscribeResource({ uri });
        return { trigger: outcome, updated: params.uri };
    }

    async hear({ list, trigger }) {
        if (this.isModern()) {
            return { ...(await this.listen({ [`${list}ListChanged`]: true }, trigger, `${list}/list_changed`)), changed: list };
        }
        const outcome = await this.take(trigger);
        await this.next(`${list}/list_changed`);
        return { trigger: outcome, changed: list };
    }

    async listen(filter, trigger, method) {
        const subscription = await this.client.listen(filter);
        const outcome = await this.take(trigger);
        const { params } = await this.next(method);
        await subscription.close();
        return { trigger: outcome, updated: params?.uri };
    }

    async log({ name: tool, level, count }) {
        const meta = this.isModern() ? { [LOG_LEVEL]: level } : undefined;
        if (!meta) await this.client.setLoggingLevel(level);
        await this.call({ name: tool }, {}, meta);
        const logs = [];
        while (logs.length < count) logs.push((await this.next('message')).params);
        return logs;
    }

    isModern() {
        return this.protocol >= MODERN;
    }

    // Removes and returns the first received notification with this method.
    async next(method) {
        for (;;) {
            const at = this.heard.findIndex((it) => it.method === `notifications/${method}`);
            if (at >= 0) return this.heard.splice(at, 1)[0];
            await sleep(10);
        }
    }
}

// Returns a connected client. After a login a new client connects, as in a web application, which the browser leaves for the login page.
async function connected(plan, login) {
    const peer = new Peer(plan, login);
    try {
        await peer.client.connect(peer.transport);
        return peer;
    } catch (error) {
        if (!(await login?.finish(peer.transport))) throw error;
    }
    const again = new Peer(plan, login);
    await again.client.connect(again.transport);
    return again;
}

async function talk(plan, login) {
    const peer = await connected(plan, login);
    const { client, transport } = peer;
    const steps = [];
    const report = {
        protocol: peer.protocol,
        server: client.getServerVersion(),
        capabilities: client.getServerCapabilities(),
        instructions: client.getInstructions(),
        session: transport.sessionId ?? null,
        steps,
    };
    for (const step of plan.steps) steps.push(await peer.take(step));
    // The client does not wait for the response to its cancellation. If the client closed now, it would report that request as failed.
    await Promise.race([Promise.allSettled(unanswered), sleep(10_000, undefined, { ref: false })]);
    let complaints;
    const killed = await closing(async () => {
        await transport.terminateSession?.();
        await client.close();
        // Later complaints are about streams that the client has closed itself.
        complaints = [...peer.complaints];
    });
    return { ...report, asked: peer.asked, complaints, killed };
}

async function main() {
    const plan = JSON.parse(readFileSync(0, 'utf8'));
    const login = plan.login && new Login(INFO.name, plan.login);
    const report = await talk(plan, login).catch((error) => {
        if (!login) throw error;
        return { rejected: [String(error)], steps: [], complaints: [], killed: false };
    });
    console.log(JSON.stringify({ ...report, ...login?.report() }, null, 2));
}

setTimeout(() => {
    console.error(`not done after ${TIMEOUT_MS} ms`);
    process.exit(1);
}, TIMEOUT_MS).unref();
main().catch((error) => {
    console.error(error);
    process.exit(1);
});
