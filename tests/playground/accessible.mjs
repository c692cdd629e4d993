// Checks of what the page shows, for scenarios.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// Returns a function that checks a view: axe finds nothing, nothing sticks out, and no text is cut off.
export function checker({ page, folder }) {
    const axe = readFileSync(join(folder, 'node_modules/axe-core/axe.min.js'), 'utf8');
    return async (view) => {
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
}
