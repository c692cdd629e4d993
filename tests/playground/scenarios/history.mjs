// The history of calls, and links to calls.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, field, tab, result, browser }) {
    await open('/tool/greet');
    await field('name').fill('Ada & Bob');
    await page.waitForURL(/args=/);
    await run();
    // A link has the arguments.
    const link = page.url();
    await page.goto('about:blank');
    await page.goto(link);
    await page.locator('.status-ready').waitFor();
    assert.equal(await field('name').inputValue(), 'Ada & Bob');
    await open('/tool/test_simple_text');
    await run();
    // The history outlives the page.
    await page.reload();
    await page.locator('.status-ready').waitFor();
    await tab(/^History/).click();
    const calls = page.locator('.past button');
    assert.equal(await calls.count(), 2);
    assert.match(await calls.first().innerText(), /done\s+test_simple_text\s+\d/);
    await calls.nth(1).click();
    assert.equal(await field('name').inputValue(), 'Ada & Bob');
    await page.goBack();
    await page.getByRole('heading', { name: 'test_simple_text' }).waitFor();
    // A call of a template leads to the template with its values.
    await open('/template/test%3A%2F%2Ftemplate%2F%7Bid%7D%2Fdata?args={"id":"a/b"}');
    await run();
    await open('/');
    await tab(/^History/).click();
    await calls.first().click();
    assert.equal(await page.getByRole('combobox', { name: 'id' }).inputValue(), 'a/b');
    // Another server at the same address has a history of its own.
    await page.route('**/mcp', async (route) => {
        if (route.request().postDataJSON()?.method !== 'server/discover') return route.continue();
        const response = await route.fetch();
        const body = (await response.text()).replaceAll('"name":"everything"', '"name":"another"');
        await route.fulfill({ response, body });
    });
    await page.reload();
    await page.locator('.status-ready').waitFor();
    await tab(/^History/).click();
    await page.getByText('No calls yet.').waitFor();
    await page.unroute('**/mcp');
    await page.reload();
    await page.locator('.status-ready').waitFor();
    await tab(/^History/).click();
    await calls.nth(1).waitFor();
    await page.locator('.panel').getByText(`this server at ${new URL(page.url()).host}`).waitFor();
    await page.locator('.panel').getByRole('button', { name: 'Clear' }).click();
    await page.getByText('No calls yet.').waitFor();
}
