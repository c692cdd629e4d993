// Updates of a resource while the user has subscribed, and lists that change.

import assert from 'node:assert/strict';

export default async function ({ page, open, main, browser, url }) {
    for (const revision of ['2026-07-28', '2025-11-25']) {
        await open(`/resource/test%3A%2F%2Fwatched-resource?revision=${revision}`);
        await main.getByRole('checkbox', { name: 'Subscribe' }).check();
        // Another client changes the resource.
        const other = await browser.newPage();
        const touch = async () => {
            await other.goto(`${url}#/tool/touch_watched_resource`);
            await other.locator('.status-ready').waitFor();
            await other.locator('article button[type=submit]').click();
            await other.locator('.state-done').waitFor();
        };
        await touch();
        await main.getByText('updated once').waitFor();
        await other.locator('article button[type=submit]').click();
        await main.getByText('updated 2 times').waitFor();
        await main.getByRole('checkbox', { name: 'Subscribe' }).uncheck();
        await main.getByText('updated 2 times').waitFor({ state: 'detached' });
        await other.close();
    }
}
