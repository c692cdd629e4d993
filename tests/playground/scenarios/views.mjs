// The view of a tool (MCP Apps): it gets the input and the result, calls tools, grows, asks for links, and says goodbye.

import assert from 'node:assert/strict';
import { checker } from '../accessible.mjs';

export default async function (context) {
    const { browser, page, open, run, url, main, result, dialog, button, tab, complaints } = context;
    const check = checker(context);
    const panel = page.locator('.panel');
    const section = main.locator('section.view:visible');
    const frame = main.locator('section.view:visible iframe');
    const view = frame.contentFrame();
    // Evaluates an expression in the window of the view.
    const inView = async (expression) => (await (await frame.elementHandle()).contentFrame()).evaluate(expression);
    const bodies = [];
    page.on('request', (request) => bodies.push(request.postData() ?? ''));
    for (const revision of ['2026-07-28', '2025-11-25']) {
        bodies.length = 0;
        await open(`/tool/lamp?revision=${revision}&args={"lamp":"hall"}`);
        await run();
        await view.getByText('Input: {"lamp":"hall"}').waitFor();
        // Views work with numbers, which are rounded here as in other clients. The result of the page has all digits.
        await view.getByText('Result: {"name":"hall","is_on":true,"serial":9007199254740992}').waitFor();
        await result.getByText('9007199254740993', { exact: true }).waitFor();
        await section.getByText('connects to http://localhost:*').waitFor();
        // The page tells the server that it shows views: with each request, or once.
        const declaring = bodies.filter((body) => /"extensions":{[^}]*"io.modelcontextprotocol\/ui":{"mimeTypes":\["text\/html;profile=mcp-app"\]/.test(body));
        assert.ok(declaring.some((body) => body.includes(revision === '2026-07-28' ? '"tools/call"' : '"initialize"')), bodies.join('\n'));
        const { protocolVersion, hostContext, hostCapabilities } = await inView('initialized');
        assert.equal(protocolVersion, '2026-01-26');
        assert.equal(hostContext.toolInfo.tool.name, 'lamp');
        assert.deepEqual(hostContext.toolInfo.tool._meta, { ui: { resourceUri: 'ui://fixture/lamp' } });
        assert.equal(hostContext.theme, 'light');
        assert.equal(hostContext.locale, await page.evaluate(() => navigator.language));
        assert.ok(hostContext.containerDimensions.width > 100);
        assert.deepEqual(hostCapabilities.sandbox.csp, { connectDomains: ['http://localhost:*'], resourceDomains: ['http://localhost:*'] });
        // A tool for views, a tool that is not for views, a tool that does not exist, and a resource.
        await view.getByRole('button', { name: 'Call a tool' }).click();
        await view.getByText(/Answer: .*"name":"hall"/).waitFor();
        const call = (name) => inView(`request('tools/call', { name: '${name}', arguments: {} })`);
        assert.match((await call('forget_lamp')).error.message, /not for views/);
        assert.match((await call('unknown')).error.message, /no tool/);
        assert.match((await inView(`request('resources/read', { uri: 'fixture://notes' })`)).result.contents[0].text, /first/);
        assert.ok((await inView(`request('resources/read', { uri: 'fixture://nowhere' })`)).error);
        assert.equal((await inView(`request('sampling/createMessage', {})`)).error.code, -32601);
        assert.deepEqual((await inView(`request('ping')`)).result, {});
    }
    // The height of the frame follows the view, within bounds.
    const height = async (expected) => {
        for (let tries = 0; tries < 100 && (await frame.evaluate((element) => element.style.height)) !== expected; tries += 1) await page.evaluate(() => new Promise(requestAnimationFrame));
        assert.equal(await frame.evaluate((element) => element.style.height), expected);
    };
    await view.getByRole('button', { name: 'Grow' }).click();
    await height('420px');
    await inView(`tell('ui/notifications/size-changed', { height: 1e9 })`);
    await height('800px');
    await inView(`tell('ui/notifications/size-changed', { height: -1 })`);
    await height('40px');
    await view.locator('#grow').evaluate((element) => element.click());
    await height('420px');
    // The page tells the view about other colours.
    await page.getByLabel('Colours').selectOption('dark');
    await view.getByText('Context: {"theme":"dark"}').waitFor();
    await page.getByLabel('Colours').selectOption('system');
    // The page shows the messages of the view to the conversation and to the model.
    await inView(`request('ui/message', { role: 'user', content: { type: 'text', text: 'Turn on the hall.' } })`);
    await section.getByText('Turn on the hall.').waitFor();
    for (const room of ['kitchen', 'attic']) await inView(`request('ui/update-model-context', { content: [{ type: 'text', text: 'The user looks at the ${room}.' }], structuredContent: { lamps: 2 } })`);
    await section.getByText('The user looks at the attic.').waitFor();
    assert.equal(await section.getByText('The user looks at the kitchen.').count(), 0);
    // The user decides about a link. The button that has the focus declines.
    const health = new URL('/healthz', url).href;
    const asked = inView(`request('ui/open-link', { url: '${health}' })`);
    await dialog.getByRole('heading', { name: new URL(url).host }).waitFor();
    await check('question of a view');
    await page.keyboard.press('Enter');
    assert.match((await asked).error.message, /declined/);
    const again = inView(`request('ui/open-link', { url: '${health}' })`);
    const opened = browser.waitForEvent('page');
    await button('Open the page', dialog).click();
    assert.deepEqual((await again).result, {});
    const popup = await opened;
    await popup.waitForURL(health);
    assert.equal(await popup.evaluate(() => opener), null);
    await popup.close();
    assert.equal((await inView(`request('ui/open-link', { url: 'javascript:alert(1)' })`)).error.code, -32000);
    // The question shows the address that the browser would open. While it waits, the view cannot ask for another one.
    const odd = inView(`request('ui/open-link', { url: 'HTTPS://EXAMPLE.com\\\\@b\\u00fccher.example/ \\u202e' })`);
    await dialog.getByText('https://example.com/@b%C3%BCcher.example/%20%E2%80%AE', { exact: true }).waitFor();
    assert.match((await inView(`request('ui/open-link', { url: '${health}' })`)).error.message, /has not answered/);
    assert.equal(await dialog.getByText('more to answer').count(), 0);
    await page.keyboard.press('Escape');
    assert.match((await odd).error.message, /closed the question/);
    // The view has its answer before the dialog closes, and the page takes no focus outside of an open dialog.
    await dialog.waitFor({ state: 'detached' });
    // The keyboard leads into the view and out of it.
    await page.locator('article button[type=submit]').focus();
    const focused = () => page.evaluateHandle(() => document.activeElement);
    // The browser moves the focus between two documents some time after the key. A second press before that would skip an element.
    const leave = async (element) => {
        await page.keyboard.press('Tab');
        await page.waitForFunction((before) => document.activeElement !== before, element);
    };
    const isInView = async () => (await focused()).evaluate((element) => element.tagName === 'IFRAME');
    const focusInView = (id) => view.locator(`#${id}`).and(view.locator(':focus')).waitFor();
    for (let presses = 0; presses < 30 && !(await isInView()); presses += 1) await leave(await focused());
    await focusInView('call');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await focusInView('grow');
    await leave(await focused());
    assert.equal(await isInView(), false);
    // The wire has the messages of the view, apart from those of the server.
    await tab(/^Wire/).click();
    await panel.getByLabel('Filter the messages').fill('ui/initialize');
    const entry = panel.locator('.wire > li').first();
    assert.match(await entry.innerText(), /to the view\s*view\s*response\s*ui\/initialize/);
    await tab(/^Wire/).click();
    await check('a view');
    // The page ignores messages that look like those of the view but come from another window: from the page itself, and from another frame.
    // Messages arrive in order, so when the page shows a later message of the view, it has ignored the forged messages.
    const forge = (text) => ({ jsonrpc: '2.0', id: 'forged', method: 'ui/message', params: { role: 'user', content: { type: 'text', text } } });
    await page.evaluate((message) => new Promise((resolve) => (addEventListener('message', resolve, { once: true }), postMessage(message, '*'))), forge('Forged by the page'));
    await page.evaluate((src) => void document.body.append(Object.assign(document.createElement('iframe'), { id: 'other', src, sandbox: 'allow-scripts' })), new URL('playground-view', url).href);
    const other = await (await page.locator('#other').elementHandle()).contentFrame();
    await other.waitForURL(/playground-view/);
    const heard = page.evaluate(() => new Promise((resolve) => addEventListener('message', ({ origin }) => resolve(origin), { once: true })));
    await other.evaluate((message) => parent.postMessage(message, '*'), forge('Forged by a frame'));
    assert.equal(await heard, 'null');
    await inView(`request('ui/message', { role: 'user', content: { type: 'text', text: 'Genuine' } })`);
    await section.getByText('Genuine').waitFor();
    assert.equal(await section.getByText('Forged').count(), 0);
    await page.locator('#other').evaluate((element) => element.remove());
    // The next call brings a new view. The old one says goodbye first.
    await run();
    await tab(/^Log/).click();
    await panel.getByText('the view says goodbye').first().waitFor();
    await panel.getByText('view lamp').first().waitFor();
    await tab(/^Log/).click();
    await main.locator('section.view').nth(1).waitFor({ state: 'detached' });
    await view.getByText(/Result: .*hall/).waitFor();
    // A call that is cancelled, while its view is open, and while another item is shown.
    await open('/tool/broken_lamp');
    await run('running');
    await view.getByText('Input: {}').waitFor();
    await page.locator('.item', { hasText: 'cities' }).click();
    await main.getByText('is still running').waitFor();
    assert.equal(await frame.count(), 0);
    await button('Show it').click();
    await view.getByText('Result: none').waitFor();
    await button('Cancel', result).click();
    await view.getByText('Result: cancelled: The user has cancelled the call').waitFor();
    // A resource that is no view, and a tool that models do not see.
    await open('/tool/text_lamp');
    await run();
    await section.getByText('has the type “text/plain”').waitFor();
    await page.locator('.item', { hasText: 'lamp_state' }).getByText('for views only').waitFor();
    // Calls with a view on a narrow screen and in dark colours.
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 720 });
    await open('/tool/careless_lamp?args={"lamp":"hall"}');
    await run();
    await view.getByText('"theme":"dark"').waitFor();
    await section.getByText('connectDomains: http://localhost:*; script-src *').waitFor();
    assert.equal(await frame.getAttribute('class'), null);
    await check('a view with refused sources');
    assert.deepEqual(complaints, []);
}
