import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeeper, mapLeaves, writeDeep } from './deep.ts';

const nested = (levels: number, innermost: string) => `${'{"a":['.repeat(levels)}${innermost}${']}'.repeat(levels)}`;

test('leaves are replaced at any depth, and other members stay as they are', () => {
    const value = { a: [1, 'b', null], kept: { a: 1 }, ['__proto__x']: 2 };
    assert.deepEqual(mapLeaves(value, (leaf) => [typeof leaf], (name) => name === 'kept'), { a: [['number'], ['string'], ['object']], kept: { a: 1 }, ['__proto__x']: ['number'] });
    assert.deepEqual(value.a, [1, 'b', null]);
    const deep = mapLeaves(JSON.parse(nested(50_000, '1')), (leaf) => leaf + 1);
    assert.equal(writeDeep(deep, JSON.stringify), nested(50_000, '2'));
    const own = mapLeaves(JSON.parse('{"__proto__":1}'), (leaf) => leaf + 1);
    assert.equal(JSON.stringify(own), '{"__proto__":2}');
});

test('levels are counted up to a limit', () => {
    assert.equal(isDeeper(1, 0), false);
    assert.equal(isDeeper([], 0), true);
    assert.equal(isDeeper({ a: [{}, 2] }, 3), false);
    assert.equal(isDeeper({ a: [{}, 2] }, 2), true);
    assert.equal(isDeeper(JSON.parse(nested(50_000, '1')), 99_999), true);
});

test('a value is written as the browser writes it', () => {
    const value = { a: [1, undefined, 'x"\n', {}, []], b: undefined, c: null, 'd"': false };
    assert.equal(writeDeep(value, JSON.stringify), JSON.stringify(value));
});
