import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RawRequests } from './raw_requests.ts';
import type { Message } from './wire.ts';

function recorder() {
    const sent: Message[] = [];
    return { sent, send: async (message: Message) => void sent.push(message) };
}

test('an answer reaches its request, and other messages pass', async () => {
    const [requests, { sent, send }] = [new RawRequests(), recorder()];
    const answered = requests.request('tasks/get', { taskId: 't' }, send);
    assert.ok(!requests.takes({ id: 1, result: {} }));
    assert.ok(!requests.takes({ id: sent[0].id, method: 'roots/list' }));
    assert.ok(requests.takes({ id: sent[0].id, result: { a: 1 } }));
    assert.deepEqual((await answered).result, { a: 1 });
    assert.ok(!requests.takes({ id: sent[0].id, result: {} }));
});

test('a signal ends the request and tells the server', async () => {
    const [requests, { sent, send }, abort] = [new RawRequests(), recorder(), new AbortController()];
    const answered = requests.request('tools/call', {}, send, abort.signal);
    abort.abort(new DOMException('no more', 'AbortError'));
    await assert.rejects(answered, { name: 'AbortError' });
    assert.deepEqual(sent[1], { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: sent[0].id, reason: 'no more' } });
    await assert.rejects(requests.request('tools/call', {}, send, abort.signal), { name: 'AbortError' });
    assert.equal(sent.length, 2);
});

test('the end of the connection ends all requests', async () => {
    const [requests, { send }] = [new RawRequests(), recorder()];
    const all = [requests.request('tasks/get', {}, send), requests.request('tasks/result', {}, () => new Promise(() => {}))];
    requests.close();
    for (const answered of all) await assert.rejects(answered, /closed/);
});

test('a request that cannot be sent fails', async () => {
    await assert.rejects(new RawRequests().request('tasks/get', {}, () => Promise.reject(new TypeError('network'))), /network/);
});

test('progress reaches its listener until the task is over', () => {
    const [requests, seen] = [new RawRequests(), [] as number[]];
    const { token, stop } = requests.progress(({ progress }) => seen.push(progress));
    const message = { method: 'notifications/progress', params: { progressToken: token, progress: 5 } };
    assert.ok(requests.takes(message));
    assert.ok(!requests.takes({ ...message, params: { progressToken: 1, progress: 6 } }));
    stop();
    assert.ok(!requests.takes(message));
    assert.deepEqual(seen, [5]);
});
