// Each revision of the protocol, chosen by the user.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, main }) {
    await open('/tool/greet?args={"name":"Ada"}');
    const choice = page.getByLabel('Revision');
    assert.equal(await choice.locator('option:checked').innerText(), 'newest (2026-07-28)');
    for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']) {
        await choice.selectOption(revision);
        await page.locator(`.status-ready[title="Revision ${revision}"]`).waitFor();
        await page.waitForURL(new RegExp(`revision=${revision}`));
        await run();
        assert.match(await result.innerText(), /Hello, Ada!/);
        await page.locator('.tabs').getByRole('button', { name: /^Wire/ }).click();
        await page.getByLabel('Filter the messages').fill('Hello, Ada');
        const last = page.locator('.wire > li').first();
        await last.getByText('tools/call').waitFor();
        await page.getByRole('button', { name: 'Clear' }).click();
        await page.locator('.tabs').getByRole('button', { name: /^Wire/ }).click();
    }
    // The list of tasks says why it stays empty.
    await choice.selectOption('2025-06-18');
    await page.locator('.tabs').getByRole('button', { name: /^Tasks/ }).click();
    await page.getByText('Protocol revision 2025-06-18 has no tasks.').waitFor();
    // A running call ends with its connection, even if the user chooses several revisions before the page has connected.
    await page.locator('.status-ready[title="Revision 2025-06-18"]').waitFor();
    const items = await page.locator('.item').count();
    assert.ok(items > 0);
    for (const [first, second, last] of [['2025-11-25', '2024-11-05', '2026-07-28'], ['2024-11-05', '2026-07-28', '2025-06-18']]) {
        await open('/tool/slow_compute?args={"seconds":600,"label":"forever"}');
        await run('running');
        for (const revision of [first, second, last]) await choice.selectOption(revision);
        await page.locator(`.status-ready[title="Revision ${last}"]`).waitFor();
        await page.locator('.state-cancelled').waitFor();
        assert.equal(await page.locator('.item').count(), items);
        await main.getByRole('textbox', { name: 'seconds' }).fill('0');
        await run();
        assert.match(await result.innerText(), /forever took 0 s/);
    }
}
