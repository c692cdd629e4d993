import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitsOf, shapeOf, typeName } from './shape.ts';

const kinds = (schema: object, root: object = schema) => {
    const shape = shapeOf(schema, root);
    return [shape.kind, shape.isNullable];
};

test('a type decides the field, and null makes it nullable', () => {
    assert.deepEqual(kinds({ type: 'string' }), ['text', false]);
    assert.deepEqual(kinds({ type: ['integer', 'null'] }), ['number', true]);
    assert.deepEqual(kinds({ type: 'boolean' }), ['flag', false]);
    assert.deepEqual(kinds({ type: ['string', 'null'], enum: ['a', null] }), ['choice', true]);
    assert.deepEqual(kinds({ type: 'array', items: { type: 'string' } }), ['list', false]);
    assert.deepEqual(kinds({ type: 'array', items: { enum: ['a', 'b'] } }), ['choices', false]);
    assert.deepEqual(kinds({ type: 'object', properties: { a: {} } }), ['object', false]);
    assert.deepEqual(kinds({ type: 'object' }), ['json', false]);
    assert.deepEqual(kinds({}), ['json', false]);
    assert.deepEqual(kinds({ type: ['string', 'integer'] }), ['branches', false]);
});

test('an alternative to null is the other alternative', () => {
    const root = { $defs: { City: { type: 'object', properties: { name: { type: 'string' } } } } };
    assert.deepEqual(kinds({ anyOf: [{ $ref: '#/$defs/City' }, { type: 'null' }] }, root), ['object', true]);
});

test('alternatives that are constants are a choice with titles', () => {
    const shape = shapeOf({ oneOf: [{ const: 'r', title: 'Red' }, { const: 'g' }] }, {});
    assert.equal(shape.kind, 'choice');
    assert.deepEqual(shape.kind === 'choice' && shape.choices.map(({ label }) => label), ['Red', 'g']);
});

test('a branch has the name of the constant that tells it apart', () => {
    const branch = (by: string) => ({ type: 'object', properties: { by: { const: by } } });
    const shape = shapeOf({ oneOf: [branch('pickup'), branch('courier')] }, {});
    assert.deepEqual(shape.kind === 'branches' && shape.branches.map(({ label }) => label), ['pickup', 'courier']);
});

test('parts of allOf are one object, and a reference that leads to itself ends', () => {
    const shape = shapeOf({ allOf: [{ type: 'object', properties: { a: {} }, required: ['a'] }, { properties: { b: {} } }] }, {});
    assert.deepEqual(shape.kind === 'object' && shape.fields.map(({ name, isRequired }) => [name, isRequired]), [['a', true], ['b', false]]);
    assert.equal(shapeOf({ $ref: '#' }, { $ref: '#' }).kind, 'json');
});

test('limits and types are words', () => {
    const shape = shapeOf({ type: ['integer', 'null'], minimum: 1, maximum: 9 }, {});
    assert.equal(limitsOf(shape), '1 to 9');
    assert.equal(typeName(shape), 'whole number or null');
    assert.equal(limitsOf(shapeOf({ type: 'string', minLength: 2, format: 'email' }, {})), 'at least 2 characters, email');
});

test('a pattern that a browser cannot read is told apart', () => {
    assert.equal(limitsOf(shapeOf({ type: 'string', pattern: '^a' }, {})), 'pattern ^a');
    assert.equal(limitsOf(shapeOf({ type: 'string', pattern: '(?i)abc(' }, {})), 'pattern (?i)abc( (not checked here)');
});
