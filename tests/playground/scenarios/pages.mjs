// A question that leads to a page of another site.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, dialog, button }) {
    for (const revision of ['2026-07-28', '2025-11-25']) {
        await open(`/tool/pay?revision=${revision}`);
        await run('running');
        await dialog.getByRole('heading', { name: 'Pay the bill.' }).waitFor();
        const link = dialog.getByRole('link');
        assert.equal(await link.getAttribute('href'), 'https://pay.example.com/bill/7');
        assert.equal(await link.getAttribute('rel'), 'noopener noreferrer');
        await button('Accept', dialog).click();
        await page.locator('.state-done').waitFor();
        assert.match(await result.innerText(), /paid/);
        // Escape means that the user has not decided.
        await run('running');
        await dialog.waitFor();
        await page.keyboard.press('Escape');
        await page.locator('.state-failed').waitFor();
    }
}
