// Tasks with their status, their questions and their cancellation, in both dialects.

import assert from 'node:assert/strict';

// Numbers of the messages that the wire shows, newest first.
const numbers = (page, text) => page.locator('.wire > li', { hasText: text }).evaluateAll((entries) => entries.map((entry) => entry.value));

export default async function ({ page, open, run, result, dialog, button, main, tab, field }) {
    for (const revision of ['2026-07-28', '2025-11-25']) {
        const asTask = async (tool, args) => {
            await open(`/tool/${tool}?revision=${revision}${args ? `&args=${JSON.stringify(args)}` : ''}`);
            await main.getByRole('checkbox', { name: 'Run as a task' }).check();
        };
        await asTask('slow_compute', { seconds: 0.3, label: 'sum' });
        await run();
        await result.getByText('completed').waitFor();
        assert.match(await result.innerText(), /sum took 0\.3 s/);
        // The wire shows the responses to requests that the page sends without the client library.
        await tab(/^Wire/).click();
        const answers = page.locator('.wire > li', { hasText: 'response' });
        await answers.filter({ hasText: 'tools/call' }).waitFor();
        await answers.filter({ hasText: 'tasks/get' }).first().waitFor();
        await tab(/^Wire/).click();
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
        // The user can start the next task before the server has cancelled the first. The list still follows the first task.
        await page.route('**/mcp', async (route) => {
            const { method } = route.request().postDataJSON() ?? {};
            if (method === 'tasks/cancel') await held;
            await route.continue();
        });
        let release;
        const held = new Promise((resolve) => (release = resolve));
        await page.locator('article button[type=submit]').click();
        await result.getByText('working').waitFor();
        await page.keyboard.press('Escape');
        await page.locator('.state-cancelled').waitFor();
        await field('label').fill('next');
        await field('seconds').fill('0.5');
        await run('running');
        release();
        await page.locator('.state-done').waitFor();
        assert.match(await result.innerText(), /next took 0\.5 s/);
        await page.locator('.panel').getByRole('row', { name: /slow_compute cancelled/ }).nth(1).waitFor();
        await page.unroute('**/mcp');
    }
    // A tool that has no tasks runs without one, and the page says so.
    await open('/tool/greet?args={"name":"Ada"}');
    await main.getByRole('checkbox', { name: 'Run as a task' }).check();
    await run();
    await result.getByText('Hello, Ada!').waitFor();
    await result.getByText('The server has run this call without a task.').waitFor();
    // A tool that asks and runs without a task gets its answer, too.
    await open('/tool/test_input_required_result_elicitation');
    await main.getByRole('checkbox', { name: 'Run as a task' }).check();
    await run('running');
    await dialog.getByRole('textbox', { name: 'name' }).fill('Ada');
    await button('Accept', dialog).click();
    await page.locator('.state-done').waitFor();
    await result.getByText(/Ada/).waitFor();
    // After a connection has ended, the page does not ask for its tasks on another connection.
    await open('/tool/slow_compute?revision=2026-07-28&args={"seconds":600,"label":"forever"}');
    await main.getByRole('checkbox', { name: 'Run as a task' }).check();
    await run('running');
    await result.getByText('working').waitFor();
    const id = await result.locator('.task-line code').innerText();
    await page.getByLabel('Revision').selectOption('2025-11-25');
    await page.locator('.status-ready[title="Revision 2025-11-25"]').waitFor();
    await page.locator('.state-cancelled').waitFor();
    await tab(/^Tasks/).click();
    await page.locator('.panel').getByRole('row', { name: new RegExp(id) }).getByText(/The status may be old: \S/).waitFor();
    await tab(/^Wire/).click();
    await page.getByLabel('Filter the messages').fill('initialize');
    const [begun] = await numbers(page, 'request');
    await page.getByLabel('Filter the messages').fill(id);
    const asked = await numbers(page, 'tasks/');
    assert.ok(asked.every((number) => number < begun), `${asked} are not before ${begun}`);
    // On a narrow screen, the button that cancels a task is in view.
    await page.setViewportSize({ width: 360, height: 720 });
    await open('/tool/slow_compute?args={"seconds":600,"label":"forever"}');
    await main.getByRole('checkbox', { name: 'Run as a task' }).check();
    await run('running');
    await tab(/^Tasks/).click();
    const box = await page.locator('.panel').getByRole('button', { name: 'Cancel' }).boundingBox();
    assert.ok(box.x + box.width <= 360, `the button ends at ${box.x + box.width}`);
    await page.keyboard.press('Escape');
    await page.locator('.state-cancelled').waitFor();
}
