import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addedDraft, initialDraft, readNumber, withItem, withMember, withNewDefaults, withoutItem } from './draft.ts';

test('a form begins with the defaults and the objects that are required', () => {
    const schema = {
        type: 'object',
        properties: {
            count: { type: 'integer', default: 3 },
            name: { type: 'string' },
            address: { type: 'object', properties: { country: { default: 'FI' }, street: { type: 'string' } } },
            other: { type: 'object', properties: { x: { default: 1 } } },
            tags: { type: 'array', items: { type: 'string' } },
            by: { oneOf: [{ type: 'object', properties: { by: { const: 'post' } }, required: ['by'] }, { type: 'string' }] },
        },
        required: ['name', 'address', 'tags', 'by'],
    };
    assert.deepEqual(initialDraft(schema, schema, true), { count: 3, address: { country: 'FI' }, tags: [], by: { by: 'post' } });
});

test('a default that has lost digits is left to the server', () => {
    const schema = { type: 'object', properties: { id: { type: 'integer', default: 2 ** 60 }, count: { type: 'integer', default: 1 } } };
    assert.deepEqual(initialDraft(schema, schema, true), { count: 1 });
});

test('a member that is undefined is left out', () => {
    assert.deepEqual(withMember({ a: 1, b: 2 }, 'a', undefined), { b: 2 });
    assert.deepEqual(withMember(undefined, 'a', 1), { a: 1 });
});

test('items are replaced and removed', () => {
    assert.deepEqual(withItem([1, 2], 1, 3), [1, 3]);
    assert.deepEqual(withoutItem([1, 2, 3], 1), [1, 3]);
});

test('a text that is no number stays, so that the check can report it', () => {
    assert.equal(readNumber(' 1.5e3 '), 1500);
    assert.equal(readNumber(''), undefined);
    assert.equal(readNumber('12x'), '12x');
    assert.equal(readNumber('9007199254740991'), 9007199254740991);
    assert.equal(readNumber('9007199254740993'), 9007199254740993n);
    assert.equal(readNumber('-9007199254740993'), -9007199254740993n);
    assert.equal(readNumber('+9007199254740993'), 9007199254740993n);
    assert.equal(readNumber('1e300'), 1e300);
});

test('a default of null is used only where the schema allows null', () => {
    const schema = { type: 'object', properties: { text: { type: 'string', default: null }, maybe: { type: ['string', 'null'], default: null }, any: { default: null } } };
    assert.deepEqual(initialDraft(schema, schema, true), { maybe: null, any: null });
});

test('a value that the user adds is not null', () => {
    const given = { type: ['object', 'null'], properties: { kind: { const: 'a' }, n: { type: 'integer', default: 5 } }, required: ['kind'] };
    assert.equal(initialDraft(given, given, true), undefined);
    assert.deepEqual(addedDraft(given, given), { kind: 'a', n: 5 });
});

test('arguments that a schema did not have before begin with their defaults', () => {
    const before = { type: 'object', properties: { mode: { type: 'string' }, hour: { type: 'integer', default: 12 } } };
    const schema = { type: 'object', properties: { kind: { type: 'string', default: 'x' }, hour: { type: 'integer', default: 12 }, n: { type: 'integer' } } };
    assert.deepEqual(withNewDefaults({ mode: 'zz' }, before, schema), { mode: 'zz', kind: 'x' });
    assert.equal(withNewDefaults('text', before, schema), 'text');
    const same = { mode: 'zz' };
    assert.equal(withNewDefaults(same, before, before), same);
});
