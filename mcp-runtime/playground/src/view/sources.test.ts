import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredSources, framePolicy, viewUrl } from './sources.ts';

const view = new URL('http://127.0.0.1:8000/playground-view');

test('a view that declares nothing has an address without sources', () => {
    for (const csp of [undefined, null, {}, { connectDomains: [] }, 'text']) {
        const sources = declaredSources(csp);
        assert.deepEqual(sources.refused, []);
        assert.equal(viewUrl(view, sources), view.href);
    }
});

test('each list of sources has a name in the address', () => {
    const csp = { connectDomains: ['wss://a.example'], resourceDomains: ['https://*.b.example:*', 'https://c.example/x@1/'], frameDomains: ['d.example'], baseUriDomains: ['https://e.example:8443'] };
    const sources = declaredSources(csp);
    assert.deepEqual(sources, { allowed: csp, refused: [] });
    const url = viewUrl(view, sources);
    assert.equal(url, `${view.href}?connect=wss://a.example&resource=https://*.b.example:*&resource=https://c.example/x@1/&frame=d.example&base=https://e.example:8443`);
    // The browser sends it as it is.
    assert.equal(new URL(url).href, url);
});

test('a text that is no host source is refused', () => {
    const wrong = ['', '*', '*.', 'https:', 'https://', 'https://*', 'data:', 'blob:', "'self'", "'unsafe-eval'", 'https://a.example; script-src *', 'https://a.example, *', 'https://a.example b.example', 'https://a.example/x;y', 'https://a.example/x?y', 'https://a.example#x', 'https://a.example&connect=b.example', 'https://a.example:', 'https://a.example:123456', 'https://a.*.example', 'https://user@a.example', 'javascript://a.example', '//a.example', 'https://[::1]', 'https://bücher.example', 'https://a.example\n'];
    for (const source of wrong) {
        assert.deepEqual(declaredSources({ connectDomains: [source] }), { allowed: {}, refused: [`connectDomains: ${source}`] });
    }
    assert.deepEqual(declaredSources({ frameDomains: [7], resourceDomains: 'https://a.example' }).refused, ['resourceDomains: https://a.example', 'frameDomains: 7']);
});

test('the page shows only the document of views in a frame', () => {
    assert.equal(framePolicy(view), 'frame-src http://127.0.0.1:8000/playground-view');
    assert.equal(framePolicy(new URL('https://a.example/x;y,z/playground-view')), 'frame-src https://a.example/x%3By%2Cz/playground-view');
    assert.equal(framePolicy(new URL('http://[::1]:8000/playground-view')), undefined);
});
