import assert from 'node:assert/strict';
import { test } from 'node:test';

// A storage of 1,000 characters.
const kept = new Map<string, string>();
const localStorage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => {
        if (text.length > 1000) throw new DOMException('full', 'QuotaExceededError');
        kept.set(name, text);
    },
    removeItem: (name: string) => void kept.delete(name),
};
const document = { querySelector: () => ({ content: '/mcp' }) };
for (const [name, value] of Object.entries({ localStorage, document, location: new URL('http://127.0.0.1:1/playground'), addEventListener: () => {} })) {
    Object.defineProperty(globalThis, name, { value, configurable: true });
}
const { openHistory, past, remember } = await import('./history.ts');

const call = (name: string, size = 200) => remember({ kind: 'tool', item: name, name, args: { text: 'x'.repeat(size) }, at: 0, ms: 0, outcome: 'done' });
const names = () => past.value.map(({ name }) => name);

test('the oldest calls make room when the storage is full', () => {
    openHistory('server');
    for (const name of ['a', 'b', 'c', 'd', 'e']) call(name);
    assert.deepEqual(names(), ['e', 'd', 'c']);
    openHistory('server');
    assert.deepEqual(names(), ['e', 'd', 'c']);
    // A call that never fits is shown until the page ends, and takes no place from the others.
    call('large', 2000);
    assert.deepEqual(names(), ['large', 'e', 'd', 'c']);
    openHistory('server');
    assert.deepEqual(names(), ['e', 'd', 'c']);
});
