// Tasks of the server that this page has started, in both dialects: that of revision 2025-11-25, and the extension of 2026-07-28.

import type { Connection, Session } from './connection.ts';
import { explain } from './failure.ts';
import { Store } from './store.ts';
import type { Message } from './wire.ts';

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
// `lost` is the reason if the page can no longer ask for the status, for example because the connection has ended.
export type TaskState = { taskId: string; tool: string; status: TaskStatus; statusMessage?: string; createdAt?: string; pollIntervalMs?: number; pollInterval?: number; lost?: string };

const LEAST_PAUSE = 200;
const USUAL_PAUSE = 1000;
const MOST_TASKS = 200;
const MOST_ROUNDS = 10;

export class RequestFailed extends Error {
    readonly code: number;
    readonly data?: unknown;

    constructor({ code, message, data }: { code: number; message: string; data?: unknown }) {
        super(message);
        [this.code, this.data] = [code, data];
    }
}

const isOver = (status: TaskStatus) => status === 'completed' || status === 'failed' || status === 'cancelled';

export class Tasks {
    readonly all = new Store<TaskState[]>([]);
    // Connection on which each task was started that is not over.
    #sessions = new Map<string, Session>();
    readonly connection: Connection;

    constructor(connection: Connection) {
        this.connection = connection;
    }

    // Calls a tool and asks for a task. Returns the result of the tool at the end of the task, or at once if the server made none.
    async call(params: { name: string; [member: string]: unknown }, signal: AbortSignal, changed: (task: TaskState) => void, headers: Record<string, string>): Promise<any> {
        const session = this.connection.session();
        const { name } = params;
        const wanted = session.isModern ? {} : { task: {} };
        const created = await this.#begin(session, { ...params, ...wanted }, signal, headers);
        const first = session.isModern ? (created.resultType === 'task' ? created : undefined) : created.task;
        if (first === undefined) return created;
        let last: TaskState;
        const note = (state: any) => {
            last = { ...state, tool: name };
            const others = this.all.value.filter(({ taskId }) => taskId !== last.taskId);
            if (this.#sessions.has(last.taskId)) this.all.set([last, ...others].slice(0, MOST_TASKS));
            if (isOver(last.status) || last.lost !== undefined) this.#sessions.delete(last.taskId);
            changed(last);
            return last;
        };
        this.#sessions.set(first.taskId, session);
        note(first);
        // Questions of the task go away when it is over.
        const over = new AbortController();
        let end: (reason: unknown) => void = () => {};
        const ended = new Promise<never>((_, reject) => {
            end = (reason) => {
                void this.cancel(first.taskId);
                reject(reason);
            };
        });
        const followed = session.isModern ? this.#follow(session, first, note, over.signal, end) : this.#wait(session, first, note);
        followed.catch((error) => {
            if (!isOver(last.status)) note({ ...last, lost: explain(error) });
        });
        // The call ends as soon as the user cancels it. The server may cancel the task later or even complete it, so the list still follows the task.
        const cancel = () => end(signal.reason);
        signal.addEventListener('abort', cancel, { once: true });
        try {
            return await Promise.race([followed, ended]);
        } finally {
            over.abort();
            signal.removeEventListener('abort', cancel);
        }
    }

    // Calls a tool, and answers the input requests of a server that runs it without a task (2026-07-28).
    async #begin(session: Session, params: any, signal: AbortSignal, headers: Record<string, string>): Promise<any> {
        let answers = {};
        for (let round = 0; round < MOST_ROUNDS; round += 1) {
            const result = resultOf(await session.request('tools/call', { ...params, ...answers }, signal, headers));
            if (result.resultType !== 'input_required') return result;
            const { inputRequests = {}, requestState } = result;
            // A server without a question needs time.
            if (!Object.keys(inputRequests).length) await pause({ pollInterval: LEAST_PAUSE });
            answers = { inputResponses: await this.#responses(inputRequests, signal), requestState };
        }
        throw new Error(`The server asks again after ${MOST_ROUNDS} answers`);
    }

    async #responses(requests: Record<string, any>, signal: AbortSignal): Promise<Record<string, any>> {
        // When the user refuses a question, the others go away.
        const over = new AbortController();
        const ask = async ([key, { method, params }]: [string, any]) => [key, await this.connection.questions.ask(method, params, AbortSignal.any([signal, over.signal]))];
        try {
            return Object.fromEntries(await Promise.all(Object.entries(requests).map(ask)));
        } finally {
            over.abort();
        }
    }

    // Forgets all tasks, because the next user must not see them.
    clear(): void {
        this.#sessions.clear();
        this.all.set([]);
    }

    async cancel(taskId: string): Promise<void> {
        // The status shows whether the task has ended. The connection may be gone.
        await this.#sessions.get(taskId)?.request('tasks/cancel', { taskId }).catch(() => {});
    }

    // Asks for the task until it is over, and answers its input requests (2026-07-28).
    async #follow(session: Session, task: TaskState, note: (state: any) => TaskState, over: AbortSignal, end: (reason: unknown) => void): Promise<any> {
        // Keys of the input requests that the user has seen.
        const asked = new Set<string>();
        for (;;) {
            await pause(task);
            const state = resultOf(await session.request('tasks/get', { taskId: task.taskId }));
            note(state);
            if (isOver(state.status)) return outcome(state, state);
            for (const [key, request] of Object.entries<any>(state.inputRequests ?? {})) this.#answer(session, task.taskId, key, request, asked, over, end);
        }
    }

    #answer(session: Session, taskId: string, key: string, { method, params }: any, asked: Set<string>, over: AbortSignal, end: (reason: unknown) => void): void {
        if (over.aborted || asked.has(key)) return;
        asked.add(key);
        const send = (response: any) => session.request('tasks/update', { taskId, inputResponses: { [key]: response } }).then(resultOf);
        this.connection.questions.ask(method, params, over).then(
            // If the server has not got the answer, the page asks again.
            (response) => send(response).catch(() => asked.delete(key)),
            // The protocol has no answer for a request that the user refuses, and the task would wait for ever.
            (reason) => over.aborted || end(reason),
        );
    }

    // Waits for the result, while the server asks its questions as requests of its own (2025-11-25).
    async #wait(session: Session, task: TaskState, note: (state: any) => TaskState): Promise<any> {
        let answer: Message | undefined;
        const answered = session.request('tasks/result', { taskId: task.taskId }).then((message) => {
            answer = message;
        });
        // The loop may fail first.
        answered.catch(() => {});
        while (answer === undefined) {
            note(resultOf(await session.request('tasks/get', { taskId: task.taskId })));
            await Promise.race([answered, pause(task)]);
        }
        const end = note(resultOf(await session.request('tasks/get', { taskId: task.taskId })));
        if (end.status === 'cancelled') throw new DOMException('The task was cancelled', 'AbortError');
        return resultOf(answer);
    }
}

function outcome(state: TaskState, { result, error }: any): any {
    if (state.status === 'cancelled') throw new DOMException('The task was cancelled', 'AbortError');
    if (error) throw new RequestFailed(error);
    return result;
}

function resultOf(message: Message): any {
    if (message.error) throw new RequestFailed(message.error);
    return message.result;
}

function pause({ pollIntervalMs, pollInterval }: Pick<TaskState, 'pollIntervalMs' | 'pollInterval'>): Promise<void> {
    const wanted = pollIntervalMs ?? pollInterval ?? USUAL_PAUSE;
    return new Promise((resolve) => setTimeout(resolve, Math.max(LEAST_PAUSE, Math.min(wanted, USUAL_PAUSE))));
}
