// Limits of a view: it reaches neither the page nor a host that its resource has not declared.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';

export default async function ({ page, open, run, url, main, complaints }) {
    // A host that counts the requests. The view has declared it as `localhost`, and not as `127.0.0.1`.
    const seen = [];
    const host = createServer((request, response) => {
        seen.push(`${request.headers.host.split(':')[0]}${request.url}`);
        response.setHeader('access-control-allow-origin', '*');
        response.end('globalThis.loaded = true;');
    });
    await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve));
    const { port } = host.address();
    const [declared, undeclared] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
    const frame = main.locator('section.view iframe');
    const begin = async (tool) => {
        await open(`/tool/${tool}?args={"lamp":"hall"}`);
        await run();
        await frame.contentFrame().getByText(/Result: .*hall/).waitFor();
        return (await frame.elementHandle()).contentFrame();
    };
    try {
        let view = await begin('lamp');
        // The view reaches nothing of the page, because its origin is opaque.
        assert.equal(await view.evaluate(() => self.origin), 'null');
        assert.equal(await frame.getAttribute('sandbox'), 'allow-scripts');
        const tried = await view.evaluate(() => {
            const attempt = (action) => {
                try {
                    return String(action());
                } catch (error) {
                    return error.name;
                }
            };
            return {
                document: attempt(() => parent.document),
                location: attempt(() => parent.location.href),
                localStorage: attempt(() => localStorage),
                sessionStorage: attempt(() => sessionStorage),
                cookie: attempt(() => document.cookie),
                indexedDB: attempt(() => indexedDB.open('x')),
                popup: attempt(() => open('about:blank')),
            };
        });
        const refused = 'SecurityError';
        assert.deepEqual(tried, { document: refused, location: refused, localStorage: refused, sessionStorage: refused, cookie: refused, indexedDB: refused, popup: 'null' });
        // Requests: each way to load something, to the declared host and to the other one.
        const ways = (origin) =>
            view.evaluate(async (origin) => {
                const done = {};
                const element = (name, attributes) =>
                    new Promise((resolve) => {
                        const made = Object.assign(document.createElement(name), { onload: () => resolve('loaded'), onerror: () => resolve('refused') }, attributes);
                        document.head.append(made);
                    });
                done.fetch = await fetch(`${origin}/fetch`).then(() => 'loaded', () => 'refused');
                done.beacon = navigator.sendBeacon(`${origin}/beacon`) ? 'loaded' : 'refused';
                done.script = await element('script', { src: `${origin}/script` });
                done.style = await element('link', { rel: 'stylesheet', href: `${origin}/style` });
                done.preload = await element('link', { rel: 'preload', as: 'script', href: `${origin}/preload` });
                return done;
            }, origin);
        assert.deepEqual(await ways(undeclared), { fetch: 'refused', beacon: 'loaded', script: 'refused', style: 'refused', preload: 'refused' });
        assert.equal((await ways(declared)).fetch, 'loaded');
        assert.ok(seen.includes('localhost/fetch') && seen.includes('localhost/script'), seen.join());
        // The server itself is no declared host either: the view reaches it only through the page.
        const own = new URL(url).origin;
        assert.equal(await view.evaluate((own) => fetch(`${own}/healthz`, { mode: 'no-cors' }).then(() => 'loaded', () => 'refused'), own), 'refused');
        // The view cannot run a text as a script, because no resource can declare the source that `eval` needs.
        const evaluated = () =>
            new Promise((resolve) => {
                globalThis.resolve = resolve;
                // The browser permits `eval` while it evaluates this function for the scenario, so the view does it later.
                document.body.append(Object.assign(document.createElement('script'), { text: "setTimeout(() => { try { resolve(eval('`ran`')); } catch { resolve('refused'); } });" }));
            });
        assert.equal(await view.evaluate(evaluated), 'refused');
        // Pictures, frames, objects, sounds and the base of addresses. The browser reports each directive on the console.
        const reported = (directive) => page.waitForEvent('console', (message) => message.text().includes(directive));
        const breaks = async (view, directive, markup) => {
            const report = reported(directive);
            await view.evaluate((markup) => void document.body.append(document.createRange().createContextualFragment(markup)), markup);
            await report;
        };
        await breaks(view, 'img-src', `<img src="${undeclared}/picture" alt="">`);
        await breaks(view, 'frame-src', `<iframe src="${undeclared}/frame"></iframe>`);
        await breaks(view, 'frame-src', `<iframe src="${declared}/frame"></iframe>`);
        await breaks(view, 'frame-src', `<iframe src="${own}/playground-view?connect=${undeclared}"></iframe>`);
        await breaks(view, 'object-src', `<object data="${undeclared}/object"></object>`);
        await breaks(view, 'media-src', `<audio src="${undeclared}/audio"></audio>`);
        await breaks(view, 'base-uri', `<base href="${declared}/">`);
        // The view cannot navigate to another host, so it passes no data there in an address.
        const policy = reported('frame-src');
        await view.evaluate((away) => void (location.href = away), `${undeclared}/navigation?secret`);
        await policy;
        // Texts that are no host sources are left out, and the others stay.
        view = await begin('careless_lamp');
        assert.equal(await view.evaluate((away) => fetch(away).then(() => 'loaded', () => 'refused'), `${declared}/careless`), 'refused');
        assert.deepEqual(seen.filter((request) => !request.startsWith('localhost/')), []);
        assert.ok(!seen.includes('localhost/careless') && !seen.includes('localhost/frame'), seen.join());
        // The page itself shows nothing but the document of views in a frame.
        const shown = reported('frame-src');
        await page.evaluate(() => void document.body.append(Object.assign(document.createElement('iframe'), { src: '/healthz' })));
        await shown;
    } finally {
        host.close();
    }
    assert.ok(complaints.every((complaint) => /Content Security Policy|sandboxed/.test(complaint)), complaints.join('\n'));
    complaints.length = 0;
}
