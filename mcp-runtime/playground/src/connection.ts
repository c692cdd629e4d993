// The connection to the server: what the server offers, and the requests of the page.

import {
    Client,
    StreamableHTTPClientTransport,
    UnauthorizedError,
    type ClientCapabilities,
    type Implementation,
    type JSONRPCMessage,
    type McpSubscription,
    type Prompt,
    type Resource,
    type ResourceTemplateType,
    type ServerCapabilities,
    type Tool,
} from '@modelcontextprotocol/client';
import { RawRequests } from './raw_requests.ts';
import { ENDPOINT } from './endpoint.ts';
import { exactResponse, forLibrary, withMarks, withoutMarks } from './exact.ts';
import { ConnectionLost, explain, failureOf, type Failure } from './failure.ts';
import { LogLines } from './log_lines.ts';
import { Login, LoginFailed, returned } from './login.ts';
import { Questions, type QuestionMethod } from './questions.ts';
import { MODERN, type Choice } from './revision.ts';
import { Store } from './store.ts';
import { UI, VIEW_TYPE } from './view/tool_ui.ts';
import { Wire, type Message } from './wire.ts';

export const INFO: Implementation = { name: 'mcp-runtime-playground', title: 'Playground', version: '1' };
const CAPABILITIES: ClientCapabilities = {
    elicitation: { form: {}, url: {} },
    sampling: {},
    roots: { listChanged: true },
    extensions: { [UI]: { mimeTypes: [VIEW_TYPE] } },
};
export const TASKS = 'io.modelcontextprotocol/tasks';
// Time after which a stream that has ended is opened again, in milliseconds.
const LISTEN_PAUSE_MS = 1000;
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

// Calls may wait for the user, so they end by cancellation and not by time. This is the longest time of a timer.
export const NO_TIMEOUT = { timeout: 2 ** 31 - 1 };

export type Status = 'connecting' | 'ready' | 'login' | 'failed';

export type Offer = {
    status: Status;
    problem?: string;
    // Why the last request has not reached the server or its session. The items stay, because the server may come back.
    lost?: 'not connected' | 'session ended';
    server?: Implementation;
    instructions?: string;
    capabilities: ServerCapabilities;
    revision?: string;
    tools: Tool[];
    resources: Resource[];
    templates: ResourceTemplateType[];
    prompts: Prompt[];
};

// Connection that is pinned: its requests return the whole response message, and fail when another connection has replaced it.
export type Session = {
    readonly isModern: boolean;
    request(method: string, params: any, signal?: AbortSignal, headers?: Record<string, string>): Promise<Message>;
};

const NOTHING = { capabilities: {}, tools: [], resources: [], templates: [], prompts: [] };

export class Connection {
    readonly offer = new Store<Offer>({ status: 'connecting', ...NOTHING });
    readonly wire = new Wire();
    readonly questions = new Questions();
    readonly log = new LogLines();
    readonly login = new Login();
    // URIs of subscribed resources, with the number of updates since then.
    readonly subscribed = new Store<Record<string, number>>({});
    // Number of the last connection that was begun. The choice that the user makes last wins, and views end with their connection.
    readonly begun = new Store(0);
    #client?: Client;
    #transport?: StreamableHTTPClientTransport;
    #listening?: McpSubscription;
    #raw = new RawRequests();

    get isModern(): boolean {
        return this.offer.value.revision === MODERN;
    }

    async connect(choice: Choice): Promise<void> {
        const begun = this.begun.value + 1;
        this.begun.set(begun);
        this.offer.set({ status: 'connecting', ...NOTHING });
        await this.close();
        if (begun !== this.begun.value) return;
        const versions = choice === 'auto' || choice === MODERN ? {} : { supportedProtocolVersions: [choice] };
        const mode = choice === 'auto' ? 'auto' : choice === MODERN ? { pin: MODERN } : 'legacy';
        const refreshed = (list: 'tools' | 'prompts') => ({ onChanged: (_: unknown, items: any) => items && client === this.#client && this.offer.patch({ [list]: items }) });
        const client: Client = new Client(INFO, {
            capabilities: CAPABILITIES,
            versionNegotiation: { mode },
            ...versions,
            // The page shows results that do not fit the schema too, and compares them itself.
            jsonSchemaValidator: { getValidator: () => (input: any) => ({ valid: true, data: input, errorMessage: undefined }) },
            listChanged: {
                tools: refreshed('tools'),
                prompts: refreshed('prompts'),
                resources: { autoRefresh: false, onChanged: () => void this.#loadResources(client).catch(() => {}) },
            },
        });
        this.#client = client;
        this.#answerQuestions(client);
        client.setNotificationHandler('notifications/message', ({ params }) => this.log.add(params));
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => this.#updated(params.uri));
        try {
            await this.#open(client);
            // The user may have chosen another revision meanwhile.
            if (client !== this.#client) return void client.close().catch(() => {});
            const [server, instructions] = [client.getServerVersion(), client.getInstructions()];
            const capabilities = client.getServerCapabilities() ?? {};
            this.offer.patch({ server, instructions, capabilities, revision: client.getNegotiatedProtocolVersion() });
            const changes = client.autoOpenedSubscription;
            if (changes) void this.#keepListening(client, changes);
            await this.#load(client);
            if (capabilities.logging && !this.isModern) await client.setLoggingLevel(this.log.level.value);
            if (client === this.#client) this.offer.patch({ status: 'ready' });
        } catch (error) {
            if (client !== this.#client) return;
            this.offer.patch(this.#refusal(error));
        }
    }

    // Returns the status and the problem that the page shows when it could not connect.
    #refusal(error: unknown): Pick<Offer, 'status' | 'problem'> {
        if (UnauthorizedError.isInstance(error)) {
            // As long as the refused token is stored, the page would use it in place of the next login.
            return { status: 'login', problem: this.login.dropToken() ? 'The server has refused the access token.' : undefined };
        }
        if (error instanceof LoginFailed) return { status: 'login', problem: `The login has failed: ${error.message}` };
        // The library looks for an authorization server only after the user has asked to log in.
        if (this.login.mayLeave) return { status: 'login', problem: `If this server has no login server, enter an access token. The login has failed: ${explain(error)}` };
        return { status: 'failed', problem: explain(error) };
    }

    // Connects with a token of the login that has just come back, or that was kept.
    async #open(client: Client): Promise<void> {
        const code = returned();
        if (code) {
            const finished = this.#newTransport(this.login).finishAuth(code);
            await finished.catch((error) => {
                throw new LoginFailed(explain(error));
            });
        }
        await client.connect(this.#newTransport());
    }

    #newTransport(authProvider = this.login.provider): StreamableHTTPClientTransport {
        const { wire, offer, login } = this;
        const reached = (lost?: Offer['lost']) => {
            if (transport !== this.#transport || offer.value.lost === lost) return;
            offer.patch({ lost });
            if (lost === 'session ended') this.subscribed.set({});
        };
        const recorded: typeof fetch = async (input, init) => {
            const url = String(input instanceof Request ? input.url : input);
            // Requests of the login go elsewhere.
            if (url !== ENDPOINT.href) return exactResponse(await fetch(input, init));
            wire.noteHttp(url, new Headers(init?.headers), init?.body);
            try {
                const response = await fetch(input, init);
                reached(response.status === 404 && transport.sessionId ? 'session ended' : undefined);
                if (response.status === 401 || response.status === 403) login.challenge = response.headers.get('www-authenticate') ?? '';
                return exactResponse(response);
            } catch (error) {
                if (error instanceof TypeError) reached('not connected');
                throw error;
            }
        };
        // In the older revisions, a question of the server is a request on the stream that has ended.
        const endQuestions = () => !this.isModern && this.questions.refuseThoseOfServer(new ConnectionLost());
        // Requests whose responses have not come, and that the page has not cancelled.
        const open = new Set<unknown>();
        class Recorded extends StreamableHTTPClientTransport {
            override send(message: JSONRPCMessage | JSONRPCMessage[], options?: any): Promise<void> {
                const exact = withoutMarks(message);
                const parts: Message[] = [exact].flat();
                const ids = parts.filter(({ method, id }) => method !== undefined && id !== undefined).map(({ id }) => id);
                for (const id of ids) open.add(id);
                for (const part of parts) {
                    wire.note('client', part);
                    if (part.method === 'notifications/cancelled') open.delete(part.params?.requestId);
                }
                return new Promise((resolve, reject) => {
                    // The library waits for the response for ever when a stream ends without it, except for the streams to which it listens.
                    const onRequestStreamEnd = () => {
                        if (options?.onRequestStreamEnd) return options.onRequestStreamEnd();
                        if (!ids.some((id) => open.delete(id))) return;
                        reached('not connected');
                        endQuestions();
                        reject(new ConnectionLost());
                    };
                    const sent = super.send(exact, { ...options, onRequestStreamEnd });
                    // While a request is open, its stream may still end.
                    sent.then(() => ids.some((id) => open.has(id)) || resolve(), reject);
                });
            }
        }
        const transport = new Recorded(ENDPOINT, { authProvider, fetch: recorded });
        // The library sets this handler several times during the handshake.
        let handler: typeof transport.onmessage;
        Object.defineProperty(transport, 'onmessage', {
            get: () => handler,
            set: (pass: typeof handler) => {
                handler = pass && ((message: any) => {
                    // Messages of an old connection may belong to a user who has logged out.
                    if (transport !== this.#transport) return;
                    wire.note('server', message);
                    if (message.method === undefined) open.delete(message.id);
                    if (!this.#raw.takes(message)) pass(forLibrary(message));
                });
            },
        });
        this.#transport = transport;
        return transport;
    }

    #answerQuestions(client: Client): void {
        // The library checks the answer, and refuses a `bigint` in it.
        const ask = (method: QuestionMethod) => async (request: any, context: any) => withMarks(await this.questions.ask(method, request.params, context?.mcpReq?.signal));
        client.setRequestHandler('elicitation/create', ask('elicitation/create'));
        client.setRequestHandler('sampling/createMessage', ask('sampling/createMessage'));
        client.setRequestHandler('roots/list', ask('roots/list'));
    }

    async #load(client: Client): Promise<void> {
        const { capabilities } = this.offer.value;
        const fresh = { cacheMode: 'refresh' } as const;
        const [tools, prompts] = await Promise.all([
            capabilities.tools ? client.listTools(undefined, fresh) : { tools: [] },
            capabilities.prompts ? client.listPrompts(undefined, fresh) : { prompts: [] },
            capabilities.resources ? this.#loadResources(client) : undefined,
        ]);
        if (client === this.#client) this.offer.patch({ tools: tools.tools, prompts: prompts.prompts });
    }

    async #loadResources(client: Client): Promise<void> {
        const fresh = { cacheMode: 'refresh' } as const;
        const [found, templates] = await Promise.all([client.listResources(undefined, fresh), client.listResourceTemplates(undefined, fresh)]);
        if (client === this.#client) this.offer.patch({ resources: found.resources, templates: templates.resourceTemplates });
    }

    async close(): Promise<void> {
        const [client, transport] = [this.#client, this.#transport];
        this.#client = this.#transport = this.#listening = undefined;
        this.subscribed.set({});
        this.#raw.close();
        // The server may be gone, and a session ends by itself then.
        if (transport?.sessionId) await transport.terminateSession().catch(() => {});
        await client?.close().catch(() => {});
    }

    async logIn(choice: Choice): Promise<void> {
        this.login.mayLeave = true;
        await this.connect(choice);
        // The browser leaves the page now, or the login has failed.
        this.login.mayLeave = false;
    }

    // Sends a request. Progress and log lines come through the options and the log.
    request(method: 'tools/call' | 'prompts/get' | 'resources/read', params: any, options: any): Promise<any> {
        return this.#client!.request({ method, params: this.#withLogLevel(params) } as any, { ...NO_TIMEOUT, ...options });
    }

    #withLogLevel(params: any): any {
        if (!this.isModern || !this.offer.value.capabilities.logging) return params;
        return { ...params, _meta: { ...params._meta, [LOG_LEVEL]: this.log.level.value } };
    }

    async complete(ref: any, name: string, value: string, others: Record<string, unknown>, signal: AbortSignal): Promise<string[]> {
        if (!this.offer.value.capabilities.completions) return [];
        // A link may have numbers, where the protocol expects texts.
        const given = Object.fromEntries(Object.entries(others).map(([other, text]) => [other, String(text)]));
        const context = Object.keys(given).length ? { context: { arguments: given } } : {};
        const { completion } = await this.#client!.complete({ ref, argument: { name, value }, ...context }, { signal });
        return completion.values;
    }

    // Returns the current connection. The tasks extension needs it, because the client library has no methods for its requests.
    session(): Session {
        const [transport, isModern] = [this.#transport, this.isModern];
        const envelope = {
            'io.modelcontextprotocol/protocolVersion': MODERN,
            'io.modelcontextprotocol/clientInfo': INFO,
            'io.modelcontextprotocol/clientCapabilities': { ...CAPABILITIES, extensions: { ...CAPABILITIES.extensions, [TASKS]: {} } },
        };
        const request: Session['request'] = async (method, params, signal, headers) => {
            if (!transport || transport !== this.#transport) throw new Error('The connection was closed');
            const full = isModern ? { ...params, _meta: { ...envelope, ...params._meta } } : params;
            return this.#raw.request(method, full, (message) => transport.send(message as JSONRPCMessage, { headers }), signal);
        };
        return { isModern, request };
    }

    // Returns the failure of a request of this connection.
    failureOf(error: unknown): Failure {
        return failureOf(error, () => this.login.refusal());
    }

    rawProgress = (onprogress: (progress: any) => void) => this.#raw.progress(onprogress);

    async setLogLevel(level: typeof this.log.level.value): Promise<void> {
        this.log.level.set(level);
        if (this.offer.value.capabilities.logging && !this.isModern) await this.#client?.setLoggingLevel(level);
    }

    async subscribe(uri: string, wanted: boolean): Promise<void> {
        const client = this.#client!;
        const { [uri]: _, ...others } = this.subscribed.value;
        const next = wanted ? { ...others, [uri]: 0 } : others;
        try {
            await this.#subscribe(client, uri, wanted, Object.keys(next));
        } catch (error) {
            // The old stream of the newest revision has ended, so no subscription is left. The box is drawn again in each revision.
            if (client === this.#client) this.subscribed.set(this.isModern ? {} : { ...this.subscribed.value });
            throw error;
        }
        if (client === this.#client) this.subscribed.set(next);
    }

    async #subscribe(client: Client, uri: string, wanted: boolean, all: string[]): Promise<void> {
        if (this.isModern) {
            await this.#listening?.close();
            this.#listening = undefined;
            if (!all.length) return;
            const opened = await client.listen({ resourceSubscriptions: all });
            this.#listening = opened;
            void this.#keepListening(client, opened);
        } else if (wanted) {
            await client.subscribeResource({ uri });
        } else {
            await client.unsubscribeResource({ uri });
        }
    }

    // Opens a stream of notifications again when it has ended. If the server is gone, this waits until a request reaches it.
    async #keepListening(client: Client, stream: McpSubscription): Promise<void> {
        const isOfResources = stream === this.#listening;
        const isWanted = () => client === this.#client && (!isOfResources || stream === this.#listening);
        if ((await stream.closed) === 'local') return;
        await new Promise((resolve) => setTimeout(resolve, LISTEN_PAUSE_MS));
        while (isWanted()) {
            try {
                const again = await client.listen(stream.honoredFilter);
                if (!isWanted()) return void again.close();
                if (isOfResources) this.#listening = again;
                void this.#keepListening(client, again);
                // The lists may have changed meanwhile.
                if (!isOfResources) void this.#load(client).catch(() => {});
                return;
            } catch {
                if (!this.offer.value.lost) break;
                await this.#answering();
            }
        }
        if (isOfResources && isWanted()) this.subscribed.set({});
    }

    // Waits until a request has reached the server, or until the connection is another one.
    #answering(): Promise<void> {
        return new Promise((resolve) => {
            const stop = this.offer.subscribe(() => {
                if (this.offer.value.lost) return;
                stop();
                resolve();
            });
        });
    }

    #updated(uri: string): void {
        const count = this.subscribed.value[uri];
        if (count !== undefined) this.subscribed.patch({ [uri]: count + 1 });
    }
}
