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
        // Pictures, frames, objects, sounds and the base of addresses. The browser reports each directive with the address on the console.
        const reported = (directive, address) => page.waitForEvent('console', (message) => message.text().includes(directive) && message.text().includes(address));
        const breaks = async (view, directive, address, markup) => {
            const report = reported(directive, address);
            await view.evaluate((markup) => void document.body.append(document.createRange().createContextualFragment(markup)), markup(address));
            await report;
        };
        const frameOf = (address) => `<iframe src="${address}"></iframe>`;
        await breaks(view, 'img-src', `${undeclared}/picture`, (address) => `<img src="${address}" alt="">`);
        await breaks(view, 'frame-src', `${undeclared}/`, frameOf);
        await breaks(view, 'frame-src', `${declared}/`, frameOf);
        await breaks(view, 'frame-src', `${own}/`, () => frameOf(`${own}/playground-view?connect=${undeclared}`));
        await breaks(view, 'object-src', `${undeclared}/`, (address) => `<object data="${address}object"></object>`);
        await breaks(view, 'media-src', `${undeclared}/audio`, (address) => `<audio src="${address}"></audio>`);
        await breaks(view, 'base-uri', `${declared}/`, (address) => `<base href="${address}">`);
        // The view cannot navigate its frame to another host, where an address could carry data, or to another page of the server. The browser
        // shows an error page in the frame instead.
        for (const away of [`${undeclared}/navigation?secret`, `${own}/healthz?secret`]) {
            view = await begin('lamp');
            const policy = reported('frame-src', new URL(away).origin);
            await view.evaluate((away) => void (location.href = away), away);
            await policy;
            await view.waitForURL(/^chrome-error:/);
        }
        // The view can navigate to the empty document again, with sources that its resource has not declared. The page does not fill it:
        // otherwise the HTML would arrive before the probe, and writing it would remove the listener.
        view = await begin('lamp');
        const other = `${own}/playground-view?connect=${undeclared}`;
        await frame.evaluate((element) => void (globalThis.loaded = new Promise((resolve) => element.addEventListener('load', resolve, { once: true }))));
        await view.evaluate((other) => void (location.href = other), other);
        await page.evaluate(() => globalThis.loaded.then(() => {}));
        await view.waitForURL(other);
        await view.evaluate(() => void (globalThis.heard = new Promise((resolve) => addEventListener('message', ({ data }) => resolve(data)))));
        await frame.evaluate((element) => element.contentWindow.postMessage('probe', '*'));
        assert.equal(await view.evaluate(() => globalThis.heard), 'probe');
        assert.equal(await view.locator('h1').count(), 0);
        // Texts that are no host sources are left out, and the others stay.
        view = await begin('careless_lamp');
        assert.equal(await view.evaluate((away) => fetch(away).then(() => 'loaded', () => 'refused'), `${declared}/careless`), 'refused');
        assert.deepEqual(seen.filter((request) => !request.startsWith('localhost/')), []);
        assert.ok(!seen.includes('localhost/careless') && !seen.includes('localhost/frame'), seen.join());
        // The page itself shows nothing but the document of views in a frame.
        const shown = reported('frame-src', own);
        await page.evaluate(() => void document.body.append(Object.assign(document.createElement('iframe'), { src: '/healthz' })));
        await shown;
    } finally {
        host.close();
    }
    assert.ok(complaints.every((complaint) => /Content Security Policy|sandboxed/.test(complaint)), complaints.join('\n'));
    complaints.length = 0;
}
