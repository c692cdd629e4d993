// The calls of a view: the list that the page shows, and the consent of the user to calls that may change something.

import type { Failure } from '../failure.ts';
import { Store } from '../store.ts';

// A call with the state `asking` waits until the user has decided.
export type CallState = 'asking' | 'running' | 'done' | 'failed' | 'cancelled';

// Call of a tool, or read of a resource, whose `name` is its URI.
export type ViewCall = { number: number; kind: 'tool' | 'resource'; name: string; args?: any; state: CallState; ms?: number; failure?: Failure };
export type CallBegun = Pick<ViewCall, 'kind' | 'name' | 'args'> & { mayChange: boolean };

const MOST_CALLS = 20;

export class ViewCalls {
    // The newest calls, and the number of all calls.
    readonly state = new Store<{ list: ViewCall[]; count: number }>({ list: [], count: 0 });
    // Answer of the user, which holds for all calls of the view that may change something. Otherwise a view could ask until the user gives in.
    #consent?: Promise<void>;
    readonly ask: (first: CallBegun) => Promise<void>;
    readonly failureOf: (error: unknown) => Failure;

    // `ask` rejects if the user refuses.
    constructor(ask: (first: CallBegun) => Promise<void>, failureOf: (error: unknown) => Failure) {
        [this.ask, this.failureOf] = [ask, failureOf];
    }

    // Lists a call, asks the user if it may change something, and sends it.
    async run(call: CallBegun, signal: AbortSignal, send: () => Promise<any>): Promise<any> {
        const { kind, name, args, mayChange } = call;
        const number = this.state.value.count + 1;
        const first: ViewCall = { number, kind, name, args, state: mayChange ? 'asking' : 'running' };
        this.state.set({ count: number, list: [first, ...this.state.value.list].slice(0, MOST_CALLS) });
        const change = (part: Partial<ViewCall>) => this.state.patch({ list: this.state.value.list.map((other) => (other.number === number ? { ...other, ...part } : other)) });
        try {
            if (mayChange) {
                this.#consent ??= this.ask(call);
                await unlessAborted(this.#consent, signal);
                change({ state: 'running' });
            }
            const begun = performance.now();
            const result = await send();
            change({ state: result?.isError ? 'failed' : 'done', ms: performance.now() - begun });
            return result;
        } catch (error) {
            change(signal.aborted ? { state: 'cancelled' } : { state: 'failed', failure: this.failureOf(error) });
            throw error;
        }
    }
}

// Waits for a promise, and rejects at once when the signal aborts.
async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    let abort = () => {};
    const aborted = new Promise<never>((_, reject) => {
        abort = () => reject(signal.reason);
        signal.addEventListener('abort', abort);
    });
    try {
        await Promise.race([promise, aborted]);
    } finally {
        signal.removeEventListener('abort', abort);
    }
}
