import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expanded, found, itemsOf, variablesOf } from './items.ts';

test('a template has variables, and is filled in', () => {
    const template = 'files://{host}/{+path}{?lines,from}';
    assert.deepEqual(variablesOf(template), ['host', 'path', 'lines', 'from']);
    assert.equal(expanded(template, { host: 'a b', path: 'x/y', from: '3' }), 'files://a%20b/x/y?from=3');
    assert.equal(expanded('x://{a}', {}), 'x://');
    assert.equal(expanded('x://{a:3}/{b*}{?c:2}', { a: 'äöüß', b: 'y', c: 'z' }), `x://${encodeURIComponent('äöü')}/y?c=z`);
});

test('escapes in a value stay where a template allows reserved characters', () => {
    assert.equal(expanded('x://h/{+path}{#part}{?q}', { path: 'a%20b/100% c%zz', part: 'ä%C3', q: 'a%20b' }), 'x://h/a%20b/100%25%20c%25zz#%C3%A4%C3?q=a%2520b');
});

test('a preview of a template keeps the variables that have no value', () => {
    assert.equal(expanded('files://{host}/{+path}{?lines}', { path: 'x/y' }, true), 'files://{host}/x/y');
});

test('a tool with hints is destructive unless the author says otherwise', () => {
    const labels = (annotations?: object) => {
        const tool = { name: 't', inputSchema: { type: 'object' as const }, annotations };
        const offer = { status: 'ready' as const, capabilities: {}, resources: [], templates: [], prompts: [], tools: [tool] };
        return itemsOf(offer)[0].hints.map(({ label }) => label);
    };
    assert.deepEqual(labels({ idempotentHint: true }), ['destructive', 'idempotent']);
    assert.deepEqual(labels({ destructiveHint: true }), ['destructive']);
    assert.deepEqual(labels({ openWorldHint: false, destructiveHint: false }), []);
    assert.deepEqual(labels({ readOnlyHint: true, destructiveHint: true }), ['read only']);
    assert.deepEqual(labels({ title: 'T' }), []);
    assert.deepEqual(labels(), []);
});

test('the list marks a tool that only views call', () => {
    const hints = (ui: object) => {
        const tool = { name: 't', inputSchema: { type: 'object' as const }, annotations: { readOnlyHint: true }, _meta: { ui } };
        const offer = { status: 'ready' as const, capabilities: {}, resources: [], templates: [], prompts: [], tools: [tool] };
        return itemsOf(offer)[0].hints.slice(1).map(({ label, isListed }) => [label, isListed === true]);
    };
    assert.deepEqual(hints({ resourceUri: 'ui://a' }), [['has a view', false]]);
    assert.deepEqual(hints({ visibility: ['app'] }), [['for views only', true]]);
    assert.deepEqual(hints({ visibility: ['model'] }), [['not for views', false]]);
    assert.deepEqual(hints({}), []);
});

test('a search finds items that have each of its words', () => {
    const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' as const } });
    const offer = { status: 'ready' as const, capabilities: {}, resources: [], templates: [], prompts: [], tools: [tool('add', 'Adds two numbers.'), tool('list', 'Lists numbers.')] };
    const items = itemsOf(offer);
    assert.deepEqual(found(items, 'NUMBERS two').map(({ id }) => id), ['add']);
    assert.equal(found(items, ' ').length, 2);
});

test('only icons that need no request are shown', () => {
    const icons = [{ src: 'https://example.com/a.png' }, { src: 'data:image/png;base64,AA==' }];
    const offer = { status: 'ready' as const, capabilities: {}, resources: [], templates: [], tools: [], prompts: [{ name: 'p', icons }, { name: 'q', icons: icons.slice(0, 1) }] };
    assert.deepEqual(itemsOf(offer).map(({ icon }) => icon), ['data:image/png;base64,AA==', undefined]);
});
