import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, isVisible, mayChange, viewUri } from './tool_ui.ts';

test('a tool names its view, also with the deprecated key', () => {
    assert.equal(viewUri({ _meta: { ui: { resourceUri: 'ui://a' }, 'ui/resourceUri': 'ui://b' } }), 'ui://a');
    assert.equal(viewUri({ _meta: { 'ui/resourceUri': 'ui://b' } }), 'ui://b');
    for (const tool of [undefined, {}, { _meta: { ui: { visibility: ['app'] } } }, { _meta: { ui: { resourceUri: 7 } } }]) assert.equal(viewUri(tool), undefined);
});

test('models and views see a tool that says nothing else', () => {
    const visible = (visibility: unknown) => [isVisible({ _meta: { ui: { visibility } } }, 'model'), isVisible({ _meta: { ui: { visibility } } }, 'app')];
    assert.deepEqual(visible(undefined), [true, true]);
    assert.deepEqual(visible(['model', 'app']), [true, true]);
    assert.deepEqual(visible(['app']), [false, true]);
    assert.deepEqual(visible(['model']), [true, false]);
    assert.ok(isVisible({}, 'app'));
});

test('a tool may change something unless it says that it only reads', () => {
    assert.equal(mayChange({ annotations: { readOnlyHint: true } }), false);
    for (const annotations of [undefined, {}, { readOnlyHint: false }, { readOnlyHint: 'true' }, { destructiveHint: false }]) assert.equal(mayChange({ annotations }), true);
});

test('a view is a text or bytes, and its settings come from the content or from the list', () => {
    const mimeType = 'text/html; profile=mcp-app';
    const listed = { _meta: { ui: { prefersBorder: true } } };
    assert.deepEqual(documentOf('ui://a', { contents: [{ uri: 'ui://a', mimeType, text: '<p>' }] }, listed), { html: '<p>', ui: { prefersBorder: true } });
    const blob = btoa(String.fromCharCode(...new TextEncoder().encode('<p>é')));
    const own = { ui: { prefersBorder: false } };
    assert.deepEqual(documentOf('ui://a', { contents: [{ uri: 'ui://b' }, { uri: 'ui://a', mimeType, blob, _meta: own }] }, listed), { html: '<p>é', ui: own.ui });
    assert.throws(() => documentOf('ui://a', { contents: [{ uri: 'ui://a', mimeType: 'text/html', text: '' }] }, undefined), /“text\/html”.*profile=mcp-app/);
    assert.throws(() => documentOf('ui://a', { contents: [] }, undefined), /no content/);
});
