import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ViewCalls } from './view_calls.ts';

const never = new AbortController().signal;
const settled = () => new Promise(setImmediate);
const reads = { kind: 'tool', name: 'get', args: {}, mayChange: false } as const;
const changes = { kind: 'tool', name: 'set', args: { on: true }, mayChange: true } as const;

function begin() {
    const asked: { name: string; answer: () => void; refuse: (reason: Error) => void }[] = [];
    const ask = ({ name }: { name: string }) => new Promise<void>((answer, refuse) => asked.push({ name, answer, refuse }));
    const calls = new ViewCalls(ask, (error: any) => ({ message: error.message }));
    const shown = () => calls.state.value.list.map(({ name, state, failure }) => [name, state, ...(failure ? [failure.message] : [])].join(' '));
    return { calls, asked, shown };
}

test('the list has the newest call first, with its end', async () => {
    const { calls, shown, asked } = begin();
    assert.deepEqual(await calls.run(reads, never, async () => ({ content: [] })), { content: [] });
    await calls.run(reads, never, async () => ({ content: [], isError: true }));
    await assert.rejects(calls.run(reads, never, () => Promise.reject(new Error('no'))), /no/);
    const running = calls.run(reads, never, () => new Promise<never>(() => {}));
    assert.deepEqual(shown(), ['get running', 'get failed no', 'get failed', 'get done']);
    assert.deepEqual(asked, []);
    void running;
});

test('the list keeps the newest calls, and counts all', async () => {
    const { calls } = begin();
    for (let count = 0; count < 25; count += 1) await calls.run(reads, never, async () => ({}));
    assert.equal(calls.state.value.count, 25);
    assert.equal(calls.state.value.list.length, 20);
});

test('the first call that may change something asks, and the answer holds for all', async () => {
    const { calls, shown, asked } = begin();
    let sent = 0;
    const send = async () => ({ sent: (sent += 1) });
    const both = [calls.run(changes, never, send), calls.run(changes, never, send)];
    await calls.run(reads, never, async () => ({}));
    assert.deepEqual([shown(), sent], [['get done', 'set asking', 'set asking'], 0]);
    asked[0].answer();
    assert.deepEqual(await Promise.all(both), [{ sent: 1 }, { sent: 2 }]);
    await calls.run(changes, never, send);
    assert.deepEqual([asked.length, sent], [1, 3]);
});

test('a refusal is an error of this call and of later calls', async () => {
    const { calls, shown, asked } = begin();
    const send = () => assert.fail('no call is sent');
    const first = calls.run(changes, never, send);
    asked[0].refuse(new Error('refused'));
    await assert.rejects(first, /refused/);
    await assert.rejects(calls.run(changes, never, send), /refused/);
    assert.deepEqual([asked.length, shown()], [1, ['set failed refused', 'set failed refused']]);
});

test('a call that is cancelled while the user decides is never sent', async () => {
    const { calls, shown, asked } = begin();
    const abort = new AbortController();
    const send = () => assert.fail('no call is sent');
    const first = calls.run(changes, abort.signal, send);
    abort.abort(new Error('cancelled'));
    await assert.rejects(first, /cancelled/);
    asked[0].answer();
    await settled();
    assert.deepEqual(shown(), ['set cancelled']);
    await assert.rejects(calls.run(changes, abort.signal, send), /cancelled/);
});
