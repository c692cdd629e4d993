// The list of items: its groups, the search, the description of an item.

import assert from 'node:assert/strict';

export default async function ({ page, open, main }) {
    await open();
    const groups = await page.locator('.list h2').allInnerTexts();
    assert.deepEqual(groups.map((text) => text.split(/\s/)[0]), ['Tools', 'Resources', 'Templates', 'Prompts']);
    assert.match(await main.innerText(), /Every tool, resource and prompt here shows one part of the protocol/);
    const items = page.locator('.item');
    const all = await items.count();
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
    for (const text of ['read only', 'idempotent', 'Greets somebody.', 'Who is greeted']) assert.ok(about.includes(text), text);
    await page.getByRole('searchbox', { name: 'Search' }).fill('no such words');
    await page.getByText('Nothing contains these words.').waitFor();
}
