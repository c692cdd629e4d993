// Tasks with their status, their questions and their cancellation, in both dialects.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, dialog, button, main, tab }) {
    for (const revision of ['2026-07-28', '2025-11-25']) {
        const asTask = async (tool, args) => {
            await open(`/tool/${tool}?revision=${revision}${args ? `&args=${JSON.stringify(args)}` : ''}`);
            await main.getByRole('checkbox', { name: 'Run as a task' }).check();
        };
        await asTask('slow_compute', { seconds: 0.3, label: 'sum' });
        await run();
        await result.getByText('completed').waitFor();
        assert.match(await result.innerText(), /sum took 0\.3 s/);
        await asTask('confirm_delete', { filename: 'a.txt' });
        await run('running');
        await dialog.waitFor();
        await dialog.getByLabel('confirm').selectOption('yes');
        await button('Accept', dialog).click();
        await page.locator('.state-done').waitFor();
        await asTask('slow_compute', { seconds: 600, label: 'forever' });
        await run('running');
        await result.getByText('working').waitFor();
        await tab(/^Tasks/).click();
        const row = page.locator('.panel').getByRole('row', { name: /slow_compute working/ });
        await row.getByRole('button', { name: 'Cancel' }).click();
        await page.locator('.state-cancelled').waitFor();
        await page.locator('.panel').getByRole('row', { name: /slow_compute cancelled/ }).waitFor();
    }
}
