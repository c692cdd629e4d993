// The server ends during a call and while the page listens to it, and comes back.

import assert from 'node:assert/strict';
import { lineTo } from '../line.mjs';

export default async function ({ page, browser, url, run, result, dialog, button, main, tab }) {
    const line = await lineTo(url);
    const lost = page.locator('.status', { hasText: 'not connected' });
    const connected = page.locator('.status', { hasText: /^connected/ });
    const open = async (place) => {
        await page.goto('about:blank');
        await page.goto(`${line.url}#${place}`);
        await page.locator('.status-ready').waitFor();
    };
    for (const revision of ['2026-07-28', '2025-11-25', '2024-11-05']) {
        await open(`/tool/slow_compute?revision=${revision}&args={"seconds":600,"label":"sum"}`);
        await run('running');
        await result.getByRole('progressbar').waitFor();
        line.cut();
        await page.locator('.state-failed').waitFor();
        await result.getByText('The connection ended before the response').waitFor();
        await result.getByText('Choose “Reconnect”').waitFor();
        await lost.waitFor();
        line.repair();
        // The next call can begin at once.
        await main.getByRole('textbox', { name: 'seconds' }).fill('0');
        await run();
        await connected.waitFor();
        // A call that the user cancels does not lose its connection.
        await main.getByRole('textbox', { name: 'seconds' }).fill('600');
        await run('running');
        await result.getByRole('progressbar').waitFor();
        await button('Cancel', result).click();
        await page.locator('.state-cancelled').waitFor();
        await main.getByRole('textbox', { name: 'seconds' }).fill('0');
        await run();
        assert.equal(await lost.count(), 0);
    }
    // The question of a call ends together with the call.
    await open('/tool/test_elicitation?revision=2025-11-25&args={"message":"Well?"}');
    await run('running');
    await dialog.waitFor();
    line.cut();
    await page.locator('.state-failed').waitFor();
    await dialog.waitFor({ state: 'detached' });
    line.repair();
    // The page listens again as soon as the server answers.
    const watched = '/resource/test%3A%2F%2Fwatched-resource?revision=';
    const subscribe = main.getByRole('checkbox', { name: 'Subscribe' });
    await open(`${watched}2026-07-28`);
    await subscribe.check();
    await tab(/^Wire/).click();
    await page.getByLabel('Filter the messages').fill('acknowledged');
    // One stream is for changes of the lists, and one for this resource.
    const acknowledged = page.locator('.wire > li');
    await acknowledged.nth(1).waitFor();
    line.cut();
    await lost.waitFor();
    line.repair();
    await run();
    await connected.waitFor();
    await acknowledged.nth(3).waitFor();
    const other = await browser.newPage();
    await other.goto(`${url}#/tool/touch_watched_resource`);
    await other.locator('.status-ready').waitFor();
    await other.locator('article button[type=submit]').click();
    await main.getByText('updated once').waitFor();
    // A session that has ended takes its subscriptions along.
    const begun = page.waitForRequest((request) => request.headers()['mcp-session-id'] !== undefined);
    await open(`${watched}2025-11-25`);
    const id = (await begun).headers()['mcp-session-id'];
    await subscribe.check();
    await fetch(new URL('/mcp', url), { method: 'DELETE', headers: { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' } });
    await page.locator('.status', { hasText: 'session ended' }).waitFor();
    assert.equal(await subscribe.isChecked(), false);
    await run('failed');
    await result.getByText('The session may have ended.').waitFor();
    await button('Reconnect', page.locator('header.top')).click();
    await connected.waitFor();
    await run();
    line.close();
}
