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

export class RequestFailed extends Error {
    constructor(
        readonly code: number,
        message: string,
        readonly data?: unknown,
    ) {
        super(message);
    }
}

const isOver = (status: TaskStatus) => status === 'completed' || status === 'failed' || status === 'cancelled';

export class Tasks {
    readonly all = new Store<TaskState[]>([]);
    // Connection on which each task was started.
    #sessions = new Map<string, Session>();
    // Input requests that the user has seen, by task and key.
    #asked = new Set<string>();

    constructor(readonly connection: Connection) {}

    // Calls a tool and asks for a task. Returns the result of the tool at the end of the task, or at once if the server made none.
    async call(params: { name: string; [member: string]: unknown }, signal: AbortSignal, changed: (task: TaskState) => void, headers: Record<string, string>): Promise<any> {
        const session = this.connection.session();
        const { name } = params;
        const wanted = session.isModern ? {} : { task: {} };
        const created = resultOf(await session.request('tools/call', { ...params, ...wanted }, signal, headers));
        const first = session.isModern ? (created.resultType === 'task' ? created : undefined) : created.task;
        if (first === undefined) return created;
        let last: TaskState;
        const note = (state: any) => {
            last = { ...state, tool: name };
            const others = this.all.value.filter(({ taskId }) => taskId !== last.taskId);
            this.all.set([last, ...others]);
            changed(last);
            return last;
        };
        this.#sessions.set(first.taskId, session);
        note(first);
        // Questions of the task go away when it is over.
        const over = new AbortController();
        const followed = session.isModern ? this.#follow(session, first, note, over.signal) : this.#wait(session, first, note);
        followed.catch((error) => {
            if (!isOver(last.status)) note({ ...last, lost: explain(error) });
        });
        // The call ends as soon as the user cancels it. The server may cancel the task later or even complete it, so the list still follows the task.
        let cancel = () => {};
        const cancelled = new Promise<never>((_, reject) => {
            cancel = () => {
                void this.cancel(first.taskId);
                reject(signal.reason);
            };
        });
        signal.addEventListener('abort', cancel, { once: true });
        try {
            return await Promise.race([followed, cancelled]);
        } finally {
            over.abort();
            signal.removeEventListener('abort', cancel);
        }
    }

    async cancel(taskId: string): Promise<void> {
        // The status shows whether the task has ended. The connection may be gone.
        await this.#sessions.get(taskId)?.request('tasks/cancel', { taskId }).catch(() => {});
    }

    // Asks for the task until it is over, and answers its input requests (2026-07-28).
    async #follow(session: Session, task: TaskState, note: (state: any) => TaskState, over: AbortSignal): Promise<any> {
        for (;;) {
            await pause(task);
            const state = resultOf(await session.request('tasks/get', { taskId: task.taskId }));
            note(state);
            if (isOver(state.status)) return outcome(state, state);
            for (const [key, request] of Object.entries<any>(state.inputRequests ?? {})) this.#answer(session, task.taskId, key, request, over);
        }
    }

    #answer(session: Session, taskId: string, key: string, request: any, over: AbortSignal): void {
        const name = `${taskId} ${key}`;
        if (over.aborted || this.#asked.has(name)) return;
        this.#asked.add(name);
        const answered = this.connection.questions.ask(request.method, request.params, over);
        answered.then((response) => session.request('tasks/update', { taskId, inputResponses: { [key]: response } })).catch(() => {});
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
    if (error) throw new RequestFailed(error.code, error.message, error.data);
    return result;
}

function resultOf(message: Message): any {
    if (message.error) throw new RequestFailed(message.error.code, message.error.message, message.error.data);
    return message.result;
}

function pause({ pollIntervalMs, pollInterval }: TaskState): Promise<void> {
    const wanted = pollIntervalMs ?? pollInterval ?? USUAL_PAUSE;
    return new Promise((resolve) => setTimeout(resolve, Math.max(LEAST_PAUSE, Math.min(wanted, USUAL_PAUSE))));
}
