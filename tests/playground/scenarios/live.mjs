// Progress while a call runs, its cancellation, and log lines by level, in both eras.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, button, tab, main }) {
    let cancelled = 0;
    for (const revision of ['2026-07-28', '2025-11-25']) {
        const isModern = revision === '2026-07-28';
        await open(`/tool/wait_for_cancel?revision=${revision}`);
        await run('running');
        const progress = result.getByRole('progressbar', { name: 'Progress' });
        await progress.waitFor();
        assert.equal(await progress.evaluate((bar) => bar.value / bar.max), 0.5);
        await result.getByText('5 of 10 half of it').waitFor();
        // The pages of other items explain why no call can begin, and lead back to the running call.
        await page.locator('.item', { hasText: 'cities' }).click();
        await main.getByText('wait_for_cancel is still running.').waitFor();
        await button('Show it').click();
        await progress.waitFor();
        await button('Cancel', result).click();
        await page.locator('.state-cancelled').waitFor();
        await run('running');
        await page.locator('.item', { hasText: 'cities' }).click();
        await button('Cancel it').click();
        await run();
        // The server stops each cancelled call. In the newest revision, the page offers a task for each tool, but this tool runs without a task.
        await open(`/tool/wait_for_cancel?revision=${revision}`);
        const asTask = main.getByRole('checkbox', { name: 'Run as a task' });
        assert.equal(await asTask.count(), isModern ? 1 : 0);
        if (isModern) await asTask.check();
        await run('running');
        await result.getByText('5 of 10 half of it').waitFor();
        await page.keyboard.press('Escape');
        await page.locator('.state-cancelled').waitFor();
        cancelled += 3;
        await open(`/tool/wait_for_cancellations?revision=${revision}&args={"count":${cancelled}}`);
        await run();
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
