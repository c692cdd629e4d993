import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedArgs, withoutSecrets } from './shared_args.ts';

const secret = { type: 'string', format: 'password' };

test('a secret is left out at any depth', () => {
    const schema = {
        type: 'object',
        properties: {
            user: { type: 'string' },
            password: secret,
            token: { type: 'string', writeOnly: true },
            pin: { anyOf: [secret, { type: 'null' }] },
            logins: { type: 'array', items: { $ref: '#/$defs/login' } },
            way: { oneOf: [{ type: 'object', properties: { key: secret } }, { type: 'object', properties: { name: { type: 'string' } } }] },
            others: { type: 'object', additionalProperties: { $ref: '#/$defs/login' } },
            loop: { $ref: '#' },
        },
        $defs: { login: { type: 'object', properties: { name: { type: 'string' }, key: { type: 'string', writeOnly: true } } } },
    };
    const login = { name: 'n', key: 's' };
    const value = { user: 'u', password: 's', token: 's', pin: 's', logins: [login], way: { key: 's' }, others: { a: login }, loop: { password: 's' }, free: { password: 'p' } };
    assert.deepEqual(withoutSecrets(value, schema), { user: 'u', logins: [{ name: 'n' }], way: {}, others: { a: { name: 'n' } }, loop: {}, free: { password: 'p' } });
    assert.equal(withoutSecrets(undefined, schema), undefined);
    assert.equal(withoutSecrets('x', schema), 'x');
});

test('a list keeps the places of its items', () => {
    assert.deepEqual(withoutSecrets({ keys: ['a', 'b'] }, { properties: { keys: { type: 'array', items: secret } } }), { keys: [null, null] });
});

test('arguments that the form begins with are not shared, and those that the user has cleared are', () => {
    const schema = { type: 'object', properties: { hour: { type: 'integer', default: 12 } } };
    assert.equal(sharedArgs({ hour: 12 }, schema), undefined);
    assert.deepEqual(sharedArgs({}, schema), {});
    assert.deepEqual(sharedArgs({ hour: 9 }, schema), { hour: 9 });
    assert.equal(sharedArgs({}, { type: 'object' }), undefined);
    assert.equal(sharedArgs(undefined, undefined), undefined);
    assert.deepEqual(sharedArgs({ a: 1 }, undefined), { a: 1 });
});
