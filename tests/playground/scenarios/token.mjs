// A server whose author gives out the tokens: there is no authorization server.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, button, main }) {
    await open('/tool/cities', 'login');
    // There is no place to log in, and the page says so.
    await button('Log in').click();
    await main.getByText('no login server').waitFor();
    const token = main.getByLabel('access token');
    await token.fill('wrong');
    await button('Connect with the token').click();
    await main.getByText('The server has refused the access token.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Log out' }).count(), 0);
    await token.fill('secret');
    await token.press('Enter');
    await page.locator('.status-ready').waitFor();
    await run();
    await result.getByText('Vaasa').first().waitFor();
    // A reload keeps the token, and another tab does not know it.
    await page.reload();
    await page.locator('.status-ready').waitFor();
    assert.ok(!JSON.stringify(await page.evaluate(() => ({ ...localStorage }))).includes('secret'));
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.locator('.status-login').waitFor();
}
