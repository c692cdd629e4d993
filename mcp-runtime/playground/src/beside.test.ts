import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Beside } from './beside.ts';
import type { Message } from './wire.ts';

function recorder() {
    const sent: Message[] = [];
    return { sent, send: async (message: Message) => void sent.push(message) };
}

test('an answer reaches its request, and other messages pass', async () => {
    const [beside, { sent, send }] = [new Beside(), recorder()];
    const answered = beside.request('tasks/get', { taskId: 't' }, send);
    assert.ok(!beside.takes({ id: 1, result: {} }));
    assert.ok(!beside.takes({ id: sent[0].id, method: 'roots/list' }));
    assert.ok(beside.takes({ id: sent[0].id, result: { a: 1 } }));
    assert.deepEqual((await answered).result, { a: 1 });
    assert.ok(!beside.takes({ id: sent[0].id, result: {} }));
});

test('a signal ends the request and tells the server', async () => {
    const [beside, { sent, send }, abort] = [new Beside(), recorder(), new AbortController()];
    const answered = beside.request('tools/call', {}, send, abort.signal);
    abort.abort(new DOMException('no more', 'AbortError'));
    await assert.rejects(answered, { name: 'AbortError' });
    assert.deepEqual(sent[1], { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: sent[0].id, reason: 'no more' } });
    await assert.rejects(beside.request('tools/call', {}, send, abort.signal), { name: 'AbortError' });
    assert.equal(sent.length, 2);
});

test('the end of the connection ends all requests', async () => {
    const [beside, { send }] = [new Beside(), recorder()];
    const all = [beside.request('tasks/get', {}, send), beside.request('tasks/result', {}, () => new Promise(() => {}))];
    beside.close();
    for (const answered of all) await assert.rejects(answered, /closed/);
});

test('a request that cannot be sent fails', async () => {
    await assert.rejects(new Beside().request('tasks/get', {}, () => Promise.reject(new TypeError('network'))), /network/);
});

test('progress reaches its listener until the task is over', () => {
    const [beside, seen] = [new Beside(), [] as number[]];
    const { token, stop } = beside.progress(({ progress }) => seen.push(progress));
    const message = { method: 'notifications/progress', params: { progressToken: token, progress: 5 } };
    assert.ok(beside.takes(message));
    assert.ok(!beside.takes({ ...message, params: { progressToken: 1, progress: 6 } }));
    stop();
    assert.ok(!beside.takes(message));
    assert.deepEqual(seen, [5]);
});
