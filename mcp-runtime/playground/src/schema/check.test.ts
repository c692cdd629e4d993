import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOf } from './check.ts';

const schema = {
    type: 'object',
    properties: {
        name: { type: 'string', minLength: 2 },
        'a/b': { type: 'integer' },
        items: { type: 'array', items: { type: 'object', properties: { email: { type: 'string', format: 'email' } } } },
    },
    required: ['name', 'a/b'],
};

test('each problem is at its value', () => {
    const problems = problemsOf({ name: 'x', 'a/b': 'y', items: [{}, { email: 'z' }] }, schema);
    assert.deepEqual([...problems.keys()].sort(), ['/a~1b', '/items/1/email', '/name']);
    assert.equal(problems.get('/a~1b'), 'Must be integer');
    assert.equal(problems.get('/items/1/email'), 'Must be a valid email');
});

test('a missing value has its problem where its field is', () => {
    assert.deepEqual([...problemsOf({}, schema)], [['/name', 'Required'], ['/a~1b', 'Required']]);
});

test('of alternatives, the one that the value is meant for has the problems', () => {
    const branch = (by: string, name: string) => ({ type: 'object', properties: { by: { const: by }, [name]: { type: 'string' } }, required: ['by', name] });
    const delivery = { oneOf: [branch('pickup', 'shop'), branch('courier', 'street')] };
    const schema = { properties: { delivery: { $ref: '#/$defs/Delivery' } }, $defs: { Delivery: delivery } };
    assert.deepEqual([...problemsOf({ delivery: { by: 'courier' } }, schema)], [['/delivery/street', 'Required']]);
    assert.deepEqual([...problemsOf({ delivery: 3 }, schema).keys()], ['/delivery']);
});

test('a value that fits has no problem', () => {
    assert.equal(problemsOf({ name: 'Ada', 'a/b': 1 }, schema).size, 0);
});

test('a schema that cannot be used is a problem of the whole value', () => {
    assert.match(problemsOf(1, { $ref: '#/nowhere' }).get('') ?? '', /cannot be compared with the schema/);
});

test('a whole number that the browser would change has a problem of its own', () => {
    const schema = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } };
    assert.match(problemsOf({ id: '9007199254740993' }, schema).get('/id')!, /9007199254740991/);
    assert.match(problemsOf({ id: '12x' }, schema).get('/id')!, /integer/);
    assert.equal(problemsOf({ name: '9007199254740993' }, schema).size, 0);
    assert.equal(problemsOf({ id: 9007199254740993n }, schema).size, 0);
    const bounded = { type: 'object', properties: { id: { type: 'integer', maximum: 18446744073709551615n } } };
    assert.equal(problemsOf({ id: 9007199254740993n }, bounded).size, 0);
    assert.match(problemsOf({ id: 28446744073709551615n }, bounded).get('/id')!, /greater than/);
});
