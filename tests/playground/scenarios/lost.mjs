// The server ends during a call and while the page listens to it, and comes back.

import assert from 'node:assert/strict';
import { lineTo } from '../line.mjs';

export default async function ({ page, url, run, result, dialog, button, main }) {
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
    line.close();
}
