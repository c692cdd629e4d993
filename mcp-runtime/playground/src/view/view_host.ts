// The side of the page in the protocol between a view and the page (MCP Apps, stable version of 2026-01-26). The official host library is larger
// than what is left of the size of the page.

import { rpcCodeOf } from '../failure.ts';
import type { Message } from '../wire.ts';

export const VIEW_REVISION = '2026-01-26';

// What a view may ask of the page. A promise that is rejected becomes an error of the request.
export type ViewServices = {
    context(): Record<string, unknown>;
    capabilities(): Record<string, unknown>;
    info: { name: string; version: string };
    callTool(name: string, args: any, signal: AbortSignal): Promise<any>;
    readResource(uri: string, signal: AbortSignal): Promise<any>;
    openLink(url: string, signal: AbortSignal): Promise<void>;
    message(role: string, content: any[]): void;
    modelContext(context: { content: any[]; structuredContent?: unknown }): void;
    log(params: { level: unknown; logger?: unknown; data: unknown }): void;
    resize(height: number): void;
    // Reports whether `ui/initialize` of the view is late.
    silent(isSilent: boolean): void;
    // Returns the message for an error of a request.
    explain(error: unknown): string;
};

export class Refusal extends Error {
    readonly code: number;
    readonly data?: unknown;

    constructor(code: number, message: string, data?: unknown) {
        super(message);
        [this.code, this.data] = [code, data];
    }
}

export const INVALID_PARAMS = -32602;
export const DENIED = -32000;
const TEARDOWN = 'teardown';

// Returns the JSON-RPC message that a window has sent, or `undefined` for anything else. Only what JSON can express is kept of it.
export function messageOf(data: unknown): Message | undefined {
    if (typeof data !== 'object' || data === null) return undefined;
    let message: any;
    try {
        message = JSON.parse(JSON.stringify(data));
    } catch {
        return undefined;
    }
    const { jsonrpc, id, method } = message;
    const hasId = typeof id === 'string' || typeof id === 'number';
    if (jsonrpc !== '2.0' || (id !== undefined && !hasId)) return undefined;
    if (method === undefined) return hasId && ('result' in message || 'error' in message) ? message : undefined;
    return typeof method === 'string' ? message : undefined;
}

const isBlock = (block: any) => typeof block?.type === 'string' && (block.type !== 'text' || typeof block.text === 'string');

// The content of a message is one block in the specification, and a list in the official library.
function blocksOf(content: any): any[] {
    const blocks = [content ?? []].flat();
    if (!blocks.every(isBlock)) throw new Refusal(INVALID_PARAMS, 'The content has to be a list of content blocks');
    return blocks;
}

function text(params: any, name: string): string {
    if (typeof params?.[name] !== 'string') throw new Refusal(INVALID_PARAMS, `The parameter “${name}” has to be a text`);
    return params[name];
}

export class ViewHost {
    // Notifications that wait until the view is ready. Before that, the page may send none.
    #queue: Message[] = [];
    #isAsked = false;
    #isReady = false;
    #running = new Map<string, AbortController>();
    #tornDown?: () => void;
    #beginning?: ReturnType<typeof setTimeout>;
    #isSilent = false;
    #isLinkOpen = false;
    readonly send: (message: Message) => void;
    readonly services: ViewServices;

    constructor(send: (message: Message) => void, services: ViewServices) {
        [this.send, this.services] = [send, services];
    }

    // Tells the view about its call. The input comes first, and the end of the call after it.
    input(args: any): void {
        this.#notify('ui/notifications/tool-input', { arguments: args ?? {} });
    }

    result(result: any): void {
        this.#notify('ui/notifications/tool-result', result);
    }

    cancelled(reason: string): void {
        this.#notify('ui/notifications/tool-cancelled', { reason });
    }

    contextChanged(change: Record<string, unknown>): void {
        // A view that has not asked yet gets the new context with its answer.
        if (this.#isAsked) this.#notify('ui/notifications/host-context-changed', change);
    }

    // Starts the time for `ui/initialize`, in milliseconds, when the view has its document.
    expectBeginning(time: number): void {
        const late = () => {
            this.#isSilent = true;
            this.services.silent(true);
        };
        if (!this.#isAsked) this.#beginning = setTimeout(late, time);
    }

    // Tells the view that it goes away. Returns when the view has answered, and at once if it was never ready.
    async teardown(reason: string): Promise<void> {
        if (this.#isReady) {
            const answered = new Promise<void>((resolve) => (this.#tornDown = resolve));
            this.send({ jsonrpc: '2.0', id: TEARDOWN, method: 'ui/resource-teardown', params: { reason } });
            await answered;
        }
    }

    // Ends the requests of the view that still run.
    close(): void {
        clearTimeout(this.#beginning);
        for (const abort of this.#running.values()) abort.abort(new DOMException('The view was closed', 'AbortError'));
    }

    receive(message: Message): void {
        if (message.method === undefined) {
            if (message.id === TEARDOWN) this.#tornDown?.();
        } else if (message.id === undefined) {
            this.#noted(message.method, message.params);
        } else {
            void this.#answer(message);
        }
    }

    #notify(method: string, params: any): void {
        const message = { jsonrpc: '2.0', method, params };
        if (this.#isReady) this.send(message);
        else this.#queue.push(message);
    }

    #noted(method: string, params: any): void {
        switch (method) {
            case 'ui/notifications/initialized':
                if (!this.#isAsked || this.#isReady) return;
                this.#isReady = true;
                for (const message of this.#queue.splice(0)) this.send(message);
                return;
            case 'ui/notifications/size-changed':
                if (Number.isFinite(params?.height)) this.services.resize(params.height);
                return;
            case 'notifications/message':
                return this.services.log(params ?? {});
            case 'notifications/cancelled':
                this.#running.get(JSON.stringify(params?.requestId))?.abort(new DOMException('The view has cancelled the request', 'AbortError'));
        }
    }

    async #answer({ id, method, params }: Message): Promise<void> {
        const abort = new AbortController();
        const key = JSON.stringify(id);
        this.#running.set(key, abort);
        let answer: Message;
        try {
            answer = { jsonrpc: '2.0', id, result: await this.#handle(method!, params, abort.signal) };
        } catch (error: any) {
            const code = rpcCodeOf(error);
            const data = code === undefined || error.data === undefined ? {} : { data: error.data };
            answer = { jsonrpc: '2.0', id, error: { code: code ?? DENIED, message: this.services.explain(error), ...data } };
        }
        // The view may have used the id again.
        if (this.#running.get(key) === abort) this.#running.delete(key);
        // A request that was cancelled gets no answer.
        if (!abort.signal.aborted) this.send(answer);
    }

    async #handle(method: string, params: any, signal: AbortSignal): Promise<any> {
        const { services } = this;
        switch (method) {
            case 'ui/initialize':
                if (!this.#isAsked) this.#begun();
                return { protocolVersion: VIEW_REVISION, hostInfo: services.info, hostCapabilities: services.capabilities(), hostContext: services.context() };
            case 'ping':
                return {};
            case 'tools/call':
                return services.callTool(text(params, 'name'), params.arguments ?? {}, signal);
            case 'resources/read':
                return services.readResource(text(params, 'uri'), signal);
            case 'ui/open-link':
                await this.#openLink(text(params, 'url'), signal);
                return {};
            case 'ui/message':
                services.message(text(params, 'role'), blocksOf(params.content));
                return {};
            case 'ui/update-model-context':
                services.modelContext({ content: blocksOf(params?.content), structuredContent: params?.structuredContent });
                return {};
            case 'ui/request-display-mode':
                return { mode: 'inline' };
            default:
                throw new Refusal(-32601, `The playground does not have the method “${method}”`);
        }
    }

    #begun(): void {
        this.#isAsked = true;
        clearTimeout(this.#beginning);
        if (this.#isSilent) this.services.silent(false);
    }

    // The user sees the address as the browser reads it: the text of the view may look like another host.
    async #openLink(text: string, signal: AbortSignal): Promise<void> {
        if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) throw new Refusal(DENIED, 'Invalid URL: only pages of the web can be opened');
        // Otherwise a view could bury the page under questions.
        if (this.#isLinkOpen) throw new Refusal(DENIED, 'The user has not answered the last request to open a page');
        this.#isLinkOpen = true;
        try {
            await this.services.openLink(new URL(text).href, signal);
        } finally {
            this.#isLinkOpen = false;
        }
    }
}
