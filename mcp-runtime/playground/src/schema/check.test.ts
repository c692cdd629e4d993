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

test('a problem is at its value also when the name has a space, a letter beyond ASCII, a number sign or a percent sign', () => {
    const names = ['first name', 'höhe', 'a#b', 'a%23b', '50%/~'];
    const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'object', required: ['ö x'] }])) };
    const value = Object.fromEntries(names.map((name) => [name, {}]));
    assert.deepEqual([...problemsOf(value, schema).keys()], ['/first name/ö x', '/höhe/ö x', '/a#b/ö x', '/a%23b/ö x', '/50%~1~0/ö x']);
    assert.match(problemsOf({ 'ö x': '9007199254740993' }, { properties: { 'ö x': { type: 'integer' } } }).get('/ö x')!, /9007199254740991/);
});

test('a member that the schema does not allow has the problem', () => {
    const strict = { type: 'object', properties: { now: { type: 'string' } }, additionalProperties: false };
    assert.deepEqual([...problemsOf({ now: 'x', old: 'y' }, strict)], [['/old', 'The schema allows no value here']]);
    assert.deepEqual([...problemsOf({ old: 'y' }, { ...strict, additionalProperties: undefined, unevaluatedProperties: false }).keys()], ['/old']);
});

test('a member that another alternative does not allow has no problem', () => {
    const branch = (by: string, name: string) => ({ type: 'object', properties: { by: { const: by }, [name]: { type: 'string' }, [`${name}Code`]: { type: 'integer' } }, required: ['by', name], additionalProperties: false });
    const schema = { oneOf: [branch('pickup', 'shop'), branch('courier', 'street')] };
    assert.deepEqual([...problemsOf({ by: 'courier', streetCode: 1 }, schema)], [['/street', 'Required']]);
});

test('a pattern that a browser cannot read is left out of the comparison', () => {
    const schema = { type: 'object', properties: { word: { type: 'string', pattern: '(?i)abc(' }, pattern: { type: 'integer' } }, patternProperties: { '(?i)x(': { type: 'string' } } };
    assert.deepEqual([...problemsOf({ word: 'ABC', pattern: 'x' }, schema).keys()], ['/pattern']);
});
