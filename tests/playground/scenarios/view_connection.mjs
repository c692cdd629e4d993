// The end of a view when the page connects again: the view says goodbye, and cannot use the new connection.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, main, button, tab }) {
    const panel = page.locator('.panel');
    const frame = main.locator('section.view:visible iframe');
    const view = frame.contentFrame();
    const bodies = [];
    page.on('request', (request) => bodies.push(request.postData() ?? ''));
    const ways = {
        reconnect: () => button('Reconnect', page).click(),
        revision: () => page.getByLabel('Protocol revision').selectOption('2025-11-25'),
    };
    for (const [name, connectAgain] of Object.entries(ways)) {
        await open('/tool/lamp?args={"lamp":"hall"}');
        await run();
        await view.getByText(/Result: .*hall/).waitFor();
        await (await (await frame.elementHandle()).contentFrame()).evaluate(`atEnd = () => request('tools/call', { name: 'lamp_state', arguments: { lamp: 'late' } })`);
        await connectAgain();
        await main.locator('section.view').waitFor({ state: 'detached' });
        await page.locator('.status-ready').waitFor();
        await tab(/^Log/).click();
        await panel.getByText('the view says goodbye').waitFor();
        await tab(/^Wire/).click();
        await panel.getByLabel('Filter the messages').fill('connection of this view');
        await panel.locator('.wire > li', { hasText: 'to the view' }).first().waitFor();
        assert.ok(!bodies.some((body) => body.includes('"late"')), name);
        // The next call has a view of its own.
        await run();
        await view.getByText(/Result: .*hall/).waitFor();
    }
}
