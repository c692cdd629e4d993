import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { declaredSources, framePolicy, viewUrl } from './sources.ts';

// The test of the server reads this table, too.
const cases: { accepted: string[]; refused: string[] } = JSON.parse(readFileSync(new URL('../../host_sources.json', import.meta.url), 'utf8'));
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

test('host sources are the texts that the table accepts', () => {
    assert.ok(cases.accepted.length > 10 && cases.refused.length > 10);
    for (const source of cases.accepted) assert.deepEqual(declaredSources({ connectDomains: [source] }), { allowed: { connectDomains: [source] }, refused: [] });
    for (const source of cases.refused) assert.deepEqual(declaredSources({ connectDomains: [source] }), { allowed: {}, refused: [`connectDomains: ${source}`] });
    assert.deepEqual(declaredSources({ frameDomains: [7], resourceDomains: 'https://a.example' }).refused, ['resourceDomains: https://a.example', 'frameDomains: 7']);
});

test('the page shows only the document of views in a frame', () => {
    assert.equal(framePolicy(view), 'frame-src http://127.0.0.1:8000/playground-view');
    assert.equal(framePolicy(new URL('https://a.example/x;y,z/playground-view')), 'frame-src https://a.example/x%3By%2Cz/playground-view');
    assert.equal(framePolicy(new URL('http://[::1]:8000/playground-view')), undefined);
});
