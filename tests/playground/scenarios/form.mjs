// A form with nested objects, lists, alternatives, choices, defaults, bounds, formats and optional values.

import assert from 'node:assert/strict';

export default async function ({ page, open, main, field, button, run, result }) {
    await open('/tool/order');
    await main.getByRole('heading', { name: 'Order articles' }).waitFor();
    assert.equal(await main.getByRole('link', { name: 'the catalog' }).getAttribute('href'), 'https://example.com/catalog');
    await main.locator('li', { hasText: 'gets a receipt' }).locator('strong').waitFor();
    // The form shows the defaults.
    assert.equal(await main.getByRole('spinbutton', { name: 'hour' }).inputValue(), '12');
    // A form that the user has not touched shows no problems, and neither does its JSON.
    await button('JSON').click();
    assert.equal(await main.locator('[aria-invalid=true]').count(), 0);
    assert.equal(await main.locator('.problems li').count(), 0);
    await main.getByRole('textbox', { name: 'Arguments as JSON' }).press('End');
    await page.keyboard.type(' ');
    await main.locator('.problems li', { hasText: '/customer/name' }).waitFor();
    await button('Form').click();
    // The first press shows what is missing, and calls nothing.
    await run(null);
    await main.getByText('do not fit the schema').waitFor();
    assert.equal(await result.count(), 0);
    await field('name').fill('Ada');
    // Checked while typing: the problem goes away with the last letter.
    await field('email').fill('ada');
    await main.getByText('Must be a valid email').waitFor();
    await field('email').fill('ada@example.com');
    await main.getByText('Must be a valid email').waitFor({ state: 'detached' });
    await main.getByRole('spinbutton', { name: 'hour' }).fill('20');
    await main.locator('.field', { hasText: 'hour' }).locator('.problem').waitFor();
    await main.getByRole('spinbutton', { name: 'hour' }).fill('9');
    await button('Add to articles').click();
    // The item of a list has no mark: the user removes it or fills it in.
    assert.equal(await main.getByRole('group', { name: '1', exact: true }).locator('legend .required').count(), 0);
    await field('code').fill('7');
    await main.getByRole('spinbutton', { name: 'amount' }).fill('3');
    await button('Add to articles').click();
    await field('code').nth(1).fill('8');
    await main.getByRole('spinbutton', { name: 'amount' }).nth(1).fill('2');
    await button('Add to articles').click();
    await main.getByRole('button', { name: 'Remove 3' }).click();
    await main.getByLabel('Alternative of delivery').selectOption({ label: 'courier' });
    // The constant that tells the alternatives apart is not asked for, and the other alternative has no say.
    assert.equal(await main.getByLabel('by', { exact: true }).count(), 0);
    await main.locator('.field', { hasText: 'street' }).getByText('Required').first().waitFor();
    assert.equal(await main.getByText('alternatives').count(), 0);
    await field('street').fill('Aurakatu 1');
    await field('floor').fill('-1');
    await main.getByRole('checkbox', { name: 'gift' }).check();
    await main.getByRole('checkbox', { name: 'insurance' }).check();
    await main.getByRole('combobox', { name: 'express' }).selectOption('yes');
    // A nullable value is left out, null, or a text.
    const note = main.locator('.field', { has: page.getByLabel('note') });
    await note.getByRole('checkbox', { name: 'null' }).check();
    await field('note').waitFor({ state: 'detached' });
    await run();
    assert.match(await result.innerText(), /5 pieces of \[7, 8\] for Ada <ada@example.com>, courier to Aurakatu 1, floor Some\(-1\), 2 extras, at 9, None, Some\(true\)/);
    // Raw JSON has the same value, and a change of it is sent.
    await button('JSON').first().click();
    const raw = main.getByRole('textbox', { name: 'Arguments as JSON' });
    const value = JSON.parse(await raw.inputValue());
    assert.deepEqual(value.articles, [{ code: 7, amount: 3 }, { code: 8, amount: 2 }]);
    await raw.fill('{ "customer": ');
    assert.ok(await main.locator('button[type=submit]').isDisabled());
    await raw.fill(JSON.stringify({ ...value, note: 'soon', articles: [{ code: 1, amount: 1 }] }));
    await run(null);
    await result.getByText('1 pieces of [1]').waitFor();
    assert.match(await result.innerText(), /Some\("soon"\)/);
}
