// Main views in light and dark colours and on a narrow screen: axe finds nothing, and nothing sticks out.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export default async function ({ page, open, run, dialog, folder, tab, main, button }) {
    const axe = readFileSync(join(folder, 'node_modules/axe-core/axe.min.js'), 'utf8');
    const check = async (view) => {
        // The policy of the page forbids new scripts, so axe is evaluated by the browser and not added to the page.
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`);
        assert.deepEqual(found, [], view);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${view} is ${overflow} pixels too wide`);
        const cut = await page.locator('.past button, .wire summary, .top').evaluateAll((all) => all.filter((element) => element.scrollWidth > element.clientWidth).map((element) => element.textContent));
        assert.deepEqual(cut, [], `${view} cuts texts off`);
    };
    const views = {
        welcome: () => open('/'),
        form: () => open('/tool/order'),
        problems: async () => {
            await open('/tool/order');
            await run(null);
            await main.getByText('do not fit the schema').waitFor();
        },
        table: async () => {
            await open('/tool/cities');
            await run();
        },
        markdown: async () => {
            await open('/tool/report');
            await run();
        },
        running: async () => {
            await open('/tool/wait_for_cancel');
            await run('running');
        },
        elsewhere: async () => {
            await open('/tool/wait_for_cancel');
            await run('running');
            await page.evaluate(() => (location.hash = '#/tool/cities'));
            await main.getByText('is still running').waitFor();
        },
        wire: async () => {
            await open('/tool/write_log');
            await run();
            await tab(/^Wire/).click();
            await page.locator('.wire summary').first().click();
        },
        log: async () => {
            await open('/tool/write_log');
            await run();
            await tab(/^Log/).click();
        },
        history: async () => {
            await open('/');
            await tab(/^History/).click();
        },
        question: async () => {
            await open('/tool/pay');
            await run('running');
            await dialog.waitFor();
        },
    };
    for (const colours of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: colours });
        for (const [name, show] of Object.entries(views)) {
            await show();
            await check(`${name} in ${colours}`);
        }
    }
    await page.setViewportSize({ width: 360, height: 720 });
    for (const [name, show] of Object.entries(views)) {
        await show();
        await check(`${name} on a narrow screen`);
    }
    // The chosen colours win over those of the system.
    await open('/');
    await page.getByLabel('Colours').selectOption('light');
    await page.waitForFunction(() => getComputedStyle(document.documentElement).colorScheme === 'light');
}
