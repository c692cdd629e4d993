// Questions that wait for the user: elicitation, sampling and roots of the server, and links and calls of a view.

import { readJson, write } from './storage.ts';
import { Store } from './store.ts';

export type Root = { uri: string; name?: string };
export type QuestionMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list' | 'ui/open-link' | 'view/call';
export type Question = { number: number; method: QuestionMethod; params: any; answer: (result: any) => void; refuse: (reason: Error) => void };

const ROOTS = 'mcp-playground roots';

export class Questions {
    readonly open = new Store<Question[]>([]);
    #last = 0;

    // Waits for the answer of the user. The question goes away when the signal aborts, because the request has ended then.
    ask(method: QuestionMethod, params: any, signal?: AbortSignal): Promise<any> {
        return new Promise((resolve, reject) => {
            this.#last += 1;
            const number = this.#last;
            const end = (settle: () => void) => {
                this.open.set(this.open.value.filter((question) => question.number !== number));
                settle();
            };
            const question: Question = {
                number,
                method,
                params: params ?? {},
                answer: (result) => end(() => resolve(result)),
                refuse: (reason) => end(() => reject(reason)),
            };
            if (signal?.aborted) return reject(new Error('The request was cancelled'));
            signal?.addEventListener('abort', () => question.refuse(new Error('The request was cancelled')));
            this.open.set([...this.open.value, question]);
        });
    }

    // Ends the questions of the server, which no longer waits for their answers.
    refuseThoseOfServer(reason: Error): void {
        for (const { method, refuse } of this.open.value) if (/^(elicitation|sampling|roots)\//.test(method)) refuse(reason);
    }
}

// The folders that the user has named last.
export const savedRoots = () => readJson<Root[]>('localStorage', ROOTS) ?? [];

export const saveRoots = (roots: Root[]) => void write('localStorage', ROOTS, JSON.stringify(roots));
