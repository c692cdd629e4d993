// Suggestions of the server while the user types, which depend on the arguments that are given already.

import assert from 'node:assert/strict';

export default async function ({ page, open, main, run, result }) {
    await open('/prompt/walk');
    const input = (name) => main.getByRole('combobox', { name });
    const options = (name) => main.getByRole('listbox', { name: `Suggestions for ${name}` }).getByRole('option');
    await input('city').pressSequentially('T');
    await options('city').nth(1).waitFor();
    assert.deepEqual(await options('city').allInnerTexts(), ['Turku', 'Tampere']);
    // By keyboard: the first suggestion is taken with Enter, and nothing is sent.
    await input('city').press('ArrowDown');
    await input('city').press('Enter');
    assert.equal(await input('city').inputValue(), 'Turku');
    assert.equal(await result.count(), 0);
    await input('street').click();
    await options('street').nth(1).waitFor();
    assert.deepEqual(await options('street').allInnerTexts(), ['Aurakatu', 'Linnankatu']);
    await options('street').nth(1).click();
    await run();
    assert.match(await result.innerText(), /Plan a walk along Linnankatu in Turku\./);
    // Another city has other streets: those of the city before are gone when the field has the focus again. The answer is held back meanwhile.
    await input('street').fill('');
    await options('street').nth(1).waitFor();
    await input('street').press('ArrowDown');
    await input('city').fill('Vaasa');
    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    await page.route('**/mcp', async (route) => {
        if (route.request().postDataJSON()?.method === 'completion/complete') await held;
        await route.continue();
    });
    const request = page.waitForRequest((request) => request.postDataJSON()?.params?.context?.arguments?.city === 'Vaasa');
    await input('street').focus();
    await request;
    assert.equal(await options('street').count(), 0);
    answer();
    await options('street').first().waitFor();
    assert.deepEqual(await options('street').allInnerTexts(), ['Kirkkokatu']);
    await page.unroute('**/mcp');
    // An error of the server leaves no suggestions of the text before.
    await page.route('**/mcp', async (route) => {
        const { id, method } = route.request().postDataJSON() ?? {};
        if (method !== 'completion/complete') return route.continue();
        await route.fulfill({ json: { jsonrpc: '2.0', id, error: { code: -32603, message: 'no streets today' } } });
    });
    await input('street').press('K');
    await options('street').first().waitFor({ state: 'detached' });
    await page.unroute('**/mcp');
    // Escape cancels a running call if the field shows no suggestions.
    await page.route('**/mcp', (route) => (route.request().postDataJSON()?.method === 'prompts/get' ? undefined : route.continue()));
    await input('city').fill('Nowhere');
    await run('running');
    const completed = page.waitForResponse((response) => response.request().postDataJSON()?.method === 'completion/complete');
    await input('city').focus();
    await completed;
    await options('city').first().waitFor({ state: 'detached' });
    await input('city').press('Escape');
    await page.locator('.state-cancelled').waitFor();
    await page.unroute('**/mcp');
    // Variables of a template have suggestions too.
    await open('/template/fixture%3A%2F%2F%7Bcity%7D%2F%7Bstreet%7D');
    await input('city').fill('V');
    await options('city').first().waitFor();
    assert.deepEqual(await options('city').allInnerTexts(), ['Vaasa']);
    await input('city').press('Escape');
    await options('city').first().waitFor({ state: 'hidden' });
    // The suggestions for a variable know the variables that are given already, also those of a link, which may be numbers.
    await open('/template/fixture%3A%2F%2F%7Bcity%7D%2F%7Bstreet%7D?args={"city":7}');
    const asked = page.waitForRequest((request) => request.postDataJSON()?.method === 'completion/complete');
    await input('street').click();
    const { ref, context } = (await asked).postDataJSON().params;
    assert.deepEqual(ref, { type: 'ref/resource', uri: 'fixture://{city}/{street}' });
    assert.deepEqual(context, { arguments: { city: '7' } });
    await input('city').fill('Turku');
    await input('street').click();
    await options('street').nth(1).waitFor();
    assert.deepEqual(await options('street').allInnerTexts(), ['Aurakatu', 'Linnankatu']);
    await input('street').pressSequentially('L');
    await options('street').nth(1).waitFor({ state: 'detached' });
    assert.deepEqual(await options('street').allInnerTexts(), ['Linnankatu']);
    await input('street').press('ArrowDown');
    await input('street').press('Enter');
    await run();
    assert.match(await result.innerText(), /Linnankatu in Turku/);
    await input('city').fill('Vaasa');
    await input('street').fill('a b');
    await main.getByText('fixture://Vaasa/a%20b').waitFor();
    await run();
    assert.match(await result.innerText(), /a b in Vaasa/);
}
