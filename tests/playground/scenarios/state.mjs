// What the page keeps, and what it forgets, when the user goes on to something else.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, dialog, button, field, main, tab }) {
    const address = () => decodeURIComponent(page.url());
    // A value that the schema calls a password is neither in the address nor in the history.
    await page.route('**/mcp', async (route) => {
        const { id, method, params } = route.request().postDataJSON() ?? {};
        const reply = (result) => route.fulfill({ json: { jsonrpc: '2.0', id, result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result } } });
        const properties = { user: { type: 'string' }, password: { type: 'string', format: 'password' }, hour: { type: 'integer', default: 12 } };
        if (method === 'tools/list') return reply({ tools: [{ name: 'log_in', inputSchema: { type: 'object', properties } }] });
        if (method === 'tools/call') return reply({ content: [{ type: 'text', text: JSON.stringify(params.arguments) }] });
        return route.continue();
    });
    await open('/tool/log_in');
    await main.getByLabel(/^password/).fill('hunter2');
    await field('user').fill('ada');
    await page.waitForURL(/ada/);
    await run();
    await result.getByText('hunter2').waitFor();
    await tab(/^History/).click();
    await page.locator('.past').getByText('"user":"ada"').waitFor();
    assert.ok(!address().includes('hunter2'), address());
    assert.ok(!JSON.stringify(await page.evaluate(() => ({ ...localStorage }))).includes('hunter2'));
    // A default that the user has removed stays removed in the link.
    await main.getByLabel(/^password/).fill('');
    await field('user').fill('');
    await field('hour').fill('');
    await page.waitForURL((url) => decodeURIComponent(url.hash).includes('args={}'));
    await page.reload();
    await page.locator('.status-ready').waitFor();
    assert.equal(await field('hour').inputValue(), '');
    await page.unroute('**/mcp');
    // A change of the revision shortly after a change of the form: the address has both.
    await open('/tool/write_log');
    await run();
    await page.getByLabel('Protocol revision').selectOption('2025-11-25');
    await page.locator('.status-ready[title="Revision 2025-11-25"]').waitFor();
    // The result belongs to the old revision.
    assert.equal(await result.count(), 0);
    await open('/tool/cities');
    await page.evaluate(() => {
        const [input, choice] = [document.querySelector('main input'), document.querySelector('select[aria-label="Protocol revision"]')];
        input.value = '7';
        input.dispatchEvent(new Event('input', { bubbles: true }));
        choice.value = '2025-06-18';
        choice.dispatchEvent(new Event('change', { bubbles: true }));
        // This timer is later than that of the form.
        return new Promise((resolve) => setTimeout(resolve, 150));
    });
    assert.ok(address().includes('revision=2025-06-18'), address());
    await page.locator('.status-ready[title="Revision 2025-06-18"]').waitFor();
    await field('people').fill('8');
    await page.waitForURL((url) => /"people":8.*revision=2025-06-18/.test(decodeURIComponent(url.hash)));
    // A resource is not read while a call runs, because the call could no longer be cancelled.
    await open('/tool/broken_lamp');
    await run('running');
    const frame = main.locator('iframe');
    await frame.contentFrame().getByRole('button', { name: 'Call a tool' }).waitFor();
    const view = await (await frame.elementHandle()).contentFrame();
    await view.evaluate(`void request('ui/message', { role: 'user', content: [{ type: 'resource_link', uri: 'fixture://notes', name: 'notes' }] })`);
    await button('Read this resource').click();
    await main.getByText('broken_lamp is still running').waitFor();
    await button('Cancel it').click();
    await main.getByText('is still running').waitFor({ state: 'detached' });
    await run();
    // A question about a page of another site names its host.
    await open('/tool/pay');
    await run('running');
    await dialog.getByText('pay.example.com', { exact: true }).waitFor();
    await button('Cancel', dialog).click();
    // The log level is chosen again with the next connection.
    await open('/tool/write_log?revision=2025-11-25');
    await tab(/^Log/).click();
    await page.route('**/mcp', (route) => route.abort());
    await page.getByLabel('From level').selectOption('debug');
    await page.locator('.status', { hasText: 'not connected' }).waitFor();
    await page.unroute('**/mcp');
    await button('Reconnect', page.locator('header.top')).click();
    await page.locator('.status', { hasText: /^connected/ }).waitFor();
    await run();
    await page.locator('.panel').getByText('a detail').waitFor();
}
