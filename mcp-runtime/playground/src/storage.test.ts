import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, readJson, remove, write } from './storage.ts';

function blocked(): never {
    throw new DOMException('The operation is insecure', 'SecurityError');
}

test('a browser that blocks its storage still has values until the page ends', () => {
    Object.defineProperty(globalThis, 'localStorage', { get: blocked, configurable: true });
    assert.equal(read('localStorage', 'a'), null);
    write('localStorage', 'a', '{"b":1}');
    assert.deepEqual(readJson('localStorage', 'a'), { b: 1 });
    remove('localStorage', 'a');
    assert.equal(readJson('localStorage', 'a'), undefined);
});

test('a text that is no JSON is no value', () => {
    const kept = new Map<string, string>();
    const storage = { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, text: string) => void kept.set(name, text), removeItem: (name: string) => void kept.delete(name) };
    Object.defineProperty(globalThis, 'sessionStorage', { value: storage, configurable: true });
    write('sessionStorage', 'a', '{"b');
    assert.equal(readJson('sessionStorage', 'a'), undefined);
    remove('sessionStorage', 'a');
    assert.equal(kept.size, 0);
});
