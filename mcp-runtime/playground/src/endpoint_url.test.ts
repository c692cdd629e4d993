import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointUrl } from './endpoint_url.ts';

const url = (path: string, page: string) => endpointUrl(path, new URL(page)).href;

test('the endpoint is beside the page, also below a prefix that the server does not know', () => {
    assert.equal(url('/mcp', 'http://127.0.0.1:1/playground?code=1#/tool/x'), 'http://127.0.0.1:1/mcp');
    assert.equal(url('/mcp', 'https://a.b/nested/playground'), 'https://a.b/nested/mcp');
    assert.equal(url('/api/v1/mcp', 'https://a.b/x/api/v1/playground'), 'https://a.b/x/api/v1/mcp');
    assert.equal(url('/a:b', 'https://a.b/x/playground'), 'https://a.b/x/a:b');
});

test('a page with another name uses the whole path of the endpoint', () => {
    assert.equal(url('/api/mcp', 'https://a.b/other/try'), 'https://a.b/api/mcp');
    assert.equal(url('/', 'https://a.b/playground'), 'https://a.b/');
});
