import assert from 'node:assert/strict';
import { test } from 'node:test';
import { curl, filtered, MOST_BYTES, transcript, Wire } from './wire.ts';

function conversation(): Wire {
    const wire = new Wire();
    wire.note('client', { id: 1, method: 'tools/call', params: { name: "it's" } });
    wire.note('server', { method: 'notifications/progress', params: { progress: 1 } });
    wire.note('server', { id: 1, method: 'roots/list' });
    wire.note('client', { id: 1, result: { roots: [] } });
    wire.note('server', { id: 1, error: { code: -32602, message: 'no' } });
    return wire;
}

test('an answer has the method of its request, also if both sides use the same id', () => {
    const entries = conversation().entries.value;
    assert.deepEqual(entries.map(({ method, kind }) => `${kind} ${method}`), [
        'request tools/call',
        'notification notifications/progress',
        'request roots/list',
        'response roots/list',
        'error tools/call',
    ]);
    assert.ok(entries[4].elapsed! >= 0);
});

test('the messages of a view are apart from those of the server', () => {
    const wire = new Wire();
    wire.note('client', { id: 1, method: 'tools/call' });
    wire.note('server', { id: 1, method: 'ui/initialize' }, 'view');
    wire.note('client', { id: 1, result: {} }, 'view');
    wire.note('server', { id: 1, result: {} });
    assert.deepEqual(wire.entries.value.map(({ peer, method }) => `${peer} ${method}`), ['server tools/call', 'view ui/initialize', 'view ui/initialize', 'server tools/call']);
    assert.equal(transcript(wire.entries.value).trimEnd().split('\n').length, 2);
});

test('a filter has a kind and a text', () => {
    const entries = conversation().entries.value;
    assert.equal(filtered(entries, '', 'request').length, 2);
    assert.equal(filtered(entries, 'PROGRESS', 'all').length, 1);
    assert.equal(filtered(entries, '32602', 'error').length, 1);
});

test('a transcript has a message a line', () => {
    const lines = transcript(conversation().entries.value).trimEnd().split('\n');
    assert.equal(lines.length, 5);
    assert.deepEqual(JSON.parse(lines[3]), { client: { id: 1, result: { roots: [] } } });
});

test('a line for curl survives a shell and has no token', () => {
    const wire = conversation();
    const [{ message }] = wire.entries.value;
    const headers = new Headers({ authorization: 'Bearer secret', 'content-type': 'application/json' });
    wire.noteHttp('http://127.0.0.1:1/mcp', headers, JSON.stringify(message));
    const line = curl(wire.entries.value[0]);
    assert.ok(line.startsWith("curl 'http://127.0.0.1:1/mcp'"), line);
    assert.ok(line.includes(String.raw`it'\''s`), line);
    assert.ok(line.includes('Bearer $TOKEN') && !line.includes('secret'), line);
});

test('the oldest messages go away when all of them are large', () => {
    const wire = new Wire();
    const text = 'x'.repeat(MOST_BYTES / 4);
    for (let id = 1; id <= 6; id += 1) wire.note('server', { id, result: { text } });
    assert.deepEqual(wire.entries.value.map(({ message }) => message.id), [4, 5, 6]);
    // A message that is larger than all that may stay is still shown.
    wire.note('server', { id: 7, result: { text: text.repeat(5) } });
    assert.deepEqual(wire.entries.value.map(({ message }) => message.id), [7]);
    wire.clear();
    wire.note('server', { id: 8, result: { text } });
    assert.equal(wire.entries.value.length, 1);
});
