import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installExact, large, parseExact, withNumbers } from './exact.ts';

const ODD = '9007199254740993';

test('a large whole number keeps its digits from text to text', () => {
    installExact();
    const text = `{"a":[${ODD},-${ODD},18446744073709551616],"b":9007199254740991,"c":0.1,"d":1e300,"e":"${ODD}"}`;
    const value = JSON.parse(text);
    assert.equal(value.a[0], BigInt(ODD));
    assert.equal(typeof value.b, 'number');
    assert.equal(typeof value.d, 'number');
    assert.equal(JSON.stringify(value), text.replace('1e300', '1e+300'));
});

test('the client library gets numbers, except for content that it passes on', () => {
    const message = parseExact(`{"result":{"size":${ODD},"structuredContent":{"size":${ODD}},"tools":[{"inputSchema":{"default":${ODD}}}]}}`);
    const { result } = withNumbers(message);
    assert.equal(result.size, Number(ODD));
    assert.equal(result.structuredContent.size, BigInt(ODD));
    assert.equal(result.tools[0].inputSchema.default, Number(ODD));
});

test('large numbers are found by their place', () => {
    assert.deepEqual(large({ a: [1, 2 ** 53, BigInt(ODD)], 'b/c': BigInt(ODD), d: 0.5 }), ['/a/2', '/b~1c']);
});
