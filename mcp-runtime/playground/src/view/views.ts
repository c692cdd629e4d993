// The views of tools that are open: that of the current call, and those that are about to go away.

import { INFO, type Connection } from '../connection.ts';
import { VIEW } from '../endpoint.ts';
import { exactSchema, plainTool, withNumbers } from '../exact.ts';
import { headersOf } from '../headers.ts';
import { LEVELS } from '../log_lines.ts';
import type { Run, Runs } from '../runs.ts';
import { Store } from '../store.ts';
import type { Message } from '../wire.ts';
import { hostContext, MOST_HEIGHT, watchContext } from './host_context.ts';
import { declaredSources, viewUrl, type Sources } from './sources.ts';
import { documentOf, isVisible, viewUri } from './tool_ui.ts';
import { messageOf, Refusal, ViewHost, type ViewServices } from './view_host.ts';

const FIRST_HEIGHT = 160;
const LEAST_HEIGHT = 40;
const MOST_MESSAGES = 20;
// Time that a view has to answer before it goes away, in milliseconds.
const TEARDOWN_TIME = 1000;

type ViewMessage = { role: string; content: any[] };

export type ViewState = {
    // The address of the document, as soon as the resource has been read.
    src?: string;
    sources?: Sources;
    hasBorder: boolean;
    height: number;
    problem?: string;
    messages: ViewMessage[];
    modelContext?: { content: any[]; structuredContent?: unknown };
    isLeaving: boolean;
};

export class View {
    readonly state = new Store<ViewState>({ hasBorder: true, height: FIRST_HEIGHT, messages: [], isLeaving: false });
    readonly number: number;
    readonly tool: any;
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
            state.patch({ problem: connection.failureOf(error).message });
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
        const fill = () => frame.contentWindow?.postMessage({ playgroundView: this.#html }, '*');
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

    // Waits until the view has answered that it may go away, but not for long.
    async close(): Promise<void> {
        this.state.patch({ isLeaving: true });
        const late = new Promise((resolve) => setTimeout(resolve, TEARDOWN_TIME));
        await Promise.race([this.#host.teardown('The page shows something else'), late]);
        this.#host.close();
    }

    #send(message: Message): void {
        // Views of other hosts get numbers, too, and not the type for large ones.
        const plain = withNumbers(message, () => false);
        this.connection.wire.note('client', plain, 'view');
        this.#frame?.contentWindow?.postMessage(plain, '*');
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
            callTool: (name, args, signal) => {
                const called = connection.offer.value.tools.find((known) => known.name === name);
                if (!called) throw new Refusal(-32602, `The server has no tool “${name}”`);
                if (!isVisible(called, 'app')) throw new Refusal(-32602, `The tool “${name}” is not for views`);
                const headers = connection.isModern ? headersOf(exactSchema(called, 'inputSchema'), args) : {};
                return connection.request('tools/call', { name, arguments: args }, { signal, headers });
            },
            readResource: (uri, signal) => connection.request('resources/read', { uri }, { signal }),
            openLink: (url, signal) => connection.questions.ask('ui/open-link', { url, tool: tool.name }, signal),
            message: (role, content) => state.patch({ messages: [...state.value.messages, { role, content }].slice(-MOST_MESSAGES) }),
            modelContext: (modelContext) => state.patch({ modelContext }),
            log: ({ level, logger, data }) => {
                const known = LEVELS.find((name) => name === level) ?? 'info';
                connection.log.add({ level: known, logger: typeof logger === 'string' ? `view ${logger}` : 'view', data }, true);
            },
            resize: (height) => state.patch({ height: Math.min(Math.max(Math.ceil(height), LEAST_HEIGHT), MOST_HEIGHT) }),
            explain: (error) => connection.failureOf(error).message,
        };
    }
}

export class Views {
    readonly open = new Store<View[]>([]);

    constructor(
        readonly connection: Connection,
        runs: Runs,
    ) {
        runs.current.subscribe(() => this.#follow(runs.current.value));
    }

    #follow(run: Run | undefined): void {
        for (const view of this.open.value) if (view.number !== run?.number && !view.state.value.isLeaving) void this.#close(view);
        if (run?.kind !== 'tool') return;
        const open = this.open.value.find(({ number }) => number === run.number);
        const view = open ?? this.#begin(run);
        view?.follow(run);
    }

    #begin(run: Run): View | undefined {
        const tool = this.connection.offer.value.tools.find(({ name }) => name === run.name);
        const uri = viewUri(tool);
        // A call that has ended begins no view: its tool has got one only now.
        if (uri === undefined || run.state !== 'running') return undefined;
        const view = new View(this.connection, uri, tool, run);
        this.open.set([...this.open.value, view]);
        return view;
    }

    async #close(view: View): Promise<void> {
        await view.close();
        this.open.set(this.open.value.filter((other) => other !== view));
    }
}
