// Requests of methods that the client library lacks, sent as plain messages, and the responses that they wait for.

import type { Message } from './wire.ts';

type Waiting = { settle: (answer: Message) => void; reject: (reason: unknown) => void };
export type Send = (message: Message) => Promise<void>;

export class RawRequests {
    #waiting = new Map<string, Waiting>();
    #listeners = new Map<unknown, (progress: any) => void>();
    #last = 0;

    // Sends a request, and returns the whole answer. The server hears of it if the signal aborts before.
    async request(method: string, params: any, send: Send, signal?: AbortSignal): Promise<Message> {
        signal?.throwIfAborted();
        this.#last += 1;
        const id = `task-request-${this.#last}`;
        let reject: Waiting['reject'] = () => {};
        const answered = new Promise<Message>((resolve, refuse) => {
            reject = refuse;
            this.#waiting.set(id, { settle: resolve, reject });
        });
        const abort = () => {
            reject(signal!.reason);
            const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: String(signal!.reason?.message ?? signal!.reason) } };
            // A server that is gone needs no notice.
            send(cancelled).catch(() => {});
        };
        signal?.addEventListener('abort', abort, { once: true });
        try {
            // The response of a stream may be here before the request counts as sent, and `close` may come before both.
            send({ jsonrpc: '2.0', id, method, params }).catch(reject);
            return await answered;
        } finally {
            this.#waiting.delete(id);
            signal?.removeEventListener('abort', abort);
        }
    }

    // Returns a token for progress notifications, which may come until `stop` is called: those of a task outlive its first response.
    progress(onprogress: (progress: any) => void): { token: string; stop: () => void } {
        this.#last += 1;
        const token = `task-progress-${this.#last}`;
        this.#listeners.set(token, onprogress);
        return { token, stop: () => void this.#listeners.delete(token) };
    }

    // Takes a message of the server if it answers one of these requests, or tells about their progress.
    takes(message: Message): boolean {
        const listener = message.method === 'notifications/progress' ? this.#listeners.get(message.params?.progressToken) : undefined;
        listener?.(message.params);
        if (listener) return true;
        const waiting = message.method === undefined ? this.#waiting.get(String(message.id)) : undefined;
        waiting?.settle(message);
        return waiting !== undefined;
    }

    // Ends all requests, because the connection has ended.
    close(): void {
        for (const { reject } of this.#waiting.values()) reject(new Error('The connection was closed'));
    }
}
