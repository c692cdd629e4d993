import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactSchema, forLibrary, installExact, parseExact, pretty, withMarks, withoutMarks } from './exact.ts';

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
    const message = parseExact(`{"result":{"size":${ODD},"structuredContent":{"size":${ODD}}}}`);
    const { result } = forLibrary(message);
    assert.equal(result.size, Number(ODD));
    assert.equal(result.structuredContent.size, BigInt(ODD));
});

test('a schema has all digits beside the one that the client library gets', () => {
    const schema = `{"default":${ODD}}`;
    const { result } = forLibrary(parseExact(`{"result":{"tools":[{"inputSchema":${schema},"_meta":{"x":1}},{}],"inputRequests":{"a":{"params":{"requestedSchema":${schema}}},"b":{}}}}`));
    assert.equal(result.tools[0].inputSchema.default, Number(ODD));
    assert.equal(exactSchema(result.tools[0], 'inputSchema').default, BigInt(ODD));
    assert.equal(result.tools[0]._meta.x, 1);
    assert.equal(exactSchema(result.inputRequests.a.params, 'requestedSchema').default, BigInt(ODD));
    const { params } = forLibrary(parseExact(`{"method":"elicitation/create","params":{"requestedSchema":${schema}}}`));
    assert.equal(exactSchema(params, 'requestedSchema').default, BigInt(ODD));
    assert.deepEqual(exactSchema({ inputSchema: { type: 'object' } }, 'inputSchema'), { type: 'object' });
});

test('a text that only looks like a large number stays a text', () => {
    installExact();
    for (const text of [`["${ODD}","a\\"${ODD}","\\\\",${ODD}]`, `[1.${ODD},-0,1e5,[${ODD}]]`, `{"${ODD}":${ODD}}`]) assert.equal(JSON.stringify(JSON.parse(text)), text.replace('1.9007199254740993', '1.9007199254740994').replace('-0', '0').replace('1e5', '100000'));
    // The error is that of the text.
    assert.throws(() => JSON.parse(`[${ODD},}`), /\[9007199254740993,}/);
    assert.throws(() => JSON.parse(`[0${ODD}]`), SyntaxError);
});

test('a number keeps its digits in a value of any depth', () => {
    installExact();
    const text = `${'{"a":['.repeat(50_000)}${ODD}${']}'.repeat(50_000)}`;
    assert.equal(JSON.stringify(JSON.parse(text)), text);
    assert.equal(pretty(JSON.parse(text)), text);
    assert.equal(pretty({ a: BigInt(ODD) }), `{\n  "a": ${ODD}\n}`);
});

test('a mark stands for a large number where only texts are allowed', () => {
    const marked = withMarks({ a: BigInt(ODD), b: 'x' });
    assert.equal(typeof marked.a, 'string');
    assert.deepEqual(withoutMarks(marked), { a: BigInt(ODD), b: 'x' });
});
