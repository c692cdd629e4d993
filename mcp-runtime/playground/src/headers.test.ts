import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersOf } from './headers.ts';

test('arguments that the schema marks become headers', () => {
    const schema = { properties: { a: { 'x-mcp-header': 'Region' }, b: {}, c: { properties: { d: { 'x-mcp-header': 'Deep' } } } } };
    assert.deepEqual(headersOf(schema, { a: 'eu', b: 1, c: { d: true } }), { 'Mcp-Param-Region': 'eu', 'Mcp-Param-Deep': 'true' });
    assert.deepEqual(headersOf(schema, { a: 'ä' }), { 'Mcp-Param-Region': '=?base64?w6Q=?=' });
    assert.deepEqual(headersOf(schema, { a: ' x' }), { 'Mcp-Param-Region': '=?base64?IHg=?=' });
    assert.deepEqual(headersOf({}, undefined), {});
});
