import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../wire.ts';
import { messageOf, Refusal, ViewHost, type ViewServices } from './view_host.ts';

function begin(given: Partial<ViewServices> = {}) {
    const sent: Message[] = [];
    const done: unknown[] = [];
    const services: ViewServices = {
        context: () => ({ theme: 'dark' }),
        capabilities: () => ({ openLinks: {} }),
        info: { name: 'host', version: '1' },
        callTool: async (name, args) => ({ content: [], called: [name, args] }),
        readResource: async (uri) => ({ contents: [{ uri }] }),
        openLink: async (url) => void done.push(url),
        message: (...message) => done.push(message),
        modelContext: (context) => done.push(context),
        log: (line) => done.push(line),
        resize: (height) => done.push(height),
        silent: (isSilent) => done.push(isSilent),
        explain: (error: any) => `explained: ${error.message}`,
        ...given,
    };
    const host = new ViewHost((message) => sent.push(message), services);
    const ask = async (method: string, params?: any) => {
        const before = sent.length;
        host.receive({ jsonrpc: '2.0', id: method, method, params });
        await new Promise(setImmediate);
        return sent.slice(before).find(({ id }) => id === method);
    };
    const tell = (method: string, params?: any) => host.receive({ jsonrpc: '2.0', method, params });
    return { host, sent, done, ask, tell };
}

async function ready(given?: Partial<ViewServices>) {
    const begun = begin(given);
    await begun.ask('ui/initialize');
    begun.tell('ui/notifications/initialized');
    begun.sent.length = 0;
    return begun;
}

test('a view gets the input and then the result, and nothing before it is ready', async () => {
    const { host, sent, ask, tell } = begin();
    host.input({ lamp: 'hall' });
    host.result({ content: [] });
    host.contextChanged({ theme: 'light' });
    tell('ui/notifications/initialized');
    assert.deepEqual(sent, []);
    const answer = await ask('ui/initialize');
    assert.deepEqual(answer!.result, { protocolVersion: '2026-01-26', hostInfo: { name: 'host', version: '1' }, hostCapabilities: { openLinks: {} }, hostContext: { theme: 'dark' } });
    host.contextChanged({ theme: 'light' });
    assert.equal(sent.length, 1);
    tell('ui/notifications/initialized');
    tell('ui/notifications/initialized');
    assert.deepEqual(sent.slice(1).map(({ method, params }) => [method, params]), [
        ['ui/notifications/tool-input', { arguments: { lamp: 'hall' } }],
        ['ui/notifications/tool-result', { content: [] }],
        ['ui/notifications/host-context-changed', { theme: 'light' }],
    ]);
    host.cancelled('no more');
    assert.deepEqual(sent.at(-1), { jsonrpc: '2.0', method: 'ui/notifications/tool-cancelled', params: { reason: 'no more' } });
});

test('a view calls tools, reads resources and asks for links', async () => {
    const { ask, done } = await ready();
    assert.deepEqual((await ask('tools/call', { name: 'draw', arguments: { a: 1 } }))!.result.called, ['draw', { a: 1 }]);
    assert.deepEqual((await ask('resources/read', { uri: 'ui://a' }))!.result, { contents: [{ uri: 'ui://a' }] });
    assert.deepEqual((await ask('ping'))!.result, {});
    assert.deepEqual((await ask('ui/request-display-mode', { mode: 'fullscreen' }))!.result, { mode: 'inline' });
    assert.deepEqual((await ask('ui/open-link', { url: 'https://a.example' }))!.result, {});
    assert.deepEqual(done, ['https://a.example/']);
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'https://']) assert.equal((await ask('ui/open-link', { url }))!.error.code, -32000);
    assert.equal(done.length, 1);
});

test('a link is the address that the browser reads, and one link waits at a time', async () => {
    const asked: [string, () => void][] = [];
    const { ask } = await ready({ openLink: (url) => new Promise((resolve) => asked.push([url, resolve])) });
    const first = ask('ui/open-link', { url: 'HTTPS://A.example\\\\@b.example/\u202e' });
    assert.match((await ask('ui/open-link', { url: 'https://b.example' }))!.error.message, /has not answered/);
    assert.deepEqual(asked.map(([url]) => url), ['https://a.example//@b.example/%E2%80%AE']);
    asked[0][1]();
    await first;
    void ask('ui/open-link', { url: 'https://b.example' });
    assert.equal(asked.length, 2);
});

test('messages and contexts have one block or a list of blocks', async () => {
    const { ask, tell, done } = await ready();
    const block = { type: 'text', text: 'a' };
    assert.deepEqual((await ask('ui/message', { role: 'user', content: block }))!.result, {});
    assert.deepEqual((await ask('ui/message', { role: 'user', content: [block, block] }))!.result, {});
    assert.deepEqual((await ask('ui/update-model-context', { structuredContent: { a: 1 } }))!.result, {});
    assert.deepEqual(done, [['user', [block]], ['user', [block, block]], { content: [], structuredContent: { a: 1 } }]);
    for (const content of ['text', { type: 'text' }, [null], [{ text: 'a' }]]) assert.equal((await ask('ui/message', { role: 'user', content }))!.error.code, -32602);
    assert.equal((await ask('ui/message', {}))!.error.code, -32602);
    done.length = 0;
    tell('notifications/message', { level: 'info', data: 'x' });
    tell('ui/notifications/size-changed', { height: 300 });
    tell('ui/notifications/size-changed', { height: 'tall' });
    tell('ui/notifications/sandbox-proxy-ready', {});
    assert.deepEqual(done, [{ level: 'info', data: 'x' }, 300]);
});

test('an unknown request and a refused call are errors', async () => {
    const callTool = () => Promise.reject(new Refusal(-32602, 'no', { a: 1 }));
    const { ask } = await ready({ callTool, readResource: () => Promise.reject(new Error('gone')) });
    assert.equal((await ask('sampling/createMessage', {}))!.error.code, -32601);
    assert.deepEqual((await ask('tools/call', { name: 'x' }))!.error, { code: -32602, message: 'explained: no', data: { a: 1 } });
    assert.deepEqual((await ask('resources/read', { uri: 'ui://x' }))!.error, { code: -32000, message: 'explained: gone' });
    assert.equal((await ask('tools/call'))!.error.code, -32602);
});

test('a request that the view cancels, or that its end cancels, has no answer', async () => {
    const signals: AbortSignal[] = [];
    const callTool = (_: string, __: any, signal: AbortSignal) => new Promise((_, reject) => (signals.push(signal), signal.addEventListener('abort', () => reject(signal.reason))));
    const { host, ask, tell } = await ready({ callTool });
    assert.equal(await ask('tools/call', { name: 'a' }), undefined);
    tell('notifications/cancelled', { requestId: 'tools/call' });
    assert.ok(signals[0].aborted);
    assert.equal(await ask('tools/call', { name: 'a' }), undefined);
    host.close();
    assert.ok(signals[1].aborted);
});

test('a view without `ui/initialize` counts as silent after some time, until it sends it', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { host, ask, done } = begin();
    host.expectBeginning(5000);
    context.mock.timers.tick(4999);
    assert.deepEqual(done, []);
    context.mock.timers.tick(1);
    assert.deepEqual(done, [true]);
    await ask('ui/initialize');
    assert.deepEqual(done, [true, false]);
    for (const end of [(other: typeof host) => other.close(), (other: typeof host) => other.receive({ jsonrpc: '2.0', id: 1, method: 'ui/initialize' })]) {
        const { host: other, done } = begin();
        other.expectBeginning(5000);
        end(other);
        context.mock.timers.tick(5000);
        assert.ok(!done.includes(true));
    }
});

test('a view answers before it goes away, if it was ready', async () => {
    await begin().host.teardown('done');
    const { host, sent } = await ready();
    const gone = host.teardown('done');
    const [request] = sent;
    assert.deepEqual([request.method, request.params], ['ui/resource-teardown', { reason: 'done' }]);
    host.receive({ jsonrpc: '2.0', id: request.id, result: {} });
    await gone;
});

test('only JSON-RPC messages are taken from a window', () => {
    const circle: any = { jsonrpc: '2.0', method: 'x' };
    circle.params = circle;
    const others = [undefined, null, 'text', 7, [], {}, { method: 'x' }, { jsonrpc: '1.0', method: 'x' }, { jsonrpc: '2.0' }, { jsonrpc: '2.0', method: 7 }, { jsonrpc: '2.0', id: {}, method: 'x' }, { jsonrpc: '2.0', id: null, method: 'x' }, { jsonrpc: '2.0', id: 1 }, { jsonrpc: '2.0', result: {} }, circle];
    for (const data of others) assert.equal(messageOf(data), undefined);
    assert.deepEqual(messageOf({ jsonrpc: '2.0', method: 'x', params: { a: undefined, b: new Map() } }), { jsonrpc: '2.0', method: 'x', params: { b: {} } });
    assert.deepEqual(messageOf({ jsonrpc: '2.0', id: 'a', error: { code: 1 } }), { jsonrpc: '2.0', id: 'a', error: { code: 1 } });
});
