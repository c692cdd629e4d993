// The list of items: its groups, the search, the description of an item.

import assert from 'node:assert/strict';

export default async function ({ page, open, main }) {
    await open();
    const groups = await page.locator('.list h2').allInnerTexts();
    assert.deepEqual(groups.map((text) => text.split(/\s/)[0]), ['Tools', 'Resources', 'Templates', 'Prompts']);
    assert.match(await main.innerText(), /Every tool, resource and prompt here shows one part of the protocol/);
    const items = page.locator('.item');
    const all = await items.count();
    // Icons in the message itself are shown, in the list and with the item. The icon of another host would be a request to it.
    await page.route('**/mcp', async (route) => {
        if (route.request().postDataJSON()?.method !== 'tools/list') return route.continue();
        const response = await route.fetch();
        const answer = JSON.parse((await response.text()).replace(/^[^{]*/, '').trim());
        const [first, second] = answer.result.tools;
        first.icons = [{ src: 'https://example.com/icon.png' }, { src: 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/%3E' }];
        second.icons = [{ src: 'https://example.com/icon.png' }];
        await route.fulfill({ json: answer });
    });
    await open('/tool/test_simple_text');
    const icons = page.locator('.list img');
    assert.equal(await icons.count(), 1);
    assert.ok(await icons.evaluate((icon) => icon.complete && icon.naturalWidth === 8), 'the icon is shown');
    await main.locator('h2 img').waitFor();
    await page.unroute('**/mcp');
    await open();
    // A long name breaks after a separator, and not within a word.
    const long = page.locator('.item-name', { hasText: 'test_input_required_result_capabilities' });
    const lines = await long.evaluate((name) => {
        const texts = document.createTreeWalker(name, NodeFilter.SHOW_TEXT);
        const found = [];
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
            const range = document.createRange();
            range.selectNodeContents(text);
            found.push(range.getClientRects().length);
        }
        return found;
    });
    assert.ok(lines.length > 1 && lines.every((count) => count === 1), `${lines}`);
    // A long list has a way to each of its groups. The heading above the list does not cover the item that has the focus.
    await page.getByRole('group', { name: 'Jump to' }).getByRole('button', { name: 'Prompts' }).click();
    await items.filter({ hasText: 'test_input_required_result_prompt' }).and(page.locator(':focus')).waitFor();
    for (let presses = 0; presses < 20; presses += 1) {
        await page.keyboard.press('ArrowUp');
        const gap = await page.evaluate(() => document.activeElement.getBoundingClientRect().top - document.activeElement.closest('section').querySelector('h2').getBoundingClientRect().bottom);
        assert.ok(gap >= 0, `the heading covers ${gap} pixels of the item`);
    }
    // A link may lead to an item that is far down in the list.
    await open('/prompt/test_prompt_with_image');
    const chosen = await page.locator('.item[aria-current]').boundingBox();
    assert.ok(chosen.y + chosen.height <= page.viewportSize().height, 'the chosen item is in view');
    await open();
    await page.getByRole('searchbox', { name: 'Search' }).fill('greets SOMEBODY');
    await items.nth(1).waitFor({ state: 'detached' });
    assert.ok(all > 30);
    // The list shows the first line of a description without its marks of Markdown.
    await page.getByRole('searchbox', { name: 'Search' }).fill('subscribers of');
    await page.getByText('Tells the subscribers of test://watched-resource', { exact: false }).waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('greets SOMEBODY');
    await items.nth(1).waitFor({ state: 'detached' });
    assert.match(await items.first().innerText(), /^greet\n/);
    await items.first().click();
    await main.getByRole('heading', { name: 'greet' }).waitFor();
    const about = await main.innerText();
    for (const text of ['read only', 'idempotent', 'Greets somebody.', 'Name of the greeted person']) assert.ok(about.includes(text), text);
    await page.getByRole('searchbox', { name: 'Search' }).fill('no such words');
    await page.getByText('Nothing contains these words.').waitFor();
}
