// One use of an item: its progress while it runs, and its result.

import type { ItemKind } from './address.ts';
import type { Connection } from './connection.ts';
import type { Failure } from './failure.ts';
import { headersOf } from './headers.ts';
import { remember } from './history.ts';
import type { LogLine } from './log_lines.ts';
import type { Draft } from './schema/draft.ts';
import type { Schema } from './schema/shape.ts';
import { withoutSecrets } from './shared_args.ts';
import { Store } from './store.ts';
import type { TaskState, Tasks } from './tasks.ts';

export type Progress = { progress: number; total?: number; message?: string };
export type RunState = 'running' | 'done' | 'failed' | 'cancelled';

export type Run = {
    number: number;
    kind: ItemKind;
    // `item` identifies the item in the list. `name` is the tool, the prompt or the URI of the request.
    item: string;
    name: string;
    args: Draft;
    // Whether the user has asked for a task. The server may run the call without it.
    asTask: boolean;
    state: RunState;
    progress?: Progress;
    task?: TaskState;
    // Number of the first log line that may belong to this run.
    firstLine: number;
    lines: LogLine[];
    result?: any;
    failure?: Failure;
    ms?: number;
    size?: number;
};

// `item` is the id of the item in the list, and `name` is the tool, prompt or URI of the request.
export type Request = { kind: ItemKind; item: string; name: string; args: Draft; asTask: boolean; schema: Schema };

export class Runs {
    readonly current = new Store<Run | undefined>(undefined);
    #abort?: AbortController;
    #last = 0;

    constructor(
        readonly connection: Connection,
        readonly tasks: Tasks,
    ) {}

    show(run: Run | undefined): void {
        if (this.current.value?.state !== 'running') this.current.set(run);
    }

    cancel(): void {
        this.#abort?.abort(new DOMException('The user has cancelled the call', 'AbortError'));
    }

    // Cancels the call, and forgets it together with what is still to come of it.
    forget(): void {
        this.cancel();
        this.#last += 1;
        this.current.set(undefined);
    }

    async start(request: Request): Promise<void> {
        const abort = new AbortController();
        this.#abort = abort;
        const { log } = this.connection;
        const first = (log.lines.value.at(-1)?.number ?? 0) + 1;
        this.#last += 1;
        let run: Run = { number: this.#last, kind: request.kind, item: request.item, name: request.name, args: request.args, asTask: request.asTask, state: 'running', firstLine: first, lines: [] };
        const change = (part: Partial<Run>) => {
            run = { ...run, ...part };
            // A cancelled task may change after the next run has begun.
            if (run.number === this.#last) this.current.set(run);
        };
        change({});
        const unsubscribe = log.lines.subscribe(() => change({ lines: log.lines.value.filter(({ number, isOfView }) => number >= first && !isOfView) }));
        // The progress option of the client library would also count each question of the server.
        const { token, stop } = this.connection.rawProgress((progress: Progress) => change({ progress }));
        const begun = performance.now();
        const end = (part: Partial<Run>) => change({ ...part, ms: performance.now() - begun });
        try {
            const result = await this.#send(request, abort.signal, token, (task) => change({ task }));
            const size = new TextEncoder().encode(JSON.stringify(result)).length;
            end({ state: result?.isError ? 'failed' : 'done', result, size });
        } catch (error: any) {
            if (abort.signal.aborted || error?.name === 'AbortError') end({ state: 'cancelled' });
            else end({ state: 'failed', failure: this.connection.failureOf(error) });
        } finally {
            unsubscribe();
            stop();
        }
        const outcome = run.state === 'running' ? 'done' : run.state;
        remember({ kind: request.kind, item: request.item, name: request.name, args: withoutSecrets(request.args, request.schema), at: Date.now(), ms: run.ms ?? 0, outcome });
    }

    #send({ kind, name, args, asTask, schema }: Request, signal: AbortSignal, progressToken: string, changed: (task: TaskState) => void): Promise<any> {
        const _meta = { progressToken };
        switch (kind) {
            case 'tool': {
                const headers = this.connection.isModern ? headersOf(schema, args) : {};
                const params = { name, arguments: args ?? {}, _meta };
                return asTask ? this.tasks.call(params, signal, changed, headers) : this.connection.request('tools/call', params, { signal, headers });
            }
            case 'prompt':
                return this.connection.request('prompts/get', { name, arguments: args ?? {}, _meta }, { signal });
            default:
                return this.connection.request('resources/read', { uri: name, _meta }, { signal });
        }
    }
}
