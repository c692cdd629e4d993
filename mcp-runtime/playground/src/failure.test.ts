import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InsufficientScopeError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import { advice, explain, failureOf, rpcCodeOf } from './failure.ts';

const of = (error: unknown) => failureOf(error, () => 'refused');
const refused = (status: number) => new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'Error POSTing to endpoint: no', { status, statusText: '', text: 'no' });

test('an error of the protocol keeps its code and its data', () => {
    const error = Object.assign(new Error('no'), { code: -32602, data: { uri: 'a' } });
    assert.deepEqual(of(error), { code: -32602, status: undefined, message: 'no', data: { uri: 'a' } });
    assert.match(advice(of(error)), /no resource/);
    // Numbers in the text are not a status.
    assert.match(advice({ code: -32000, message: 'The order 4013 is unknown' }), /“Wire” shows the whole answer/);
});

test('the refusal of an HTTP request has its status, and no code', () => {
    for (const status of [400, 403, 404, 413, 429, 502]) {
        const failure = of(refused(status));
        assert.deepEqual(failure, { code: undefined, status, message: 'Error POSTing to endpoint: no', data: undefined });
        // The wire has no answer to show.
        assert.doesNotMatch(advice(failure), /whole answer/);
    }
    assert.match(advice(of(refused(403))), /permission/);
});

test('each error of the library for a refused token asks for another login', () => {
    const errors = [new UnauthorizedError(), refused(401), new InsufficientScopeError({ requiredScope: 'notes' })];
    assert.deepEqual(errors.map((error) => of(error).status), [401, 401, 403]);
    for (const error of errors) assert.deepEqual([of(error).message, of(error).needsLogin, advice(of(error))], ['refused', true, advice({ message: '', needsLogin: true })]);
});

test('only JSON-RPC errors have a code', () => {
    assert.equal(rpcCodeOf({ code: -32000 }), -32000);
    for (const other of [new DOMException('no', 'AbortError'), { code: 'NOT_CONNECTED' }, { code: 1.5 }, new Error('no'), undefined]) assert.equal(rpcCodeOf(other), undefined);
});

test('an explanation names the places that the protocol does not allow, and a server that is gone', () => {
    assert.equal(explain(new Error('Invalid result for tools/call: [{"path":["content",1],"message":"Invalid input"}]')), 'The protocol does not allow this result: content/1 (Invalid input)');
    assert.match(explain(new TypeError('Failed to fetch')), /cannot be reached \(Failed to fetch\)/);
    assert.equal(explain('text'), 'text');
});
