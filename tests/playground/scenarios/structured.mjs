// Structured content as a table and as a tree, compared with the output schema; Markdown and links.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, main, button }) {
    await open('/tool/cities');
    await run();
    const table = result.getByRole('table');
    assert.deepEqual(await table.getByRole('columnheader').allInnerTexts(), ['name', 'people']);
    assert.deepEqual(await table.getByRole('row').nth(4).getByRole('cell').allInnerTexts(), ['Vaasa', '70361']);
    await result.getByText('fits the output schema', { exact: true }).waitFor();
    await button('Tree', result).click();
    assert.match(await result.getByRole('group', { name: 'Structured content' }).innerText(), /cities: 4 items/);
    // A table of many rows is drawn in steps.
    let many = { cities: Array.from({ length: 1200 }, (_, number) => ({ name: `City ${number}`, people: number })) };
    const text = JSON.stringify(many);
    await page.route('**/mcp', (route) => {
        const { id, method } = route.request().postDataJSON() ?? {};
        const result = { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(many) }], structuredContent: many };
        return method === 'tools/call' ? route.fulfill({ json: { jsonrpc: '2.0', id, result } }) : route.continue();
    });
    await open('/tool/cities');
    await run();
    assert.equal(await table.getByRole('row').count(), 501);
    await button('Show 500 more of 1200 rows', result).click();
    await button('Show 200 more of 1200 rows', result).click();
    await table.getByText('City 1199').waitFor();
    assert.equal(await table.getByRole('row').count(), 1201);
    // A keystroke in the form draws the result again, and does not compare it again.
    await page.evaluate((text) => {
        window.parsed = 0;
        const { parse } = JSON;
        JSON.parse = (...given) => {
            if (given[0] === text) window.parsed += 1;
            return parse(...given);
        };
    }, text);
    await main.getByRole('textbox', { name: 'people' }).fill('5');
    await page.waitForURL(/people/);
    assert.equal(await page.evaluate(() => window.parsed), 0);
    // A branch of many members is drawn in steps.
    many = { numbers: Array.from({ length: 1200 }, (_, number) => number) };
    await run();
    const leaves = result.locator('.tree .leaf');
    await result.getByText('1200 items').click();
    await button('Show 500 more of 1200 items', result).click();
    assert.equal(await leaves.count(), 1000);
    await button('Show 200 more of 1200 items', result).click();
    await result.getByText('1199', { exact: true }).waitFor();
    await page.unroute('**/mcp');
    await open('/tool/broken_promise');
    await run();
    await result.getByText('does not fit the output schema').click();
    await result.getByText('Must be integer').waitFor();
    await open('/tool/report');
    await run();
    await result.locator('.heading', { hasText: 'Report' }).waitFor();
    assert.equal(await result.locator('strong', { hasText: 'well' }).count(), 1);
    assert.equal(await result.getByRole('link', { name: 'the page' }).getAttribute('rel'), 'noopener noreferrer');
    assert.deepEqual(await result.getByRole('table').getByRole('cell').allInnerTexts(), ['hall', 'on']);
    assert.equal(await result.locator('img').count(), 0, 'text of a server never becomes HTML');
    assert.equal(await result.getByRole('link', { name: 'https://example.com/manual' }).getAttribute('target'), '_blank');
    await result.locator('.block', { hasText: 'fixture://notes' }).getByRole('button', { name: 'Read this resource' }).click();
    await main.getByRole('heading', { name: 'notes' }).waitFor();
    await result.getByRole('listitem').nth(1).waitFor();
    assert.deepEqual(await result.getByRole('listitem').allInnerTexts(), ['first', 'second']);
}
