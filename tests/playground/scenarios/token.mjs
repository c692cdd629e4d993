// A server without an authorization server: its author gives out the tokens.

import assert from 'node:assert/strict';
import { checker } from '../accessible.mjs';

export default async function (context) {
    const { page, open, run, result, button, main } = context;
    const check = checker(context);
    await open('/tool/cities', 'login');
    await check('login');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 720 });
    await check('login in dark on a narrow screen');
    // Before the login, there are no items to show.
    assert.equal(await button('Show the items', page).or(button('Hide the items', page)).count(), 0);
    await page.setViewportSize({ width: 1280, height: 860 });
    // The page says that there is no login server.
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
    // A reload keeps the token. `localStorage`, which all tabs share, does not contain it.
    await page.reload();
    await page.locator('.status-ready').waitFor();
    assert.ok(!JSON.stringify(await page.evaluate(() => ({ ...localStorage }))).includes('secret'));
    await run();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.locator('.status-login').waitFor();
    // The next user does not see the result of this one.
    await token.fill('secret');
    await token.press('Enter');
    await page.locator('.status-ready').waitFor();
    await main.getByRole('heading', { name: 'cities' }).waitFor();
    assert.equal(await result.count(), 0);
}
