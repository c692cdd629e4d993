// Progress while a call runs, its cancellation, and log lines by level, in both eras.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, button, tab }) {
    for (const revision of ['2026-07-28', '2025-11-25']) {
        await open(`/tool/wait_for_cancel?revision=${revision}`);
        await run('running');
        const progress = result.getByRole('progressbar', { name: 'Progress' });
        await progress.waitFor();
        assert.equal(await progress.evaluate((bar) => bar.value / bar.max), 0.5);
        await result.getByText('5 of 10 half of it').waitFor();
        await button('Cancel', result).click();
        await page.locator('.state-cancelled').waitFor();
        await open(`/tool/write_log?revision=${revision}`);
        await run();
        const lines = result.getByRole('list', { name: 'Log lines of this call' }).getByRole('listitem');
        await lines.nth(2).waitFor();
        assert.deepEqual(await lines.locator('.badge').allInnerTexts(), ['info', 'warning', 'error']);
        await tab(/^Log/).click();
        await page.getByLabel('From level').selectOption('debug');
        await page.locator('article button[type=submit]').click();
        await page.locator('.panel').getByText('a detail').waitFor();
        await page.getByLabel('From level').selectOption('error');
        await page.locator('.panel').getByText('a detail').waitFor({ state: 'detached' });
        await page.locator('.panel').getByText('a mistake').first().waitFor();
        assert.equal(await page.locator('.panel').getByText('a doubt').count(), 0);
    }
}
