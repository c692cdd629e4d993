// A view that does not begin: after some time, the page shows this, with advice for the author.

import assert from 'node:assert/strict';
import { checker } from '../accessible.mjs';

export default async function (context) {
    const { page, open, run, main } = context;
    const check = checker(context);
    const section = main.locator('section.view:visible');
    const frame = section.locator('iframe');
    await page.clock.install();
    await open('/tool/silent_lamp');
    await run();
    await frame.contentFrame().getByText('A lamp without a script').waitFor();
    const problem = section.getByRole('alert');
    assert.equal(await problem.count(), 0);
    await page.clock.fastForward(5000);
    await problem.getByText('The view has not sent “ui/initialize” within 5 seconds').waitFor();
    await problem.getByText('resourceDomains').waitFor();
    await check('a view that does not begin');
    // The view may be slow.
    await (await (await frame.elementHandle()).contentFrame()).evaluate(() => parent.postMessage({ jsonrpc: '2.0', id: 1, method: 'ui/initialize', params: {} }, '*'));
    await problem.waitFor({ state: 'detached' });
}
