// Results that are nested deeper than the functions of a browser can call themselves: the page shows them, and goes on.

import assert from 'node:assert/strict';

const LARGE = '18446744073709551615';

const nested = (levels, innermost) => `${'{"in":'.repeat(levels)}${innermost}${'}'.repeat(levels)}`;

export default async function ({ page, open, run, result, tab, button }) {
    for (const levels of [2_500, 20_000]) {
        const deep = nested(levels, LARGE);
        await page.route('**/mcp', (route) => {
            const { id, method } = route.request().postDataJSON() ?? {};
            const text = JSON.stringify(deep);
            const body = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"resultType":"complete","content":[{"type":"text","text":${text}}],"structuredContent":{"cities":[],"deep":${deep}},"_meta":{"deep":${deep}}}}`;
            return method === 'tools/call' ? route.fulfill({ contentType: 'application/json', body }) : route.continue();
        });
        await open('/tool/cities');
        await run();
        await result.getByText('fits the output schema', { exact: true }).waitFor();
        const tree = result.getByRole('group', { name: 'Structured content' });
        assert.match(await tree.innerText(), /deep: 1 member\s+in: 1 member/);
        // As JSON, each view has all digits.
        await button('JSON', result).first().click();
        await result.locator('pre', { hasText: LARGE }).first().waitFor();
        await tab(/^Wire/).click();
        const answer = page.locator('.wire > li').first();
        await answer.locator('summary').click();
        await answer.locator('pre', { hasText: LARGE }).waitFor();
        await button('Copy as JSON', answer).click();
        await answer.getByText('copied').waitFor();
        await page.getByLabel('Filter the messages').fill(LARGE);
        assert.equal(await page.locator('.wire > li').count(), 1);
        await page.unroute('**/mcp');
    }
    // The page goes on.
    await open('/tool/cities');
    await run();
    await result.getByText('Vaasa').first().waitFor();
}
