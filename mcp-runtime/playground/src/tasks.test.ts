import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Questions } from './questions.ts';
import { Tasks } from './tasks.ts';

// A server of revision 2026-07-28 that answers each request from a list, and the questions of the page.
function tasksOf(answer: (method: string, params: any) => any) {
    const questions = new Questions();
    const sent: [string, any][] = [];
    const request = async (method: string, params: any) => {
        sent.push([method, params]);
        return answer(method, params);
    };
    const tasks = new Tasks({ questions, session: () => ({ isModern: true, request }) } as any);
    const run = (signal = new AbortController().signal) => tasks.call({ name: 'ask', arguments: { a: 1 } }, signal, () => {}, {});
    return { questions, sent, run };
}

// Waits for the next question.
const asked = async (questions: Questions) => {
    while (!questions.open.value.length) await new Promise<void>((resolve) => void questions.open.subscribe(resolve));
    return questions.open.value[0];
};

const elicit = { method: 'elicitation/create', params: { message: 'Well?' } };

test('a tool that asks and runs without a task gets its answers', async () => {
    const { questions, sent, run } = tasksOf((_, { inputResponses }) =>
        inputResponses ? { result: { resultType: 'complete', content: [inputResponses.name] } } : { result: { resultType: 'input_required', inputRequests: { name: elicit }, requestState: 's' } });
    const ended = run();
    (await asked(questions)).answer({ action: 'accept', content: {} });
    assert.deepEqual((await ended).content, [{ action: 'accept', content: {} }]);
    assert.deepEqual(sent[1], ['tools/call', { name: 'ask', arguments: { a: 1 }, inputResponses: { name: { action: 'accept', content: {} } }, requestState: 's' }]);
});

test('a refused question ends a call without a task, and its other questions', async () => {
    const { questions, sent, run } = tasksOf(() => ({ result: { resultType: 'input_required', inputRequests: { a: { method: 'sampling/createMessage' }, b: elicit } } }));
    const ended = run();
    (await asked(questions)).refuse(new Error('no model'));
    await assert.rejects(ended, /no model/);
    assert.equal(questions.open.value.length, 0);
    assert.equal(sent.length, 1);
});

test('a server that asks without an end is stopped', async () => {
    const { questions, sent, run } = tasksOf(() => ({ result: { resultType: 'input_required', inputRequests: { a: elicit } } }));
    questions.open.subscribe(() => questions.open.value[0]?.answer({ action: 'decline' }));
    await assert.rejects(run(), /asks/);
    assert.ok(sent.length < 100);
});

const working = { taskId: 't', status: 'working', pollIntervalMs: 0 };
const waiting = { ...working, status: 'input_required', inputRequests: { a: { method: 'sampling/createMessage' } } };

test('a refused question cancels its task, and the call fails with the reason', async () => {
    let isCancelled = false;
    const { questions, sent, run } = tasksOf((method) => {
        isCancelled ||= method === 'tasks/cancel';
        if (method === 'tools/call') return { result: { ...working, resultType: 'task' } };
        return { result: isCancelled ? { ...working, status: 'cancelled' } : waiting };
    });
    const ended = run();
    (await asked(questions)).refuse(new Error('no model'));
    await assert.rejects(ended, /no model/);
    assert.ok(sent.some(([method]) => method === 'tasks/cancel'));
});

test('a question whose answer was not accepted comes again', async () => {
    let updates = 0;
    const { questions, run } = tasksOf((method) => {
        if (method === 'tools/call') return { result: { ...working, resultType: 'task' } };
        if (method !== 'tasks/update') return { result: updates < 2 ? waiting : { ...working, status: 'completed', result: { content: [] } } };
        updates += 1;
        return updates === 1 ? { error: { code: -32603, message: 'not now' } } : { result: {} };
    });
    const ended = run();
    for (let round = 0; round < 2; round += 1) (await asked(questions)).answer({});
    assert.deepEqual(await ended, { content: [] });
});
