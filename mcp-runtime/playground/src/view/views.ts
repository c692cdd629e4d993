// The views of tools that are open: that of the current call, and those that are about to go away.

import { INFO, type Connection } from '../connection.ts';
import { VIEW } from '../endpoint.ts';
import { exactSchema, plainTool, withNumbers } from '../exact.ts';
import type { Failure } from '../failure.ts';
import { headersOf } from '../headers.ts';
import { LEVELS } from '../log_lines.ts';
import type { Run, Runs } from '../runs.ts';
import { Store } from '../store.ts';
import type { Message } from '../wire.ts';
import { hostContext, MOST_HEIGHT, watchContext } from './host_context.ts';
import { declaredSources, viewUrl, type Sources } from './sources.ts';
import { documentOf, isVisible, mayChange, viewUri } from './tool_ui.ts';
import { ViewCalls, type CallBegun } from './view_calls.ts';
import { DENIED, INVALID_PARAMS, messageOf, Refusal, ViewHost, type ViewServices } from './view_host.ts';

const FIRST_HEIGHT = 160;
const LEAST_HEIGHT = 40;
const MOST_MESSAGES = 20;
// Time that a view has to answer before it goes away, in milliseconds.
const TEARDOWN_TIME = 1000;
// Time that a view has to send `ui/initialize`, in milliseconds.
export const BEGINNING_TIME = 5000;

type ViewMessage = { role: string; content: any[] };

export type ViewState = {
    // The address of the document, as soon as the resource has been read.
    src?: string;
    sources?: Sources;
    hasBorder: boolean;
    height: number;
    // Reason why the view cannot be shown.
    failure?: Failure;
    // Whether the view has not begun in time.
    isSilent: boolean;
    messages: ViewMessage[];
    modelContext?: { content: any[]; structuredContent?: unknown };
    isLeaving: boolean;
};

export class View {
    readonly state = new Store<ViewState>({ hasBorder: true, height: FIRST_HEIGHT, messages: [], isSilent: false, isLeaving: false });
    readonly number: number;
    readonly tool: any;
    readonly calls: ViewCalls;
    readonly #begun: number;
    // Ends the questions about calls together with the view.
    #end = new AbortController();
    #host: ViewHost;
    #html = '';
    #frame?: HTMLIFrameElement;
    #isOver = false;

    constructor(
        readonly connection: Connection,
        readonly uri: string,
        tool: any,
        run: Run,
    ) {
        this.number = run.number;
        this.tool = tool;
        this.#begun = connection.begun.value;
        this.calls = new ViewCalls((call) => this.#askConsent(call), (error) => connection.failureOf(error));
        this.#host = new ViewHost((message) => this.#send(message), this.#services());
        this.#host.input(run.args);
        void this.#load();
    }

    async #load(): Promise<void> {
        const { connection, uri, state } = this;
        try {
            if (!uri.startsWith('ui://')) throw new Error(`The address ${uri} of the view does not begin with ui://`);
            const result = await connection.request('resources/read', { uri }, {});
            const listed = connection.offer.value.resources.find((resource) => resource.uri === uri);
            const { html, ui } = documentOf(uri, result, listed);
            this.#html = html;
            const sources = declaredSources(ui?.csp);
            state.patch({ sources, src: viewUrl(VIEW, sources), hasBorder: ui?.prefersBorder !== false });
        } catch (error) {
            state.patch({ failure: connection.failureOf(error) });
        }
    }

    // Tells the view when its call has ended.
    follow({ state, result, failure }: Run): void {
        if (state === 'running' || this.#isOver) return;
        this.#isOver = true;
        if (result) this.#host.result(result);
        else this.#host.cancelled(failure?.message ?? 'The user has cancelled the call');
    }

    // Connects the view to its frame, which is about to load the empty document. Returns a function that ends the connection.
    attach(frame: HTMLIFrameElement): () => void {
        this.#frame = frame;
        // The origin of the frame is opaque, so it has no name.
        const fill = () => {
            frame.contentWindow?.postMessage({ playgroundView: this.#html }, '*');
            this.#host.expectBeginning(BEGINNING_TIME);
        };
        // A view can navigate its frame to the empty document again, with sources of its own choice in the address. The page never fills that one.
        frame.addEventListener('load', fill, { once: true });
        const receive = ({ source, origin, data }: MessageEvent) => {
            if (source !== frame.contentWindow || origin !== 'null') return;
            const message = messageOf(data);
            if (!message) return;
            this.connection.wire.note('server', message, 'view');
            this.#host.receive(message);
        };
        addEventListener('message', receive);
        const unwatch = watchContext(frame, (change) => this.#host.contextChanged(change));
        return () => {
            removeEventListener('message', receive);
            unwatch();
        };
    }

    // Waits until the view has agreed to end, for at most `TEARDOWN_TIME`. Until then, the view may still use its connection, if that is open.
    async close(): Promise<void> {
        this.state.patch({ isLeaving: true });
        this.#end.abort();
        if (this.#isDisconnected) this.#host.close();
        const late = new Promise((resolve) => setTimeout(resolve, TEARDOWN_TIME));
        await Promise.race([this.#host.teardown('The page shows something else'), late]);
        this.#host.close();
    }

    get #isDisconnected(): boolean {
        return this.connection.begun.value !== this.#begun;
    }

    #send(message: Message): void {
        // Views of other hosts get numbers, too, and not the type for large ones.
        const plain = withNumbers(message, () => false);
        this.connection.wire.note('client', plain, 'view');
        this.#frame?.contentWindow?.postMessage(plain, '*');
    }

    // Sends a request of the view, and lists it as a call.
    #request(call: CallBegun, signal: AbortSignal, send: () => Promise<any>): Promise<any> {
        return this.calls.run(call, signal, async () => {
            // The server of the new connection may be another one, or know another user.
            if (this.#isDisconnected) throw new Refusal(DENIED, 'The connection of this view has ended');
            return send();
        });
    }

    #callTool(name: string, args: any, signal: AbortSignal): Promise<any> {
        const { connection } = this;
        const called = connection.offer.value.tools.find((known) => known.name === name);
        const isAllowed = called !== undefined && isVisible(called, 'app');
        const send = () => {
            if (!called) throw new Refusal(INVALID_PARAMS, `The server has no tool “${name}”`);
            if (!isAllowed) throw new Refusal(INVALID_PARAMS, `The tool “${name}” is not for views`);
            const headers = connection.isModern ? headersOf(exactSchema(called, 'inputSchema'), args) : {};
            return connection.request('tools/call', { name, arguments: args }, { signal, headers });
        };
        return this.#request({ kind: 'tool', name, args, mayChange: isAllowed && mayChange(called) }, signal, send);
    }

    async #askConsent({ name, args }: CallBegun): Promise<void> {
        const { connection, tool } = this;
        const title = connection.offer.value.tools.find((known) => known.name === name)?.title;
        const answered = this.#ask('view/call', { tool: tool.name, name, title, args }, this.#end.signal);
        try {
            await answered;
        } catch {
            this.#refuseWhileLeaving();
            throw new Refusal(DENIED, 'The user has refused calls of this view that may change something');
        }
    }

    #ask(method: 'ui/open-link' | 'view/call', params: any, signal: AbortSignal): Promise<any> {
        this.#refuseWhileLeaving();
        return this.connection.questions.ask(method, params, signal);
    }

    // A view that is about to go away is hidden, so the user would not know why it asks.
    #refuseWhileLeaving(): void {
        if (this.state.value.isLeaving) throw new Refusal(DENIED, 'The view is about to go away');
    }

    #services(): ViewServices {
        const { connection, tool, state } = this;
        return {
            info: { name: INFO.name, version: INFO.version },
            context: () => ({ toolInfo: { tool: plainTool(tool) }, ...hostContext(this.#frame) }),
            capabilities: () => {
                const blocks = { text: {}, image: {}, audio: {}, resource: {}, resourceLink: {} };
                const sandbox = { permissions: {}, csp: state.value.sources?.allowed ?? {} };
                return { openLinks: {}, serverTools: {}, serverResources: {}, logging: {}, sandbox, message: blocks, updateModelContext: { ...blocks, structuredContent: {} } };
            },
            callTool: (name, args, signal) => this.#callTool(name, args, signal),
            readResource: (uri, signal) => this.#request({ kind: 'resource', name: uri, mayChange: false }, signal, () => connection.request('resources/read', { uri }, { signal })),
            openLink: (url, signal) => this.#ask('ui/open-link', { url, tool: tool.name }, signal),
            message: (role, content) => state.patch({ messages: [...state.value.messages, { role, content }].slice(-MOST_MESSAGES) }),
            modelContext: (modelContext) => state.patch({ modelContext }),
            log: ({ level, logger, data }) => {
                const known = LEVELS.find((name) => name === level) ?? 'info';
                connection.log.add({ level: known, logger: typeof logger === 'string' ? `view ${logger}` : 'view', data }, true);
            },
            resize: (height) => state.patch({ height: Math.min(Math.max(Math.ceil(height), LEAST_HEIGHT), MOST_HEIGHT) }),
            silent: (isSilent) => state.patch({ isSilent }),
            explain: (error) => connection.failureOf(error).message,
        };
    }
}

export class Views {
    readonly open = new Store<View[]>([]);
    // Number of the last call whose view has begun.
    #last = 0;

    constructor(
        readonly connection: Connection,
        runs: Runs,
    ) {
        runs.current.subscribe(() => this.#follow(runs.current.value));
        connection.begun.subscribe(() => this.#closeAllBut(undefined));
    }

    #follow(run: Run | undefined): void {
        this.#closeAllBut(run);
        if (run?.kind !== 'tool') return;
        const open = this.open.value.find(({ number }) => number === run.number);
        const view = open ?? this.#begin(run);
        view?.follow(run);
    }

    #closeAllBut(run: Run | undefined): void {
        for (const view of this.open.value) if (view.number !== run?.number && !view.state.value.isLeaving) void this.#close(view);
    }

    #begin(run: Run): View | undefined {
        const tool = this.connection.offer.value.tools.find(({ name }) => name === run.name);
        const uri = viewUri(tool);
        // A call that has ended begins no view: its tool has got one only now. A view that has ended with its connection does not come back.
        if (uri === undefined || run.state !== 'running' || run.number === this.#last) return undefined;
        this.#last = run.number;
        const view = new View(this.connection, uri, tool, run);
        this.open.set([...this.open.value, view]);
        return view;
    }

    async #close(view: View): Promise<void> {
        await view.close();
        this.open.set(this.open.value.filter((other) => other !== view));
    }
}
