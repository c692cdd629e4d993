// Pictures of the main views, for people who look at them. The folder comes from the variable `OUT`, and the server is the fixture:
//
//     OUT=shots node tests/playground/run.mjs screenshots http://127.0.0.1:8000/playground FOLDER

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

export default async function ({ page, open, run, dialog, tab, button, field, main, result }) {
    const out = process.env.OUT;
    mkdirSync(out, { recursive: true });
    const views = {
        welcome: () => open('/'),
        form: async () => {
            await open('/tool/order?args={"customer":{"name":"Ada","email":"ada@example.com"},"articles":[{"code":7,"amount":3}],"delivery":{"by":"courier","street":"Aurakatu 1"},"extras":["gift"],"hour":12}');
        },
        problems: async () => {
            await open('/tool/order?args={"customer":{"name":"Ada","email":"ada"},"articles":[{"code":7,"amount":12}],"delivery":{"by":"pickup"},"hour":12}');
            await run(null);
        },
        json: async () => {
            await open('/tool/order');
            await button('JSON').click();
        },
        completion: async () => {
            await open('/prompt/walk');
            await main.getByRole('combobox', { name: 'city' }).pressSequentially('T');
            await main.getByRole('option').first().waitFor();
            await page.keyboard.press('ArrowDown');
        },
        table: async () => {
            await open('/tool/cities?args={"people":100000}');
            await run();
        },
        wire: async () => {
            await open('/tool/write_log');
            await run();
            await tab(/^Wire/).click();
            await page.locator('.wire summary').first().click();
        },
        markdown: async () => {
            await open('/tool/report');
            await run();
        },
        mismatch: async () => {
            await open('/tool/broken_promise');
            await run();
            await result.getByText('does not fit').click();
        },
        running: async () => {
            await open('/tool/wait_for_cancel');
            await run('running');
            await result.getByText('half of it').waitFor();
        },
        log: async () => {
            await open('/tool/write_log');
            await run();
            await tab(/^Log/).click();
        },
        question: async () => {
            await open('/tool/pay');
            await run('running');
            await dialog.waitFor();
        },
        history: async () => {
            await open('/');
            await tab(/^History/).click();
        },
    };
    for (const [name, show] of Object.entries(views)) {
        for (const colours of ['light', 'dark']) {
            await page.emulateMedia({ colorScheme: colours, reducedMotion: 'reduce' });
            await show();
            await page.screenshot({ path: join(out, `${name}-${colours}.png`) });
        }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 390, height: 780 });
    for (const name of ['welcome', 'form', 'table', 'question']) {
        await views[name]();
        await page.screenshot({ path: join(out, `${name}-narrow.png`) });
    }
}
